/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpsender: hosts MccAsmpSender as asmpsink does.
 */
#include "asmp.h"

#include <algorithm>

#include <ns3/abort.h>

extern "C" {
#include "mccjitter.h"
#include "mccseq.h"
}

namespace sim
{
namespace
{

constexpr std::uint32_t MAX_RECEIVERS = 4096; /* asmpsink's default */

struct FreeSender {
  void operator() (MccAsmpSender *self) const
  {
    mcc_asmp_sender_free (self);
  }
};

MccNoFeedback
ParseNoFeedback (const std::string &name)
{
  return name == "hold"   ? MCC_NO_FEEDBACK_HOLD
         : name == "stop" ? MCC_NO_FEEDBACK_STOP
                          : MCC_NO_FEEDBACK_MINIMUM;
}

class AsmpSender : public MulticastSender
{
public:
  AsmpSender (MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record);
  ~AsmpSender () override
  {
    Stop ();
  }
  void Start () override;
  void Stop () override;

private:
  MccAsmpSenderConfig CoreConfig ();
  void AnnounceCaps ();
  void SendMedia (std::uint32_t ip_bytes);
  void SendSession (const MccAppSession &session, const MccAppRttList *rtt);
  void SendCompound (const AsmpCompound &compound);
  void SendRegular (bool bye);
  void Handle (const Datagram &datagram);
  bool HandleReport (const AsmpCompoundReader &reader, const MccAddress &from, MccTime now);
  void Timeout ();
  void Drain ();
  void Act (const MccSenderAction &action);

  MccVariant m_variant;
  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  MccRng m_rng;
  std::unique_ptr<MccAsmpSender, FreeSender> m_core;
  std::unique_ptr<MediaSource> m_source;
  CoreTimer m_timer;
  AsmpRegular m_regular;
  std::uint32_t m_ssrc = 0;
  std::uint16_t m_seq = 0;
  MccSeq m_sent_seq{};
  std::uint64_t m_session_bps = 0;
};

AsmpSender::AsmpSender (
    MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record)
    : m_variant (variant), m_port (port), m_config (config), m_record (record),
      m_timer (port, [this] { Timeout (); }),
      m_regular (port, true, config.seed ^ 0x5352, [this] { SendRegular (false); })
{
  NS_ABORT_MSG_IF (config.packet_bytes <= ASMP_MEDIA_HEADERS, "packets without room for media");
  mcc_rng_init (&m_rng, config.seed);
  m_source = NewMediaSource (port, { config.packet_bytes, ASMP_MEDIA_HEADERS, config.source },
      [this] (std::uint32_t bytes) { SendMedia (bytes); });
  m_port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
}

MccAsmpSenderConfig
AsmpSender::CoreConfig ()
{
  MccAsmpSenderConfig core{};
  core.variant = m_variant;
  core.ssrc = m_ssrc;
  core.seed = mcc_rng_next (&m_rng);
  core.min_bps = m_config.min_bps;
  core.max_bps = m_config.max_bps;
  core.start_bps = m_config.start_bps;
  core.session_bandwidth_bps = m_config.options.value ("session_bandwidth", 0.0) > 0.0
                                   ? m_config.options["session_bandwidth"].get<std::uint64_t> ()
                                   : m_config.max_bps;
  core.max_receivers = std::max (MAX_RECEIVERS, 2 * m_config.expected_receivers);
  core.no_feedback = ParseNoFeedback (m_config.options.value ("no_feedback", "minimum"));
  if (!m_config.hears_group)
    core.feedback = AsmpAddress (m_port.Host ());
  core.ecn = m_config.ect;
  core.ttl = 64;
  return core;
}

/* As rtph264pay's: about 200 bytes of announcement. */
void
AsmpSender::AnnounceCaps ()
{
  MccAppSession caps{};
  caps.payload_type = ASMP_PAYLOAD_TYPE;
  caps.send_time_id = ASMP_SEND_TIME_ID;
  caps.clock_rate = ASMP_CLOCK_RATE;
  std::string ("video").copy (caps.media, sizeof caps.media - 1);
  std::string ("H264").copy (caps.encoding_name, sizeof caps.encoding_name - 1);
  std::string ("packetization-mode=(string)1;profile-level-id=(string)42c01e;"
               "sprop-parameter-sets=(string)\"Z0LAHtkAoD2hAAADAAEAAAMAMg8WLkg\\=\\,aMuDyyA\\=\";"
               "a-framerate=(string)25")
      .copy (caps.parameters, sizeof caps.parameters - 1);
  bool good = mcc_asmp_sender_set_caps (m_core.get (), &caps, m_port.Now ());
  NS_ABORT_MSG_IF (!good, "caps that cannot be announced");
}

void
AsmpSender::Start ()
{
  if (m_core)
    return;
  m_ssrc = static_cast<std::uint32_t> (mcc_rng_next (&m_rng)) | 1;
  m_seq = static_cast<std::uint16_t> (mcc_rng_next (&m_rng));
  m_sent_seq = {};
  MccAsmpSenderConfig core = CoreConfig ();
  m_session_bps = core.session_bandwidth_bps;
  m_core.reset (mcc_asmp_sender_new (&core, m_port.Now ()));
  m_port.Join (0); /* reports to the group */
  AnnounceCaps ();
  Drain ();
  m_regular.Start ();
  m_source->Start ();
}

void
AsmpSender::Stop ()
{
  if (!m_core)
    return;
  m_source->Stop ();
  m_timer.Cancel ();
  m_regular.Stop ();
  SendRegular (true);
  m_core.reset ();
  m_port.Leave (0);
  m_record.limiting.Set (-1.0);
}

void
AsmpSender::SendMedia (std::uint32_t ip_bytes)
{
  MccTime now = m_port.Now ();
  AsmpRtp rtp = MakeRtp (m_ssrc, m_seq, mcc_abs_send_time (now));
  mcc_seq_extend16 (&m_sent_seq, m_seq++);
  m_port.SendGroup (0, rtp.data (), rtp.size (), ip_bytes, mcc_asmp_sender_ect (m_core.get ()));
  m_record.bytes.Add (ip_bytes);
  m_record.packets.Add (1);
  m_record.Sent ();
  mcc_asmp_sender_handle_sent (m_core.get (), 1, ip_bytes, mcc_seq_highest32 (&m_sent_seq), now);
  Drain ();
}

void
AsmpSender::SendCompound (const AsmpCompound &compound)
{
  m_port.SendGroup (0, compound.Data (), compound.Size (), compound.IpBytes ());
  m_record.control_bytes.Add (compound.IpBytes ());
}

void
AsmpSender::SendRegular (bool bye)
{
  AsmpCompound compound (m_ssrc, true);
  if (bye)
    compound.AddBye ();
  SendCompound (compound);
}

void
AsmpSender::SendSession (const MccAppSession &session, const MccAppRttList *rtt)
{
  MccApp app{};
  app.ssrc = m_ssrc;
  app.subtype = MCC_APP_SESSION;
  app.session = session;
  app.session.media_ssrc = m_ssrc;
  app.session.send_time = mcc_abs_send_time (m_port.Now ());
  AsmpCompound compound (m_ssrc, true);
  compound.AddApp (app);
  if (rtt == nullptr || rtt->count == 0) {
    SendCompound (compound);
    return;
  }
  MccApp list{};
  list.ssrc = m_ssrc;
  list.subtype = MCC_APP_RTT;
  list.rtt = *rtt;
  bool fits = compound.AddApp (list);
  SendCompound (compound);
  if (fits)
    return;
  AsmpCompound next (m_ssrc, true);
  next.AddApp (list);
  SendCompound (next);
}

/* Whether there was a report. */
bool
AsmpSender::HandleReport (const AsmpCompoundReader &reader, const MccAddress &from, MccTime now)
{
  const MccApp &app = reader.App ();
  if (app.subtype != MCC_APP_REPORT) {
    mcc_asmp_sender_handle_dropped (m_core.get (), MCC_DROP_OTHER_SENDER, app.ssrc, now);
    return false;
  }
  m_record.reports.Add (1);
  mcc_asmp_sender_handle_report (m_core.get (), app.ssrc, &app.report, &from, now);
  return true;
}

void
AsmpSender::Handle (const Datagram &datagram)
{
  if (!m_core || !IsRtcp (datagram))
    return;
  MccTime now = m_port.Now ();
  MccAddress from = AsmpAddress (datagram.from);
  AsmpCompoundReader reader (datagram);
  AsmpBlock block;
  std::uint32_t reporter = 0;
  bool has_app = false;
  for (auto part = reader.Next (); part != AsmpCompoundReader::Part::END; part = reader.Next ()) {
    if (part == AsmpCompoundReader::Part::REPORT) {
      block = reader.Block ();
      reporter = reader.Ssrc ();
    } else if (part == AsmpCompoundReader::Part::APP) {
      has_app |= HandleReport (reader, from, now);
    } else if (part == AsmpCompoundReader::Part::BYE) {
      mcc_asmp_sender_handle_bye (m_core.get (), reader.Ssrc (), &from, now);
    }
  }
  MccPlainReport plain = block.Plain ();
  if (block.present && !has_app)
    mcc_asmp_sender_handle_plain_report (m_core.get (), reporter, &plain, &from, now);
  Drain ();
}

void
AsmpSender::Timeout ()
{
  mcc_asmp_sender_handle_timeout (m_core.get (), m_port.Now ());
  Drain ();
}

void
AsmpSender::Act (const MccSenderAction &action)
{
  switch (action.type) {
    case MCC_SENDER_TARGET:
      m_record.target_bps.Set (static_cast<double> (action.target_bps));
      m_source->SetTarget (action.target_bps);
      m_regular.Update (action.target_bps, m_session_bps, 1);
      break;
    case MCC_SENDER_SEND_SESSION:
      SendSession (*action.session, action.rtt);
      break;
    case MCC_SENDER_STOP:
      m_source->Stop ();
      break;
    case MCC_SENDER_RESUME:
      m_source->Start ();
      break;
    case MCC_SENDER_KEY_UNIT:
      m_source->KeyUnit ();
      break;
    case MCC_SENDER_PACING:
      m_source->SetPacing (action.pacing);
      break;
    case MCC_SENDER_RECEIVER:
    case MCC_SENDER_FEEDBACK_LOST:
    case MCC_SENDER_FEEDBACK_FOUND:
      break;
  }
}

void
AsmpSender::Drain ()
{
  MccSenderAction action;
  while (mcc_asmp_sender_poll (m_core.get (), &action))
    Act (action);
  MccAsmpSenderStats stats;
  mcc_asmp_sender_get_stats (m_core.get (), m_port.Now (), &stats);
  m_record.limiting.Set (
      stats.limiting_ssrc != 0 ? static_cast<double> (AsmpHost (stats.limiting_address)) : -1.0);
  m_timer.Set (mcc_asmp_sender_next_timeout (m_core.get ()));
}

} // namespace

std::unique_ptr<MulticastSender>
NewAsmpSender (MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record)
{
  return std::make_unique<AsmpSender> (variant, port, config, record);
}

} // namespace sim
