/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * smcc: SMCC (baselines/smcc) on hosts, with an ideal source that always has data for every layer.
 *
 * Group 1 + i is layer i, group 1 + n + j is BCL_j of n layers. A media packet is packet_bytes IP
 * bytes: IP and UDP 28, the header 32, the rest media; a BCL's carries no media. A report is
 * TFMCC's 48 bytes, by unicast. Options: base_rate, B_0; rise, as tfmcc's.
 */
#include <algorithm>
#include <cstring>
#include <optional>

#include <ns3/simulator.h>

#include "frames.h"
#include "multicast.h"
#include "smcc/smcc.h"

namespace sim
{
namespace
{

constexpr std::uint32_t REPORT_BYTES = UDP_HEADERS + sizeof (SmccReport);
constexpr double BASE_RATE = 1e6; /* ASSP 2010, 7.2 */

double
BaseRate (const MulticastConfig &config)
{
  return config.options.value ("base_rate", BASE_RATE);
}

double
HighestRate (const MulticastConfig &config)
{
  return static_cast<double> (
      config.streams.empty () ? config.max_bps : config.streams.back ().high_bps);
}

class SmccSenderApp : public MulticastSender
{
public:
  SmccSenderApp (Port &port, const MulticastConfig &config, SenderRecord &record)
      : m_port (port), m_config (config), m_record (record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~SmccSenderApp () override
  {
    m_timer.Cancel ();
  }

  void Start () override
  {
    m_sender.emplace (SmccSender::Config{ m_config.packet_bytes, BaseRate (m_config),
                          HighestRate (m_config), static_cast<double> (m_config.start_bps),
                          m_config.options.value ("rise", "rmax") == "report" },
        m_port.Now ());
    m_record.streams.resize (m_sender->Layers ());
    Pump ();
  }

  void Stop () override
  {
    m_timer.Cancel ();
    m_sender.reset ();
  }

private:
  void Handle (const Datagram &datagram)
  {
    SmccReport report;
    if (!m_sender || datagram.size != sizeof report)
      return;
    std::memcpy (&report, datagram.data, sizeof report);
    m_record.reports.Add (1);
    m_sender->HandleReport (report, m_port.Now ());
    Pump ();
  }

  void Send (const SmccData &data)
  {
    unsigned number = data.tfmcc.reserved;
    bool media = number < SMCC_BCL;
    unsigned group = 1 + (media ? number : m_sender->Layers () + number - SMCC_BCL);
    m_port.SendGroup (group, &data, sizeof data, m_config.packet_bytes, m_config.ect);
    if (!media)
      return;
    m_record.bytes.Add (m_config.packet_bytes);
    m_record.packets.Add (1);
    m_record.streams[number].bytes.Add (m_config.packet_bytes);
  }

  void Pump ()
  {
    MccTime now = m_port.Now ();
    SmccData data;
    m_timer.Cancel ();
    m_sender->HandleTimeout (now);
    while (m_sender->Poll (now, &data))
      Send (data);
    double sum = 0;
    for (unsigned i = 0; i < m_sender->Layers (); i++) {
      StreamRecord &layer = m_record.streams[i];
      std::uint32_t clr = m_sender->Clr (i);
      layer.target_bps.Set (m_sender->RateBps (i));
      layer.limiting.Set (clr == TFMCC_NOBODY ? -1 : static_cast<double> (clr));
      sum += m_sender->RateBps (i);
    }
    m_record.target_bps.Set (sum);
    m_timer
        = m_port.At (std::max (m_sender->NextTimeout (), now + MCC_USECOND), [this] { Pump (); });
  }

  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  std::optional<SmccSender> m_sender;
  ns3::EventId m_timer;
};

class SmccReceiverApp : public MulticastReceiver
{
public:
  SmccReceiverApp (Port &port, const MulticastConfig &config, ReceiverRecord &record)
      : m_port (port), m_config (config), m_record (record), m_frames (record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~SmccReceiverApp () override
  {
    m_timer.Cancel ();
  }

  void Start () override
  {
    SmccReceiver::Config config;
    config.id = m_port.Host ();
    config.packet_bytes = m_config.packet_bytes;
    config.seed = m_config.seed + m_starts++;
    config.base_bps = BaseRate (m_config);
    config.max_bps = HighestRate (m_config);
    m_layers = SmccLayers (config.base_bps, config.max_bps);
    m_receiver.emplace (config, m_port.Now ());
    m_lost = 0;
    m_frames.Begin ();
    m_sent.assign (m_layers, -1);
    m_record.member.Set (1);
    Pump ();
  }

  void Leave () override
  {
    if (!m_receiver)
      return;
    m_receiver->Leave (m_port.Now ());
    Send ();
    Crash ();
  }

  void Crash () override
  {
    m_timer.Cancel ();
    m_receiver.reset ();
    while (!m_groups.empty ())
      LeaveGroup (m_groups.front ());
    m_record.member.Set (0);
    m_record.stream.Set (NO_STREAM);
  }

private:
  void JoinGroup (unsigned group)
  {
    m_port.Join (group);
    m_groups.push_back (group);
  }

  void LeaveGroup (unsigned group)
  {
    m_port.Leave (group);
    m_groups.erase (std::remove (m_groups.begin (), m_groups.end (), group), m_groups.end ());
  }

  void Handle (const Datagram &datagram)
  {
    SmccData data;
    MccTime now = m_port.Now ();
    if (!m_receiver || datagram.size != sizeof data)
      return;
    std::memcpy (&data, datagram.data, sizeof data);
    unsigned layer = data.tfmcc.reserved;
    bool taken = layer <= m_receiver->Layer ();
    if (taken) {
      m_record.packets.Add (1);
      m_record.bytes.Add (datagram.ip_bytes);
      m_record.delay.Add (datagram.delay);
    } else {
      m_record.other_bytes.Add (datagram.ip_bytes);
    }
    m_receiver->HandleData (data, datagram.ip_bytes, datagram.ecn == MCC_ECN_CE, now);
    if (taken)
      CountLost (m_sent[layer], ns3::Simulator::Now ().GetSeconds () - datagram.delay);
    Pump ();
  }

  /* A picture needs all layers: with a packet lost in any it is damaged. @before: when the one
   * before this one of its layer left, < 0: there was none. */
  void CountLost (double &before, double sent)
  {
    auto lost = static_cast<std::uint32_t> (m_receiver->Lost () - m_lost);
    if (lost > 0)
      m_record.lost.Add (lost);
    m_frames.Add (before < 0 ? sent : before, sent, lost);
    before = std::max (before, sent);
    m_lost += lost;
  }

  void Act (SmccReceiver::Action action, unsigned number)
  {
    using Action = SmccReceiver::Action;
    auto layer = static_cast<int> (number);
    double now = ns3::Simulator::Now ().GetSeconds ();
    if (action == Action::JOIN_LAYER) {
      JoinGroup (1 + number);
      m_sent[number] = -1;
      m_record.switches.push_back ({ now, layer - 1, layer, number == 0 ? "start" : "up", 0 });
    } else if (action == Action::LEAVE_LAYER) {
      LeaveGroup (1 + number);
      m_record.switches.push_back ({ now, layer, layer - 1, "down", 0 });
    } else if (action == Action::JOIN_BCL) {
      JoinGroup (1 + m_layers + number);
    } else if (action == Action::LEAVE_BCL) {
      LeaveGroup (1 + m_layers + number);
    }
  }

  void Pump ()
  {
    MccTime now = m_port.Now ();
    unsigned number;
    m_timer.Cancel ();
    m_receiver->HandleTimeout (now);
    for (auto action = m_receiver->PollAction (&number); action != SmccReceiver::Action::NONE;
         action = m_receiver->PollAction (&number))
      Act (action, number);
    Send ();
    m_record.stream.Set (m_receiver->Layer ());
    if (m_receiver->NextTimeout () != MCC_TIME_NONE)
      m_timer = m_port.At (
          std::max (m_receiver->NextTimeout (), now + MCC_USECOND), [this] { Pump (); });
  }

  void Send ()
  {
    SmccReport report;
    while (m_receiver->PollReport (&report)) {
      m_port.SendTo (m_config.sender, &report, sizeof report, REPORT_BYTES);
      m_record.reports.Add (1);
      m_record.control_bytes.Add (REPORT_BYTES);
      m_record.rate_bps.Set (report.rate_bps);
      m_record.loss_ratio.Set (m_receiver->Tfmcc ().History ().LossEventRate ());
      if (m_receiver->Tfmcc ().HaveRtt ())
        m_record.rtt.Set (m_receiver->Tfmcc ().Rtt ());
    }
  }

  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  std::optional<SmccReceiver> m_receiver;
  std::vector<unsigned> m_groups;
  unsigned m_layers = 0;
  std::uint64_t m_lost = 0, m_starts = 0;
  Frames m_frames;
  std::vector<double> m_sent; /* s, when the newest packet of each layer left; < 0: none came */
  ns3::EventId m_timer;
};

} // namespace

extern const MulticastProtocol smcc_protocol;
const MulticastProtocol smcc_protocol = {
  "smcc",
  [] (Port &port, const MulticastConfig &config,
      SenderRecord &record) -> std::unique_ptr<MulticastSender> {
    return std::make_unique<SmccSenderApp> (port, config, record);
  },
  [] (Port &port, const MulticastConfig &config,
      ReceiverRecord &record) -> std::unique_ptr<MulticastReceiver> {
    return std::make_unique<SmccReceiverApp> (port, config, record);
  },
};

} // namespace sim
