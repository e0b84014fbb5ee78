/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpreceiver: hosts MccAsmpReceiver as asmpsrc does.
 */
#include "asmp.h"

#include <ns3/abort.h>

namespace sim
{
namespace
{

constexpr MccTime RFC3550_MINIMUM = 5 * MCC_SECOND;

struct FreeReceiver {
  void operator() (MccAsmpReceiver *self) const
  {
    mcc_asmp_receiver_free (self);
  }
};

class AsmpReceiver : public MulticastReceiver
{
public:
  AsmpReceiver (
      MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record);
  ~AsmpReceiver () override
  {
    Crash ();
  }
  void Start () override;
  void Leave () override;
  void Crash () override;

private:
  MccAsmpReceiverConfig CoreConfig ();
  AsmpBlock Block ();
  void Send (const AsmpCompound &compound);
  void SendReport (const MccAppReport &report, bool bye);
  void SendRegular ();
  void Handle (const Datagram &datagram);
  void HandleRtp (const Datagram &datagram, MccTime now);
  void HandleRtcp (const Datagram &datagram, MccTime now);
  void HandleSession (const MccApp &app);
  void Timeout ();
  void Drain ();
  void RecordTrace ();

  MccVariant m_variant;
  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  MccRng m_rng;
  std::unique_ptr<MccAsmpReceiver, FreeReceiver> m_core;
  CoreTimer m_timer;
  AsmpRegular m_regular;
  std::uint32_t m_ssrc = 0;
  bool m_announced = false, m_reported = false;
  Losses m_losses;
  std::uint32_t m_media_ssrc = 0;
  std::uint64_t m_block_lost = 0, m_block_received = 0;
  std::uint32_t m_highest_seq = 0;
};

AsmpReceiver::AsmpReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record)
    : m_variant (variant), m_port (port), m_config (config), m_record (record),
      m_timer (port, [this] { Timeout (); }),
      m_regular (port, false, config.seed ^ 0x5252, [this] { SendRegular (); }),
      m_losses (record.lost)
{
  mcc_rng_init (&m_rng, config.seed);
  m_port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
}

MccAsmpReceiverConfig
AsmpReceiver::CoreConfig ()
{
  const nlohmann::json &options = m_config.options;
  bool enhanced = m_variant == MCC_VARIANT_ENHANCED;
  MccAsmpReceiverConfig core{};
  core.variant = m_variant;
  core.ssrc = m_ssrc;
  core.seed = mcc_rng_next (&m_rng);
  core.hears_group = m_config.hears_group;
  core.ecn = true;
  core.unsmoothed = !options.value ("smoothing", true);
  nlohmann::json interval = options.value ("report_interval", nlohmann::json (1.0));
  if (!enhanced && interval.is_number ())
    core.report_interval = mcc_time_from_seconds (interval.get<double> ());
  else if (!enhanced)
    core.least_interval = RFC3550_MINIMUM;
  if (options.contains ("loss")) {
    core.loss = mcc_loss_find (options["loss"].get<std::string> ().c_str ());
    NS_ABORT_MSG_IF (core.loss == nullptr, "no loss measure " << options["loss"]);
  }
  if (options.contains ("history")) {
    core.loss_config = mcc_loss_config_default;
    core.loss_config.history = options["history"].get<unsigned> ();
    core.loss_config.discounting = enhanced; /* as without the option */
  }
  return core;
}

/* A new process: a new SSRC, nothing known. */
void
AsmpReceiver::Start ()
{
  if (m_core)
    return;
  m_ssrc = static_cast<std::uint32_t> (mcc_rng_next (&m_rng)) | 1;
  m_announced = m_reported = false;
  m_losses.Begin ();
  m_block_lost = m_block_received = 0;
  m_highest_seq = 0;
  MccAsmpReceiverConfig core = CoreConfig ();
  m_core.reset (mcc_asmp_receiver_new (&core, m_port.Now ()));
  m_record.member.Set (1.0);
  m_port.Join (0);
  Drain ();
}

void
AsmpReceiver::Leave ()
{
  if (!m_core)
    return;
  MccAppReport report;
  mcc_asmp_receiver_leave (m_core.get (), &report, m_port.Now ());
  SendReport (report, true);
  Crash ();
}

void
AsmpReceiver::Crash ()
{
  if (!m_core)
    return;
  m_timer.Cancel ();
  m_regular.Stop ();
  m_core.reset ();
  m_record.member.Set (0.0);
  m_port.Leave (0);
}

/* Loss since the previous block, as the machine counts it. */
AsmpBlock
AsmpReceiver::Block ()
{
  MccAsmpReceiverStats stats;
  mcc_asmp_receiver_get_stats (m_core.get (), m_port.Now (), &stats);
  AsmpBlock block;
  block.present = stats.packets_received > 0;
  block.highest_seq = m_highest_seq;
  double received = static_cast<double> (stats.packets_received - m_block_received);
  double lost = stats.packets_lost > m_block_lost
                    ? static_cast<double> (stats.packets_lost - m_block_lost)
                    : 0.0;
  if (received + lost > 0.0)
    block.fraction_lost = lost / (received + lost);
  m_block_received = stats.packets_received;
  m_block_lost = stats.packets_lost;
  block.packets_lost = static_cast<std::int32_t> (stats.packets_lost);
  return block;
}

void
AsmpReceiver::Send (const AsmpCompound &compound)
{
  if (m_config.hears_group)
    m_port.SendGroup (0, compound.Data (), compound.Size (), compound.IpBytes ());
  else
    m_port.SendTo (m_config.sender, compound.Data (), compound.Size (), compound.IpBytes ());
  m_record.control_bytes.Add (compound.IpBytes ());
}

void
AsmpReceiver::SendReport (const MccAppReport &report, bool bye)
{
  MccApp app{};
  app.ssrc = m_ssrc;
  app.subtype = MCC_APP_REPORT;
  app.report = report;
  m_highest_seq = report.highest_seq;
  AsmpCompound compound (m_ssrc, false, Block ());
  compound.AddApp (app);
  if (bye)
    compound.AddBye ();
  Send (compound);
  m_reported = true;
  m_record.reports.Add (1);
}

void
AsmpReceiver::SendRegular ()
{
  /* Before the first report it would be a plain player's, as in the element. */
  if (m_reported)
    Send (AsmpCompound (m_ssrc, false, Block ()));
}

void
AsmpReceiver::Handle (const Datagram &datagram)
{
  if (!m_core)
    return;
  MccTime now = m_port.Now ();
  if (IsRtcp (datagram))
    HandleRtcp (datagram, now);
  else
    HandleRtp (datagram, now);
  Drain ();
}

void
AsmpReceiver::HandleRtp (const Datagram &datagram, MccTime now)
{
  MccRtpPacket packet{};
  if (!ParseRtp (datagram, &packet))
    return;
  m_record.bytes.Add (datagram.ip_bytes);
  m_record.packets.Add (1);
  m_record.delay.Add (datagram.delay);
  if (m_record.trace)
    m_record.trace->CameAlone (datagram.delay);
  MccAddress from = AsmpAddress (datagram.from);
  mcc_asmp_receiver_handle_rtp (m_core.get (), &packet, &from, now);
  if (packet.ssrc != m_media_ssrc) /* a sender that began anew */
    m_losses.Begin ();
  m_media_ssrc = packet.ssrc;
  m_losses.Came (packet.seq);
}

void
AsmpReceiver::HandleSession (const MccApp &app)
{
  m_regular.Update (
      app.session.target_bps, app.session.session_bandwidth_bps, app.session.receivers);
  if (!m_announced)
    m_regular.Start ();
  m_announced = true;
}

void
AsmpReceiver::HandleRtcp (const Datagram &datagram, MccTime now)
{
  AsmpCompoundReader reader (datagram);
  for (auto part = reader.Next (); part != AsmpCompoundReader::Part::END; part = reader.Next ()) {
    if (part == AsmpCompoundReader::Part::BYE) {
      mcc_asmp_receiver_handle_bye (m_core.get (), reader.Ssrc (), now);
    } else if (part == AsmpCompoundReader::Part::APP) {
      MccDrop drop = mcc_asmp_receiver_handle_app (m_core.get (), &reader.App (), now);
      if (drop == MCC_DROP_NONE && reader.App ().subtype == MCC_APP_SESSION)
        HandleSession (reader.App ());
    }
  }
}

void
AsmpReceiver::Timeout ()
{
  mcc_asmp_receiver_handle_timeout (m_core.get (), m_port.Now ());
  Drain ();
}

void
AsmpReceiver::Drain ()
{
  MccReceiverAction action;
  while (mcc_asmp_receiver_poll (m_core.get (), &action))
    if (action.type == MCC_RECEIVER_SEND_REPORT)
      SendReport (action.report, false);
    else if (action.type == MCC_RECEIVER_CEASE)
      ns3::Simulator::ScheduleNow (&AsmpReceiver::Leave, this);
  RecordTrace ();
  m_timer.Set (mcc_asmp_receiver_next_timeout (m_core.get ()));
}

void
AsmpReceiver::RecordTrace ()
{
  MccTraceEvent event;
  while (mcc_asmp_receiver_poll_trace (m_core.get (), &event)) {
    if (event.type != MCC_TRACE_RATE)
      continue;
    m_record.rate_bps.Set (static_cast<double> (event.a));
    m_record.loss_ratio.Set (event.x);
    m_record.rtt.Set (event.y);
  }
}

} // namespace

std::unique_ptr<MulticastReceiver>
NewAsmpReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record)
{
  return std::make_unique<AsmpReceiver> (variant, port, config, record);
}

} // namespace sim
