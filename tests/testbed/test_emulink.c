/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emulink.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START (UINT64_C (7) * EMU_SECOND)
#define MAX_ARRIVALS 4096

typedef struct {
  EmuTime times[MAX_ARRIVALS];
  uint8_t labels[MAX_ARRIVALS];
  uint32_t n;
} Arrivals;

static EmuLinkConfig
config_new (double rate_bps, EmuTime delay)
{
  EmuLinkConfig config;

  emu_link_config_init (&config);
  config.rate_bps = rate_bps;
  config.delay = delay;
  return config;
}

static void
send (EmuLink *link, uint8_t label, size_t bytes, EmuTime now)
{
  uint8_t data[2048] = { label };

  emu_link_send (link, emu_packet_new (data, bytes), now);
}

/* Runs all events up to `until`. */
static void
run (EmuLink *link, EmuTime until, Arrivals *arrivals)
{
  EmuPacket *packet;
  EmuTime next;

  while ((next = emu_link_next_timeout (link)) <= until) {
    emu_link_handle_timeout (link, next);
    while ((packet = emu_link_poll (link, next))) {
      if (arrivals && arrivals->n < MAX_ARRIVALS) {
        arrivals->times[arrivals->n] = packet->time;
        arrivals->labels[arrivals->n++] = packet->data[0];
      }
      free (packet);
    }
  }
}

static void
test_rate_spacing (void)
{
  static const struct {
    double rate_bps;
    size_t bytes;
    EmuTime spacing;
  } rows[] = {
    { 800e3, 1000, 10 * EMU_MSECOND },
    { 8e6, 100, EMU_MSECOND / 10 },
    { 2e6, 1500, 6 * EMU_MSECOND },
    { 3e6, 1000, 2666667 },
  };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    EmuLinkConfig config = config_new (rows[r].rate_bps, 30 * EMU_MSECOND);
    Arrivals arrivals = { 0 };
    EmuLink link;

    emu_link_init (&link, &config, 1);
    for (uint8_t i = 0; i < 10; i++)
      send (&link, i, rows[r].bytes, START);
    run (&link, START + EMU_SECOND, &arrivals);
    g_assert_cmpuint (arrivals.n, ==, 10);
    for (uint32_t i = 0; i < 10; i++) {
      g_assert_cmpuint (arrivals.labels[i], ==, i);
      g_assert_cmpuint (
          arrivals.times[i], ==, START + (i + 1) * rows[r].spacing + 30 * EMU_MSECOND);
    }
    emu_link_clear (&link);
  }
}

static void
test_rate_unlimited (void)
{
  EmuLinkConfig config = config_new (0.0, 5 * EMU_MSECOND);
  Arrivals arrivals = { 0 };
  EmuLink link;

  emu_link_init (&link, &config, 1);
  for (uint8_t i = 0; i < 200; i++)
    send (&link, i, 1500, START);
  run (&link, START + EMU_SECOND, &arrivals);
  g_assert_cmpuint (arrivals.n, ==, 200);
  g_assert_cmpuint (arrivals.times[199], ==, START + 5 * EMU_MSECOND);
  emu_link_clear (&link);
}

/* 1000 bytes at 800 kb/s take 10 ms; after 5 ms half is left, which takes 10 ms at 400 kb/s, 1 ms
 * at 4 Mb/s and nothing when unlimited. */
static void
test_rate_change_in_packet (void)
{
  static const struct {
    double rate_bps;
    EmuTime first;
    EmuTime second;
  } rows[] = {
    { 400e3, 15 * EMU_MSECOND, 35 * EMU_MSECOND },
    { 4e6, 6 * EMU_MSECOND, 8 * EMU_MSECOND },
    { 0.0, 5 * EMU_MSECOND, 5 * EMU_MSECOND },
  };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    EmuLinkConfig config = config_new (800e3, 0);
    Arrivals arrivals = { 0 };
    EmuLink link;

    emu_link_init (&link, &config, 1);
    send (&link, 0, 1000, START);
    send (&link, 1, 1000, START);
    run (&link, START + 5 * EMU_MSECOND, &arrivals);
    config.rate_bps = rows[r].rate_bps;
    emu_link_configure (&link, &config, START + 5 * EMU_MSECOND);
    run (&link, START + EMU_SECOND, &arrivals);
    g_assert_cmpuint (arrivals.n, ==, 2);
    g_assert_cmpuint (arrivals.times[0], ==, START + rows[r].first);
    g_assert_cmpuint (arrivals.times[1], ==, START + rows[r].second);
    emu_link_clear (&link);
  }
}

/* Offered twice what it carries for 100 s, a link carries its rate, within one packet. */
static void
test_rate_saturated (void)
{
  EmuLinkConfig config = config_new (1e6, 10 * EMU_MSECOND);
  EmuLink link;

  emu_link_init (&link, &config, 1);
  for (EmuTime time = 0; time < 100 * EMU_SECOND; time += 4 * EMU_MSECOND) {
    run (&link, START + time, NULL);
    send (&link, 0, 1000, START + time);
  }
  run (&link, START + 100 * EMU_SECOND, NULL);
  g_assert_cmpfloat (fabs ((double)link.stats.tx_bytes - 1e6 / 8 * 100), <=, 1000.0);
  g_assert_cmpuint (link.stats.in_packets, ==,
      link.stats.tx_packets + link.stats.drops_queue + link.queued_packets
          + (link.sending ? 1 : 0));
  emu_link_clear (&link);
}

static void
test_queue_limits (void)
{
  static const struct {
    uint32_t packets;
    uint64_t bytes;
    uint64_t dropped; /* of 40 packets of 500 bytes at once, one of them on the wire */
  } rows[] = {
    { 20, 0, 19 },
    { 0, 5000, 29 },
    { 0, 5499, 29 },
    { 20, 5000, 29 },
    { 5, 5000, 34 },
    { 0, 0, 0 },
  };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    EmuLinkConfig config = config_new (1e6, 0);
    Arrivals arrivals = { 0 };
    EmuLink link;

    config.queue_packets = rows[r].packets;
    config.queue_bytes = rows[r].bytes;
    emu_link_init (&link, &config, 1);
    for (uint8_t i = 0; i < 40; i++)
      send (&link, i, 500, START);
    g_assert_cmpuint (link.stats.drops_queue, ==, rows[r].dropped);
    run (&link, START + EMU_SECOND, &arrivals);
    g_assert_cmpuint (arrivals.n, ==, 40 - rows[r].dropped);
    for (uint32_t i = 0; i < arrivals.n; i++) /* the tail was dropped, not the head */
      g_assert_cmpuint (arrivals.labels[i], ==, i);
    g_assert_cmpuint (link.queued_packets, ==, 0);
    g_assert_cmpuint (link.queued_bytes, ==, 0);
    emu_link_clear (&link);
  }
}

/* Sends n packets one by one; the loss ratio, and the mean length of runs of lost packets. */
static double
measure_loss (const EmuLinkConfig *config, uint64_t seed, uint32_t n, double *burst)
{
  uint64_t lost = 0, runs = 0, before;
  bool in_run = false;
  EmuLink link;

  emu_link_init (&link, config, seed);
  for (uint32_t i = 0; i < n; i++) {
    before = link.stats.drops_loss;
    send (&link, 0, 100, START + i * EMU_MSECOND);
    run (&link, START + i * EMU_MSECOND, NULL);
    if (link.stats.drops_loss > before) {
      lost++;
      runs += !in_run;
    }
    in_run = link.stats.drops_loss > before;
  }
  g_assert_cmpuint (link.stats.rx_packets + lost, ==, n);
  emu_link_clear (&link);
  if (burst)
    *burst = runs ? (double)lost / (double)runs : 0.0;
  return (double)lost / n;
}

static void
test_loss_bernoulli (void)
{
  static const double ratios[] = { 0.001, 0.01, 0.05, 0.3, 1.0 };
  const uint32_t n = 400000;

  for (size_t r = 0; r < G_N_ELEMENTS (ratios); r++) {
    EmuLinkConfig config = config_new (0.0, 0);
    double sigma = sqrt (ratios[r] * (1.0 - ratios[r]) / n), burst, loss;

    config.loss_ratio = ratios[r];
    loss = measure_loss (&config, 11 + r, n, &burst);
    g_assert_cmpfloat (fabs (loss - ratios[r]), <=, 4.0 * sigma);
    if (ratios[r] < 1.0) /* independent: runs are geometric */
      g_assert_cmpfloat (fabs (burst - 1.0 / (1.0 - ratios[r])), <=, 0.02 / (1.0 - ratios[r]));
  }
}

static void
test_loss_gilbert (void)
{
  static const struct {
    double p, r, bad, good, loss, burst; /* burst 0: not checked */
  } rows[] = {
    { 0.01, 0.25, 1.0, 0.0, 0.01 / 0.26, 4.0 },
    { 0.002, 0.1, 1.0, 0.0, 0.002 / 0.102, 10.0 },
    { 0.02, 0.2, 0.5, 0.01, (0.02 * 0.5 + 0.2 * 0.01) / 0.22, 0.0 },
    { 0.25 * 0.02 / 0.98, 0.25, 1.0, 0.0, 0.02, 4.0 },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    EmuLinkConfig config = config_new (0.0, 0);
    double loss, burst;

    config.gilbert_p = rows[i].p;
    config.gilbert_r = rows[i].r;
    config.gilbert_bad = rows[i].bad;
    config.gilbert_good = rows[i].good;
    loss = measure_loss (&config, 21 + i, 4000000, &burst);
    g_assert_cmpfloat (fabs (loss - rows[i].loss), <=, 0.001);
    if (rows[i].burst > 0.0)
      g_assert_cmpfloat (fabs (burst / rows[i].burst - 1.0), <=, 0.05);
  }
}

static void
test_loss_costs_capacity (void)
{
  EmuLinkConfig config = config_new (800e3, 0);
  Arrivals arrivals = { 0 };
  EmuLink link;

  config.drop_next = 3;
  emu_link_init (&link, &config, 1);
  for (uint8_t i = 0; i < 5; i++)
    send (&link, i, 1000, START);
  run (&link, START + EMU_SECOND, &arrivals);
  g_assert_cmpuint (arrivals.n, ==, 2);
  g_assert_cmpuint (arrivals.labels[0], ==, 3);
  g_assert_cmpuint (arrivals.times[0], ==, START + 40 * EMU_MSECOND);
  g_assert_cmpuint (link.stats.tx_packets, ==, 5);
  g_assert_cmpuint (link.stats.drops_loss, ==, 3);
  emu_link_clear (&link);
}

static void
test_jitter_keeps_order (void)
{
  EmuLinkConfig config = config_new (0.0, 20 * EMU_MSECOND);
  Arrivals arrivals = { 0 };
  EmuTime least = EMU_TIME_NONE, most = 0;
  EmuLink link;

  config.jitter = 8 * EMU_MSECOND;
  emu_link_init (&link, &config, 5);
  for (uint32_t i = 0; i < 250; i++)
    send (&link, (uint8_t)i, 100, START + i * EMU_MSECOND);
  run (&link, START + EMU_SECOND, &arrivals);
  g_assert_cmpuint (arrivals.n, ==, 250);
  for (uint32_t i = 0; i < arrivals.n; i++) {
    EmuTime delay = arrivals.times[i] - (START + i * EMU_MSECOND);
    g_assert_cmpuint (arrivals.labels[i], ==, i);
    least = MIN (least, delay);
    most = MAX (most, delay);
  }
  g_assert_cmpuint (least, >=, 20 * EMU_MSECOND);
  g_assert_cmpuint (most, <=, 28 * EMU_MSECOND);
  g_assert_cmpuint (most - least, >=, 5 * EMU_MSECOND);
  emu_link_clear (&link);
}

static void
test_reorder_overtakes (void)
{
  EmuLinkConfig config = config_new (0.0, 20 * EMU_MSECOND);
  Arrivals arrivals = { 0 };
  uint32_t overtaken = 0;
  EmuLink link;

  config.reorder_ratio = 0.2;
  config.reorder_delay = 5 * EMU_MSECOND;
  emu_link_init (&link, &config, 5);
  for (uint32_t i = 0; i < 250; i++)
    send (&link, (uint8_t)i, 100, START + i * EMU_MSECOND);
  run (&link, START + EMU_SECOND, &arrivals);
  g_assert_cmpuint (arrivals.n, ==, 250);
  g_assert_cmpuint (link.stats.reordered, >, 25);
  g_assert_cmpuint (link.stats.reordered, <, 75);
  for (uint32_t i = 0; i < arrivals.n; i++) {
    EmuTime delay = arrivals.times[i] - (START + arrivals.labels[i] * EMU_MSECOND);
    g_assert_true (delay == 20 * EMU_MSECOND || delay == 25 * EMU_MSECOND);
    overtaken += i > 0 && arrivals.labels[i] < arrivals.labels[i - 1];
  }
  g_assert_cmpuint (overtaken, >, 20);
  emu_link_clear (&link);
}

static void
test_duplicates (void)
{
  EmuLinkConfig config = config_new (0.0, 20 * EMU_MSECOND);
  Arrivals arrivals = { 0 };
  EmuLink link;

  config.duplicate_ratio = 1.0;
  emu_link_init (&link, &config, 5);
  for (uint32_t i = 0; i < 10; i++)
    send (&link, (uint8_t)i, 100, START + i * EMU_MSECOND);
  run (&link, START + EMU_SECOND, &arrivals);
  g_assert_cmpuint (arrivals.n, ==, 20);
  for (uint32_t i = 0; i < 20; i++)
    g_assert_cmpuint (arrivals.labels[i], ==, i / 2);
  g_assert_cmpuint (link.stats.duplicated, ==, 10);
  emu_link_clear (&link);
}

static void
test_down (void)
{
  EmuLinkConfig config = config_new (800e3, 10 * EMU_MSECOND);
  Arrivals arrivals = { 0 };
  EmuLink link;

  emu_link_init (&link, &config, 5);
  send (&link, 0, 1000, START);
  config.up = false;
  emu_link_configure (&link, &config, START + EMU_MSECOND);
  send (&link, 1, 1000, START + EMU_MSECOND);
  config.up = true;
  emu_link_configure (&link, &config, START + 2 * EMU_MSECOND);
  send (&link, 2, 1000, START + 2 * EMU_MSECOND);
  run (&link, START + EMU_SECOND, &arrivals);
  g_assert_cmpuint (arrivals.n, ==, 2); /* what was on the wire arrives */
  g_assert_cmpuint (arrivals.labels[1], ==, 2);
  g_assert_cmpuint (link.stats.drops_down, ==, 1);
  emu_link_clear (&link);
}

static void
test_seed_repeats (void)
{
  EmuLinkConfig config = config_new (0.0, 0);
  double first, again, other;

  config.loss_ratio = 0.1;
  first = measure_loss (&config, 3, 5000, NULL);
  again = measure_loss (&config, 3, 5000, NULL);
  other = measure_loss (&config, 4, 5000, NULL);
  g_assert_cmpfloat (first, ==, again);
  g_assert_cmpfloat (first, !=, other);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/link/rate/spacing-is-8n-over-rate", test_rate_spacing);
  g_test_add_func ("/link/rate/zero-is-unlimited", test_rate_unlimited);
  g_test_add_func ("/link/rate/change-holds-for-bits-not-yet-sent", test_rate_change_in_packet);
  g_test_add_func ("/link/rate/saturated-carries-its-rate", test_rate_saturated);
  g_test_add_func ("/link/queue/drops-the-tail-beyond-its-limit", test_queue_limits);
  g_test_add_func ("/link/loss/bernoulli-is-independent", test_loss_bernoulli);
  g_test_add_func ("/link/loss/gilbert-mean-and-burst", test_loss_gilbert);
  g_test_add_func ("/link/loss/costs-capacity", test_loss_costs_capacity);
  g_test_add_func ("/link/jitter/keeps-order", test_jitter_keeps_order);
  g_test_add_func ("/link/reorder/overtakes", test_reorder_overtakes);
  g_test_add_func ("/link/duplicate/arrives-with-original", test_duplicates);
  g_test_add_func ("/link/down/drops-what-is-offered", test_down);
  g_test_add_func ("/link/seed/repeats", test_seed_repeats);
  return g_test_run ();
}
