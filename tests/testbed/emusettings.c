/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emutopology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
fail (char *error, const char *what, const char *which)
{
  snprintf (error, EMU_ERROR_BYTES, "%s: %.80s", what, which);
  return false;
}

/* A number with one of the units; `units` are name, factor pairs by position. */
static bool
parse_unit (
    const char *text, const char *const *units, const double *factors, double max, double *out)
{
  char *end;
  double value = strtod (text, &end);

  if (end == text || !isfinite (value) || value < 0.0)
    return false;
  for (int i = 0; units[i]; i++) {
    if (strcmp (end, units[i]) == 0) {
      value *= factors[i];
      if (value > max)
        return false;
      *out = value;
      return true;
    }
  }
  return false;
}

bool
emu_parse_time (const char *text, EmuTime *out)
{
  static const char *const units[] = { "", "s", "ms", "us", NULL };
  static const double factors[] = { 1e9, 1e9, 1e6, 1e3 };
  double value;

  if (!parse_unit (text, units, factors, 1e15, &value))
    return false;
  *out = (EmuTime)(value + 0.5);
  return true;
}

static bool
parse_rate (const char *text, double *out)
{
  static const char *const units[] = { "", "k", "M", "G", NULL };
  static const double factors[] = { 1.0, 1e3, 1e6, 1e9 };

  if (strcmp (text, "unlimited") == 0) {
    *out = 0.0;
    return true;
  }
  /* Below 1 bit/s a packet would take hours: more likely a forgotten unit. */
  return parse_unit (text, units, factors, 1e12, out) && (*out == 0.0 || *out >= 1.0);
}

static bool
parse_ratio (const char *text, double *out)
{
  static const char *const units[] = { "", "%", NULL };
  static const double factors[] = { 1.0, 0.01 };

  return parse_unit (text, units, factors, 1.0, out);
}

bool
emu_parse_count (const char *text, double max, uint64_t *out)
{
  char *end;
  double value = strtod (text, &end);

  if (end == text || *end || !(value >= 0.0 && value <= max) || value != floor (value))
    return false;
  *out = (uint64_t)value;
  return true;
}

/* "50p", "64000B", "64kB", or both: "50p,64kB"; "unlimited". */
static bool
parse_queue (const char *text, EmuLinkConfig *config)
{
  static const char *const packets[] = { "p", NULL };
  static const char *const bytes[] = { "B", "kB", "MB", NULL };
  static const double factors[] = { 1.0, 1e3, 1e6 };
  char buffer[80], *part, *rest = NULL;
  double n_packets = 0.0, n_bytes = 0.0;

  if (strcmp (text, "unlimited") != 0) {
    snprintf (buffer, sizeof buffer, "%s", text);
    part = strtok_r (buffer, ",", &rest);
    if (!part)
      return false;
    for (; part; part = strtok_r (NULL, ",", &rest)) {
      if (!(parse_unit (part, packets, factors, 1e6, &n_packets) && n_packets >= 1.0)
          && !(parse_unit (part, bytes, factors, 1e10, &n_bytes) && n_bytes >= 1.0))
        return false;
    }
  }
  config->queue_packets = (uint32_t)n_packets;
  config->queue_bytes = (uint64_t)n_bytes;
  return true;
}

/* "P,R[,LOSS-IN-BAD[,LOSS-IN-GOOD]]" */
static bool
parse_gilbert (const char *text, EmuLinkConfig *config)
{
  char buffer[80], *part, *rest = NULL;
  double values[4] = { 0.0, 1.0, 1.0, 0.0 };
  int n = 0;

  snprintf (buffer, sizeof buffer, "%s", text);
  for (part = strtok_r (buffer, ",", &rest); part; part = strtok_r (NULL, ",", &rest), n++) {
    if (n == 4 || !parse_ratio (part, &values[n]))
      return false;
  }
  if (n == 1 ? values[0] > 0.0 : n < 2)
    return false;
  config->gilbert_p = values[0];
  config->gilbert_r = values[1];
  config->gilbert_bad = values[2];
  config->gilbert_good = values[3];
  return true;
}

/* "MEAN-LOSS:MEAN-BURST-LENGTH", as Gilbert with every packet of the bad state lost. */
static bool
parse_burst (const char *text, EmuLinkConfig *config)
{
  char buffer[80], *colon, *end;
  double ratio, length;

  snprintf (buffer, sizeof buffer, "%s", text);
  if (!(colon = strchr (buffer, ':')))
    return false;
  *colon = '\0';
  length = strtod (colon + 1, &end);
  if (!parse_ratio (buffer, &ratio) || *end || !(length >= 1.0 && length <= 1e6))
    return false;
  if (ratio >= 1.0 || ratio / (1.0 - ratio) / length > 1.0)
    return false;
  config->gilbert_r = 1.0 / length;
  config->gilbert_p = ratio / (1.0 - ratio) / length;
  config->gilbert_bad = 1.0;
  config->gilbert_good = 0.0;
  return true;
}

/* "MIN,MAX[,MAX-P[,WEIGHT]]", MIN and MAX as 10p or 10kB; "0": off. */
static bool
parse_red (const char *text, EmuRedConfig *config)
{
  static const char *const packets[] = { "p", NULL };
  static const char *const bytes[] = { "B", "kB", "MB", NULL };
  static const double factors[] = { 1.0, 1e3, 1e6 };
  char buffer[80], *part, *rest = NULL;
  double sizes[2], ratios[2] = { 0.1, 0.002 };
  bool in_bytes[2];
  int n = 0;

  if (strcmp (text, "0") == 0) {
    config->min = config->max = 0.0;
    return true;
  }
  snprintf (buffer, sizeof buffer, "%s", text);
  for (part = strtok_r (buffer, ",", &rest); part; part = strtok_r (NULL, ",", &rest), n++) {
    if (n == 4 || (n >= 2 && !parse_ratio (part, &ratios[n - 2])))
      return false;
    if (n < 2) {
      in_bytes[n] = !parse_unit (part, packets, factors, 1e6, &sizes[n]);
      if (in_bytes[n] && !parse_unit (part, bytes, factors, 1e10, &sizes[n]))
        return false;
    }
  }
  if (n < 2 || in_bytes[0] != in_bytes[1] || !(sizes[0] < sizes[1]) || ratios[0] <= 0.0
      || ratios[1] <= 0.0)
    return false;
  config->min = sizes[0];
  config->max = sizes[1];
  config->max_p = ratios[0];
  config->weight = ratios[1];
  config->in_bytes = in_bytes[0];
  return true;
}

static bool
parse_flag (const char *value, bool *out)
{
  *out = strcmp (value, "0") != 0;
  return strcmp (value, "0") == 0 || strcmp (value, "1") == 0;
}

static bool
set_value (EmuLinkConfig *config, const char *key, const char *value, bool *known)
{
  uint64_t count;

  *known = true;
  if (strcmp (key, "rate") == 0)
    return parse_rate (value, &config->rate_bps);
  if (strcmp (key, "delay") == 0)
    return emu_parse_time (value, &config->delay);
  if (strcmp (key, "queue") == 0)
    return parse_queue (value, config);
  if (strcmp (key, "loss") == 0)
    return parse_ratio (value, &config->loss_ratio);
  if (strcmp (key, "gilbert") == 0)
    return parse_gilbert (value, config);
  if (strcmp (key, "burst") == 0)
    return parse_burst (value, config);
  if (strcmp (key, "jitter") == 0)
    return emu_parse_time (value, &config->jitter);
  if (strcmp (key, "reorder") == 0)
    return parse_ratio (value, &config->reorder_ratio);
  if (strcmp (key, "reorder-delay") == 0)
    return emu_parse_time (value, &config->reorder_delay);
  if (strcmp (key, "duplicate") == 0)
    return parse_ratio (value, &config->duplicate_ratio);
  if (strcmp (key, "drop-next") == 0) {
    if (!emu_parse_count (value, 1e9, &count))
      return false;
    config->drop_next = (uint32_t)count;
    return true;
  }
  if (strcmp (key, "red") == 0)
    return parse_red (value, &config->red);
  if (strcmp (key, "gentle") == 0)
    return parse_flag (value, &config->red.gentle);
  if (strcmp (key, "ecn") == 0)
    return parse_flag (value, &config->red.ecn);
  if (strcmp (key, "up") == 0)
    return parse_flag (value, &config->up);
  if (strcmp (key, "trace") == 0)
    return parse_flag (value, &config->trace);
  *known = false;
  return false;
}

bool
emu_link_config_set (EmuLinkConfig *config, const char *setting, char error[EMU_ERROR_BYTES])
{
  EmuLinkConfig changed = *config;
  const char *equals = strchr (setting, '=');
  char key[32];
  bool known;

  if (!equals || equals - setting >= (ptrdiff_t)sizeof key)
    return fail (error, "not key=value", setting);
  memcpy (key, setting, (size_t)(equals - setting));
  key[equals - setting] = '\0';
  if (!set_value (&changed, key, equals + 1, &known))
    return fail (error, known ? "bad value" : "unknown setting", setting);
  *config = changed;
  return true;
}
