/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * pgmcc: PGMCC (baselines/pgmcc) on the network.
 *
 * Every packet is full: the source always has one, up to max_bps. start_bps and min_bps mean
 * nothing to a window. ACKs go to the sender; NAKs to the group, or with unicast feedback to the
 * sender, and then nobody hears and suppresses them. Options: rtt (timestamps, packets), model
 * (full, simple), nak_backoff (s).
 */
#include <algorithm>
#include <memory>

#include "multicast.h"
#include "pgmcc/receiver.h"
#include "pgmcc/sender.h"
#include "pgmcc/wire.h"

namespace sim
{
namespace
{

using namespace pgmcc;

class PgmccSender : public MulticastSender
{
public:
  PgmccSender (Port &port, const MulticastConfig &config, SenderRecord &record)
      : m_port (port), m_config (config), m_record (record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~PgmccSender () override
  {
    m_timer.Cancel ();
  }

  void Start () override
  {
    SenderConfig config;

    config.interval = MCC_SECOND * 8 * m_config.packet_bytes / m_config.max_bps;
    config.packet_numbers = m_config.options.value ("rtt", "timestamps") == "packets";
    if (m_config.options.value ("model", "full") == "simple")
      config.model = Model::SIMPLE;
    /* After a pause the numbers go on: receivers take a number that falls back for a duplicate. */
    if (!m_machine)
      m_machine = std::make_unique<Sender> (config, m_port.Now ());
    m_running = true;
    m_record.limiting.Set (-1);
    if (m_config.hears_group)
      m_port.Join (0);
    Drain ();
  }

  void Stop () override
  {
    if (m_running && m_config.hears_group)
      m_port.Leave (0);
    m_timer.Cancel ();
    m_running = false;
  }

private:
  void Handle (const Datagram &datagram)
  {
    Feedback feedback;

    if (!m_running)
      return;
    m_record.reports.Add (1);
    if (!Read (datagram.data, datagram.size, m_seq, m_port.Now (), &feedback))
      return;
    m_machine->HandleFeedback (feedback, m_port.Now ());
    Drain ();
  }

  void Drain ()
  {
    std::uint8_t header[DATA_HEADER];
    Data data;

    while (m_machine->Poll (&data, m_port.Now ())) {
      m_seq = data.seq;
      Write (data, header);
      m_port.SendGroup (0, header, DATA_HEADER, m_config.packet_bytes, m_config.ect);
      m_record.bytes.Add (m_config.packet_bytes);
      m_record.packets.Add (1);
    }
    Note ();
    m_timer.Cancel ();
    MccTime next = m_machine->NextTimeout ();
    if (next != MCC_TIME_NONE)
      m_timer = m_port.At (next, [this] {
        m_machine->HandleTimeout (m_port.Now ());
        Drain ();
      });
  }

  /* The rate of a window is W packets per RTT; noted once per bin. */
  void Note ()
  {
    std::uint32_t acker = m_machine->Acker ();

    m_record.limiting.Set (acker == NOBODY ? -1.0 : static_cast<double> (acker));
    if (m_machine->Rtt () <= 0.0 || m_port.Now () < m_note_at)
      return;
    m_note_at = m_port.Now () + mcc_time_from_seconds (BIN);
    m_record.target_bps.Set (
        m_machine->GetWindow ().Size () * 8.0 * m_config.packet_bytes / m_machine->Rtt ());
  }

  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  std::unique_ptr<Sender> m_machine;
  bool m_running = false;
  std::uint64_t m_seq = 0;
  MccTime m_note_at = 0;
  ns3::EventId m_timer;
};

class PgmccReceiver : public MulticastReceiver
{
public:
  PgmccReceiver (Port &port, const MulticastConfig &config, ReceiverRecord &record)
      : m_port (port), m_config (config), m_record (record), m_losses (record.lost)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~PgmccReceiver () override
  {
    m_timer.Cancel ();
  }

  void Start () override
  {
    ReceiverConfig config = { m_port.Host (), m_config.seed };

    if (m_config.options.contains ("nak_backoff"))
      config.nak_backoff = mcc_time_from_seconds (m_config.options.at ("nak_backoff"));
    m_machine = std::make_unique<Receiver> (config);
    m_seq = 0;
    m_losses.Begin ();
    m_record.member.Set (1);
    m_port.Join (0);
  }

  void Leave () override
  {
    if (!m_machine)
      return;
    m_machine->HandleLeave (m_port.Now ());
    Drain ();
    Crash ();
  }

  void Crash () override
  {
    m_timer.Cancel ();
    m_machine.reset ();
    m_record.member.Set (0);
    m_port.Leave (0);
  }

private:
  void Handle (const Datagram &datagram)
  {
    MccTime now = m_port.Now ();
    Data data;
    Feedback nak;

    if (!m_machine)
      return;
    if (Read (datagram.data, datagram.size, m_seq, &data)) {
      m_seq = std::max (m_seq, data.seq);
      m_record.packets.Add (1);
      m_record.bytes.Add (datagram.ip_bytes);
      m_record.delay.Add (datagram.delay);
      m_losses.Came (data.seq);
      m_machine->HandleData (data, datagram.ecn == MCC_ECN_CE, now);
    } else if (m_seq > 0 && Read (datagram.data, datagram.size, m_seq, MCC_TIME_NONE, &nak)) {
      m_machine->HandleNak (nak);
    }
    Drain ();
  }

  void Drain ()
  {
    std::uint8_t bytes[NAK_SIZE];
    Feedback out;

    while (m_machine->Poll (&out)) {
      std::size_t size = Write (out, bytes);
      auto ip_bytes = static_cast<std::uint32_t> (size + UDP_HEADERS);

      if (out.kind == Kind::NAK && m_config.hears_group)
        m_port.SendGroup (0, bytes, size, ip_bytes);
      else
        m_port.SendTo (m_config.sender, bytes, size, ip_bytes);
      m_record.control_bytes.Add (ip_bytes);
      m_record.reports.Add (1);
    }
    if (m_port.Now () >= m_note_at) {
      m_note_at = m_port.Now () + mcc_time_from_seconds (BIN);
      m_record.loss_ratio.Set (m_machine->LossRatio ());
    }
    m_timer.Cancel ();
    MccTime next = m_machine->NextTimeout ();
    if (next != MCC_TIME_NONE)
      m_timer = m_port.At (next, [this] {
        m_machine->HandleTimeout (m_port.Now ());
        Drain ();
      });
  }

  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  std::unique_ptr<Receiver> m_machine;
  Losses m_losses;
  std::uint64_t m_seq = 0;
  MccTime m_note_at = 0;
  ns3::EventId m_timer;
};

} // namespace

extern const MulticastProtocol pgmcc_protocol;
const MulticastProtocol pgmcc_protocol = {
  "pgmcc",
  [] (Port &port, const MulticastConfig &config,
      SenderRecord &record) -> std::unique_ptr<MulticastSender> {
    return std::make_unique<PgmccSender> (port, config, record);
  },
  [] (Port &port, const MulticastConfig &config,
      ReceiverRecord &record) -> std::unique_ptr<MulticastReceiver> {
    return std::make_unique<PgmccReceiver> (port, config, record);
  },
};

} // namespace sim
