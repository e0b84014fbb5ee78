/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "light.h"

#include <algorithm>
#include <cmath>

#include <ns3/abort.h>
#include <ns3/simulator.h>

namespace sim
{
namespace
{

constexpr std::size_t QUEUE_PACKETS = 50;
constexpr std::size_t EXACT_HOSTS = 1000; /* more: delays in steps */
constexpr std::int64_t STEP_NS = 1000000;
constexpr double DRIFT_MAX = 20e-6;
constexpr double MATTERS = 2.0; /* times the flows' maximum: more is no limit */

std::int64_t
TrueNow ()
{
  return ns3::Simulator::Now ().GetNanoSeconds ();
}

template <typename Callback>
ns3::EventId
ScheduleAt (std::int64_t when_ns, Callback callback)
{
  return ns3::Simulator::Schedule (
      ns3::NanoSeconds (std::max<std::int64_t> (when_ns - TrueNow (), 0)), callback);
}

} // namespace

class LightStar::LightPort : public Port
{
public:
  LightPort (LightStar &star, HostId host, unsigned flow)
      : m_star (star), m_host (host), m_flow (flow)
  {
    star.m_ports[{ flow, host }] = this;
  }
  ~LightPort () override
  {
    while (!m_joined.empty ())
      Leave (m_joined.begin ()->first);
    m_star.m_ports.erase ({ m_flow, m_host });
  }

  HostId Host () const override
  {
    return m_host;
  }

  MccTime Now () const override
  {
    const LightStar::Host &host = m_star.m_hosts[m_host];
    std::int64_t now = TrueNow ();
    return host.epoch + static_cast<MccTime> (now)
           + static_cast<MccTime> (std::llround (static_cast<double> (now) * host.drift));
  }

  ns3::EventId At (MccTime when, std::function<void ()> callback) override
  {
    const LightStar::Host &host = m_star.m_hosts[m_host];
    MccTime now = Now ();
    double ahead = when > now ? static_cast<double> (when - now) : 0.0;
    return ns3::Simulator::Schedule (
        ns3::NanoSeconds (static_cast<std::int64_t> (std::ceil (ahead / (1.0 + host.drift)))),
        std::move (callback));
  }

  void SendGroup (
      unsigned group, const void *data, std::size_t size, std::uint32_t ip_bytes, bool) override
  {
    m_star.Send (*this, true, group, data, size, ip_bytes);
  }

  void SendTo (HostId to, const void *data, std::size_t size, std::uint32_t ip_bytes, bool) override
  {
    m_star.Send (*this, false, to, data, size, ip_bytes);
  }

  void Join (unsigned group) override
  {
    LightStar::Host &host = m_star.m_hosts[m_host];
    if (!m_joined.emplace (group, TrueNow () + host.delay_ns).second)
      return;
    Members (group).push_back (this);
  }

  void Leave (unsigned group) override
  {
    if (m_joined.erase (group) == 0)
      return;
    std::vector<LightPort *> &members = Members (group);
    members.erase (std::find (members.begin (), members.end (), this));
  }

  /* Whether a packet that passed the core then is for us. */
  bool Hears (unsigned group, std::int64_t core_ns) const
  {
    auto joined = m_joined.find (group);
    return joined != m_joined.end () && core_ns >= joined->second;
  }

  void Handle (const Datagram &datagram)
  {
    if (m_handler)
      m_handler (datagram);
  }

  unsigned Flow () const
  {
    return m_flow;
  }

private:
  std::vector<LightPort *> &Members (unsigned group)
  {
    LightStar::Host &host = m_star.m_hosts[m_host];
    LightStar::Group &members = m_star.m_groups[{ m_flow, group }];
    return host.down.rate_bps > 0 ? members.limited : members.by_delay[host.delay_ns];
  }

  LightStar &m_star;
  HostId m_host;
  unsigned m_flow;
  std::map<unsigned, std::int64_t> m_joined; /* when the join is at the core */
};

std::int64_t
LightStar::Queue::Pass (std::uint32_t bytes, std::int64_t now_ns)
{
  if (rate_bps <= 0)
    return now_ns;
  while (!departures.empty () && departures.front () <= now_ns)
    departures.pop_front ();
  if (departures.size () > QUEUE_PACKETS)
    return -1;
  std::int64_t start = departures.empty () ? now_ns : departures.back ();
  departures.push_back (start + std::llround (8e9 * bytes / rate_bps));
  return departures.back ();
}

LightStar::LightStar (const nlohmann::json &scenario)
    : m_access (scenario.value ("access", nlohmann::json::object ())),
      m_seed (scenario.at ("seed").get<std::uint64_t> ()),
      m_synchronised (scenario.value ("clocks", "random") == "synchronised")
{
  if (scenario.contains ("changes") && !scenario["changes"].empty ())
    throw ScenarioError ("changes: a light network has no links that could change");
  for (const nlohmann::json &flow : scenario.at ("flows")) {
    if (flow.value ("type", "multicast") != "multicast")
      throw ScenarioError ("flows: a light network carries multicast flows only");
    m_most_bps += flow.value ("max_rate", 0.0);
  }
}

LightStar::~LightStar () = default;

HostId
LightStar::AddHost (const std::string &name, const std::string &, const nlohmann::json &own_access)
{
  nlohmann::json access = m_access;
  if (own_access.is_object ())
    access.update (own_access);
  Random random (m_seed, name + "/access"), clock (m_seed, name + "/clock");
  Host host;
  host.delay_ns = std::llround (1e9 * random.Draw (access.value ("delay", nlohmann::json (0.001))));
  host.epoch = 1000 * MCC_SECOND;
  host.drift = 0;
  if (!m_synchronised) {
    host.epoch += mcc_time_from_seconds (clock.Uniform (0, 1e6));
    host.drift = clock.Uniform (-DRIFT_MAX, DRIFT_MAX);
  }
  double rate_bps = access.contains ("rate") ? random.Draw (access["rate"]) : 0.0;
  if (rate_bps < MATTERS * m_most_bps)
    host.up.rate_bps = host.down.rate_bps = rate_bps;
  if (access.contains ("loss") && access["loss"].is_object ())
    host.loss.emplace (LossParameters::FromJson (access["loss"]), Random (m_seed, name + "/loss"));
  m_hosts.push_back (std::move (host));
  return static_cast<HostId> (m_hosts.size () - 1);
}

void
LightStar::Quantise ()
{
  if (m_quantised)
    return;
  m_quantised = true;
  if (m_hosts.size () <= EXACT_HOSTS)
    return;
  for (Host &host : m_hosts)
    host.delay_ns = (host.delay_ns + STEP_NS - 1) / STEP_NS * STEP_NS;
}

std::unique_ptr<Port>
LightStar::NewPort (HostId host, unsigned flow)
{
  Quantise ();
  return std::make_unique<LightPort> (*this, host, flow);
}

nlohmann::json
LightStar::Links () const
{
  return nlohmann::json::object ();
}

void
LightStar::Send (const LightPort &from, bool to_group, unsigned to, const void *data,
    std::size_t size, std::uint32_t ip_bytes)
{
  NS_ABORT_MSG_IF (ip_bytes < size + UDP_HEADERS, "a datagram with more data than bytes");
  Host &host = m_hosts[from.Host ()];
  std::int64_t now = TrueNow (), left = host.up.Pass (ip_bytes, now);
  if (left < 0)
    return;
  auto bytes = static_cast<const std::uint8_t *> (data);
  auto message = std::make_shared<Message> ();
  message->data.assign (bytes, bytes + size);
  message->datagram = { from.Host (), to_group, to_group ? to : 0, ip_bytes, MCC_ECN_NOT_ECT,
    message->data.data (), size, 0.0 };
  message->flow = from.Flow ();
  message->sent_ns = now;
  message->core_ns = left + host.delay_ns;
  MessagePtr done = message;
  ScheduleAt (message->core_ns, [this, done, to] { ArriveAtCore (done, to); });
}

void
LightStar::ArriveAtCore (const MessagePtr &message, unsigned to)
{
  if (!message->datagram.to_group) {
    auto port = m_ports.find ({ message->flow, to });
    if (port != m_ports.end ())
      ToLimited (message, port->second);
    return;
  }
  auto found = m_groups.find ({ message->flow, message->datagram.group });
  if (found == m_groups.end ())
    return;
  for (LightPort *port : found->second.limited)
    if (port->Hears (to, message->core_ns))
      ToLimited (message, port);
  for (auto &bucket : found->second.by_delay) {
    std::vector<LightPort *> *members = &bucket.second;
    if (members->empty ())
      continue;
    ScheduleAt (message->core_ns + bucket.first, [this, message, members] {
      /* By index: who handles a packet may leave. */
      for (std::size_t i = 0; i < members->size (); i++)
        Deliver (message, (*members)[i]);
    });
  }
}

/* Over a link of its own, by its queue. */
void
LightStar::ToLimited (const MessagePtr &message, LightPort *port)
{
  Host &host = m_hosts[port->Host ()];
  std::int64_t left = host.down.Pass (message->datagram.ip_bytes, message->core_ns);
  if (left < 0)
    return;
  HostId to = port->Host ();
  ScheduleAt (left + host.delay_ns, [this, message, to] {
    auto there = m_ports.find ({ message->flow, to });
    if (there != m_ports.end ())
      Deliver (message, there->second);
  });
}

void
LightStar::Deliver (const MessagePtr &message, LightPort *port)
{
  Datagram datagram = message->datagram;
  Host &host = m_hosts[port->Host ()];
  if (port->Host () == datagram.from)
    return;
  if (datagram.to_group && !port->Hears (datagram.group, message->core_ns))
    return;
  if (host.loss && host.loss->Lose ())
    return;
  datagram.delay = 1e-9 * static_cast<double> (TrueNow () - message->sent_ns);
  port->Handle (datagram);
}

std::unique_ptr<Topology>
NewLightStar (const nlohmann::json &scenario)
{
  return std::make_unique<LightStar> (scenario);
}

} // namespace sim
