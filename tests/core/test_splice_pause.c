/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A splice after hours of nothing.
 */
#include "splicefixture.h"

/* The stream comes back after half a turn of its timestamps and more: its frames do not share one.
 */
static void
test_half_a_turn_later (gconstpointer data)
{
  static const MccTime back = 8 * 3600 * MCC_SECOND;
  static const MccTime keys[] = { 8 * 3600 * MCC_SECOND };
  Source a = { 0, 30, 6, 20, 0, 5, 10, 20 * MS, MS, true };
  Source b = { 1, 30, 9, 25, 0, 5 + GPOINTER_TO_UINT (data), 900, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  make (&stage, &a, 0, MCC_SECOND, key_first, 1);
  make (&stage, &b, back, back + MCC_SECOND, keys, 1);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 2 * MCC_SECOND);
  mcc_splice_leave (stage.splice, 0, stage.now);
  run (&stage, &at, EPOCH + back);
  join (&stage, 1);
  run (&stage, &at, EPOCH + back + 2 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  const Out *out = &g_array_index (stage.out, Out, 0), *last = out + stage.out->len - 1;
  for (const Out *o = out + 1; o <= last; o++)
    if (o->packet->stream == 1 && (o - 1)->packet->stream == 1
        && o->packet->frame != (o - 1)->packet->frame)
      g_assert_cmpuint (o->time - (o - 1)->time, ==, CLOCK / 30);
  stage_free (&stage);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/splice/half-a-turn-later", GUINT_TO_POINTER (0), test_half_a_turn_later);
  g_test_add_data_func ("/splice/half-a-turn-later/another-base", GUINT_TO_POINTER (0x70000000),
      test_half_a_turn_later);
  return g_test_run ();
}
