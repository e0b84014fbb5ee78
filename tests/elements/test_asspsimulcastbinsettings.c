/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastbin: its properties, what is refused, and that one kind of pads excludes the other.
 */
#include <string.h>

#include <gst/gst.h>

#include "gstasspsimulcastbin.h"
#include "gstasspstreams.h"
#include "lastref.h"
#include "settings.h"
#include "sinkfixture.h"

/* One stream where it does not matter: each has an encoder. */
#define BIN "asspsimulcastbin multicast-iface=lo address=239.255.77.10 port=61300 max-streams=1 "
#define AS_GIVEN "max-streams=0 "

static void
test_properties (void)
{
  GstElement *bin = gst_element_factory_make ("asspsimulcastbin", NULL);
  gchar *streams, *encoder, *uri;

  g_object_get (bin, "streams", &streams, "encoder-description", &encoder, NULL);
  g_assert_null (streams);
  g_assert_cmpstr (encoder, ==, "x264enc tune=zerolatency speed-preset=superfast");
  g_free (encoder);
  g_assert_cmpuint (get_uint (bin, "max-streams"), ==, 0);
  g_assert_cmpuint (get_uint (bin, "idle-timeout"), ==, 10000);
  g_assert_cmpuint (get_u64 (bin, "target-bitrate"), ==, 0);
  g_assert_cmpuint (get_u64 (bin, "min-bitrate"), ==, 100000);
  g_assert_cmpuint (get_u64 (bin, "max-bitrate"), ==, 10000000);
  g_object_set (bin, "streams", "1000:2000", "encoder-description", "vp8enc", "max-streams", 8u,
      "idle-timeout", 0u, "sdp-location", "/tmp/x%d", "pacing-max-delay", 7u, NULL);
  g_object_get (bin, "streams", &streams, "encoder-description", &encoder, NULL);
  g_assert_cmpstr (streams, ==, "1000:2000");
  g_assert_cmpstr (encoder, ==, "vp8enc");
  g_free (streams);
  g_free (encoder);
  g_assert_cmpuint (get_uint (bin, "max-streams"), ==, 8);
  g_assert_cmpuint (get_uint (bin, "idle-timeout"), ==, 0);
  g_assert_cmpuint (get_uint (bin, "pacing-max-delay"), ==, 7);
  /* a URI may set the streams, but not what is run */
  g_object_set (bin, "uri", "assp://239.255.12.50:5010?streams=2000:3000&max-streams=2", NULL);
  g_object_get (bin, "streams", &streams, "uri", &uri, NULL);
  g_assert_cmpstr (streams, ==, "2000:3000");
  g_assert_cmpstr (uri, ==, "assp://239.255.12.50:5010");
  g_free (streams);
  g_free (uri);
  gst_object_unref (bin);
}

static void
test_uri_runs_nothing (void)
{
  settings_refused ("asspsimulcastbin uri=assp://239.255.12.50:5010?encoder-description=vp8enc",
      "uri", "encoder-description");
}

static void
test_bad_settings (void)
{
  static const gchar *const bad[][3] = {
    /* what is not low:high,... */
    { "streams=x", "streams", "low:high" },
    { "streams=1000000", "streams", "low:high" },
    { "streams=1000000:", "streams", "low:high" },
    { "streams=:1000000", "streams", "low:high" },
    { "streams=1000000:2000000,", "streams", "low:high" },
    { "streams=,", "streams", "low:high" },
    { "streams=1000000:2000000:3000000", "streams", "low:high" },
    { "streams=1000000:2000000;2000000:3000000", "streams", "low:high" },
    { "streams=-1000000:2000000", "streams", "low:high" },
    { "streams=+1000000:2000000", "streams", "low:high" },
    { "streams=1M:2M", "streams", "low:high" },
    { "streams=1e6:2e6", "streams", "low:high" },
    { "streams=99999999999999999999:99999999999999999999", "streams", "low:high" },
    { "streams=1000:2000,2000:3000,3000:4000,4000:5000,5000:6000,6000:7000,7000:8000,8000:9000,"
      "9000:10000",
        "streams", "at most 8" },
    /* bounds */
    { "streams=999:2000", "streams", "1000 or more" },
    { "streams=0:0", "streams", "1000 or more" },
    { "streams=1000:281474976710656", "streams", "281474976710655 or less" },
    { "streams=2000000:1000000", "streams", "exchange them" },
    { "streams=300000:2000000,1999999:5000000", "streams", "not overlap" },
    { "streams=2000000:5000000,300000:2000000", "streams", "not overlap" },
    { "streams=300000:2000000,300000:2000000", "streams", "not overlap" },
    { "streams=300000:2000000 min-bitrate=300001", "streams", "lower min-bitrate" },
    { "streams=300000:2000000 max-bitrate=1999999", "streams", "raise max-bitrate" },
    { "streams=1000:2000,2000:3000", "max-streams", "raise it" },
    { "streams=1000:2000,2000:3000,3000:4000 max-streams=2", "max-streams", "give fewer" },
    /* what all senders have */
    { "min-bitrate=2000000 max-bitrate=1000000", "min-bitrate", "raise max-bitrate" },
    { "min-bitrate=999", "min-bitrate", "1000" },
    { "max-bitrate=281474976710656", "max-bitrate", "281474976710655" },
    { "start-bitrate=99999", "start-bitrate", "between" },
    { "session-bandwidth=281474976710656", "session-bandwidth", "281474976710655" },
    { "port=5005", "port", "even" },
    { "port=65534 max-streams=3", "port", "lower" },
    { "ttl=256", "ttl", "0 to 255" },
    { "ttl-mc=-1", "ttl-mc", "0 to 255" },
    { "qos-dscp=64", "qos-dscp", "0 to 63" },
    { "address=no.such.address.", "address", "239.255.12.42" },
    { "address=10.0.0.1", "address", "group" },
    { "address=239.255.255.253 max-streams=3", "address", "lower" },
    { "address=232.255.255.255 source-address=127.0.0.1", "address", "lower" },
    { "address=224.0.0.10", "address", "239.255.12.42" },
    { "address=ff02::42 multicast-iface=\"\"", "multicast-iface", "name the interface" },
    { "multicast-iface=nosuch0", "multicast-iface", "ip link" },
    { "address=232.1.2.3", "source-address", "this host's own address" },
    { "source-address=x", "source-address", "IP address" },
    { "feedback-address=239.1.1.1", "feedback-address", "host" },
    { "encoder-bitrate-property=bitrate", "encoder-bitrate-property", "encoder-bitrate-unit" },
    { "no-feedback=hold", "no-feedback", "minimum or stop" },
    { "sdp-location=/tmp/one.sdp max-streams=3", "sdp-location", "%d" },
    { "encoder-name=x", "encoder-name", "encoder-description" },
    /* encoders */
    { "encoder-description=\"\"", "encoder-description", "x264enc" },
    { "encoder-description=\"x264enc !\"", "encoder-description", "x264enc" },
    { "encoder-description=identity", "encoder-description", "x264enc" },
    { "encoder-description=fakesink", "encoder-description", "x264enc" },
    { "encoder-description=\"x264enc ! fakesink\"", "encoder-description", "x264enc" },
    { "encoder-description=\"x264enc nosuch=1\"", "encoder-description", "x264enc" },
    { "encoder-description=\"x264enc ! avdec_h264 ! videoconvert\"", "encoder-description", "" },
    { "encoder-description=opusenc", "encoder-description", "video" },
    { "encoder-description=avenc_ffv1", "encoder-description", "payloader" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *launch = g_strconcat (BIN, bad[i][0], NULL);

    settings_refused (launch, bad[i][1], bad[i][2]);
    g_free (launch);
  }
}

static void
test_bounds (void)
{
  static const gchar *const good[] = { "", "streams=1000:1000",
    AS_GIVEN "streams=300000:2000000,2000000:5000000,5000000:10000000",
    "streams=300000:2000000,2000000:5000000,5000000:10000000 max-streams=3",
    AS_GIVEN "streams=\"300000:2000000, 2000000:5000000\"", "streams=1000:281474976710655",
    AS_GIVEN
    "streams=1000:2000,2000:3000,3000:4000,4000:5000,5000:6000,6000:7000,7000:8000,8000:9000",
    AS_GIVEN "streams=1000:2000,5000:6000", /* a gap is none of our business */
    "streams=300000:2000000 min-bitrate=300000 max-bitrate=2000000",
    "min-bitrate=1000 max-bitrate=1000 start-bitrate=1000", "max-streams=8", "max-streams=1",
    "port=65528 max-streams=3", "address=239.255.255.252 max-streams=3", "idle-timeout=0",
    "no-feedback=stop", "encoder-description=vp8enc", "encoder-description=\"x264enc ! h264parse\"",
    "encoder-description=\"x264enc ! capsfilter caps=video/x-h264,profile=baseline\"",
    "encoder-description=\"x264enc ! rtph264pay pt=97\"", "sdp-location=/tmp/s%d.sdp max-streams=2",
    "streams=1000:2000 sdp-location=/tmp/s.sdp" };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    gchar *launch = g_strconcat (BIN, good[i], NULL);

    settings_accepted (launch, GST_STATE_PAUSED);
    g_free (launch);
  }
}

/* Unset they are made of the bounds, in equal ratios. */
static void
test_made_streams (void)
{
  MccAsspStreams streams;

  gst_assp_streams_make (3, 100000, 800000, &streams);
  g_assert_cmpuint (streams.count, ==, 3);
  g_assert_true (mcc_assp_streams_valid (&streams));
  g_assert_cmpuint (streams.stream[0].low_bps, ==, 100000);
  g_assert_cmpuint (streams.stream[1].low_bps, ==, 200000);
  g_assert_cmpuint (streams.stream[2].low_bps, ==, 400000);
  g_assert_cmpuint (streams.stream[2].high_bps, ==, 800000);
  gst_assp_streams_make (8, 1000, 1000, &streams);
  g_assert_true (mcc_assp_streams_valid (&streams));
  g_assert_cmpuint (streams.stream[7].high_bps, ==, 1000);
  for (guint i = 0; i < 8; i++) {
    MccPlace place = gst_assp_streams_place (&streams, i);

    g_assert_cmpuint (place.address_offset, ==, 1 + i);
    g_assert_cmpuint (place.port_offset, ==, 2 * i);
  }
}

/* What gst-inspect says is true of streams. */
static void
test_blurbs (void)
{
  static const gchar *const words[][2] = { { "no-feedback", "hold is refused" },
    { "encoder", "request pad" }, { "encoder-name", "commas between" },
    { "sdp-location", "%d becomes" }, { "session-bandwidth", "upper bound of the highest stream" },
    { "max-receivers", "of each stream" } };
  GObjectClass *klass = g_type_class_ref (GST_TYPE_ASSP_SIMULCAST_BIN);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    const gchar *blurb = g_param_spec_get_blurb (g_object_class_find_property (klass, words[i][0]));

    g_test_message ("%s: %s", words[i][0], blurb);
    g_assert_nonnull (strstr (blurb, words[i][1]));
  }
  g_type_class_unref (klass);
}

/* ---- pads ---- */

static gchar *
take_error (GstBus *bus)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *text;

  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error->message);
  g_test_message ("%s", text);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

static void
assert_error (GstBus *bus, const gchar *part)
{
  gchar *text = take_error (bus);

  g_assert_nonnull (strstr (text, part));
  g_free (text);
}

static void
test_pads_exclude (void)
{
  GstElement *bin = gst_object_ref_sink (gst_element_factory_make ("asspsimulcastbin", NULL));
  GstElement *raw = gst_object_ref_sink (gst_element_factory_make ("fakesrc", NULL));
  GstPad *src = gst_element_get_static_pad (raw, "src");
  GstPad *sink = gst_element_get_static_pad (bin, "sink"), *request;
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (bin, bus);
  request = gst_element_request_pad_simple (bin, "sink_%u");
  g_assert_nonnull (request);
  g_assert_cmpstr (GST_PAD_NAME (request), ==, "sink_0");
  g_assert_cmpint (gst_pad_link (src, sink), ==, GST_PAD_LINK_REFUSED);
  assert_error (bus, "exclude each other");
  gst_element_release_request_pad (bin, request);
  gst_object_unref (request);
  g_assert_cmpint (gst_pad_link (src, sink), ==, GST_PAD_LINK_OK);
  g_assert_null (gst_element_request_pad_simple (bin, "sink_%u"));
  assert_error (bus, "exclude each other");
  gst_pad_unlink (src, sink);
  request = gst_element_request_pad_simple (bin, "sink_7");
  g_assert_nonnull (request);
  g_assert_cmpstr (GST_PAD_NAME (request), ==, "sink_7");
  g_assert_null (gst_element_request_pad_simple (bin, "sink_8")); /* 8 streams at most */
  assert_error (bus, "There is no sink_8: request sink_0 to sink_7.");
  /* numbers with a gap */
  g_object_set (bin, "address", "239.255.77.10", "multicast-iface", "lo", NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (bus, "sink_0 is missing");
  gst_element_release_request_pad (bin, request);
  gst_object_unref (request);
  /* not while it runs */
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  g_assert_null (gst_element_request_pad_simple (bin, "sink_%u"));
  assert_error (bus, "request them in NULL");
  gst_element_set_state (bin, GST_STATE_NULL);
  gst_element_set_bus (bin, NULL);
  gst_object_unref (bus);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (raw);
  last_unref (bin);
}

static void
test_pads_and_streams (void)
{
  GstElement *bin = gst_object_ref_sink (gst_element_factory_make ("asspsimulcastbin", NULL));
  GstPad *pads[2];
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (bin, bus);
  g_object_set (bin, "address", "239.255.77.10", "multicast-iface", "lo", "streams",
      "1000:2000,2000:3000,3000:4000", NULL);
  for (guint i = 0; i < 2; i++)
    pads[i] = gst_element_request_pad_simple (bin, "sink_%u");
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (bus, "there are 2 request pads");
  g_object_set (bin, "streams", "1000:2000,2000:3000", "encoder", bin, NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (bus, "encoder-name");
  g_object_set (bin, "encoder", NULL, NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  /* nothing is built for the always pad */
  g_assert_null (gst_bin_get_by_name (GST_BIN (bin), "stream0"));
  gst_element_set_state (bin, GST_STATE_NULL);
  for (guint i = 0; i < 2; i++) {
    gst_element_release_request_pad (bin, pads[i]);
    gst_object_unref (pads[i]);
  }
  gst_element_set_bus (bin, NULL);
  gst_object_unref (bus);
  gst_object_unref (bin);
}

/* Fewer than there are pads are an error, with or without bounds; more add none. */
static void
test_pads_and_maximum (void)
{
  GstElement *bin = gst_object_ref_sink (gst_element_factory_make ("asspsimulcastbin", NULL));
  GstBus *bus = gst_bus_new ();
  GstPad *pads[5];

  gst_element_set_bus (bin, bus);
  g_object_set (bin, "address", "239.255.77.10", "multicast-iface", "lo", "max-streams", 4, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++)
    pads[i] = gst_element_request_pad_simple (bin, "sink_%u");
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (bus, "max-streams is 4, but there are 5 request pads; raise it, or request fewer");
  for (guint most = 5; most <= 8; most++) {
    g_object_set (bin, "max-streams", most, NULL);
    g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (bin, GST_STATE_NULL);
  }
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++) {
    gst_element_release_request_pad (bin, pads[i]);
    gst_object_unref (pads[i]);
  }
  gst_element_set_bus (bin, NULL);
  gst_object_unref (bus);
  gst_object_unref (bin);
}

/* What is bad and set in READY fails the change to PAUSED. */
static void
test_bad_in_ready (void)
{
  static const gchar *const bad[][2] = {
    { "no-feedback", "hold" },
    { "sdp-location", "/tmp/one.sdp" },
    { "start-bitrate", "99999" },
    { "min-bitrate", "999" },
    { "encoder", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstElement *bin = gst_object_ref_sink (gst_element_factory_make ("asspsimulcastbin", NULL));
    GstBus *bus = gst_bus_new ();
    GstPad *pads[2];

    gst_element_set_bus (bin, bus);
    g_object_set (bin, "address", "239.255.77.10", "multicast-iface", "lo", NULL);
    for (guint k = 0; k < 2; k++)
      pads[k] = gst_element_request_pad_simple (bin, "sink_%u");
    g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
    if (bad[i][1])
      gst_util_set_object_arg (G_OBJECT (bin), bad[i][0], bad[i][1]);
    else
      g_object_set (bin, bad[i][0], bin, NULL);
    g_assert_cmpint (gst_element_set_state (bin, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
    assert_error (bus, bad[i][0]);
    g_object_set (bin, "encoder", NULL, NULL);
    gst_element_set_state (bin, GST_STATE_NULL);
    for (guint k = 0; k < 2; k++) {
      gst_element_release_request_pad (bin, pads[k]);
      gst_object_unref (pads[k]);
    }
    gst_element_set_bus (bin, NULL);
    gst_object_unref (bus);
    gst_object_unref (bin);
  }
}

static guint
count_warnings (GstBus *bus, const gchar *part)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    GError *error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    n += strstr (error->message, part) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  return n;
}

/* Raw video has encoders of its own: others are refused, or, while it runs, not used, as hold is.
 */
static void
test_raw (void)
{
  GstElement *bin = gst_parse_launch (BIN, NULL), *encoder = gst_bin_new ("e");
  GstBus *bus = gst_bus_new ();

  gst_object_ref_sink (encoder);
  gst_element_set_bus (bin, bus);
  g_object_set (bin, "encoder", encoder, NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (bus, "encoder-description");
  g_object_set (bin, "encoder", NULL, NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  g_object_set (bin, "encoder-name", "e", NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (bus, "encoder-description");
  g_object_set (bin, "encoder-name", NULL, NULL);
  g_assert_cmpint (gst_element_set_state (bin, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  g_assert_cmpuint (count_warnings (bus, "encoder-description"), ==, 0);
  g_object_set (bin, "encoder", encoder, NULL);
  g_assert_cmpuint (count_warnings (bus, "encoder-description"), ==, 1);
  g_object_set (bin, "encoder-name", "e", NULL);
  g_assert_cmpuint (count_warnings (bus, "encoder-description"), ==, 1);
  g_object_set (bin, "encoder", NULL, "encoder-name", NULL, NULL);
  gst_util_set_object_arg (G_OBJECT (bin), "no-feedback", "stop");
  g_assert_cmpuint (count_warnings (bus, ""), ==, 0);
  gst_util_set_object_arg (G_OBJECT (bin), "no-feedback", "hold");
  g_assert_cmpuint (count_warnings (bus, "set it to minimum or stop"), ==, 1);
  gst_element_set_state (bin, GST_STATE_NULL);
  gst_element_set_bus (bin, NULL);
  gst_object_unref (bus);
  gst_object_unref (encoder);
  last_unref (bin);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN);
#define ADD(name, func) g_test_add_func ("/asspsimulcastbin/" name, func)
  ADD ("properties", test_properties);
  ADD ("blurbs", test_blurbs);
  ADD ("settings/uri-runs-nothing", test_uri_runs_nothing);
  ADD ("settings/bad", test_bad_settings);
  ADD ("settings/bad-in-ready", test_bad_in_ready);
  ADD ("settings/bounds", test_bounds);
  ADD ("settings/made-streams", test_made_streams);
  ADD ("settings/raw-video", test_raw);
  ADD ("pads/exclude-each-other", test_pads_exclude);
  ADD ("pads/as-many-as-streams", test_pads_and_streams);
  ADD ("pads/no-more-than-max-streams", test_pads_and_maximum);
  return g_test_run ();
}
