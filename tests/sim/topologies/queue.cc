/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "queue.h"

#include <cmath>

#include <ns3/boolean.h>
#include <ns3/codel-queue-disc.h>
#include <ns3/double.h>
#include <ns3/nstime.h>
#include <ns3/queue-size.h>
#include <ns3/red-queue-disc.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>

#include "topology.h"

namespace sim
{

static QueueLimit
ReadLimit (const nlohmann::json &size)
{
  if (size.contains ("packets"))
    return { false, size.at ("packets").get<std::uint64_t> () };
  return { true, size.at ("bytes").get<std::uint64_t> () };
}

static ns3::QueueSize
SizeOf (QueueLimit limit)
{
  return ns3::QueueSize (limit.in_bytes ? ns3::QueueSizeUnit::BYTES : ns3::QueueSizeUnit::PACKETS,
      static_cast<std::uint32_t> (limit.size));
}

/* In the unit of the size; not always whole. */
static double
Threshold (const nlohmann::json &value, QueueLimit limit)
{
  return value.at (limit.in_bytes ? "bytes" : "packets").get<double> ();
}

static ns3::Ptr<ns3::QueueDisc>
NewRed (const nlohmann::json &queue, QueueLimit limit, double rate_bps, std::int64_t stream)
{
  constexpr std::uint32_t MEAN_PACKET = 1000;
  auto red = ns3::CreateObject<ns3::RedQueueDisc> ();
  red->SetAttribute ("MaxSize", ns3::QueueSizeValue (SizeOf (limit)));
  red->SetAttribute ("MinTh", ns3::DoubleValue (Threshold (queue.at ("min"), limit)));
  red->SetAttribute ("MaxTh", ns3::DoubleValue (Threshold (queue.at ("max"), limit)));
  red->SetAttribute ("LInterm", ns3::DoubleValue (1 / queue.value ("max_p", 0.1)));
  red->SetAttribute ("QW", ns3::DoubleValue (queue.value ("weight", 0.002)));
  red->SetAttribute ("Gentle", ns3::BooleanValue (queue.value ("gentle", true)));
  red->SetAttribute ("UseEcn", ns3::BooleanValue (queue.value ("ecn", false)));
  red->SetAttribute ("ARED", ns3::BooleanValue (false));
  red->SetAttribute ("MeanPktSize", ns3::UintegerValue (MEAN_PACKET));
  red->SetAttribute ("LinkBandwidth",
      ns3::DataRateValue (ns3::DataRate (static_cast<std::uint64_t> (std::llround (rate_bps)))));
  red->AssignStreams (stream);
  return red;
}

static ns3::Ptr<ns3::QueueDisc>
NewCoDel (const nlohmann::json &queue, QueueLimit limit)
{
  auto codel = ns3::CreateObject<ns3::CoDelQueueDisc> ();
  codel->SetAttribute ("MaxSize", ns3::QueueSizeValue (SizeOf (limit)));
  codel->SetAttribute ("Target", ns3::TimeValue (ns3::Seconds (queue.value ("target", 0.005))));
  codel->SetAttribute ("Interval", ns3::TimeValue (ns3::Seconds (queue.value ("interval", 0.1))));
  codel->SetAttribute ("UseEcn", ns3::BooleanValue (queue.value ("ecn", false)));
  return codel;
}

void
SetQueue (Link &link, const nlohmann::json &queue, double rate_bps, std::int64_t stream)
{
  const std::string type = queue.at ("type");
  const QueueLimit limit = ReadLimit (queue.at ("size"));
  if (type == "droptail")
    link.SetLimit (limit);
  else if (type == "red")
    link.SetDisc (NewRed (queue, limit, rate_bps, stream));
  else if (type == "codel")
    link.SetDisc (NewCoDel (queue, limit));
  else
    throw ScenarioError ("no queue of type \"" + type + "\": droptail, red, codel");
}

} // namespace sim
