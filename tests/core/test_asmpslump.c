/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A slump of what arrives (mccslump.h) calls for a decision: one, whether or not it is taken.
 */
#include <glib.h>

#include "mccasmpreceiver.h"
#include "mccjitter.h"

#define T0 (2468 * MCC_SECOND)
#define OURS 0xaaaau
#define SENDER 0x51u
#define DELAY (20 * MCC_MSECOND)
#define BYTES 1000

typedef struct {
  MccAsmpReceiver *receiver;
  MccTime now, queue;
  guint16 seq;
  guint decisions;
  MccAppReport report;
} Fixture;

static void
drain (Fixture *f)
{
  MccReceiverAction action;
  MccTraceEvent event;
  while (mcc_asmp_receiver_poll (f->receiver, &action))
    if (action.type == MCC_RECEIVER_SEND_REPORT)
      f->report = action.report;
  while (mcc_asmp_receiver_poll_trace (f->receiver, &event))
    f->decisions += event.type == MCC_TRACE_RATE;
}

/* @packets arrive, one each @gap; the queue they pass grows by @growth with each. */
static void
stream (Fixture *f, guint packets, MccTime gap, gint64 growth)
{
  for (guint i = 0; i < packets; i++) {
    MccTime until = f->now + gap;
    for (MccTime next; (next = mcc_asmp_receiver_next_timeout (f->receiver)) <= until;) {
      f->now = MAX (next, f->now);
      mcc_asmp_receiver_handle_timeout (f->receiver, f->now);
      drain (f);
    }
    f->now = until;
    f->queue = (MccTime)MAX ((gint64)f->queue + growth, 0);
    MccRtpPacket packet = { .ssrc = SENDER,
      .seq = f->seq++,
      .bytes = BYTES,
      .has_send_time = true,
      .send_time = mcc_abs_send_time (f->now - DELAY - f->queue) };
    mcc_asmp_receiver_handle_rtp (f->receiver, &packet, NULL, f->now);
    drain (f);
  }
}

static void
announce (Fixture *f)
{
  MccApp app = { .ssrc = SENDER, .subtype = MCC_APP_SESSION };
  app.session = (MccAppSession){ .number = 1,
    .target_bps = 800000,
    .min_bps = 50000,
    .max_bps = 5000000,
    .start_bps = 150000,
    .session_bandwidth_bps = 5000000,
    .receivers = 1,
    .rtt_max = 50 * MCC_MSECOND,
    .suppress_bps = G_MAXUINT64,
    .media_ssrc = SENDER,
    .payload_type = 96,
    .encoding_name = "H264",
    .send_time = mcc_abs_send_time (f->now - DELAY) };
  mcc_asmp_receiver_handle_app (f->receiver, &app, f->now);
  drain (f);
}

/* Alone on a link, its slow start over, and a stream of 100 kb/s. */
static void
init (Fixture *f)
{
  MccAsmpReceiverConfig config = {
    .variant = MCC_VARIANT_ENHANCED, .ssrc = OURS, .seed = 7, .hears_group = true, .unbounded = true
  };
  memset (f, 0, sizeof *f);
  f->now = T0;
  f->seq = 65500;
  f->receiver = mcc_asmp_receiver_new (&config, T0);
  announce (f);
  stream (f, 120, 10 * MCC_MSECOND, 0);
  MccApp list = { .ssrc = SENDER, .subtype = MCC_APP_RTT };
  list.rtt.count = 1;
  list.rtt.entry[0]
      = (MccAppRtt){ .ssrc = OURS, .number = f->report.number, .rtt = 45 * MCC_MSECOND };
  mcc_asmp_receiver_handle_app (f->receiver, &list, f->now);
  stream (f, 100, 10 * MCC_MSECOND, 0);
  stream (f, 60, 10 * MCC_MSECOND, 2 * (gint64)MCC_MSECOND); /* ends the slow start */
  stream (f, 60, 10 * MCC_MSECOND, -2 * (gint64)MCC_MSECOND);
  g_assert_cmpuint (f->queue, ==, 0);
  stream (f, 100, 80 * MCC_MSECOND, 0);
}

/* A burst of 1 Mb/s on a link that carries that much: what arrives is more than before, however
 * much the queue grows. */
static void
test_once (void)
{
  Fixture f;
  init (&f);
  f.decisions = 0;
  stream (&f, 40, 8 * MCC_MSECOND, 0); /* as often as without a queue */
  guint usual = f.decisions;
  stream (&f, 100, 80 * MCC_MSECOND, 0);
  f.decisions = 0;
  stream (&f, 40, 8 * MCC_MSECOND, 5 * (gint64)MCC_MSECOND);
  g_test_message ("%u decisions, %u without a queue", f.decisions, usual);
  g_assert_cmpuint (f.decisions, <=, usual + 3); /* one for each 17 packets */
  mcc_asmp_receiver_free (f.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpslump/one-decision", test_once);
  return g_test_run ();
}
