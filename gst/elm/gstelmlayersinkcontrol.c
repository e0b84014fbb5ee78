/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The core's host: what comes from the network, the split, the pacer and the clock goes to the
 * core; what the core wants done is done here.
 */
#include "gstelmlayersinkprivate.h"
#include "gstmccsdp.h"
#include "mccjitter.h"

#define GST_CAT_DEFAULT gst_elm_layer_sink_debug

#define LOOK (2 * MCC_SECOND) /* at frame rates and at what is sent */

static gboolean
warn_once (GstElmLayerSink *self, guint bit)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = !(self->warned & bit);
  self->warned |= bit;
  g_mutex_unlock (&self->lock);
  return first;
}

MccPlace
gst_elm_layer_sink_place (guint layer)
{
  return (MccPlace){ .address_offset = (guint16)layer, .port_offset = (guint16)(2 * layer) };
}

/* ---- what the core wants done ---- */

/* What one announcement carries; valid until the core's next call, so copied under the lock. */
typedef struct {
  MccElmLayers layers;
  MccAppSession session;
  MccAppRttList rtt;
} Announcement;

static void
copy_announcement (const MccElmSenderAction *action, Announcement *out)
{
  out->layers = *action->layers;
  out->session = *action->session;
  out->rtt.count = action->rtt ? action->rtt->count : 0;
  if (out->rtt.count > 0)
    memcpy (out->rtt.entry, action->rtt->entry, out->rtt.count * sizeof out->rtt.entry[0]);
}

static void
act_announce (GstElmLayerSink *self, Announcement *said)
{
  guint64 bps = said->session.session_bandwidth_bps;
  MccElmApp apps[3];
  guint n = 0;
  gboolean ended, other;

  g_mutex_lock (&self->lock);
  ended = self->ended;
  other = self->rtcp_bps != bps;
  self->rtcp_bps = bps;
  g_mutex_unlock (&self->lock);
  if (ended)
    return;
  if (other)
    for (guint i = 0; i < self->n_built; i++)
      gst_mcc_session_set_stream_bandwidth (self->session, i, bps / self->n_built);
  memset (apps, 0, sizeof apps);
  said->session.media_ssrc = said->layers.layer[0].ssrc;
  said->session.send_time = mcc_abs_send_time (gst_mcc_pump_now (self->pump));
  apps[n].subtype = MCC_ELM_LAYERS;
  apps[n++].layers = said->layers;
  apps[n].subtype = apps[n].asmp.subtype = MCC_APP_SESSION;
  apps[n++].asmp.session = said->session;
  if (said->rtt.count > 0) {
    apps[n].subtype = apps[n].asmp.subtype = MCC_APP_RTT;
    apps[n++].asmp.rtt = said->rtt;
  }
  for (guint k = 0; k < n; k++) {
    apps[k].ssrc = said->layers.layer[0].ssrc;
    if (k > 0)
      apps[k].asmp.ssrc = apps[k].ssrc;
  }
  gst_mcc_session_send_elm (self->session, 0, apps, n, FALSE);
}

static void
act_receiver (GstElmLayerSink *self, const MccElmSenderAction *action)
{
  const gchar *state, *reason;

  switch (action->state) {
    case MCC_RECEIVER_ACTIVE:
      state = "joined";
      reason = "report";
      break;
    case MCC_RECEIVER_LEFT:
      state = "left";
      reason = "bye";
      break;
    case MCC_RECEIVER_TIMED_OUT:
      state = "timed out";
      reason = "silence";
      break;
    default:
      return;
  }
  gst_mcc_messages_receiver (self->messages, -1, action->ssrc, &action->address, state, reason,
      gst_mcc_pump_now (self->pump));
}

static void
act_feedback (GstElmLayerSink *self, gboolean found)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));

  if (found)
    GST_INFO_OBJECT (self, "receivers report");
  else if (warn_once (self, WARNED_FEEDBACK))
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("No receiver reports: nobody listens, or reports do not come back (see no-feedback)."),
        (NULL));
  if (found || settings.no_feedback == MCC_NO_FEEDBACK_STOP)
    gst_mcc_send_stream_set_stopped (self->send, !found);
}

static void
act_whole (GstElmLayerSink *self, guint64 bps)
{
  GstMccEncoder *encoder = gst_mcc_send_stream_get_encoder (self->send);
  guint64 previous;

  g_mutex_lock (&self->lock);
  previous = self->whole_bps > 0 ? self->whole_bps : self->target_bps;
  self->whole_bps = self->left_bps = bps;
  g_mutex_unlock (&self->lock);
  GST_DEBUG_OBJECT (self, "all layers %" G_GUINT64_FORMAT " -> %" G_GUINT64_FORMAT, previous, bps);
  if (gst_mcc_encoder_get_status (encoder) == GST_MCC_ENCODER_FOUND)
    gst_mcc_encoder_set_bitrate (encoder, bps);
  g_object_notify (G_OBJECT (self), "target-bitrate");
  gst_mcc_messages_target (
      self->messages, -1, bps, previous, "receiver", 0, gst_mcc_pump_now (self->pump));
}

static void
act (GstElmLayerSink *self, const MccElmSenderAction *action, Announcement *said)
{
  switch (action->type) {
    case MCC_ELM_SENDER_ANNOUNCE:
      act_announce (self, said);
      break;
    case MCC_ELM_SENDER_RECEIVER:
      act_receiver (self, action);
      break;
    case MCC_ELM_SENDER_KEY_UNIT:
      gst_mcc_send_stream_request_key_unit (self->send);
      break;
    case MCC_ELM_SENDER_FEEDBACK_LOST:
    case MCC_ELM_SENDER_FEEDBACK_FOUND:
      act_feedback (self, action->type == MCC_ELM_SENDER_FEEDBACK_FOUND);
      break;
    case MCC_ELM_SENDER_WHOLE:
      act_whole (self, action->target_bps);
      break;
    case MCC_ELM_SENDER_LEVELS: /* in the stats */
      break;
  }
}

void
gst_elm_layer_sink_drain (GstElmLayerSink *self)
{
  MccElmSenderAction action;
  MccTime next = MCC_TIME_NONE;
  Announcement said;
  gboolean more = TRUE;

  while (more) {
    g_mutex_lock (&self->lock);
    more = self->core && mcc_elm_sender_poll (self->core, &action);
    if (more && action.type == MCC_ELM_SENDER_ANNOUNCE)
      copy_announcement (&action, &said);
    if (!more && self->core)
      next = mcc_elm_sender_next_timeout (self->core);
    g_mutex_unlock (&self->lock);
    if (more)
      act (self, &action, &said);
  }
  gst_mcc_pump_wake (self->pump, next);
}

void
gst_elm_layer_sink_request_key_unit (GstElmLayerSink *self)
{
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_elm_sender_handle_key_unit_request (self->core, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (
      self->pump, 0); /* the pump acts: an application's thread may be in our way down */
}

/* ---- the layers: the split ---- */

/* What there is of them, with rates in equal steps until they have been measured. */
static void
describe (GstElmLayerSink *self, guint count, guint64 total_bps, MccElmLayers *out)
{
  memset (out, 0, sizeof *out);
  out->count = count;
  for (guint k = 0; k < count; k++) {
    MccPlace place = gst_elm_layer_sink_place (k);

    out->layer[k] = (MccElmLayer){ .cumulative_bps = total_bps * (k + 1) / count,
      .ssrc = gst_elm_split_get_ssrc (GST_ELM_SPLIT (self->split), k),
      .address_offset = place.address_offset,
      .port_offset = place.port_offset,
      .depends_on = (guint8)((1u << k) - 1) };
  }
}

/* What may move: the encoder that makes all layers; where the application has its encoders, what it
 * is told; else nothing. */
static void
get_whole (GstElmLayerSink *self, guint64 max_bps, MccElmWholeBounds *out)
{
  GstMccEncoder *encoder = gst_mcc_send_stream_get_encoder (self->send);
  GstMccEncoderStatus status = gst_mcc_encoder_get_status (encoder);
  guint64 present;

  if (status != GST_MCC_ENCODER_FOUND && status != GST_MCC_ENCODER_UNCONTROLLED)
    return;
  out->max_bps = max_bps;
  out->home_bps = present = gst_mcc_encoder_get_present (encoder);
  g_mutex_lock (&self->lock);
  if (present > 0 && present / 1000 == self->left_bps / 1000)
    out->home_bps = self->home_bps; /* what we made of it is nobody's wish */
  self->home_bps = out->home_bps;
  g_mutex_unlock (&self->lock);
  if (out->home_bps != present)
    gst_mcc_encoder_set_bitrate (encoder, out->home_bps);
}

static MccElmSender *
make_core (GstElmLayerSink *self, const MccElmLayers *layers, const GstMccSenderSettings *settings)
{
  MccElmSenderConfig config = { .layers = *layers,
    .max_receivers = settings->max_receivers,
    .seed = gst_mcc_properties_get_seed (&self->network) };

  g_mutex_lock (&self->network.lock);
  config.variant = self->network.variant;
  config.session_bandwidth_bps = self->network.settings.session_bandwidth;
  config.ttl = (uint8_t)self->network.settings.ttl_mc;
  g_mutex_unlock (&self->network.lock);
  gst_mcc_session_get_feedback (self->session, &config.feedback);
  get_whole (self, settings->max_bps, &config.whole);
  return mcc_elm_sender_new (&config, gst_mcc_pump_now (self->pump));
}

static void
on_layers (gpointer owner, guint count)
{
  GstElmLayerSink *self = owner;
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));
  MccElmSender *core = NULL;
  MccElmLayers layers;
  gboolean runs;

  GST_INFO_OBJECT (self, "%u layers", count);
  describe (self, count, gst_mcc_sender_settings_start (&settings), &layers);
  g_mutex_lock (&self->lock);
  if (!self->core && self->running) {
    g_mutex_unlock (&self->lock);
    core = make_core (self, &layers, &settings);
    g_mutex_lock (&self->lock);
  }
  if (core && !self->core && self->running) {
    self->core = g_steal_pointer (&core);
    if (self->has_caps)
      self->mute
          |= !mcc_elm_sender_set_caps (self->core, &self->caps, gst_mcc_pump_now (self->pump));
    self->next_look = gst_mcc_pump_now (self->pump);
  } else if (self->core) {
    mcc_elm_sender_set_layers (self->core, &layers, gst_mcc_pump_now (self->pump));
  }
  runs = !self->running || self->core;
  g_mutex_unlock (&self->lock);
  mcc_elm_sender_free (core);
  if (!runs)
    GST_ELEMENT_ERROR (self, LIBRARY, INIT,
        ("%u layers at %" G_GUINT64_FORMAT " bit/s for %u receivers cannot be controlled: lower "
         "max-receivers.",
            count, gst_mcc_sender_settings_start (&settings), settings.max_receivers),
        (NULL));
  gst_elm_layer_sink_drain (self);
  gst_mcc_pump_wake (self->pump, 0);
}

static void
on_malformed (gpointer owner, MccLayerError error)
{
  GstElmLayerSink *self = owner;

  if (warn_once (self, WARNED_MALFORMED))
    GST_ELEMENT_WARNING (self, STREAM, DEMUX,
        ("The stream's packets cannot be read (%s); they go to the base layer.",
            error == MCC_LAYER_MALFORMED     ? "a length is not true"
            : error == MCC_LAYER_UNSUPPORTED ? "a packet form that has no layers"
                                             : "a picture is in two layers"),
        (NULL));
}

static void
on_renamed (gpointer owner, guint layer, guint32 ssrc)
{
  GstElmLayerSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core && layer < mcc_elm_sender_layers (self->core)->count)
    mcc_elm_sender_set_ssrc (self->core, layer, ssrc, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_elm_layer_sink_drain (self);
}

static void
on_no_id (gpointer owner, GstCaps *caps)
{
  GST_ELEMENT_ERROR (owner, STREAM, FORMAT,
      ("The stream's RTP header extensions (extmap-1 to extmap-14) leave no id for those of "
       "elmlayersink: it needs two, or one beside abs-send-time, and the same one of all layers; "
       "leave out others."),
      ("%" GST_PTR_FORMAT, caps));
}

const GstElmSplitHandler gst_elm_layer_sink_split_handler
    = { .layers = on_layers, .malformed = on_malformed, .renamed = on_renamed, .no_id = on_no_id };

/* ---- the clock ---- */

/* Posts the stats message when it is due; returns when the next is. */
static MccTime
tell_stats (GstElmLayerSink *self, MccTime now)
{
  MccTime interval, next;
  gboolean due;

  g_mutex_lock (&self->network.lock);
  interval = self->network.stats_interval_ms * MCC_MSECOND;
  g_mutex_unlock (&self->network.lock);
  if (interval == 0)
    return MCC_TIME_NONE;
  g_mutex_lock (&self->lock);
  /* The interval may have become shorter. */
  self->next_stats = mcc_time_min (self->next_stats, now + interval);
  due = now >= self->next_stats;
  if (due)
    self->next_stats = now + interval;
  next = self->next_stats;
  g_mutex_unlock (&self->lock);
  if (due)
    gst_mcc_messages_stats (
        self->messages, gst_elm_layer_sink_get_stats (self, GST_MCC_STATS_MESSAGE_RECEIVERS), now);
  return next;
}

/* Called with the lock: the pictures of each layer since the last look, as rates of levels. */
static void
look_at_frames_locked (GstElmLayerSink *self, guint count, MccTime now)
{
  guint64 units[GST_ELM_LAYERS_MAX], sum = 0;
  MccTime passed = now - self->looked;

  gst_elm_split_get_units (GST_ELM_SPLIT (self->split), units);
  for (guint k = 0; k < count && self->looked > 0 && passed >= LOOK / 2; k++) {
    sum += units[k] - self->units[k];
    mcc_elm_sender_set_frame_rate (
        self->core, k, (guint32)gst_util_uint64_scale (sum, 1000 * MCC_SECOND, passed), now);
  }
  memcpy (self->units, units, sizeof units);
  self->looked = now;
}

/* Whether target-bitrate has changed. */
static gboolean
look (GstElmLayerSink *self)
{
  MccElmSenderStats stats = { 0 };
  gboolean changed = FALSE, tell = FALSE, one = FALSE;
  MccTime now;

  g_mutex_lock (&self->lock);
  now = gst_mcc_pump_now (self->pump);
  if (self->core && self->next_look <= now) {
    self->next_look = now + LOOK;
    mcc_elm_sender_get_stats (self->core, now, &stats);
    look_at_frames_locked (self, stats.count, now);
  }
  if (stats.count > 0 && stats.cumulative_bps[stats.count - 1] > 0) {
    changed = self->target_bps != stats.cumulative_bps[stats.count - 1];
    self->target_bps = stats.cumulative_bps[stats.count - 1];
    tell = changed && self->whole_bps == 0;
    one = stats.count == 1 && self->n_built > 1;
  }
  g_mutex_unlock (&self->lock);
  if (changed)
    gst_mcc_pacer_set_target (
        GST_MCC_PACER (gst_mcc_send_stream_get_pacer (self->send)), self->target_bps);
  if (one && warn_once (self, WARNED_ONE_LAYER))
    GST_ELEMENT_WARNING (self, STREAM, ENCODE,
        ("The stream has one layer only: receivers cannot choose. x264enc makes layers with "
         "bframes=3 b-pyramid=true, vp8enc with temporal-scalability."),
        (NULL));
  return tell;
}

MccTime
gst_elm_layer_sink_pump (gpointer owner, MccTime now)
{
  GstElmLayerSink *self = owner;
  MccTime next;
  gboolean runs;

  g_mutex_lock (&self->lock);
  runs = self->core != NULL;
  if (runs) {
    now = gst_mcc_pump_now (self->pump); /* others may have come first with a later one */
    if (mcc_elm_sender_next_timeout (self->core) <= now)
      mcc_elm_sender_handle_timeout (self->core, now);
  }
  g_mutex_unlock (&self->lock);
  if (!runs)
    return MCC_TIME_NONE;
  gst_elm_layer_sink_drain (self);
  if (look (self))
    g_object_notify (G_OBJECT (self), "target-bitrate");
  next = mcc_time_min (tell_stats (self, now), gst_mcc_messages_flush (self->messages, now));
  g_mutex_lock (&self->lock);
  if (self->core)
    next = mcc_time_min (
        mcc_time_min (next, self->next_look), mcc_elm_sender_next_timeout (self->core));
  g_mutex_unlock (&self->lock);
  return next;
}

/* ---- what the network says ---- */

static void
on_elm_app (gpointer owner, const MccElmApp *app, const MccAddress *from)
{
  GstElmLayerSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core) {
    MccTime now = gst_mcc_pump_now (self->pump);

    if (app->subtype == MCC_APP_REPORT)
      mcc_elm_sender_handle_report (self->core, app, from, now);
    else
      mcc_elm_sender_handle_dropped (self->core, MCC_DROP_OTHER_SENDER, app->ssrc, now);
  }
  g_mutex_unlock (&self->lock);
  gst_elm_layer_sink_drain (self);
}

static void
on_report_block (gpointer owner, guint stream, guint32 ssrc, gdouble fraction_lost,
    guint32 highest_seq, MccTime rtt, gboolean has_app, const MccAddress *from)
{
  GstElmLayerSink *self = owner;

  if (has_app || stream > 0)
    return; /* its APP says more */
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_elm_sender_handle_plain_report (
        self->core, ssrc, fraction_lost, highest_seq, rtt, from, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_elm_layer_sink_drain (self);
}

static void
on_bye (gpointer owner, guint32 ssrc, const MccAddress *from)
{
  GstElmLayerSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_elm_sender_handle_bye (self->core, ssrc, from, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_elm_layer_sink_drain (self);
}

static void
on_key_unit_request (gpointer owner, guint stream, guint32 ssrc)
{
  gst_elm_layer_sink_request_key_unit (owner);
}

static void
on_dropped (gpointer owner, MccDrop drop, guint32 ssrc)
{
  GstElmLayerSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_elm_sender_handle_dropped (self->core, drop, ssrc, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
}

const GstMccSessionHandler gst_elm_layer_sink_session_handler = {
  .elm_app = on_elm_app,
  .report_block = on_report_block,
  .bye = on_bye,
  .key_unit_request = on_key_unit_request,
  .dropped = on_dropped,
};

/* ---- what the pacer and the fan say ---- */

void
gst_elm_layer_sink_on_sent (
    gpointer owner, guint layer, guint packets, guint64 bytes, guint32 highest_seq)
{
  GstElmLayerSink *self = owner;
  gboolean mute;

  g_mutex_lock (&self->lock);
  mute = self->mute;
  self->ended = FALSE;
  if (self->core && layer < mcc_elm_sender_layers (self->core)->count)
    mcc_elm_sender_handle_sent (
        self->core, layer, packets, bytes, highest_seq, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_elm_layer_sink_drain (self);
  if (mute && warn_once (self, WARNED_CAPS))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The stream's caps cannot be announced: receivers need caps of their own."), (NULL));
}

/* All layers; the fan knows which. */
static void
on_sent (gpointer owner, guint stream, guint packets, guint64 bytes, guint32 highest_seq)
{
}

static void
start_sdp (GstElmLayerSink *self, GstCaps *caps)
{
  GstMccSessionSettings network;
  gchar *location;
  guint64 max_bps;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->settings.sdp_location);
  max_bps = self->settings.max_bps;
  GST_OBJECT_UNLOCK (self);
  if (!location)
    return;
  gst_mcc_properties_get_settings (&self->network, &network);
  gst_mcc_send_stream_write_sdp (self->send, location, &network, max_bps, caps);
  g_free (location);
}

static void
on_caps (gpointer owner, guint stream, GstCaps *caps)
{
  GstElmLayerSink *self = owner;
  MccAppSession announced = { 0 };
  gboolean good;

  good = gst_mcc_caps_to_session (caps, &announced);
  g_mutex_lock (&self->lock);
  self->caps = announced;
  self->has_caps = TRUE;
  if (self->core)
    good &= mcc_elm_sender_set_caps (self->core, &announced, gst_mcc_pump_now (self->pump));
  self->mute = !good;
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (self, "%s announced: %" GST_PTR_FORMAT, good ? "are" : "cannot be", caps);
  if (gst_structure_has_field (gst_caps_get_structure (caps, 0), "clock-rate"))
    start_sdp (self, caps);
}

static void
on_eos (gpointer owner, guint stream)
{
  GstElmLayerSink *self = owner;

  g_mutex_lock (&self->lock);
  self->ended = TRUE;
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < self->n_built; i++)
    gst_mcc_session_send_elm (self->session, i, NULL, 0, TRUE);
}

static void
on_key_unit (gpointer owner, guint stream)
{
  gst_elm_layer_sink_request_key_unit (owner);
}

const GstMccSendStreamHandler gst_elm_layer_sink_stream_handler = {
  .sent = on_sent,
  .caps = on_caps,
  .eos = on_eos,
  .key_unit = on_key_unit,
};

/* ---- figures ---- */

static void
add_layers (GstStructure *structure, const MccElmSenderStats *stats, const MccElmLayers *layers,
    const guint64 *units)
{
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint k = 0; k < stats->count; k++) {
    GValue item = G_VALUE_INIT;

    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&item,
        gst_structure_new ("layer", "cumulative-bitrate", G_TYPE_UINT64,
            (guint64)stats->cumulative_bps[k], "frame-rate", G_TYPE_DOUBLE,
            layers->layer[k].frame_rate / 1000.0, "members", G_TYPE_UINT, stats->members[k], "ssrc",
            G_TYPE_UINT, layers->layer[k].ssrc, "pictures", G_TYPE_UINT64, units[k], NULL));
    gst_value_array_append_and_take_value (&array, &item);
  }
  gst_structure_take_value (structure, "layers", &array);
}

GstStructure *
gst_elm_layer_sink_get_stats (GstElmLayerSink *self, guint max_receivers)
{
  MccAsmpSenderStats stats = { 0 };
  MccElmSenderStats elm = { 0 };
  MccElmLayers layers = { 0 };
  GstMccSenderExtra extra = { 0 };
  MccReceiverInfo *receivers = NULL;
  guint64 units[GST_ELM_LAYERS_MAX] = { 0 };
  GstStructure *structure;
  guint n = 0;

  g_mutex_lock (&self->lock);
  if (self->core) {
    MccTime now = gst_mcc_pump_now (self->pump);

    mcc_asmp_sender_get_stats (mcc_elm_sender_asmp (self->core), now, &stats);
    mcc_elm_sender_get_stats (self->core, now, &elm);
    layers = *mcc_elm_sender_layers (self->core);
    n = MIN (mcc_elm_sender_members (self->core), max_receivers);
    receivers = g_new (MccReceiverInfo, MAX (n, 1));
    n = mcc_elm_sender_get_receivers (self->core, now, receivers, n);
    gst_elm_split_get_units (GST_ELM_SPLIT (self->split), units);
    gst_mcc_send_stream_get_extra (self->send, &extra);
    memcpy (stats.dropped, elm.dropped, sizeof stats.dropped);
    if (elm.count > 0)
      stats.sent_bps = elm.cumulative_bps[elm.count - 1];
  }
  stats.target_bps = self->whole_bps > 0 ? self->whole_bps : self->target_bps;
  g_mutex_unlock (&self->lock);
  structure = gst_mcc_stats_new_sender (&stats, &extra, receivers, n);
  gst_structure_set (structure, "feedback-interval", G_TYPE_UINT64, (guint64)elm.feedback_interval,
      "feedback-rate", G_TYPE_DOUBLE, elm.feedback_hz, "round", G_TYPE_UINT, elm.round, NULL);
  add_layers (structure, &elm, &layers, units);
  g_free (receivers);
  return structure;
}
