/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * bench_flood: what a flood of forged SSRCs costs a sender: each compound (RR, SDES, APP report)
 * has a new SSRC and comes from a new address, at 1000 a second of virtual time, and goes through
 * gstmccscreen and the ASMP sender's core, as in an element.
 *
 *   bench_flood [SSRCS]     1 000 000 by default; prints figures as `name value` lines
 *
 * Fails above the budget: memory + 4 MiB, 99 % handled within 20 us, 5 % of a core at 1000/s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gstmccscreen.h"
#include "mccasmpsender.h"

#define EPOCH (1000 * MCC_SECOND)
#define PER_S 1000
#define BUDGET_BYTES (4 * 1024 * 1024)
#define BUDGET_P99_NS 20000
#define BUDGET_CORE 0.05
#define BINS 20000 /* of 10 ns */
#define BIN_NS 10

typedef struct {
  MccAsmpSender *sender;
  MccTime now;
} Host;

static void
drain (Host *host)
{
  MccSenderAction action;
  MccTraceEvent event;

  while (mcc_asmp_sender_poll (host->sender, &action)) {
  }
  while (mcc_asmp_sender_poll_trace (host->sender, &event)) {
  }
}

static void
on_app (gpointer user, const MccApp *app, const MccAddress *from)
{
  Host *host = user;

  mcc_asmp_sender_handle_report (host->sender, app->ssrc, &app->report, from, host->now);
  drain (host);
}

static void
on_dropped (gpointer user, MccDrop drop, guint32 ssrc)
{
  Host *host = user;

  mcc_asmp_sender_handle_dropped (host->sender, drop, ssrc, host->now);
  drain (host);
}

static void
put32 (guint8 *data, guint32 value)
{
  data[0] = (guint8)(value >> 24);
  data[1] = (guint8)(value >> 16);
  data[2] = (guint8)(value >> 8);
  data[3] = (guint8)value;
}

/* RR without blocks, SDES with a CNAME, our report. */
static gsize
compound (guint8 *data, guint32 ssrc)
{
  static const guint8 rr[] = { 0x80, 201, 0, 1 }, sdes[] = { 0x81, 202, 0, 5 };
  MccApp app = { .ssrc = ssrc,
    .subtype = MCC_APP_REPORT,
    .report = { .number = 1, .rate_bps = 1000, .received_bps = 1000, .rtt = 40 * MCC_MSECOND } };

  memset (data, 0, 32);
  memcpy (data, rr, 4);
  put32 (data + 4, ssrc);
  memcpy (data + 8, sdes, 4);
  put32 (data + 12, ssrc);
  data[16] = 1;
  data[17] = 12;
  memcpy (data + 18, "forger@local", 12);
  return 32 + mcc_app_encode (&app, data + 32, 512);
}

static guint64
resident_bytes (void)
{
  unsigned long size = 0, resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");

  if (!file || fscanf (file, "%lu %lu", &size, &resident) != 2)
    resident = 0;
  if (file)
    fclose (file);
  return (guint64)resident * (guint64)sysconf (_SC_PAGESIZE);
}

static guint64
nanoseconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (guint64)now.tv_sec * 1000000000u + (guint64)now.tv_nsec;
}

static guint64
percentile (const guint32 *bins, guint64 count, double part)
{
  guint64 sum = 0;

  for (guint i = 0; i < BINS; i++)
    if ((double)(sum += bins[i]) >= part * (double)count)
      return (guint64)(i + 1) * BIN_NS;
  return (guint64)BINS * BIN_NS;
}

int
main (int argc, char **argv)
{
  static guint32 bins[BINS];
  static const GstMccScreenFuncs funcs = { .app = on_app, .dropped = on_dropped };
  guint32 ssrcs = argc > 1 ? (guint32)strtoul (argv[1], NULL, 10) : 1000000;
  MccAsmpSenderConfig config = { .variant = MCC_VARIANT_ENHANCED,
    .ssrc = 7,
    .seed = 1,
    .min_bps = 100000,
    .max_bps = 10000000,
    .start_bps = 150000 };
  Host host = { .sender = mcc_asmp_sender_new (&config, EPOCH), .now = EPOCH };
  GstMccScreen *screen = gst_mcc_screen_new (&funcs, &host, 99);
  guint8 data[512], forward[GST_MCC_SCREEN_BYTES];
  guint64 before = resident_bytes (), total = 0, largest = 0, grown, p50, p99;
  MccAsmpSenderStats stats;

  gst_mcc_screen_set_own (screen, &(guint32){ 7 }, 1, 5005);
  for (guint32 i = 0; i < ssrcs; i++) {
    MccAddress from = { .family = 4, .port = 5005 };
    gsize size = compound (data, 0x40000000u + i);
    guint64 start, took;

    put32 (from.bytes, 0x0a000000u + i);
    host.now = EPOCH + i * (MCC_SECOND / PER_S);
    start = nanoseconds ();
    gst_mcc_screen_handle (screen, data, size, &from, host.now, forward);
    if (mcc_asmp_sender_next_timeout (host.sender) <= host.now) {
      mcc_asmp_sender_handle_timeout (host.sender, host.now);
      drain (&host);
    }
    took = nanoseconds () - start;
    total += took;
    largest = MAX (largest, took);
    bins[MIN (took / BIN_NS, BINS - 1)]++;
  }
  grown = resident_bytes () - before;
  p50 = percentile (bins, ssrcs, 0.5);
  p99 = percentile (bins, ssrcs, 0.99);
  mcc_asmp_sender_get_stats (host.sender, host.now, &stats);
  printf ("ssrcs %u\ngrown_kib %.0f\nmean_us %.2f\np50_us %.2f\np99_us %.2f\nlargest_us %.0f\n"
          "core_percent %.2f\nmembers %u\nreceivers %u\n",
      ssrcs, (double)grown / 1024.0, (double)total / ssrcs / 1e3, (double)p50 / 1e3,
      (double)p99 / 1e3, (double)largest / 1e3, (double)total / ssrcs * PER_S / 1e7,
      mcc_asmp_sender_members (host.sender), stats.receivers);
  gst_mcc_screen_free (screen);
  mcc_asmp_sender_free (host.sender);
  if (grown > BUDGET_BYTES || p99 > BUDGET_P99_NS
      || (double)total / ssrcs * PER_S > BUDGET_CORE * 1e9 || stats.receivers > 0) {
    printf ("over the budget\n");
    return 1;
  }
  return 0;
}
