/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * lightrun: one multicast flow on a light star, for tests.
 */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ns3/simulator.h>

#include "multicast.h"
#include "topology.h"

namespace sim
{

struct LightRunReceiver {
  nlohmann::json access = {};
  double join = 0.0;
  double leave = -1.0; /* s */
  bool crash = false;
};

struct LightRunConfig {
  std::string protocol = "enhanced";
  std::uint64_t seed = 1;
  std::uint64_t start_bps = 150000, min_bps = 16000, max_bps = 1000000;
  bool hears_group = true;
  nlohmann::json source = { { "type", "cbr" } };
  nlohmann::json options = nlohmann::json::object ();
  nlohmann::json sender_access = { { "delay", 0.002 } };
  nlohmann::json access = { { "delay", { 0.003, 0.1 } } };
  std::vector<LightRunReceiver> receivers;
};

class LightRun
{
public:
  explicit LightRun (const LightRunConfig &config) : m_config (config)
  {
    nlohmann::json scenario = { { "seed", config.seed }, { "access", config.access },
      { "clocks", config.protocol == "published" ? "synchronised" : "random" },
      { "flows", { { { "type", "multicast" }, { "max_rate", config.max_bps } } } } };
    star = NewLightStar (scenario);
    HostId host = star->AddHost ("sender", "a", config.sender_access);
    for (std::size_t i = 0; i < config.receivers.size (); i++)
      star->AddHost ("r" + std::to_string (i), "b", config.receivers[i].access);
    const MulticastProtocol *protocol = FindMulticastProtocol (config.protocol, Media::SINGLE);
    m_sender_port = star->NewPort (host, 0);
    sender = protocol->new_sender (*m_sender_port, Config (0), sender_record);
    records.resize (config.receivers.size ());
    for (std::size_t i = 0; i < config.receivers.size (); i++) {
      m_ports.push_back (star->NewPort (static_cast<HostId> (i + 1), 0));
      receivers.push_back (protocol->new_receiver (*m_ports.back (), Config (i + 1), records[i]));
      Plan (i);
    }
    At (0.0, [this] { sender->Start (); });
  }
  ~LightRun ()
  {
    receivers.clear ();
    sender.reset ();
    ns3::Simulator::Destroy ();
  }

  void At (double when, std::function<void ()> callback)
  {
    ns3::Simulator::Schedule (ns3::Seconds (when) - ns3::Simulator::Now (), std::move (callback));
  }

  void Run (double until)
  {
    ns3::Simulator::Stop (ns3::Seconds (until) - ns3::Simulator::Now ());
    ns3::Simulator::Run ();
  }

  /* Sum of @bins over [from, to) s. */
  static double Sum (const Bins &bins, double from, double to)
  {
    double sum = 0;
    const std::vector<double> &values = bins.Values ();
    for (auto i = static_cast<std::size_t> (from / BIN + 0.5);
         i < static_cast<std::size_t> (to / BIN + 0.5) && i < values.size (); i++)
      sum += values[i];
    return sum;
  }

  static double Last (const Steps &steps)
  {
    return steps.Values ().empty () ? -1.0 : steps.Values ().back ().second;
  }

  std::unique_ptr<Topology> star;
  SenderRecord sender_record;
  std::vector<ReceiverRecord> records;
  std::unique_ptr<MulticastSender> sender;
  std::vector<std::unique_ptr<MulticastReceiver>> receivers;

private:
  MulticastConfig Config (std::size_t i) const
  {
    return { m_config.start_bps, m_config.min_bps, m_config.max_bps, 1000,
      m_config.seed * 1000003 + i, m_config.hears_group, false, 0,
      static_cast<unsigned> (m_config.receivers.size ()), m_config.source, m_config.options };
  }

  void Plan (std::size_t i)
  {
    const LightRunReceiver &plan = m_config.receivers[i];
    MulticastReceiver *receiver = receivers[i].get ();
    At (plan.join, [receiver] { receiver->Start (); });
    if (plan.leave >= 0.0)
      At (plan.leave, [receiver, plan] { plan.crash ? receiver->Crash () : receiver->Leave (); });
  }

  LightRunConfig m_config;
  std::unique_ptr<Port> m_sender_port;
  std::vector<std::unique_ptr<Port>> m_ports;
};

} // namespace sim
