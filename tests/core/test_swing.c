/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccswing.h"

#include <glib.h>
#include <math.h>

#define STEP_S 0.01
#define DECISION (100 * MCC_MSECOND)
#define FLOOR (20 * MCC_MSECOND)
#define BYTES 1000.0

/* A fluid link, of which others take a part first. */
typedef struct {
  MccSwing swing;
  MccTime now, decided;
  double queue_s, least_s, packets;
  double decided_queue_s;
} Link;

static void
link_init (Link *self)
{
  *self = (Link){ .now = MCC_SECOND, .decided = MCC_SECOND, .least_s = INFINITY };
  mcc_swing_init (&self->swing);
}

/* What of ours arrives is our part of what is served. */
static void
link_run (Link *self, double link_bps, double ours_bps, double others_bps, double seconds)
{
  for (int i = 0; i < (int)round (seconds / STEP_S); i++) {
    double in_bps = ours_bps + others_bps;
    bool busy = self->queue_s > 0.0 || in_bps > link_bps;
    double out_bps = busy ? link_bps : in_bps;
    self->queue_s = fmax (self->queue_s + (in_bps - link_bps) / link_bps * STEP_S, 0.0);
    self->packets += out_bps * ours_bps / in_bps * STEP_S / 8.0 / BYTES;
    self->least_s = fmin (self->least_s, self->queue_s);
    self->now += mcc_time_from_seconds (STEP_S);
    if (self->now < self->decided + DECISION)
      continue;
    self->decided = self->now;
    double span_s = mcc_time_to_seconds (DECISION) - (self->queue_s - self->decided_queue_s);
    self->decided_queue_s = self->queue_s;
    mcc_swing_look (&self->swing, mcc_time_from_seconds (self->least_s), FLOOR,
        (uint64_t)self->packets, mcc_time_from_seconds (span_s), false, self->now);
    self->least_s = INFINITY;
  }
}

/* TCP's sawtooth: a queue for 4 s, none for 2. */
static void
sawtooth (Link *self, unsigned times)
{
  for (unsigned i = 0; i < times; i++) {
    link_run (self, 10e6, 1e6, 9.15e6, 4.0);
    link_run (self, 10e6, 1e6, 7.5e6, 2.0);
  }
}

static bool
is_others (const Link *self)
{
  return mcc_swing_is_others (&self->swing, self->now);
}

/* It comes and goes, and as much of ours arrives. */
static void
test_others (void)
{
  Link link;
  link_init (&link);
  sawtooth (&link, 1);
  g_assert_false (is_others (&link));
  sawtooth (&link, 2);
  g_assert_true (is_others (&link));
}

/* Alone: less arrives when the queue is gone, for else it would not be. */
static void
test_ours (void)
{
  for (unsigned i = 1; i < 10; i++) {
    Link link;
    link_init (&link);
    for (unsigned k = 0; k < 10; k++) {
      link_run (&link, 1e6, 1.02e6 + 0.02e6 * i, 0.0, 4.0);
      link_run (&link, 1e6, 0.96e6 - 0.05e6 * i, 0.0, 4.0);
      g_assert_false (is_others (&link));
    }
  }
}

/* ... even if nearly all of the link is used then. */
static void
test_nearly_all (void)
{
  for (unsigned i = 0; i < 10; i++) {
    Link link;
    link_init (&link);
    for (unsigned k = 0; k < 10; k++) {
      link_run (&link, 1e6, 1.02e6 + 0.02e6 * i, 0.0, 4.0);
      link_run (&link, 1e6, 0.9e6, 0.0, 0.78 + 0.8 * i);
      link_run (&link, 1e6, 0.99e6, 0.0, 4.0);
      g_assert_false (is_others (&link));
    }
  }
}

/* Known for half a minute, also over a change of stream; a loss of ours ends it. */
static void
test_forgotten (void)
{
  Link link;
  link_init (&link);
  sawtooth (&link, 3);
  mcc_swing_splice (&link.swing);
  g_assert_true (is_others (&link));
  link_run (&link, 10e6, 1e6, 7.5e6, 20.0);
  g_assert_true (is_others (&link));
  link_run (&link, 10e6, 1e6, 7.5e6, 15.0);
  g_assert_false (is_others (&link));
  sawtooth (&link, 3);
  g_assert_true (is_others (&link));
  mcc_swing_look (
      &link.swing, 0, FLOOR, (uint64_t)link.packets, MCC_MSECOND, true, link.now + MCC_MSECOND);
  g_assert_false (is_others (&link));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/swing/comes-and-goes-without-our-doing", test_others);
  g_test_add_func ("/swing/goes-when-we-send-less", test_ours);
  g_test_add_func ("/swing/goes-when-we-send-a-little-less", test_nearly_all);
  g_test_add_func ("/swing/forgotten", test_forgotten);
  return g_test_run ();
}
