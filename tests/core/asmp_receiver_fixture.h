/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmp_receiver_fixture: an ASMP receiver in virtual time, a sender whose packets come each 10 ms,
 * and what the receiver does.
 */
#pragma once

#include <glib.h>

#include "mccasmpreceiver.h"
#include "mccasmpschedule.h"
#include "mccjitter.h"
#include "mccrtcp.h"

#define T0 (4321 * MCC_SECOND)
#define OURS 0xaaaau
#define SENDER 0x51u
#define DELAY (20 * MCC_MSECOND)

/* One receiver, packets each 10 ms. */
typedef struct {
  MccAsmpReceiver *receiver;
  MccTime now;
  guint16 seq;
  guint32 session_number;
  MccAppSession session;
  MccAppSession caps;  /* told last */
  MccAppReport report; /* newest */
  MccTime report_time;
  guint reports, lost, sources, others, sessions, ceased;
  MccTime closest; /* two reports */
  MccTime delay;   /* of the path */
} Fixture;

static void
init (Fixture *f, const MccAsmpReceiverConfig *config)
{
  MccAsmpReceiverConfig usual
      = { .variant = MCC_VARIANT_ENHANCED, .ssrc = OURS, .seed = 7, .hears_group = true };
  memset (f, 0, sizeof *f);
  f->now = T0;
  f->delay = DELAY;
  f->seq = 65500;
  f->closest = MCC_TIME_NONE;
  f->report_time = MCC_TIME_NONE;
  f->receiver = mcc_asmp_receiver_new (config != NULL ? config : &usual, T0);
  f->session = (MccAppSession){ .number = 4294967290u,
    .target_bps = 800000,
    .min_bps = 100000,
    .max_bps = 5000000,
    .start_bps = 150000,
    .session_bandwidth_bps = 5000000,
    .receivers = 1,
    .rtt_max = 50 * MCC_MSECOND,
    .suppress_bps = G_MAXUINT64,
    .media_ssrc = SENDER,
    .payload_type = 96,
    .encoding_name = "H264" };
}

static void
clear (Fixture *f)
{
  mcc_asmp_receiver_free (f->receiver);
}

static void
drain (Fixture *f)
{
  MccReceiverAction action;
  while (mcc_asmp_receiver_poll (f->receiver, &action)) {
    f->lost += action.type == MCC_RECEIVER_SOURCE_LOST;
    f->sources += action.type == MCC_RECEIVER_NEW_SOURCE;
    f->others += action.type == MCC_RECEIVER_OTHER_SENDER;
    f->ceased += action.type == MCC_RECEIVER_CEASE;
    if (action.type == MCC_RECEIVER_SESSION) {
      f->caps = *action.session;
      f->sessions++;
    }
    if (action.type != MCC_RECEIVER_SEND_REPORT)
      continue;
    if (f->report_time != MCC_TIME_NONE)
      f->closest = MIN (f->closest, f->now - f->report_time);
    f->report_time = f->now;
    f->report = action.report;
    f->reports++;
  }
}

static void
advance (Fixture *f, MccTime until)
{
  for (;;) {
    MccTime next = mcc_asmp_receiver_next_timeout (f->receiver);
    if (next > until)
      break;
    f->now = MAX (next, f->now);
    mcc_asmp_receiver_handle_timeout (f->receiver, f->now);
    drain (f);
  }
  f->now = until;
}

static MccDrop
rtp (Fixture *f, guint32 ssrc, guint16 seq)
{
  MccRtpPacket packet = { .ssrc = ssrc,
    .seq = seq,
    .bytes = 1000,
    .has_send_time = true,
    .send_time = mcc_abs_send_time (f->now - f->delay) };
  MccAddress from = { .family = 4, .port = 5004, .bytes = { (guint8)ssrc } };
  MccDrop drop = mcc_asmp_receiver_handle_rtp (f->receiver, &packet, &from, f->now);
  drain (f);
  return drop;
}

/* @seconds of 800 kb/s. */
static void
stream (Fixture *f, double seconds)
{
  for (MccTime end = f->now + mcc_time_from_seconds (seconds); f->now < end;) {
    advance (f, f->now + 10 * MCC_MSECOND);
    rtp (f, SENDER, f->seq++);
  }
}

static MccDrop
announce (Fixture *f)
{
  MccApp app = { .ssrc = SENDER, .subtype = MCC_APP_SESSION, .session = f->session };
  app.session.number = f->session.number++;
  app.session.send_time = mcc_abs_send_time (f->now - f->delay);
  MccDrop drop = mcc_asmp_receiver_handle_app (f->receiver, &app, f->now);
  drain (f);
  return drop;
}

static MccDrop
answer_rtt (Fixture *f, MccTime rtt)
{
  MccApp app = { .ssrc = SENDER, .subtype = MCC_APP_RTT };
  app.rtt.count = 2;
  app.rtt.entry[0] = (MccAppRtt){ .ssrc = 1, .number = f->report.number, .rtt = 9 };
  app.rtt.entry[1] = (MccAppRtt){ .ssrc = OURS, .number = f->report.number, .rtt = rtt };
  MccDrop drop = mcc_asmp_receiver_handle_app (f->receiver, &app, f->now);
  drain (f);
  return drop;
}

static MccAsmpReceiverStats
stats (const Fixture *f)
{
  MccAsmpReceiverStats out;
  mcc_asmp_receiver_get_stats (f->receiver, f->now, &out);
  return out;
}
