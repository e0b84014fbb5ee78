/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vnetassp.h"

#include "mccjitter.h"
#include "mccseq.h"

#define ANNOUNCEMENT_BYTES 330 /* SR + SDES + session, IP and UDP included */
#define RTT_BYTES 16
#define RTT_ENTRY_BYTES 12
#define REPORT_BYTES 160
#define PLI_BYTES 76
#define HEADER_BYTES 40
#define KEY_FACTOR 2.0 /* size of a key frame; the next ones make up for it */

const VnetAsspSenderConfig vnet_assp_sender_default = {
  .variant = MCC_VARIANT_ENHANCED,
  .count = 3,
  .bounds = { { 300000, 2000000 }, { 2000000, 5000000 }, { 5000000, 10000000 } },
  .lag = 200 * MCC_MSECOND,
  .fps = 30.0,
  .pacing = 1.5,
  .packet_bytes = 1240,
  .epoch = 1000 * MCC_SECOND,
};

typedef struct {
  guint32 ssrc;
  guint16 seq;
  MccSeq sent_seq;
  guint64 target_bps, encoder_bps;
  MccTime change; /* the encoder takes the target; MCC_TIME_NONE */
  bool running, broken, key;
  double surplus; /* bytes made too many */
  guint32 left;   /* bytes of the frame that are still to be sent */
  bool first;     /* its first packet comes now */
  bool frame_key;
  MccTime next_frame, next_packet;
  guint64 sent_bytes;
} Stream;

struct VnetAsspSender {
  Vnet *vnet;
  int host;
  VnetAsspSenderConfig config;
  MccAsspSender *core;
  Stream stream[MCC_ASSP_STREAMS_MAX];
  guint64 rtcp_bytes;
};

struct VnetAsspReceiver {
  Vnet *vnet;
  int host;
  guint32 ssrc;
  MccTime leave;
  MccAsspReceiver *core;
  unsigned joined; /* waits for its key frame; MCC_ASSP_NO_STREAM */
  GArray *switches;
  guint64 shown_bytes, rtcp_bytes;
};

static void
send_app (Vnet *vnet, int host, const MccAsspApp *app, guint32 bytes, guint64 *sum)
{
  /* Through the codec: what it cannot carry does not arrive. */
  guint8 data[2048];
  MccAsspApp copy;
  gsize size = mcc_assp_app_encode (app, data, sizeof data);
  g_assert_cmpuint (size, >, 0);
  g_assert_cmpint (mcc_assp_app_decode (data, size, &copy), ==, MCC_DROP_NONE);
  VnetPacket packet = { .kind = VNET_APP, .bytes = bytes, .assp = &copy };
  vnet_send (vnet, host, &packet);
  *sum += bytes;
}

static void
start_media (VnetAsspSender *self, unsigned j, MccTime now)
{
  Stream *stream = &self->stream[j];
  if (stream->running)
    return;
  stream->running = stream->key = true;
  stream->left = 0;
  stream->surplus = 0.0;
  stream->next_frame = now + self->config.lag;
  mcc_assp_sender_set_running (self->core, j, true, now);
}

/* @bytes: on the wire; 0: what it has. */
static void
announce_stream (
    VnetAsspSender *self, unsigned j, const MccAppSession *session, guint32 bytes, MccTime now)
{
  guint32 ssrc = self->stream[j].ssrc;
  MccAsspApp app = { .ssrc = ssrc, .subtype = MCC_APP_SESSION, .stream = j };
  app.asmp = (MccApp){ .ssrc = ssrc, .subtype = MCC_APP_SESSION, .session = *session };
  app.asmp.session.send_time = mcc_abs_send_time (now);
  app.asmp.session.media_ssrc = ssrc;
  app.asmp.session.payload_type = 96;
  app.asmp.session.clock_rate = 90000;
  send_app (self->vnet, self->host, &app, bytes > 0 ? bytes : (guint32)mcc_assp_app_size (&app),
      &self->rtcp_bytes);
}

static void
announce (VnetAsspSender *self, const MccAsspSenderAction *action, MccTime now)
{
  guint32 ssrc = self->stream[action->stream].ssrc;
  MccAsspApp app = { .ssrc = ssrc, .subtype = MCC_ASSP_STREAMS, .streams = *action->streams };
  send_app (self->vnet, self->host, &app, (guint32)mcc_assp_app_size (&app), &self->rtcp_bytes);
  announce_stream (self, action->stream, action->asmp.session, ANNOUNCEMENT_BYTES, now);
  for (unsigned j = 0; j < mcc_assp_sender_count (self->core); j++)
    if (action->also[j] != NULL)
      announce_stream (self, j, action->also[j], 0, now);
  if (action->asmp.rtt->count == 0)
    return;
  app = (MccAsspApp){ .ssrc = ssrc, .subtype = MCC_APP_RTT, .stream = action->stream };
  app.asmp = (MccApp){ .ssrc = ssrc, .subtype = MCC_APP_RTT, .rtt = *action->asmp.rtt };
  send_app (self->vnet, self->host, &app, RTT_BYTES + RTT_ENTRY_BYTES * app.asmp.rtt.count,
      &self->rtcp_bytes);
}

static void
sender_drain (VnetAsspSender *self, MccTime now)
{
  MccAsspSenderAction action;
  while (mcc_assp_sender_poll (self->core, &action)) {
    Stream *stream = &self->stream[action.stream];
    if (action.type == MCC_ASSP_SENDER_OCCUPIED) {
      start_media (self, action.stream, now);
    } else if (action.type == MCC_ASSP_SENDER_EMPTY && self->config.idle) {
      stream->running = false;
      mcc_assp_sender_set_running (self->core, action.stream, false, now);
    } else if (action.type != MCC_ASSP_SENDER_ASMP) {
      continue;
    } else if (action.asmp.type == MCC_SENDER_TARGET) {
      stream->target_bps = action.asmp.target_bps;
      if (stream->change == MCC_TIME_NONE)
        stream->change = now + self->config.lag;
    } else if (action.asmp.type == MCC_SENDER_KEY_UNIT) {
      stream->key = true;
    } else if (action.asmp.type == MCC_SENDER_SEND_SESSION) {
      announce (self, &action, now);
    }
  }
}

static void
encode_frame (VnetAsspSender *self, Stream *stream, MccTime now)
{
  const VnetAsspSenderConfig *config = &self->config;
  double mean = (double)stream->encoder_bps / config->fps / 8.0;
  double noise = 1.0 + 0.2 * (2.0 * mcc_rng_uniform (vnet_rng (self->vnet)) - 1.0);
  double size = (mean - stream->surplus / 8.0) * noise * (stream->key ? KEY_FACTOR : 1.0);
  size = MAX (size, HEADER_BYTES + 60);
  stream->surplus += size - mean;
  stream->frame_key = stream->key;
  stream->first = true;
  stream->key = false;
  stream->left += (guint32)size;
  stream->next_packet = MAX (stream->next_packet, now);
  stream->next_frame = now + (MccTime)(1e9 / config->fps);
}

static void
send_packet (VnetAsspSender *self, unsigned j, MccTime now)
{
  Stream *stream = &self->stream[j];
  guint32 bytes = MAX (MIN (stream->left, self->config.packet_bytes), HEADER_BYTES + 20);
  stream->left -= MIN (bytes, stream->left);
  double bps = (double)stream->target_bps * self->config.pacing;
  stream->next_packet = now + (MccTime)((double)bytes * 8e9 / bps);
  VnetPacket packet = { .kind = VNET_RTP,
    .bytes = bytes,
    .group = 1 + j,
    .key = stream->first && stream->frame_key,
    .rtp = { .ssrc = stream->ssrc,
        .seq = stream->seq++,
        .bytes = bytes,
        .has_send_time = true,
        .send_time = mcc_abs_send_time (now) } };
  stream->first = false;
  mcc_seq_extend16 (&stream->sent_seq, packet.rtp.seq);
  stream->sent_bytes += bytes;
  vnet_send (self->vnet, self->host, &packet);
  mcc_assp_sender_handle_sent (self->core, j, 1, bytes, mcc_seq_highest32 (&stream->sent_seq), now);
}

static bool
sends (const Stream *stream)
{
  return stream->running && !stream->broken;
}

static void
sender_timeout (gpointer owner, MccTime now)
{
  VnetAsspSender *self = owner;
  for (unsigned j = 0; j < self->config.count; j++) {
    Stream *stream = &self->stream[j];
    if (now >= stream->change) {
      stream->encoder_bps = stream->target_bps;
      stream->change = MCC_TIME_NONE;
    }
    if (sends (stream) && now >= stream->next_frame)
      encode_frame (self, stream, now);
    if (sends (stream) && stream->left > 0 && now >= stream->next_packet)
      send_packet (self, j, now);
  }
  if (now >= mcc_assp_sender_next_timeout (self->core))
    mcc_assp_sender_handle_timeout (self->core, now);
  sender_drain (self, now);
}

static MccTime
sender_next (gpointer owner)
{
  VnetAsspSender *self = owner;
  MccTime next = mcc_assp_sender_next_timeout (self->core);
  for (unsigned j = 0; j < self->config.count; j++) {
    const Stream *stream = &self->stream[j];
    next = MIN (next, stream->change);
    if (sends (stream))
      next = MIN (next, MIN (stream->next_frame, stream->left > 0 ? stream->next_packet : next));
  }
  return next;
}

static void
sender_packet (gpointer owner, const VnetPacket *packet, MccTime now)
{
  VnetAsspSender *self = owner;
  if (packet->kind == VNET_PLI) {
    for (unsigned j = 0; j < self->config.count; j++)
      if (self->stream[j].ssrc == packet->rtp.ssrc)
        mcc_assp_sender_handle_key_unit_request (self->core, j, now);
  } else if (packet->kind == VNET_APP && packet->assp->subtype == MCC_APP_REPORT) {
    mcc_assp_sender_handle_report (self->core, packet->assp->stream, packet->assp->ssrc,
        &packet->assp->asmp.report, &packet->address, now);
  }
  sender_drain (self, now);
}

static const VnetHandler sender_handler = { sender_packet, sender_timeout, sender_next };

VnetAsspSender *
vnet_assp_sender_new (Vnet *vnet, const VnetAsspSenderConfig *config, MccTime up_delay)
{
  VnetAsspSender *self = g_new0 (VnetAsspSender, 1);
  self->vnet = vnet;
  self->config = config != NULL ? *config : vnet_assp_sender_default;
  MccTime now = self->config.epoch + vnet_now (vnet);
  MccAsspSenderConfig core = { .variant = self->config.variant,
    .seed = mcc_rng_next (vnet_rng (vnet)),
    .streams.count = self->config.count,
    .max_streams = self->config.max_streams,
    .ttl = 64 };
  for (unsigned j = 0; j < self->config.count; j++) {
    Stream *stream = &self->stream[j];
    stream->ssrc = (guint32)mcc_rng_next (vnet_rng (vnet)) | 1;
    stream->seq = (guint16)mcc_rng_next (vnet_rng (vnet));
    stream->change = MCC_TIME_NONE;
    stream->target_bps = stream->encoder_bps = self->config.bounds[j].low_bps;
    core.streams.stream[j] = (MccAsspStream){ .low_bps = self->config.bounds[j].low_bps,
      .high_bps = self->config.bounds[j].high_bps,
      .address_offset = (guint16)(1 + j),
      .port_offset = (guint16)(2 * j),
      .flags = 0,
      .ssrc = stream->ssrc };
  }
  self->core = mcc_assp_sender_new (&core, now);
  g_assert_nonnull (self->core);
  self->host
      = vnet_add_host (vnet, VNET_CORE, up_delay, self->config.epoch, 0.0, &sender_handler, self);
  for (unsigned j = 0; j < self->config.count && !self->config.idle; j++)
    start_media (self, j, now);
  vnet_wake (vnet, self->host);
  return self;
}

void
vnet_assp_sender_free (VnetAsspSender *self)
{
  mcc_assp_sender_free (self->core);
  g_free (self);
}

MccAsspSender *
vnet_assp_sender_core (VnetAsspSender *self)
{
  return self->core;
}

guint64
vnet_assp_sender_target (const VnetAsspSender *self, unsigned stream)
{
  return self->stream[stream].target_bps;
}

guint64
vnet_assp_sender_sent_bytes (const VnetAsspSender *self, unsigned stream)
{
  return self->stream[stream].sent_bytes;
}

guint64
vnet_assp_sender_rtcp_bytes (const VnetAsspSender *self)
{
  return self->rtcp_bytes;
}

bool
vnet_assp_sender_running (const VnetAsspSender *self, unsigned stream)
{
  return self->stream[stream].running;
}

void
vnet_assp_sender_break (VnetAsspSender *self, unsigned stream)
{
  self->stream[stream].broken = true;
}

static void
note_switch (VnetAsspReceiver *self, const MccAsspReceiverAction *action)
{
  VnetAsspSwitch change = { .time = vnet_now (self->vnet),
    .from = action->from,
    .stream = action->stream,
    .reason = action->reason,
    .duration = action->duration };
  g_array_append_val (self->switches, change);
}

static void
receiver_drain (VnetAsspReceiver *self)
{
  MccAsspReceiverAction action;
  while (mcc_assp_receiver_poll (self->core, &action)) {
    switch (action.type) {
      case MCC_ASSP_RECEIVER_JOIN:
        vnet_join (self->vnet, self->host, 1 + action.stream);
        self->joined = action.stream;
        break;
      case MCC_ASSP_RECEIVER_LEAVE:
        vnet_leave (self->vnet, self->host, 1 + action.stream, self->leave);
        break;
      case MCC_ASSP_RECEIVER_SWITCHED:
        note_switch (self, &action);
        break;
      case MCC_ASSP_RECEIVER_KEY_UNIT: {
        VnetPacket packet = { .kind = VNET_PLI, .bytes = PLI_BYTES, .rtp.ssrc = action.group.ssrc };
        vnet_send (self->vnet, self->host, &packet);
        break;
      }
      case MCC_ASSP_RECEIVER_ASMP:
        if (action.asmp.type == MCC_RECEIVER_SEND_REPORT) {
          MccAsspApp app
              = { .ssrc = self->ssrc, .subtype = MCC_APP_REPORT, .stream = action.stream };
          app.asmp = (MccApp){
            .ssrc = self->ssrc, .subtype = MCC_APP_REPORT, .report = action.asmp.report
          };
          send_app (self->vnet, self->host, &app, REPORT_BYTES, &self->rtcp_bytes);
        }
        break;
      default:
        break;
    }
  }
}

static void
receiver_packet (gpointer owner, const VnetPacket *packet, MccTime now)
{
  VnetAsspReceiver *self = owner;
  if (packet->kind == VNET_RTP) {
    unsigned stream = packet->group - 1;
    MccDrop drop
        = mcc_assp_receiver_handle_rtp (self->core, stream, &packet->rtp, &packet->address, now);
    if (drop == MCC_DROP_NONE && stream == self->joined && packet->key) {
      MccAsspReceiverStats stats;
      mcc_assp_receiver_get_stats (self->core, &stats);
      self->joined = MCC_ASSP_NO_STREAM;
      if (stats.switching) /* else this very packet has made it give up */
        mcc_assp_receiver_handle_cut (self->core, stream, now);
    }
    if (drop == MCC_DROP_NONE && stream == vnet_assp_receiver_stream (self))
      self->shown_bytes += packet->bytes;
  } else if (packet->kind == VNET_APP) {
    mcc_assp_receiver_handle_app (self->core, packet->assp, now);
  }
  receiver_drain (self);
}

static void
receiver_timeout (gpointer owner, MccTime now)
{
  VnetAsspReceiver *self = owner;
  mcc_assp_receiver_handle_timeout (self->core, now);
  receiver_drain (self);
}

static MccTime
receiver_next (gpointer owner)
{
  return mcc_assp_receiver_next_timeout (((VnetAsspReceiver *)owner)->core);
}

static const VnetHandler receiver_handler = { receiver_packet, receiver_timeout, receiver_next };

VnetAsspReceiver *
vnet_assp_receiver_new (Vnet *vnet, int link, MccTime up_delay, const MccAsspReceiverConfig *config,
    MccTime leave, MccTime epoch, double drift_ppm)
{
  VnetAsspReceiver *self = g_new0 (VnetAsspReceiver, 1);
  MccAsspReceiverConfig core
      = { .asmp = { .variant = MCC_VARIANT_ENHANCED, .hears_group = true }, .lock_stream = -1 };
  if (config != NULL)
    core = *config;
  self->vnet = vnet;
  self->leave = leave;
  self->joined = MCC_ASSP_NO_STREAM;
  self->switches = g_array_new (FALSE, FALSE, sizeof (VnetAsspSwitch));
  self->ssrc = (guint32)mcc_rng_next (vnet_rng (vnet)) | 1;
  core.asmp.ssrc = self->ssrc;
  core.asmp.seed = mcc_rng_next (vnet_rng (vnet));
  self->host = vnet_add_host (vnet, link, up_delay, epoch, drift_ppm, &receiver_handler, self);
  self->core = mcc_assp_receiver_new (&core, vnet_host_now (vnet, self->host));
  g_assert_nonnull (self->core);
  vnet_wake (vnet, self->host);
  return self;
}

void
vnet_assp_receiver_free (VnetAsspReceiver *self)
{
  for (guint group = 1; group <= MCC_ASSP_STREAMS_MAX; group++)
    vnet_leave (self->vnet, self->host, group, self->leave);
  vnet_remove_host (self->vnet, self->host);
  mcc_assp_receiver_free (self->core);
  g_array_unref (self->switches);
  g_free (self);
}

MccAsspReceiver *
vnet_assp_receiver_core (VnetAsspReceiver *self)
{
  return self->core;
}

unsigned
vnet_assp_receiver_stream (VnetAsspReceiver *self)
{
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (self->core, &stats);
  return stats.stream;
}

const GArray *
vnet_assp_receiver_switches (VnetAsspReceiver *self)
{
  return self->switches;
}

guint64
vnet_assp_receiver_shown_bytes (const VnetAsspReceiver *self)
{
  return self->shown_bytes;
}

guint64
vnet_assp_receiver_lost (VnetAsspReceiver *self)
{
  MccAsmpReceiverStats stats;
  mcc_asmp_receiver_get_stats (
      mcc_assp_receiver_asmp (self->core), vnet_host_now (self->vnet, self->host), &stats);
  return stats.packets_lost;
}

guint64
vnet_assp_receiver_rtcp_bytes (const VnetAsspReceiver *self)
{
  return self->rtcp_bytes;
}
