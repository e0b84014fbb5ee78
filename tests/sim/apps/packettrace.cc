/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packettrace.h"

#include <algorithm>
#include <limits>

namespace sim
{

using nlohmann::json;

namespace
{

struct Kind {
  json streams = json::array (); /* bounds */
  bool layered = false;
};

Kind
KindOf (const MulticastConfig &config)
{
  Kind kind;
  auto add = [&kind] (std::uint64_t low, std::uint64_t high) {
    kind.streams.push_back ({ { "low_bps", low }, { "high_bps", high } });
  };
  std::uint64_t below = 0;
  for (const auto &stream : config.streams)
    add (stream.low_bps, stream.high_bps);
  for (std::uint64_t cumulative : config.layers) {
    add (cumulative - below, cumulative - below);
    below = cumulative;
  }
  kind.layered = !config.layers.empty ();
  if (kind.streams.empty ())
    add (config.min_bps, config.max_bps);
  return kind;
}

/* By time. */
void
Sort (std::vector<json> &rows)
{
  std::stable_sort (rows.begin (), rows.end (),
      [] (const json &a, const json &b) { return a[0].get<double> () < b[0].get<double> (); });
}

json
Targets (const SenderRecord &sender)
{
  std::vector<json> targets;
  auto add = [&targets] (const Steps &steps, std::size_t stream) {
    for (const auto &[time, bps] : steps.Values ())
      targets.push_back ({ time, stream, bps });
  };
  for (std::size_t j = 0; j < sender.streams.size (); j++)
    add (sender.streams[j].target_bps, j);
  if (sender.streams.empty ())
    add (sender.target_bps, 0);
  Sort (targets);
  return targets;
}

void
AddPackets (std::vector<json> &packets, const std::vector<double> &sent, PacketTrace &trace,
    double from, double to, unsigned stream)
{
  auto first = std::lower_bound (sent.begin (), sent.end (), from - 1e-9);
  for (auto at = first; at != sent.end () && *at < to - 1e-9; ++at) {
    float delay = trace.Take (*at, stream);
    packets.push_back ({ *at, stream, delay < 0 ? 1 : delay > PLAYOUT_LATENCY ? 2 : 0 });
  }
}

} // namespace

json
PacketTraceResult (
    const MulticastConfig &config, const SenderRecord &sender, const PacketTrace &all)
{
  Kind kind = KindOf (config);
  PacketTrace trace = all; /* is used up */
  json shown = json::array ();
  std::vector<json> packets;
  for (std::size_t i = 0; i < trace.Shown ().size (); i++) {
    auto [from, stream] = trace.Shown ()[i];
    bool last = i + 1 == trace.Shown ().size ();
    double to = last ? std::numeric_limits<double>::infinity () : trace.Shown ()[i + 1].first;
    shown.push_back ({ from, stream });
    for (int j = kind.layered ? 0 : std::max (stream, 0); j <= stream; j++)
      if (static_cast<std::size_t> (j) < sender.sent.size ())
        AddPackets (packets, sender.sent[static_cast<std::size_t> (j)], trace, from, to,
            static_cast<unsigned> (j));
  }
  Sort (packets);
  json out = { { "packet_bytes", config.packet_bytes }, { "streams", kind.streams },
    { "targets", Targets (sender) }, { "shown", shown }, { "packets", packets } };
  if (kind.layered)
    out["layered"] = true;
  return out;
}

} // namespace sim
