/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * rlc: RLC (baselines/rlc) on hosts, with an ideal source that always has data for every layer.
 *
 * Group 1 + k is layer k; there is no feedback. A packet is packet_bytes IP bytes: IP and UDP 28,
 * the header 8, the rest media. Options: t0, deaf: s; burst: packets; probe_leaves.
 */
#include <cstring>
#include <optional>

#include <ns3/simulator.h>

#include "coretimer.h"
#include "layerarrivals.h"
#include "multicast.h"
#include "rlc/rlc.h"

namespace sim
{
namespace
{

constexpr unsigned FIRST_GROUP = 1;

class RlcSenderApp : public MulticastSender
{
public:
  RlcSenderApp (Port &port, const MulticastConfig &config, SenderRecord &record)
      : m_port (port), m_config (config), m_record (record), m_timer (port, [this] { Pump (); })
  {
    m_record.streams.resize (config.layers.size ());
  }

  void Start () override
  {
    RlcSender::Config config;
    config.packet_bytes = m_config.packet_bytes;
    std::uint64_t below = 0;
    for (unsigned k = 0; k < m_config.layers.size (); k++) {
      std::uint64_t cumulative = m_config.layers[k];
      config.cumulative_bps.push_back (static_cast<double> (cumulative));
      m_record.streams[k].target_bps.Set (static_cast<double> (cumulative - below));
      below = cumulative;
    }
    config.t0 = m_config.options.value ("t0", RLC_T0);
    config.burst = m_config.options.value ("burst", RLC_BURST_LENGTH);
    m_sender.emplace (config, m_port.Now ());
    m_record.target_bps.Set (static_cast<double> (below));
    Pump ();
  }

  void Stop () override
  {
    m_timer.Cancel ();
    m_sender.reset ();
  }

private:
  void Pump ()
  {
    RlcData data;
    while (m_sender->Poll (m_port.Now (), &data)) {
      m_port.SendGroup (FIRST_GROUP + data.layer, &data, sizeof data, m_config.packet_bytes);
      m_record.bytes.Add (m_config.packet_bytes);
      m_record.packets.Add (1);
      m_record.Sent (data.layer);
      m_record.streams[data.layer].bytes.Add (m_config.packet_bytes);
    }
    m_timer.Set (m_sender->NextTimeout ());
  }

  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  std::optional<RlcSender> m_sender;
  CoreTimer m_timer;
};

class RlcReceiverApp : public MulticastReceiver
{
public:
  RlcReceiverApp (Port &port, const MulticastConfig &config, ReceiverRecord &record)
      : m_port (port), m_config (config), m_record (record),
        m_arrivals (static_cast<unsigned> (config.layers.size ()), record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }

  void Start () override
  {
    RlcReceiver::Config config;
    config.layers = static_cast<unsigned> (m_config.layers.size ());
    config.deaf = m_config.options.value ("deaf", RLC_DEAF);
    config.probe_leaves = m_config.options.value ("probe_leaves", false);
    m_receiver.emplace (config);
    m_arrivals.BeginAll ();
    m_record.member.Set (1);
    Drain ();
  }

  void Leave () override
  {
    if (!m_receiver)
      return;
    for (unsigned k = 0; k <= m_receiver->Level (); k++)
      m_port.Leave (FIRST_GROUP + k);
    m_receiver.reset ();
    m_record.member.Set (0);
    m_record.stream.Set (NO_STREAM);
  }

  void Crash () override
  {
    Leave ();
  }

private:
  void Handle (const Datagram &datagram)
  {
    RlcData data;
    if (!m_receiver || datagram.size != sizeof data)
      return;
    std::memcpy (&data, datagram.data, sizeof data);
    m_arrivals.Add (datagram, data.layer, static_cast<std::uint16_t> (data.seq),
        data.layer <= m_receiver->Level ());
    m_receiver->HandleData (data, m_port.Now ());
    Drain ();
  }

  void Drain ()
  {
    unsigned layer;
    double now = ns3::Simulator::Now ().GetSeconds ();
    for (auto action = m_receiver->PollAction (&layer); action != RlcReceiver::Action::NONE;
         action = m_receiver->PollAction (&layer)) {
      auto number = static_cast<int> (layer);
      if (action == RlcReceiver::Action::JOIN) {
        m_arrivals.Begin (layer);
        m_port.Join (FIRST_GROUP + layer);
        m_record.switches.push_back ({ now, number - 1, number, layer == 0 ? "start" : "up", 0 });
      } else {
        m_port.Leave (FIRST_GROUP + layer);
        m_arrivals.End (layer);
        m_record.switches.push_back ({ now, number, number - 1, "loss", 0 });
      }
    }
    m_record.stream.Set (m_receiver->Level ());
  }

  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  LayerArrivals m_arrivals;
  std::optional<RlcReceiver> m_receiver;
};

} // namespace

extern const MulticastProtocol rlc_protocol;
const MulticastProtocol rlc_protocol = {
  "rlc",
  [] (Port &port, const MulticastConfig &config,
      SenderRecord &record) -> std::unique_ptr<MulticastSender> {
    return std::make_unique<RlcSenderApp> (port, config, record);
  },
  [] (Port &port, const MulticastConfig &config,
      ReceiverRecord &record) -> std::unique_ptr<MulticastReceiver> {
    return std::make_unique<RlcReceiverApp> (port, config, record);
  },
};

} // namespace sim
