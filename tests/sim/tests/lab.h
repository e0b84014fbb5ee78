/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * lab: small scenarios for the laboratory's own tests.
 */
#pragma once

#include <cmath>
#include <string>

#include <glib.h>
#include <nlohmann/json.hpp>

#include "experiment.h"

/* @value is within @tolerance (a ratio) of @expected. */
#define assert_near(value, expected, tolerance)                                                    \
  do {                                                                                             \
    const double got = (value), want = (expected);                                                 \
    if (!(std::fabs (got - want) <= (tolerance)*std::fabs (want))) {                               \
      char *text = g_strdup_printf (                                                               \
          "%s is %g, not %g within %g %%", #value, got, want, 100.0 * (tolerance));                \
      g_assertion_message (G_LOG_DOMAIN, __FILE__, __LINE__, G_STRFUNC, text);                     \
    }                                                                                              \
  } while (0)

namespace lab
{

using nlohmann::json;

inline json
Link (const std::string &id, const std::string &from, const std::string &to, double rate_bps,
    double delay, json queue = { { "type", "droptail" }, { "size", { { "packets", 1000 } } } })
{
  return { { "id", id }, { "from", from }, { "to", to }, { "rate", rate_bps }, { "delay", delay },
    { "queue", queue } };
}

inline json
DropTail (unsigned packets)
{
  return { { "type", "droptail" }, { "size", { { "packets", packets } } } };
}

inline json
Udp (const std::string &id, double rate_bps, double start, double stop)
{
  return { { "id", id }, { "type", "udp" }, { "from", "a" }, { "to", "b" }, { "rate", rate_bps },
    { "packet_size", 1000 }, { "start", start }, { "stop", stop } };
}

inline json
Tcp (const std::string &id, const std::string &congestion, json start = 0)
{
  return { { "id", id }, { "type", "tcp" }, { "from", "a" }, { "to", "b" },
    { "congestion", congestion }, { "segment", 1000 }, { "start", start } };
}

inline json
Multicast (const std::string &id, double rate_bps, json receivers)
{
  return { { "id", id }, { "type", "multicast" }, { "from", "a" }, { "start", 0 },
    { "start_rate", rate_bps }, { "min_rate", rate_bps }, { "max_rate", rate_bps },
    { "packet_size", 1000 }, { "receivers", receivers } };
}

inline json
Scenario (double duration, json links, json flows)
{
  return { { "id", "test" }, { "variant", "cbr" }, { "seed", 1 }, { "duration", duration },
    { "network", "ns3" }, { "clocks", "random" }, { "leave_latency", 0 },
    { "access", { { "rate", 1e9 }, { "delay", { 0.0005, 0.003 } } } }, { "links", links },
    { "flows", flows } };
}

/* Of bins, from @from to @to s. */
inline double
Sum (const json &bins, double from = 0, double to = 1e6)
{
  double sum = 0;
  for (std::size_t i = 0; i < bins.size (); i++)
    if (i * 0.1 >= from - 1e-6 && (i + 1) * 0.1 <= to + 1e-6)
      sum += bins[i].get<double> ();
  return sum;
}

inline double
Rate (const json &bytes, double from, double to)
{
  return 8 * Sum (bytes, from, to) / (to - from);
}

inline double
Mean (const json &record, double from = 0, double to = 1e6)
{
  return Sum (record.at ("delay_sum"), from, to) / Sum (record.at ("delay_count"), from, to);
}

} // namespace lab
