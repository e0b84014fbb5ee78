/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * openloop: TFRC with its loop cut, as the ELM thesis studies loss measures (4.1): the sender keeps
 * to max_bps whatever it hears, and has feedback only so that both ends know the RTT (eq. 5).
 *
 * The receiver runs any number of the core's loss measures over the packets that come, and about
 * once per RTT notes what each says and the rate that the equation makes of it. Not a protocol of
 * scenario files: tests/sim/openloop writes what mccsim reads. Options: `from` (s; what comes
 * before is not noted), `measures`: [{id, loss, discounting, weighted_impact, virtual_bytes}].
 */
#include <algorithm>
#include <cstring>
#include <optional>

#include <ns3/abort.h>
#include <ns3/simulator.h>

extern "C" {
#include "mccloss.h"
#include "mcctcp.h"
}

#include "multicast.h"
#include "tfrc/tfrc.h"

namespace sim
{
namespace
{

constexpr double RTT_SMOOTH = 0.9;  /* q, thesis eq. 5 */
constexpr double RTT_UNKNOWN = 0.5; /* s; RFC 4654 */
constexpr std::uint32_t FEEDBACK_BYTES = UDP_HEADERS + sizeof (TfrcFeedback);

std::uint32_t
Microseconds (MccTime time)
{
  return static_cast<std::uint32_t> (time / MCC_USECOND);
}

class OpenLoopSender : public MulticastSender
{
public:
  OpenLoopSender (Port &port, const MulticastConfig &config, SenderRecord &record)
      : m_port (port), m_config (config), m_record (record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }
  ~OpenLoopSender () override
  {
    Stop ();
  }

  void Start () override
  {
    m_record.target_bps.Set (static_cast<double> (m_config.max_bps));
    m_next = m_port.Now ();
    Send ();
  }

  void Stop () override
  {
    m_timer.Cancel ();
  }

private:
  void Handle (const Datagram &datagram)
  {
    TfrcFeedback feedback;

    if (datagram.size != sizeof feedback)
      return;
    std::memcpy (&feedback, datagram.data, sizeof feedback);
    m_record.reports.Add (1);
    auto us = static_cast<std::int32_t> (
        Microseconds (m_port.Now ()) - feedback.timestamp_us - feedback.delay_us);
    double sample = std::max (us, 1) * 1e-6;
    m_rtt = m_rtt > 0 ? RTT_SMOOTH * m_rtt + (1 - RTT_SMOOTH) * sample : sample;
  }

  void Send ()
  {
    TfrcData data
        = { m_seq++, Microseconds (m_port.Now ()), static_cast<std::uint32_t> (m_rtt * 1e6) };

    m_port.SendGroup (0, &data, sizeof data, m_config.packet_bytes, m_config.ect);
    m_record.bytes.Add (m_config.packet_bytes);
    m_record.packets.Add (1);
    m_next += MCC_SECOND * 8 * m_config.packet_bytes / m_config.max_bps;
    m_timer = m_port.At (m_next, [this] { Send (); });
  }

  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  std::uint32_t m_seq = 0;
  double m_rtt = 0;
  MccTime m_next = 0;
  ns3::EventId m_timer;
};

struct FreeLoss {
  void operator() (MccLoss *self) const
  {
    mcc_loss_free (self);
  }
};

/* One loss measure at work. */
struct Observer {
  std::unique_ptr<MccLoss, FreeLoss> loss;
  double packet_bytes; /* that a loss ratio of its units is of */
  LossMeans *means;
};

class OpenLoopReceiver : public MulticastReceiver
{
public:
  OpenLoopReceiver (Port &port, const MulticastConfig &config, ReceiverRecord &record)
      : m_port (port), m_config (config), m_record (record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }

  void Start () override
  {
    m_observers.clear ();
    for (const nlohmann::json &options : m_config.options.at ("measures"))
      Observe (options);
    m_from = m_config.options.at ("from");
    m_sampled.reset ();
    m_lost = 0;
    m_record.member.Set (1);
    m_port.Join (0);
  }

  void Leave () override
  {
    m_observers.clear ();
    m_record.member.Set (0);
    m_port.Leave (0);
  }

  void Crash () override
  {
    Leave ();
  }

private:
  void Observe (const nlohmann::json &options)
  {
    MccLossConfig config = mcc_loss_config_default;
    const MccLossMeasure *measure
        = mcc_loss_find (options.at ("loss").get<std::string> ().c_str ());

    NS_ABORT_MSG_IF (measure == nullptr, "no such loss measure");
    config.discounting = options.value ("discounting", config.discounting);
    config.weighted_impact = options.value ("weighted_impact", config.weighted_impact);
    config.virtual_bytes = options.value ("virtual_bytes", config.virtual_bytes);
    const std::uint32_t bytes
        = config.virtual_bytes > 0 ? config.virtual_bytes : m_config.packet_bytes;
    m_observers.push_back ({ decltype (Observer::loss) (mcc_loss_new (measure, &config)),
        static_cast<double> (bytes), &m_record.loss_means[options.at ("id")] });
  }

  void Handle (const Datagram &datagram)
  {
    TfrcData data;

    if (m_observers.empty () || datagram.size != sizeof data)
      return;
    std::memcpy (&data, datagram.data, sizeof data);
    const MccTime now = m_port.Now ();
    const double rtt = data.rtt_us > 0 ? data.rtt_us * 1e-6 : RTT_UNKNOWN;
    for (Observer &each : m_observers)
      mcc_loss_handle_packet (
          each.loss.get (), data.seq, datagram.ip_bytes, now, mcc_time_from_seconds (rtt));
    m_record.packets.Add (1);
    m_record.bytes.Add (datagram.ip_bytes);
    m_record.delay.Add (datagram.delay);
    const std::uint64_t lost = mcc_loss_packets_lost (m_observers.front ().loss.get ());
    if (lost > m_lost)
      m_record.lost.Add (static_cast<double> (lost - m_lost));
    m_lost = lost;
    if (m_sampled && now - *m_sampled < mcc_time_from_seconds (data.rtt_us * 1e-6))
      return;
    m_sampled = now;
    Feedback (data);
    if (data.rtt_us > 0 && ns3::Simulator::Now ().GetSeconds () >= m_from)
      Note (rtt);
  }

  void Feedback (const TfrcData &data)
  {
    TfrcFeedback feedback = {};

    feedback.timestamp_us = data.timestamp_us;
    m_port.SendTo (m_config.sender, &feedback, sizeof feedback, FEEDBACK_BYTES);
    m_record.reports.Add (1);
    m_record.control_bytes.Add (FEEDBACK_BYTES);
  }

  void Note (double rtt)
  {
    for (Observer &each : m_observers) {
      LossMeans &means = *each.means;
      const double ratio = mcc_loss_ratio (each.loss.get ());
      means.samples++;
      means.events = mcc_loss_events (each.loss.get ());
      if (ratio <= 0) {
        means.without++;
        continue;
      }
      means.ratio_sum += ratio;
      means.rate_sum += mcc_tcp_rate_bps (&mcc_tcp_model_default, each.packet_bytes, rtt, ratio);
      means.rtt_sum += rtt;
    }
  }

  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  std::vector<Observer> m_observers;
  double m_from = 0;
  std::optional<MccTime> m_sampled;
  std::uint64_t m_lost = 0;
};

} // namespace

extern const MulticastProtocol openloop_protocol;
const MulticastProtocol openloop_protocol = {
  "openloop",
  [] (Port &port, const MulticastConfig &config,
      SenderRecord &record) -> std::unique_ptr<MulticastSender> {
    return std::make_unique<OpenLoopSender> (port, config, record);
  },
  [] (Port &port, const MulticastConfig &config,
      ReceiverRecord &record) -> std::unique_ptr<MulticastReceiver> {
    return std::make_unique<OpenLoopReceiver> (port, config, record);
  },
};

} // namespace sim
