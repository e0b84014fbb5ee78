/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vnetasmp.h"

#include <math.h>

#include "mccindexapp.h"
#include "mccjitter.h"
#include "mccseq.h"
#include "mccpacer.h"

#define SESSION_BYTES 330 /* SR + SDES + session, IP and UDP included */
#define RTT_BYTES 12
#define RTT_ENTRY_BYTES 12
#define REPORT_BYTES 152
#define HEADER_BYTES 40
#define LAG_SLOTS 512
#define SURPLUS_FRAMES 4 /* that make up for one too large */
#define DEBUG_VAR "VNET_TRACE"

const VnetSenderConfig vnet_sender_default = {
  .variant = MCC_VARIANT_ENHANCED,
  .min_bps = 100000,
  .max_bps = 10000000,
  .start_bps = 150000,
  .lag = 200 * MCC_MSECOND,
  .fps = 30.0,
  .noise = 0.2,
  .pacing = 1.5,
  .packet_bytes = 1240,
  .epoch = 1000 * MCC_SECOND,
};

struct VnetSender {
  Vnet *vnet;
  int host;
  VnetSenderConfig config;
  MccAsmpSender *core;
  guint32 ssrc;
  guint16 seq;
  MccSeq sent_seq;
  guint64 target_bps, encoder_bps;
  double scene;
  bool playing;
  unsigned frames;
  double surplus; /* bytes made too many: the encoder's buffer */
  struct {
    MccTime time;
    guint64 bps;
  } lag[LAG_SLOTS];
  guint lag_head, lag_count;
  GQueue paced; /* sizes */
  guint64 pairs;
  MccPacerConfig pacing;
  MccPacer *pacer;
  MccTime next_frame;
  guint64 sent_bytes, rtcp_bytes, reports;
};

struct VnetReceiver {
  Vnet *vnet;
  int host;
  guint32 ssrc;
  MccAsmpReceiver *core;
  guint32 srtcp_bytes;
  guint64 rtcp_bytes;
  MccBreakerVerdict ceased;
};

static void
sender_drain (VnetSender *self, MccTime now)
{
  MccSenderAction action;
  while (mcc_asmp_sender_poll (self->core, &action)) {
    if (action.type == MCC_SENDER_TARGET) {
      self->target_bps = action.target_bps;
      mcc_pacer_set_target (self->pacer, action.target_bps);
      guint slot = (self->lag_head + self->lag_count) % LAG_SLOTS;
      if (self->lag_count < LAG_SLOTS)
        self->lag_count++;
      else
        slot = (slot + LAG_SLOTS - 1) % LAG_SLOTS;
      self->lag[slot].time = now + self->config.lag;
      self->lag[slot].bps = action.target_bps;
    } else if (action.type == MCC_SENDER_PACING) {
      self->pacing.pacing = action.pacing;
      mcc_pacer_set_config (self->pacer, &self->pacing);
    } else if (action.type == MCC_SENDER_SEND_SESSION) {
      MccApp app = { .ssrc = self->ssrc, .subtype = MCC_APP_SESSION, .session = *action.session };
      app.session.send_time = mcc_abs_send_time (now);
      app.session.media_ssrc = self->ssrc;
      app.session.payload_type = 96;
      app.session.clock_rate = 90000;
      guint32 key = self->config.srtcp_bytes;
      if (key > 0)
        key += (guint32)MCC_INDEX_BYTES (1);
      VnetPacket packet = { .kind = VNET_APP, .bytes = SESSION_BYTES + key, .app = &app };
      MccApp rtt = { .ssrc = self->ssrc, .subtype = MCC_APP_RTT };
      if (action.rtt != NULL && action.rtt->count > 0) {
        rtt.rtt = *action.rtt;
        VnetPacket list = {
          .kind = VNET_APP, .bytes = RTT_BYTES + RTT_ENTRY_BYTES * action.rtt->count, .app = &rtt
        };
        vnet_send (self->vnet, self->host, &list);
        self->rtcp_bytes += list.bytes;
      }
      vnet_send (self->vnet, self->host, &packet);
      self->rtcp_bytes += packet.bytes;
    }
  }
}

static void
enqueue (VnetSender *self, guint32 bytes, MccTime now)
{
  g_queue_push_tail (&self->paced, GUINT_TO_POINTER (bytes));
  mcc_pacer_enqueue (self->pacer, 1, bytes, now);
}

static void
encode_frame (VnetSender *self, MccTime now)
{
  const VnetSenderConfig *config = &self->config;
  while (self->lag_count > 0 && self->lag[self->lag_head].time <= now) {
    self->encoder_bps = self->lag[self->lag_head].bps;
    self->lag_head = (self->lag_head + 1) % LAG_SLOTS;
    self->lag_count--;
  }
  double bps = (double)self->encoder_bps * self->scene;
  if (config->fps <= 0.0) {
    guint32 bytes = config->packet_bytes;
    self->next_frame = now + (MccTime)((double)bytes * 8e9 / MAX (bps, 1000.0));
    enqueue (self, bytes, now);
    return;
  }
  double size = bps / config->fps / 8.0 - self->surplus / SURPLUS_FRAMES;
  size *= 1.0 + config->noise * (2.0 * mcc_rng_uniform (vnet_rng (self->vnet)) - 1.0);
  if (config->key_factor > 0.0 && self->frames % config->key_frames == 0)
    size *= config->key_factor; /* the next ones make up for it */
  size = MAX (size, HEADER_BYTES + 60);
  self->surplus += size - bps / config->fps / 8.0;
  self->frames++;
  guint32 left = (guint32)size;
  while (left > 0) {
    guint32 bytes = MIN (left, config->packet_bytes);
    left -= bytes;
    enqueue (self, MAX (bytes, HEADER_BYTES + 20), now);
  }
  self->next_frame = now + (MccTime)(1e9 / config->fps);
}

static void
release_packet (VnetSender *self, MccTime now)
{
  guint32 bytes = GPOINTER_TO_UINT (g_queue_pop_head (&self->paced));
  VnetPacket packet = { .kind = VNET_RTP, .bytes = bytes };
  packet.rtp = (MccRtpPacket){ .ssrc = self->ssrc,
    .seq = self->seq++,
    .bytes = bytes,
    .has_send_time = true,
    .send_time = mcc_abs_send_time (now),
    .ecn = mcc_asmp_sender_ect (self->core) ? MCC_ECN_ECT0 : MCC_ECN_NOT_ECT };
  mcc_seq_extend16 (&self->sent_seq, packet.rtp.seq);
  self->sent_bytes += bytes;
  vnet_send (self->vnet, self->host, &packet);
  mcc_asmp_sender_handle_sent (self->core, 1, bytes, mcc_seq_highest32 (&self->sent_seq), now);
}

static void
sender_timeout (gpointer owner, MccTime now)
{
  VnetSender *self = owner;
  if (self->playing && now >= self->next_frame)
    encode_frame (self, now);
  guint32 n = mcc_pacer_release (self->pacer, now);
  self->pairs += self->pacing.pacing.pairs > 0 && n == 2;
  for (; n > 0; n--)
    release_packet (self, now);
  if (now >= mcc_asmp_sender_next_timeout (self->core))
    mcc_asmp_sender_handle_timeout (self->core, now);
  sender_drain (self, now);
}

static MccTime
sender_next (gpointer owner)
{
  VnetSender *self = owner;
  MccTime next = mcc_asmp_sender_next_timeout (self->core);
  if (self->playing)
    next = MIN (next, self->next_frame);
  next = MIN (next, mcc_pacer_next_timeout (self->pacer));
  return next;
}

static void
sender_packet (gpointer owner, const VnetPacket *packet, MccTime now)
{
  VnetSender *self = owner;
  if (packet->kind != VNET_APP || packet->app->subtype != MCC_APP_REPORT)
    return;
  self->reports++;
  mcc_asmp_sender_handle_report (
      self->core, packet->app->ssrc, &packet->app->report, &packet->address, now);
  sender_drain (self, now);
}

static const VnetHandler sender_handler = { sender_packet, sender_timeout, sender_next };

VnetSender *
vnet_sender_new (Vnet *vnet, const VnetSenderConfig *config, MccTime up_delay)
{
  VnetSender *self = g_new0 (VnetSender, 1);
  self->vnet = vnet;
  self->config = config != NULL ? *config : vnet_sender_default;
  config = &self->config;
  self->scene = 1.0;
  self->playing = true;
  self->ssrc = (guint32)mcc_rng_next (vnet_rng (vnet)) | 1;
  self->seq = (guint16)mcc_rng_next (vnet_rng (vnet));
  self->target_bps = self->encoder_bps = config->start_bps;
  g_queue_init (&self->paced);
  self->pacing = mcc_pacer_config_default;
  self->pacing.factor = config->pacing;
  self->pacer = mcc_pacer_new (&self->pacing);
  mcc_pacer_set_target (self->pacer, config->start_bps);
  MccTime now = config->epoch + vnet_now (vnet);
  MccAsmpSenderConfig core = { .variant = config->variant,
    .ssrc = self->ssrc,
    .seed = mcc_rng_next (vnet_rng (vnet)),
    .min_bps = config->min_bps,
    .max_bps = config->max_bps,
    .start_bps = config->start_bps,
    .max_receivers = 4096,
    .ecn = config->ecn,
    .srtcp_bytes = config->srtcp_bytes,
    .ttl = 64 };
  self->core = mcc_asmp_sender_new (&core, now);
  self->next_frame = now;
  self->host = vnet_add_host (
      vnet, VNET_CORE, up_delay, config->epoch, config->drift_ppm, &sender_handler, self);
  vnet_wake (vnet, self->host);
  return self;
}

void
vnet_sender_free (VnetSender *self)
{
  mcc_asmp_sender_free (self->core);
  mcc_pacer_free (self->pacer);
  g_queue_clear (&self->paced);
  g_free (self);
}

void
vnet_sender_set_scene (VnetSender *self, double scene)
{
  self->scene = scene;
}

void
vnet_sender_set_playing (VnetSender *self, bool playing)
{
  self->playing = playing;
  self->next_frame = vnet_host_now (self->vnet, self->host);
  vnet_wake (self->vnet, self->host);
}

guint64
vnet_sender_target (const VnetSender *self)
{
  return self->target_bps;
}

double
vnet_sender_mean_target (VnetSender *self, Vnet *vnet, guint from_s, guint to_s, double *lowest)
{
  double sum = 0.0, least = INFINITY;
  for (guint tenth = 10 * from_s; tenth < 10 * to_s; tenth++) {
    vnet_run (vnet, tenth * 100 * MCC_MSECOND);
    sum += (double)self->target_bps;
    least = fmin (least, (double)self->target_bps);
  }
  if (lowest != NULL)
    *lowest = least;
  return sum / (10.0 * (to_s - from_s));
}

guint64
vnet_sender_sent_bytes (const VnetSender *self)
{
  return self->sent_bytes;
}

guint64
vnet_sender_rtcp_bytes (const VnetSender *self)
{
  return self->rtcp_bytes;
}

guint64
vnet_sender_pairs (const VnetSender *self)
{
  return self->pairs;
}

guint64
vnet_sender_reports (const VnetSender *self)
{
  return self->reports;
}

MccAsmpSender *
vnet_sender_core (VnetSender *self)
{
  return self->core;
}

guint32
vnet_sender_ssrc (const VnetSender *self)
{
  return self->ssrc;
}

static void
receiver_trace (VnetReceiver *self)
{
  static int enabled = -1;
  if (enabled < 0)
    enabled = g_getenv (DEBUG_VAR) != NULL;
  if (!enabled)
    return;
  MccTraceEvent e;
  while (mcc_asmp_receiver_poll_trace (self->core, &e))
    g_print ("# %7.3f %08x %-11s i=%u a=%" G_GUINT64_FORMAT " b=%" G_GUINT64_FORMAT
             " x=%.5f y=%.4f z=%.4f\n",
        mcc_time_to_seconds (vnet_now (self->vnet)), self->ssrc, mcc_trace_name (e.type), e.i, e.a,
        e.b, e.x, e.y, e.z);
}

static void
receiver_drain (VnetReceiver *self)
{
  MccReceiverAction action;
  while (mcc_asmp_receiver_poll (self->core, &action)) {
    if (action.type == MCC_RECEIVER_CEASE)
      self->ceased = action.breaker;
    if (action.type != MCC_RECEIVER_SEND_REPORT)
      continue;
    MccApp app = { .ssrc = self->ssrc, .subtype = MCC_APP_REPORT, .report = action.report };
    VnetPacket packet
        = { .kind = VNET_APP, .bytes = REPORT_BYTES + self->srtcp_bytes, .app = &app };
    vnet_send (self->vnet, self->host, &packet);
    self->rtcp_bytes += packet.bytes;
  }
  receiver_trace (self);
}

static void
receiver_packet (gpointer owner, const VnetPacket *packet, MccTime now)
{
  VnetReceiver *self = owner;
  if (packet->kind == VNET_RTP) {
    mcc_asmp_receiver_handle_rtp (self->core, &packet->rtp, &packet->address, now);
  } else if (packet->kind == VNET_APP) {
    mcc_asmp_receiver_handle_app (self->core, packet->app, now);
  }
  receiver_drain (self);
}

static void
receiver_timeout (gpointer owner, MccTime now)
{
  VnetReceiver *self = owner;
  mcc_asmp_receiver_handle_timeout (self->core, now);
  receiver_drain (self);
}

static MccTime
receiver_next (gpointer owner)
{
  return mcc_asmp_receiver_next_timeout (((VnetReceiver *)owner)->core);
}

static const VnetHandler receiver_handler = { receiver_packet, receiver_timeout, receiver_next };

VnetReceiver *
vnet_receiver_new (Vnet *vnet, int link, MccTime up_delay, const MccAsmpReceiverConfig *config,
    MccTime epoch, double drift_ppm)
{
  VnetReceiver *self = g_new0 (VnetReceiver, 1);
  MccAsmpReceiverConfig core
      = { .variant = MCC_VARIANT_ENHANCED, .ecn = true, .hears_group = true };
  if (config != NULL)
    core = *config;
  self->vnet = vnet;
  self->ssrc = (guint32)mcc_rng_next (vnet_rng (vnet)) | 1;
  core.ssrc = self->ssrc;
  core.seed = mcc_rng_next (vnet_rng (vnet));
  self->host = vnet_add_host (vnet, link, up_delay, epoch, drift_ppm, &receiver_handler, self);
  self->srtcp_bytes = core.srtcp_bytes;
  self->core = mcc_asmp_receiver_new (&core, vnet_host_now (vnet, self->host));
  vnet_wake (vnet, self->host);
  return self;
}

void
vnet_receiver_free (VnetReceiver *self)
{
  vnet_remove_host (self->vnet, self->host);
  mcc_asmp_receiver_free (self->core);
  g_free (self);
}

void
vnet_receiver_crash (VnetReceiver *self)
{
  vnet_remove_host (self->vnet, self->host);
}

MccBreakerVerdict
vnet_receiver_ceased (const VnetReceiver *self)
{
  return self->ceased;
}

MccAsmpReceiver *
vnet_receiver_core (VnetReceiver *self)
{
  return self->core;
}

void
vnet_receiver_get_stats (VnetReceiver *self, MccAsmpReceiverStats *out)
{
  mcc_asmp_receiver_get_stats (self->core, vnet_host_now (self->vnet, self->host), out);
}

guint64
vnet_receiver_rtcp_bytes (const VnetReceiver *self)
{
  return self->rtcp_bytes;
}
