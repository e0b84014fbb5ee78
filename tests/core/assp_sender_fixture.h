/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * assp_sender_fixture: an ASSP sender of three streams in virtual time, and hosts that report.
 */
#pragma once

#include <glib.h>

#include "mccassplevel.h"
#include "mccasspsender.h"
#include "mccjitter.h"

#define START (1234567 * MCC_SECOND + 89)
#define STEP (20 * MCC_MSECOND)

typedef struct {
  MccAsspSender *sender;
  MccTime now;
  uint32_t number, seq[3];
  double bytes; /* of announcements */
  unsigned announcements, occupied[3], empty[3], lost, found;
  unsigned left, moved;   /* receivers: of the session, from one stream to another */
  MccAsspStreams streams; /* newest */
  MccTime round_begin, last;
  MccTime longest_round_wait; /* from a round's begin to its first announcement */
  struct {
    unsigned announced, carried; /* by itself, by another stream's announcement */
    uint32_t number;
    MccTime time, longest_wait;
  } told[3];
  uint64_t target[3];
  bool live, enhanced;
  bool silent[3]; /* not sent */
  unsigned bounds;
  unsigned ecn[8]; /* MccReportEcn of each host's reports */
  struct {
    bool there;
    unsigned stream;
    uint64_t bps;
  } said[8]; /* newest of each host */
} Fixture;

static const MccAsspStreams ladder = { .count = 3,
  .stream = { { 300000, 2000000, 0, 1, 0, 0, 11 }, { 2000000, 5000000, 0, 2, 2, 0, 22 },
      { 5000000, 10000000, 0, 3, 4, 0, 33 } } };

static void
note_told (Fixture *self, unsigned j, const MccAppSession *session)
{
  if (self->told[j].announced + self->told[j].carried > 0) {
    g_assert_cmpuint (session->number, ==, self->told[j].number + 1);
    MccTime wait = self->now - self->told[j].time;
    self->told[j].longest_wait = MAX (self->told[j].longest_wait, wait);
  }
  self->told[j].number = session->number;
  self->told[j].time = self->now;
}

static void
note_announcement (Fixture *self, const MccAsspSenderAction *action)
{
  note_told (self, action->stream, action->asmp.session);
  self->told[action->stream].announced++;
  for (unsigned j = 0; j < 3; j++) {
    if (action->also[j] == NULL)
      continue;
    g_assert_cmpuint (j, !=, action->stream);
    MccApp also = { .subtype = MCC_APP_SESSION, .session = *action->also[j] };
    g_assert_cmpstr (also.session.parameters, ==, "");
    self->bytes += (double)mcc_app_size (&also);
    note_told (self, j, &also.session);
    self->told[j].carried++;
  }
  MccApp app = { .subtype = MCC_APP_SESSION, .session = *action->asmp.session };
  self->bytes += 96 + (double)mcc_app_size (&app) + 28 + 28 * 3;
  if (action->asmp.rtt->count > 0)
    self->bytes += 16 + 12 * action->asmp.rtt->count;
  if (self->announcements > 0) {
    g_assert_cmpuint (action->streams->number, ==, self->streams.number + 1);
    if (action->streams->round != self->streams.round) {
      g_assert_cmpuint (action->streams->round, ==, self->streams.round + 1);
      g_assert_true (action->streams->flags & MCC_ASSP_DECIDE);
      MccTime begun = (self->now - START) % MCC_ASSP_ROUND;
      self->longest_round_wait = MAX (self->longest_round_wait, begun);
    }
  }
  g_assert_true (mcc_assp_streams_valid (action->streams));
  self->streams = *action->streams;
  self->announcements++;
}

/* eq. 4; enhanced: the lower bound is for those who bear nearly that. */
static void
check_target (const Fixture *self, unsigned stream, uint64_t bps)
{
  const MccAsspStream *bounds = &ladder.stream[stream];
  uint64_t least = UINT64_MAX;
  bool borne = !self->enhanced;
  for (unsigned host = 0; host < G_N_ELEMENTS (self->said); host++) {
    if (!self->said[host].there || self->said[host].stream != stream)
      continue;
    borne = borne || (double)self->said[host].bps >= MCC_ASSP_FALL * (double)bounds->low_bps;
    least = MIN (least, self->said[host].bps);
  }
  g_assert_cmpuint (bps, <=, bounds->high_bps);
  g_assert_cmpuint (bps, >=, borne ? bounds->low_bps : MIN (least, bounds->low_bps));
}

static void
drain (Fixture *self)
{
  MccAsspSenderAction action;
  while (mcc_assp_sender_poll (self->sender, &action)) {
    g_assert_cmpuint (action.stream, <, 3);
    self->occupied[action.stream] += action.type == MCC_ASSP_SENDER_OCCUPIED;
    self->empty[action.stream] += action.type == MCC_ASSP_SENDER_EMPTY;
    self->bounds += action.type == MCC_ASSP_SENDER_BOUNDS;
    self->lost += action.type == MCC_ASSP_SENDER_FEEDBACK_LOST;
    self->found += action.type == MCC_ASSP_SENDER_FEEDBACK_FOUND;
    if (action.type != MCC_ASSP_SENDER_ASMP)
      continue;
    if (action.asmp.type == MCC_SENDER_SEND_SESSION)
      note_announcement (self, &action);
    if (action.asmp.type == MCC_SENDER_RECEIVER) {
      self->left += action.asmp.state == MCC_RECEIVER_LEFT;
      self->moved += action.asmp.state == MCC_RECEIVER_MOVED;
    }
    if (action.asmp.type == MCC_SENDER_TARGET) {
      if (!self->live)
        check_target (self, action.stream, action.asmp.target_bps);
      self->target[action.stream] = action.asmp.target_bps;
    }
  }
}

static Fixture
fixture_new (MccVariant variant)
{
  MccAsspSenderConfig config
      = { .variant = variant, .seed = 5, .streams = ladder, .ecn = true, .ttl = 4 };
  Fixture self = { .now = START, .enhanced = variant == MCC_VARIANT_ENHANCED };
  self.sender = mcc_assp_sender_new (&config, START);
  g_assert_nonnull (self.sender);
  drain (&self);
  return self;
}

/* Time passes; every stream is sent at its target. */
static void
run (Fixture *self, MccTime length)
{
  for (MccTime end = self->now + length; self->now < end;) {
    self->now += STEP;
    for (unsigned j = 0; j < 3; j++) {
      uint64_t bytes
          = (uint64_t)((double)mcc_asmp_sender_target_bps (mcc_assp_sender_stream (self->sender, j))
                       / 8.0 * mcc_time_to_seconds (STEP));
      if (!self->silent[j])
        mcc_assp_sender_handle_sent (self->sender, j, 1, bytes, ++self->seq[j], self->now);
    }
    if (mcc_assp_sender_next_timeout (self->sender) <= self->now)
      mcc_assp_sender_handle_timeout (self->sender, self->now);
    drain (self);
  }
}

static MccDrop
report_with (Fixture *self, unsigned host, unsigned stream, uint64_t bps, uint32_t number,
    MccTime queue_delay)
{
  MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, (uint8_t)host } };
  MccAppReport report = { .number = number,
    .flags = MCC_REPORT_RTT_MEASURED,
    .rate_bps = bps,
    .received_bps = bps,
    .ecn = host < G_N_ELEMENTS (self->ecn) ? self->ecn[host] : 0,
    .rtt = 40 * MCC_MSECOND,
    .queue_delay = queue_delay };
  if (host < G_N_ELEMENTS (self->said)) {
    self->said[host].there = true;
    self->said[host].stream = stream;
    self->said[host].bps = bps;
  }
  MccDrop drop = mcc_assp_sender_handle_report (
      self->sender, stream, 1000 + host, &report, &from, self->now);
  drain (self);
  return drop;
}

static MccDrop
report_number (Fixture *self, unsigned host, unsigned stream, uint64_t bps, uint32_t number)
{
  return report_with (self, host, stream, bps, number, 20 * MCC_MSECOND);
}

static MccDrop
report (Fixture *self, unsigned host, unsigned stream, uint64_t bps)
{
  return report_number (self, host, stream, bps, ++self->number);
}
