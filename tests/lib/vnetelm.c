/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vnetelm.h"

#include "mccjitter.h"
#include "mccseq.h"

#define COMPOUND_BYTES 96 /* SR + SDES, IP and UDP included */
#define REPORT_BYTES 152
#define PLI_BYTES 76
#define QUEUE 4096 /* packets that wait for the pacer */

const VnetElmSenderConfig vnet_elm_sender_default = {
  .variant = MCC_VARIANT_ENHANCED,
  .count = 4,
  .cumulative_bps = { 250000, 500000, 1000000, 2000000 },
  .fps = 30.0,
  .pacing = 1.5,
  .packet_bytes = 1000,
  .epoch = 1000 * MCC_SECOND,
};

typedef struct {
  guint32 ssrc;
  guint16 seq;
  MccSeq sent_seq;
  double frame_bytes;
  MccTime next; /* fps 0: its next packet */
  bool mute;
  guint64 sent_bytes;
} Layer;

typedef struct {
  unsigned layer;
  guint32 bytes;
} Waiting;

struct VnetElmSender {
  Vnet *vnet;
  int host;
  VnetElmSenderConfig config;
  MccElmSender *core;
  Layer layer[MCC_ELM_LAYERS_MAX];
  guint16 counts[MCC_ELM_LAYERS_MAX];
  Waiting waiting[QUEUE];
  unsigned head, tail;
  guint64 frame;
  MccTime next_frame, next_packet;
  bool stopped;
  guint64 rtcp_bytes;
};

struct VnetElmReceiver {
  Vnet *vnet;
  int host;
  guint32 ssrc;
  MccTime leave;
  MccElmReceiver *core;
  GArray *switches, *joins;
  MccSeq base_seq;
  guint64 base_first, base_received;
  guint64 bytes, rtcp_bytes;
  MccTime at[MCC_ELM_LAYERS_MAX + 1], since;
  int level;
};

static void
send_app (Vnet *vnet, int host, const MccElmApp *app, guint32 more, guint64 *sum)
{
  /* Through the codec: what it cannot carry does not arrive. */
  guint8 data[2048];
  MccElmApp copy;
  gsize size = mcc_elm_app_encode (app, data, sizeof data);
  g_assert_cmpuint (size, >, 0);
  g_assert_cmpint (mcc_elm_app_decode (data, size, &copy), ==, MCC_DROP_NONE);
  VnetPacket packet = { .kind = VNET_APP, .bytes = (guint32)size + more, .elm = &copy };
  vnet_send (vnet, host, &packet);
  *sum += packet.bytes;
}

static void
announce (VnetElmSender *self, const MccElmSenderAction *action, MccTime now)
{
  guint32 ssrc = self->layer[0].ssrc;
  MccElmApp app = { .ssrc = ssrc, .subtype = MCC_ELM_LAYERS, .layers = *action->layers };
  send_app (self->vnet, self->host, &app, 0, &self->rtcp_bytes);
  app = (MccElmApp){ .ssrc = ssrc, .subtype = MCC_APP_SESSION };
  app.asmp = (MccApp){ .ssrc = ssrc, .subtype = MCC_APP_SESSION, .session = *action->session };
  app.asmp.session.send_time = mcc_abs_send_time (now);
  app.asmp.session.media_ssrc = ssrc;
  send_app (self->vnet, self->host, &app, COMPOUND_BYTES, &self->rtcp_bytes);
  if (action->rtt->count == 0)
    return;
  app.subtype = app.asmp.subtype = MCC_APP_RTT;
  app.asmp.rtt = *action->rtt;
  send_app (self->vnet, self->host, &app, 0, &self->rtcp_bytes);
}

static double
added_bps (const VnetElmSender *self, unsigned k)
{
  return (
      double)(self->config.cumulative_bps[k] - (k > 0 ? self->config.cumulative_bps[k - 1] : 0));
}

static void
set_rates (VnetElmSender *self)
{
  const VnetElmSenderConfig *config = &self->config;
  unsigned count = config->count;
  for (unsigned k = 0; k < count && config->fps > 0.0; k++) {
    /* Frames a second of layer k: fps / 2, / 4, ...; the base layer as many as the first. */
    double part = 1.0 / (double)(1u << (k > 0 ? count - k : count - 1));
    self->layer[k].frame_bytes = added_bps (self, k) / 8.0 / (config->fps * part);
  }
}

static void
follow (VnetElmSender *self, guint64 whole_bps)
{
  unsigned count = self->config.count;
  double part = (double)whole_bps / (double)self->config.cumulative_bps[count - 1];
  for (unsigned k = 0; k < count; k++)
    self->config.cumulative_bps[k] = (guint64)(part * (double)self->config.cumulative_bps[k]);
  set_rates (self);
}

static void
sender_drain (VnetElmSender *self, MccTime now)
{
  MccElmSenderAction action;
  while (mcc_elm_sender_poll (self->core, &action))
    if (action.type == MCC_ELM_SENDER_ANNOUNCE && !self->stopped)
      announce (self, &action, now);
    else if (action.type == MCC_ELM_SENDER_WHOLE)
      follow (self, action.target_bps);
}

static unsigned
frame_layer (const VnetElmSender *self)
{
  unsigned count = self->config.count;
  for (unsigned k = count - 1; k > 0; k--)
    if (self->frame % (1u << (count - k)) == (1u << (count - k - 1)))
      return k;
  return 0;
}

static void
push_waiting (VnetElmSender *self, unsigned layer, guint32 bytes)
{
  self->waiting[self->tail] = (Waiting){ layer, bytes };
  self->tail = (self->tail + 1) % QUEUE;
  g_assert_cmpuint (self->tail, !=, self->head);
}

static void
make_frame (VnetElmSender *self, MccTime now)
{
  unsigned layer = frame_layer (self);
  double noise = 1.0 + 0.2 * (2.0 * mcc_rng_uniform (vnet_rng (self->vnet)) - 1.0);
  double left = self->layer[layer].frame_bytes * noise;
  self->frame++;
  self->next_frame = now + (MccTime)(1e9 / self->config.fps);
  for (; left > 0.0 && !self->layer[layer].mute; left -= self->config.packet_bytes)
    push_waiting (self, layer, MAX (100, (guint32)MIN (left, self->config.packet_bytes)));
}

static void
send_packet (VnetElmSender *self, unsigned j, guint32 bytes, MccTime now)
{
  Layer *layer = &self->layer[j];
  VnetPacket packet = { .kind = VNET_RTP,
    .bytes = bytes,
    .group = 1 + j,
    .layers = self->config.count,
    .rtp = { .ssrc = layer->ssrc,
        .seq = layer->seq++,
        .bytes = bytes,
        .has_send_time = true,
        .send_time = mcc_abs_send_time (now) } };
  for (unsigned k = 0; k < self->config.count; k++)
    packet.counts[k] = k < j ? self->counts[k] : ++self->counts[k];
  mcc_seq_extend16 (&layer->sent_seq, packet.rtp.seq);
  layer->sent_bytes += bytes;
  vnet_send (self->vnet, self->host, &packet);
  mcc_elm_sender_handle_sent (self->core, j, 1, bytes, mcc_seq_highest32 (&layer->sent_seq), now);
}

static void
send_waiting (VnetElmSender *self, MccTime now)
{
  Waiting *first = &self->waiting[self->head];
  self->head = (self->head + 1) % QUEUE;
  double bps = (double)self->config.cumulative_bps[self->config.count - 1] * self->config.pacing;
  self->next_packet = MAX (self->next_packet, now) + (MccTime)((double)first->bytes * 8e9 / bps);
  send_packet (self, first->layer, first->bytes, now);
}

static void
send_single (VnetElmSender *self, unsigned k, MccTime now)
{
  double spacing_s = (double)self->config.packet_bytes * 8.0 / added_bps (self, k);
  double noise = 1.0 + 0.25 * (2.0 * mcc_rng_uniform (vnet_rng (self->vnet)) - 1.0);
  self->layer[k].next = now + (MccTime)(spacing_s * noise * 1e9);
  if (!self->layer[k].mute)
    send_packet (self, k, self->config.packet_bytes, now);
}

static void
sender_timeout (gpointer owner, MccTime now)
{
  VnetElmSender *self = owner;
  if (self->stopped)
    return;
  if (self->config.fps > 0.0) {
    if (now >= self->next_frame)
      make_frame (self, now);
    if (self->head != self->tail && now >= self->next_packet)
      send_waiting (self, now);
  } else {
    for (unsigned k = 0; k < self->config.count; k++)
      if (now >= self->layer[k].next)
        send_single (self, k, now);
  }
  if (now >= mcc_elm_sender_next_timeout (self->core))
    mcc_elm_sender_handle_timeout (self->core, now);
  sender_drain (self, now);
}

static MccTime
sender_next (gpointer owner)
{
  VnetElmSender *self = owner;
  if (self->stopped)
    return MCC_TIME_NONE;
  MccTime next = mcc_elm_sender_next_timeout (self->core);
  if (self->config.fps > 0.0) {
    next = MIN (next, self->next_frame);
    return self->head != self->tail ? MIN (next, self->next_packet) : next;
  }
  for (unsigned k = 0; k < self->config.count; k++)
    next = MIN (next, self->layer[k].next);
  return next;
}

static void
sender_packet (gpointer owner, const VnetPacket *packet, MccTime now)
{
  VnetElmSender *self = owner;
  if (self->stopped)
    return;
  if (packet->kind == VNET_PLI && packet->rtp.ssrc == self->layer[0].ssrc)
    mcc_elm_sender_handle_key_unit_request (self->core, now);
  else if (packet->kind == VNET_APP && packet->elm != NULL
           && packet->elm->subtype == MCC_APP_REPORT)
    mcc_elm_sender_handle_report (self->core, packet->elm, &packet->address, now);
  sender_drain (self, now);
}

static const VnetHandler sender_handler = { sender_packet, sender_timeout, sender_next };

static void
describe (const VnetElmSender *self, MccElmLayers *out)
{
  out->count = self->config.count;
  for (unsigned k = 0; k < self->config.count; k++)
    out->layer[k] = (MccElmLayer){ .cumulative_bps = self->config.cumulative_bps[k],
      .address_offset = (guint16)k,
      .port_offset = (guint16)(2 * k),
      .depends_on = (guint8)((1u << k) - 1),
      .ssrc = self->layer[k].ssrc };
}

VnetElmSender *
vnet_elm_sender_new (Vnet *vnet, const VnetElmSenderConfig *config, MccTime up_delay)
{
  VnetElmSender *self = g_new0 (VnetElmSender, 1);
  self->vnet = vnet;
  self->config = config != NULL ? *config : vnet_elm_sender_default;
  MccTime now = self->config.epoch + vnet_now (vnet);
  MccElmSenderConfig core = { .variant = self->config.variant,
    .seed = mcc_rng_next (vnet_rng (vnet)),
    .ttl = 64,
    .whole = self->config.whole };
  for (unsigned k = 0; k < MCC_ELM_LAYERS_MAX; k++) {
    self->layer[k].ssrc = (guint32)mcc_rng_next (vnet_rng (vnet)) | 1;
    self->layer[k].seq = (guint16)mcc_rng_next (vnet_rng (vnet));
    self->counts[k] = (guint16)mcc_rng_next (vnet_rng (vnet));
    self->layer[k].next = now;
  }
  self->next_frame = self->next_packet = now;
  set_rates (self);
  describe (self, &core.layers);
  self->core = mcc_elm_sender_new (&core, now);
  g_assert_nonnull (self->core);
  MccAppSession caps = { .payload_type = 96, .send_time_id = 1, .clock_rate = 90000 };
  g_strlcpy (caps.media, "video", sizeof caps.media);
  g_strlcpy (caps.encoding_name, "H264", sizeof caps.encoding_name);
  g_assert_true (mcc_elm_sender_set_caps (self->core, &caps, now));
  self->host
      = vnet_add_host (vnet, VNET_CORE, up_delay, self->config.epoch, 0.0, &sender_handler, self);
  vnet_wake (vnet, self->host);
  return self;
}

void
vnet_elm_sender_free (VnetElmSender *self)
{
  mcc_elm_sender_free (self->core);
  g_free (self);
}

MccElmSender *
vnet_elm_sender_core (VnetElmSender *self)
{
  return self->core;
}

guint64
vnet_elm_sender_sent_bytes (const VnetElmSender *self, unsigned layer)
{
  return self->layer[layer].sent_bytes;
}

guint64
vnet_elm_sender_rtcp_bytes (const VnetElmSender *self)
{
  return self->rtcp_bytes;
}

void
vnet_elm_sender_mute (VnetElmSender *self, unsigned layer, bool mute)
{
  self->layer[layer].mute = mute;
}

void
vnet_elm_sender_stop (VnetElmSender *self, bool bye)
{
  self->stopped = true;
  if (bye) {
    VnetPacket packet
        = { .kind = VNET_BYE, .bytes = COMPOUND_BYTES, .rtp.ssrc = self->layer[0].ssrc };
    vnet_send (self->vnet, self->host, &packet);
  }
  vnet_wake (self->vnet, self->host);
}

void
vnet_elm_sender_set_layers (VnetElmSender *self, unsigned count, const guint64 *cumulative_bps)
{
  MccTime now = vnet_host_now (self->vnet, self->host);
  MccElmLayers layers = { 0 };
  self->head = self->tail;
  self->config.count = count;
  memcpy (self->config.cumulative_bps, cumulative_bps, count * sizeof *cumulative_bps);
  set_rates (self);
  describe (self, &layers);
  g_assert_true (mcc_elm_sender_set_layers (self->core, &layers, now));
  sender_drain (self, now);
  vnet_wake (self->vnet, self->host);
}

static void
note_level (VnetElmReceiver *self, int level)
{
  MccTime now = vnet_now (self->vnet);
  self->at[self->level + 1] += now - self->since;
  self->since = now;
  self->level = level;
}

static void
receiver_drain (VnetElmReceiver *self)
{
  MccElmReceiverAction action;
  while (mcc_elm_receiver_poll (self->core, &action)) {
    MccTime time = vnet_now (self->vnet);
    switch (action.type) {
      case MCC_ELM_RECEIVER_JOIN:
        vnet_join (self->vnet, self->host, 1 + action.layer);
        if (action.layer > 0)
          g_array_append_val (self->joins, time);
        break;
      case MCC_ELM_RECEIVER_LEAVE:
        vnet_leave (self->vnet, self->host, 1 + action.layer, self->leave);
        break;
      case MCC_ELM_RECEIVER_LEVEL: {
        VnetElmSwitch change = { time, action.from, action.level, action.reason, action.duration };
        g_array_append_val (self->switches, change);
        note_level (self, action.level);
        break;
      }
      case MCC_ELM_RECEIVER_KEY_UNIT: {
        VnetPacket packet = { .kind = VNET_PLI, .bytes = PLI_BYTES, .rtp.ssrc = action.group.ssrc };
        vnet_send (self->vnet, self->host, &packet);
        break;
      }
      case MCC_ELM_RECEIVER_REPORT:
        send_app (self->vnet, self->host, &action.app, REPORT_BYTES - MCC_APP_REPORT_BYTES,
            &self->rtcp_bytes);
        break;
      default:
        break;
    }
  }
}

static void
receiver_packet (gpointer owner, const VnetPacket *packet, MccTime now)
{
  VnetElmReceiver *self = owner;
  if (packet->kind == VNET_RTP) {
    unsigned layer = packet->group - 1;
    MccDrop drop = mcc_elm_receiver_handle_rtp (
        self->core, layer, &packet->rtp, packet->counts, packet->layers, &packet->address, now);
    if (drop == MCC_DROP_NONE && layer == 0) {
      guint64 seq = mcc_seq_extend16 (&self->base_seq, packet->rtp.seq);
      if (self->base_received++ == 0)
        self->base_first = seq;
      mcc_elm_receiver_handle_picture (self->core, true, now);
    }
    if (drop == MCC_DROP_NONE)
      self->bytes += packet->bytes;
  } else if (packet->kind == VNET_BYE) {
    mcc_elm_receiver_handle_bye (self->core, packet->rtp.ssrc, now);
  } else if (packet->kind == VNET_APP && packet->elm != NULL) {
    mcc_elm_receiver_handle_app (self->core, packet->elm, NULL, now);
  }
  receiver_drain (self);
}

static void
receiver_timeout (gpointer owner, MccTime now)
{
  VnetElmReceiver *self = owner;
  mcc_elm_receiver_handle_timeout (self->core, now);
  receiver_drain (self);
}

static MccTime
receiver_next (gpointer owner)
{
  return mcc_elm_receiver_next_timeout (((VnetElmReceiver *)owner)->core);
}

static const VnetHandler receiver_handler = { receiver_packet, receiver_timeout, receiver_next };

VnetElmReceiver *
vnet_elm_receiver_new (Vnet *vnet, int link, MccTime up_delay, const MccElmReceiverConfig *config,
    MccTime leave, MccTime epoch, double drift_ppm)
{
  VnetElmReceiver *self = g_new0 (VnetElmReceiver, 1);
  MccElmReceiverConfig core = { .variant = MCC_VARIANT_ENHANCED,
    .hears_group = true,
    .max_level = -1,
    .leave_latency = MAX (leave, 1) };
  if (config != NULL)
    core = *config;
  self->vnet = vnet;
  self->leave = leave;
  self->level = MCC_ELM_NO_LEVEL;
  self->since = vnet_now (vnet);
  self->switches = g_array_new (FALSE, FALSE, sizeof (VnetElmSwitch));
  self->joins = g_array_new (FALSE, FALSE, sizeof (MccTime));
  self->ssrc = (guint32)mcc_rng_next (vnet_rng (vnet)) | 1;
  core.ssrc = self->ssrc;
  core.seed = mcc_rng_next (vnet_rng (vnet));
  self->host = vnet_add_host (vnet, link, up_delay, epoch, drift_ppm, &receiver_handler, self);
  self->core = mcc_elm_receiver_new (&core, vnet_host_now (vnet, self->host));
  g_assert_nonnull (self->core);
  vnet_wake (vnet, self->host);
  return self;
}

void
vnet_elm_receiver_free (VnetElmReceiver *self)
{
  for (guint group = 1; group <= MCC_ELM_LAYERS_MAX; group++)
    vnet_leave (self->vnet, self->host, group, self->leave);
  vnet_remove_host (self->vnet, self->host);
  mcc_elm_receiver_free (self->core);
  g_array_unref (self->switches);
  g_array_unref (self->joins);
  g_free (self);
}

MccElmReceiver *
vnet_elm_receiver_core (VnetElmReceiver *self)
{
  return self->core;
}

int
vnet_elm_receiver_level (VnetElmReceiver *self)
{
  return self->level;
}

const GArray *
vnet_elm_receiver_switches (VnetElmReceiver *self)
{
  return self->switches;
}

const GArray *
vnet_elm_receiver_joins (VnetElmReceiver *self)
{
  return self->joins;
}

guint64
vnet_elm_receiver_bytes (const VnetElmReceiver *self)
{
  return self->bytes;
}

guint64
vnet_elm_receiver_base_expected (const VnetElmReceiver *self)
{
  return self->base_received > 0 ? self->base_seq.highest - self->base_first + 1 : 0;
}

guint64
vnet_elm_receiver_base_lost (const VnetElmReceiver *self)
{
  return vnet_elm_receiver_base_expected (self) - self->base_received;
}

guint64
vnet_elm_receiver_rtcp_bytes (const VnetElmReceiver *self)
{
  return self->rtcp_bytes;
}

MccTime
vnet_elm_receiver_time_at (const VnetElmReceiver *self, int level)
{
  MccTime time = self->at[level + 1];
  return level == self->level ? time + vnet_now (self->vnet) - self->since : time;
}

MccTime
vnet_elm_sender_now (const VnetElmSender *self)
{
  return vnet_host_now (self->vnet, self->host);
}
