/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastbin's encoders: the pictures they get, how they are set, one that fails, those of
 * the application.
 */
#include <string.h>

#include <gst/gst.h>

#include "asspbinfixture.h"
#include "gstasspsimulcastbin.h"

static guint
x264_threads (BinFixture *f, const gchar *stream)
{
  GstElement *branch = gst_bin_get_by_name (GST_BIN (f->bin), stream), *encoder = NULL;
  GstIterator *elements = gst_bin_iterate_all_by_element_factory_name (GST_BIN (branch), "x264enc");
  GValue value = G_VALUE_INIT;
  guint threads;

  g_assert_cmpint (gst_iterator_next (elements, &value), ==, GST_ITERATOR_OK);
  encoder = g_value_get_object (&value);
  g_object_get (encoder, "threads", &threads, NULL);
  g_value_unset (&value);
  gst_iterator_free (elements);
  gst_object_unref (branch);
  return threads;
}

/* Each smaller than the next, with the frames that its rate allows. */
static void
test_pictures (void)
{
  BinFixture f;

  if (!bin_setup (&f,
          "videotestsrc is-live=true ! video/x-raw,width=1280,height=720,framerate=60/1 ! @"
          "streams=100000:300000,1000000:2000000,10000000:20000000"))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  g_assert_cmpuint (bin_stream_uint (&f, 0, "width"), ==, 320);
  g_assert_cmpuint (bin_stream_uint (&f, 0, "height"), ==, 180);
  g_assert_cmpuint (bin_stream_uint (&f, 0, "one-frame-of"), ==, 2);
  g_assert_cmpuint (bin_stream_uint (&f, 1, "width"), ==, 960);
  g_assert_cmpuint (bin_stream_uint (&f, 1, "one-frame-of"), ==, 2);
  g_assert_cmpuint (bin_stream_uint (&f, 2, "width"), ==, 1280);
  g_assert_cmpuint (bin_stream_uint (&f, 2, "one-frame-of"), ==, 1);
  g_assert_nonnull (strstr (f.peer.stream[0].session.parameters, "a-framerate=30"));
  g_assert_cmpuint (x264_threads (&f, "stream0"), ==, 1);
  g_assert_cmpuint (x264_threads (&f, "stream2"), ==, 0);
  bin_teardown (&f);
}

/* What the user says stays. */
static void
test_pictures_left_alone (void)
{
  static const gchar *const settings[]
      = { "configure-encoder=false", "encoder-description=\"x264enc tune=zerolatency threads=2\"" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gchar *description = g_strdup_printf (
        "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! @"
        "streams=100000:300000 %s",
        settings[i]);
    BinFixture f;

    if (bin_setup (&f, description)) {
      bin_play (&f);
      bin_meet (&f, 1);
      g_assert_cmpuint (x264_threads (&f, "stream0"), ==, i == 0 ? 0 : 2);
      bin_teardown (&f);
    }
    g_free (description);
  }
}

/* Of 30 frames a second an encoder of ten takes ten; the others are counted, each once. */
static void
test_slow_encoder (void)
{
  BinFixture f;
  const AsspPeerStream *stream = &f.peer.stream[0];
  guint64 dropped;
  guint frames, sent, span;
  guint32 time;

  if (!bin_setup (&f, "videotestsrc is-live=true ! "
                      "video/x-raw,width=160,height=120,framerate=30/1 ! @streams=100000:300000 "
                      "encoder-description=\"identity sleep-time=100000 ! "
                      "x264enc tune=zerolatency\""))
    return;
  bin_play (&f);
  bin_meet (&f, 1);
  g_assert_true (bin_frames (&f, 0, 5));
  dropped = bin_stream_u64 (&f, 0, "frames-dropped");
  frames = stream->frames;
  time = stream->time[(frames - 1) % ASSP_PEER_TIMES];
  g_assert_true (bin_frames (&f, 0, 20));
  dropped = bin_stream_u64 (&f, 0, "frames-dropped") - dropped;
  sent = stream->frames - frames;
  span = (stream->time[(stream->frames - 1) % ASSP_PEER_TIMES] - time + 1500) / 3000;
  g_test_message ("%u of %u sent, %u dropped", sent, span, (guint)dropped);
  g_assert_cmpuint (dropped, >, sent);
  g_assert_cmpint (ABS ((gint)(sent + dropped) - (gint)span), <=, 4); /* those on their way */
  bin_teardown (&f);
}

/* ---- an encoder that fails ---- */

/* As an encoder does that cannot go on, with others' frames behind this one. */
static GstPadProbeReturn
on_broken (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_usleep (300000);
  GST_ELEMENT_ERROR (data, STREAM, ENCODE, ("it broke"), (NULL));
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  return GST_PAD_PROBE_HANDLED;
}

/* ... and says nothing of it. */
static GstPadProbeReturn
on_broken_silently (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  return GST_PAD_PROBE_HANDLED;
}

static void
break_stream (BinFixture *f, guint stream, GstPadProbeCallback how)
{
  gchar *name = g_strdup_printf ("stream%u", stream);
  GstElement *branch = gst_bin_get_by_name (GST_BIN (f->bin), name);
  GstElement *broken = gst_bin_get_by_name (GST_BIN (branch), "breaks");
  GstPad *pad = gst_element_get_static_pad (broken, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, how, broken, NULL);
  gst_object_unref (pad);
  gst_object_unref (broken);
  gst_object_unref (branch);
  g_free (name);
}

#define NOT_SENT "Stream 1 is not sent any more"

static void
wait_warning (BinFixture *f, const gchar *part)
{
  GstMessage *message;
  GError *error = NULL;

  do {
    message = bin_wait_message (f, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR, 5000);
    g_assert_nonnull (message);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
    g_clear_error (&error);
    gst_message_parse_warning (message, &error, NULL);
    g_test_message ("%s", error->message);
    gst_message_unref (message);
  } while (!strstr (error->message, part));
  g_clear_error (&error);
}

static void
check_encoder_fails (gboolean sync, GstPadProbeCallback how)
{
  BinFixture f;
  GstMessage *message;
  guint before, rounds = 10;

  if (!bin_setup (&f, "videotestsrc is-live=true pattern=snow ! "
                      "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER
                      "encoder-description=\"identity name=breaks ! x264enc tune=zerolatency\""))
    return;
  g_object_set (f.bin, "sync", sync, NULL);
  bin_play (&f);
  bin_meet (&f, 3);
  break_stream (&f, 1, how);
  wait_warning (&f, NOT_SENT);
  do { /* what the pacer had */
    before = f.peer.stream[1].frames;
    assp_peer_run (&f.peer, 300);
  } while (f.peer.stream[1].frames != before && --rounds > 0);
  g_assert_true (bin_frames (&f, 0, 10));
  g_assert_true (bin_frames (&f, 2, 5));
  g_assert_cmpuint (f.peer.stream[1].frames, ==, before);
  g_assert_false (f.peer.streams.stream[1].flags & MCC_ASSP_RUNNING);
  bin_enter (&f, 1, 600000); /* nobody can wake it */
  assp_peer_run (&f.peer, 300);
  g_assert_cmpuint (bin_stream_uint (&f, 1, "running"), ==, 0);
  /* EOS comes all the same */
  gst_element_send_event (f.pipeline, gst_event_new_eos ());
  message = bin_wait_message (&f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 10000);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  /* begun anew it tries again, and breaks again */
  gst_element_set_state (f.pipeline, GST_STATE_READY);
  gst_element_set_state (f.pipeline, GST_STATE_PLAYING);
  wait_warning (&f, NOT_SENT);
  bin_teardown (&f);
}

static void
test_encoder_fails (void)
{
  check_encoder_fails (TRUE, on_broken);
}

/* Where the tee waits for a branch. */
static void
test_encoder_fails_without_sync (void)
{
  check_encoder_fails (FALSE, on_broken);
}

static void
test_encoder_fails_silently (void)
{
  check_encoder_fails (TRUE, on_broken_silently);
}

/* Newcomers are not sent into a dead stream: the next one is the lowest, has all of its range, and
 * is encoded though nobody is there. */
static void
test_lowest_fails (void)
{
  BinFixture f;
  const MccAsspStreams *now = &f.peer.streams;
  unsigned lowest;

  if (!bin_setup (&f, "videotestsrc is-live=true pattern=snow ! "
                      "video/x-raw,width=320,height=240,framerate=30/1 ! @"
                      "min-bitrate=200000 max-bitrate=2000000 idle-timeout=500 "
                      "encoder-description=\"identity name=breaks ! x264enc tune=zerolatency\""))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  for (guint ms = 0; ms < 5000 && bin_stream_uint (&f, 1, "running"); ms += 100)
    assp_peer_run (&f.peer, 100);
  g_assert_cmpuint (bin_stream_uint (&f, 1, "running"), ==, 0);
  break_stream (&f, 0, on_broken_silently);
  wait_warning (&f, "Stream 0 is not sent any more");
  for (guint ms = 0; ms < 3000 && mcc_assp_streams_open (now, 0); ms += 20)
    assp_peer_run (&f.peer, 20);
  g_assert_false (mcc_assp_streams_open (now, 0));
  lowest = mcc_assp_streams_lowest (now);
  g_assert_cmpuint (now->stream[lowest].low_bps, ==, 200000);
  assp_peer_run (&f.peer, 1000);
  g_assert_true (bin_frames (&f, lowest, 10));
  g_assert_true (now->stream[lowest].flags & MCC_ASSP_RUNNING);
  g_assert_cmpuint (bin_stream_uint (&f, lowest, "running"), ==, 1);
  g_assert_cmpuint (bin_stream_uint (&f, 0, "closed"), ==, 1);
  bin_teardown (&f);
}

static void
test_all_encoders_fail (void)
{
  BinFixture f;
  GstMessage *message;

  if (!bin_setup (&f, SOURCE
          "@" LADDER "encoder-description=\"identity name=breaks ! x264enc tune=zerolatency\""))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  for (guint i = 0; i < 3; i++)
    break_stream (&f, i, on_broken);
  message = bin_wait_message (&f, GST_MESSAGE_ERROR, 5000);
  g_assert_nonnull (message);
  gst_message_unref (message);
  bin_teardown (&f);
}

/* ---- others' encoders ---- */

#define OWN(n)                                                                                     \
  "t. ! queue ! x264enc name=e" #n " tune=zerolatency key-int-max=30 ! rtph264pay name=p" #n       \
  " ! bin.sink_" #n " "

static const gchar own[] = "videotestsrc is-live=true pattern=snow ! "
                           "video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! "
                           "tee name=t " OWN (0) OWN (1) "@";

static void
test_request_pads (void)
{
  BinFixture f;
  GstElement *encoder;
  guint bitrate;

  if (!bin_setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", NULL);
  bin_play (&f);
  bin_check_time_base (&f, 2);
  g_assert_cmpuint (f.peer.streams.count, ==, 2);
  bin_enter (&f, 1, 800000);
  for (guint i = 0; i < 30; i++) {
    assp_peer_run (&f.peer, 100);
    assp_peer_report (&f.peer, 1, 800000, 0);
  }
  encoder = gst_bin_get_by_name (GST_BIN (f.pipeline), "e1");
  g_object_get (encoder, "bitrate", &bitrate, NULL);
  g_assert_cmpuint (bitrate, >, 450);
  g_assert_cmpuint (bitrate, <, 900);
  gst_object_unref (encoder);
  encoder = gst_bin_get_by_name (GST_BIN (f.pipeline), "e0");
  g_object_get (encoder, "bitrate", &bitrate, NULL);
  g_assert_cmpuint (bitrate, <, 220);
  gst_object_unref (encoder);
  bin_teardown (&f);
}

/* `encoder` is one element: of several streams none takes it from the one that it belongs to. */
static void
test_request_one_encoder (void)
{
  BinFixture f;
  GstElement *encoder;
  guint bitrate;

  if (!bin_setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", NULL);
  bin_play (&f);
  bin_meet (&f, 2);
  bin_enter (&f, 1, 800000);
  encoder = gst_bin_get_by_name (GST_BIN (f.pipeline), "e1");
  g_object_set (f.bin, "encoder", encoder, NULL);
  wait_warning (&f, "encoder is one element");
  for (guint i = 0; i < 30; i++) {
    assp_peer_run (&f.peer, 100);
    assp_peer_report (&f.peer, 1, 800000, 0);
    g_object_get (encoder, "bitrate", &bitrate, NULL);
    g_assert_cmpuint (bitrate, >, 300);
  }
  gst_object_unref (encoder);
  bin_teardown (&f);
}

/* Payloaders with time bases that the application chose. */
static void
test_request_time_base (void)
{
  BinFixture f;
  GstElement *payloader;

  if (!bin_setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", NULL);
  for (guint i = 0; i < 2; i++) {
    payloader = gst_bin_get_by_name (GST_BIN (f.pipeline), i ? "p1" : "p0");
    g_object_set (payloader, "timestamp-offset", 4294967000u + 777u * i, NULL);
    gst_object_unref (payloader);
  }
  bin_play (&f);
  bin_check_time_base (&f, 2);
  bin_teardown (&f);
}

static void
test_request_idles (void)
{
  BinFixture f;
  guint before, key_units;

  if (!bin_setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", "idle-timeout", 800u, NULL);
  bin_play (&f);
  bin_meet (&f, 2);
  assp_peer_run (&f.peer, 1500);
  before = f.peer.stream[1].frames;
  g_assert_true (bin_frames (&f, 0, 10));
  g_assert_cmpuint (f.peer.stream[1].frames, ==, before);
  key_units = f.peer.stream[1].key_units;
  bin_enter (&f, 1, 800000);
  g_assert_true (bin_frames (&f, 1, 5));
  g_assert_cmpuint (f.peer.stream[1].key_units, >, key_units);
  bin_teardown (&f);
}

static GstPadProbeReturn
on_swallowed (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_DROP;
}

/* The input of stream 0 has ended, or was taken away; the others go on, and tell of it. */
static void
test_request_ends (gconstpointer released)
{
  BinFixture f;
  GstElement *payloader;
  GstPad *entry, *src;
  guint sessions, descriptions;
  guint32 round;
  guint64 sum;

  if (!bin_setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", NULL);
  bin_play (&f);
  bin_meet (&f, 2);
  payloader = gst_bin_get_by_name (GST_BIN (f.pipeline), "p0");
  src = gst_element_get_static_pad (payloader, "src");
  entry = gst_element_get_static_pad (f.bin, "sink_0");
  gst_pad_add_probe (
      src, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_swallowed, NULL, NULL);
  if (released) {
    gst_pad_unlink (src, entry);
    gst_element_release_request_pad (f.bin, entry);
  } else {
    gst_pad_send_event (entry, gst_event_new_eos ());
  }
  gst_object_unref (entry);
  gst_object_unref (src);
  gst_object_unref (payloader);
  for (guint ms = 0; ms < 3000 && mcc_assp_streams_open (&f.peer.streams, 0); ms += 20)
    assp_peer_run (&f.peer, 20);
  g_assert_false (mcc_assp_streams_open (&f.peer.streams, 0));
  g_assert_false (f.peer.streams.stream[0].flags & MCC_ASSP_RUNNING);
  g_assert_true (f.peer.streams.stream[1].flags & MCC_ASSP_RUNNING);
  g_assert_cmpuint (f.peer.stream[0].byes, >=, 1);
  g_assert_cmpuint (bin_stream_uint (&f, 0, "running"), ==, 0);
  g_object_get (f.bin, "target-bitrate", &sum, NULL);
  g_assert_cmpuint (sum, ==, 400000);
  sessions = f.peer.stream[0].sessions;
  descriptions = f.peer.descriptions;
  round = f.peer.streams.round;
  bin_enter (&f, 1, 800000);
  for (guint ms = 0; ms < 12000 && f.peer.streams.round - round < 2; ms += 20)
    assp_peer_run (&f.peer, 20);
  g_assert_cmpuint (f.peer.streams.round - round, ==, 2);
  g_assert_cmpuint (f.peer.descriptions, >, descriptions + 2);
  g_assert_cmpuint (f.peer.stream[0].sessions, ==, sessions);
  g_assert_true (bin_frames (&f, 1, 5));
  bin_teardown (&f);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN);
#define ADD(name, func) g_test_add_func ("/asspencoders/" name, func)
  ADD ("pictures", test_pictures);
  ADD ("pictures-left-alone", test_pictures_left_alone);
  ADD ("slow", test_slow_encoder);
  ADD ("encoder-fails", test_encoder_fails);
  ADD ("encoder-fails/without-sync", test_encoder_fails_without_sync);
  ADD ("encoder-fails/silently", test_encoder_fails_silently);
  ADD ("encoder-fails/lowest", test_lowest_fails);
  ADD ("all-encoders-fail", test_all_encoders_fail);
  ADD ("request-pads", test_request_pads);
  ADD ("request-pads/one-encoder", test_request_one_encoder);
  ADD ("request-pads/one-time-base", test_request_time_base);
  ADD ("request-pads/idle-and-return", test_request_idles);
  g_test_add_data_func ("/asspencoders/request-pads/ends", NULL, test_request_ends);
  g_test_add_data_func ("/asspencoders/request-pads/released", "", test_request_ends);
  return g_test_run ();
}
