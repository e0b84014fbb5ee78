/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tfrc: TFRC (baselines/tfrc) on hosts, for reference, with an ideal source that always has data.
 *
 * A multicast flow with one receiver that counts: the sender adapts to the first whose feedback
 * comes; others only listen. A media packet is packet_bytes IP bytes, as everybody's: IP and UDP
 * 28, TFRC 12, the rest media. Feedback is 44 IP bytes: IP and UDP 28, TFRC 16. Options:
 * `discounting` (RFC 5348 5.5, default true), `reduce_oscillations` (4.5, default false).
 */
#include <algorithm>
#include <cstring>
#include <optional>

#include "multicast.h"
#include "tfrc/tfrc.h"

namespace sim
{
namespace
{

constexpr std::uint32_t FEEDBACK_BYTES = UDP_HEADERS + sizeof (TfrcFeedback);

/* A timer that is due may be early by a fraction of a tick of a drifting clock. */
MccTime
AtLeast (MccTime when, MccTime now)
{
  return std::max (when, now + MCC_USECOND);
}

class TfrcSenderApp : public MulticastSender
{
public:
  TfrcSenderApp (Port &port, const MulticastConfig &config, SenderRecord &record)
      : m_port (port), m_config (config), m_record (record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~TfrcSenderApp () override
  {
    Stop ();
  }

  void Start () override
  {
    TfrcSender::Config config;

    config.packet_bytes = m_config.packet_bytes;
    config.min_bps = static_cast<double> (m_config.min_bps);
    config.max_bps = static_cast<double> (m_config.max_bps);
    config.reduce_oscillations = m_config.options.value ("reduce_oscillations", false);
    m_sender.emplace (config, m_port.Now ());
    m_receiver.reset ();
    m_record.limiting.Set (-1);
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
    TfrcFeedback feedback;

    if (!m_sender || datagram.size != sizeof feedback)
      return;
    m_record.reports.Add (1);
    if (!m_receiver) {
      m_receiver = datagram.from;
      m_record.limiting.Set (datagram.from);
    }
    if (*m_receiver != datagram.from)
      return;
    std::memcpy (&feedback, datagram.data, sizeof feedback);
    m_sender->HandleFeedback (feedback, m_port.Now ());
    Pump ();
  }

  void Pump ()
  {
    MccTime now = m_port.Now ();
    TfrcData data;

    m_timer.Cancel ();
    m_sender->HandleTimeout (now);
    while (m_sender->Poll (now, &data)) {
      m_port.SendGroup (0, &data, sizeof data, m_config.packet_bytes, m_config.ect);
      m_record.bytes.Add (m_config.packet_bytes);
      m_record.packets.Add (1);
    }
    m_record.target_bps.Set (m_sender->RateBps ());
    m_timer = m_port.At (AtLeast (m_sender->NextTimeout (), now), [this] { Pump (); });
  }

  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  std::optional<TfrcSender> m_sender;
  std::optional<HostId> m_receiver;
  ns3::EventId m_timer;
};

class TfrcReceiverApp : public MulticastReceiver
{
public:
  TfrcReceiverApp (Port &port, const MulticastConfig &config, ReceiverRecord &record)
      : m_port (port), m_config (config), m_record (record), m_losses (record.lost)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~TfrcReceiverApp () override
  {
    m_timer.Cancel ();
  }

  void Start () override
  {
    TfrcReceiver::Config config;

    config.packet_bytes = m_config.packet_bytes;
    config.discounting = m_config.options.value ("discounting", true);
    m_receiver.emplace (config);
    m_losses.Begin ();
    m_port.Join (0);
    m_record.member.Set (1);
  }

  void Leave () override
  {
    m_timer.Cancel ();
    m_receiver.reset ();
    m_port.Leave (0);
    m_record.member.Set (0);
  }

  void Crash () override
  {
    Leave ();
  }

private:
  void Handle (const Datagram &datagram)
  {
    TfrcData data;

    if (!m_receiver || datagram.size != sizeof data)
      return;
    std::memcpy (&data, datagram.data, sizeof data);
    m_record.packets.Add (1);
    m_record.bytes.Add (datagram.ip_bytes);
    m_record.delay.Add (datagram.delay);
    m_receiver->HandleData (data, datagram.ip_bytes, datagram.ecn == MCC_ECN_CE, m_port.Now ());
    m_losses.Came (data.seq);
    Pump ();
  }

  void Pump ()
  {
    MccTime now = m_port.Now ();
    TfrcFeedback feedback;

    m_timer.Cancel ();
    m_receiver->HandleTimeout (now);
    while (m_receiver->Poll (&feedback)) {
      m_port.SendTo (m_config.sender, &feedback, sizeof feedback, FEEDBACK_BYTES);
      m_record.reports.Add (1);
      m_record.control_bytes.Add (FEEDBACK_BYTES);
      m_record.rate_bps.Set (m_receiver->ReceiveBps ());
      m_record.loss_ratio.Set (m_receiver->LossEventRate ());
      if (m_receiver->Rtt () > 0)
        m_record.rtt.Set (m_receiver->Rtt ());
    }
    if (m_receiver->NextTimeout () != MCC_TIME_NONE)
      m_timer = m_port.At (AtLeast (m_receiver->NextTimeout (), now), [this] { Pump (); });
  }

  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  std::optional<TfrcReceiver> m_receiver;
  Losses m_losses;
  ns3::EventId m_timer;
};

} // namespace

extern const MulticastProtocol tfrc_protocol;
const MulticastProtocol tfrc_protocol = {
  "tfrc",
  [] (Port &port, const MulticastConfig &config,
      SenderRecord &record) -> std::unique_ptr<MulticastSender> {
    return std::make_unique<TfrcSenderApp> (port, config, record);
  },
  [] (Port &port, const MulticastConfig &config,
      ReceiverRecord &record) -> std::unique_ptr<MulticastReceiver> {
    return std::make_unique<TfrcReceiverApp> (port, config, record);
  },
};

} // namespace sim
