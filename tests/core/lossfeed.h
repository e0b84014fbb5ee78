/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A stream for the tests of the loss measures: packets at a steady pace from a time and a sequence
 * number that are not zero. The patterns are strings: '.' arrives, 'x' never does, 'm' arrives
 * marked, digits arrive that many packets late, 'd' arrives twice.
 */
#pragma once

#include <glib.h>
#include <math.h>

#include "mccloss.h"

typedef struct {
  MccLoss *loss;
  uint64_t seq;
  MccTime time;
  MccTime gap; /* between packets */
  MccTime rtt;
  uint32_t bytes;
} Feed;

#define FEED_SEQ (UINT64_C (65536) + 65530)
#define FEED_TIME (UINT64_C (7777) * MCC_SECOND)

static inline Feed
feed_new (const MccLossMeasure *measure, const MccLossConfig *config)
{
  return (Feed){
    .loss = mcc_loss_new (measure, config),
    .seq = FEED_SEQ,
    .time = FEED_TIME,
    .gap = 10 * MCC_MSECOND,
    .rtt = 50 * MCC_MSECOND,
    .bytes = 1000,
  };
}

static inline void
feed_free (Feed *feed)
{
  mcc_loss_free (feed->loss);
}

static inline void
feed_packet (Feed *feed, uint64_t seq)
{
  mcc_loss_handle_packet (feed->loss, seq, feed->bytes, feed->time, feed->rtt);
}

static inline void
feed_marked (Feed *feed, uint64_t seq)
{
  mcc_loss_handle_marked_packet (feed->loss, seq, feed->bytes, feed->time, feed->rtt);
}

static inline void
feed_received (Feed *feed, unsigned n)
{
  for (unsigned i = 0; i < n; i++, feed->seq++, feed->time += feed->gap)
    feed_packet (feed, feed->seq);
}

static inline void
feed_lost (Feed *feed, unsigned n)
{
  feed->seq += n;
  feed->time += n * feed->gap;
}

static inline void
feed_pattern (Feed *feed, const char *pattern)
{
  uint64_t late[10];
  unsigned delay[10], num_late = 0;

  for (; *pattern != '\0'; pattern++) {
    if (g_ascii_isdigit (*pattern)) {
      g_assert_cmpuint (num_late, <, 10);
      late[num_late] = feed->seq;
      delay[num_late++] = (unsigned)(*pattern - '0') + 1;
    } else if (*pattern == 'm') {
      feed_marked (feed, feed->seq);
    } else if (*pattern != 'x') {
      feed_packet (feed, feed->seq);
      if (*pattern == 'd')
        feed_packet (feed, feed->seq);
    }
    for (unsigned i = 0; i < num_late; i++)
      if (delay[i] > 0 && --delay[i] == 0)
        feed_packet (feed, late[i]);
    feed->seq++;
    feed->time += feed->gap;
  }
}

#define assert_ratio(feed, expected)                                                               \
  g_assert_cmpfloat_with_epsilon (mcc_loss_ratio ((feed)->loss), (expected), 1e-9)

static const MccLossMeasure *const loss_measures[] = {
  &mcc_loss_interval,
  &mcc_loss_lip,
  &mcc_loss_lap,
  &mcc_loss_window,
};
