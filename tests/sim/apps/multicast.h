/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * multicast: the table of the multicast protocols under test; a new one is a new file and one line.
 */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "port.h"
#include "record.h"

namespace sim
{

/* Bounds of a stream of a simulcast. */
struct StreamBounds {
  std::uint64_t low_bps, high_bps;
};

/* A multicast flow of a scenario, in SI units. */
struct MulticastConfig {
  std::uint64_t start_bps, min_bps, max_bps;
  std::uint32_t packet_bytes;  /* IP bytes of a full media packet */
  std::uint64_t seed;          /* of this sender or receiver; differs for each */
  bool hears_group;            /* false: reports by unicast to the sender (SSM) */
  bool ect;                    /* media is ECN-capable */
  HostId sender;               /* for receivers: where unicast feedback goes */
  unsigned expected_receivers; /* in the scenario */
  nlohmann::json source;       /* {"type": "cbr"} or {"type": "video", ...}: apps/videosource */
  nlohmann::json options;      /* the protocol's own, validated by scenario.py */
  std::vector<StreamBounds> streams = {}; /* lowest first; empty: one stream, as above */
  std::vector<std::uint64_t> layers = {}; /* cumulative rates, rising; empty: no layers */
};

/* Both start and stop as often as the scenario says. */
class MulticastSender
{
public:
  virtual ~MulticastSender () = default;
  virtual void Start () = 0;
  virtual void Stop () = 0;
};

class MulticastReceiver
{
public:
  virtual ~MulticastReceiver () = default;
  virtual void Start () = 0; /* joins */
  virtual void Leave () = 0; /* says goodbye as the protocol has it, and leaves the group */
  virtual void Crash ()
      = 0; /* falls silent; the network is told nothing but the end of membership */
};

struct MulticastProtocol {
  const char *name; /* published, enhanced, tfmcc, pgmcc, tfrc, cbr, ... */
  std::unique_ptr<MulticastSender> (*new_sender) (
      Port &port, const MulticastConfig &config, SenderRecord &record);
  std::unique_ptr<MulticastReceiver> (*new_receiver) (
      Port &port, const MulticastConfig &config, ReceiverRecord &record);
};

/* What receivers take for the network's leave latency (option leave_latency); 0: the core's
 * default. */
MccTime ToldLeaveLatency (const MulticastConfig &config);

enum class Media { SINGLE, STREAMS, LAYERS };

/* What the flow has: one stream, several, or layers. */
Media MediaOf (const MulticastConfig &config);
/* NULL when there is none of that name for @media. */
const MulticastProtocol *FindMulticastProtocol (const std::string &name, Media media);

} // namespace sim
