/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccpacer.h"
#include "mccpairs.h"
#include "mccrng.h"

#define START (31415926 * MCC_MSECOND + 535)
#define FRAME (MCC_SECOND / 30)
#define MTU 1200

/* Drives a pacer and remembers each packet, as a host does. */
typedef struct {
  MccPacer *pacer;
  double floor_bps;  /* factor x target */
  MccTime now, late; /* late: how late the host's timer is */
  bool retargeted;
  GArray *queued; /* Packet */
  guint next;     /* the oldest that waits */
  double delay_sum, delay_max, burst_excess, burst_max;
} Host;

typedef struct {
  MccTime time;
  uint32_t bytes;
} Packet;

static void
host_init (Host *host, const MccPacerConfig *config, uint64_t target_bps)
{
  *host = (Host){ .pacer = mcc_pacer_new (config), .now = START };
  host->queued = g_array_new (FALSE, FALSE, sizeof (Packet));
  mcc_pacer_set_target (host->pacer, target_bps);
  host->floor_bps = (config ? config->factor : 1.5) * (double)target_bps;
}

static void
host_clear (Host *host)
{
  mcc_pacer_free (host->pacer);
  g_array_free (host->queued, TRUE);
}

/* Bits of one burst beyond 5 ms of the allowed rate (or one packet). */
static void
check_burst (Host *host, guint first, guint packets)
{
  MccTime oldest = g_array_index (host->queued, Packet, first).time;
  double queued = 0.0, burst = 0.0;

  for (guint i = first; i < host->queued->len; i++)
    queued += 8.0 * g_array_index (host->queued, Packet, i).bytes;
  for (guint i = first; i < first + packets; i++)
    burst += 8.0 * g_array_index (host->queued, Packet, i).bytes;
  /* The bound as the pacer's users know it, from the oldest packet. */
  double left = 0.149 - mcc_time_to_seconds (host->now - oldest);
  double rate = fmax (host->floor_bps, left > 0.0 ? queued / left : INFINITY);
  host->burst_max = fmax (host->burst_max, burst);
  if (packets > 1)
    host->burst_excess = fmax (host->burst_excess, burst - 0.005 * rate);
}

static void
host_release (Host *host)
{
  guint packets = mcc_pacer_release (host->pacer, host->now), first = host->next;

  g_assert_cmpuint (first + packets, <=, host->queued->len);
  if (packets > 0)
    check_burst (host, first, packets);
  for (guint i = 0; i < packets; i++) {
    double delay
        = mcc_time_to_seconds (host->now - g_array_index (host->queued, Packet, host->next++).time);

    host->delay_sum += delay;
    host->delay_max = fmax (host->delay_max, delay);
  }
  g_assert_cmpuint (mcc_pacer_queued_packets (host->pacer), ==, host->queued->len - host->next);
}

static void
host_run (Host *host, MccTime until)
{
  MccTime next;

  unsigned fruitless = 0;

  for (unsigned loops = 0; (next = mcc_pacer_next_timeout (host->pacer)) < until; loops++) {
    g_assert_cmpuint (loops, <, 1000000);
    if (next + host->late > until)
      break;
    host->now = MAX (host->now, next + host->late);
    guint before = host->next;
    host_release (host);
    /* A timer that fires lets something go; once it may be late news of another target. */
    fruitless = host->next > before ? 0 : fruitless + 1;
    g_assert_cmpuint (fruitless, <=, host->retargeted ? 1 : 0);
  }
  host->now = until;
}

/* A frame of @bytes in packets of at most MTU, in one list or one by one. */
static void
host_frame (Host *host, uint32_t bytes, bool list)
{
  uint32_t packets = (bytes + MTU - 1) / MTU;

  for (uint32_t i = 0; i < packets; i++) {
    Packet packet = { host->now, bytes / packets + (i < bytes % packets) };

    g_array_append_val (host->queued, packet);
    if (!list)
      mcc_pacer_enqueue (host->pacer, 1, packet.bytes, host->now);
  }
  if (list)
    mcc_pacer_enqueue (host->pacer, packets, bytes, host->now);
  host_release (host);
}

/* 30 fps, frames of target/30 +-40 %, a keyframe of @keyframe frames every 2 s. */
static void
host_trace (Host *host, uint64_t bps, unsigned seconds, double keyframe, bool list)
{
  MccRng rng;

  mcc_rng_init (&rng, bps);
  for (unsigned f = 0; f < seconds * 30; f++) {
    double bytes = (double)bps / 240.0 * (0.6 + 0.8 * mcc_rng_uniform (&rng));

    host_frame (host, (uint32_t)(bytes * (f % 60 == 0 ? keyframe : 1.0)), list);
    host_run (host, host->now + FRAME);
  }
}

/* The traces, whose packets leave as @pacing says. */
static void
traces (const MccPacing *pacing)
{
  static const uint64_t rates[] = { 300000, 600000, 1000000, 2000000, 4000000 };
  MccPacerConfig config = mcc_pacer_config_default;

  config.pacing = *pacing;
  for (unsigned r = 0; r < G_N_ELEMENTS (rates); r++) {
    for (int list = 0; list < 2; list++) {
      for (MccTime late = 0; late <= 900 * MCC_USECOND; late += 900 * MCC_USECOND) {
        Host host;

        host_init (&host, &config, rates[r]);
        host.late = late;
        host_trace (&host, rates[r], 60, 6.0, list);
        double mean = host.delay_sum / host.next;
        g_test_message ("%u kb/s, list %d, timer %.1f ms late: mean %.1f ms, max %.1f ms, "
                        "%u overruns",
            (unsigned)(rates[r] / 1000), list, (double)late * 1e-6, mean * 1e3,
            host.delay_max * 1e3, (unsigned)mcc_pacer_overruns (host.pacer));
        g_assert_cmpfloat (mean, <=, 0.030);
        g_assert_cmpfloat (host.delay_max, <=, 0.150);
        g_assert_cmpfloat (host.burst_excess, <=, 1.0);
        g_assert_cmpuint (host.queued->len - host.next, <=, rates[r] * 0.15 / 8 / 400);
        host_clear (&host);
      }
    }
  }
}
static void
test_trace (void)
{
  MccPacing even = { .even = true, .burst = MCC_PACING_BURST_LEAST };

  traces (&mcc_pacing_default);
  traces (&even);
}

/* Whatever is queued leaves in order, wholly, and within the bound, even far above the target. */
static void
test_overload (void)
{
  static const double factors[] = { 1.4, 3.0, 10.0 };

  for (unsigned i = 0; i < G_N_ELEMENTS (factors); i++) {
    Host host;

    host_init (&host, NULL, 500000);
    host.late = 900 * MCC_USECOND;
    for (unsigned f = 0; f < 300; f++) {
      host_frame (&host, (uint32_t)(500000.0 * factors[i] / 240.0), f % 2);
      host_run (&host, host.now + FRAME);
    }
    g_assert_cmpfloat (host.delay_max, <=, 0.150);
    g_assert_cmpfloat (host.burst_excess, <=, 1.0);
    /* Smoothly: what comes in 5 ms (and a little more), not frame by frame. */
    g_assert_cmpfloat (host.burst_max, <=, fmax (8 * MTU, 0.006 * factors[i] * 500000));
    if (factors[i] > 1.5) {
      /* Counted once a frame, as soon as the queue is full. */
      g_assert_cmpuint (mcc_pacer_overruns (host.pacer), >, 280);
      g_assert_cmpuint (mcc_pacer_overruns (host.pacer), <=, 300);
      double fits = fmax (1.5 / factors[i], 0.25);
      g_assert_cmpfloat_with_epsilon (mcc_pacer_pressure (host.pacer, host.now), fits, 0.1);
    } else {
      g_assert_cmpuint (mcc_pacer_overruns (host.pacer), ==, 0);
      g_assert_cmpfloat (mcc_pacer_pressure (host.pacer, host.now), ==, 1.0);
    }
    host_run (&host, host.now + MCC_SECOND);
    g_assert_cmpuint (host.next, ==, host.queued->len);
    g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), ==, 0);
    g_assert_cmpuint (mcc_pacer_queued_bytes (host.pacer), ==, 0);
    g_assert_cmpuint (mcc_pacer_next_timeout (host.pacer), ==, MCC_TIME_NONE);
    host_clear (&host);
  }
}

/* The pressure is gone about a second after the last overrun, and rises steadily until then. */
static void
test_pressure (void)
{
  Host host;
  double before;

  host_init (&host, NULL, 1000000);
  g_assert_cmpfloat (mcc_pacer_pressure (host.pacer, host.now), ==, 1.0);
  host_frame (&host, 1000000 / 240 * 10, true); /* 333 ms of bits */
  g_assert_cmpuint (mcc_pacer_overruns (host.pacer), ==, 1);
  before = mcc_pacer_pressure (host.pacer, host.now);
  g_assert_cmpfloat_with_epsilon (before, 1.5 / (0.3333 / 0.149), 0.01);
  for (MccTime t = 100 * MCC_MSECOND; t < 1000 * MCC_MSECOND; t += 100 * MCC_MSECOND) {
    double pressure = mcc_pacer_pressure (host.pacer, host.now + t);

    g_assert_cmpfloat (pressure, >, before);
    g_assert_cmpfloat (pressure, <, 1.0);
    before = pressure;
  }
  g_assert_cmpfloat (mcc_pacer_pressure (host.pacer, host.now + MCC_SECOND), ==, 1.0);
  host_clear (&host);
}

/* One packet a burst where 5 ms are less than a packet, and the rate holds. */
static void
test_rate (void)
{
  static const uint64_t rates[] = { 50000, 500000, 2000000, 3000000, 20000000 };

  for (unsigned r = 0; r < G_N_ELEMENTS (rates); r++) {
    for (MccTime late = 0; late <= 5 * MCC_MSECOND; late += MCC_MSECOND) {
      MccPacerConfig config = mcc_pacer_config_default;
      Host host;

      config.max_delay = 3600 * MCC_SECOND; /* the bound is far away */
      host_init (&host, &config, rates[r]);
      host.late = late;
      uint32_t bytes = (uint32_t)(1.5 * (double)rates[r] / 8.0 * 2.0); /* 2 s of the rate */
      host_frame (&host, bytes, true);
      host_run (&host, host.now + 1800 * MCC_MSECOND);
      double sent = (double)bytes - (double)mcc_pacer_queued_bytes (host.pacer);
      /* One burst ahead at most, one packet behind. */
      g_assert_cmpfloat (sent, <=, 0.9 * bytes + 0.0051 * 1.5 * (double)rates[r] / 8.0 + MTU);
      g_assert_cmpfloat (sent, >=, 0.899 * bytes - MTU);
      g_assert_cmpfloat (host.burst_excess, <=, 1.0);
      g_assert_cmpuint (mcc_pacer_overruns (host.pacer), ==, 0);
      host_clear (&host);
    }
  }
}

/* An idle pacer lets the first packet go at once, however slow it is. */
static void
test_idle (void)
{
  Host host;

  host_init (&host, NULL, 10000);
  for (unsigned i = 0; i < 10; i++) {
    host_frame (&host, 1200, true);
    g_assert_cmpuint (host.next, ==, i + 1);
    host_run (&host, host.now + 10 * MCC_SECOND);
  }
  host_clear (&host);
}

/* Timers are late: the pacer plans 1 ms early, also without any target. */
static void
test_plans_early (void)
{
  MccPacerConfig config = mcc_pacer_config_default;
  Host host;

  config.burst = 0; /* one packet at a time */
  host_init (&host, &config, 0);
  host_frame (&host, 300 * MTU, true);
  host_run (&host, host.now + 200 * MCC_MSECOND);
  g_assert_cmpuint (host.next, ==, 300);
  g_assert_cmpfloat (host.delay_max, >, 0.147);
  g_assert_cmpfloat (host.delay_max, <=, 0.149);
  host_clear (&host);
}

static void
test_stalled_host (void)
{
  Host host;

  host_init (&host, NULL, 1000000);
  host_trace (&host, 1000000, 4, 1.0, true);
  for (unsigned f = 0; f < 9; f++) { /* 300 ms without a release */
    mcc_pacer_enqueue (host.pacer, 4, 4000, host.now);
    host.now += FRAME;
  }
  /* All that is overdue leaves with the first one, the rest by its own deadline. */
  MccTime woken = host.now;
  guint packets = mcc_pacer_release (host.pacer, woken);
  g_assert_cmpuint (packets, >=, 5 * 4);
  g_assert_cmpuint (packets, <, 9 * 4);
  for (MccTime next; (next = mcc_pacer_next_timeout (host.pacer)) != MCC_TIME_NONE;) {
    g_assert_cmpuint (next, <=, woken + 150 * MCC_MSECOND);
    packets += mcc_pacer_release (host.pacer, MAX (woken, next));
  }
  g_assert_cmpuint (packets, ==, 9 * 4);
  host_clear (&host);
}

/* A timer of 10 ms: the rate makes up for lost credit, instead of frame-sized bursts at the end. */
static void
test_coarse_timer (void)
{
  Host host;

  host_init (&host, NULL, 2000000);
  host.late = 10 * MCC_MSECOND;
  for (unsigned f = 0; f < 300; f++) {
    host_frame (&host, 25000, true); /* three times the target */
    host_run (&host, host.now + FRAME);
  }
  g_assert_cmpfloat (host.delay_max, <=, 0.160);
  g_assert_cmpfloat (host.burst_max, <, 0.7 * 25000 * 8);
  host_clear (&host);
}

/* A target that falls or rises, or other bounds, in the middle of a frame: still in time. */
static void
test_changes (void)
{
  MccRng rng;
  Host host;

  mcc_rng_init (&rng, 5);
  host_init (&host, NULL, 1000000);
  host.retargeted = true;
  for (unsigned f = 0; f < 3000; f++) {
    uint64_t target = (uint64_t)(1e5 * pow (40.0, mcc_rng_uniform (&rng)));

    host_frame (&host, 500 + (uint32_t)(20000 * mcc_rng_uniform (&rng)), f % 2);
    host_run (&host, host.now + FRAME / 2);
    mcc_pacer_set_target (host.pacer, f % 7 ? target : 0);
    if (f % 11 == 0) {
      MccPacerConfig config = mcc_pacer_config_default;

      config.factor = 1.0 + mcc_rng_uniform (&rng);
      mcc_pacer_set_config (host.pacer, &config);
    }
    host.floor_bps = INFINITY; /* the bursts are not the matter here */
    host_run (&host, host.now + FRAME / 2);
  }
  host_run (&host, host.now + MCC_SECOND);
  g_assert_cmpuint (host.next, ==, host.queued->len);
  g_assert_cmpfloat (host.delay_max, <=, 0.150);
  host_clear (&host);
}

static void
test_clear (void)
{
  Host host;

  host_init (&host, NULL, 100000);
  mcc_pacer_enqueue (host.pacer, 0, 0, host.now);
  g_assert_cmpuint (mcc_pacer_next_timeout (host.pacer), ==, MCC_TIME_NONE);
  for (unsigned i = 0; i < 1000; i++) /* the ring grows */
    mcc_pacer_enqueue (host.pacer, 1, 1, host.now);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), ==, 1000);
  g_assert_cmpuint (mcc_pacer_queued_bytes (host.pacer), ==, 1000);
  mcc_pacer_clear (host.pacer);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), ==, 0);
  g_assert_cmpuint (mcc_pacer_queued_bytes (host.pacer), ==, 0);
  g_assert_cmpuint (mcc_pacer_next_timeout (host.pacer), ==, MCC_TIME_NONE);
  g_assert_cmpuint (mcc_pacer_release (host.pacer, host.now + MCC_SECOND), ==, 0);
  host_clear (&host);
  mcc_pacer_free (NULL);
}

/* What left together at each moment, of pictures of @packets packets of @bytes, 25 a second. */
static void
pictures (
    uint64_t bps, unsigned packets, uint32_t bytes, bool pairs, GArray *bursts, double *longest)
{
  MccPacerConfig config = mcc_pacer_config_default;
  Host host;

  config.pacing.pairs = pairs ? MCC_PAIRS_APART : 0;
  host_init (&host, &config, bps);
  MccTime end = host.now + 20 * MCC_SECOND;
  *longest = 0.0;
  for (MccTime frame = host.now; frame < end; frame += 40 * MCC_MSECOND) {
    for (MccTime next; (next = mcc_pacer_next_timeout (host.pacer)) < frame;) {
      guint before = host.next;
      host.now = MAX (host.now, next);
      host_release (&host);
      guint burst = host.next - before;
      g_assert_cmpuint (burst, >, 0);
      g_array_append_val (bursts, burst);
    }
    host.now = frame;
    for (unsigned i = 0; i < packets; i++) {
      Packet packet = { host.now, bytes };
      g_array_append_val (host.queued, packet);
      mcc_pacer_enqueue (host.pacer, 1, bytes, host.now);
    }
  }
  *longest = host.delay_max;
  host_clear (&host);
}

static unsigned
count_of (const GArray *bursts, guint packets)
{
  unsigned count = 0;
  for (guint i = 0; i < bursts->len; i++)
    count += g_array_index (bursts, guint, i) == packets;
  return count;
}

/* Once a second two packets leave together where they are far apart: of one picture at once, of two
 * as the first one waits for the second. Closer packets never do, and none where it is not wanted.
 */
static void
test_pairs (void)
{
  static const struct {
    uint64_t bps;
    unsigned packets;
    uint32_t bytes;
    bool wanted, pairs;
  } table[] = { { 30000, 1, 150, true, true }, { 30000, 1, 150, false, false },
    { 400000, 2, 1000, true, true }, { 400000, 2, 1000, false, false },
    { 2000000, 8, 1250, true, false } };

  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    GArray *bursts = g_array_new (FALSE, FALSE, sizeof (guint));
    double longest;
    pictures (table[i].bps, table[i].packets, table[i].bytes, table[i].wanted, bursts, &longest);
    unsigned two = count_of (bursts, 2);
    g_test_message ("%u kb/s: %u of two, longest wait %.1f ms", (unsigned)(table[i].bps / 1000),
        two, longest * 1e3);
    if (table[i].pairs) {
      g_assert_cmpuint (two, >=, 18);
      g_assert_cmpuint (two, <=, 21);
    } else if (!table[i].wanted) {
      g_assert_cmpuint (two, ==, 0);
    }
    g_assert_cmpfloat (longest, <=, 0.15);
    if (table[i].wanted && !table[i].pairs) {
      GArray *evenly = g_array_new (FALSE, FALSE, sizeof (guint));
      pictures (table[i].bps, table[i].packets, table[i].bytes, false, evenly, &longest);
      g_assert_cmpuint (two, ==, count_of (evenly, 2));
      g_assert_cmpuint (bursts->len, ==, evenly->len);
      g_array_free (evenly, TRUE);
    }
    g_array_free (bursts, TRUE);
  }
}

/* Bits that left within 10 ms at most, of 100 pictures of @bytes each, 25 a second, without the
 * first ten; every twentieth is @keyframe times as large. */
static double
peak_bits (const MccPacing *pacing, uint64_t bps, uint32_t bytes, unsigned keyframe)
{
  MccPacerConfig config = mcc_pacer_config_default;
  struct {
    MccTime time;
    double bits;
  } left[4096];
  guint count = 0;
  double peak = 0.0;
  Host host;

  config.pacing = *pacing;
  host_init (&host, &config, bps);
  for (unsigned f = 0; f < 100; f++) {
    MccTime next, frame = START + f * 40 * MCC_MSECOND;
    while ((next = mcc_pacer_next_timeout (host.pacer)) < frame) {
      guint before = host.next;
      host.now = MAX (host.now, next);
      host_release (&host);
      left[count].time = host.now;
      left[count].bits = 0.0;
      for (guint i = before; i < host.next; i++)
        left[count].bits += 8.0 * g_array_index (host.queued, Packet, i).bytes;
      count += f > 10;
      g_assert_cmpuint (count, <, G_N_ELEMENTS (left));
    }
    host.now = frame;
    uint32_t size = bytes * (f % 20 == 19 ? keyframe : 1), packets = (size + MTU - 1) / MTU;
    for (uint32_t i = 0; i < packets; i++) {
      Packet packet = { host.now, size / packets + (i < size % packets) };
      g_array_append_val (host.queued, packet);
    }
    mcc_pacer_enqueue (host.pacer, packets, size, host.now);
  }
  for (guint i = 0; i < count; i++) {
    double bits = 0.0;
    for (guint k = i; k < count && left[k].time < left[i].time + 10 * MCC_MSECOND; k++)
      bits += left[k].bits;
    peak = fmax (peak, bits);
  }
  g_assert_cmpfloat (host.delay_max, <=, 0.15);
  host_clear (&host);
  return peak;
}

/* Evenly, a picture of the mean size takes until the next one, a larger one no more than factor
 * times the target, and packets that are far apart anyway leave as they come. Up to a packet more,
 * and 5 % for the last one of a picture to be gone before the next one. */
static void
test_even (void)
{
  MccPacing even = { .even = true, .burst = MCC_PACING_BURST_LEAST };
  static const struct {
    uint64_t bps;
    unsigned keyframe;
    double least, even; /* of what the target sends in 10 ms */
  } table[] = { { 2000000, 1, 0.9, 1.05 }, { 8000000, 1, 0.9, 1.05 }, { 2000000, 4, 1.2, 1.5 },
    { 500000, 1, 2.0, 1.5 } };

  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    uint64_t bps = table[i].bps;
    uint32_t bytes = (uint32_t)(bps / 200);
    double unit = 0.01 * (double)bps, more = 8.0 * MTU;
    double is_even = peak_bits (&even, bps, bytes, table[i].keyframe);
    double bursts = peak_bits (&mcc_pacing_default, bps, bytes, table[i].keyframe);
    g_test_message ("%u kb/s, largest picture of %u: %.2f evenly, %.2f in bursts",
        (unsigned)(bps / 1000), table[i].keyframe, is_even / unit, bursts / unit);
    g_assert_cmpfloat (is_even, <=, table[i].even * unit + more);
    g_assert_cmpfloat (is_even, >=, table[i].least * unit);
    g_assert_cmpfloat (bursts, <=, 1.5 * unit + 0.005 * 1.5 * (double)bps + more);
    g_assert_cmpfloat (bursts, >=, 1.2 * unit);
  }
}

/* Pictures of 1/25 s, of @share of what the target sends in that time, each in @slices that come
 * @apart; the mean time from the first to the last packet's leaving, s. @pause: 5 s before the last
 * ten. */
static double
mean_span (double factor, double share, guint slices, MccTime apart, bool pause)
{
  MccPacerConfig config = mcc_pacer_config_default;
  const uint64_t bps = 4000000;
  double sum = 0.0;
  Host host;

  config.factor = factor;
  config.pacing = mcc_pacing_beside (20 * MCC_MSECOND);
  host_init (&host, &config, bps);
  MccTime frame = START;
  for (unsigned f = 0; f < 40; f++) {
    frame += pause && f == 30 ? 5 * MCC_SECOND : 40 * MCC_MSECOND;
    host_run (&host, frame);
    for (guint k = 0; k < slices; k++) {
      host_run (&host, frame + k * apart);
      host_frame (&host, (uint32_t)(share * (double)bps / 200.0 / slices), true);
    }
    MccTime next, last = frame;
    while ((next = mcc_pacer_next_timeout (host.pacer)) < frame + 40 * MCC_MSECOND) {
      host.now = MAX (host.now, next);
      host_release (&host);
      last = host.now;
    }
    if (f >= 30)
      sum += mcc_time_to_seconds (last - frame) / 10.0;
  }
  host_clear (&host);
  return sum;
}

/* A picture in slices is one; a small one does not wait longer than at the target's rate; a pause
 * is no long picture; who asks for a high factor has it. */
static void
test_even_pictures (void)
{
  double whole = mean_span (1.5, 1.0, 1, 0, false);

  g_test_message ("%.1f ms; of half the size %.1f, in slices %.1f and %.1f, after a pause %.1f, "
                  "at 4 times the target %.1f",
      1e3 * whole, 1e3 * mean_span (1.5, 0.5, 1, 0, false),
      1e3 * mean_span (1.5, 1.0, 4, MCC_MSECOND, false),
      1e3 * mean_span (1.5, 1.0, 4, 4 * MCC_MSECOND, false), 1e3 * mean_span (1.5, 1.0, 1, 0, true),
      1e3 * mean_span (4.0, 1.0, 1, 0, false));
  g_assert_cmpfloat (whole, >=, 0.033);
  g_assert_cmpfloat (mean_span (1.5, 0.5, 1, 0, false), <=, 0.021);
  g_assert_cmpfloat (mean_span (1.5, 1.0, 4, MCC_MSECOND, false), >=, 0.9 * whole);
  g_assert_cmpfloat (mean_span (1.5, 1.0, 4, 4 * MCC_MSECOND, false), >=, 0.9 * whole);
  g_assert_cmpfloat (mean_span (1.5, 1.0, 1, 0, true), >=, 0.9 * whole);
  g_assert_cmpfloat (mean_span (4.0, 1.0, 1, 0, false), <=, 0.012);
}

/* Frames' times, of packets that come one by one. */
static void
test_frames (void)
{
  MccPacingFrames frames;
  double mean_s = 0.0;
  MccTime now = START;

  mcc_pacing_frames_init (&frames);
  g_assert_cmpfloat (mcc_pacing_frames_handle (&frames, now), ==, 0.0);
  for (guint f = 0; f < 50; f++) /* 4 ms each, 250 a second */
    mean_s = mcc_pacing_frames_handle (&frames, now += 4 * MCC_MSECOND);
  g_assert_cmpfloat (mean_s, >, 0.02);
  g_assert_cmpfloat (mean_s, <, 0.03);
  for (guint f = 0; f < 100; f++) { /* 25 a second, 30 a second */
    MccTime next = now + (f % 2 ? 40 : 33) * MCC_MSECOND;
    for (guint k = 0; k < 6; k++)
      mean_s = mcc_pacing_frames_handle (&frames, now + k * 3 * MCC_MSECOND);
    now = next;
  }
  g_assert_cmpfloat_with_epsilon (mean_s, 0.0365, 0.002);
  mean_s = mcc_pacing_frames_handle (&frames, now + 10 * MCC_SECOND);
  g_assert_cmpfloat (mean_s, <=, 0.0365 + 0.004);
  for (guint f = 0; f < 50; f++)
    mean_s = mcc_pacing_frames_handle (&frames, now += 200 * MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (mean_s, 0.05, 0.001);
}

/* Of what an RTT carries a burst is a small part; where none is known they are as where nobody
 * limits. */
static void
test_bursts (void)
{
  static const unsigned table[][2] = { { 0, 5 }, { 1, 1 }, { 20, 1 }, { 60, 1 }, { 110, 2 },
    { 200, 4 }, { 260, 5 }, { 900, 5 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    MccPacing pacing = mcc_pacing_beside (table[i][0] * MCC_MSECOND);
    g_assert_true (pacing.even);
    g_assert_cmpuint (pacing.burst, ==, table[i][1] * MCC_MSECOND);
  }
}

/* One that waits for the next waits in vain where none comes, but no longer than it may; flushed,
 * it is forgotten. */
static void
test_pair_of_one (void)
{
  MccPacerConfig config = mcc_pacer_config_default;
  Host host;

  config.pacing.pairs = MCC_PAIRS_APART;
  host_init (&host, &config, 100000);
  host_frame (&host, 500, true);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), ==, 1);
  host_run (&host, host.now + MCC_PACER_HOLD + 1);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), ==, 0);
  g_assert_cmpfloat (host.delay_max, <=, 1e-9 * (double)MCC_PACER_HOLD + 1e-6);
  host_run (&host, host.now + 2 * MCC_SECOND);
  host_frame (&host, 500, true);
  mcc_pacer_clear (host.pacer);
  host.next = host.queued->len;
  g_assert_cmpuint (mcc_pacer_next_timeout (host.pacer), ==, MCC_TIME_NONE);
  host_clear (&host);
}

/* When the newest packet has left, after a picture of @packets full ones in a lane of 100 kb/s. */
static MccTime
hasty_picture (unsigned packets, uint64_t most_bps)
{
  Host host;

  host_init (&host, NULL, 100000);
  mcc_pacer_set_haste (host.pacer, MCC_PACER_LAYER_DELAY, most_bps);
  MccTime began = host.now, next;
  host_frame (&host, packets * MTU, true);
  while ((next = mcc_pacer_next_timeout (host.pacer)) != MCC_TIME_NONE) {
    host.now = MAX (host.now, next);
    guint before = host.next;
    host.next += mcc_pacer_release (host.pacer, host.now);
    g_assert_cmpuint (host.next, >, before);
  }
  MccTime took = host.now - began;
  host_clear (&host);
  return took;
}

/* A layer's picture leaves within its time where the rate of all is enough, evenly; a key unit, for
 * which it is not, at the rate of all; and what comes then at its own again. */
static void
test_haste (void)
{
  static const struct {
    unsigned packets;
    uint64_t most_bps;
    unsigned least_ms, most_ms;
  } table[] = {
    { 3, 2000000, 20, 40 },    /* 29 kbit */
    { 10, 2000000, 30, 40 },   /* 2.4 Mb/s are enough for it, 3 are allowed */
    { 25, 2000000, 70, 90 },   /* 240 kbit at 3 Mb/s */
    { 3, 200000, 55, 65 },     /* at 300 kb/s: 0, 32 and 64 ms */
    { 100, 2000000, 140, 150 } /* the bound */
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    MccTime took = hasty_picture (table[row].packets, table[row].most_bps);
    g_test_message ("%u packets: %.1f ms", table[row].packets, (double)took / 1e6);
    g_assert_cmpuint (took, >=, table[row].least_ms * MCC_MSECOND);
    g_assert_cmpuint (took, <=, table[row].most_ms * MCC_MSECOND);
  }
}

/* It was for what was queued: afterwards the target rules, and without haste all the time. */
static void
test_haste_ends (void)
{
  Host host;

  host_init (&host, NULL, 1000000);
  mcc_pacer_set_haste (host.pacer, MCC_PACER_LAYER_DELAY, 4000000);
  host_frame (&host, 20 * MTU, true);
  host_run (&host, host.now + MCC_PACER_LAYER_DELAY);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), ==, 0);
  host_run (&host, host.now + MCC_SECOND);
  host_frame (&host, 4 * MTU, true); /* 38 kbit at 1.5 Mb/s: 26 ms; in 40 ms they need 1 Mb/s */
  host_run (&host, host.now + 15 * MCC_MSECOND);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), >, 0);
  host_run (&host, host.now + 15 * MCC_MSECOND);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), ==, 0);
  host_frame (&host, 20 * MTU, true);
  mcc_pacer_set_haste (host.pacer, 0, 0);
  host_run (&host, host.now + MCC_PACER_LAYER_DELAY);
  g_assert_cmpuint (mcc_pacer_queued_packets (host.pacer), >, 10);
  host_clear (&host);
}

/* The reported delay is the mean of the last second. */
static void
test_delay (void)
{
  Host host;

  host_init (&host, NULL, 1000000);
  g_assert_cmpuint (mcc_pacer_delay (host.pacer), ==, 0);
  host_trace (&host, 1000000, 30, 1.0, true);
  double mean = host.delay_sum / host.next;
  g_assert_cmpfloat_with_epsilon (
      mcc_time_to_seconds (mcc_pacer_delay (host.pacer)), mean, 0.2 * mean);
  host_clear (&host);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pacer/pairs", test_pairs);
  g_test_add_func ("/pacer/pair-of-one", test_pair_of_one);
  g_test_add_func ("/pacer/even", test_even);
  g_test_add_func ("/pacer/even/pictures", test_even_pictures);
  g_test_add_func ("/pacer/even/frames", test_frames);
  g_test_add_func ("/pacer/bursts-are-a-small-part-of-the-rtt", test_bursts);
  g_test_add_func ("/pacer/mean-30-ms-max-150-ms-bursts-5-ms", test_trace);
  g_test_add_func ("/pacer/a-layer-hurries-as-far-as-the-rate-of-all-allows", test_haste);
  g_test_add_func ("/pacer/haste-ends-with-the-queue", test_haste_ends);
  g_test_add_func ("/pacer/overload-keeps-the-bound-and-counts", test_overload);
  g_test_add_func ("/pacer/pressure-recovers-in-a-second", test_pressure);
  g_test_add_func ("/pacer/rate-whatever-the-timer", test_rate);
  g_test_add_func ("/pacer/idle-first-packet-at-once", test_idle);
  g_test_add_func ("/pacer/plans-a-millisecond-early", test_plans_early);
  g_test_add_func ("/pacer/stalled-host", test_stalled_host);
  g_test_add_func ("/pacer/coarse-timer", test_coarse_timer);
  g_test_add_func ("/pacer/changes-keep-the-bound", test_changes);
  g_test_add_func ("/pacer/clear", test_clear);
  g_test_add_func ("/pacer/delay-is-the-mean", test_delay);
  return g_test_run ();
}
