/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Field by field: two decoded APP packets are the same. A memcmp would see padding.
 */
#pragma once

#include <glib.h>

#include "mccapp.h"

static inline void
assert_equal (const MccApp *a, const MccApp *b)
{
  g_assert_cmpuint (a->ssrc, ==, b->ssrc);
  g_assert_cmpuint (a->subtype, ==, b->subtype);
  if (a->subtype == MCC_APP_REPORT) {
    g_assert_cmpuint (a->report.number, ==, b->report.number);
    g_assert_cmpuint (a->report.flags, ==, b->report.flags);
    g_assert_cmpuint (a->report.more_flags, ==, b->report.more_flags);
    g_assert_cmpuint (a->report.rate_bps, ==, b->report.rate_bps);
    g_assert_cmpuint (a->report.received_bps, ==, b->report.received_bps);
    g_assert_cmpfloat (a->report.loss_ratio, ==, b->report.loss_ratio);
    g_assert_cmpfloat (a->report.marked_share, ==, b->report.marked_share);
    g_assert_cmpuint (a->report.ecn, ==, b->report.ecn);
    g_assert_cmpuint (a->report.rtt, ==, b->report.rtt);
    g_assert_cmpuint (a->report.jitter, ==, b->report.jitter);
    g_assert_cmpuint (a->report.queue_delay, ==, b->report.queue_delay);
    g_assert_cmpuint (a->report.packets_lost, ==, b->report.packets_lost);
    g_assert_cmpuint (a->report.highest_seq, ==, b->report.highest_seq);
    g_assert_cmpuint (a->report.echo, ==, b->report.echo);
    g_assert_cmpuint (a->report.hold, ==, b->report.hold);
  } else if (a->subtype == MCC_APP_RTT) {
    g_assert_cmpuint (a->rtt.count, ==, b->rtt.count);
    for (unsigned i = 0; i < a->rtt.count; i++) {
      g_assert_cmpuint (a->rtt.entry[i].ssrc, ==, b->rtt.entry[i].ssrc);
      g_assert_cmpuint (a->rtt.entry[i].number, ==, b->rtt.entry[i].number);
      g_assert_cmpuint (a->rtt.entry[i].rtt, ==, b->rtt.entry[i].rtt);
    }
  } else {
    const MccAppSession *s = &a->session, *t = &b->session;

    g_assert_cmpuint (s->number, ==, t->number);
    g_assert_cmpuint (s->flags, ==, t->flags);
    g_assert_cmpuint (s->send_time, ==, t->send_time);
    g_assert_cmpuint (s->target_bps, ==, t->target_bps);
    g_assert_cmpuint (s->min_bps, ==, t->min_bps);
    g_assert_cmpuint (s->max_bps, ==, t->max_bps);
    g_assert_cmpuint (s->start_bps, ==, t->start_bps);
    g_assert_cmpuint (s->session_bandwidth_bps, ==, t->session_bandwidth_bps);
    g_assert_cmpuint (s->receivers, ==, t->receivers);
    g_assert_cmpuint (s->limiting_ssrc, ==, t->limiting_ssrc);
    g_assert_cmpuint (s->rtt_max, ==, t->rtt_max);
    g_assert_cmpuint (s->round, ==, t->round);
    g_assert_cmpuint (s->suppress_bps, ==, t->suppress_bps);
    g_assert_cmpuint (s->media_ssrc, ==, t->media_ssrc);
    g_assert_true (mcc_address_equal (&s->feedback, &t->feedback));
    g_assert_cmpuint (s->ttl, ==, t->ttl);
    g_assert_cmpuint (s->payload_type, ==, t->payload_type);
    g_assert_cmpuint (s->send_time_id, ==, t->send_time_id);
    g_assert_cmpuint (s->clock_rate, ==, t->clock_rate);
    g_assert_cmpstr (s->media, ==, t->media);
    g_assert_cmpstr (s->encoding_name, ==, t->encoding_name);
    g_assert_cmpstr (s->parameters, ==, t->parameters);
  }
}
