/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspreceiver: hosts MccAsspReceiver as asspsimulcastsrc does.
 */
#include "assp.h"

#include <algorithm>
#include <cstring>

#include <ns3/abort.h>
#include <ns3/simulator.h>

#include "frames.h"

namespace sim
{
namespace
{

constexpr MccTime RFC3550_MINIMUM = 5 * MCC_SECOND;

struct FreeReceiver {
  void operator() (MccAsspReceiver *self) const
  {
    mcc_assp_receiver_free (self);
  }
};

/* What has come of one stream since it was joined; losses by the sender's numbers, not by what the
 * protocol counts or forgives. */
struct Arrivals {
  bool any = false;
  std::uint32_t highest = 0;
  double sent = 0; /* s, when the highest left */
  std::uint64_t received = 0, lost = 0;
};

class AsspReceiver : public MulticastReceiver
{
public:
  AsspReceiver (
      MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record);
  ~AsspReceiver () override
  {
    Crash ();
  }
  void Start () override;
  void Leave () override;
  void Crash () override;

private:
  MccAsspReceiverConfig CoreConfig ();
  MccAsmpReceiverConfig AsmpConfig ();
  AsmpBlock Block ();
  void Send (const AsmpCompound &compound);
  void SendReport (unsigned stream, const MccAppReport &report, bool bye);
  void AskKeyUnit (std::uint32_t media_ssrc);
  void Handle (const Datagram &datagram);
  void HandleMedia (const Datagram &datagram, MccTime now);
  void HandleRtcp (const Datagram &datagram, MccTime now);
  void CountMedia (const Datagram &datagram, const AsspMedia &media, unsigned stream);
  void Timeout ();
  void Drain ();
  void Act (const MccAsspReceiverAction &action);
  void Join (const MccAsspReceiverAction &action);
  void RecordStream ();
  void RecordTrace ();
  bool IsJoined (unsigned stream) const
  {
    return std::find (m_groups.begin (), m_groups.end (), stream) != m_groups.end ();
  }

  MccVariant m_variant;
  Port &m_port;
  MulticastConfig m_config;
  ReceiverRecord &m_record;
  MccRng m_rng;
  std::unique_ptr<MccAsspReceiver, FreeReceiver> m_core;
  CoreTimer m_timer;
  std::uint32_t m_ssrc = 0;
  std::vector<unsigned> m_groups;         /* streams whose groups are joined */
  unsigned m_shown = MCC_ASSP_NO_STREAM;  /* to the viewer */
  unsigned m_joined = MCC_ASSP_NO_STREAM; /* waits for its key unit */
  std::vector<Arrivals> m_arrivals;
  unsigned m_counted = MCC_ASSP_NO_STREAM; /* the stream that counts: shown, else joined */
  Frames m_frames;
  std::uint64_t m_block_lost = 0, m_block_received = 0;
  std::uint32_t m_highest_seq = 0;
};

AsspReceiver::AsspReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record)
    : m_variant (variant), m_port (port), m_config (config), m_record (record),
      m_timer (port, [this] { Timeout (); }), m_arrivals (config.streams.size ()), m_frames (record)
{
  mcc_rng_init (&m_rng, config.seed);
  m_port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
}

MccAsmpReceiverConfig
AsspReceiver::AsmpConfig ()
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

MccAsspReceiverConfig
AsspReceiver::CoreConfig ()
{
  const nlohmann::json &options = m_config.options;
  const MccAsspFactors &usual = mcc_assp_factors_default;
  MccAsspReceiverConfig core{};
  core.asmp = AsmpConfig ();
  core.factors.alpha = options.value ("alpha", usual.alpha);
  core.factors.beta = options.value ("beta", usual.beta);
  core.factors.kappa = options.value ("kappa", usual.kappa);
  core.factors.lambda = options.value ("lambda", usual.lambda);
  core.leave_latency = ToldLeaveLatency (m_config);
  core.lock_stream = options.value ("lock_stream", -1);
  return core;
}

/* A new process: a new SSRC, nothing known but the RTCP group. */
void
AsspReceiver::Start ()
{
  if (m_core)
    return;
  m_ssrc = static_cast<std::uint32_t> (mcc_rng_next (&m_rng)) | 1;
  m_shown = m_joined = m_counted = MCC_ASSP_NO_STREAM;
  m_block_lost = m_block_received = 0;
  MccAsspReceiverConfig core = CoreConfig ();
  m_core.reset (mcc_assp_receiver_new (&core, m_port.Now ()));
  NS_ABORT_MSG_UNLESS (m_core, "factors out of their range");
  m_record.member.Set (1.0);
  m_port.Join (ASSP_RTCP_GROUP);
  Drain ();
}

void
AsspReceiver::Leave ()
{
  if (!m_core)
    return;
  MccAppReport report;
  unsigned stream;
  mcc_assp_receiver_leave (m_core.get (), &stream, &report, m_port.Now ());
  if (stream != MCC_ASSP_NO_STREAM)
    SendReport (stream, report, true);
  Crash ();
}

void
AsspReceiver::Crash ()
{
  if (!m_core)
    return;
  m_timer.Cancel ();
  m_core.reset ();
  m_record.member.Set (0.0);
  m_record.stream.Set (NO_STREAM);
  for (unsigned stream : m_groups)
    m_port.Leave (AsspGroup (stream));
  m_groups.clear ();
  m_port.Leave (ASSP_RTCP_GROUP);
}

/* Loss of the stream that counts since the previous block. */
AsmpBlock
AsspReceiver::Block ()
{
  AsmpBlock block;
  const MccAsspStreams *streams = mcc_assp_receiver_streams (m_core.get ());
  if (m_counted == MCC_ASSP_NO_STREAM || streams == nullptr || m_counted >= streams->count)
    return block;
  const Arrivals &arrivals = m_arrivals[m_counted];
  block.present = arrivals.any;
  block.source = streams->stream[m_counted].ssrc;
  block.highest_seq = m_highest_seq;
  /* A new stream begins at 0. */
  auto since = [] (std::uint64_t now, std::uint64_t before) {
    return static_cast<double> (now >= before ? now - before : now);
  };
  double received = since (arrivals.received, m_block_received);
  double lost = since (arrivals.lost, m_block_lost);
  if (received + lost > 0.0)
    block.fraction_lost = lost / (received + lost);
  m_block_received = arrivals.received;
  m_block_lost = arrivals.lost;
  block.packets_lost = static_cast<std::int32_t> (arrivals.lost);
  return block;
}

void
AsspReceiver::Send (const AsmpCompound &compound)
{
  if (m_config.hears_group)
    m_port.SendGroup (ASSP_RTCP_GROUP, compound.Data (), compound.Size (), compound.IpBytes ());
  else
    m_port.SendTo (m_config.sender, compound.Data (), compound.Size (), compound.IpBytes ());
  m_record.control_bytes.Add (compound.IpBytes ());
}

void
AsspReceiver::SendReport (unsigned stream, const MccAppReport &report, bool bye)
{
  MccAsspApp app{};
  app.ssrc = app.asmp.ssrc = m_ssrc;
  app.subtype = app.asmp.subtype = MCC_APP_REPORT;
  app.stream = stream;
  app.asmp.report = report;
  m_highest_seq = report.highest_seq;
  AsmpCompound compound (m_ssrc, false, Block ());
  compound.AddApp (app);
  if (bye)
    compound.AddBye ();
  Send (compound);
  m_record.reports.Add (1);
}

void
AsspReceiver::AskKeyUnit (std::uint32_t media_ssrc)
{
  AsmpCompound compound (m_ssrc, false);
  compound.AddPli (media_ssrc);
  Send (compound);
}

void
AsspReceiver::Handle (const Datagram &datagram)
{
  if (!m_core)
    return;
  MccTime now = m_port.Now ();
  if (IsRtcp (datagram))
    HandleRtcp (datagram, now);
  else if (datagram.to_group && datagram.group != ASSP_RTCP_GROUP)
    HandleMedia (datagram, now);
  if (m_core)
    Drain ();
}

void
AsspReceiver::HandleMedia (const Datagram &datagram, MccTime now)
{
  MccRtpPacket packet{};
  AsspMedia media;
  unsigned stream = datagram.group - AsspGroup (0);
  if (stream >= m_arrivals.size () || datagram.size < ASSP_PAYLOAD_BYTES
      || !ParseRtp (datagram, &packet))
    return;
  std::memcpy (&media, datagram.data + ASMP_RTP_BYTES, sizeof media);
  if (m_record.trace)
    m_record.trace->Came (datagram.delay, stream);
  MccAddress from = AsmpAddress (datagram.from);
  MccDrop drop = mcc_assp_receiver_handle_rtp (m_core.get (), stream, &packet, &from, now);
  if (drop == MCC_DROP_NONE && stream == m_joined && media.key) {
    MccAsspReceiverStats stats;
    mcc_assp_receiver_get_stats (m_core.get (), &stats);
    m_joined = MCC_ASSP_NO_STREAM;
    if (stats.switching) /* else this very packet has made it give up */
      mcc_assp_receiver_handle_cut (m_core.get (), stream, now);
    if (m_record.trace)
      m_record.trace->Show (static_cast<int> (stream), datagram.delay);
  }
  RecordStream ();
  CountMedia (datagram, media, stream);
}

/* What the viewer gets, and what the network carries besides. */
void
AsspReceiver::CountMedia (const Datagram &datagram, const AsspMedia &media, unsigned stream)
{
  Arrivals &arrivals = m_arrivals[stream];
  bool counts = stream == m_counted && IsJoined (stream);
  double sent = ns3::Simulator::Now ().GetSeconds () - datagram.delay;
  std::uint32_t lost = 0;
  if (arrivals.any && media.number > arrivals.highest)
    lost = media.number - arrivals.highest - 1;
  double before = arrivals.any ? arrivals.sent : sent;
  if (!arrivals.any || media.number > arrivals.highest) {
    arrivals.highest = media.number;
    arrivals.sent = sent;
  }
  arrivals.any = true;
  arrivals.received++;
  arrivals.lost += lost;
  if (!counts) {
    m_record.other_bytes.Add (datagram.ip_bytes);
    return;
  }
  m_record.bytes.Add (datagram.ip_bytes);
  m_record.packets.Add (1);
  m_record.delay.Add (datagram.delay);
  if (lost > 0)
    m_record.lost.Add (lost);
  m_frames.Add (before, arrivals.sent, lost);
}

void
AsspReceiver::HandleRtcp (const Datagram &datagram, MccTime now)
{
  using Part = AsmpCompoundReader::Part;
  AsmpCompoundReader reader (datagram);
  for (Part part = reader.Next (); part != Part::END; part = reader.Next ()) {
    if (part == Part::BYE) {
      mcc_assp_receiver_handle_bye (m_core.get (), reader.Ssrc (), now);
    } else if (part == Part::ASSP) {
      const MccAsspApp &app = reader.AsspApp ();
      mcc_assp_receiver_handle_app (m_core.get (), &app, now);
    }
  }
}

void
AsspReceiver::Timeout ()
{
  mcc_assp_receiver_handle_timeout (m_core.get (), m_port.Now ());
  Drain ();
}

void
AsspReceiver::Join (const MccAsspReceiverAction &action)
{
  m_port.Join (AsspGroup (action.stream));
  m_groups.push_back (action.stream);
  m_joined = action.stream;
  m_arrivals[action.stream] = {};
}

void
AsspReceiver::Act (const MccAsspReceiverAction &action)
{
  switch (action.type) {
    case MCC_ASSP_RECEIVER_JOIN:
      Join (action);
      break;
    case MCC_ASSP_RECEIVER_LEAVE:
      m_port.Leave (AsspGroup (action.stream));
      m_groups.erase (
          std::remove (m_groups.begin (), m_groups.end (), action.stream), m_groups.end ());
      break;
    case MCC_ASSP_RECEIVER_SWITCHED:
    case MCC_ASSP_RECEIVER_FAILED: {
      bool failed = action.type == MCC_ASSP_RECEIVER_FAILED;
      auto number = [] (unsigned stream) {
        return stream == MCC_ASSP_NO_STREAM ? NO_STREAM : static_cast<int> (stream);
      };
      m_record.switches.push_back ({ ns3::Simulator::Now ().GetSeconds (), number (action.from),
          number (action.stream), failed ? "failed" : mcc_assp_reason_name (action.reason),
          mcc_time_to_seconds (action.duration) });
      if (failed)
        m_joined = MCC_ASSP_NO_STREAM;
      break;
    }
    case MCC_ASSP_RECEIVER_KEY_UNIT:
      AskKeyUnit (action.group.ssrc);
      break;
    case MCC_ASSP_RECEIVER_STREAMS:
      break;
    case MCC_ASSP_RECEIVER_ASMP:
      if (action.asmp.type == MCC_RECEIVER_SEND_REPORT)
        SendReport (action.stream, action.asmp.report, false);
      else if (action.asmp.type == MCC_RECEIVER_CEASE)
        ns3::Simulator::ScheduleNow (&AsspReceiver::Leave, this);
      break;
  }
}

void
AsspReceiver::Drain ()
{
  MccAsspReceiverAction action;
  while (mcc_assp_receiver_poll (m_core.get (), &action))
    Act (action);
  RecordStream ();
  RecordTrace ();
  m_timer.Set (mcc_assp_receiver_next_timeout (m_core.get ()));
}

/* What the viewer sees is of @m_shown until the cut; without one that is received, of the one
 * joined what comes counts, but is not shown. */
void
AsspReceiver::RecordStream ()
{
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (m_core.get (), &stats);
  m_shown = stats.stream;
  m_counted = m_shown != MCC_ASSP_NO_STREAM ? m_shown : m_joined;
  m_record.stream.Set (m_shown == MCC_ASSP_NO_STREAM ? NO_STREAM : static_cast<double> (m_shown));
}

void
AsspReceiver::RecordTrace ()
{
  MccTraceEvent event;
  while (mcc_asmp_receiver_poll_trace (mcc_assp_receiver_asmp (m_core.get ()), &event)) {
    if (event.type != MCC_TRACE_RATE)
      continue;
    m_record.rate_bps.Set (static_cast<double> (event.a));
    m_record.loss_ratio.Set (event.x);
    m_record.rtt.Set (event.y);
  }
}

} // namespace

std::unique_ptr<MulticastReceiver>
NewAsspReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record)
{
  return std::make_unique<AsspReceiver> (variant, port, config, record);
}

} // namespace sim
