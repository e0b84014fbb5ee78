/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * elmsender: hosts MccElmSender as elmlayersink does.
 */
#include "elm.h"

#include <algorithm>

#include <ns3/abort.h>

#include "layersource.h"

extern "C" {
#include "mccjitter.h"
#include "mccseq.h"
}

namespace sim
{
namespace
{

constexpr std::uint32_t MAX_RECEIVERS = 4096; /* elmlayersink's default */

struct FreeSender {
  void operator() (MccElmSender *self) const
  {
    mcc_elm_sender_free (self);
  }
};

class ElmSender : public MulticastSender
{
public:
  ElmSender (MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record);
  ~ElmSender () override
  {
    Stop ();
  }
  void Start () override;
  void Stop () override;

private:
  struct Layer {
    std::uint32_t ssrc = 0;
    std::uint16_t seq = 0;
    MccSeq sent_seq{};
  };

  MccElmSenderConfig CoreConfig ();
  void AnnounceCaps ();
  void SendMedia (unsigned k, bool first);
  void SendCompound (const AsmpCompound &compound);
  void SendRegular (bool bye);
  void Announce (const MccElmSenderAction &action);
  MccElmApp App (unsigned subtype) const;
  void Handle (const Datagram &datagram);
  void HandleElm (const MccElmApp &app, const MccAddress &from, MccTime now);
  void Timeout ();
  void Drain ();

  MccVariant m_variant;
  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  MccRng m_rng;
  std::unique_ptr<MccElmSender, FreeSender> m_core;
  std::vector<Layer> m_layers;
  std::vector<std::uint64_t> m_rates_bps; /* of each alone */
  std::unique_ptr<LayerSource> m_source;
  MccLayerOrder m_order{};
  CoreTimer m_timer;
  AsmpRegular m_regular;
};

ElmSender::ElmSender (
    MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record)
    : m_variant (variant), m_port (port), m_config (config), m_record (record),
      m_layers (config.layers.size ()), m_timer (port, [this] { Timeout (); }),
      m_regular (port, true, config.seed ^ 0x5352, [this] { SendRegular (false); })
{
  NS_ABORT_MSG_IF (
      config.packet_bytes < UDP_HEADERS + sizeof (ElmRtp::data), "packets without room for media");
  NS_ABORT_MSG_IF (config.layers.size () > ELM_LAYERS_MAX, "too many layers");
  mcc_rng_init (&m_rng, config.seed);
  record.streams.resize (m_layers.size ());
  std::uint64_t below = 0;
  for (std::uint64_t cumulative : config.layers) {
    m_rates_bps.push_back (cumulative - below);
    below = cumulative;
  }
  m_source = NewLayerSource (port,
      { config.packet_bytes, ASMP_MEDIA_HEADERS, m_rates_bps, config.source },
      [this] (unsigned k, bool first) { SendMedia (k, first); });
  m_port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
}

MccElmSenderConfig
ElmSender::CoreConfig ()
{
  MccElmSenderConfig core{};
  core.variant = m_variant;
  core.seed = mcc_rng_next (&m_rng);
  core.layers.count = static_cast<unsigned> (m_layers.size ());
  for (unsigned k = 0; k < m_layers.size (); k++) {
    MccElmLayer &layer = core.layers.layer[k];
    layer.cumulative_bps = m_config.layers[k];
    layer.ssrc = m_layers[k].ssrc;
    layer.address_offset = static_cast<std::uint16_t> (k);
    layer.port_offset = static_cast<std::uint16_t> (2 * k);
    layer.depends_on = static_cast<std::uint8_t> ((1u << k) - 1);
  }
  core.max_receivers = std::max (MAX_RECEIVERS, 2 * m_config.expected_receivers);
  if (!m_config.hears_group)
    core.feedback = AsmpAddress (m_port.Host ());
  core.ttl = 64;
  return core;
}

void
ElmSender::AnnounceCaps ()
{
  MccAppSession caps{};
  caps.payload_type = ASMP_PAYLOAD_TYPE;
  caps.send_time_id = ASMP_SEND_TIME_ID;
  caps.clock_rate = ASMP_CLOCK_RATE;
  std::string ("video").copy (caps.media, sizeof caps.media - 1);
  std::string ("H264").copy (caps.encoding_name, sizeof caps.encoding_name - 1);
  std::string ("packetization-mode=(string)1;profile-level-id=(string)42c01e;"
               "sprop-parameter-sets=(string)\"Z0LAHtkAoD2hAAADAAEAAAMAMg8WLkg\\=\\,aMuDyyA\\=\"")
      .copy (caps.parameters, sizeof caps.parameters - 1);
  bool good = mcc_elm_sender_set_caps (m_core.get (), &caps, m_port.Now ());
  NS_ABORT_MSG_IF (!good, "caps that cannot be announced");
}

void
ElmSender::Start ()
{
  if (m_core)
    return;
  m_order = {};
  m_order.count = static_cast<std::uint8_t> (m_layers.size ());
  for (std::uint16_t &c : m_order.c)
    c = static_cast<std::uint16_t> (mcc_rng_next (&m_rng));
  for (Layer &layer : m_layers) {
    layer.ssrc = static_cast<std::uint32_t> (mcc_rng_next (&m_rng)) | 1;
    layer.seq = static_cast<std::uint16_t> (mcc_rng_next (&m_rng));
    layer.sent_seq = {};
  }
  MccElmSenderConfig core = CoreConfig ();
  m_core.reset (mcc_elm_sender_new (&core, m_port.Now ()));
  NS_ABORT_MSG_UNLESS (m_core, "layers that are not valid");
  m_port.Join (ELM_RTCP_GROUP); /* reports to the group */
  AnnounceCaps ();
  m_regular.Update (m_config.layers.front (), m_config.layers.front (), 1);
  m_regular.Start ();
  for (unsigned k = 0; k < m_layers.size (); k++)
    m_record.streams[k].target_bps.Set (static_cast<double> (m_rates_bps[k]));
  m_record.target_bps.Set (static_cast<double> (m_config.layers.back ()));
  m_source->Start (&m_rng);
  Drain ();
}

void
ElmSender::Stop ()
{
  if (!m_core)
    return;
  m_source->Stop ();
  m_timer.Cancel ();
  m_regular.Stop ();
  SendRegular (true);
  m_core.reset ();
  m_port.Leave (ELM_RTCP_GROUP);
}

void
ElmSender::SendMedia (unsigned k, bool first)
{
  Layer &layer = m_layers[k];
  std::uint32_t ip_bytes = m_config.packet_bytes;
  MccTime now = m_port.Now ();
  m_order.layer = static_cast<std::uint8_t> (k);
  m_order.flags = first ? MCC_LAYER_FIRST : 0;
  mcc_layer_order_next (&m_order);
  ElmRtp rtp = MakeElmRtp (layer.ssrc, layer.seq, mcc_abs_send_time (now), m_order);
  mcc_seq_extend16 (&layer.sent_seq, layer.seq++);
  m_port.SendGroup (ElmGroup (k), rtp.data.data (), rtp.size, ip_bytes);
  m_record.bytes.Add (ip_bytes);
  m_record.packets.Add (1);
  m_record.Sent (k);
  m_record.streams[k].bytes.Add (ip_bytes);
  mcc_elm_sender_handle_sent (
      m_core.get (), k, 1, ip_bytes, mcc_seq_highest32 (&layer.sent_seq), now);
  Drain ();
}

void
ElmSender::SendCompound (const AsmpCompound &compound)
{
  m_port.SendGroup (ELM_RTCP_GROUP, compound.Data (), compound.Size (), compound.IpBytes ());
  m_record.control_bytes.Add (compound.IpBytes ());
}

void
ElmSender::SendRegular (bool bye)
{
  AsmpCompound compound (m_layers.front ().ssrc, true);
  if (bye)
    compound.AddBye ();
  SendCompound (compound);
}

MccElmApp
ElmSender::App (unsigned subtype) const
{
  MccElmApp app{};
  app.ssrc = m_layers.front ().ssrc;
  app.subtype = subtype;
  if (subtype != MCC_ELM_LAYERS) {
    app.asmp.ssrc = app.ssrc;
    app.asmp.subtype = subtype;
  }
  return app;
}

void
ElmSender::Announce (const MccElmSenderAction &action)
{
  std::uint32_t ssrc = m_layers.front ().ssrc;
  AsmpCompound compound (ssrc, true);
  MccElmApp layers = App (MCC_ELM_LAYERS), session = App (MCC_APP_SESSION), rtt = App (MCC_APP_RTT);
  layers.layers = *action.layers;
  session.asmp.session = *action.session;
  session.asmp.session.media_ssrc = ssrc;
  session.asmp.session.send_time = mcc_abs_send_time (m_port.Now ());
  bool fits = compound.AddApp (layers) && compound.AddApp (session);
  NS_ABORT_MSG_UNLESS (fits, "an announcement that is no compound");
  if (action.rtt == nullptr || action.rtt->count == 0) {
    SendCompound (compound);
    return;
  }
  rtt.asmp.rtt = *action.rtt;
  fits = compound.AddApp (rtt);
  SendCompound (compound);
  if (fits)
    return;
  AsmpCompound next (ssrc, true);
  next.AddApp (rtt);
  SendCompound (next);
}

void
ElmSender::HandleElm (const MccElmApp &app, const MccAddress &from, MccTime now)
{
  if (app.subtype != MCC_APP_REPORT)
    return;
  m_record.reports.Add (1);
  mcc_elm_sender_handle_report (m_core.get (), &app, &from, now);
}

void
ElmSender::Handle (const Datagram &datagram)
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
    } else if (part == Part::ELM) {
      has_app = true;
      HandleElm (reader.ElmApp (), from, now);
    } else if (part == Part::PLI && reader.MediaSsrc () == m_layers.front ().ssrc) {
      mcc_elm_sender_handle_key_unit_request (m_core.get (), now);
    } else if (part == Part::BYE) {
      mcc_elm_sender_handle_bye (m_core.get (), reader.Ssrc (), &from, now);
    }
  }
  MccPlainReport plain = block.Plain ();
  if (block.present && !has_app && block.source == m_layers.front ().ssrc)
    mcc_elm_sender_handle_plain_report (m_core.get (), reporter, &plain, &from, now);
  Drain ();
}

void
ElmSender::Timeout ()
{
  mcc_elm_sender_handle_timeout (m_core.get (), m_port.Now ());
  Drain ();
}

void
ElmSender::Drain ()
{
  MccElmSenderAction action;
  while (mcc_elm_sender_poll (m_core.get (), &action))
    if (action.type == MCC_ELM_SENDER_ANNOUNCE)
      Announce (action);
  m_timer.Set (mcc_elm_sender_next_timeout (m_core.get ()));
}

} // namespace

std::unique_ptr<MulticastSender>
NewElmSender (MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record)
{
  return std::make_unique<ElmSender> (variant, port, config, record);
}

} // namespace sim
