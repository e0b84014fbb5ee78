/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packettrace.h"

#include <algorithm>
#include <limits>

namespace sim
{

using nlohmann::json;

static void
AddPackets (json &packets, const std::vector<double> &sent, const std::vector<float> &delay,
    double from, double to, int stream)
{
  auto first = static_cast<std::size_t> (
      std::lower_bound (sent.begin (), sent.end (), from - 1e-9) - sent.begin ());
  for (std::size_t i = first; i < sent.size () && sent[i] < to - 1e-9; i++) {
    bool came = i < delay.size () && delay[i] >= 0;
    packets.push_back ({ sent[i], stream, !came ? 1 : delay[i] > PLAYOUT_LATENCY ? 2 : 0 });
  }
}

json
PacketTraceResult (
    const MulticastConfig &config, const SenderRecord &sender, const PacketTrace &trace)
{
  json streams = json::array (), shown = json::array (), packets = json::array ();
  std::vector<json> targets;
  for (std::size_t j = 0; j < config.streams.size (); j++) {
    streams.push_back (
        { { "low_bps", config.streams[j].low_bps }, { "high_bps", config.streams[j].high_bps } });
    for (const auto &[time, bps] : sender.streams[j].target_bps.Values ())
      targets.push_back ({ time, j, bps });
  }
  std::stable_sort (targets.begin (), targets.end (),
      [] (const json &a, const json &b) { return a[0].get<double> () < b[0].get<double> (); });
  for (std::size_t i = 0; i < trace.shown.size (); i++) {
    const auto &[from, stream] = trace.shown[i];
    bool last = i + 1 == trace.shown.size ();
    double to = last ? std::numeric_limits<double>::infinity () : trace.shown[i + 1].first;
    auto j = static_cast<std::size_t> (stream);
    shown.push_back ({ from, stream });
    AddPackets (packets, sender.streams[j].sent, trace.delay[j], from, to, stream);
  }
  return { { "packet_bytes", config.packet_bytes }, { "streams", streams }, { "targets", targets },
    { "shown", shown }, { "packets", packets } };
}

} // namespace sim
