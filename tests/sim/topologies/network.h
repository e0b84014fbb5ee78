/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * network: a scenario's tree of routers and links in ns-3, with a link of its own for every
 * host, and an ns-3 node for those with TCP.
 *
 * A link has one rate and one delay for both directions, unless "reverse" says otherwise; queue,
 * loss and records belong to the data direction from -> to. Links of hosts are drop tail, 1000
 * packets; their loss strikes towards the host, their jitter what the host sends. "changes" of
 * delay apply to both directions, of rate too unless "reverse" gives or has changed one, of loss to
 * the data direction; a ramp moves in steps of at most 100 ms and 1 % of its length.
 */
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ns3/node.h>

#include "hostip.h"
#include "link.h"
#include "router.h"
#include "topology.h"

namespace sim
{

class Network : public Topology
{
public:
  explicit Network (const nlohmann::json &scenario);
  ~Network () override;

  HostId AddHost (
      const std::string &name, const std::string &router, const nlohmann::json &access) override;
  std::unique_ptr<Port> NewPort (HostId host, unsigned flow) override;
  nlohmann::json Links () const override;

  /* @host with ns-3's IP and TCP. */
  ns3::Ptr<ns3::Node> NodeOf (HostId host);
  static ns3::Ipv4Address AddressOf (HostId host);
  /* Every packet that arrives at @host from the network, with its IP header. */
  void OnArrival (HostId host, Link::ArrivalHandler handler);
  /* Every packet for @host that was dropped on the way. */
  void OnDrop (HostId host, std::function<void ()> handler);
  /* Packets that leave @host carry their time of sending (tags.h). */
  void Stamp (HostId host);

private:
  struct Place {
    std::unique_ptr<Router> router;
    std::vector<std::pair<std::string, std::uint32_t>> neighbours; /* and the interface to them */
  };
  struct Host {
    std::string name;
    ns3::Ptr<Link> up, down;
    std::unique_ptr<HostIp> ip;
    ns3::Ptr<ns3::Node> node; /* of hosts with TCP */
    std::function<void ()> drop;
  };
  struct Pair {
    ns3::Ptr<Link> forward, back;
    LinkRecord record;
    bool one_rate = true; /* for both directions */
  };

  Place &FindPlace (const std::string &name);
  bool Connected (const std::string &from, const std::string &to) const;
  ns3::Ptr<Link> NewLink ();
  void AddLink (const nlohmann::json &link);
  void AddRoutes (HostId host, const std::string &router, std::uint32_t interface);
  void AddChange (const nlohmann::json &change);
  void Ramp (double ramp, std::function<void (double)> set);
  void ChangeRate (const std::vector<ns3::Ptr<Link>> &links, double to, double ramp);
  void ChangeDelay (Pair &pair, double to, double ramp);
  void ChangeLoss (ns3::Ptr<Link> link, const nlohmann::json &to, double ramp);
  void Dropped (ns3::Ipv4Address destination);

  std::uint64_t m_seed;
  bool m_random_clocks;
  ns3::Time m_leave_latency;
  nlohmann::json m_access;
  std::map<std::string, Place> m_places;
  std::vector<Host> m_hosts;
  std::map<std::string, Pair> m_links;
};

} // namespace sim
