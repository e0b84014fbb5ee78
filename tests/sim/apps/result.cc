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

json
SenderResult (const SenderRecord &record, const HostName &name)
{
  json limiting = json::array ();
  for (const auto &[time, host] : record.limiting.Values ())
    limiting.push_back (
        { Number (time), host < 0 ? json () : json (name (static_cast<HostId> (host))) });
  return {
    { "bytes", Array (record.bytes) },
    { "packets", Array (record.packets) },
    { "control_bytes", Array (record.control_bytes) },
    { "reports", Array (record.reports) },
    { "target_bps", Array (record.target_bps) },
    { "limiting", limiting },
  };
}

json
ReceiverResult (const ReceiverRecord &record)
{
  return {
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
  return {
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
