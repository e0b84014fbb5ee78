/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * bench_scale: feedback of groups of 100 to 100 000 receivers on paper, by the core's own rules:
 * how often each reports at 300 kb/s, so that RTCP stays within its 5 %, and who reports when all
 * meet the same trouble at once, drawn EVENTS times. RTTs are spread evenly up to 500 ms; who
 * reports is heard by another one after half of both RTTs.
 *
 * Prints the table of docs/results/asmp.md. Fails where more than 3 report, or where the first of
 * them does so after more than 5 s.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mccreceivers.h"
#include "mccrtcp.h"
#include "mccsuppress.h"

#define TARGET_BPS 300000
#define REPORT_BYTES 152
#define RTT_MAX (500 * MCC_MSECOND)
#define EVENTS 200

static const unsigned groups[] = { 100, 1000, 10000, 100000 };

typedef struct {
  MccTime wait, half_rtt;
} Receiver;

typedef struct {
  double reports, first_s;
} Event;

static int
by_wait (const void *a, const void *b)
{
  MccTime one = ((const Receiver *)a)->wait, other = ((const Receiver *)b)->wait;
  return (one > other) - (one < other);
}

/* All wait at once; who hears another one first does not report. */
static Event
draw (MccRng *rng, unsigned receivers, Receiver *waiting)
{
  MccTime first = MCC_TIME_NONE, heard = MCC_TIME_NONE; /* by one next to the sender */
  unsigned soon = 0, reports = 0;
  for (unsigned i = 0; i < receivers; i++) {
    Receiver *receiver = &waiting[i];
    receiver->wait = mcc_suppress_wait (rng, receivers, RTT_MAX);
    receiver->half_rtt
        = mcc_time_from_seconds (mcc_rng_uniform (rng) * mcc_time_to_seconds (RTT_MAX) / 2);
    first = mcc_time_min (first, receiver->wait);
  }
  for (unsigned i = 0; i < receivers; i++)
    if (waiting[i].wait <= first + RTT_MAX)
      waiting[soon++] = waiting[i];
  qsort (waiting, soon, sizeof *waiting, by_wait);
  for (unsigned i = 0; i < soon; i++) {
    if (heard != MCC_TIME_NONE && waiting[i].wait > heard + waiting[i].half_rtt)
      continue;
    heard = mcc_time_min (heard, waiting[i].wait + waiting[i].half_rtt);
    reports++;
  }
  return (Event){ reports, mcc_time_to_seconds (first) };
}

static bool
print_group (unsigned receivers)
{
  double ours = MCC_RTCP_RECEIVER_SHARE * (1.0 - MCC_RTCP_REGULAR_SHARE);
  MccTime interval = mcc_rtcp_interval (
      TARGET_BPS, UINT64_MAX, ours - MCC_RTCP_LIMITING_SHARE, receivers, REPORT_BYTES);
  double reports = 0, first_s = 0;
  Receiver *waiting = malloc (receivers * sizeof *waiting);
  MccRng rng;

  if (waiting == NULL)
    return false;
  mcc_rng_init (&rng, receivers);
  for (unsigned i = 0; i < EVENTS; i++) {
    Event event = draw (&rng, receivers, waiting);
    reports += event.reports / EVENTS;
    first_s += event.first_s / EVENTS;
  }
  free (waiting);
  printf ("| %u | %.0f s | %.1f s | %.2f | %.1f s | %.0f kB |\n", receivers,
      mcc_time_to_seconds (interval),
      mcc_suppress_factor (receivers) * mcc_time_to_seconds (RTT_MAX), reports, first_s,
      (double)receivers * MCC_RECEIVERS_COST * 1e-3);
  return reports <= 3.0 && first_s <= 5.0;
}

int
main (void)
{
  bool good = true;

  puts ("| receivers | each reports every | longest wait | reports of one trouble of all | "
        "first after | sender's table |\n|---|---|---|---|---|---|");
  for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++)
    good = print_group (groups[i]) && good;
  return good ? 0 : 1;
}
