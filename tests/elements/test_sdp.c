/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <gst/gst.h>
#include <gst/sdp/sdp.h>

#include "gstmcccaps.h"
#include "gstmccsdp.h"
#include "mcclayerorder.h"

#define H264                                                                                       \
  "application/x-rtp, media=(string)video, clock-rate=(int)90000, encoding-name=(string)H264, "    \
  "payload=(int)96, packetization-mode=(string)1, profile-level-id=(string)42c015, "               \
  "sprop-parameter-sets=(string)\"Z0LAFdkDxWhAAAADAEAAAA8DxYuS\\,aMuMsg\\=\\=\""

static GstMccSessionSettings
settings4 (void)
{
  GstMccSessionSettings s = { 0 };

  s.address = (gchar *)"239.255.12.42";
  s.port = 5004;
  s.ttl = 64;
  s.ttl_mc = 17;
  return s;
}

static gchar *
text_of (const GstMccSessionSettings *settings, const gchar *caps_text)
{
  GstCaps *caps = gst_caps_from_string (caps_text);
  GError *error = NULL;
  gchar *text;

  g_assert_nonnull (caps);
  text = gst_mcc_sdp_to_text (settings, caps, 4000000, "stream", &error);
  g_assert_no_error (error);
  gst_caps_unref (caps);
  g_test_message ("%s", text);
  return text;
}

static void
assert_line (const gchar *text, const gchar *line)
{
  gchar *whole = g_strdup_printf ("\r\n%s\r\n", line);

  if (!strstr (text, whole))
    g_error ("no line \"%s\" in:\n%s", line, text);
  g_free (whole);
}

static void
test_plain (void)
{
  GstMccSessionSettings s = settings4 ();
  gchar *text = text_of (&s, H264 ", ssrc=(uint)7, seqnum-base=(uint)9, extmap-14=(string)urn:x");
  GstSDPMessage *message;

  g_assert_true (g_str_has_prefix (text, "v=0\r\n"));
  assert_line (text, "m=video 5004 RTP/AVP 96");
  assert_line (text, "c=IN IP4 239.255.12.42/17");
  assert_line (text, "b=AS:4000");
  assert_line (text, "a=rtpmap:96 H264/90000");
  assert_line (text, "a=extmap:14 urn:x");
  assert_line (text, "t=0 0");
  assert_line (text, "s=stream");
  g_assert_nonnull (strstr (text, "a=fmtp:96 "));
  g_assert_nonnull (strstr (text, "sprop-parameter-sets=Z0LAFdkDxWhAAAADAEAAAA8DxYuS,aMuMsg=="));
  g_assert_null (strstr (text, "source-filter"));
  g_assert_null (strstr (text, "a=rtcp:"));

  gst_sdp_message_new (&message);
  g_assert_cmpint (
      gst_sdp_message_parse_buffer ((guint8 *)text, (guint)strlen (text), message), ==, GST_SDP_OK);
  g_assert_cmpuint (gst_sdp_message_medias_len (message), ==, 1);
  gst_sdp_message_free (message);
  g_free (text);
}

static void
test_source_specific (void)
{
  GstMccSessionSettings s = settings4 ();
  gchar *text;

  s.address = (gchar *)"232.1.2.3";
  s.source_address = (gchar *)"10.0.0.1";
  text = text_of (&s, H264);
  assert_line (text, "a=source-filter: incl IN IP4 232.1.2.3 10.0.0.1");
  assert_line (text, "a=rtcp:5005 IN IP4 10.0.0.1");
  g_free (text);
}

static void
test_feedback (void)
{
  GstMccSessionSettings s = settings4 ();
  gchar *text;

  s.feedback_address = (gchar *)"10.9.9.9";
  s.feedback_port = 7001;
  text = text_of (&s, H264);
  assert_line (text, "a=rtcp:7001 IN IP4 10.9.9.9");
  g_assert_null (strstr (text, "source-filter"));
  g_free (text);
}

static void
test_ipv6 (void)
{
  GstMccSessionSettings s = settings4 ();
  gchar *text;

  s.address = (gchar *)"ff15::42";
  text = text_of (&s, H264);
  assert_line (text, "c=IN IP6 ff15::42");
  g_free (text);
}

static void
test_unicast (void)
{
  GstMccSessionSettings s = settings4 ();
  gchar *text;

  s.address = (gchar *)"10.0.0.5";
  text = text_of (&s, H264);
  assert_line (text, "c=IN IP4 10.0.0.5");
  g_free (text);
}

static void
test_caps_too_poor (void)
{
  GstMccSessionSettings s = settings4 ();
  GstCaps *caps = gst_caps_from_string ("application/x-rtp, media=video");
  GError *error = NULL;

  g_assert_null (gst_mcc_sdp_to_text (&s, caps, 0, "x", &error));
  g_assert_nonnull (error);
  g_error_free (error);
  gst_caps_unref (caps);
}

/* Theora's codebooks: nobody who joins can do without them. What is only a hint may be missing. */
static void
test_needed_and_too_long (void)
{
  static const struct {
    const gchar *name;
    gboolean good;
  } rows[] = { { "configuration", FALSE }, { "config", FALSE }, { "sprop-stereo", TRUE } };
  gchar *value = g_strnfill (3000, 'A');

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstCaps *caps = gst_caps_from_string ("application/x-rtp,media=video,encoding-name=THEORA,"
                                          "payload=96,clock-rate=90000");
    MccAppSession session = { 0 };

    gst_caps_set_simple (caps, rows[i].name, G_TYPE_STRING, value, NULL);
    g_assert_cmpint (gst_mcc_caps_to_session (caps, &session), ==, rows[i].good);
    g_assert_cmpuint (session.payload_type, ==, 96);
    gst_caps_unref (caps);
  }
  g_free (value);
}

static void
assert_round_trip (const gchar *caps_text)
{
  GstCaps *caps = gst_caps_from_string (caps_text), *back;
  MccAppSession session = { 0 };

  g_assert_true (gst_mcc_caps_to_session (caps, &session));
  back = gst_mcc_caps_from_session (&session);
  g_test_message ("%s", session.parameters);
  g_assert_true (gst_caps_is_equal (caps, back));
  gst_caps_unref (caps);
  gst_caps_unref (back);
}

static void
test_announcement (void)
{
  GstCaps *caps = gst_caps_from_string (
      H264 ", ssrc=(uint)7, timestamp-offset=(uint)5, a-framerate=(string)30");
  MccAppSession session = { 0 };
  GstCaps *back;
  const GstStructure *s;

  assert_round_trip (H264);
  assert_round_trip (H264 ", extmap-14=(string)http://www.webrtc.org/experiments/rtp-hdrext/"
                          "abs-send-time");
  assert_round_trip ("application/x-rtp, media=(string)audio, clock-rate=(int)48000, "
                     "encoding-name=(string)OPUS, payload=(int)97, encoding-params=(string)2, "
                     "sprop-stereo=(string)0");
  g_assert_true (gst_mcc_caps_to_session (caps, &session));
  back = gst_mcc_caps_from_session (&session);
  s = gst_caps_get_structure (back, 0);
  g_assert_false (gst_structure_has_field (s, "ssrc"));
  g_assert_false (gst_structure_has_field (s, "timestamp-offset"));
  g_assert_cmpstr (gst_structure_get_string (s, "a-framerate"), ==, "30");
  g_assert_cmpstr (gst_structure_get_string (s, "sprop-parameter-sets"), ==,
      "Z0LAFdkDxWhAAAADAEAAAA8DxYuS,aMuMsg==");
  gst_caps_unref (back);
  gst_caps_unref (caps);
}

/* An announcement starts no clock (RFC 7273), and changes nothing but what is decoded. */
static void
test_announcement_attributes (void)
{
  static const gchar *const refused[] = { "a-ts-refclk", "a-mediaclk", "a-mid", "rtcp-fb-nack-pli",
    "extmap-3", "ssrc-7-cname", "seqnum-base", "npt-stop" };
  static const gchar *const heeded[] = { "a-framerate", "a-framesize", "config", "apt", "unknown" };
  MccAppSession session = { 0 };
  GstCaps *caps = gst_caps_from_string (H264 ", a-ts-refclk=(string)\"ntp=10.0.0.1\""), *back;

  g_assert_true (gst_mcc_caps_to_session (caps, &session));
  g_assert_null (strstr (session.parameters, "a-ts-refclk"));
  for (guint i = 0; i < G_N_ELEMENTS (refused) + G_N_ELEMENTS (heeded); i++) {
    gboolean good = i >= G_N_ELEMENTS (refused);
    const gchar *name = good ? heeded[i - G_N_ELEMENTS (refused)] : refused[i];

    g_snprintf (session.parameters, sizeof session.parameters, "x=1;%s=ptp=IEEE1588-2008:", name);
    back = gst_mcc_caps_from_session (&session);
    if (gst_structure_has_field (gst_caps_get_structure (back, 0), name) != good)
      g_error ("%s is %sheeded", name, good ? "not " : "");
    gst_caps_unref (back);
  }
  gst_caps_unref (caps);
}

/* Other parameters never take the place of the layers' order. */
static void
test_announcement_order (void)
{
  for (guint length = 400; length < 800; length++) {
    gchar *fill = g_strnfill (length, 'x');
    gchar *text = g_strdup_printf (
        H264 ", a=(string)%s, extmap-13=(string)" MCC_LAYER_ORDER_URI ", zz=(string)1", fill);
    GstCaps *caps = gst_caps_from_string (text), *back;
    MccAppSession session = { 0 };

    g_assert_true (gst_mcc_caps_to_session (caps, &session));
    back = gst_mcc_caps_from_session (&session);
    g_assert_cmpuint (gst_mcc_caps_layer_order_id (back), ==, 13);
    gst_caps_unref (back);
    gst_caps_unref (caps);
    g_free (text);
    g_free (fill);
  }
}

static void
test_announcement_bounds (void)
{
  gchar *longest = g_strnfill (2000, 'x');
  gchar *text
      = g_strdup_printf (H264 ", longest=(string)%s, evil=(string)\"a;payload=1\"", longest);
  GstCaps *caps = gst_caps_from_string (text), *poor, *back;
  MccAppSession session = { 0 };

  g_assert_true (gst_mcc_caps_to_session (caps, &session));
  back = gst_mcc_caps_from_session (&session);
  g_assert_false (gst_structure_has_field (gst_caps_get_structure (back, 0), "longest"));
  g_assert_false (gst_structure_has_field (gst_caps_get_structure (back, 0), "evil"));
  g_assert_nonnull (strstr (session.parameters, "packetization-mode=1"));
  gst_caps_unref (back);

  poor = gst_caps_from_string ("application/x-rtp");
  g_assert_false (gst_mcc_caps_to_session (poor, &session));
  g_assert_cmpuint (session.payload_type, ==, 255);
  g_assert_null (gst_mcc_caps_from_session (&session));

  /* What the network says cannot set another field. */
  g_assert_true (gst_mcc_caps_to_session (caps, &session));
  g_strlcpy (session.parameters, "payload=1;media=audio;=x;y;z=", sizeof session.parameters);
  back = gst_mcc_caps_from_session (&session);
  g_assert_cmpstr (
      gst_structure_get_string (gst_caps_get_structure (back, 0), "media"), ==, "video");
  gst_caps_unref (back);
  gst_caps_unref (poor);
  gst_caps_unref (caps);
  g_free (text);
  g_free (longest);
}

/* Encrypted: the profile says so; the key is not there. */
static void
test_encrypted (void)
{
  GstMccSessionSettings s = settings4 ();
  gchar key[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd", *text;

  s.srtp_key = key;
  s.encrypted = TRUE;
  text = text_of (&s, H264);
  g_assert_nonnull (strstr (text, "m=video 5004 RTP/SAVPF 96"));
  g_assert_null (strstr (text, key));
  g_free (text);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sdp/plain", test_plain);
  g_test_add_func ("/sdp/source-specific", test_source_specific);
  g_test_add_func ("/sdp/feedback", test_feedback);
  g_test_add_func ("/sdp/ipv6", test_ipv6);
  g_test_add_func ("/sdp/unicast", test_unicast);
  g_test_add_func ("/sdp/caps-too-poor", test_caps_too_poor);
  g_test_add_func ("/sdp/needed-and-too-long", test_needed_and_too_long);
  g_test_add_func ("/announcement/round-trip", test_announcement);
  g_test_add_func ("/announcement/attributes", test_announcement_attributes);
  g_test_add_func ("/announcement/layers-order-fits", test_announcement_order);
  g_test_add_func ("/announcement/bounds", test_announcement_bounds);
  g_test_add_func ("/sdp/encrypted", test_encrypted);
  return g_test_run ();
}
