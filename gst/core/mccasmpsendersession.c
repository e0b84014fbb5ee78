/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsendersession: the ASMP sender's announcements and its RTT list.
 *
 * Announcements leave within the sender's quarter of the RTCP budget (all of it while there is no
 * receiver, so that the first one hears one soon), rtpsession's part taken off. What they are ahead
 * of it is owed, in bytes, and is paid at the rate of the moment. A regular one leaves
 * MCC_SENDER_SESSION_INTERVAL after the last, when nothing is owed. An urgent one leaves 100 ms
 * after the last and may borrow: MCC_SENDER_SESSION_BURST - 1 announcements when the target has
 * fallen, MCC_SENDER_SESSION_FIRST for the first RTT of all, MCC_SENDER_SESSION_BORROW for another
 * limiting receiver, its first RTT or a first report (one for that in a group of more than
 * MCC_SENDER_LARGE), so that these leave something for a fall. What is borrowed carries no more
 * than it must.
 *
 * The caps' strings (about 200 bytes for H.264) are in each one while the budget bears that. Where
 * it does not they are in those that a receiver without caps waits for, in the first two after a
 * change, and else take at most half of the budget, every MCC_SENDER_CAPS_INTERVAL at most.
 *
 * Where several streams share the budget (ASSP) one's announcement carries what is to be said of
 * the others: a compound's headers and the description of the streams are most of it. It is paid by
 * the one whose it is.
 */
#include <math.h>

#include "mccasmpsenderprivate.h"
#include "mccindexapp.h"
#include "mccjitter.h"
#include "mccrtcp.h"
#include "mccrtt.h"

#define ANNOUNCEMENT_BYTES_MAX 1024
#define BUDGET_MIN 1e-3 /* bytes a second: times stay finite */

#define SENDER_SHARE ((1.0 - MCC_RTCP_RECEIVER_SHARE) * (1.0 - MCC_RTCP_REGULAR_SHARE))

static void
fill_in (const MccAsmpSender *self, MccAppSession *session, bool strings)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);

  session->flags = (self->stopped ? MCC_SESSION_STOPPED : 0)
                   | (mcc_asmp_sender_enhanced (self) ? MCC_SESSION_ENHANCED : 0)
                   | (mcc_asmp_sender_wants_ect (self) ? MCC_SESSION_ECT : 0)
                   | (mcc_asmp_sender_asks_to_leave (self) ? MCC_SESSION_LEAVE : 0);
  session->send_time = mcc_abs_send_time (self->now);
  session->target_bps = self->target_bps;
  session->min_bps = self->config.min_bps;
  session->max_bps = self->config.max_bps;
  session->start_bps = self->start_bps;
  session->session_bandwidth_bps = self->config.session_bandwidth_bps;
  session->receivers = mcc_asmp_sender_group (self);
  session->limiting_ssrc = limiting != NULL ? limiting->ssrc : 0;
  session->rtt_max = mcc_asmp_sender_rtt_max (self);
  if (session->rtt_max == 0)
    session->rtt_max = MCC_SENDER_RTT_FALLBACK;
  session->round = self->round;
  session->suppress_bps = self->suppress_bps;
  session->feedback = self->config.feedback;
  session->ttl = self->config.ttl;
  session->payload_type = self->caps.payload_type;
  session->send_time_id = self->caps.send_time_id;
  session->clock_rate = self->caps.clock_rate;
  memset (session->media, 0, sizeof session->media);
  memset (session->encoding_name, 0, sizeof session->encoding_name);
  memset (session->parameters, 0, sizeof session->parameters);
  if (!strings)
    return;
  memcpy (session->media, self->caps.media, sizeof session->media);
  memcpy (session->encoding_name, self->caps.encoding_name, sizeof session->encoding_name);
  memcpy (session->parameters, self->caps.parameters, sizeof session->parameters);
}

static double
compound_bytes (const MccAsmpSender *self, bool strings)
{
  MccApp app = { .subtype = MCC_APP_SESSION };

  fill_in (self, &app.session, strings);
  double key = self->config.srtcp_bytes;
  if (key > 0)
    key += (double)MCC_INDEX_BYTES (1);
  return MCC_SENDER_COMPOUND_BYTES + self->config.more_bytes + key + (double)mcc_app_size (&app);
}

static void
note_sizes (MccAsmpSender *self)
{
  self->bytes = compound_bytes (self, true);
  self->short_bytes = compound_bytes (self, false);
}

void
mcc_asmp_sender_session_init (MccAsmpSender *self)
{
  /* The first number is random, so that a restarted sender's are not taken for old ones. */
  self->session.number = (uint32_t)mcc_rng_next (&self->rng);
  self->session_last = MCC_TIME_NONE;
  self->session_owed = 0.0;
  self->session_urgent = true;
  self->round_start = self->now;
  self->suppress_bps = UINT64_MAX;
  self->caps.payload_type = MCC_APP_NO_PAYLOAD_TYPE;
  note_sizes (self);
}

bool
mcc_asmp_sender_set_caps (MccAsmpSender *self, const MccAppSession *caps, MccTime now)
{
  uint8_t bytes[ANNOUNCEMENT_BYTES_MAX];
  MccApp app = { .subtype = MCC_APP_SESSION };

  mcc_asmp_sender_advance (self, now);
  self->caps = *caps;
  fill_in (self, &app.session, true);
  bool good = mcc_app_encode (&app, bytes, sizeof bytes) > 0;
  if (!good)
    self->caps = (MccAppSession){ .payload_type = MCC_APP_NO_PAYLOAD_TYPE };
  self->caps_last = MCC_TIME_NONE;
  self->caps_wanted = MCC_SENDER_CAPS_REPEAT;
  self->session_urgent = true;
  note_sizes (self);
  return good;
}

void
mcc_asmp_sender_want_caps (MccAsmpSender *self)
{
  if (self->caps.payload_type == MCC_APP_NO_PAYLOAD_TYPE)
    return;
  if (self->caps_wanted == 0)
    self->caps_wanted = 1;
  self->session_urgent = true;
}

void
mcc_asmp_sender_announce (MccAsmpSender *self, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  self->session_urgent = true;
}

/* In bytes a second. */
static double
budget (const MccAsmpSender *self)
{
  /* While there is nobody to report, the receivers' share is the sender's. */
  double share = mcc_asmp_sender_group (self) == 0 ? 1.0 - MCC_RTCP_REGULAR_SHARE : SENDER_SHARE;
  uint64_t base_bps = mcc_rtcp_base_bps (self->target_bps, self->config.session_bandwidth_bps);
  return fmax (MCC_RTCP_FRACTION * share * (double)base_bps / 8.0, BUDGET_MIN);
}

static MccTime
budget_time (const MccAsmpSender *self, double bytes)
{
  return mcc_time_from_seconds (fmax (bytes, 0.0) / budget (self));
}

void
mcc_asmp_sender_session_advance (MccAsmpSender *self, MccTime now)
{
  double paid = budget (self) * mcc_time_to_seconds (now - self->now);
  self->session_owed = fmax (self->session_owed - paid, 0.0);
}

/* A round without reports in between may have lasted longer; one whose lowest rate was not
 * announced yet goes on until it was. */
static void
advance_round (MccAsmpSender *self)
{
  bool told
      = self->session.round == self->round && self->session.suppress_bps == self->suppress_bps;
  if (!told || self->now - self->round_start < mcc_asmp_sender_round_length (self))
    return;
  self->round++;
  self->round_start = self->now;
  self->suppress_bps = UINT64_MAX;
}

void
mcc_asmp_sender_round_report (MccAsmpSender *self, const MccReceiver *receiver)
{
  advance_round (self);
  /* What it is believed to allow: others hold back what is not below that. */
  uint64_t limit_bps = receiver->key[MCC_ORDER_RATE];
  bool counts = !receiver->no_limit && receiver->quarantine == MCC_QUARANTINE_NONE;
  if (counts && limit_bps < self->suppress_bps)
    self->suppress_bps = limit_bps;
}

/* RTT_eff = now - echo - hold, modulo 64 s (ASMP eq. 9 with abs-send-time for LSR). */
void
mcc_asmp_sender_measure (MccAsmpSender *self, MccReceiver *receiver, const MccAppReport *report)
{
  const MccTimeDelta cycle = 64 * (MccTimeDelta)MCC_SECOND;
  if (!(report->flags & MCC_REPORT_ECHO) || report->hold >= (MccTime)cycle
      || self->now < self->absent_until)
    return;
  MccTimeDelta rtt = mcc_abs_send_time_diff (
                         mcc_abs_send_time (self->now), report->echo & MCC_ABS_SEND_TIME_MASK)
                     - (MccTimeDelta)report->hold;
  rtt = ((rtt % cycle) + cycle) % cycle;
  /* Steps of 4 us in both stamps: a little below 0 is 0. */
  if (rtt > cycle - (MccTimeDelta)MCC_MSECOND)
    rtt = 0;
  if (rtt > (MccTimeDelta)MCC_RTT_MAX)
    return;
  receiver->effective_us = (uint32_t)(rtt / (MccTimeDelta)MCC_USECOND);
  if (receiver->effective_us == 0)
    receiver->effective_us = 1;
  receiver->effective_number = report->number;
  mcc_asmp_sender_prove (self, receiver);
  /* The list names SSRCs only: its holder would take the answer for its own. */
  if (!mcc_asmp_sender_holds_name (self, receiver))
    return;
  if (receiver->answered == 0 && !receiver->in_list[MCC_LIST_NEW])
    mcc_receivers_append (&self->receivers, receiver, MCC_LIST_NEW);
  else if (receiver->answered != 0)
    mcc_receivers_set_key (&self->receivers, receiver, MCC_ORDER_ANSWER, receiver->answered);
}

/* There is a newer RTT for the limiting receiver. */
static bool
limiting_due (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  return limiting != NULL
         && (limiting->in_list[MCC_LIST_NEW]
             || limiting->key[MCC_ORDER_ANSWER] != MCC_RECEIVERS_NO_KEY);
}

/* Whoever limits must know, and needs an RTT: it reports more often then. */
static bool
limiting_waits (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  return limiting != NULL
         && (limiting->in_list[MCC_LIST_NEW]
             || (mcc_asmp_sender_enhanced (self) && self->limiting_told == MCC_TIME_NONE));
}

/* Nobody knows an RTT yet, and all starts wait for one. */
static bool
first_rtt_waits (const MccAsmpSender *self)
{
  const MccReceiver *receiver = mcc_receivers_head (&self->receivers, MCC_LIST_NEW);
  return self->answers == 0 && receiver != NULL && !receiver->rtt_measured;
}

/* Announcements that may be borrowed for what there is to say; 0: nothing urgent. */
static unsigned
urgency (const MccAsmpSender *self)
{
  if (self->target_bps < self->session_target - self->session_target / 10)
    return MCC_SENDER_SESSION_BURST - 1;
  if (first_rtt_waits (self))
    return MCC_SENDER_SESSION_FIRST;
  if (limiting_waits (self))
    return MCC_SENDER_SESSION_BORROW;
  bool announced_ect = (self->session.flags & MCC_SESSION_ECT) != 0;
  if (self->session_urgent || mcc_asmp_sender_wants_ect (self) != announced_ect)
    return mcc_asmp_sender_group (self) > MCC_SENDER_LARGE ? 1 : MCC_SENDER_SESSION_BORROW;
  return 0;
}

MccTime
mcc_asmp_sender_session_next (const MccAsmpSender *self)
{
  if (self->config.ssrc == 0) /* who hears another one first takes ours for another sender */
    return MCC_TIME_NONE;
  if (self->session_last == MCC_TIME_NONE)
    return self->now;
  MccTime regular = mcc_time_max (self->session_last + MCC_SENDER_SESSION_INTERVAL,
      self->now + budget_time (self, self->session_owed));
  unsigned borrow = urgency (self);
  if (borrow == 0)
    return regular;
  double bytes = self->caps_wanted > 0 ? self->bytes : self->short_bytes;
  MccTime next = mcc_time_max (self->session_last + MCC_RTCP_MIN_INTERVAL,
      self->now + budget_time (self, self->session_owed - borrow * bytes));
  return mcc_time_min (next, regular);
}

static void
answer (MccAsmpSender *self, MccReceiver *receiver)
{
  MccAppRttList *list = &self->rtt_list;
  list->entry[list->count++] = (MccAppRtt){ .ssrc = receiver->ssrc,
    .number = receiver->effective_number,
    .rtt = receiver->effective_us * MCC_USECOND };
  receiver->answered = ++self->answers;
  mcc_receivers_unlink (&self->receivers, receiver, MCC_LIST_NEW);
  mcc_receivers_set_key (&self->receivers, receiver, MCC_ORDER_ANSWER, MCC_RECEIVERS_NO_KEY);
}

/* Whose RTT was sent the longest ago, of those with a newer one. */
static MccReceiver *
longest_waiting (const MccAsmpSender *self)
{
  MccReceiver *first = mcc_receivers_first (&self->receivers, MCC_ORDER_ANSWER);
  return first != NULL && first->key[MCC_ORDER_ANSWER] != MCC_RECEIVERS_NO_KEY ? first : NULL;
}

/* This announcement leaves ahead of the budget. */
static bool
borrows (const MccAsmpSender *self)
{
  return self->session_owed >= 1.0;
}

/* Entries that a list may have, so that the next announcement does not wait for long. Who never got
 * an RTT counts with half a second and cannot use what its path carries: that is worth a wait. */
static unsigned
rtt_list_room (const MccAsmpSender *self)
{
  bool many_new = mcc_asmp_sender_group (self) > MCC_SENDER_LARGE
                  && mcc_receivers_head (&self->receivers, MCC_LIST_NEW) != NULL;
  unsigned least = many_new ? MCC_SENDER_RTT_LEAST_NEW : MCC_SENDER_RTT_LEAST;
  double bytes = mcc_time_to_seconds (MCC_SENDER_RTT_LIST_TIME) * budget (self) - self->short_bytes
                 - MCC_SENDER_RTT_LIST_BYTES;
  double room = bytes / MCC_SENDER_RTT_ENTRY_BYTES;
  return room >= MCC_APP_RTT_MAX ? MCC_APP_RTT_MAX : room > least ? (unsigned)room : least;
}

/* Those that need it most first: never answered, the limiting one, then the longest since. */
static void
build_rtt_list (MccAsmpSender *self)
{
  MccReceiver *receiver;
  unsigned most = rtt_list_room (self);
  unsigned most_known = borrows (self) ? MCC_SENDER_RTT_LEAST : most;
  /* A flood of newcomers leaves a place for the limiting one and half for those known. */
  unsigned most_new = longest_waiting (self) == NULL ? most - 1 : most / 2;
  self->rtt_list.count = 0;
  while (self->rtt_list.count < most_new
         && (receiver = mcc_receivers_head (&self->receivers, MCC_LIST_NEW)) != NULL)
    answer (self, receiver);
  if (limiting_due (self))
    answer (self, mcc_asmp_sender_limiting (self));
  while (self->rtt_list.count < most && most_known-- > 0
         && (receiver = longest_waiting (self)) != NULL)
    answer (self, receiver);
}

static bool
strings_due (const MccAsmpSender *self)
{
  MccTime spent = budget_time (self, self->bytes);
  if (self->caps_wanted > 0 || self->caps_last == MCC_TIME_NONE
      || spent <= MCC_SENDER_SESSION_INTERVAL)
    return true;
  return !borrows (self)
         && self->now - self->caps_last >= mcc_time_max (MCC_SENDER_CAPS_INTERVAL, 2 * spent);
}

static void
told (MccAsmpSender *self)
{
  if (self->session.limiting_ssrc != 0 && self->limiting_told == MCC_TIME_NONE)
    self->limiting_told = self->now;
  self->session_told = self->now;
  self->session_target = self->target_bps;
}

void
mcc_asmp_sender_session_build (MccAsmpSender *self)
{
  MccAppSession *session = &self->session;
  advance_round (self);
  build_rtt_list (self);

  session->number++;
  bool strings = strings_due (self);
  fill_in (self, session, strings);

  if (strings) {
    self->caps_last = self->now;
    self->caps_wanted -= self->caps_wanted > 0;
  }
  double bytes = strings ? self->bytes : self->short_bytes;
  if (self->rtt_list.count > 0)
    bytes += MCC_SENDER_RTT_LIST_BYTES + MCC_SENDER_RTT_ENTRY_BYTES * self->rtt_list.count;
  self->session_owed += bytes;
  self->session_bytes = bytes;
  told (self);
  self->session_last = self->now;
  self->session_urgent = false;
}

const MccAppSession *
mcc_asmp_sender_piggyback (MccAsmpSender *self, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  if (!mcc_asmp_sender_enhanced (self) || self->session_last == MCC_TIME_NONE
      || self->config.ssrc == 0 || mcc_asmp_sender_group (self) == 0)
    return NULL;
  bool often = budget_time (self, self->bytes) <= MCC_SENDER_SESSION_INTERVAL;
  if (often || (urgency (self) == 0 && now < self->session_told + MCC_SENDER_SESSION_INTERVAL))
    return NULL;
  advance_round (self);
  self->session.number++;
  fill_in (self, &self->session, false);
  told (self);
  return &self->session;
}

void
mcc_asmp_sender_carry (MccAsmpSender *self, size_t bytes)
{
  self->session_bytes += (double)bytes;
  self->session_owed += (double)bytes;
}

size_t
mcc_asmp_sender_announced_bytes (const MccAsmpSender *self)
{
  return (size_t)self->session_bytes;
}
