/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrecentloss.h"

#include <glib.h>

#define STEP (100 * MCC_MSECOND)

typedef struct {
  MccRecentLoss recent;
  MccTime now;
  guint64 received, lost;
} Path;

static void
init (Path *self)
{
  *self = (Path){ .now = 77 * MCC_SECOND, .received = 5000, .lost = 40 };
  mcc_recent_loss_init (&self->recent);
}

/* Ten packets a step, of which so many are lost. */
static void
run (Path *self, guint steps, guint lost)
{
  for (guint i = 0; i < steps; i++) {
    self->now += STEP;
    self->received += 10 - lost;
    self->lost += lost;
    mcc_recent_loss_look (&self->recent, self->received, self->lost, self->now);
  }
}

/* Nothing is known before a second has passed, and then only what that had. */
static void
test_unknown (void)
{
  Path path;
  init (&path);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), ==, 1.0);
  run (&path, 10, 0);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), ==, 1.0);
  run (&path, 1, 0);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), ==, 0.0);
}

/* Losses are seen at once, and forgotten after two seconds. */
static void
test_window (void)
{
  Path path;
  init (&path);
  run (&path, 40, 0);
  run (&path, 1, 9);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), >, 0.04);
  for (guint i = 0; i < 9; i++) {
    run (&path, 1, 0);
    g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), >, 0.04);
  }
  run (&path, 11, 0);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), ==, 0.0);
  run (&path, 40, 3);
  g_assert_cmpfloat_with_epsilon (mcc_recent_loss_ratio (&path.recent), 0.3, 1e-9);
}

/* Where nothing comes, nothing arrives; counters may begin anew, and what was lost come late. */
static void
test_edges (void)
{
  Path path;
  init (&path);
  run (&path, 40, 0);
  path.now += 5 * MCC_SECOND;
  mcc_recent_loss_look (&path.recent, path.received, path.lost, path.now);
  path.now += MCC_SECOND;
  mcc_recent_loss_look (&path.recent, path.received, path.lost, path.now);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), ==, 1.0);
  run (&path, 40, 0);
  path.received = path.lost = 0;
  run (&path, 1, 0);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), ==, 1.0);
  run (&path, 40, 2);
  g_assert_cmpfloat_with_epsilon (mcc_recent_loss_ratio (&path.recent), 0.2, 1e-9);
  path.lost = 10;
  run (&path, 1, 0);
  g_assert_cmpfloat (mcc_recent_loss_ratio (&path.recent), ==, 0.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recentloss/unknown", test_unknown);
  g_test_add_func ("/recentloss/window", test_window);
  g_test_add_func ("/recentloss/edges", test_edges);
  return g_test_run ();
}
