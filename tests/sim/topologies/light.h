/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * light: a star for large groups. A packet takes its sender's access delay to the core and the
 * receiver's from there; nothing else is on the way but these two links:
 *
 *  - a rate, where it can matter (below twice the most that the flows may send): a FIFO of 50
 *    packets besides the one being sent, drop tail, in each direction;
 *  - towards a host, loss of its own.
 *
 * A join takes effect when it reaches the core, a leave at once: nobody shares a host's link. With
 * more than 1000 hosts delays are rounded up to whole milliseconds, so that one event serves all
 * that a packet reaches at the same time.
 */
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "loss.h"
#include "topology.h"

namespace sim
{

class LightStar : public Topology
{
public:
  explicit LightStar (const nlohmann::json &scenario);
  ~LightStar () override;

  HostId AddHost (
      const std::string &name, const std::string &router, const nlohmann::json &access) override;
  std::unique_ptr<Port> NewPort (HostId host, unsigned flow) override;
  nlohmann::json Links () const override;

private:
  class LightPort;

  /* One direction of a host's link. */
  struct Queue {
    double rate_bps = 0;                 /* 0: no limit */
    std::deque<std::int64_t> departures; /* of what waits and what is being sent */

    /* When a packet that comes at @now_ns has left; -1: dropped. */
    std::int64_t Pass (std::uint32_t bytes, std::int64_t now_ns);
  };
  struct Host {
    std::int64_t delay_ns;
    MccTime epoch;
    double drift; /* of its clock, a ratio */
    std::optional<Loss> loss;
    Queue up, down;
  };
  /* A packet on its way. */
  struct Message {
    Datagram datagram;
    std::vector<std::uint8_t> data;
    unsigned flow;
    std::int64_t sent_ns, core_ns;
  };
  using MessagePtr = std::shared_ptr<const Message>;
  using Key = std::pair<unsigned, unsigned>; /* flow; group or host */
  struct Group {
    std::map<std::int64_t, std::vector<LightPort *>> by_delay;
    std::vector<LightPort *> limited; /* by a rate: each at its own time */
  };

  void Send (const LightPort &from, bool to_group, unsigned to, const void *data, std::size_t size,
      std::uint32_t ip_bytes);
  void ArriveAtCore (const MessagePtr &message, unsigned to);
  void ToLimited (const MessagePtr &message, LightPort *port);
  void Deliver (const MessagePtr &message, LightPort *port);
  void Quantise ();

  nlohmann::json m_access;
  std::uint64_t m_seed;
  bool m_synchronised;
  double m_most_bps = 0;
  bool m_quantised = false;
  std::vector<Host> m_hosts;
  std::map<Key, LightPort *> m_ports;
  std::map<Key, Group> m_groups;
};

} // namespace sim
