/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define BLANKS " \t\r\n"

static char *
answer (const char *format, ...)
{
  va_list args;
  char *text;

  va_start (args, format);
  if (vasprintf (&text, format, args) < 0)
    abort ();
  va_end (args);
  return text;
}

static double
cpu_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
         + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void
print_config (FILE *out, const EmuLinkConfig *config)
{
  fprintf (out,
      "\"rate_bps\":%.0f,\"delay_ms\":%.3f,\"queue_limit_packets\":%u,\"queue_limit_bytes\":%llu,"
      "\"loss_ratio\":%.9g,\"jitter_ms\":%.3f,\"up\":%s",
      config->rate_bps, (double)config->delay * 1e-6, config->queue_packets,
      (unsigned long long)config->queue_bytes, config->loss_ratio, (double)config->jitter * 1e-6,
      config->up ? "true" : "false");
}

static void
print_counters (FILE *out, const EmuLinkStats *stats)
{
  const struct {
    const char *name;
    uint64_t value;
  } counters[] = {
    { "in_packets", stats->in_packets },
    { "in_bytes", stats->in_bytes },
    { "tx_packets", stats->tx_packets },
    { "tx_bytes", stats->tx_bytes },
    { "rx_packets", stats->rx_packets },
    { "rx_bytes", stats->rx_bytes },
    { "rx_multicast_packets", stats->rx_multicast_packets },
    { "rx_multicast_bytes", stats->rx_multicast_bytes },
    { "drops_queue", stats->drops_queue },
    { "marks", stats->marks },
    { "drops_loss", stats->drops_loss },
    { "drops_down", stats->drops_down },
    { "duplicated", stats->duplicated },
    { "reordered", stats->reordered },
  };

  for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
    fprintf (out, ",\"%s\":%llu", counters[i].name, (unsigned long long)counters[i].value);
  fprintf (out, ",\"wait_sum_s\":%.6f", (double)stats->wait_sum * 1e-9);
}

static void
print_link (FILE *out, const Emulator *self, uint32_t link, int direction)
{
  const EmuTopologyLink *ends = &self->topology->links[link];
  EmuLinkReport report;

  emu_net_report (self->net, link, direction, &report);
  fprintf (out, "%s{\"link\":\"%s\",\"from\":\"%s\",\"to\":\"%s\",", link || direction ? "," : "",
      ends->name, self->topology->nodes[ends->nodes[direction]].name,
      self->topology->nodes[ends->nodes[1 - direction]].name);
  print_config (out, &report.config);
  print_counters (out, &report.stats);
  fprintf (out,
      ",\"queue_packets\":%u,\"queue_bytes\":%llu,\"queue_peak_packets\":%u,"
      "\"throughput_bps\":%.0f,\"interval_drops\":%llu}",
      report.queue_packets, (unsigned long long)report.queue_bytes, report.queue_peak_packets,
      report.throughput_bps, (unsigned long long)report.interval_drops);
}

static char *
run_stats (Emulator *self)
{
  const EmuNetDrops *drops = emu_net_drops (self->net);
  const EmuLag *lag = &self->lag;
  char *text;
  size_t bytes;
  FILE *out = open_memstream (&text, &bytes);

  fprintf (out, "{\"time\":%.6f,\"cpu_s\":%.6f,\"realtime\":%s,\"interval_s\":%.3f,",
      (double)(emu_clock () - emu_net_started (self->net)) * 1e-9, cpu_seconds (),
      self->realtime ? "true" : "false", (double)self->topology->stats_interval * 1e-9);
  fprintf (out,
      "\"lag\":{\"count\":%llu,\"mean_us\":%.2f,\"max_us\":%.1f,\"over_1ms\":%llu,"
      "\"over_5ms\":%llu},",
      (unsigned long long)lag->count, lag->count ? lag->sum_us / (double)lag->count : 0.0,
      lag->max_us, (unsigned long long)lag->over_1ms, (unsigned long long)lag->over_5ms);
  fprintf (out,
      "\"drops\":{\"no_route\":%llu,\"ttl\":%llu,\"link_scope\":%llu,\"malformed\":%llu,"
      "\"host\":%llu},\"links\":[",
      (unsigned long long)drops->no_route, (unsigned long long)drops->ttl,
      (unsigned long long)drops->link_scope, (unsigned long long)drops->malformed,
      (unsigned long long)self->host_drops);
  for (uint32_t i = 0; i < self->topology->n_links; i++) {
    print_link (out, self, i, 0);
    print_link (out, self, i, 1);
  }
  fputs ("]}", out);
  fclose (out);
  return text;
}

static void
print_group (FILE *out, const EmuGroup *group)
{
  char text[EMU_ADDRESS_TEXT];
  const char *comma = "";

  fprintf (out, "{\"group\":\"%s\",\"mode\":\"%s\",\"joined\":%s,\"sources\":[",
      emu_address_format (&group->group, text), group->exclude ? "exclude" : "include",
      emu_group_is_joined (group) ? "true" : "false");
  for (uint32_t i = 0; i < group->n_sources; i++) {
    if (!group->sources[i].listed)
      continue;
    fprintf (out, "%s\"%s\"", comma, emu_address_format (&group->sources[i].address, text));
    comma = ",";
  }
  fputs ("]}", out);
}

static char *
run_members (Emulator *self)
{
  char *text;
  size_t bytes;
  FILE *out = open_memstream (&text, &bytes);
  const char *comma = "";

  fputc ('{', out);
  for (uint32_t i = 0; i < self->topology->n_nodes; i++) {
    const EmuGroups *groups = emu_net_groups (self->net, i);
    if (!self->topology->nodes[i].is_host)
      continue;
    fprintf (out, "%s\"%s\":[", comma, self->topology->nodes[i].name);
    comma = ",";
    for (uint32_t g = 0; g < groups->n_groups; g++) {
      if (g > 0)
        fputc (',', out);
      print_group (out, &groups->groups[g]);
    }
    fputc (']', out);
  }
  fputc ('}', out);
  fclose (out);
  return text;
}

char *
emu_control_describe (const EmuTopology *topology)
{
  char *text, address[EMU_ADDRESS_TEXT], address6[EMU_ADDRESS_TEXT];
  size_t bytes;
  FILE *out = open_memstream (&text, &bytes);
  const char *comma = "";

  fputs ("{\"hosts\":[", out);
  for (uint32_t i = 0; i < topology->n_nodes; i++) {
    const EmuNode *node = &topology->nodes[i];
    if (!node->is_host)
      continue;
    fprintf (out, "%s{\"name\":\"%s\",\"address\":\"%s\",\"address6\":\"%s\"}", comma, node->name,
        emu_address_format (&node->address, address),
        emu_address_format (&node->address6, address6));
    comma = ",";
  }
  fputs ("],\"links\":[", out);
  for (uint32_t i = 0; i < topology->n_links; i++) {
    const EmuTopologyLink *link = &topology->links[i];
    fprintf (out, "%s{\"link\":\"%s\",\"ends\":[\"%s\",\"%s\"],", i ? "," : "", link->name,
        topology->nodes[link->nodes[0]].name, topology->nodes[link->nodes[1]].name);
    print_config (out, &link->configs[0]);
    fputc ('}', out);
  }
  fputs ("],\"flows\":[", out);
  for (uint32_t i = 0; i < topology->n_flows; i++) {
    const EmuFlowConfig *flow = &topology->flows[i];
    fprintf (out, "%s{\"listen\":%d,\"from\":\"%s\",\"to\":\"%s\",\"target\":%d}", i ? "," : "",
        flow->listen_port, topology->nodes[flow->from].name, topology->nodes[flow->to].name,
        flow->target_port);
  }
  fputs ("]}", out);
  fclose (out);
  return text;
}

/* leave-latency TIME [HOST] */
static char *
run_leave_latency (Emulator *self, char *rest)
{
  char *when = strtok_r (NULL, BLANKS, &rest), *name = strtok_r (NULL, BLANKS, &rest);
  uint32_t host = name ? emu_topology_find_node (self->topology, name) : UINT32_MAX;
  EmuTime latency;

  if (!when || !emu_parse_time (when, &latency))
    return answer ("error: not `leave-latency TIME [HOST]'");
  if (name && host == UINT32_MAX)
    return answer ("error: no such host: %s", name);
  emu_net_set_leave_latency (self->net, host, latency);
  return answer ("ok");
}

/* at TIME set LINK ...: from the start of the emulator, as in the topology */
static char *
run_at (Emulator *self, char *rest)
{
  char *when = strtok_r (NULL, BLANKS, &rest), *verb = strtok_r (NULL, BLANKS, &rest);
  char error[EMU_ERROR_BYTES];
  EmuTime time;

  if (!when || !emu_parse_time (when, &time) || !verb || strcmp (verb, "set") != 0)
    return answer ("error: not `at TIME set LINK ...'");
  if (!emu_net_set_at (self->net, rest, emu_net_started (self->net) + time, error))
    return answer ("error: %s", error);
  return answer ("ok");
}

char *
emu_control_run (Emulator *self, char *line)
{
  char *rest = NULL, *verb = strtok_r (line, BLANKS, &rest);
  char error[EMU_ERROR_BYTES];

  if (!verb)
    return answer ("error: empty");
  if (strcmp (verb, "set") == 0) {
    if (emu_net_set (self->net, rest, emu_clock (), error))
      return answer ("ok");
    return answer ("error: %s", error);
  }
  if (strcmp (verb, "at") == 0)
    return run_at (self, rest);
  if (strcmp (verb, "stats") == 0)
    return run_stats (self);
  if (strcmp (verb, "members") == 0)
    return run_members (self);
  if (strcmp (verb, "describe") == 0)
    return emu_control_describe (self->topology);
  if (strcmp (verb, "leave-latency") == 0)
    return run_leave_latency (self, rest);
  if (strcmp (verb, "reset-lag") == 0) {
    memset (&self->lag, 0, sizeof self->lag);
    return answer ("ok");
  }
  if (strcmp (verb, "quit") == 0) {
    self->quit = true;
    return answer ("ok");
  }
  return answer ("error: unknown command: %.40s (set, at, stats, members, describe, leave-latency,"
                 " reset-lag, quit)",
      verb);
}
