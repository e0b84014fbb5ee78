/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * bench_core_receiver: what a packet costs the ASMP receiver, its decisions and reports included:
 * 4 Mb/s in packets of 1240 bytes, 0.5 % lost, some reordered and doubled, a queue that comes and
 * goes.
 *
 *   bench_core_receiver [PACKETS]        time per packet
 *   bench_core_receiver --instructions   instructions per packet: callgrind (valgrind) runs it with
 *                                        two numbers of packets; the difference is the packets'.
 *
 * Fails above the budget: 1 us a packet.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mccasmpreceiver.h"
#include "mccjitter.h"
#include "mccrng.h"

#define EPOCH (1000 * MCC_SECOND)
#define SPACING (2480 * MCC_USECOND)
#define SSRC 0x51u
#define BUDGET_NS 1000.0

static uint64_t actions;

static void
drain (MccAsmpReceiver *receiver)
{
  MccReceiverAction action;
  MccTraceEvent event;
  while (mcc_asmp_receiver_poll (receiver, &action))
    actions++;
  while (mcc_asmp_receiver_poll_trace (receiver, &event)) {
  }
}

static void
announce (MccAsmpReceiver *receiver, uint32_t number, MccTime now)
{
  static MccApp app;
  app.ssrc = SSRC;
  app.subtype = MCC_APP_SESSION;
  app.session = (MccAppSession){ .number = number,
    .send_time = mcc_abs_send_time (now - 20 * MCC_MSECOND),
    .target_bps = 4000000,
    .min_bps = 100000,
    .max_bps = 10000000,
    .start_bps = 150000,
    .session_bandwidth_bps = 10000000,
    .receivers = 3,
    .rtt_max = 60 * MCC_MSECOND,
    .suppress_bps = UINT64_MAX,
    .media_ssrc = SSRC };
  mcc_asmp_receiver_handle_app (receiver, &app, now);
}

/* As a host does: each packet, its actions, the time-outs. */
static void
run (MccAsmpReceiver *receiver, uint32_t packets)
{
  MccRng rng;
  mcc_rng_init (&rng, 1);
  uint16_t seq = 60000;
  for (uint32_t i = 0; i < packets; i++, seq++) {
    uint64_t random = mcc_rng_next (&rng);
    uint32_t wave = i % 2000;
    MccTime queue = (wave < 500 ? wave : wave < 1000 ? 1000 - wave : 0) * 40 * MCC_USECOND;
    MccTime now = EPOCH + i * SPACING + queue;
    MccRtpPacket packet = { .ssrc = SSRC,
      .seq = seq,
      .bytes = 1240,
      .has_send_time = true,
      .send_time = mcc_abs_send_time (now - queue - 20 * MCC_MSECOND) };
    if (random % 1000 < 5)
      continue; /* lost */
    if (random % 1000 < 10)
      packet.seq = (uint16_t)(seq - 2); /* doubled, or late */
    mcc_asmp_receiver_handle_rtp (receiver, &packet, NULL, now);
    if (i % 200 == 0)
      announce (receiver, i, now);
    if (mcc_asmp_receiver_next_timeout (receiver) <= now) {
      mcc_asmp_receiver_handle_timeout (receiver, now);
      drain (receiver);
    }
  }
  drain (receiver);
}

static uint64_t
instructions (const char *self, uint32_t packets)
{
  char command[1024], line[512];
  unsigned long long count = 0;
  snprintf (command, sizeof command,
      "valgrind --tool=callgrind --callgrind-out-file=/dev/null %s %u 2>&1", self, packets);
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
  const uint32_t few = 10000, many = 60000;
  uint64_t low = instructions (self, few), high = instructions (self, many);
  if (low == 0 || high <= low) {
    printf ("skipped: no valgrind\n");
    return 77;
  }
  printf ("%.0f instructions a packet\n", (double)(high - low) / (many - few));
  return 0;
}

int
main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "--instructions") == 0)
    return count_instructions (argv[0]);
  uint32_t packets = argc > 1 ? (uint32_t)strtoul (argv[1], NULL, 10) : 1000000;
  MccAsmpReceiverConfig config
      = { .variant = MCC_VARIANT_ENHANCED, .ssrc = 1, .seed = 1, .hears_group = true };
  MccAsmpReceiver *receiver = mcc_asmp_receiver_new (&config, EPOCH);
  struct timespec begin, end;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &begin);
  run (receiver, packets);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &end);
  double ns = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec))
              / packets;
  MccAsmpReceiverStats stats;
  mcc_asmp_receiver_get_stats (receiver, EPOCH + packets * SPACING, &stats);
  assert (stats.packets_received > packets / 2 && actions > 0);
  printf ("%.0f ns a packet (budget %.0f), %llu reports\n", ns, BUDGET_NS,
      (unsigned long long)stats.reports_sent);
  mcc_asmp_receiver_free (receiver);
  return ns <= BUDGET_NS ? 0 : 1;
}
