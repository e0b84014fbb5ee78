/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastbin without `streams`: the live ladder forms from what receivers report, with real
 * encoders, whose pictures go with it. Each takes 20 s, as long as a ladder rests before a great
 * change.
 */
#include <gst/gst.h>

#include "asspbinfixture.h"
#include "gstasspsimulcastbin.h"
#include "mccpicture.h"

#define RECEIVERS 5
#define FRAME_TICKS 3000 /* 30 frames a second at 90 kHz */

/* Of one host: the peer speaks for all. */
typedef struct {
  guint32 ssrc, number;
  guint stream;
  guint64 bps;
} Receiver;

static void
report (BinFixture *f, Receiver *r)
{
  f->peer.ssrc = r->ssrc;
  f->peer.number = r->number;
  f->peer.potential_bps = r->bps;
  assp_peer_report (&f->peer, r->stream, r->bps, 0);
  r->number = f->peer.number;
}

/* Pictures of a stream that did not come, as they are watched. */
typedef struct {
  guint stream, frames, missing;
  guint32 newest;
} Watch;

static void
look (BinFixture *f, Watch *watch)
{
  const AsspPeerStream *stream = &f->peer.stream[watch->stream];

  g_assert_cmpuint (stream->frames - watch->frames, <=, ASSP_PEER_TIMES);
  for (; watch->frames < stream->frames; watch->frames++) {
    guint32 time = stream->time[watch->frames % ASSP_PEER_TIMES];
    guint32 step = time - watch->newest;

    if (watch->newest != 0 && step > FRAME_TICKS * 3 / 2)
      watch->missing += (step + FRAME_TICKS / 2) / FRAME_TICKS - 1;
    watch->newest = time;
  }
}

static void
run (BinFixture *f, Receiver *receivers, Watch *watch, guint ms)
{
  for (guint at = 0; at < ms; at += 200) {
    for (guint i = 0; i < RECEIVERS; i++)
      report (f, &receivers[i]);
    for (guint part = 0; part < 4; part++) {
      assp_peer_run (&f->peer, 50);
      look (f, watch);
    }
  }
}

typedef struct {
  guint width, height; /* of the input */
  const gchar *bounds;
  guint before; /* width of what stream 0 has at first */
} Case;

/* What the encoder of stream 0 gets and gives. */
static guint
encoded_width (BinFixture *f)
{
  GstElement *branch = gst_bin_get_by_name (GST_BIN (f->bin), "stream0");
  GstIterator *elements = gst_bin_iterate_all_by_element_factory_name (GST_BIN (branch), "x264enc");
  GValue value = G_VALUE_INIT;
  GstPad *pad;
  GstCaps *caps;
  gint width = 0;

  g_assert_cmpint (gst_iterator_next (elements, &value), ==, GST_ITERATOR_OK);
  pad = gst_element_get_static_pad (g_value_get_object (&value), "src");
  caps = gst_pad_get_current_caps (pad);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  g_value_unset (&value);
  gst_iterator_free (elements);
  gst_object_unref (branch);
  return (guint)width;
}

/* Of stream 0, which is watched all the while. */
static void
check_picture (BinFixture *f, const Case *test)
{
  const MccAsspStream *bounds = &f->peer.streams.stream[0];
  MccPicture wanted
      = mcc_picture_choose (test->width, test->height, 30, 1, bounds->low_bps, bounds->high_bps);

  g_test_message ("stream 0: %u x %u for %u to %u kb/s", wanted.width, wanted.height,
      (guint)(bounds->low_bps / 1000), (guint)(bounds->high_bps / 1000));
  g_assert_cmpuint (bin_stream_uint (f, 0, "width"), ==, wanted.width);
  g_assert_cmpuint (bin_stream_uint (f, 0, "height"), ==, wanted.height);
  g_assert_cmpuint (bin_stream_uint (f, 0, "one-frame-of"), ==, wanted.every);
  g_assert_cmpuint (encoded_width (f), ==, wanted.width);
}

/* Two slow ones and three fast ones are in the lowest of three streams, and all get what the slow
 * can take. The ladder gives the slow a stream that nobody was in, closes one, and leaves the
 * three, who are more, where they are: they lose no picture that the encoder had time for, and
 * theirs grows with what they get. */
static void
test_forms (gconstpointer data)
{
  const Case *test = data;
  Receiver receivers[RECEIVERS] = { { 0x51, 1, 0, 160000 }, { 0x52, 1, 0, 165000 },
    { 0xf1, 1, 0, 290000 }, { 0xf2, 1, 0, 295000 }, { 0xf3, 1, 0, 300000 } };
  Watch watch = { .stream = 0 };
  BinFixture f;
  const MccAsspStreams *now = &f.peer.streams;
  unsigned slow, closed = 0, closed_one = 0, frames;
  guint ladder, gaps;
  guint64 dropped;
  gboolean ran[3] = { FALSE };

  gchar *launch = g_strdup_printf ("videotestsrc is-live=true pattern=snow ! "
                                   "video/x-raw,width=%u,height=%u,framerate=30/1 ! @"
                                   "idle-timeout=4000 max-streams=3 %s",
      test->width, test->height, test->bounds);
  gboolean made = bin_setup (&f, launch);

  g_free (launch);
  if (!made)
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  g_assert_cmpuint (now->count, ==, 3);
  g_assert_cmpuint (encoded_width (&f), ==, test->before);
  ladder = now->ladder;
  gaps = f.peer.stream[0].gaps;
  dropped = bin_stream_u64 (&f, 0, "frames-dropped");
  watch.frames = f.peer.stream[0].frames;
  for (guint ms = 0; ms < 30000 && now->ladder == ladder; ms += 500) {
    for (unsigned j = 0; j < 3; j++)
      ran[j] = now->stream[j].flags & MCC_ASSP_RUNNING;
    run (&f, receivers, &watch, 500);
  }
  g_assert_cmpuint (now->ladder, ==, (guint16)(ladder + 1));
  g_assert_true (mcc_assp_streams_valid (now));
  g_assert_cmpuint (mcc_assp_streams_place (now, 300000.0), ==, 0);
  slow = mcc_assp_streams_place (now, 165000.0);
  g_assert_cmpuint (slow, !=, 0);
  g_assert_cmpuint (now->stream[0].low_bps, >, 165000);
  for (unsigned j = 0; j < 3; j++)
    if (!mcc_assp_streams_open (now, j)) {
      closed++;
      closed_one = j;
    }
  g_assert_cmpuint (closed, ==, 1);

  /* The slow go there: it wakes, and its pictures come. */
  g_assert_false (ran[slow]);
  frames = f.peer.stream[slow].frames;
  receivers[0].stream = receivers[1].stream = slow;
  run (&f, receivers, &watch, 5000);
  g_assert_true (now->stream[slow].flags & MCC_ASSP_RUNNING);
  g_assert_false (now->stream[closed_one].flags & MCC_ASSP_RUNNING);
  g_assert_cmpuint (f.peer.stream[slow].frames, >, frames + 30);
  g_assert_cmpuint (bin_stream_uint (&f, slow, "num-receivers"), ==, 2);
  g_assert_cmpuint (bin_stream_uint (&f, 0, "num-receivers"), ==, 3);

  check_picture (&f, test);
  dropped = bin_stream_u64 (&f, 0, "frames-dropped") - dropped;
  g_test_message ("%u pictures missing, %u packets; the encoder was too slow for %u", watch.missing,
      f.peer.stream[0].gaps - gaps, (guint)dropped);
  g_assert_cmpuint (watch.missing, <=, dropped);
  g_assert_cmpuint (f.peer.stream[0].gaps, ==, gaps);
  g_assert_cmpuint (bin_stream_u64 (&f, 0, "target-bitrate"), >, 150000);
  bin_teardown (&f);
}

int
main (int argc, char **argv)
{
  static const Case even = { 160, 120, "min-bitrate=100000 max-bitrate=2700000", 160 };
  static const Case given = { 160, 120, "streams=100000:305000,305000:900000,900000:2700000", 160 };
  static const Case large = { 640, 360, "min-bitrate=100000 max-bitrate=2700000", 320 };

  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN);
  g_test_add_data_func ("/asspladder/forms-from-reports", &even, test_forms);
  g_test_add_data_func ("/asspladder/forms-from-given-bounds", &given, test_forms);
  g_test_add_data_func ("/asspladder/picture-goes-with-it", &large, test_forms);
  return g_test_run ();
}
