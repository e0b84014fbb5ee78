/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emutopology.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START (UINT64_C (7) * EMU_SECOND)

static EmuRedConfig
config_new (void)
{
  return (EmuRedConfig){ .min = 10, .max = 30, .max_p = 0.1, .weight = 0.002, .gentle = true };
}

static EmuRedVerdict
arrive (EmuRed *red, const EmuRedConfig *config, double queued, EmuRng *rng)
{
  return emu_red_arrive (red, config, queued, 50, 1000, 0.0, 8e6, rng);
}

/* After n arrivals that find q: q (1 - (1 - w)^n). */
static void
test_average (void)
{
  static const uint32_t counts[] = { 1, 10, 100, 1000, 5000 };
  EmuRedConfig config = config_new ();
  EmuRng rng = { 1 };

  for (size_t r = 0; r < G_N_ELEMENTS (counts); r++) {
    EmuRed red = { 0 };
    for (uint32_t i = 0; i < counts[r]; i++)
      g_assert_cmpint (arrive (&red, &config, 8.0, &rng), ==, EMU_RED_PASS);
    g_assert_cmpfloat_with_epsilon (
        red.average, 8.0 * (1.0 - pow (1.0 - config.weight, counts[r])), 1e-9);
  }
}

/* An idle link for 0.1 s of 8 Mb/s: as 100 packets that find nothing. */
static void
test_idle (void)
{
  EmuRedConfig config = config_new ();
  EmuRed red = { .average = 20.0 };
  EmuRng rng = { 1 };

  emu_red_arrive (&red, &config, 0.0, 0, 1000, 0.1, 8e6, &rng);
  g_assert_cmpfloat_with_epsilon (red.average, 20.0 * pow (1.0 - config.weight, 101), 1e-9);
}

/* The mean of p_a = p / (2 - n p) from n p = 1 on: 1.5 / p, less half a packet where 1 / p is
 * whole. */
static double
expected_gap (double p)
{
  double left = 1.0, mean = 0.0;

  for (int n = 1; left > 1e-12; n++) {
    mean += left;
    if (n * p >= 1.0 - 1e-12)
      left *= n * p < 2.0 && p / (2.0 - n * p) < 1.0 ? 1.0 - p / (2.0 - n * p) : 0.0;
  }
  return mean;
}

/* Weight 1: the average is what is there, so p_b is known; gaps are uniform in 1/p_b .. 2/p_b. */
static void
test_gaps (void)
{
  static const struct {
    double queued, p;
    bool in_bytes;
  } rows[] = {
    { 20.0, 0.05, false },
    { 29.99, 0.1 * 19.99 / 20.0, false },
    { 30.0, 0.1, false },
    { 45.0, 0.55, false },
    { 12.0, 0.01, false },
    { 20000.0, 0.05, true },
  };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    EmuRedConfig config = config_new ();
    EmuRng rng = { r + 1 };
    EmuRed red = { 0 };
    uint32_t gap = 0, picks = 0, shortest = UINT32_MAX, longest = 0;
    uint64_t sum = 0;

    config.weight = 1.0;
    config.in_bytes = rows[r].in_bytes;
    if (config.in_bytes) {
      config.min = 10000;
      config.max = 30000;
    }
    while (picks < 4000) {
      EmuRedVerdict verdict = arrive (&red, &config, rows[r].queued, &rng);
      g_assert_cmpint (verdict, !=, EMU_RED_DROP);
      gap++;
      if (verdict == EMU_RED_PICK) {
        if (picks++ > 0) { /* the first one's gap has the step over min in it */
          shortest = MIN (shortest, gap);
          longest = MAX (longest, gap);
          sum += gap;
        }
        gap = 0;
      }
    }
    g_assert_cmpfloat (shortest, >=, floor (1.0 / rows[r].p));
    g_assert_cmpfloat (longest, <=, ceil (2.0 / rows[r].p));
    g_assert_cmpfloat_with_epsilon (
        (double)sum / (picks - 1), expected_gap (rows[r].p), 0.02 * expected_gap (rows[r].p));
  }
}

static void
test_limits (void)
{
  static const struct {
    double queued;
    bool gentle;
    EmuRedVerdict never, always;
  } rows[] = {
    { 59.9, true, EMU_RED_DROP, -1 },
    { 60.0, true, -1, EMU_RED_DROP },
    { 30.0, false, -1, EMU_RED_DROP },
    { 29.9, false, EMU_RED_DROP, -1 },
    { 9.9, true, EMU_RED_PICK, EMU_RED_PASS },
  };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    EmuRedConfig config = config_new ();
    EmuRng rng = { 1 };
    EmuRed red = { 0 };

    config.weight = 1.0;
    config.gentle = rows[r].gentle;
    for (int i = 0; i < 200; i++) {
      EmuRedVerdict verdict = arrive (&red, &config, rows[r].queued, &rng);
      if ((int)rows[r].always >= 0)
        g_assert_cmpint (verdict, ==, rows[r].always);
      g_assert_cmpint (verdict, !=, rows[r].never);
    }
  }
}

/* An IPv4 or IPv6 packet with these ECN bits. */
static EmuPacket *
packet_new (int version, uint8_t ecn)
{
  uint8_t data[1000] = { 0 };
  EmuAddress from, to;

  g_assert_true (emu_address_parse (&from, "10.90.0.1"));
  g_assert_true (emu_address_parse (&to, "10.90.0.2"));
  if (version == 4)
    emu_udp_wrap (data, &from, &to, 1, 2, data + 28, sizeof data - 28);
  data[0] = version == 4 ? 0x45 : 0x60;
  if (version == 6) {
    data[1] = (uint8_t)(0x80 | ecn << 4 | 5); /* some DSCP, flow label 5... */
  } else {
    uint32_t checksum = (uint32_t)(data[10] << 8 | data[11]);
    data[1] = (uint8_t)(0xb8 | ecn);
    checksum = (~checksum & 0xffff) + data[1];
    checksum = ~((checksum & 0xffff) + (checksum >> 16)) & 0xffff;
    data[10] = (uint8_t)(checksum >> 8);
    data[11] = (uint8_t)checksum;
  }
  return emu_packet_new (data, sizeof data);
}

static uint32_t
header_sum (const uint8_t *data)
{
  uint32_t sum = 0;

  for (int i = 0; i < 20; i += 2)
    sum += (uint32_t)(data[i] << 8 | data[i + 1]);
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

static void
test_mark (void)
{
  for (uint8_t ecn = 0; ecn < 4; ecn++) {
    EmuPacket *packet = packet_new (4, ecn);
    g_assert_cmpuint (header_sum (packet->data), ==, 0xffff);
    g_assert_cmpint (emu_ip_mark (packet->data), ==, ecn != 0);
    g_assert_cmpuint (packet->data[1], ==, 0xb8 | (ecn ? 3 : 0));
    g_assert_cmpuint (header_sum (packet->data), ==, 0xffff);
    free (packet);
    packet = packet_new (6, ecn);
    g_assert_cmpint (emu_ip_mark (packet->data), ==, ecn != 0);
    g_assert_cmpuint ((packet->data[1] >> 4) & 3, ==, ecn ? 3 : 0);
    g_assert_cmpuint (packet->data[1] & 0x0f, ==, 5);
    g_assert_cmpuint (packet->data[1] >> 6, ==, 2);
    free (packet);
  }
}

/* Twice what the link carries: whether it is marked or dropped is the packet's and `ecn`'s. */
static void
test_link (void)
{
  static const struct {
    uint8_t ecn;
    bool marks;
  } rows[] = { { 2, true }, { 1, true }, { 0, true }, { 2, false } };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    EmuLinkConfig config;
    EmuLink link;
    EmuPacket *packet;
    uint64_t marked = 0;
    char error[200];

    emu_link_config_init (&config);
    config.rate_bps = 8e6;
    config.queue_packets = 1000;
    g_assert_true (emu_link_config_set (&config, "red=10p,30p,0.1,0.02", error));
    config.red.ecn = rows[r].marks;
    emu_link_init (&link, &config, 3);
    for (uint32_t i = 0; i < 50; i++) { /* beyond max, the mean below 2 max */
      emu_link_send (&link, packet_new (4, rows[r].ecn), START);
    }
    for (uint32_t i = 0; i < 2000; i++) { /* as much as leaves */
      EmuTime now = START + (i + 1) * EMU_MSECOND;
      emu_link_handle_timeout (&link, now);
      while ((packet = emu_link_poll (&link, now))) {
        marked += (packet->data[1] & 3) == 3;
        free (packet);
      }
      emu_link_send (&link, packet_new (4, rows[r].ecn), now);
    }
    if (rows[r].ecn && rows[r].marks) {
      g_assert_cmpuint (link.stats.marks, >, 50);
      g_assert_cmpuint (marked, >, 0);
      g_assert_cmpuint (marked, <=, link.stats.marks);
      g_assert_cmpuint (link.stats.drops_queue, ==, 0);
    } else {
      g_assert_cmpuint (link.stats.marks, ==, 0);
      g_assert_cmpuint (marked, ==, 0);
      g_assert_cmpuint (link.stats.drops_queue, >, 10);
    }
    emu_link_clear (&link);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/red/average/is-exponential", test_average);
  g_test_add_func ("/red/average/decays-while-idle", test_idle);
  g_test_add_func ("/red/gaps/are-uniform-from-one-to-two-by-p", test_gaps);
  g_test_add_func ("/red/limits/min-max-gentle", test_limits);
  g_test_add_func ("/red/mark/ecn-capable-only-checksum-right", test_mark);
  g_test_add_func ("/red/link/marks-or-drops", test_link);
  return g_test_run ();
}
