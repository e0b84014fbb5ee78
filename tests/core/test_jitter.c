/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccjitter.h"

#define START (UINT64_C (1000000007) * MCC_USECOND)

static void
test_send_time (void)
{
  static const struct {
    MccTime time;
    uint32_t send;
  } rows[] = {
    { 0, 0 },
    { MCC_SECOND, 1u << 18 },
    { 63 * MCC_SECOND + MCC_SECOND / 2, 63u << 18 | 1u << 17 },
    { 64 * MCC_SECOND, 0 },
    { 64 * MCC_SECOND - 1, 0xffffff },
    { MCC_TIME_NONE, 0x26d694 },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmphex (mcc_abs_send_time (rows[i].time), ==, rows[i].send);
}

static void
test_diff (void)
{
  static const struct {
    uint32_t later, earlier;
    MccTimeDelta diff;
  } rows[] = {
    { 0, 0, 0 },
    { 1u << 18, 0, (MccTimeDelta)MCC_SECOND },
    { 0, 1u << 18, -(MccTimeDelta)MCC_SECOND },
    { 1u << 17, 63u << 18, (MccTimeDelta)(3 * MCC_SECOND / 2) }, /* over the wrap */
    { 63u << 18, 1u << 17, -(MccTimeDelta)(3 * MCC_SECOND / 2) },
    { 1u << 23, 0, -(MccTimeDelta)(32 * MCC_SECOND) },
    { 1, 0, 3814 },
    { 0, 1, -3815 },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (mcc_abs_send_time_diff (rows[i].later, rows[i].earlier), ==, rows[i].diff);
}

/* CJ is the transit relative to the first packet, whatever the clocks' offset, for hours. */
static void
test_tracks_queue (void)
{
  static const MccTime offsets[] = { 0, 17 * MCC_SECOND, 63999 * MCC_MSECOND };

  for (unsigned o = 0; o < G_N_ELEMENTS (offsets); o++) {
    MccJitter jitter;

    mcc_jitter_init (&jitter);
    for (unsigned i = 0; i < 720000; i++) { /* 2 hours */
      MccTime sent = START + i * 10 * MCC_MSECOND + i;
      MccTime queue = (MccTime)ABS ((int)(i % 1000) - 500) * 100 * MCC_USECOND;

      mcc_jitter_handle_packet (
          &jitter, mcc_abs_send_time (sent + offsets[o]), sent + 30 * MCC_MSECOND + queue);
      g_assert_cmpint (ABS (jitter.cumulative - (MccTimeDelta)queue + 50 * 1000000), <=, 3816);
    }
  }
}

/* J converges to the mean |D|, and is 0 on a path of constant delay. */
static void
test_mean_deviation (void)
{
  MccJitter jitter;

  mcc_jitter_init (&jitter);
  for (unsigned i = 0; i < 500; i++)
    mcc_jitter_handle_packet (&jitter, i << 13, START + i * 31250 * MCC_USECOND);
  g_assert_cmpfloat (jitter.jitter_s, <, 1e-12);
  for (unsigned i = 500; i < 1000; i++)
    mcc_jitter_handle_packet (
        &jitter, i << 13, START + i * 31250 * MCC_USECOND + i % 2 * 4 * MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (jitter.jitter_s, 4e-3, 1e-6);

  /* One step: 1/16 of |D|. */
  mcc_jitter_init (&jitter);
  mcc_jitter_handle_packet (&jitter, 0, START);
  mcc_jitter_handle_packet (&jitter, 0, START + 16 * MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (jitter.jitter_s, 1e-3, 1e-12);
}

static void
test_reordered (void)
{
  MccJitter jitter;

  mcc_jitter_init (&jitter);
  mcc_jitter_handle_packet (&jitter, 2u << 18, START);
  mcc_jitter_handle_packet (&jitter, 1u << 18, START + MCC_MSECOND);
  g_assert_cmpint (jitter.cumulative, ==, MCC_SECOND + MCC_MSECOND);
  mcc_jitter_handle_packet (&jitter, 3u << 18, START + MCC_SECOND);
  g_assert_cmpint (jitter.cumulative, ==, 0);
}

/* A pause of any length: the transit is what it is, not what it was before. */
static void
test_pause (void)
{
  static const MccTime pause[] = { 1 * MCC_SECOND, 5 * MCC_SECOND, 31 * MCC_SECOND, 40 * MCC_SECOND,
    64 * MCC_SECOND, 100 * MCC_SECOND, 3600 * MCC_SECOND };
  for (unsigned i = 0; i < G_N_ELEMENTS (pause); i++) {
    MccJitter jitter;
    MccTime at = START, delay = 20 * MCC_MSECOND;

    mcc_jitter_init (&jitter);
    mcc_jitter_handle_packet (&jitter, mcc_abs_send_time (at), at + delay);
    at += 10 * MCC_MSECOND; /* a queue of 100 ms when the pause begins */
    mcc_jitter_handle_packet (&jitter, mcc_abs_send_time (at), at + delay + 100 * MCC_MSECOND);
    at += pause[i];
    mcc_jitter_handle_packet (&jitter, mcc_abs_send_time (at), at + delay);
    g_assert_cmpint (ABS (jitter.cumulative), <=, 3816);
  }
}

/* We were suspended with our clock, or it was put back: no queue grows faster than time passes. */
static void
test_own_clock (void)
{
  static const MccTime lost[]
      = { 3 * MCC_SECOND, 31 * MCC_SECOND, 40 * MCC_SECOND, 62 * MCC_SECOND };
  for (unsigned i = 0; i < G_N_ELEMENTS (lost); i++) {
    MccJitter jitter;
    MccTime at = START;

    mcc_jitter_init (&jitter);
    mcc_jitter_handle_packet (&jitter, mcc_abs_send_time (at), at);
    for (unsigned k = 0; k < 5; k++) {
      at += 50 * MCC_MSECOND;
      mcc_jitter_handle_packet (&jitter, mcc_abs_send_time (at + lost[i]), at);
    }
    g_test_message ("%.0f s: %.3f s", mcc_time_to_seconds (lost[i]), jitter.cumulative * 1e-9);
    g_assert_cmpint (jitter.cumulative, <=, (MccTimeDelta)MCC_SECOND);
  }
}

/* A sender whose clock stood still (suspended) or started anew behind a pause. */
static void
test_clock_jump (void)
{
  static const MccTimeDelta jump[] = { 5 * (MccTimeDelta)MCC_SECOND, -20 * (MccTimeDelta)MCC_SECOND,
    1100 * (MccTimeDelta)MCC_MSECOND, 31 * (MccTimeDelta)MCC_SECOND };
  for (unsigned i = 0; i < G_N_ELEMENTS (jump); i++) {
    MccJitter jitter;
    MccTime at = START;

    mcc_jitter_init (&jitter);
    mcc_jitter_handle_packet (&jitter, mcc_abs_send_time (at), at);
    at += 6 * MCC_SECOND;
    mcc_jitter_handle_packet (&jitter, mcc_abs_send_time (at - (MccTime)jump[i]), at);
    g_assert_cmpint (jitter.cumulative, ==, 0);
    g_assert_cmpfloat (jitter.jitter_s, ==, 0.0);
  }
}

static void
test_gap (void)
{
  MccJitter jitter;

  mcc_jitter_init (&jitter);
  mcc_jitter_handle_packet (&jitter, 0, START);
  mcc_jitter_handle_packet (&jitter, 1u << 18, START + 1020 * MCC_MSECOND);
  g_assert_cmpint (jitter.cumulative, ==, 20 * MCC_MSECOND);
  double before = jitter.jitter_s;

  mcc_jitter_handle_packet (&jitter, 50u << 18, START + 32 * MCC_SECOND);
  g_assert_cmpint (jitter.cumulative, ==, 20 * MCC_MSECOND);
  g_assert_true (jitter.jitter_s == before);
  mcc_jitter_handle_packet (&jitter, 51u << 18, START + 33005 * MCC_MSECOND);
  g_assert_cmpint (jitter.cumulative, ==, 25 * MCC_MSECOND);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/jitter/abs-send-time", test_send_time);
  g_test_add_func ("/jitter/abs-send-time-diff-wraps", test_diff);
  g_test_add_func ("/jitter/cumulative-tracks-queue", test_tracks_queue);
  g_test_add_func ("/jitter/mean-deviation", test_mean_deviation);
  g_test_add_func ("/jitter/reordered", test_reordered);
  g_test_add_func ("/jitter/gap-restarts-without-a-jump", test_gap);
  g_test_add_func ("/jitter/pause-of-any-length", test_pause);
  g_test_add_func ("/jitter/own-clock-stood-still", test_own_clock);
  g_test_add_func ("/jitter/sender-clock-jumps-in-a-pause", test_clock_jump);
  return g_test_run ();
}
