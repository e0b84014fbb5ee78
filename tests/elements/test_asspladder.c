/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastbin without `streams`: the live ladder forms from what receivers report, with real
 * encoders. It takes 20 s, as long as a ladder rests before a great change.
 */
#include <gst/gst.h>

#include "asspbinfixture.h"
#include "gstasspsimulcastbin.h"

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

/* Two slow ones and three fast ones are in the lowest of three streams, and all get what the slow
 * can take. The ladder gives the slow a stream that nobody was in, closes one, and leaves the
 * three, who are more, where they are: they lose no picture that the encoder had time for. */
static void
test_forms (gconstpointer bounds)
{
  Receiver receivers[RECEIVERS] = { { 0x51, 1, 0, 160000 }, { 0x52, 1, 0, 165000 },
    { 0xf1, 1, 0, 290000 }, { 0xf2, 1, 0, 295000 }, { 0xf3, 1, 0, 300000 } };
  Watch watch = { .stream = 0 };
  BinFixture f;
  const MccAsspStreams *now = &f.peer.streams;
  unsigned slow, closed = 0, closed_one = 0, frames;
  guint ladder, gaps;
  guint64 dropped;
  gboolean ran[3] = { FALSE };

  gchar *launch = g_strconcat ("videotestsrc is-live=true pattern=snow ! "
                               "video/x-raw,width=160,height=120,framerate=30/1 ! @"
                               "idle-timeout=4000 max-streams=3 ",
      (const gchar *)bounds, NULL);
  gboolean made = bin_setup (&f, launch);

  g_free (launch);
  if (!made)
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  g_assert_cmpuint (now->count, ==, 3);
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
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN);
  g_test_add_data_func (
      "/asspladder/forms-from-reports", "min-bitrate=100000 max-bitrate=2700000", test_forms);
  g_test_add_data_func ("/asspladder/forms-from-given-bounds",
      "streams=100000:305000,305000:900000,900000:2700000", test_forms);
  return g_test_run ();
}
