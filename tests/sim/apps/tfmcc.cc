/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tfmcc: TFMCC (baselines/tfmcc) on hosts, with an ideal source that always has data.
 *
 * A media packet is packet_bytes IP bytes, as everybody's: IP and UDP 28, the TFMCC header 28, the
 * rest media. A report is 48 IP bytes: IP and UDP 28, TFMCC 20. Reports go to the sender by
 * unicast; option `overhear` sends them to the group (RFC 4654 4.5, ASM). Other options:
 * `discounting` (5.5), `samples` (4.3.2), `rfc_start`: one packet per R_max at first (3.1), not the
 * flow's start rate,
 * `rise`: by a packet per R_max in each `rmax`, or with each `report` of the CLR (3.3).
 */
#include <algorithm>
#include <cstring>
#include <optional>

#include <ns3/simulator.h>

#include "multicast.h"
#include "tfmcc/tfmcc.h"

namespace sim
{
namespace
{

constexpr std::uint32_t REPORT_BYTES = UDP_HEADERS + sizeof (TfmccReport);
constexpr double ROUND_RTTS_HEARD = 4; /* 3.4, ASM */

/* A timer that is due may be early by a fraction of a tick of a drifting clock. */
MccTime
AtLeast (MccTime when, MccTime now)
{
  return std::max (when, now + MCC_USECOND);
}

class TfmccSenderApp : public MulticastSender
{
public:
  TfmccSenderApp (Port &port, const MulticastConfig &config, SenderRecord &record)
      : m_port (port), m_config (config), m_record (record),
        m_overhear (config.options.value ("overhear", false))
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~TfmccSenderApp () override
  {
    m_timer.Cancel ();
  }

  void Start () override
  {
    TfmccSender::Config config;

    config.packet_bytes = m_config.packet_bytes;
    config.min_bps = static_cast<double> (m_config.min_bps);
    config.max_bps = static_cast<double> (m_config.max_bps);
    config.rise_per_report = m_config.options.value ("rise", "rmax") == "report";
    if (m_overhear)
      config.round_rtts = ROUND_RTTS_HEARD;
    if (!m_config.options.value ("rfc_start", false))
      config.start_bps = static_cast<double> (m_config.start_bps);
    if (m_sender)
      m_sender->Restart (m_port.Now ());
    else
      m_sender.emplace (config, m_port.Now ());
    m_running = true;
    if (m_overhear)
      m_port.Join (0);
    m_clr = TFMCC_NOBODY;
    m_record.limiting.Set (-1);
    Pump ();
  }

  void Stop () override
  {
    m_timer.Cancel ();
    m_running = false;
    if (m_overhear)
      m_port.Leave (0);
  }

private:
  void Handle (const Datagram &datagram)
  {
    TfmccReport report;

    if (!m_running || datagram.size != sizeof report)
      return;
    std::memcpy (&report, datagram.data, sizeof report);
    m_record.reports.Add (1);
    m_sender->HandleReport (report, m_port.Now ());
    Pump ();
  }

  void Pump ()
  {
    MccTime now = m_port.Now ();
    TfmccData data;

    m_timer.Cancel ();
    m_sender->HandleTimeout (now);
    while (m_sender->Poll (now, &data)) {
      m_port.SendGroup (0, &data, sizeof data, m_config.packet_bytes, m_config.ect);
      m_record.bytes.Add (m_config.packet_bytes);
      m_record.packets.Add (1);
      m_record.Sent ();
    }
    m_record.target_bps.Set (m_sender->RateBps ());
    if (m_sender->Clr () != m_clr) {
      m_clr = m_sender->Clr ();
      m_record.limiting.Set (m_clr == TFMCC_NOBODY ? -1 : static_cast<double> (m_clr));
    }
    m_timer = m_port.At (AtLeast (m_sender->NextTimeout (), now), [this] { Pump (); });
  }

  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  bool m_overhear, m_running = false;
  std::optional<TfmccSender> m_sender;
  std::uint32_t m_clr = TFMCC_NOBODY;
  ns3::EventId m_timer;
};

class TfmccReceiverApp : public MulticastReceiver
{
public:
  TfmccReceiverApp (Port &port, const MulticastConfig &config, ReceiverRecord &record)
      : m_port (port), m_config (config), m_record (record),
        m_overhear (config.options.value ("overhear", false)), m_losses (record.lost)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~TfmccReceiverApp () override
  {
    m_timer.Cancel ();
  }

  void Start () override
  {
    TfmccReceiver::Config config;

    config.id = m_port.Host ();
    config.packet_bytes = m_config.packet_bytes;
    config.seed = m_config.seed + m_starts++;
    config.discounting = m_config.options.value ("discounting", false);
    config.sample_each = m_config.options.value ("samples", "report") == "echo";
    if (m_overhear)
      config.round_rtts = ROUND_RTTS_HEARD;
    m_receiver.emplace (config, m_port.Now ());
    m_losses.Begin ();
    m_port.Join (0);
    m_record.member.Set (1);
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
    m_port.Leave (0);
    m_record.member.Set (0);
  }

private:
  void Handle (const Datagram &datagram)
  {
    MccTime now = m_port.Now ();

    if (!m_receiver)
      return;
    if (datagram.size == sizeof (TfmccReport)) {
      TfmccReport report;
      std::memcpy (&report, datagram.data, sizeof report);
      m_receiver->HandleOverheard (report, now);
    } else if (datagram.size == sizeof (TfmccData)) {
      TfmccData data;
      std::memcpy (&data, datagram.data, sizeof data);
      m_record.packets.Add (1);
      m_record.bytes.Add (datagram.ip_bytes);
      m_record.delay.Add (datagram.delay);
      if (m_record.trace)
        m_record.trace->CameAlone (datagram.delay);
      m_receiver->HandleData (data, datagram.ip_bytes, datagram.ecn == MCC_ECN_CE, now);
      m_losses.Came (data.seq);
    }
    Pump ();
  }

  void Pump ()
  {
    MccTime now = m_port.Now ();

    m_timer.Cancel ();
    m_receiver->HandleTimeout (now);
    Send ();
    if (m_receiver->NextTimeout () != MCC_TIME_NONE)
      m_timer = m_port.At (AtLeast (m_receiver->NextTimeout (), now), [this] { Pump (); });
  }

  void Send ()
  {
    TfmccReport report;

    while (m_receiver->Poll (&report)) {
      if (m_overhear)
        m_port.SendGroup (0, &report, sizeof report, REPORT_BYTES);
      else
        m_port.SendTo (m_config.sender, &report, sizeof report, REPORT_BYTES);
      m_record.reports.Add (1);
      m_record.control_bytes.Add (REPORT_BYTES);
      m_record.rate_bps.Set (report.rate_bps);
      m_record.loss_ratio.Set (m_receiver->History ().LossEventRate ());
      if (m_receiver->HaveRtt ())
        m_record.rtt.Set (m_receiver->Rtt ());
    }
  }

  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  bool m_overhear;
  std::optional<TfmccReceiver> m_receiver;
  Losses m_losses;
  std::uint64_t m_starts = 0;
  ns3::EventId m_timer;
};

} // namespace

extern const MulticastProtocol tfmcc_protocol;
const MulticastProtocol tfmcc_protocol = {
  "tfmcc",
  [] (Port &port, const MulticastConfig &config,
      SenderRecord &record) -> std::unique_ptr<MulticastSender> {
    return std::make_unique<TfmccSenderApp> (port, config, record);
  },
  [] (Port &port, const MulticastConfig &config,
      ReceiverRecord &record) -> std::unique_ptr<MulticastReceiver> {
    return std::make_unique<TfmccReceiverApp> (port, config, record);
  },
};

} // namespace sim
