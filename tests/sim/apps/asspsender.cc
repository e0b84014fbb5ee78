/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsender: hosts MccAsspSender as asspsimulcastbin does, with its encoders always running.
 */
#include "assp.h"

#include <algorithm>
#include <cstring>

#include <ns3/abort.h>
#include <ns3/simulator.h>

extern "C" {
#include "mccjitter.h"
#include "mccseq.h"
}

namespace sim
{
namespace
{

constexpr std::uint32_t MAX_RECEIVERS = 4096; /* asspsimulcastbin's default */
constexpr MccTime FRAME_TIME = MCC_SECOND / static_cast<MccTime> (FRAME_RATE);

struct FreeSender {
  void operator() (MccAsspSender *self) const
  {
    mcc_assp_sender_free (self);
  }
};

class AsspSender : public MulticastSender
{
public:
  AsspSender (MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record);
  ~AsspSender () override
  {
    Stop ();
  }
  void Start () override;
  void Stop () override;

private:
  struct Stream {
    std::unique_ptr<MediaSource> source;
    std::uint32_t ssrc = 0, number = 0;
    std::uint16_t seq = 0;
    MccSeq sent_seq{};
    std::uint64_t target_bps = 0;
    MccTime phase = 0;           /* of its frames */
    MccTime key = MCC_TIME_NONE; /* a key unit begins then */
  };

  MccAsspSenderConfig CoreConfig ();
  void AnnounceCaps (unsigned j);
  void KeyUnit (unsigned j);
  void SendMedia (unsigned j, std::uint32_t ip_bytes);
  MccAsspApp Session (unsigned j, const MccAppSession &session);
  void SendSession (const MccAsspSenderAction &action);
  void SendCompound (const AsmpCompound &compound);
  void SendRegular (bool bye);
  int StreamOf (std::uint32_t ssrc) const;
  void Handle (const Datagram &datagram);
  void HandleReport (const MccAsspApp &app, const MccAddress &from, MccTime now);
  void Timeout ();
  void Drain ();
  void Act (const MccAsspSenderAction &action);
  void SetTarget (unsigned j, std::uint64_t target_bps);

  MccVariant m_variant;
  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  MccRng m_rng;
  std::unique_ptr<MccAsspSender, FreeSender> m_core;
  std::vector<Stream> m_streams;
  CoreTimer m_timer;
  AsmpRegular m_regular;
  std::uint64_t m_session_bps = 0;
};

AsspSender::AsspSender (
    MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record)
    : m_variant (variant), m_port (port), m_config (config), m_record (record),
      m_streams (config.streams.size ()), m_timer (port, [this] { Timeout (); }),
      m_regular (port, true, config.seed ^ 0x5352, [this] { SendRegular (false); })
{
  NS_ABORT_MSG_IF (
      config.packet_bytes < UDP_HEADERS + ASSP_PAYLOAD_BYTES, "packets without room for media");
  NS_ABORT_MSG_IF (config.streams.size () > MCC_ASSP_STREAMS_MAX, "too many streams");
  mcc_rng_init (&m_rng, config.seed);
  record.streams.resize (m_streams.size ());
  for (unsigned j = 0; j < m_streams.size (); j++)
    m_streams[j].source
        = NewMediaSource (port, { config.packet_bytes, ASMP_MEDIA_HEADERS, config.source },
            [this, j] (std::uint32_t bytes) { SendMedia (j, bytes); });
  m_port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
}

MccAsspSenderConfig
AsspSender::CoreConfig ()
{
  MccAsspSenderConfig core{};
  core.variant = m_variant;
  core.seed = mcc_rng_next (&m_rng);
  core.streams.count = static_cast<unsigned> (m_streams.size ());
  for (unsigned j = 0; j < m_streams.size (); j++) {
    MccAsspStream &stream = core.streams.stream[j];
    stream.low_bps = m_config.streams[j].low_bps;
    stream.high_bps = m_config.streams[j].high_bps;
    stream.address_offset = static_cast<std::uint16_t> (1 + j);
    stream.port_offset = static_cast<std::uint16_t> (2 * j);
    stream.ssrc = m_streams[j].ssrc;
  }
  core.max_streams = m_config.options.value ("max_streams", 0u);
  core.session_bandwidth_bps = m_session_bps;
  core.max_receivers = std::max (MAX_RECEIVERS, 2 * m_config.expected_receivers);
  if (!m_config.hears_group)
    core.feedback = AsmpAddress (m_port.Host ());
  core.ecn = m_config.ect;
  core.ttl = 64;
  return core;
}

/* As rtph264pay's: about 200 bytes of announcement. */
void
AsspSender::AnnounceCaps (unsigned j)
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
  bool good = mcc_assp_sender_set_caps (m_core.get (), j, &caps, m_port.Now ());
  NS_ABORT_MSG_IF (!good, "caps that cannot be announced");
}

void
AsspSender::Start ()
{
  if (m_core)
    return;
  for (Stream &stream : m_streams) {
    stream.ssrc = static_cast<std::uint32_t> (mcc_rng_next (&m_rng)) | 1;
    stream.seq = static_cast<std::uint16_t> (mcc_rng_next (&m_rng));
    stream.sent_seq = {};
    stream.phase = mcc_rng_next (&m_rng) % FRAME_TIME;
    stream.key = m_port.Now (); /* the first picture is one */
  }
  m_session_bps = m_config.options.value ("session_bandwidth", 0.0) > 0.0
                      ? m_config.options["session_bandwidth"].get<std::uint64_t> ()
                      : m_config.streams.back ().high_bps;
  MccAsspSenderConfig core = CoreConfig ();
  m_core.reset (mcc_assp_sender_new (&core, m_port.Now ()));
  NS_ABORT_MSG_UNLESS (m_core, "streams that are no ladder");
  m_port.Join (ASSP_RTCP_GROUP); /* reports to the group */
  for (unsigned j = 0; j < m_streams.size (); j++) {
    AnnounceCaps (j);
    mcc_assp_sender_set_running (m_core.get (), j, true, m_port.Now ());
    SetTarget (j, m_config.streams[j].low_bps);
  }
  Drain ();
  m_regular.Start ();
  for (Stream &stream : m_streams)
    stream.source->Start ();
}

void
AsspSender::Stop ()
{
  if (!m_core)
    return;
  for (Stream &stream : m_streams)
    stream.source->Stop ();
  m_timer.Cancel ();
  m_regular.Stop ();
  SendRegular (true);
  m_core.reset ();
  m_port.Leave (ASSP_RTCP_GROUP);
}

/* At the next frame; one that waits already will do. */
void
AsspSender::KeyUnit (unsigned j)
{
  Stream &stream = m_streams[j];
  MccTime now = m_port.Now ();
  if (stream.key == MCC_TIME_NONE)
    stream.key = now + FRAME_TIME - (now + stream.phase) % FRAME_TIME;
  stream.source->KeyUnit ();
}

void
AsspSender::SendMedia (unsigned j, std::uint32_t ip_bytes)
{
  Stream &stream = m_streams[j];
  StreamRecord &record = m_record.streams[j];
  MccTime now = m_port.Now ();
  AsspMedia media{};
  media.number = stream.number++;
  media.key = now >= stream.key;
  if (media.key)
    stream.key = MCC_TIME_NONE;
  AsmpRtp rtp = MakeRtp (stream.ssrc, stream.seq, mcc_abs_send_time (now));
  std::array<std::uint8_t, ASSP_PAYLOAD_BYTES> data;
  std::copy (rtp.begin (), rtp.end (), data.begin ());
  std::memcpy (data.data () + rtp.size (), &media, sizeof media);
  mcc_seq_extend16 (&stream.sent_seq, stream.seq++);
  m_port.SendGroup (AsspGroup (j), data.data (), data.size (),
      std::max (ip_bytes, UDP_HEADERS + ASSP_PAYLOAD_BYTES),
      mcc_asmp_sender_ect (mcc_assp_sender_stream (m_core.get (), j)));
  m_record.bytes.Add (ip_bytes);
  m_record.packets.Add (1);
  record.bytes.Add (ip_bytes);
  m_record.Sent (j);
  mcc_assp_sender_handle_sent (
      m_core.get (), j, 1, ip_bytes, mcc_seq_highest32 (&stream.sent_seq), now);
  Drain ();
}

void
AsspSender::SendCompound (const AsmpCompound &compound)
{
  m_port.SendGroup (ASSP_RTCP_GROUP, compound.Data (), compound.Size (), compound.IpBytes ());
  m_record.control_bytes.Add (compound.IpBytes ());
}

/* Every stream is an RTP session of its own. */
void
AsspSender::SendRegular (bool bye)
{
  for (const Stream &stream : m_streams) {
    AsmpCompound compound (stream.ssrc, true);
    if (bye)
      compound.AddBye ();
    SendCompound (compound);
  }
}

MccAsspApp
AsspSender::Session (unsigned j, const MccAppSession &session)
{
  MccAsspApp app{};
  app.ssrc = app.asmp.ssrc = m_streams[j].ssrc;
  app.subtype = app.asmp.subtype = MCC_APP_SESSION;
  app.stream = j;
  app.asmp.session = session;
  app.asmp.session.media_ssrc = m_streams[j].ssrc;
  app.asmp.session.send_time = mcc_abs_send_time (m_port.Now ());
  return app;
}

void
AsspSender::SendSession (const MccAsspSenderAction &said)
{
  const MccSenderAction &action = said.asmp;
  unsigned j = said.stream;
  std::uint32_t ssrc = m_streams[j].ssrc;
  MccAsspApp description{};
  description.ssrc = ssrc;
  description.subtype = MCC_ASSP_STREAMS;
  description.streams = *said.streams;
  AsmpCompound compound (ssrc, true);
  bool fits = compound.AddApp (description) && compound.AddApp (Session (j, *action.session));
  for (unsigned k = 0; k < m_streams.size (); k++)
    if (said.also[k] != nullptr)
      fits = fits && compound.AddApp (Session (k, *said.also[k]));
  NS_ABORT_MSG_UNLESS (fits, "an announcement that does not fit");
  if (action.rtt == nullptr || action.rtt->count == 0) {
    SendCompound (compound);
    return;
  }
  MccAsspApp list{};
  list.ssrc = list.asmp.ssrc = ssrc;
  list.subtype = list.asmp.subtype = MCC_APP_RTT;
  list.stream = j;
  list.asmp.rtt = *action.rtt;
  fits = compound.AddApp (list);
  SendCompound (compound);
  if (fits)
    return;
  AsmpCompound next (ssrc, true);
  next.AddApp (list);
  SendCompound (next);
}

/* -1: none of ours. */
int
AsspSender::StreamOf (std::uint32_t ssrc) const
{
  for (unsigned j = 0; j < m_streams.size (); j++)
    if (m_streams[j].ssrc == ssrc)
      return static_cast<int> (j);
  return -1;
}

void
AsspSender::HandleReport (const MccAsspApp &app, const MccAddress &from, MccTime now)
{
  if (app.subtype != MCC_APP_REPORT)
    return;
  m_record.reports.Add (1);
  mcc_assp_sender_handle_report (m_core.get (), app.stream, app.ssrc, &app.asmp.report, &from, now);
}

void
AsspSender::Handle (const Datagram &datagram)
{
  if (!m_core || !IsRtcp (datagram))
    return;
  using Part = AsmpCompoundReader::Part;
  MccTime now = m_port.Now ();
  MccAddress from = AsmpAddress (datagram.from);
  AsmpCompoundReader reader (datagram);
  AsmpBlock block;
  std::uint32_t reporter = 0;
  bool has_app = false;
  for (Part part = reader.Next (); part != Part::END; part = reader.Next ()) {
    if (part == Part::REPORT) {
      block = reader.Block ();
      reporter = reader.Ssrc ();
    } else if (part == Part::ASSP) {
      has_app = true;
      HandleReport (reader.AsspApp (), from, now);
    } else if (part == Part::PLI && StreamOf (reader.MediaSsrc ()) >= 0) {
      mcc_assp_sender_handle_key_unit_request (
          m_core.get (), static_cast<unsigned> (StreamOf (reader.MediaSsrc ())), now);
    } else if (part == Part::BYE) {
      mcc_assp_sender_handle_bye (m_core.get (), reader.Ssrc (), &from, now);
    }
  }
  MccPlainReport plain = block.Plain ();
  if (block.present && !has_app && StreamOf (block.source) >= 0)
    mcc_assp_sender_handle_plain_report (m_core.get (),
        static_cast<unsigned> (StreamOf (block.source)), reporter, &plain, &from, now);
  Drain ();
}

void
AsspSender::Timeout ()
{
  mcc_assp_sender_handle_timeout (m_core.get (), m_port.Now ());
  Drain ();
}

void
AsspSender::SetTarget (unsigned j, std::uint64_t target_bps)
{
  m_streams[j].target_bps = target_bps;
  m_streams[j].source->SetTarget (target_bps);
  m_record.streams[j].target_bps.Set (static_cast<double> (target_bps));
  double sum = 0;
  for (const Stream &stream : m_streams)
    sum += static_cast<double> (stream.target_bps);
  m_record.target_bps.Set (sum);
  if (j == 0)
    m_regular.Update (target_bps, m_session_bps, 1);
}

void
AsspSender::Act (const MccAsspSenderAction &action)
{
  if (action.type == MCC_ASSP_SENDER_BOUNDS) {
    m_record.streams[action.stream].low_bps.Set (static_cast<double> (action.bounds.low_bps));
    m_record.streams[action.stream].high_bps.Set (static_cast<double> (action.bounds.high_bps));
  }
  if (action.type != MCC_ASSP_SENDER_ASMP)
    return;
  if (action.asmp.type == MCC_SENDER_TARGET)
    SetTarget (action.stream, action.asmp.target_bps);
  else if (action.asmp.type == MCC_SENDER_SEND_SESSION)
    SendSession (action);
  else if (action.asmp.type == MCC_SENDER_KEY_UNIT)
    KeyUnit (action.stream);
  else if (action.asmp.type == MCC_SENDER_PACING)
    m_streams[action.stream].source->SetPacing (action.asmp.pacing);
}

void
AsspSender::Drain ()
{
  MccAsspSenderAction action;
  while (mcc_assp_sender_poll (m_core.get (), &action))
    Act (action);
  for (unsigned j = 0; j < m_streams.size (); j++) {
    MccAsmpSenderStats stats;
    mcc_asmp_sender_get_stats (mcc_assp_sender_stream (m_core.get (), j), m_port.Now (), &stats);
    bool limited = stats.limiting_ssrc != 0;
    m_record.streams[j].limiting.Set (
        limited ? static_cast<double> (AsmpHost (stats.limiting_address)) : -1.0);
  }
  m_timer.Set (mcc_assp_sender_next_timeout (m_core.get ()));
}

} // namespace

std::unique_ptr<MulticastSender>
NewAsspSender (MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record)
{
  return std::make_unique<AsspSender> (variant, port, config, record);
}

} // namespace sim
