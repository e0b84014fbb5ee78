/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "prop.h"

#include "mccloss.h"

static const MccLossMeasure *const measures[] = {
  &mcc_loss_interval,
  &mcc_loss_lip,
  &mcc_loss_lap,
  &mcc_loss_window,
};

#define START (UINT64_C (100000))
#define EPOCH (UINT64_C (5000) * MCC_SECOND)

typedef struct {
  uint64_t seq;
  uint32_t bytes;
  MccTime arrival;
  bool report; /* a report interval ends behind it */
} Arrival;

typedef struct {
  MccLossConfig config;
  MccTime rtt;
  GArray *arrivals;
} Stream;

/* Bursts of loss, reordering up to about 40 packets, sizes and pauses of any kind; jumps beyond
 * what is loss when @jumps. */
static Stream
any_stream (MccRng *rng, bool jumps)
{
  static const unsigned histories[] = { 1, 3, 8, 32, MCC_LOSS_HISTORY_MAX };
  Stream stream = {
    .config = { .history = histories[prop_below (rng, 5)],
        .weighted_impact = prop_below (rng, 2),
        .window = (unsigned)prop_below (rng, 6),
        .virtual_bytes = prop_below (rng, 2) ? 1000 : 0,
        .discounting = prop_below (rng, 2) },
    .rtt = 1 + prop_below (rng, 500 * MCC_MSECOND),
    .arrivals = g_array_new (FALSE, FALSE, sizeof (Arrival)),
  };
  unsigned packets = 200 + (unsigned)prop_below (rng, 1800);
  double lossy = prop_log_between (rng, 1e-3, 0.5), burst = prop_between (rng, 0.0, 0.9);
  double late = prop_below (rng, 2) ? prop_between (rng, 0.0, 0.2) : 0.0;
  bool losing = false;
  uint64_t seq = START;
  MccTime time = EPOCH;

  for (unsigned i = 0; i < packets; i++, seq++) {
    if (jumps && mcc_rng_uniform (rng) < 0.002)
      seq += prop_below (rng, 200000) - 100000;
    time += (MccTime)prop_log_between (rng, 1e3, 1e8);
    losing = i > 0 && mcc_rng_uniform (rng) < (losing ? burst : lossy);
    if (losing)
      continue;
    Arrival arrival = { .seq = seq,
      .bytes = 40 + (uint32_t)prop_below (rng, 1460),
      .arrival = time,
      .report = mcc_rng_uniform (rng) < 0.01 };
    g_array_append_val (stream.arrivals, arrival);
  }
  /* Late ones: the number moves back, the times stay. */
  for (unsigned i = 1; i < stream.arrivals->len; i++) {
    unsigned to = i + (unsigned)prop_below (rng, 40);
    if (mcc_rng_uniform (rng) >= late || to >= stream.arrivals->len)
      continue;
    Arrival *a = &g_array_index (stream.arrivals, Arrival, 0);
    uint64_t moved = a[i].seq;
    for (unsigned k = i; k < to; k++)
      a[k].seq = a[k + 1].seq;
    a[to].seq = moved;
  }
  return stream;
}

static void
handle (MccLoss *loss, const Stream *stream, unsigned i, uint64_t seq_shift, MccTime time_shift)
{
  const Arrival *a = &g_array_index (stream->arrivals, Arrival, i);
  mcc_loss_handle_packet (loss, a->seq + seq_shift, a->bytes, a->arrival + time_shift, stream->rtt);
  if (a->report)
    mcc_loss_handle_interval (loss);
}

static void
assert_same (const MccLoss *a, const MccLoss *b, MccTime time_shift)
{
  MccTime event_a = mcc_loss_last_event (a), event_b = mcc_loss_last_event (b);

  g_assert_cmpfloat (mcc_loss_ratio (a), ==, mcc_loss_ratio (b));
  g_assert_cmpuint (mcc_loss_packets_received (a), ==, mcc_loss_packets_received (b));
  g_assert_cmpuint (mcc_loss_packets_expected (a), ==, mcc_loss_packets_expected (b));
  g_assert_cmpuint (mcc_loss_packets_lost (a), ==, mcc_loss_packets_lost (b));
  g_assert_cmpuint (mcc_loss_reordered (a), ==, mcc_loss_reordered (b));
  g_assert_cmpuint (mcc_loss_events (a), ==, mcc_loss_events (b));
  g_assert_cmpfloat (mcc_loss_mean_packet_bytes (a), ==, mcc_loss_mean_packet_bytes (b));
  if (event_a == MCC_TIME_NONE)
    g_assert_cmpuint (event_b, ==, MCC_TIME_NONE);
  else
    g_assert_cmpuint (event_a + time_shift, ==, event_b);
}

static void
shifts_change_nothing (MccRng *rng)
{
  Stream stream = any_stream (rng, prop_below (rng, 4) == 0);
  uint64_t seq_shift = mcc_rng_next (rng);
  MccTime time_shift = prop_below (rng, 1000000 * MCC_SECOND);

  for (unsigned m = 0; m < G_N_ELEMENTS (measures); m++) {
    MccLoss *a = mcc_loss_new (measures[m], &stream.config);
    MccLoss *b = mcc_loss_new (measures[m], &stream.config);
    for (unsigned i = 0; i < stream.arrivals->len; i++) {
      handle (a, &stream, i, 0, 0);
      handle (b, &stream, i, seq_shift, time_shift);
      assert_same (a, b, time_shift);
      g_assert_cmpuint (mcc_loss_duplicates (a), ==, mcc_loss_duplicates (b));
      g_assert_cmpuint (mcc_loss_resyncs (a), ==, mcc_loss_resyncs (b));
    }
    mcc_loss_free (a);
    mcc_loss_free (b);
  }
  g_array_unref (stream.arrivals);
}

static void
duplicates_are_no_ops (MccRng *rng)
{
  Stream stream = any_stream (rng, false);
  double often = prop_between (rng, 0.0, 2.0);

  for (unsigned m = 0; m < G_N_ELEMENTS (measures); m++) {
    MccLoss *a = mcc_loss_new (measures[m], &stream.config);
    MccLoss *b = mcc_loss_new (measures[m], &stream.config);
    for (unsigned i = 0; i < stream.arrivals->len; i++) {
      handle (a, &stream, i, 0, 0);
      handle (b, &stream, i, 0, 0);
      for (double n = often; n > 0.0 && mcc_rng_uniform (rng) < n; n -= 1.0) {
        const Arrival *now = &g_array_index (stream.arrivals, Arrival, i);
        const Arrival *old
            = &g_array_index (stream.arrivals, Arrival, (unsigned)prop_below (rng, i + 1));
        if (old->seq < START)
          continue;
        mcc_loss_handle_packet (b, old->seq, old->bytes, now->arrival, stream.rtt);
      }
      assert_same (a, b, 0);
    }
    mcc_loss_free (a);
    mcc_loss_free (b);
  }
  g_array_unref (stream.arrivals);
}

/* At every moment: a ratio is one, and every expected packet is received, lost or open. */
static void
always_consistent (MccRng *rng)
{
  Stream stream = any_stream (rng, true);

  for (unsigned m = 0; m < G_N_ELEMENTS (measures); m++) {
    MccLoss *loss = mcc_loss_new (measures[m], &stream.config);
    for (unsigned i = 0; i < stream.arrivals->len; i++) {
      handle (loss, &stream, i, 0, 0);
      if (prop_below (rng, 100) == 0)
        mcc_loss_seed (loss, prop_below (rng, 4) ? prop_log_between (rng, 1e-14, 2.0) : 0.0);
      if (prop_below (rng, 20) == 0)
        mcc_loss_extend_event (
            loss, prop_below (rng, 2) ? MCC_TIME_NONE : EPOCH + prop_below (rng, 100 * MCC_SECOND));
      double ratio = mcc_loss_ratio (loss);
      g_assert_true (ratio >= 0.0 && ratio <= 1.0);
      g_assert_cmpuint (mcc_loss_packets_received (loss) + mcc_loss_packets_lost (loss), <=,
          mcc_loss_packets_expected (loss));
    }
    mcc_loss_free (loss);
  }
  g_array_unref (stream.arrivals);
}

/* Whatever the numbers and times are, nothing breaks. */
static void
survives_anything (MccRng *rng)
{
  MccLossConfig config = mcc_loss_config_default;
  config.virtual_bytes = (uint32_t)prop_below (rng, 3) * 500;

  for (unsigned m = 0; m < G_N_ELEMENTS (measures); m++) {
    MccLoss *loss = mcc_loss_new (measures[m], &config);
    uint64_t seq = mcc_rng_next (rng);
    for (unsigned i = 0; i < 2000; i++) {
      uint64_t pick = prop_below (rng, 8);
      seq = pick == 0 ? mcc_rng_next (rng) : seq + (mcc_rng_next (rng) >> (8 * pick + 7));
      mcc_loss_handle_packet (loss, seq,
          (uint32_t)(mcc_rng_next (rng) >> (32 + prop_below (rng, 32))),
          mcc_rng_next (rng) >> prop_below (rng, 64), mcc_rng_next (rng) >> prop_below (rng, 64));
      if (prop_below (rng, 50) == 0)
        mcc_loss_handle_interval (loss);
      double ratio = mcc_loss_ratio (loss);
      g_assert_true (ratio >= 0.0 && ratio <= 1.0);
    }
    mcc_loss_free (loss);
  }
}

/* All losses repaired before their events leave the history: as if nothing had been lost. */
static void
repairs_restore (MccRng *rng)
{
  MccLossConfig config = mcc_loss_config_default;
  uint64_t lost[64];
  unsigned num_lost = 0;
  double p = prop_log_between (rng, 1e-3, 0.1);

  for (unsigned m = 0; m < G_N_ELEMENTS (measures); m++) {
    MccLoss *loss = mcc_loss_new (measures[m], &config);
    num_lost = 0;
    MccTime time = EPOCH;
    uint64_t seq = START;
    for (unsigned i = 0; i < 1000; i++, seq++, time += MCC_MSECOND) {
      if (i > 0 && num_lost < 60 && mcc_rng_uniform (rng) < p)
        lost[num_lost++] = seq;
      else
        mcc_loss_handle_packet (loss, seq, 1000, time, 20 * MCC_MSECOND);
    }
    while (num_lost > 0) {
      unsigned k = (unsigned)prop_below (rng, num_lost);
      mcc_loss_handle_packet (loss, lost[k], 1000, time, 20 * MCC_MSECOND);
      lost[k] = lost[--num_lost];
    }
    mcc_loss_handle_interval (loss);
    g_assert_cmpfloat (mcc_loss_ratio (loss), ==, 0.0);
    g_assert_cmpuint (mcc_loss_events (loss), ==, 0);
    g_assert_cmpuint (mcc_loss_packets_lost (loss), ==, 0);
    g_assert_cmpuint (mcc_loss_packets_received (loss), ==, mcc_loss_packets_expected (loss));
    mcc_loss_free (loss);
  }
}

typedef struct {
  double ratio; /* mean over the stream */
  double lost_per_event;
  double packets_per_event;
} Bernoulli;

/* @n packets per round-trip time, each lost with probability @p. */
static Bernoulli
bernoulli (const MccLossMeasure *measure, MccRng *rng, double p, unsigned n, unsigned packets)
{
  MccLossConfig config = mcc_loss_config_default;
  config.history = MCC_LOSS_HISTORY_MAX;
  MccLoss *loss = mcc_loss_new (measure, &config);
  const MccTime rtt = 100 * MCC_MSECOND;
  double sum = 0.0;
  unsigned samples = 0;

  for (unsigned i = 0; i < packets; i++) {
    if (i == 0 || mcc_rng_uniform (rng) >= p)
      mcc_loss_handle_packet (loss, START + i, 1000, EPOCH + i * rtt / n, rtt);
    if (i > packets / 4) {
      sum += i % 16 == 0 ? mcc_loss_ratio (loss) : 0.0;
      samples += i % 16 == 0;
    }
  }
  double events = (double)mcc_loss_events (loss);
  Bernoulli result = {
    .ratio = sum / samples,
    .lost_per_event = (double)mcc_loss_packets_lost (loss) / events,
    .packets_per_event = (double)mcc_loss_packets_expected (loss) / events,
  };
  mcc_loss_free (loss);
  return result;
}

static const double ps[] = { 0.01, 0.05, 0.1 };
static const unsigned rates[] = { 1, 2, 4, 8, 16, 32, 64 };

/* Packets enough for some 6000 events: 10 % is then six standard errors. */
static unsigned
enough (double p, unsigned n)
{
  return (unsigned)(6000.0 * (n - 1 + 1.0 / p));
}

/* E[impact] / E[interval] = p at every sending rate, and E[interval] = N - 1 + 1/p (ELM eq. 12). */
static void
lap_measures_p (MccRng *rng)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (ps); i++) {
    for (unsigned k = 0; k < G_N_ELEMENTS (rates); k++) {
      double p = ps[i], n = rates[k];
      Bernoulli b = bernoulli (&mcc_loss_lap, rng, p, rates[k], enough (p, rates[k]));
      g_test_message ("lap p %g n %g: %g", p, n, b.ratio);
      g_assert_cmpfloat (fabs (b.ratio / p - 1.0), <, 0.1);
      g_assert_cmpfloat (fabs (b.packets_per_event / (n - 1.0 + 1.0 / p) - 1.0), <, 0.1);
      g_assert_cmpfloat (fabs (b.lost_per_event / (1.0 + (n - 1.0) * p) - 1.0), <, 0.1);
    }
  }
}

/* p_event = 1 / (N - 1 + 1/p): falls as the sending rate grows. */
static void
lip_falls_with_the_sending_rate (MccRng *rng)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (ps); i++) {
    double before = 1.0;
    for (unsigned k = 0; k < G_N_ELEMENTS (rates); k++) {
      double p = ps[i], n = rates[k];
      Bernoulli b = bernoulli (&mcc_loss_lip, rng, p, rates[k], enough (p, rates[k]));
      double expected = 1.0 / (n - 1.0 + 1.0 / p);
      g_test_message ("lip p %g n %g: %g, expected %g", p, n, b.ratio, expected);
      g_assert_cmpfloat (fabs (b.ratio / expected - 1.0), <, 0.1);
      if (k > 0 && expected < 0.8 * before)
        g_assert_cmpfloat (b.ratio, <, before);
      before = b.ratio;
    }
  }
}

/* Between the two: never above LAP, never below LIP, on the very same losses. */
static void
window_lies_between (MccRng *rng)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (ps); i++) {
    MccRng copies[3] = { *rng, *rng, *rng };
    unsigned n = rates[prop_below (rng, G_N_ELEMENTS (rates))];
    unsigned packets = enough (ps[i], n);
    double lap = bernoulli (&mcc_loss_lap, &copies[0], ps[i], n, packets).ratio;
    double window = bernoulli (&mcc_loss_window, &copies[1], ps[i], n, packets).ratio;
    double lip = bernoulli (&mcc_loss_lip, &copies[2], ps[i], n, packets).ratio;
    g_assert_cmpfloat (window, <=, lap * (1.0 + 1e-9));
    g_assert_cmpfloat (window, >=, lip * 0.95);
    *rng = copies[0];
  }
}

static const struct {
  const char *path;
  PropLaw law;
  unsigned cases;
} laws[] = {
  { "/props/loss/shifts-change-nothing", shifts_change_nothing, 60 },
  { "/props/loss/duplicates-are-no-ops", duplicates_are_no_ops, 60 },
  { "/props/loss/always-consistent", always_consistent, 60 },
  { "/props/loss/survives-anything", survives_anything, 60 },
  { "/props/loss/repairs-restore", repairs_restore, 100 },
  { "/props/loss/lap/measures-p-at-every-sending-rate", lap_measures_p, 1 },
  { "/props/loss/lip/falls-with-the-sending-rate", lip_falls_with_the_sending_rate, 1 },
  { "/props/loss/window/lies-between-lip-and-lap", window_lies_between, 3 },
};

static void
run (gconstpointer data)
{
  const unsigned i = GPOINTER_TO_UINT (data);
  prop_run (laws[i].law, laws[i].cases);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (unsigned i = 0; i < G_N_ELEMENTS (laws); i++)
    g_test_add_data_func (laws[i].path, GUINT_TO_POINTER (i), run);
  return g_test_run ();
}
