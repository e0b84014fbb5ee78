/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The core's host: what comes from the network, the split, the pacer and the clock goes to the
 * core; what the core wants done is done here.
 */
#include "gstelmlayersinkprivate.h"
#include "mccjitter.h"
#include "mccrtcp.h"

#define GST_CAT_DEFAULT gst_elm_layer_sink_debug

#define LOOK (2 * MCC_SECOND) /* at frame rates and at what is sent */

MccPlace
gst_elm_layer_sink_place (guint layer)
{
  return (MccPlace){ .address_offset = (guint16)layer, .port_offset = (guint16)(2 * layer) };
}

/* ---- the core ---- */

GST_MCC_SENDER_DEFINE_MACHINE (mcc_elm_sender)

static void
handle_app (gpointer core, gconstpointer data, const MccAddress *from, MccTime now)
{
  const MccElmApp *app = data;

  if (app->subtype == MCC_APP_REPORT)
    mcc_elm_sender_handle_report (core, app, from, now);
  else
    mcc_elm_sender_handle_dropped (core, MCC_DROP_OTHER_SENDER, app->ssrc, now);
}

static void
handle_block (gpointer core, guint layer, guint32 ssrc, const MccAddress *from, MccTime now)
{
  mcc_elm_sender_handle_block (core, ssrc, from, now);
}

static void
handle_plain_report (gpointer core, guint layer, guint32 ssrc, const MccPlainReport *report,
    const MccAddress *from, MccTime now)
{
  if (layer == 0) /* who has others has it too */
    mcc_elm_sender_handle_plain_report (core, ssrc, report, from, now);
}

static void
handle_key_unit_request (gpointer core, guint layer, MccTime now)
{
  mcc_elm_sender_handle_key_unit_request (core, now);
}

static void
handle_sent (
    gpointer core, guint layer, guint packets, guint64 bytes, guint32 highest_seq, MccTime now)
{
  if (layer < mcc_elm_sender_layers (core)->count)
    mcc_elm_sender_handle_sent (core, layer, packets, bytes, highest_seq, now);
}

static void
set_ended (gpointer core, guint layer, bool ended, MccTime now)
{
  if (layer == 0) /* all end together */
    mcc_elm_sender_set_ended (core, ended, now);
}

static bool
set_caps (gpointer core, guint layer, const MccAppSession *caps, MccTime now)
{
  return mcc_elm_sender_set_caps (core, caps, now);
}

/* SSRCs are the split's: on_renamed(). */
const GstMccSenderMachine gst_elm_layer_sink_machine = {
  .destroy = destroy,
  .handle_app = handle_app,
  .handle_block = handle_block,
  .handle_plain_report = handle_plain_report,
  .handle_bye = handle_bye,
  .handle_dropped = handle_dropped,
  .handle_key_unit_request = handle_key_unit_request,
  .handle_sent = handle_sent,
  .set_caps = set_caps,
  .set_ended = set_ended,
  .handle_timeout = handle_timeout,
  .next_timeout = next_timeout,
};

/* ---- what it wants done ---- */

gboolean
gst_elm_layer_sink_poll_locked (GstMccSender *sender, GstMccSenderTodo *out)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  const MccElmSenderAction *action = &out->action.elm;
  gboolean stopped = gst_mcc_sender_is_stopped_locked (sender);

  out->gate = stopped != self->stopped;
  out->gate_open = !stopped;
  self->stopped = stopped;
  if (out->gate)
    return TRUE;
  if (!mcc_elm_sender_poll (sender->core, &out->action.elm))
    return FALSE;
  if (action->type == MCC_ELM_SENDER_ANNOUNCE) {
    gst_mcc_sender_copy_session (out, action->session, action->rtt);
    out->layers = *action->layers;
  }
  return TRUE;
}

static void
act_announce (GstElmLayerSink *self, GstMccSenderTodo *said)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  guint64 bps = mcc_rtcp_base_bps (said->session.target_bps, said->session.session_bandwidth_bps);
  MccElmApp apps[3];
  guint n = 0;
  gboolean ended, other;

  g_mutex_lock (&sender->lock);
  ended = sender->stream[0].ended;
  other = self->rtcp_bps != bps;
  self->rtcp_bps = bps;
  g_mutex_unlock (&sender->lock);
  if (ended)
    return;
  if (other)
    for (guint i = 0; i < self->n_built; i++)
      gst_mcc_session_set_stream_bandwidth (sender->session, i, bps / self->n_built);
  /* Receivers drop what another SSRC says of the layers. */
  gst_mcc_session_expect_ssrc (sender->session, 0, said->layers.layer[0].ssrc);
  memset (apps, 0, sizeof apps);
  said->session.media_ssrc = said->layers.layer[0].ssrc;
  said->session.send_time = mcc_abs_send_time (gst_mcc_pump_now (sender->pump));
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
  gst_mcc_session_send_elm (sender->session, 0, apps, n, FALSE);
}

static void
act_whole (GstElmLayerSink *self, guint64 bps)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  GstMccEncoder *encoder = gst_mcc_send_stream_get_encoder (self->send);
  guint64 previous;

  g_mutex_lock (&sender->lock);
  previous = self->whole_bps > 0 ? self->whole_bps : self->target_bps;
  self->whole_bps = self->left_bps = bps;
  g_mutex_unlock (&sender->lock);
  GST_DEBUG_OBJECT (self, "all layers %" G_GUINT64_FORMAT " -> %" G_GUINT64_FORMAT, previous, bps);
  if (gst_mcc_encoder_get_status (encoder) == GST_MCC_ENCODER_FOUND)
    gst_mcc_encoder_set_bitrate (encoder, bps);
  gst_mcc_sender_tell_target (sender, -1, bps, previous, "receiver", 0);
}

static void
act_gate (GstElmLayerSink *self, gboolean open)
{
  gst_mcc_send_stream_set_stopped (self->send, !open);
  if (open) /* what was dropped is missing in the pictures to come */
    gst_mcc_send_stream_request_key_unit (self->send);
}

void
gst_elm_layer_sink_act (GstMccSender *sender, GstMccSenderTodo *todo)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  const MccElmSenderAction *action = &todo->action.elm;

  if (todo->gate) {
    act_gate (self, todo->gate_open);
    return;
  }
  switch (action->type) {
    case MCC_ELM_SENDER_ANNOUNCE:
      act_announce (self, todo);
      break;
    case MCC_ELM_SENDER_RECEIVER:
      gst_mcc_sender_tell_receiver (
          sender, -1, action->state, action->quarantine, action->ssrc, &action->address);
      break;
    case MCC_ELM_SENDER_KEY_UNIT:
      gst_mcc_send_stream_request_key_unit (self->send);
      break;
    case MCC_ELM_SENDER_FEEDBACK_LOST:
    case MCC_ELM_SENDER_FEEDBACK_FOUND:
      gst_mcc_sender_tell_feedback (sender, action->type == MCC_ELM_SENDER_FEEDBACK_FOUND);
      break;
    case MCC_ELM_SENDER_WHOLE:
      act_whole (self, action->target_bps);
      break;
    case MCC_ELM_SENDER_LEVELS: /* in the stats */
      break;
  }
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
  GstMccSender *sender = GST_MCC_SENDER (self);
  GstMccEncoder *encoder = gst_mcc_send_stream_get_encoder (self->send);
  GstMccEncoderStatus status = gst_mcc_encoder_get_status (encoder);
  GstElement *driven = gst_mcc_encoder_get_element (encoder);
  guint64 present;

  g_mutex_lock (&sender->lock);
  self->driven = driven;
  self->driven_status = status;
  g_mutex_unlock (&sender->lock);
  gst_clear_object (&driven);
  if (status != GST_MCC_ENCODER_FOUND && status != GST_MCC_ENCODER_UNCONTROLLED)
    return;
  out->max_bps = max_bps;
  out->home_bps = present = gst_mcc_encoder_get_present (encoder);
  g_mutex_lock (&sender->lock);
  if (present > 0 && present / 1000 == self->left_bps / 1000)
    out->home_bps = self->home_bps; /* what we made of it is nobody's wish */
  if (present > 0)
    self->home_bps = out->home_bps;
  g_mutex_unlock (&sender->lock);
  if (out->home_bps != present)
    gst_mcc_encoder_set_bitrate (encoder, out->home_bps);
}

void
gst_elm_layer_sink_find_encoder (GstElmLayerSink *self, gboolean expected)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  GstMccEncoder *encoder = gst_mcc_send_stream_get_encoder (self->send);
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));
  /* Quiet where there is none: the layers are there to choose from. */
  GstMccEncoderStatus status = gst_mcc_encoder_find (encoder, self->entries.sink, FALSE);
  GstElement *driven = gst_mcc_encoder_get_element (encoder);
  MccElmWholeBounds whole = { 0 };
  gboolean other;

  if (expected)
    gst_mcc_encoder_check_name (encoder);
  g_mutex_lock (&sender->lock);
  other = sender->core && (driven != self->driven || status != self->driven_status);
  g_mutex_unlock (&sender->lock);
  gst_clear_object (&driven);
  if (!other)
    return;
  get_whole (self, settings.max_bps, &whole);
  g_mutex_lock (&sender->lock);
  if (sender->core)
    mcc_elm_sender_set_whole (sender->core, &whole, gst_mcc_pump_now (sender->pump));
  self->whole_bps = 0;
  g_mutex_unlock (&sender->lock);
  g_object_notify (G_OBJECT (self), "target-bitrate");
}

static MccElmSender *
make_core (GstElmLayerSink *self, const MccElmLayers *layers, const GstMccSenderSettings *settings)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  MccElmSenderConfig config = { .layers = *layers,
    .wants_block = true,
    .max_receivers = settings->max_receivers,
    .seed = gst_mcc_properties_get_seed (&sender->network) };
  guint64 bps;

  g_mutex_lock (&sender->network.lock);
  config.variant = sender->network.variant;
  bps = sender->network.opened.session_bandwidth;
  config.ttl = (uint8_t)sender->network.opened.ttl_mc;
  g_mutex_unlock (&sender->network.lock);
  gst_mcc_session_get_feedback (sender->session, &config.feedback);
  config.session_bandwidth_bps = bps > 0 ? bps : settings->max_bps;
  config.srtcp_bytes = gst_mcc_session_get_srtcp_bytes (sender->session);
  get_whole (self, settings->max_bps, &config.whole);
  return mcc_elm_sender_new (&config, gst_mcc_pump_now (sender->pump));
}

static void
on_layers (gpointer owner, guint count)
{
  GstElmLayerSink *self = owner;
  GstMccSender *sender = owner;
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));
  MccElmSender *core = NULL;
  MccElmLayers layers;
  gboolean runs;

  GST_INFO_OBJECT (self, "%u layers", count);
  describe (self, count, gst_mcc_sender_settings_start (&settings), &layers);
  g_mutex_lock (&sender->lock);
  if (!sender->core && sender->running) {
    g_mutex_unlock (&sender->lock);
    core = make_core (self, &layers, &settings);
    g_mutex_lock (&sender->lock);
  }
  if (core && !sender->core && sender->running) {
    sender->core = g_steal_pointer (&core);
    if (sender->stream[0].has_caps)
      sender->stream[0].mute |= !mcc_elm_sender_set_caps (
          sender->core, &sender->stream[0].caps, gst_mcc_pump_now (sender->pump));
    self->next_look = gst_mcc_pump_now (sender->pump);
  } else if (sender->core) {
    mcc_elm_sender_set_layers (sender->core, &layers, gst_mcc_pump_now (sender->pump));
  }
  runs = !sender->running || sender->core;
  g_mutex_unlock (&sender->lock);
  mcc_elm_sender_free (core);
  if (!runs)
    GST_ELEMENT_ERROR (self, LIBRARY, INIT,
        ("%u layers at %" G_GUINT64_FORMAT " bit/s for %u receivers cannot be controlled: lower "
         "max-receivers.",
            count, gst_mcc_sender_settings_start (&settings), settings.max_receivers),
        (NULL));
  gst_mcc_sender_drain (sender);
  gst_mcc_pump_wake (sender->pump, 0);
}

static void
on_malformed (gpointer owner, MccLayerError error)
{
  GstElmLayerSink *self = owner;
  GstMccSender *sender = owner;

  if (gst_mcc_sender_warn_once (sender, WARNED_MALFORMED))
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
  GstMccSender *sender = owner;

  g_mutex_lock (&sender->lock);
  if (sender->core && layer < mcc_elm_sender_layers (sender->core)->count)
    mcc_elm_sender_set_ssrc (sender->core, layer, ssrc, gst_mcc_pump_now (sender->pump));
  g_mutex_unlock (&sender->lock);
  gst_mcc_sender_drain (sender);
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

/* Called with the lock: the pictures of each layer since the last look, as rates of levels. */
static void
look_at_frames_locked (GstElmLayerSink *self, guint count, MccTime now)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  guint64 units[GST_ELM_LAYERS_MAX], sum = 0;
  MccTime passed = now - self->looked;

  gst_elm_split_get_units (GST_ELM_SPLIT (self->split), units);
  for (guint k = 0; k < count && self->looked > 0 && passed >= LOOK / 2; k++) {
    sum += units[k] - self->units[k];
    mcc_elm_sender_set_frame_rate (
        sender->core, k, (guint32)gst_util_uint64_scale (sum, 1000 * MCC_SECOND, passed), now);
  }
  memcpy (self->units, units, sizeof units);
  self->looked = now;
}

/* Each layer at its own rate: a row of packets at that of all overruns a queue that others fill. */
static void
pace (GstElmLayerSink *self, const MccElmSenderStats *stats)
{
  GstMccPacer *pacer = GST_MCC_PACER (gst_mcc_send_stream_get_pacer (self->send));
  guint64 below_bps = 0, all_bps = stats->cumulative_bps[stats->count - 1];

  for (guint k = 0; k < stats->count; k++) {
    gst_mcc_pacer_set_lane_target (pacer, k, stats->cumulative_bps[k] - below_bps, all_bps);
    below_bps = stats->cumulative_bps[k];
  }
}

/* Whether target-bitrate has changed. */
static gboolean
look (GstElmLayerSink *self)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  MccElmSenderStats stats = { 0 };
  gboolean known = FALSE, changed = FALSE, tell = FALSE, one = FALSE;
  MccTime now;

  g_mutex_lock (&sender->lock);
  now = gst_mcc_pump_now (sender->pump);
  if (sender->core && self->next_look <= now) {
    self->next_look = now + LOOK;
    mcc_elm_sender_get_stats (sender->core, now, &stats);
    look_at_frames_locked (self, stats.count, now);
  }
  known = stats.count > 0 && stats.cumulative_bps[stats.count - 1] > 0;
  if (known) {
    changed = self->target_bps != stats.cumulative_bps[stats.count - 1];
    self->target_bps = stats.cumulative_bps[stats.count - 1];
    tell = changed && self->whole_bps == 0;
    one = stats.count == 1 && self->n_built > 1;
  }
  g_mutex_unlock (&sender->lock);
  if (known)
    pace (self, &stats);
  if (one && gst_mcc_sender_warn_once (sender, WARNED_ONE_LAYER))
    GST_ELEMENT_WARNING (self, STREAM, ENCODE,
        ("The stream has one layer only: receivers cannot choose. x264enc makes layers with "
         "bframes=3 b-pyramid=true, vp8enc with temporal-scalability."),
        (NULL));
  return tell;
}

MccTime
gst_elm_layer_sink_tick (GstMccSender *sender, MccTime now)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  MccTime next;

  if (look (self))
    g_object_notify (G_OBJECT (self), "target-bitrate");
  g_mutex_lock (&sender->lock);
  next = sender->core ? self->next_look : MCC_TIME_NONE;
  g_mutex_unlock (&sender->lock);
  return next;
}

/* ---- what the network says ---- */

static void
on_elm_app (gpointer owner, const MccElmApp *app, const MccAddress *from)
{
  gst_mcc_sender_handle_app (owner, app, from);
}

const GstMccSessionHandler gst_elm_layer_sink_session_handler = { .elm_app = on_elm_app };

/* ---- what the pacer says ---- */

/* All layers; the fan knows which. */
static void
on_sent (gpointer owner, guint stream, guint packets, guint64 bytes, guint32 highest_seq)
{
}

static void
on_caps (gpointer owner, guint stream, GstCaps *caps)
{
  GstElmLayerSink *self = owner;

  gst_mcc_sender_handle_caps (owner, 0, caps);
  gst_elm_layer_sink_find_encoder (self, TRUE);
  gst_mcc_sender_write_sdp (owner, self->send, caps);
}

static void
on_eos (gpointer owner, guint stream)
{
  GstElmLayerSink *self = owner;

  for (guint i = 0; i < self->n_built; i++)
    gst_mcc_sender_handle_eos (owner, i);
}

static void
on_again (gpointer owner, guint stream)
{
  GstElmLayerSink *self = owner;

  for (guint i = 0; i < self->n_built; i++)
    gst_mcc_sender_handle_again (owner, i);
}

static guint
on_lane (gpointer owner, guint32 ssrc)
{
  GstElmLayerSink *self = owner;

  return gst_elm_split_find_layer (GST_ELM_SPLIT (self->split), ssrc);
}

const GstMccSendStreamHandler gst_elm_layer_sink_stream_handler = {
  .lane = on_lane,
  .sent = on_sent,
  .caps = on_caps,
  .eos = on_eos,
  .again = on_again,
  .key_unit = gst_mcc_sender_request_key_unit,
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

guint64
gst_elm_layer_sink_get_target (GstMccSender *sender)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  guint64 bps;

  g_mutex_lock (&sender->lock);
  bps = self->whole_bps > 0 ? self->whole_bps : self->target_bps;
  g_mutex_unlock (&sender->lock);
  return bps;
}

GstStructure *
gst_elm_layer_sink_get_stats (GstMccSender *sender, guint max_receivers)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  MccAsmpSenderStats stats = { 0 };
  MccElmSenderStats elm = { 0 };
  MccElmLayers layers = { 0 };
  GstMccSenderExtra extra = { 0 };
  MccReceiverInfo *receivers = NULL;
  guint64 units[GST_ELM_LAYERS_MAX] = { 0 };
  GstStructure *structure;
  guint n = 0;

  g_mutex_lock (&sender->lock);
  if (sender->core) {
    MccTime now = gst_mcc_pump_now (sender->pump);

    mcc_asmp_sender_get_stats (mcc_elm_sender_asmp (sender->core), now, &stats);
    mcc_elm_sender_get_stats (sender->core, now, &elm);
    layers = *mcc_elm_sender_layers (sender->core);
    n = MIN (mcc_elm_sender_members (sender->core), max_receivers);
    receivers = g_new (MccReceiverInfo, MAX (n, 1));
    n = mcc_elm_sender_get_receivers (sender->core, now, receivers, n);
    gst_elm_split_get_units (GST_ELM_SPLIT (self->split), units);
    gst_mcc_send_stream_get_extra (self->send, &extra);
    extra.layers = TRUE;
    memcpy (stats.dropped, elm.dropped, sizeof stats.dropped);
    if (elm.count > 0)
      stats.sent_bps = elm.cumulative_bps[elm.count - 1];
  }
  stats.target_bps = self->whole_bps > 0 ? self->whole_bps : self->target_bps;
  g_mutex_unlock (&sender->lock);
  structure = gst_mcc_stats_new_sender (&stats, &extra, receivers, n);
  gst_structure_set (structure, "feedback-interval", G_TYPE_UINT64, (guint64)elm.feedback_interval,
      "feedback-rate", G_TYPE_DOUBLE, elm.feedback_hz, "round", G_TYPE_UINT, elm.round, NULL);
  add_layers (structure, &elm, &layers, units);
  g_free (receivers);
  return structure;
}
