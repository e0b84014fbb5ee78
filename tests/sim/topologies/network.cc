/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "network.h"

#include <algorithm>
#include <set>

#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-routing-helper.h>
#include <ns3/ipv4.h>
#include <ns3/simulator.h>

#include "hostrouting.h"
#include "nsport.h"
#include "queue.h"
#include "result.h"

namespace sim
{

using nlohmann::json;
using ns3::Ptr;
using ns3::Simulator;

namespace
{

class RoutingHelper : public ns3::Ipv4RoutingHelper
{
public:
  RoutingHelper *Copy () const override
  {
    return new RoutingHelper (*this);
  }
  Ptr<ns3::Ipv4RoutingProtocol> Create (Ptr<ns3::Node>) const override
  {
    return ns3::CreateObject<HostRouting> ();
  }
};

Ptr<ns3::Node>
NewNode ()
{
  auto node = ns3::CreateObject<ns3::Node> ();
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall (false);
  stack.SetRoutingHelper (RoutingHelper ());
  stack.Install (node);
  return node;
}

} // namespace

Network::Network (const json &scenario)
    : m_seed (scenario.at ("seed")), m_random_clocks (scenario.at ("clocks") == "random"),
      m_leave_latency (ns3::Seconds (scenario.at ("leave_latency").get<double> ())),
      m_access (scenario.at ("access"))
{
  for (const json &link : scenario.at ("links"))
    WithPlace ("link " + link.at ("id").get<std::string> (), [&] { AddLink (link); });
  for (const json &change : scenario.value ("changes", json::array ()))
    WithPlace ("changes", [&] { AddChange (change); });
}

Network::~Network () = default;

Network::Place &
Network::FindPlace (const std::string &name)
{
  Place &place = m_places[name];
  if (!place.router)
    place.router = std::make_unique<Router> (m_leave_latency);
  return place;
}

bool
Network::Connected (const std::string &from, const std::string &to) const
{
  std::vector<std::string> open = { from };
  std::set<std::string> seen = { from };
  while (!open.empty ()) {
    const std::string name = open.back ();
    open.pop_back ();
    if (name == to)
      return true;
    for (const auto &[neighbour, unused] : m_places.at (name).neighbours)
      if (seen.insert (neighbour).second)
        open.push_back (neighbour);
  }
  return false;
}

Ptr<Link>
Network::NewLink ()
{
  auto link = ns3::CreateObject<Link> ();
  link->SetAddress (ns3::Mac48Address::Allocate ());
  link->SetDropHandler ([this] (ns3::Ipv4Address to) { Dropped (to); });
  return link;
}

void
Network::AddLink (const json &link)
{
  const std::string id = link.at ("id"), from = link.at ("from"), to = link.at ("to");
  Place &a = FindPlace (from), &b = FindPlace (to);
  if (Connected (from, to))
    throw ScenarioError ("to: a second way from " + from + " to " + to + ", no tree");
  Pair &pair = m_links[id];
  pair.forward = NewLink ();
  pair.back = NewLink ();
  pair.forward->SetPeer (pair.back);
  pair.back->SetPeer (pair.forward);
  const std::uint32_t a_interface = a.router->Interfaces ();
  const std::uint32_t b_interface
      = b.router->AddInterface (pair.back, a.router.get (), a_interface);
  a.router->AddInterface (pair.forward, b.router.get (), b_interface);
  a.neighbours.emplace_back (to, a_interface);
  b.neighbours.emplace_back (from, b_interface);

  const double rate = link.at ("rate");
  const json reverse = link.value ("reverse", json::object ());
  const double back_rate = reverse.value ("rate", rate);
  pair.one_rate = !reverse.contains ("rate");
  pair.forward->SetRecord (&pair.record);
  pair.forward->SetRate (rate);
  pair.back->SetRate (back_rate);
  for (Ptr<Link> end : { pair.forward, pair.back })
    end->SetDelay (ns3::Seconds (link.at ("delay").get<double> ()));
  const auto stream = static_cast<std::int64_t> (2 * m_links.size ());
  SetQueue (*pair.forward, link.at ("queue"), rate, stream);
  if (reverse.contains ("queue"))
    SetQueue (*pair.back, reverse.at ("queue"), back_rate, stream + 1);
  pair.forward->SetLoss (Loss (
      LossParameters::FromJson (link.value ("loss", json ())), Random (m_seed, "loss " + id)));
  pair.back->SetLoss (Loss (LossParameters::FromJson (reverse.value ("loss", json ())),
      Random (m_seed, "reverse loss " + id)));
}

HostId
Network::AddHost (const std::string &name, const std::string &router_name, const json &own_access)
{
  const auto place = m_places.find (router_name);
  if (place == m_places.end ())
    throw ScenarioError (name + ": no link names the router \"" + router_name + "\"");
  Router *router = place->second.router.get ();
  const auto id = static_cast<HostId> (m_hosts.size ());
  Host host;
  host.name = name;
  host.up = NewLink ();
  host.down = NewLink ();
  host.up->SetPeer (host.down);
  host.down->SetPeer (host.up);
  const std::uint32_t interface = router->AddInterface (host.down);
  host.ip = std::make_unique<HostIp> (id, host.up, router, interface);

  json access = m_access;
  if (own_access.is_object ())
    access.update (own_access);
  Random random (m_seed, "access " + name);
  const double rate = random.Draw (access.at ("rate"));
  const ns3::Time delay = ns3::Seconds (random.Draw (access.at ("delay")));
  if (access.contains ("queue") && !access.at ("queue").is_null ())
    SetQueue (*host.down, { { "type", "droptail" }, { "size", access.at ("queue") } }, rate, 0);
  for (Ptr<Link> link : { host.up, host.down }) {
    link->SetRate (rate);
    link->SetDelay (delay);
    link->SetSteady ();
  }
  host.up->SetJitter (
      ns3::Seconds (access.value ("jitter", 0.0)), Random (m_seed, "jitter " + name));
  host.down->SetLoss (Loss (
      LossParameters::FromJson (access.value ("loss", json ())), Random (m_seed, "loss " + name)));
  m_hosts.push_back (std::move (host));
  AddRoutes (id, router_name, interface);
  return id;
}

/* From every router of the tree towards @host. */
void
Network::AddRoutes (HostId host, const std::string &router, std::uint32_t interface)
{
  std::vector<std::pair<std::string, std::uint32_t>> open = { { router, interface } };
  std::set<std::string> seen = { router };
  while (!open.empty ()) {
    const auto [name, out] = open.back ();
    open.pop_back ();
    m_places.at (name).router->SetRoute (host, out);
    for (const auto &[neighbour, unused] : m_places.at (name).neighbours) {
      if (!seen.insert (neighbour).second)
        continue;
      for (const auto &[back, back_interface] : m_places.at (neighbour).neighbours)
        if (back == name)
          open.emplace_back (neighbour, back_interface);
    }
  }
}

void
Network::Ramp (double ramp, std::function<void (double)> set)
{
  const int steps = ramp > 0 ? std::max (100, static_cast<int> (ramp / 0.1)) : 1;
  for (int step = 1; step < steps; step++)
    Simulator::Schedule (
        ns3::Seconds (ramp * step / steps), [set, step, steps] { set (double (step) / steps); });
  Simulator::Schedule (ns3::Seconds (ramp), [set] { set (1.0); });
}

void
Network::ChangeRate (const std::vector<Ptr<Link>> &links, double to, double ramp)
{
  for (Ptr<Link> link : links) {
    const double from = link->Rate ();
    Ramp (ramp, [=] (double position) { link->SetRate (from + (to - from) * position); });
  }
}

void
Network::ChangeDelay (Pair &pair, double to, double ramp)
{
  for (Ptr<Link> link : { pair.forward, pair.back }) {
    const double from = link->Delay ().GetSeconds ();
    Ramp (ramp,
        [=] (double position) { link->SetDelay (ns3::Seconds (from + (to - from) * position)); });
  }
}

void
Network::ChangeLoss (Ptr<Link> link, const json &to, double ramp)
{
  const LossParameters from = link->RandomLoss ().Parameters ();
  const LossParameters target = LossParameters::FromJson (to);
  Ramp (ramp, [=] (double position) {
    link->RandomLoss ().Set (LossParameters::Between (from, target, position));
  });
}

void
Network::AddChange (const json &change)
{
  const auto found = m_links.find (change.at ("link").get<std::string> ());
  if (found == m_links.end ())
    throw ScenarioError (
        "changes: there is no link \"" + change.at ("link").get<std::string> () + "\"");
  Pair &pair = found->second;
  const double ramp = change.contains ("ramp") && !change.at ("ramp").is_null ()
                          ? change.at ("ramp").get<double> ()
                          : 0.0;
  Simulator::Schedule (ns3::Seconds (change.at ("at").get<double> ()), [this, &pair, change, ramp] {
    const json reverse = change.value ("reverse", json::object ());
    std::vector<Ptr<Link>> both = { pair.forward };
    pair.one_rate = pair.one_rate && !reverse.contains ("rate");
    if (pair.one_rate)
      both.push_back (pair.back);
    if (change.contains ("rate"))
      ChangeRate (both, change.at ("rate"), ramp);
    if (change.contains ("delay"))
      ChangeDelay (pair, change.at ("delay"), ramp);
    if (change.contains ("loss"))
      ChangeLoss (pair.forward, change.at ("loss"), ramp);
    if (reverse.contains ("rate"))
      ChangeRate ({ pair.back }, reverse.at ("rate"), ramp);
    if (reverse.contains ("loss"))
      ChangeLoss (pair.back, reverse.at ("loss"), ramp);
  });
}

std::unique_ptr<Port>
Network::NewPort (HostId host, unsigned flow)
{
  Clock clock;
  if (m_random_clocks) {
    Random random (m_seed, "clock " + m_hosts.at (host).name);
    clock.epoch_s = random.Uniform (1000, 100000);
    clock.drift = random.Uniform (-20e-6, 20e-6);
  }
  return std::make_unique<NsPort> (host, *m_hosts.at (host).ip, flow, clock);
}

Ptr<ns3::Node>
Network::NodeOf (HostId id)
{
  Host &host = m_hosts.at (id);
  if (host.node)
    return host.node;
  host.node = NewNode ();
  host.node->AddDevice (host.up);
  auto ipv4 = host.node->GetObject<ns3::Ipv4> ();
  const std::uint32_t interface = ipv4->AddInterface (host.up);
  NS_ABORT_UNLESS (interface == host.up->GetIfIndex ());
  ipv4->AddAddress (
      interface, ns3::Ipv4InterfaceAddress (HostAddress (id), ns3::Ipv4Mask::GetOnes ()));
  ipv4->SetUp (interface);
  ns3::DynamicCast<HostRouting> (ipv4->GetRoutingProtocol ())->Connect (HostAddress (id), host.up);
  host.ip->SetTcp (host.node);
  return host.node;
}

ns3::Ipv4Address
Network::AddressOf (HostId host)
{
  return HostAddress (host);
}

void
Network::OnArrival (HostId host, Link::ArrivalHandler handler)
{
  m_hosts.at (host).up->SetArrivalHandler (std::move (handler));
}

void
Network::OnDrop (HostId host, std::function<void ()> handler)
{
  m_hosts.at (host).drop = std::move (handler);
}

void
Network::Stamp (HostId host)
{
  m_hosts.at (host).up->SetStamps (true);
}

void
Network::Dropped (ns3::Ipv4Address destination)
{
  const HostId index = HostIndex (destination);
  if (index < m_hosts.size () && m_hosts[index].drop)
    m_hosts[index].drop ();
}

json
Network::Links () const
{
  json links = json::object ();
  for (const auto &[id, pair] : m_links)
    links[id] = LinkResult (pair.record);
  return links;
}

} // namespace sim
