/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccencoding.h"
#include "mccrng.h"

#define START (271828 * MCC_MSECOND + 77)
#define FPS 30
#define FRAME (MCC_SECOND / FPS)
#define HEADERS 48 /* IPv4, UDP, RTP, abs-send-time */

/* An encoder in the loop: produces gain x asked, at most `limit_bps` (easy content). */
typedef struct {
  MccEncoding encoding;
  MccRng rng;
  MccTime now;
  unsigned frame;
  uint64_t asked_bps;
  unsigned changes;
  double gain, limit_bps, noise;
  double key; /* size of a key frame, every 2 s, in frames; 0 = none */
  double pressure;
  double recent[2 * FPS]; /* wire bits of the last frames */
} Loop;

static void
loop_init (Loop *loop, double gain)
{
  *loop = (Loop){ .gain = gain, .limit_bps = 1e12, .pressure = 1.0, .now = START };
  mcc_encoding_init (&loop->encoding);
  mcc_rng_init (&loop->rng, 11);
}

static void
loop_frame (Loop *loop, uint64_t target_bps)
{
  if (mcc_encoding_update (
          &loop->encoding, target_bps, loop->pressure, loop->now, &loop->asked_bps))
    loop->changes++;

  double bps = fmin ((double)loop->asked_bps * loop->gain, loop->limit_bps);
  double bits = bps / FPS * (1.0 + loop->noise * (2.0 * mcc_rng_uniform (&loop->rng) - 1.0));
  if (loop->key > 0.0) /* the mean stays */
    bits *= 2 * FPS / (2 * FPS - 1 + loop->key) * (loop->frame % (2 * FPS) ? 1.0 : loop->key);

  double wire = 0.0;
  for (uint32_t left = (uint32_t)(bits / 8.0); left > 0;) {
    uint32_t payload = MIN (left, 1200);

    mcc_encoding_handle_packet (&loop->encoding, payload + HEADERS, payload, loop->now);
    wire += 8.0 * (payload + HEADERS);
    left -= payload;
  }
  loop->recent[loop->frame++ % (2 * FPS)] = wire;
  loop->now += FRAME;
}

/* The wire rate of the last @frames. */
static double
loop_wire_bps (const Loop *loop, unsigned frames)
{
  double bits = 0.0;

  for (unsigned i = 1; i <= frames; i++)
    bits += loop->recent[(loop->frame - i) % (2 * FPS)];
  return bits * FPS / frames;
}

static void
loop_run (Loop *loop, uint64_t target_bps, unsigned seconds)
{
  for (unsigned i = 0; i < seconds * FPS; i++)
    loop_frame (loop, target_bps);
}

/* The largest |1-s wire rate / target - 1|. */
static double
loop_error (Loop *loop, uint64_t target_bps, unsigned seconds, unsigned frames)
{
  double worst = 0.0;

  for (unsigned i = 0; i < seconds * FPS; i++) {
    loop_frame (loop, target_bps);
    worst = fmax (worst, fabs (loop_wire_bps (loop, frames) / (double)target_bps - 1.0));
  }
  return worst;
}

static void
test_steady (void)
{
  static const double gains[] = { 1.0, 1.05, 1.15, 1.4, 1.8, 0.95 };
  static const uint64_t targets[] = { 150000, 600000, 2000000, 10000000 };

  for (unsigned g = 0; g < G_N_ELEMENTS (gains); g++) {
    for (unsigned t = 0; t < G_N_ELEMENTS (targets); t++) {
      Loop loop;

      loop_init (&loop, gains[g]);
      loop_run (&loop, targets[t], 10);
      double error = loop_error (&loop, targets[t], 30, FPS);
      g_test_message (
          "gain %g, %u kb/s: error %.2f %%", gains[g], (unsigned)(targets[t] / 1000), error * 100);
      g_assert_cmpfloat (error, <, 0.03);
    }
  }
}

/* Frames of varying size: the mean follows the target, the correction does not follow the noise. */
static void
test_noise (void)
{
  Loop loop;
  double sum = 0.0;

  loop_init (&loop, 1.15);
  loop.noise = 0.4;
  loop_run (&loop, 1000000, 10);
  for (unsigned i = 0; i < 60; i++) {
    loop_run (&loop, 1000000, 1);
    sum += loop_wire_bps (&loop, FPS) / 60;
    g_assert_cmpfloat_with_epsilon (loop.encoding.correction, 1 / 1.15, 0.06);
  }
  g_assert_cmpfloat_with_epsilon (sum, 1e6, 0.015e6);
}

/* A key frame of six frames every 2 s swings the 1-s rate, but not the correction. */
static void
test_key_frames (void)
{
  static const double gains[] = { 1.0, 1.15 };

  for (unsigned g = 0; g < G_N_ELEMENTS (gains); g++) {
    Loop loop;
    double low = 10.0, high = 0.0;

    loop_init (&loop, gains[g]);
    loop.key = 6.0;
    loop_run (&loop, 1000000, 12);
    g_assert_cmpfloat (loop_error (&loop, 1000000, 20, 2 * FPS), <, 0.03);
    for (unsigned i = 0; i < 10 * FPS; i++) {
      loop_frame (&loop, 1000000);
      low = fmin (low, loop.encoding.correction);
      high = fmax (high, loop.encoding.correction);
    }
    g_assert_cmpfloat (high - low, <, 0.02);
    g_assert_cmpfloat_with_epsilon (high, 1.0 / gains[g], 0.03);
  }
}

/* Easy content, or an encoder that halves: never asked for more than 1.1 x the target, and the hard
 * scene that follows does not overshoot. */
static void
test_undershoot (void)
{
  Loop loop;

  loop_init (&loop, 0.5);
  for (unsigned i = 0; i < 60 * FPS; i++) {
    loop_frame (&loop, 1000000);
    g_assert_cmpuint (loop.asked_bps, <=, 1100000);
  }
  g_assert_cmpfloat (loop.encoding.correction, <=, 1.0);

  loop_init (&loop, 1.0);
  loop.limit_bps = 200000;
  loop_run (&loop, 1000000, 20);
  loop.limit_bps = 1e12;
  loop_run (&loop, 1000000, 1);
  g_assert_cmpfloat (loop_error (&loop, 1000000, 20, FPS), <, 0.03);

  /* Slightly below: driven up, to at most 1.1 x. */
  loop_init (&loop, 0.92);
  for (unsigned i = 0; i < 30 * FPS; i++) {
    loop_frame (&loop, 1000000);
    g_assert_cmpfloat (loop.encoding.correction, <=, 1.1);
  }
  g_assert_cmpfloat_with_epsilon (loop.encoding.correction, 1.0 / 0.92, 0.01);
}

/* 1/overshoot is learned at 10 % a second, kept in [0.5, 1.1], and unlearned. */
static void
test_correction (void)
{
  Loop loop;

  loop_init (&loop, 4.0);
  double before = 1.0;
  for (unsigned i = 0; i < 20 * FPS; i++) {
    loop_frame (&loop, 1000000);
    g_assert_cmpfloat (fabs (loop.encoding.correction - before), <=, 0.1 / FPS + 1e-9);
    before = loop.encoding.correction;
  }
  g_assert_cmpfloat_with_epsilon (before, 0.5, 0.01);
  loop.gain = 1.0;
  loop_run (&loop, 1000000, 15);
  g_assert_cmpfloat_with_epsilon (loop.encoding.correction, 1.0, 0.01);
  /* Also where the encoder gives too little at last. */
  loop.gain = 4.0;
  loop_run (&loop, 1000000, 20);
  loop.gain = 0.6;
  loop_run (&loop, 1000000, 60);
  g_assert_cmpfloat_with_epsilon (loop.encoding.correction, 1.0, 0.05);
}

static void
test_changes (void)
{
  MccEncoding encoding;
  MccTime now = START;
  uint64_t out = 77, before;

  mcc_encoding_init (&encoding);
  g_assert_true (mcc_encoding_update (&encoding, 1000000, 1.0, now, &out));
  g_assert_cmpuint (out, ==, 950000);
  before = out;
  out = 77;
  g_assert_false (mcc_encoding_update (&encoding, 1000000, 1.0, now, &out));
  g_assert_false (mcc_encoding_update (&encoding, 1015000, 1.0, now + 249 * MCC_MSECOND, &out));
  g_assert_cmpuint (out, ==, 77);
  g_assert_true (mcc_encoding_update (&encoding, 1015000, 1.0, now + 250 * MCC_MSECOND, &out));
  g_assert_cmpuint (out, >, before);
  now += 250 * MCC_MSECOND;
  g_assert_true (mcc_encoding_update (&encoding, 1040000, 1.0, now, &out)); /* above 2 % */
  /* A fall at once, however small. */
  before = out;
  g_assert_true (mcc_encoding_update (&encoding, 1039000, 1.0, now, &out));
  g_assert_cmpuint (out, <, before);
  g_assert_true (mcc_encoding_update (&encoding, 200000, 1.0, now, &out));
  g_assert_cmpuint (out, ==, 190000);
  /* Pressure at once. */
  g_assert_true (mcc_encoding_update (&encoding, 200000, 0.5, now, &out));
  g_assert_cmpuint (out, ==, 95000);
  g_assert_true (mcc_encoding_update (&encoding, 200000, 1.0, now, &out));
  g_assert_cmpuint (out, ==, 190000);
  out = 77;
  g_assert_false (mcc_encoding_update (&encoding, 0, 1.0, now, &out));
  g_assert_cmpuint (out, ==, 77);
}

/* At a constant target a good encoder is left alone, and a step is one change. */
static void
test_quiet (void)
{
  Loop loop;

  loop_init (&loop, 1.0);
  loop_run (&loop, 2000000, 10);
  loop.changes = 0;
  loop_run (&loop, 2000000, 30);
  g_assert_cmpuint (loop.changes, <=, 3);
  loop_frame (&loop, 600000);
  g_assert_cmpuint (loop.asked_bps, <, 600000);
  loop_run (&loop, 600000, 1);
  g_assert_cmpfloat (loop_wire_bps (&loop, FPS), <, 630000);
  loop_run (&loop, 600000, 2);
  g_assert_cmpfloat (loop_error (&loop, 600000, 10, FPS), <, 0.03);
}

/* A pause is not easy content, and what was asked for in it is not owed. */
static void
test_pause (void)
{
  Loop loop;

  loop_init (&loop, 1.15);
  loop_run (&loop, 1000000, 15);
  double before = loop.encoding.correction;
  loop.now += 60 * MCC_SECOND;
  for (unsigned i = 0; i < 5 * FPS; i++) {
    loop_frame (&loop, 1000000);
    g_assert_cmpfloat (loop.encoding.correction, <, before + 0.06);
  }
  g_assert_cmpfloat_with_epsilon (loop.encoding.correction, before, 0.06);
}

/* Packets before the first target do not count as produced. */
static void
test_early_packets (void)
{
  Loop loop;

  loop_init (&loop, 1.0);
  for (unsigned i = 0; i < 3000; i++)
    mcc_encoding_handle_packet (&loop.encoding, 1248, 1200, START);
  loop_run (&loop, 1000000, 4);
  g_assert_cmpfloat_with_epsilon (loop.encoding.correction, 1.0, 0.01);
  g_assert_cmpfloat_with_epsilon (loop.asked_bps, 960000.0, 10000.0);
}

/* A picture that hardly changes: packets of headers alone. The encoder may still make what the rest
 * of the target carries, from the first frame that has something to show. */
static void
test_empty_packets (void)
{
  Loop loop;

  loop_init (&loop, 1.0);
  loop_run (&loop, 150000, 3);
  loop.limit_bps = 4000; /* 16 bytes a frame below 48 of headers */
  loop_run (&loop, 150000, 30);
  g_assert_cmpfloat (loop_wire_bps (&loop, 2 * FPS), <, 20000);
  g_assert_cmpuint (loop.asked_bps, >, 125000);
  loop.limit_bps = 1e12;
  loop_run (&loop, 150000, 1);
  g_assert_cmpfloat (loop_wire_bps (&loop, FPS), >, 0.9 * 150000);
  g_assert_cmpfloat (loop_wire_bps (&loop, FPS), <, 1.03 * 150000);
  loop_run (&loop, 150000, 2);
  g_assert_cmpfloat (loop_error (&loop, 150000, 10, FPS), <, 0.03);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/encoding/wire-rate-within-3-percent", test_steady);
  g_test_add_func ("/encoding/varying-frames", test_noise);
  g_test_add_func ("/encoding/key-frames-do-not-swing", test_key_frames);
  g_test_add_func ("/encoding/undershoot-is-not-driven-up", test_undershoot);
  g_test_add_func ("/encoding/correction-bounds-and-speed", test_correction);
  g_test_add_func ("/encoding/falls-at-once-small-rises-wait", test_changes);
  g_test_add_func ("/encoding/quiet-at-a-constant-target", test_quiet);
  g_test_add_func ("/encoding/pause", test_pause);
  g_test_add_func ("/encoding/nearly-empty-packets", test_empty_packets);
  g_test_add_func ("/encoding/packets-before-the-first-target", test_early_packets);
  return g_test_run ();
}
