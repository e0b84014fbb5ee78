/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SRTP: the elements with keys, and without, on the loopback interface.
 */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/gst.h>

#include "gstmccsockets.h"
#include "ownport.h"
#include "register.h"

/* 30 bytes each. */
#define KEY_A "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd"
#define KEY_B "Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMC"
#define FORGER 0xdeadbeefu

static gchar group[32];
static guint16 port;

typedef struct {
  GstElement *pipeline, *element;
  gint buffers;
} Side;

static GstPadProbeReturn
on_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc ((gint *)data);
  return GST_PAD_PROBE_OK;
}

static void
side_start (Side *side, const gchar *description, const gchar *key)
{
  GError *error = NULL;

  memset (side, 0, sizeof *side);
  side->pipeline = gst_parse_launch (description, &error);
  g_assert_no_error (error);
  side->element = gst_bin_get_by_name (GST_BIN (side->pipeline), "it");
  g_object_set (side->element, "address", group, "port", port, "multicast-iface", "lo", NULL);
  if (key)
    g_object_set (side->element, "srtp-key", key, NULL);
}

/* One that wraps soon. */
static void
send_start (Side *side, const gchar *key)
{
  side_start (side,
      "audiotestsrc is-live=true samplesperbuffer=220 ! audio/x-raw,rate=44100,channels=1 ! "
      "audioconvert ! rtpL16pay seqnum-offset=65400 ! asmpsink name=it",
      key);
  g_assert_cmpint (
      gst_element_set_state (side->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

static void
receive_start_by (Side *side, const gchar *factory, const gchar *key)
{
  gchar *description = g_strdup_printf ("%s name=it latency=50 ! fakesink sync=false", factory);
  GstPad *pad;

  side_start (side, description, key);
  g_free (description);
  pad = gst_element_get_static_pad (side->element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &side->buffers, NULL);
  gst_object_unref (pad);
  g_assert_cmpint (
      gst_element_set_state (side->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

static void
receive_start (Side *side, const gchar *key)
{
  receive_start_by (side, "asmpsrc", key);
}

static void
side_stop (Side *side)
{
  gst_element_set_state (side->pipeline, GST_STATE_NULL);
  gst_object_unref (side->element);
  gst_object_unref (side->pipeline);
}

static guint64
figure (Side *side, const gchar *field)
{
  GstStructure *stats;
  guint64 value = 0;
  guint small = 0;

  g_object_get (side->element, "stats", &stats, NULL);
  if (!gst_structure_get_uint64 (stats, field, &value)) {
    gst_structure_get_uint (stats, field, &small);
    value = small;
  }
  gst_structure_free (stats);
  return value;
}

/* FALSE: not within 20 s. */
static gboolean
wait_figure (Side *side, const gchar *field, guint64 least)
{
  for (guint i = 0; i < 200 && figure (side, field) < least; i++)
    g_usleep (100000);
  return figure (side, field) >= least;
}

static gboolean
wait_buffers (Side *side, gint more)
{
  gint before = g_atomic_int_get (&side->buffers);

  for (guint i = 0; i < 200 && g_atomic_int_get (&side->buffers) < before + more; i++)
    g_usleep (100000);
  return g_atomic_int_get (&side->buffers) >= before + more;
}

static void
say_stats (Side *side, const gchar *who)
{
  GstStructure *stats;
  gchar *words;

  g_object_get (side->element, "stats", &stats, NULL);
  words = gst_structure_to_string (stats);
  g_test_message ("%s: %d buffers, %s", who, g_atomic_int_get (&side->buffers), words);
  g_free (words);
  gst_structure_free (stats);
}

/* ... and if not, what both know of it. */
static gboolean
wait_buffers_of (Side *receiver, Side *sender, gint more)
{
  gboolean came = wait_buffers (receiver, more);

  if (!came) {
    say_stats (receiver, "receiver");
    say_stats (sender, "sender");
  }
  return came;
}

/* A warning with @part within 10 s. */
static gboolean
warns (Side *side, const gchar *part)
{
  GstBus *bus = gst_element_get_bus (side->pipeline);
  gint64 end = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
  gboolean found = FALSE;

  while (!found && g_get_monotonic_time () < end) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 100 * GST_MSECOND, GST_MESSAGE_WARNING);
    GError *error = NULL;

    if (!message)
      continue;
    gst_message_parse_warning (message, &error, NULL);
    found = strstr (error->message, part) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return found;
}

/* ---- what is heard on the group ---- */

static GSocket *
open_rtcp (void)
{
  GSocketAddress *any;
  GInetAddress *address = g_inet_address_new_from_string (group);
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);

  any = g_inet_socket_address_new (address, (guint16)(port + 1));
  g_assert_true (g_socket_bind (socket, any, TRUE, NULL));
  g_assert_true (g_socket_join_multicast_group (socket, address, FALSE, "lo", NULL));
  g_socket_set_timeout (socket, 1);
  g_object_unref (any);
  g_object_unref (address);
  return socket;
}

/* Somebody who may send to the group. */
static GSocket *
open_at (const gchar *address)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *from = g_inet_socket_address_new_from_string (address, 0);

  g_assert_true (g_socket_bind (socket, from, FALSE, NULL));
  g_object_unref (from);
  return socket;
}

static GSocket *
open_stranger (void)
{
  return open_at ("127.0.0.1");
}

static void
say (GSocket *socket, const guint8 *data, gsize size)
{
  GInetAddress *address = g_inet_address_new_from_string (group);
  GSocketAddress *to = g_inet_socket_address_new (address, (guint16)(port + 1));

  g_assert_cmpint (
      g_socket_send_to (socket, to, (const gchar *)data, size, NULL, NULL), ==, (gssize)size);
  g_object_unref (to);
  g_object_unref (address);
}

/* A plain report that asks for next to nothing. */
static void
say_forged (GSocket *socket, guint32 number, guint32 media)
{
  guint8 data[128] = { 0x81, 201, 0, 7 };
  MccApp app = { .ssrc = FORGER,
    .subtype = MCC_APP_REPORT,
    .report = { .number = number, .rate_bps = 1000, .rtt = 10 * MCC_MSECOND } };
  gsize size = mcc_app_encode (&app, data + 32, sizeof data - 32);

  GST_WRITE_UINT32_BE (data + 4, FORGER);
  GST_WRITE_UINT32_BE (data + 8, media);

  g_assert_cmpuint (size, >, 0);
  say (socket, data, 32 + size);
}

/* SRTCP leaves the sender's SSRC readable: who is on the network knows it, key or not. */
static guint32
hear_ssrc (GSocket *spy)
{
  guint8 data[2048];

  for (guint i = 0; i < 10; i++)
    if (g_socket_receive (spy, (gchar *)data, sizeof data, NULL, NULL) > 8 && data[1] == 200)
      return GST_READ_UINT32_BE (data + 4);
  g_assert_not_reached ();
}

/* A stranger who has no key sends the sender its own RTCP back: that is no collision. */
static void
test_sent_back (void)
{
  GSocket *spy
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *here = g_inet_socket_address_new_from_string ("127.0.0.1", (guint16)(port + 1));
  guint8 heard[2048];
  guint32 media = 0;
  Side sender;
  guint sent = 0;

  g_assert_true (g_socket_bind (spy, here, FALSE, NULL));
  g_socket_set_timeout (spy, 5);
  side_start (&sender,
      "audiotestsrc is-live=true samplesperbuffer=220 ! audio/x-raw,rate=44100,channels=1 ! "
      "audioconvert ! rtpL16pay ! asmpsink name=it",
      "1 " KEY_A);
  g_object_set (sender.element, "address", "127.0.0.1", "multicast-iface", NULL, NULL);
  g_assert_cmpint (
      gst_element_set_state (sender.pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  while (sent < 8) {
    GSocketAddress *from = NULL;
    gssize size = g_socket_receive_from (spy, &from, (gchar *)heard, sizeof heard, NULL, NULL);

    g_assert_cmpint (size, >, 8);
    if (heard[1] == 200) {
      guint32 ssrc = GST_READ_UINT32_BE (heard + 4);

      g_assert_cmphex (ssrc, ==, media ? media : ssrc);
      media = ssrc;
      g_socket_send_to (spy, from, (gchar *)heard, (gsize)size, NULL, NULL);
      sent++;
    }
    g_object_unref (from);
  }
  g_assert_true (wait_figure (&sender, "dropped-replayed", 8));
  g_assert_cmpuint (figure (&sender, "dropped-own"), ==, 0);
  side_stop (&sender);
  g_object_unref (here);
  g_object_unref (spy);
}

/* The right key: it plays, the sender hears the reports. Forged ones in the clear, and the
 * receiver's own once more, change nothing and are counted. New keys come without a lost packet. */
static void
test_pair (void)
{
  GSocket *spy = open_rtcp (), *stranger = open_stranger ();
  Side sender, receiver;
  guint64 unauthentic, lost;
  guint8 heard[2048];
  guint resent = 0;
  guint32 media;

  send_start (&sender, "1 " KEY_A);
  receive_start (&receiver, "1 " KEY_A);
  g_assert_true (wait_buffers (&receiver, 100));
  g_assert_true (wait_figure (&sender, "num-receivers", 1));
  media = hear_ssrc (spy);

  for (guint i = 0; i < 50; i++)
    say_forged (stranger, i, media);
  g_assert_true (wait_figure (&sender, "dropped-unauthentic", 50));
  g_assert_cmpuint (figure (&sender, "num-receivers"), ==, 1);
  g_assert_cmpuint (figure (&sender, "target-bitrate"), >, 1000);

  g_assert_cmpuint (figure (&sender, "dropped-replayed"), ==, 0);
  for (guint i = 0; i < 200 && resent < 20; i++) {
    gssize size = g_socket_receive (spy, (gchar *)heard, sizeof heard, NULL, NULL);

    if (size > 8 && GST_READ_UINT32_BE (heard + 4) != FORGER) {
      g_assert_cmpuint (size % 4, ==, 2); /* index, MKI and 80 bits: nothing went plain */
      say (stranger, heard, (gsize)size);
      resent++;
    }
  }
  g_assert_true (wait_figure (&sender, "dropped-replayed", 1));

  g_assert_true (wait_figure (&receiver, "dropped-unauthentic", 50));
  unauthentic = figure (&receiver, "dropped-unauthentic");
  lost = figure (&receiver, "packets-lost");
  g_object_set (receiver.element, "srtp-key", "1 " KEY_A "\n2 " KEY_B, NULL);
  g_object_set (sender.element, "srtp-key", "1 " KEY_A "\n2 " KEY_B, NULL);
  g_assert_true (wait_buffers (&receiver, 50));
  g_object_set (receiver.element, "srtp-key", "2 " KEY_B, NULL);
  g_object_set (sender.element, "srtp-key", "2 " KEY_B, NULL);
  g_assert_true (wait_buffers (&receiver, 200));
  g_assert_cmpuint (figure (&receiver, "packets-lost"), ==, lost);
  /* forged RTCP reached the receiver, too, before: not one more */
  g_assert_cmpuint (figure (&receiver, "dropped-unauthentic"), ==, unauthentic);
  g_assert_cmpuint (figure (&sender, "num-receivers"), ==, 1);
  side_stop (&receiver);
  side_stop (&sender);
  g_object_unref (spy);
  g_object_unref (stranger);
}

/* What a forged report does where there is no key, it does not where there is one. */
static void
test_forged (void)
{
  for (guint keyed = 0; keyed < 2; keyed++) {
    GSocket *spy = open_rtcp (), *stranger = open_stranger ();
    guint64 before;
    guint32 media;
    Side sender;

    send_start (&sender, keyed ? KEY_A : NULL);
    gst_util_set_object_arg (G_OBJECT (sender.element), "no-feedback", "hold");
    g_usleep (G_USEC_PER_SEC);
    media = hear_ssrc (spy);
    before = figure (&sender, "target-bitrate");
    for (guint i = 0; i < 20; i++) {
      say_forged (stranger, i, media);
      g_usleep (50000);
    }
    if (keyed) {
      g_assert_true (wait_figure (&sender, "dropped-unauthentic", 20));
      g_assert_cmpuint (figure (&sender, "num-receivers"), ==, 0);
      g_assert_cmpuint (figure (&sender, "target-bitrate"), ==, before);
    } else {
      g_assert_true (wait_figure (&sender, "num-receivers", 1));
      g_assert_cmpuint (figure (&sender, "target-bitrate"), <, before);
    }
    side_stop (&sender);
    g_object_unref (stranger);
    g_object_unref (spy);
  }
}

/* Numbers have wrapped before the receiver comes: the announcement says so. */
static void
test_late (void)
{
  Side sender, receiver;

  send_start (&sender, KEY_A);
  g_usleep (3 * G_USEC_PER_SEC); /* 200 packets a second, 136 to the wrap */
  receive_start (&receiver, KEY_A);
  g_assert_true (wait_buffers (&receiver, 100));
  g_assert_true (wait_figure (&sender, "num-receivers", 1));
  side_stop (&receiver);
  side_stop (&sender);
}

/* A member elsewhere says how far the stream is, and lies: before the receiver follows it that
 * lasts until the next announcement, and then it is not heard. */
static void
test_late_lie (void)
{
  GSocket *spy = open_rtcp (), *socket = open_at ("127.0.0.2");
  GstMccSrtp *member
      = gst_mcc_srtp_new (FALSE, KEY_A, GST_MCC_SRTP_AES_128_ICM, GST_MCC_SRTP_HMAC_SHA1_80, NULL);
  MccIndexApp lie = { FORGER, 1, { { 0, ((guint64)1 << 48) - 1 } } };
  Side sender, receiver;

  send_start (&sender, KEY_A);
  lie.entry[0].ssrc = hear_ssrc (spy);
  g_usleep (3 * G_USEC_PER_SEC);
  receive_start (&receiver, KEY_A);
  for (guint i = 0; i < 40; i++) {
    guint8 data[128] = { 0x80, 201, 0, 1 };
    gsize size = 8 + mcc_index_app_encode (&lie, data + 8, sizeof data - 8);

    GST_WRITE_UINT32_BE (data + 4, FORGER);
    g_assert_true (gst_mcc_srtp_protect (member, TRUE, data, &size));
    say (socket, data, size);
    if (i == 19) /* from here on it follows */
      g_assert_true (wait_buffers (&receiver, 100));
    else
      g_usleep (50000);
  }
  g_assert_true (wait_figure (&receiver, "dropped-address", 20));
  g_assert_true (wait_buffers (&receiver, 100));
  gst_mcc_srtp_free (member);
  side_stop (&receiver);
  side_stop (&sender);
  g_object_unref (socket);
  g_object_unref (spy);
}

static gboolean
has_x264enc (void)
{
  GstElementFactory *encoder = gst_element_factory_find ("x264enc");
  gboolean has = encoder != NULL;

  if (!has)
    g_test_skip ("no x264enc");
  g_clear_object (&encoder);
  return has;
}

/* Streams and layers: several SSRCs and groups under one key, RTCP of all by one socket. */
static void
test_several (void)
{
  static const struct {
    const gchar *sender, *receiver;
  } cases[] = {
    { "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=30/1 ! "
      "asspsimulcastbin name=it streams=100000:300000,300000:900000",
        "asspsimulcastsrc" },
    { "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=30/1 ! "
      "x264enc bitrate=300 bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 "
      "sync-lookahead=0 mb-tree=false threads=1 option-string=scenecut=0 ! "
      "video/x-h264,profile=main ! rtph264pay config-interval=-1 ! elmlayersink name=it seed=5",
        "elmlayersrc" },
  };

  for (guint i = 0; has_x264enc () && i < G_N_ELEMENTS (cases); i++) {
    Side sender, receiver, stranger;

    g_test_message ("%s", cases[i].receiver);
    side_start (&sender, cases[i].sender, "7 " KEY_A);
    g_assert_cmpint (
        gst_element_set_state (sender.pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
    receive_start_by (&receiver, cases[i].receiver, "7 " KEY_A);
    receive_start_by (&stranger, cases[i].receiver, "7 " KEY_B);
    g_assert_true (wait_buffers (&receiver, 60));
    g_assert_true (wait_figure (&sender, "num-receivers", 1));
    g_assert_true (wait_figure (&stranger, "dropped-unauthentic", 10));
    g_assert_cmpuint (figure (&sender, "num-receivers"), ==, 1);
    g_assert_cmpint (g_atomic_int_get (&stranger.buffers), ==, 0);
    side_stop (&stranger);
    side_stop (&receiver);
    side_stop (&sender);
  }
}

#define VIDEO                                                                                      \
  "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=30/1 ! "

/* By way of READY, which keeps the key: numbers that begin below those before are no replay. */
static void
test_again (void)
{
  static const struct {
    const gchar *sender, *receiver;
  } cases[] = {
    { "audiotestsrc is-live=true samplesperbuffer=220 ! rtpL16pay name=pay ! asmpsink name=it",
        "asmpsrc" },
    { VIDEO "asspsimulcastbin name=it streams=100000:300000 "
            "encoder-description=\"x264enc tune=zerolatency ! rtph264pay name=pay\"",
        "asspsimulcastsrc" },
    { VIDEO "x264enc tune=zerolatency ! rtph264pay name=pay ! "
            "it.sink_0 asspsimulcastbin name=it streams=100000:300000",
        "asspsimulcastsrc" },
    { VIDEO "x264enc tune=zerolatency ! rtph264pay name=pay ! elmlayersink name=it",
        "elmlayersrc" },
  };

  for (guint i = 0; has_x264enc () && i < G_N_ELEMENTS (cases); i++) {
    Side sender, receiver;
    GstElement *pay;

    g_test_message ("%s", cases[i].sender);
    side_start (&sender, cases[i].sender, KEY_A);
    gst_element_set_state (sender.pipeline, GST_STATE_READY);
    pay = gst_bin_get_by_name (GST_BIN (sender.pipeline), "pay");
    g_object_set (pay, "seqnum-offset", 40000, NULL);
    gst_element_set_state (sender.pipeline, GST_STATE_PLAYING);
    receive_start_by (&receiver, cases[i].receiver, KEY_A);
    g_assert_true (wait_buffers_of (&receiver, &sender, 60));
    gst_element_set_state (sender.pipeline, GST_STATE_READY);
    g_object_set (pay, "seqnum-offset", 20000, NULL);
    gst_element_set_state (sender.pipeline, GST_STATE_PLAYING);
    g_assert_true (wait_buffers_of (&receiver, &sender, 60));
    gst_object_unref (pay);
    side_stop (&receiver);
    side_stop (&sender);
  }
}

static gboolean
warned_already (Side *side, const gchar *part)
{
  GstBus *bus = gst_element_get_bus (side->pipeline);
  GstMessage *message;
  gboolean found = FALSE;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    GError *error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    found |= strstr (error->message, part) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return found;
}

/* A payloader that begins anew below its old numbers while the sender plays. */
static void
test_payloader_again (void)
{
  static const struct {
    const gchar *sender, *receiver;
  } cases[] = {
    { "audiotestsrc name=source is-live=true samplesperbuffer=220 ! "
      "rtpL16pay name=pay ! asmpsink name=it",
        "asmpsrc" },
    { "audiotestsrc name=source is-live=true samplesperbuffer=220 ! "
      "rtpL16pay name=pay ! it.sink_0 asspsimulcastbin name=it streams=100000:2000000",
        "asspsimulcastsrc" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *source, *pay;
    Side sender, receiver;

    g_test_message ("%s", cases[i].sender);
    side_start (&sender, cases[i].sender, KEY_A);
    source = gst_bin_get_by_name (GST_BIN (sender.pipeline), "source");
    pay = gst_bin_get_by_name (GST_BIN (sender.pipeline), "pay");
    g_object_set (pay, "seqnum-offset", 40000, NULL);
    gst_element_set_state (sender.pipeline, GST_STATE_PLAYING);
    receive_start_by (&receiver, cases[i].receiver, KEY_A);
    g_assert_true (wait_buffers_of (&receiver, &sender, 60));
    for (gint offset = 20000; offset >= 0; offset -= 20000) {
      gst_element_set_state (source, GST_STATE_READY);
      gst_element_set_state (pay, GST_STATE_READY);
      g_object_set (pay, "seqnum-offset", offset, NULL);
      gst_element_set_state (pay, GST_STATE_PLAYING);
      gst_element_set_state (source, GST_STATE_PLAYING);
      g_assert_true (wait_buffers_of (&receiver, &sender, 250)); /* longer than a second */
    }
    g_assert_false (warned_already (&sender, "cannot be encrypted"));
    gst_object_unref (pay);
    gst_object_unref (source);
    side_stop (&receiver);
    side_stop (&sender);
  }
}

static GstPadProbeReturn
on_repeat (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

  gst_buffer_memset (buffer, 2, 7, 2);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* What would use a key stream again is not sent, which is said. */
static void
test_numbers_again (void)
{
  GstElement *pay;
  Side sender;
  GstPad *pad;

  side_start (&sender, "audiotestsrc is-live=true ! rtpL16pay name=pay ! asmpsink name=it", KEY_A);
  pay = gst_bin_get_by_name (GST_BIN (sender.pipeline), "pay");
  pad = gst_element_get_static_pad (pay, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_repeat, NULL, NULL);
  gst_element_set_state (sender.pipeline, GST_STATE_PLAYING);
  g_assert_true (warns (&sender, "cannot be encrypted"));
  gst_object_unref (pad);
  gst_object_unref (pay);
  side_stop (&sender);
}

/* Another key, or a key on one side only: nothing plays, nobody is heard, and it is said why. */
static void
test_wrong (void)
{
  static const struct {
    const gchar *sender, *receiver;
  } cases[] = { { KEY_A, KEY_B }, { NULL, KEY_A }, { KEY_A, NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Side sender, receiver;

    g_test_message ("case %u", i);
    send_start (&sender, cases[i].sender);
    receive_start (&receiver, cases[i].receiver);
    if (!cases[i].sender)
      g_assert_true (warns (&sender, "Plain RTP"));
    g_assert_true (
        warns (&receiver, cases[i].receiver ? "is not from who has our key" : "cannot be read"));
    g_assert_cmpint (g_atomic_int_get (&receiver.buffers), ==, 0);
    if (cases[i].sender)
      g_assert_cmpuint (figure (&sender, "num-receivers"), ==, 0);
    if (cases[i].receiver)
      g_assert_cmpuint (figure (&receiver, "dropped-unauthentic"), >, 0);
    side_stop (&receiver);
    side_stop (&sender);
  }
}

/* ---- the key stays where it is ---- */

static gint leaked;

static void
on_log (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function,
    gint line, GObject *object, GstDebugMessage *message, gpointer data)
{
  const gchar *text = gst_debug_message_get (message);

  if (text && strstr (text, KEY_A))
    g_atomic_int_inc (&leaked);
}

static gchar *
on_request (GstElement *element, gpointer data)
{
  g_atomic_int_inc ((gint *)data);
  return g_strdup (KEY_A);
}

/* In no property that can be read, figure, URI, log or error. */
static void
test_secret (void)
{
  static const gchar *const categories[]
      = { "asmpsink", "mccsession", "mccsender", "mccsendstream", "mccpacer" };
  gint asked = 0;
  gchar *uri, *stats;
  GstStructure *structure;
  GError *error = NULL;
  Side sender;

  gst_debug_remove_log_function (NULL); /* the one that prints */
  gst_debug_add_log_function (on_log, NULL, NULL);
  gst_debug_set_active (TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (categories); i++)
    gst_debug_set_threshold_for_name (categories[i], GST_LEVEL_TRACE);
  side_start (&sender, "audiotestsrc is-live=true ! rtpL16pay ! asmpsink name=it", NULL);
  g_signal_connect (sender.element, "request-srtp-key", G_CALLBACK (on_request), &asked);
  g_assert_cmpint (
      gst_element_set_state (sender.pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  g_assert_cmpint (asked, ==, 1);
  g_usleep (G_USEC_PER_SEC);
  g_object_set (sender.element, "srtp-key", KEY_A, NULL);
  g_object_get (sender.element, "uri", &uri, "stats", &structure, NULL);
  stats = gst_structure_to_string (structure);
  g_assert_null (strstr (uri, "srtp-key"));
  g_assert_null (strstr (stats, KEY_A));
  g_assert_false (
      g_object_class_find_property (G_OBJECT_GET_CLASS (sender.element), "srtp-key")->flags
      & G_PARAM_READABLE);
  g_free (uri);
  g_free (stats);
  gst_structure_free (structure);
  gst_element_set_state (sender.pipeline, GST_STATE_NULL);
  g_assert_false (gst_uri_handler_set_uri (
      GST_URI_HANDLER (sender.element), "asmp://239.1.2.3:5004?srtp-key=" KEY_A, &error));
  g_assert_nonnull (strstr (error->message, "srtp-key-file"));
  g_assert_null (strstr (error->message, KEY_A));
  g_clear_error (&error);
  gst_debug_remove_log_function (on_log);
  gst_debug_set_active (FALSE);
  g_assert_cmpint (leaked, ==, 0);
  side_stop (&sender);
}

/* To READY with this file; @part of the error if it fails. */
static void
assert_file (const gchar *name, const gchar *part)
{
  GstElement *sink = gst_element_factory_make ("asmpsink", NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (sink, bus);
  g_object_set (
      sink, "srtp-key-file", name, "address", group, "port", port, "multicast-iface", "lo", NULL);
  g_assert_cmpint (
      gst_element_set_state (sink, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE, ==, part != NULL);
  if (part) {
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    gst_message_parse_error (message, &error, NULL);
    g_assert_nonnull (strstr (error->message, part));
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_element_set_bus (sink, NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
}

/* Files that are none, or hold no key, fail the change to READY; nothing waits for them. */
static void
test_files (void)
{
  gchar *name = g_strdup_printf ("%s/srtp-%d.keys", g_get_tmp_dir (), (gint)getpid ());
  gchar *longest = g_strnfill (70000, '#');

  assert_file (name, "srtp-key-file");
  assert_file ("/dev/null", "no regular file");
  assert_file (g_get_tmp_dir (), "no regular file");
  g_assert_cmpint (mkfifo (name, 0600), ==, 0);
  assert_file (name, "no regular file");
  g_remove (name);
  g_assert_true (g_file_set_contents (name, longest, -1, NULL));
  assert_file (name, "no file of keys");
  g_assert_true (g_file_set_contents (name, "1 " KEY_A "\0", sizeof KEY_A + 2, NULL));
  assert_file (name, "no file of keys");
  g_assert_true (g_file_set_contents (name, "nonsense", -1, NULL));
  assert_file (name, "line 1");
  g_assert_true (g_file_set_contents (name, "1 " KEY_A, -1, NULL));
  assert_file (name, NULL);
  g_remove (name);
  g_free (name);
  g_free (longest);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  register_elements ();
  own_group (group, sizeof group);
  port = own_port (8);
  g_test_add_func ("/srtp/files", test_files);
  g_test_add_func ("/srtp/secret", test_secret);
  g_test_add_func ("/srtp/sent-back", test_sent_back);
  g_test_add_func ("/srtp/pair", test_pair);
  g_test_add_func ("/srtp/forged-reports", test_forged);
  g_test_add_func ("/srtp/late-joiner", test_late);
  g_test_add_func ("/srtp/late-joiner/lied-to", test_late_lie);
  g_test_add_func ("/srtp/streams-and-layers", test_several);
  g_test_add_func ("/srtp/again", test_again);
  g_test_add_func ("/srtp/payloader-again", test_payloader_again);
  g_test_add_func ("/srtp/numbers-again", test_numbers_again);
  g_test_add_func ("/srtp/wrong-keys", test_wrong);
  return g_test_run ();
}
