/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccseq.h"

#define CYCLE16 (UINT64_C (1) << 16)
#define CYCLE32 (UINT64_C (1) << 32)

static void
wraps_reorders_and_duplicates (void)
{
  static const struct {
    uint16_t seq;
    uint64_t extended;
  } steps[] = {
    { 65530, CYCLE16 + 65530 },
    { 65535, CYCLE16 + 65535 },
    { 0, 2 * CYCLE16 },
    { 65534, CYCLE16 + 65534 }, /* late, from before the wrap */
    { 2, 2 * CYCLE16 + 2 },
    { 2, 2 * CYCLE16 + 2 },
    { 32769, 2 * CYCLE16 + 32769 }, /* 32767 ahead */
    { 1, 2 * CYCLE16 + 1 },         /* 32768 away: taken as late */
    { 65535, 2 * CYCLE16 + 65535 },
    { 5, 3 * CYCLE16 + 5 },
  };
  MccSeq seq = { 0 };
  uint64_t highest = 0;

  for (unsigned i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_assert_cmpuint (mcc_seq_extend16 (&seq, steps[i].seq), ==, steps[i].extended);
    highest = MAX (highest, steps[i].extended);
    g_assert_cmpuint (seq.highest, ==, highest);
  }
}

/* A packet from before the first one has a number, smaller than the first's. */
static void
numbers_before_the_first (void)
{
  MccSeq seq = { 0 };

  g_assert_cmpuint (mcc_seq_extend16 (&seq, 0), ==, CYCLE16);
  g_assert_cmpuint (mcc_seq_extend16 (&seq, 65535), ==, CYCLE16 - 1);
  g_assert_cmpuint (mcc_seq_extend16 (&seq, 32768), ==, CYCLE16 / 2);
  g_assert_cmpuint (seq.highest, ==, CYCLE16);
}

static void
thirty_two_bits (void)
{
  MccSeq seq = { 0 };

  g_assert_cmpuint (mcc_seq_extend32 (&seq, UINT32_MAX), ==, CYCLE32 + UINT32_MAX);
  g_assert_cmpuint (mcc_seq_extend32 (&seq, 3), ==, 2 * CYCLE32 + 3);
  g_assert_cmpuint (mcc_seq_extend32 (&seq, UINT32_MAX - 1), ==, CYCLE32 + UINT32_MAX - 1);
}

/* Every step below half a cycle is followed, from every base. */
static void
follows_many_cycles (void)
{
  for (uint32_t step = 1; step < 32768; step += 1021) {
    MccSeq seq = { 0 };
    uint64_t expected = CYCLE16 + 12345;

    for (unsigned i = 0; i < 1000; i++, expected += step)
      g_assert_cmpuint (mcc_seq_extend16 (&seq, (uint16_t)expected), ==, expected);
  }
}

static void
serial_arithmetic (void)
{
  g_assert_true (mcc_seq_newer16 (1, 0));
  g_assert_true (mcc_seq_newer16 (0, 65535));
  g_assert_false (mcc_seq_newer16 (65535, 0));
  g_assert_false (mcc_seq_newer16 (7, 7));
  g_assert_false (mcc_seq_newer16 (32768, 0));
  g_assert_false (mcc_seq_newer16 (0, 32768));
  g_assert_true (mcc_seq_newer32 (0, UINT32_MAX));
  g_assert_false (mcc_seq_newer32 (UINT32_C (1) << 31, 0));
  g_assert_false (mcc_seq_newer32 (0, UINT32_C (1) << 31));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/seq/wraps-reorders-and-duplicates", wraps_reorders_and_duplicates);
  g_test_add_func ("/seq/numbers-before-the-first", numbers_before_the_first);
  g_test_add_func ("/seq/thirty-two-bits", thirty_two_bits);
  g_test_add_func ("/seq/follows-many-cycles", follows_many_cycles);
  g_test_add_func ("/seq/serial-arithmetic", serial_arithmetic);
  return g_test_run ();
}
