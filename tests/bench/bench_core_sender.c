/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * bench_core_sender: what a report costs the ASMP sender of 100 to 10 000 receivers, at 1000
 * reports/s.
 *
 *   bench_core_sender [REPORTS [RECEIVERS]]  time per report
 *   bench_core_sender --instructions     instructions per report: callgrind (valgrind) runs it with
 *                                        two numbers of reports; the difference is the reports'.
 *
 * Fails above the budget: 10 % of a core at 1000 reports/s, 100 us a report.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mccasmpsender.h"
#include "mccjitter.h"
#include "mccrng.h"

#define REPORTS_PER_S 1000
#define EPOCH (1000 * MCC_SECOND)
#define BUDGET_NS 100e3

static const uint32_t groups[] = { 100, 1000, 4096, 10000 };
static uint64_t actions;

static void
drain (MccAsmpSender *sender)
{
  MccSenderAction action;
  MccTraceEvent event;
  while (mcc_asmp_sender_poll (sender, &action))
    actions++;
  while (mcc_asmp_sender_poll_trace (sender, &event)) {
  }
}

/* As a host does: the report, the actions, the time-outs, and packets at the target between. */
static void
run (MccAsmpSender *sender, uint32_t receivers, uint32_t *number, uint32_t first, uint32_t reports)
{
  MccRng rng;
  mcc_rng_init (&rng, first);
  for (uint32_t i = first; i < first + reports; i++) {
    MccTime now = EPOCH + i * (MCC_SECOND / REPORTS_PER_S);
    uint32_t who = i < 2 * receivers ? i / 2 : (uint32_t)(mcc_rng_next (&rng) % receivers);
    MccAddress from = { .family = 4, .port = 5005 };
    memcpy (from.bytes, &who, sizeof who);
    MccAppReport report = { .number = ++number[who],
      .flags = MCC_REPORT_RTT_MEASURED | MCC_REPORT_ECHO,
      .rate_bps = 2000000 + mcc_rng_next (&rng) % 6000000,
      .received_bps = 2000000,
      .loss_ratio = 0.001,
      .rtt = (20 + mcc_rng_next (&rng) % 200) * MCC_MSECOND,
      .echo = mcc_abs_send_time (now - 60 * MCC_MSECOND),
      .hold = 10 * MCC_MSECOND };
    mcc_asmp_sender_handle_report (sender, who, &report, &from, now);
    drain (sender);
    if (i % 10 == 0)
      mcc_asmp_sender_handle_sent (sender, 2, 2400, i, now);
    if (mcc_asmp_sender_next_timeout (sender) <= now) {
      mcc_asmp_sender_handle_timeout (sender, now);
      drain (sender);
    }
  }
}

static uint64_t
instructions (const char *self, uint32_t receivers, uint32_t reports)
{
  char command[1024], line[512];
  unsigned long long count = 0;
  snprintf (command, sizeof command,
      "valgrind --tool=callgrind --callgrind-out-file=/dev/null %s %u %u 2>&1", self, reports,
      receivers);
  FILE *pipe = popen (command, "r");
  while (pipe != NULL && fgets (line, sizeof line, pipe) != NULL) {
    const char *found = strstr (line, "Collected : ");
    if (found != NULL)
      count = strtoull (found + 12, NULL, 10);
  }
  if (pipe != NULL)
    pclose (pipe);
  return count;
}

static int
count_instructions (const char *self)
{
  const uint32_t few = 10000, many = 30000;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
    uint64_t low = instructions (self, groups[i], few), high = instructions (self, groups[i], many);
    if (low == 0 || high <= low) {
      printf ("valgrind gave no count: skipped\n");
      return 77;
    }
    printf ("%u receivers: %.0f instructions a report (the generator's included)\n", groups[i],
        (double)(high - low) / (many - few));
  }
  return 0;
}

/* Whether a report is within the budget. */
static bool
measure (uint32_t receivers, uint32_t reports)
{
  uint32_t *number = calloc (receivers, sizeof *number);
  MccAsmpSenderConfig config = { .variant = MCC_VARIANT_ENHANCED,
    .ssrc = UINT32_MAX,
    .seed = 1,
    .min_bps = 100000,
    .max_bps = 10000000,
    .start_bps = 1000000,
    .max_receivers = receivers };
  MccAsmpSender *sender = mcc_asmp_sender_new (&config, EPOCH);
  MccAsmpSenderStats stats;
  struct timespec start, end;

  actions = 0;
  run (sender, receivers, number, 0, 2 * receivers);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &start);
  run (sender, receivers, number, 2 * receivers, reports);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &end);

  double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
  mcc_asmp_sender_get_stats (
      sender, EPOCH + (2 * receivers + reports) * (MCC_SECOND / REPORTS_PER_S), &stats);
  printf ("%u receivers, %u reports: %.0f ns a report, %.4f %% of a core at %u reports/s, %.2f "
          "actions a report\n",
      stats.receivers, reports, ns / reports, ns / reports * REPORTS_PER_S * 1e-7, REPORTS_PER_S,
      (double)actions / (2 * receivers + reports));
  mcc_asmp_sender_free (sender);
  free (number);
  /* Of 10 000 that report every 10 s at random, one or another is silent for too long. */
  return stats.receivers <= receivers && stats.receivers >= receivers - receivers / 1000
         && ns / reports <= BUDGET_NS;
}

int
main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "--instructions") == 0)
    return count_instructions (argv[0]);

  uint32_t reports = argc > 1 ? (uint32_t)strtoul (argv[1], NULL, 10) : 200000;
  if (argc > 2)
    return measure ((uint32_t)strtoul (argv[2], NULL, 10), reports) ? 0 : 1;
  bool within = true;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    within = measure (groups[i], reports) && within;
  return within ? 0 : 1;
}
