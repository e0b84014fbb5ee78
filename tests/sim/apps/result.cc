/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "result.h"

#include <algorithm>
#include <cmath>

namespace sim
{

using nlohmann::json;

static json
Number (double value)
{
  if (value == std::floor (value) && std::fabs (value) < 9e15)
    return static_cast<std::int64_t> (value);
  return value;
}

static json
Array (const Bins &bins)
{
  json array = json::array ();
  for (double value : bins.Values ())
    array.push_back (Number (value));
  return array;
}

static json
Array (const Steps &steps)
{
  json array = json::array ();
  for (const auto &[time, value] : steps.Values ())
    array.push_back ({ Number (time), Number (value) });
  return array;
}

static json
Limiting (const Steps &steps, const HostName &name)
{
  json limiting = json::array ();
  for (const auto &[time, host] : steps.Values ())
    limiting.push_back (
        { Number (time), host < 0 ? json () : json (name (static_cast<HostId> (host))) });
  return limiting;
}

json
SenderResult (const SenderRecord &record, const HostName &name)
{
  json result = {
    { "bytes", Array (record.bytes) },
    { "packets", Array (record.packets) },
    { "control_bytes", Array (record.control_bytes) },
    { "reports", Array (record.reports) },
    { "target_bps", Array (record.target_bps) },
    { "limiting", Limiting (record.limiting, name) },
  };
  for (const StreamRecord &stream : record.streams)
    result["streams"].push_back (
        { { "bytes", Array (stream.bytes) }, { "target_bps", Array (stream.target_bps) },
            { "low_bps", Array (stream.low_bps) }, { "high_bps", Array (stream.high_bps) },
            { "limiting", Limiting (stream.limiting, name) } });
  return result;
}

/* Of receivers in one of several streams. */
static void
AddStreams (const ReceiverRecord &record, json &result)
{
  json switches = json::array ();
  for (const SwitchRecord &change : record.switches)
    switches.push_back (
        { Number (change.time), change.from, change.to, change.reason, Number (change.duration) });
  result["stream"] = Array (record.stream);
  result["switches"] = switches;
  result["other_bytes"] = Array (record.other_bytes);
  result["frames"] = Array (record.frames);
  result["frames_damaged"] = Array (record.frames_damaged);
}

static json
LossMeansResult (const LossMeans &means)
{
  const double count = static_cast<double> (means.samples - means.without);
  auto mean = [count] (double sum) { return count > 0 ? json (sum / count) : json (); };
  return { { "samples", means.samples }, { "without", means.without }, { "events", means.events },
    { "loss_ratio", mean (means.ratio_sum) }, { "rate_bps", mean (means.rate_sum) },
    { "rtt", mean (means.rtt_sum) } };
}

json
ReceiverResult (const ReceiverRecord &record)
{
  json result = {
    { "bytes", Array (record.bytes) },
    { "packets", Array (record.packets) },
    { "lost", Array (record.lost) },
    { "control_bytes", Array (record.control_bytes) },
    { "reports", Array (record.reports) },
    { "delay_sum", Array (record.delay.Sum ()) },
    { "delay_count", Array (record.delay.Count ()) },
    { "rate_bps", Array (record.rate_bps) },
    { "loss_ratio", Array (record.loss_ratio) },
    { "rtt", Array (record.rtt) },
    { "member", Array (record.member) },
  };
  if (!record.stream.Values ().empty ())
    AddStreams (record, result);
  for (const auto &[id, means] : record.loss_means)
    result["loss_means"][id] = LossMeansResult (means);
  return result;
}

json
FlowResult (const FlowRecord &record)
{
  return {
    { "bytes", Array (record.bytes) },
    { "packets", Array (record.packets) },
    { "lost", Array (record.lost) },
    { "delay_sum", Array (record.delay.Sum ()) },
    { "delay_count", Array (record.delay.Count ()) },
    { "recoveries", Array (record.recoveries) },
    { "timeouts", Array (record.timeouts) },
  };
}

json
LinkResult (const LinkRecord &record)
{
  std::vector<float> delays = record.delays;
  std::sort (delays.begin (), delays.end ());
  /* The smallest value that at least this part of all is not above. */
  auto quantile = [&delays] (double part) -> double {
    if (delays.empty ())
      return 0;
    const double rank = std::ceil (part * static_cast<double> (delays.size ()));
    return delays[static_cast<std::size_t> (std::max (rank, 1.0)) - 1];
  };
  json multicast = json::object ();
  for (const auto &[group, bytes] : record.multicast)
    multicast[std::to_string (group.first) + "/" + std::to_string (group.second)] = Array (bytes);
  return {
    { "multicast", multicast },
    { "rate_bps", Array (record.rate_bps) },
    { "bytes", Array (record.bytes) },
    { "packets", Array (record.packets) },
    { "queue_drops", Array (record.queue_drops) },
    { "random_drops", Array (record.random_drops) },
    { "marks", Array (record.marks) },
    { "delay_sum", Array (record.delay.Sum ()) },
    { "delay_count", Array (record.delay.Count ()) },
    { "delays", { { "p50", quantile (0.5) }, { "p95", quantile (0.95) }, { "p99", quantile (0.99) },
                    { "max", quantile (1) } } },
  };
}

} // namespace sim
