/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * elmreceiver: hosts MccElmReceiver as elmlayersrc does; every picture is shown.
 */
#include "elm.h"

#include <algorithm>
#include <cmath>

#include <ns3/abort.h>
#include <ns3/simulator.h>

#include "layerarrivals.h"

namespace sim
{
namespace
{

struct FreeReceiver {
  void operator() (MccElmReceiver *self) const
  {
    mcc_elm_receiver_free (self);
  }
};

class ElmReceiver : public MulticastReceiver
{
public:
  ElmReceiver (
      MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record);
  ~ElmReceiver () override
  {
    Crash ();
  }
  void Start () override;
  void Leave () override;
  void Crash () override;

private:
  MccElmReceiverConfig CoreConfig ();
  AsmpBlock Block ();
  void Send (const AsmpCompound &compound);
  void SendReport (const MccElmApp &app, bool bye);
  void AskKeyUnit (std::uint32_t media_ssrc);
  void Handle (const Datagram &datagram);
  void HandleMedia (const Datagram &datagram, MccTime now);
  void HandleRtcp (const Datagram &datagram, MccTime now);
  void Timeout ();
  void Drain ();
  void Act (const MccElmReceiverAction &action);
  void Changed (int from, int to, const char *reason, MccTime duration);
  void Note ();

  MccVariant m_variant;
  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  MccRng m_rng;
  std::unique_ptr<MccElmReceiver, FreeReceiver> m_core;
  CoreTimer m_timer;
  std::uint32_t m_ssrc = 0;
  std::vector<bool> m_joined; /* layers whose groups are */
  LayerArrivals m_arrivals;
  std::uint64_t m_block_lost = 0, m_block_received = 0;
};

ElmReceiver::ElmReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record)
    : m_variant (variant), m_port (port), m_config (config), m_record (record),
      m_timer (port, [this] { Timeout (); }), m_joined (config.layers.size ()),
      m_arrivals (static_cast<unsigned> (config.layers.size ()), record)
{
  mcc_rng_init (&m_rng, config.seed);
  m_port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
}

MccElmSmoothing
SmoothingOf (const std::string &name)
{
  return name == "ewma"   ? MCC_ELM_SMOOTH_EWMA
         : name == "none" ? MCC_ELM_SMOOTH_NONE
                          : MCC_ELM_SMOOTH_PERCENTILES;
}

MccElmReceiverConfig
ElmReceiver::CoreConfig ()
{
  const nlohmann::json &options = m_config.options;
  auto time = [&options] (const char *name, MccTime usual) {
    return options.contains (name) ? mcc_time_from_seconds (options[name].get<double> ()) : usual;
  };
  MccElmReceiverConfig core{};
  core.variant = m_variant;
  core.ssrc = m_ssrc;
  core.seed = mcc_rng_next (&m_rng);
  core.hears_group = m_config.hears_group;
  core.max_level = options.value ("max_level", -1);
  core.strategy = mcc_elm_strategy_find (options.value ("strategy", "lazy").c_str ());
  if (options.contains ("loss")) /* else the variant's */
    core.loss = mcc_loss_find (options["loss"].get<std::string> ().c_str ());
  NS_ABORT_MSG_IF (core.strategy == nullptr || (options.contains ("loss") && core.loss == nullptr),
      "no such strategy or loss");
  if (options.contains ("history")) {
    core.loss_config = mcc_loss_config_default;
    core.loss_config.history = options["history"].get<unsigned> ();
  }
  core.smoothing = SmoothingOf (options.value ("smoothed_by", "percentiles"));
  core.timers = *mcc_elm_timers (m_variant);
  core.timers.join_delay = time ("join_delay", core.timers.join_delay);
  core.timers.join_delay_max = time ("join_delay", core.timers.join_delay_max);
  core.timers.leave_delay = time ("leave_delay", core.timers.leave_delay);
  core.timers.leave_delay_max = time ("leave_delay", core.timers.leave_delay_max);
  core.slow_start_interval = time ("slow_start_interval", 0);
  core.leave_latency = ToldLeaveLatency (m_config);
  return core;
}

/* A new process: a new SSRC, nothing known but the RTCP group. */
void
ElmReceiver::Start ()
{
  if (m_core)
    return;
  m_ssrc = static_cast<std::uint32_t> (mcc_rng_next (&m_rng)) | 1;
  m_block_lost = m_block_received = 0;
  m_arrivals.BeginAll ();
  MccElmReceiverConfig core = CoreConfig ();
  m_core.reset (mcc_elm_receiver_new (&core, m_port.Now ()));
  NS_ABORT_MSG_UNLESS (m_core, "a receiver that cannot be");
  m_record.member.Set (1.0);
  m_record.stream.Set (NO_STREAM);
  m_port.Join (ELM_RTCP_GROUP);
  Drain ();
}

void
ElmReceiver::Leave ()
{
  if (!m_core)
    return;
  MccElmApp app;
  bool known = mcc_elm_receiver_layers (m_core.get ()) != nullptr;
  mcc_elm_receiver_leave (m_core.get (), &app, m_port.Now ());
  if (known)
    SendReport (app, true);
  Crash ();
}

void
ElmReceiver::Crash ()
{
  if (!m_core)
    return;
  m_timer.Cancel ();
  m_core.reset ();
  m_record.member.Set (0.0);
  m_record.stream.Set (NO_STREAM);
  for (unsigned k = 0; k < m_joined.size (); k++)
    if (m_joined[k])
      m_port.Leave (ElmGroup (k));
  m_joined.assign (m_joined.size (), false);
  m_port.Leave (ELM_RTCP_GROUP);
}

/* Loss of all layers since the previous block. */
AsmpBlock
ElmReceiver::Block ()
{
  AsmpBlock block;
  MccElmReceiverStats stats;
  const MccElmLayers *layers = mcc_elm_receiver_layers (m_core.get ());
  mcc_elm_receiver_get_stats (m_core.get (), m_port.Now (), &stats);
  if (layers == nullptr || stats.packets_received == 0)
    return block;
  block.present = true;
  block.source = layers->layer[0].ssrc;
  double received = static_cast<double> (stats.packets_received - m_block_received);
  double lost = static_cast<double> (std::max (stats.packets_lost, m_block_lost) - m_block_lost);
  if (received + lost > 0.0)
    block.fraction_lost = lost / (received + lost);
  m_block_received = stats.packets_received;
  m_block_lost = stats.packets_lost;
  block.packets_lost = static_cast<std::int32_t> (stats.packets_lost);
  return block;
}

void
ElmReceiver::Send (const AsmpCompound &compound)
{
  if (m_config.hears_group)
    m_port.SendGroup (ELM_RTCP_GROUP, compound.Data (), compound.Size (), compound.IpBytes ());
  else
    m_port.SendTo (m_config.sender, compound.Data (), compound.Size (), compound.IpBytes ());
  m_record.control_bytes.Add (compound.IpBytes ());
}

void
ElmReceiver::SendReport (const MccElmApp &app, bool bye)
{
  AsmpBlock block = Block ();
  block.highest_seq = app.asmp.report.highest_seq;
  AsmpCompound compound (m_ssrc, false, block);
  compound.AddApp (app);
  if (bye)
    compound.AddBye ();
  Send (compound);
  m_record.reports.Add (1);
}

void
ElmReceiver::AskKeyUnit (std::uint32_t media_ssrc)
{
  AsmpCompound compound (m_ssrc, false);
  compound.AddPli (media_ssrc);
  Send (compound);
}

void
ElmReceiver::Handle (const Datagram &datagram)
{
  if (!m_core)
    return;
  MccTime now = m_port.Now ();
  if (IsRtcp (datagram))
    HandleRtcp (datagram, now);
  else if (datagram.to_group && datagram.group != ELM_RTCP_GROUP)
    HandleMedia (datagram, now);
  Drain ();
}

void
ElmReceiver::HandleMedia (const Datagram &datagram, MccTime now)
{
  MccRtpPacket packet{};
  MccLayerOrder order;
  unsigned layer = datagram.group - ElmGroup (0);
  if (layer >= m_joined.size () || !ParseElmRtp (datagram, &packet, &order) || order.layer != layer)
    return;
  m_arrivals.Add (datagram, layer, packet.seq, m_joined[layer]);
  std::uint16_t c[MCC_ELM_LAYERS_MAX] = {};
  std::copy_n (order.c, order.count, c);
  MccAddress from = AsmpAddress (datagram.from);
  MccDrop drop
      = mcc_elm_receiver_handle_rtp (m_core.get (), layer, &packet, c, order.count, &from, now);
  if (drop == MCC_DROP_NONE)
    mcc_elm_receiver_handle_picture (m_core.get (), true, now);
  Note ();
}

void
ElmReceiver::HandleRtcp (const Datagram &datagram, MccTime now)
{
  using Part = AsmpCompoundReader::Part;
  AsmpCompoundReader reader (datagram);
  for (Part part = reader.Next (); part != Part::END; part = reader.Next ()) {
    if (part == Part::BYE) {
      mcc_elm_receiver_handle_bye (m_core.get (), reader.Ssrc (), now);
    } else if (part == Part::ELM) {
      const MccElmApp &app = reader.ElmApp ();
      mcc_elm_receiver_handle_app (m_core.get (), &app, nullptr, now);
    }
  }
}

void
ElmReceiver::Timeout ()
{
  mcc_elm_receiver_handle_timeout (m_core.get (), m_port.Now ());
  Drain ();
}

void
ElmReceiver::Changed (int from, int to, const char *reason, MccTime duration)
{
  m_record.switches.push_back (
      { ns3::Simulator::Now ().GetSeconds (), from, to, reason, mcc_time_to_seconds (duration) });
  m_record.stream.Set (to);
}

void
ElmReceiver::Act (const MccElmReceiverAction &action)
{
  switch (action.type) {
    case MCC_ELM_RECEIVER_JOIN:
      m_joined[action.layer] = true;
      m_arrivals.Begin (action.layer);
      m_port.Join (ElmGroup (action.layer));
      break;
    case MCC_ELM_RECEIVER_LEAVE:
      m_joined[action.layer] = false;
      m_arrivals.End (action.layer);
      m_port.Leave (ElmGroup (action.layer));
      break;
    case MCC_ELM_RECEIVER_LEVEL:
      Changed (action.from, action.level,
          action.from == MCC_ELM_NO_LEVEL ? "start" : mcc_elm_reason_name (action.reason),
          action.duration);
      break;
    case MCC_ELM_RECEIVER_KEY_UNIT:
      AskKeyUnit (action.group.ssrc);
      break;
    case MCC_ELM_RECEIVER_REPORT:
      SendReport (action.app, false);
      break;
    case MCC_ELM_RECEIVER_CEASE:
      ns3::Simulator::ScheduleNow (&ElmReceiver::Leave, this);
      break;
    default:
      break;
  }
}

void
ElmReceiver::Drain ()
{
  MccElmReceiverAction action;
  while (mcc_elm_receiver_poll (m_core.get (), &action))
    Act (action);
  m_timer.Set (mcc_elm_receiver_next_timeout (m_core.get ()));
}

void
ElmReceiver::Note ()
{
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (m_core.get (), m_port.Now (), &stats);
  if (std::isfinite (stats.smoothed_bps))
    m_record.rate_bps.Set (std::round (stats.smoothed_bps / 1e3) * 1e3);
  m_record.loss_ratio.Set (std::round (stats.loss_ratio * 1e4) / 1e4);
  if (stats.rtt_measured)
    m_record.rtt.Set (std::round (mcc_time_to_seconds (stats.rtt) * 1e3) / 1e3);
}

} // namespace

std::unique_ptr<MulticastReceiver>
NewElmReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record)
{
  return std::make_unique<ElmReceiver> (variant, port, config, record);
}

} // namespace sim
