/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pictures and those that are damaged: 40 ms each. What a stream lost by its numbers.
 */
#include <numeric>

#include <glib.h>

#include "frames.h"

namespace
{

struct Viewer {
  sim::ReceiverRecord record;
  sim::Frames frames{ record };

  static double Sum (const sim::Bins &bins)
  {
    return std::accumulate (bins.Values ().begin (), bins.Values ().end (), 0.0);
  }
  void Check (double all, double damaged) const
  {
    g_assert_cmpfloat (Sum (record.frames), ==, all);
    g_assert_cmpfloat (Sum (record.frames_damaged), ==, damaged);
  }
};

void
test_gap_spans_pictures ()
{
  Viewer viewer;

  viewer.frames.Add (1.001, 1.001, 0);
  viewer.Check (0, 0);
  viewer.frames.Add (1.001, 1.021, 1); /* within one picture */
  viewer.Check (0, 1);
  viewer.frames.Add (1.021, 1.031, 1); /* the same one again */
  viewer.Check (0, 1);
  viewer.frames.Add (1.031, 1.421, 38); /* every 10 ms: what is left of it, and 10 more */
  viewer.Check (10, 11);
  viewer.frames.Add (1.421, 1.821, 1); /* one in a long time is one picture */
  viewer.Check (20, 12);
}

/* Layers of one picture. */
void
test_each_picture_once ()
{
  Viewer viewer;

  for (double at : { 2.001, 2.005 })
    viewer.frames.Add (at, at, 0);
  viewer.frames.Add (2.001, 2.201, 19); /* pictures 0 to 4, in the last only its first ms */
  viewer.Check (5, 5);
  viewer.frames.Add (2.005, 2.205, 19);
  viewer.Check (5, 5);
  viewer.frames.Add (2.201, 2.401, 0);
  viewer.frames.Add (2.205, 2.405, 3); /* an older gap, shown later */
  viewer.Check (10, 8);
}

void
test_begin ()
{
  Viewer viewer;

  viewer.frames.Add (1.001, 1.201, 9);
  viewer.frames.Begin ();
  viewer.frames.Add (9.001, 9.001, 0);
  viewer.frames.Add (9.001, 9.201, 0);
  viewer.Check (10, 5);
}

void
test_losses ()
{
  Viewer viewer;
  sim::Losses losses (viewer.record.lost);
  auto check = [&viewer, &losses] (std::initializer_list<unsigned> numbers, double lost) {
    for (unsigned number : numbers)
      losses.Came (number);
    g_assert_cmpfloat (Viewer::Sum (viewer.record.lost), ==, lost);
  };

  check ({ 70000, 70001, 70004 }, 2); /* nothing before the first one */
  check ({ 70002, 70003 }, 0);        /* late */
  check ({ 70005, 70007 }, 1);
  losses.Begin ();
  check ({ 90000 }, 1);
  losses.Begin ();
  check ({ 65534, 65537 }, 3); /* over the wrap */
  check ({ 3, 4, 6 }, 5);
  check ({ 40000, 40001 }, 5); /* a stream that began anew */
  check ({ 10, 12 }, 6);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/frames/gap-spans-pictures", test_gap_spans_pictures);
  g_test_add_func ("/sim/frames/each-picture-once", test_each_picture_once);
  g_test_add_func ("/sim/frames/begin", test_begin);
  g_test_add_func ("/sim/losses/by-the-sender-s-numbers", test_losses);
  return g_test_run ();
}
