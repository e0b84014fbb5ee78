/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-elmlayersrc
 * @title: elmlayersrc
 *
 * Receives the layers that elmlayersink sends, as many of them as its path can carry; what comes
 * out is one RTP stream that can be decoded, with more or fewer frames.
 *
 * |[
 * gst-launch-1.0 elmlayersrc address=239.255.12.60 port=5020 strategy=lazy ! decodebin
 *     ! autovideosink
 * ]|
 */
#include "gstelmlayersrc.h"

#include <math.h>

#include "gstmcccaps.h"
#include "gstmccsdp.h"
#include "gstmccuri.h"
#include "mccelmreceiver.h"
#include "mccrtpextension.h"

GST_DEBUG_CATEGORY_STATIC (gst_elm_layer_src_debug);
#define GST_CAT_DEFAULT gst_elm_layer_src_debug

#define SCHEME "elm"
#define LATENCY_MS 400 /* B frames come late */

typedef enum { STRATEGY_NAIVE, STRATEGY_SKEPTICAL, STRATEGY_LAZY } Strategy;
typedef enum { LOSS_LIP, LOSS_LAP, LOSS_WINDOW, LOSS_AUTO } LossMeasure;

enum {
  PROP_LEVEL = GST_MCC_RECEIVER_PROPERTY_LAST + 1,
  PROP_MAX_LEVEL,
  PROP_STRATEGY,
  PROP_LOSS_MEASURE,
  PROP_LEAVE_LATENCY
};

/* What a machine counts. */
typedef struct {
  guint64 joins, leaves, switches, failed, absent;
} Counters;

struct _GstElmLayerSrc {
  GstMccReceiver parent;

  /* Guarded by the parent's lock. */
  gint level; /* -1: none */
  gint max_level;
  Strategy strategy;
  LossMeasure loss_measure;
  guint leave_latency_ms;
  GQueue actions;     /* of MccElmReceiverAction: what was polled and is not acted on yet */
  MccElmApp last_app; /* to say with BYE */
  guint8 order_id;    /* of the header extension; 0: not known */
  Counters before;    /* of the machines before this one, since READY to PAUSED */
};

/* The machine with what a packet says besides. */
typedef struct {
  MccElmReceiver *receiver;
  GstElmLayerSrc *owner;
  gboolean has_order;
  MccLayerOrder order; /* of the packet that comes next */
} Core;

G_DEFINE_FINAL_TYPE_WITH_CODE (GstElmLayerSrc, gst_elm_layer_src, GST_TYPE_MCC_RECEIVER,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SRC, SCHEME))
GST_ELEMENT_REGISTER_DEFINE (elmlayersrc, "elmlayersrc", GST_RANK_PRIMARY, GST_TYPE_ELM_LAYER_SRC)

static GType
strategy_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { STRATEGY_NAIVE, "Join and leave at once when the rate says so", "naive" },
    { STRATEGY_SKEPTICAL, "Only when it has said so for a fixed time", "skeptical" },
    { STRATEGY_LAZY, "The sooner the clearer it says so", "lazy" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstElmStrategy", values));
  return type;
}

static GType
loss_measure_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { LOSS_LIP, "Loss events (TFRC)", "lip" },
    { LOSS_LAP, "Loss events and all losses in them", "lap" },
    { LOSS_WINDOW, "Loss events and those losses in them that lie apart", "window" },
    { LOSS_AUTO, "The variant's: lip of enhanced, window of published", "auto" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstElmLossMeasure", values));
  return type;
}

/* ---- the machine; with the lock, but for create and destroy ---- */

static gpointer
machine_create (GstMccReceiver *owner, const MccAsmpReceiverConfig *config, MccTime now)
{
  static const MccElmStrategy *const strategies[]
      = { &mcc_elm_naive, &mcc_elm_skeptical, &mcc_elm_lazy };
  static const MccLossMeasure *const measures[]
      = { &mcc_loss_lip, &mcc_loss_lap, &mcc_loss_window, NULL };
  GstElmLayerSrc *self = GST_ELM_LAYER_SRC (owner);
  MccElmReceiverConfig elm = { .variant = config->variant,
    .ssrc = config->ssrc,
    .source_ssrc = config->source_ssrc,
    .seed = config->seed,
    .srtcp_bytes = config->srtcp_bytes,
    .hears_group = config->hears_group };
  Core *core = g_new0 (Core, 1);

  g_mutex_lock (&owner->lock);
  elm.strategy = strategies[self->strategy];
  elm.loss = measures[self->loss_measure];
  elm.leave_latency = GST_MCC_LEAVE_LATENCY (self->leave_latency_ms);
  elm.max_level = self->max_level;
  self->order_id = owner->user_caps ? gst_mcc_caps_layer_order_id (owner->user_caps) : 0;
  g_queue_clear_full (&self->actions, g_free);
  g_mutex_unlock (&owner->lock);
  core->owner = self;
  core->receiver = mcc_elm_receiver_new (&elm, now);
  if (!core->receiver)
    g_clear_pointer (&core, g_free);
  return core;
}

static void
machine_destroy (gpointer data)
{
  Core *core = data;

  mcc_elm_receiver_free (core->receiver);
  g_free (core);
}

static void
machine_read_rtp (gpointer data, const guint8 *packet, gsize size)
{
  Core *core = data;
  gsize bytes;
  const guint8 *element = mcc_rtp_packet_element (packet, size, core->owner->order_id, &bytes);

  core->has_order = element && mcc_layer_order_read (element, bytes, &core->order);
}

static MccDrop
machine_handle_rtp (
    gpointer data, guint layer, const MccRtpPacket *packet, const MccAddress *from, MccTime now)
{
  Core *core = data;
  GstMccReceiver *owner = GST_MCC_RECEIVER (core->owner);
  uint16_t c[MCC_ELM_LAYERS_MAX] = { 0 };

  /* one that has no order, or came by the group of another layer; behind a join a few come before
   * the announcement has told the order's id */
  if (!core->has_order || core->order.layer != layer) {
    MccDrop drop = core->owner->order_id == 0 ? MCC_DROP_STALE
                   : core->has_order          ? MCC_DROP_BAD_VALUE
                                              : MCC_DROP_MALFORMED;

    owner->dropped[drop]++;
    return drop;
  }
  memcpy (c, core->order.c, sizeof core->order.c);
  return mcc_elm_receiver_handle_rtp (
      core->receiver, layer, packet, c, core->order.count, from, now);
}

static void
machine_handle_bye (gpointer data, guint32 ssrc, MccTime now)
{
  mcc_elm_receiver_handle_bye (((Core *)data)->receiver, ssrc, now);
}

static void
machine_handle_host_dropped (gpointer data, guint64 packets, MccTime now)
{
  mcc_elm_receiver_handle_host_dropped (((Core *)data)->receiver, packets, now);
}

static void
machine_set_ssrc (gpointer data, guint32 ssrc)
{
  mcc_elm_receiver_set_ssrc (((Core *)data)->receiver, ssrc);
}

static void
machine_handle_timeout (gpointer data, MccTime now)
{
  mcc_elm_receiver_handle_timeout (((Core *)data)->receiver, now);
}

static MccTime
machine_next_timeout (gpointer data)
{
  return mcc_elm_receiver_next_timeout (((Core *)data)->receiver);
}

static void
note_session (Core *core, const MccAppSession *session)
{
  GstMccReceiver *owner = GST_MCC_RECEIVER (core->owner);
  GstCaps *caps = gst_mcc_caps_from_session (session);

  /* all layers have the same */
  memset (owner->send_time_id, session->send_time_id, sizeof owner->send_time_id);
  /* caps of the user need not name the extension */
  if (caps && (!owner->user_caps || gst_mcc_caps_layer_order_id (owner->user_caps) == 0))
    core->owner->order_id = gst_mcc_caps_layer_order_id (caps);
  gst_clear_caps (&caps);
}

/* What the base class knows is told as ASMP's; the rest waits in `actions` for act(). */
static bool
machine_poll (gpointer data, MccAsspReceiverAction *out)
{
  Core *core = data;
  MccElmReceiverAction action;

  if (!mcc_elm_receiver_poll (core->receiver, &action))
    return false;
  memset (out, 0, sizeof *out);
  out->type = MCC_ASSP_RECEIVER_ASMP;
  out->asmp.ssrc = action.ssrc;
  switch (action.type) {
    case MCC_ELM_RECEIVER_SESSION:
      note_session (core, action.session);
      out->asmp.type = MCC_RECEIVER_SESSION;
      out->asmp.session = action.session;
      break;
    case MCC_ELM_RECEIVER_SOURCE:
      out->asmp.type = MCC_RECEIVER_NEW_SOURCE;
      break;
    case MCC_ELM_RECEIVER_LOST:
      out->asmp.type = MCC_RECEIVER_SOURCE_LOST;
      break;
    case MCC_ELM_RECEIVER_OTHER:
      out->asmp.type = MCC_RECEIVER_OTHER_SENDER;
      break;
    case MCC_ELM_RECEIVER_RATE:
      out->asmp.type = MCC_RECEIVER_RATE;
      out->asmp.rate_bps = action.rate_bps;
      break;
    case MCC_ELM_RECEIVER_CEASE:
      out->asmp.type = MCC_RECEIVER_CEASE;
      out->asmp.breaker = action.breaker;
      break;
    default:
      action.layers = NULL; /* valid now only */
      action.session = NULL;
      g_queue_push_tail (&core->owner->actions, g_memdup2 (&action, sizeof action));
      out->type = MCC_ASSP_RECEIVER_STREAMS;
      break;
  }
  return true;
}

static guint64
to_bps (gdouble bps)
{
  return isfinite (bps) && bps > 0 ? (guint64)MIN (bps, (gdouble)MCC_APP_RATE_MAX) : 0;
}

static bool
machine_poll_trace (gpointer data, MccTraceEvent *out)
{
  return mcc_elm_receiver_poll_trace (((Core *)data)->receiver, out);
}

static void
add_counters (Counters *sum, const MccElmReceiverStats *stats)
{
  sum->joins += stats->joins;
  sum->leaves += stats->leaves;
  sum->switches += stats->switches;
  sum->failed += stats->failed;
  sum->absent += stats->absent;
}

static void
machine_get_stats (gpointer data, MccTime now, MccAsmpReceiverStats *out)
{
  Core *core = data;
  GstMccReceiver *owner = GST_MCC_RECEIVER (core->owner);
  const MccElmLayers *layers = mcc_elm_receiver_layers (core->receiver);
  Counters sum = core->owner->before;
  MccElmReceiverStats stats;

  mcc_elm_receiver_get_stats (core->receiver, now, &stats);
  memset (out, 0, sizeof *out);
  out->source_ssrc = stats.source_ssrc;
  out->received_bps = stats.received_bps;
  out->estimated_bps = to_bps (stats.smoothed_bps);
  out->announced_bps = layers ? layers->layer[0].cumulative_bps : 0;
  out->loss_ratio = stats.loss_ratio;
  out->packets_received = stats.packets_received;
  out->packets_lost = stats.packets_lost;
  out->duplicates = stats.duplicates;
  out->reordered = stats.reordered;
  out->rtt = stats.rtt;
  out->rtt_measured = stats.rtt_measured;
  out->jitter = stats.jitter;
  out->queue_delay = stats.queue_delay;
  out->reports_sent = stats.reports_sent;
  memcpy (out->dropped, stats.dropped, sizeof out->dropped);
  add_counters (&sum, &stats);
  owner->extra.joins = sum.joins;
  owner->extra.leaves = sum.leaves;
  owner->extra.switches = sum.switches;
  owner->extra.late_joins = sum.failed + sum.absent;
}

static void
machine_leave (gpointer data, guint *stream, MccAppReport *out, MccTime now)
{
  Core *core = data;
  MccElmReceiverStats stats;

  mcc_elm_receiver_get_stats (core->receiver, now, &stats);
  add_counters (&core->owner->before, &stats);
  core->owner->before.leaves++; /* as the base class counts the end */
  *stream = 0;
  mcc_elm_receiver_leave (core->receiver, &core->owner->last_app, now);
  *out = core->owner->last_app.asmp.report;
}

static const GstMccMachine machine = {
  .create = machine_create,
  .destroy = machine_destroy,
  .handle_rtp = machine_handle_rtp,
  .read_rtp = machine_read_rtp,
  .handle_bye = machine_handle_bye,
  .handle_host_dropped = machine_handle_host_dropped,
  .set_ssrc = machine_set_ssrc,
  .handle_timeout = machine_handle_timeout,
  .next_timeout = machine_next_timeout,
  .poll = machine_poll,
  .poll_trace = machine_poll_trace,
  .get_stats = machine_get_stats,
  .leave = machine_leave,
};

/* ---- what the machine wants; without the lock ---- */

static void
send_app (GstElmLayerSrc *self, MccElmApp *app, gboolean bye)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);

  app->ssrc = app->asmp.ssrc = gst_mcc_session_get_ssrc (receiver->session, 0);
  app->subtype = app->asmp.subtype = MCC_APP_REPORT;
  gst_mcc_session_send_elm (receiver->session, 0, app, 1, bye);
}

/* Of the base class: the last one. */
static void
send_report (GstMccReceiver *receiver, guint stream, const MccAppReport *report, gboolean bye)
{
  GstElmLayerSrc *self = GST_ELM_LAYER_SRC (receiver);
  MccElmApp app;

  g_mutex_lock (&receiver->lock);
  app = self->last_app;
  g_mutex_unlock (&receiver->lock);
  send_app (self, &app, bye);
}

static void
apply_caps (GstMccReceiver *receiver, guint stream, const MccAppSession *session)
{
  GstCaps *caps = gst_mcc_receiver_make_caps (receiver, session);
  guint8 order_id;

  if (!caps)
    return;
  order_id = gst_mcc_caps_layer_order_id (caps);
  if (order_id == 0 && session) {
    GstCaps *announced = gst_mcc_caps_from_session (session);

    order_id = announced ? gst_mcc_caps_layer_order_id (announced) : 0;
    gst_clear_caps (&announced);
  }
  caps = gst_mcc_caps_without_layer_order (caps);
  gst_mcc_session_set_layer_caps (receiver->session, caps, order_id);
  gst_caps_unref (caps);
}

static void
new_source (GstMccReceiver *receiver, guint stream, guint32 ssrc)
{
  gst_mcc_session_restart_layers (receiver->session, ssrc);
  gst_mcc_receiver_follow_key_unit (receiver);
}

static gboolean
join (GstMccReceiver *receiver, guint layer, const MccAsspStream *group, GError **error)
{
  MccPlace place = { group->address_offset, group->port_offset };

  return gst_mcc_session_join_layer (receiver->session, layer, place, error);
}

static void
on_join (GstElmLayerSrc *self, const MccElmReceiverAction *action)
{
  MccAsspStream group = { .address_offset = action->group.address_offset,
    .port_offset = action->group.port_offset };

  GST_INFO_OBJECT (
      self, "joining layer %u (%s)", action->layer, mcc_elm_reason_name (action->reason));
  gst_mcc_receiver_join (GST_MCC_RECEIVER (self), action->layer, &group);
}

static void
set_level (GstElmLayerSrc *self, gint level)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);
  gboolean changed;

  g_mutex_lock (&receiver->lock);
  changed = self->level != level;
  self->level = level;
  g_mutex_unlock (&receiver->lock);
  if (changed)
    g_object_notify (G_OBJECT (self), "level");
}

static void
on_level (GstElmLayerSrc *self, const MccElmReceiverAction *action)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);

  GST_INFO_OBJECT (self, "level %d -> %d (%s)", action->from, action->level,
      mcc_elm_reason_name (action->reason));
  set_level (self, action->level);
  if (action->level < action->from)
    gst_mcc_receiver_renew_key_unit (receiver);
  gst_mcc_messages_switch (receiver->messages, action->from, action->level,
      mcc_elm_reason_name (action->reason), action->duration, gst_mcc_pump_now (receiver->pump));
  gst_mcc_pump_wake (receiver->pump, 0);
}

static void
act (GstMccReceiver *receiver, const MccAsspReceiverAction *told)
{
  GstElmLayerSrc *self = GST_ELM_LAYER_SRC (receiver);
  MccElmReceiverAction *action;

  g_mutex_lock (&receiver->lock);
  action = g_queue_pop_head (&self->actions);
  g_mutex_unlock (&receiver->lock);
  if (!action)
    return;
  switch (action->type) {
    case MCC_ELM_RECEIVER_JOIN:
      on_join (self, action);
      break;
    case MCC_ELM_RECEIVER_LEAVE:
      GST_INFO_OBJECT (self, "leaving layer %u", action->layer);
      gst_mcc_receiver_forget_join (receiver, action->layer);
      gst_mcc_session_leave_layer (receiver->session, action->layer);
      break;
    case MCC_ELM_RECEIVER_LEVEL:
      on_level (self, action);
      break;
    case MCC_ELM_RECEIVER_FAILED:
      GST_INFO_OBJECT (
          self, "layer %u failed (%s)", action->layer, mcc_elm_reason_name (action->reason));
      break;
    case MCC_ELM_RECEIVER_REPORT:
      send_app (self, &action->app, FALSE);
      break;
    case MCC_ELM_RECEIVER_LEFT:
      gst_mcc_receiver_renew_key_unit (receiver);
      break;
    case MCC_ELM_RECEIVER_KEY_UNIT:
      gst_mcc_session_request_key_unit (receiver->session, action->group.ssrc);
      break;
    case MCC_ELM_RECEIVER_LAYERS:
      GST_INFO_OBJECT (self, "the sender has described its layers");
      break;
    default:
      break;
  }
  g_free (action);
}

static void
settle (GstMccReceiver *receiver, MccTime now)
{
  mcc_elm_receiver_set_max_level (
      ((Core *)receiver->core)->receiver, GST_ELM_LAYER_SRC (receiver)->max_level, now);
}

static void
started (GstMccReceiver *receiver)
{
  apply_caps (receiver, 0, NULL); /* the user's */
}

static void
stopped (GstMccReceiver *receiver)
{
  set_level (GST_ELM_LAYER_SRC (receiver), -1);
}

/* ---- stats; with the lock ---- */

static void
add_layers (GstStructure *stats, const MccElmLayers *layers, const MccLayerMergeStats *merge)
{
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_ARRAY);
  for (guint i = 0; layers && i < layers->count; i++) {
    GValue item = G_VALUE_INIT;

    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (
        &item, gst_structure_new ("layer", "cumulative-bitrate", G_TYPE_UINT64,
                   (guint64)layers->layer[i].cumulative_bps, "frame-rate", G_TYPE_DOUBLE,
                   layers->layer[i].frame_rate / 1000.0, "ssrc", G_TYPE_UINT, layers->layer[i].ssrc,
                   "pictures", G_TYPE_UINT64,
                   (guint64)(i < MCC_LAYER_ORDER_LAYERS_MAX ? merge->units[i] : 0), NULL));
    gst_value_array_append_and_take_value (&list, &item);
  }
  gst_structure_take_value (stats, "layers", &list);
}

static void
add_stats (GstMccReceiver *receiver, GstStructure *stats)
{
  GstElmLayerSrc *self = GST_ELM_LAYER_SRC (receiver);
  Core *core = receiver->core;
  MccElmReceiverStats elm = { .level = MCC_ELM_NO_LEVEL, .wanted = MCC_ELM_NO_LEVEL };
  MccLayerMergeStats merge;

  if (core)
    mcc_elm_receiver_get_stats (core->receiver, gst_mcc_pump_now (receiver->pump), &elm);
  gst_mcc_session_get_layer_stats (receiver->session, &merge);
  gst_structure_set (stats, "level", G_TYPE_INT, self->level, "wanted-level", G_TYPE_INT,
      elm.wanted, "slow-start", G_TYPE_BOOLEAN, (gboolean)elm.slow_start, "feedback-interval",
      G_TYPE_UINT64, (guint64)elm.feedback_interval, "failed-joins", G_TYPE_UINT64,
      self->before.failed + elm.failed, "absent-layers", G_TYPE_UINT64,
      self->before.absent + elm.absent, "torn-pictures", G_TYPE_UINT64, (guint64)merge.torn,
      "undecodable-pictures", G_TYPE_UINT64, (guint64)merge.undecodable, "late-packets",
      G_TYPE_UINT64, (guint64)merge.late, NULL);
  add_layers (stats, core ? mcc_elm_receiver_layers (core->receiver) : NULL, &merge);
}

/* ---- the session's handler ---- */

static gboolean
is_forged (GstMccReceiver *receiver, guint32 ssrc, const MccAddress *from, MccTime now)
{
  Core *core = receiver->core;
  const MccElmLayers *layers = mcc_elm_receiver_layers (core->receiver);

  return layers && layers->layer[0].ssrc == ssrc
         && mcc_elm_receiver_is_elsewhere (core->receiver, from);
}

static void
handle_app (gpointer owner, const MccElmApp *app, const MccAddress *from)
{
  GstMccReceiver *receiver = owner;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;
  gboolean described = FALSE;

  g_mutex_lock (&receiver->lock);
  if (receiver->core) {
    MccTime now = gst_mcc_pump_now (receiver->pump);
    MccDrop drop = mcc_elm_receiver_handle_app (((Core *)receiver->core)->receiver, app, from, now);

    if (drop == MCC_DROP_NONE && app->subtype == MCC_APP_SESSION)
      receiver->announcer = *from;
    described = drop == MCC_DROP_NONE && app->subtype == MCC_ELM_LAYERS;
    if (drop == MCC_DROP_NONE && app->subtype != MCC_APP_REPORT)
      gst_mcc_receiver_note_rtcp_locked (receiver, now);
    gst_mcc_receiver_drain_locked (receiver, &todo);
  }
  g_mutex_unlock (&receiver->lock);
  if (described)
    gst_mcc_session_set_host (receiver->session, from);
  gst_mcc_receiver_act (receiver, &todo);
}

static void
handle_layer_shown (gpointer owner, guint layer)
{
  GstMccReceiver *receiver = owner;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;

  GST_INFO_OBJECT (owner, "layer %u is seen", layer);
  g_mutex_lock (&receiver->lock);
  if (receiver->core && layer == 0) {
    mcc_elm_receiver_handle_picture (
        ((Core *)receiver->core)->receiver, true, gst_mcc_pump_now (receiver->pump));
    gst_mcc_receiver_drain_locked (receiver, &todo);
  }
  g_mutex_unlock (&receiver->lock);
  gst_mcc_receiver_act (receiver, &todo);
}

static void
handle_picture_lost (gpointer owner)
{
  gst_mcc_receiver_want_key_unit (owner);
}

static const GstMccSessionHandler session_handler = {
  .elm_app = handle_app, .layer_shown = handle_layer_shown, .picture_lost = handle_picture_lost
};

/* ---- properties ---- */

static void
set_max_level (GstElmLayerSrc *self, gint max_level)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);

  g_mutex_lock (&receiver->lock);
  self->max_level = max_level;
  if (receiver->core)
    mcc_elm_receiver_set_max_level (
        ((Core *)receiver->core)->receiver, max_level, gst_mcc_pump_now (receiver->pump));
  g_mutex_unlock (&receiver->lock);
  gst_mcc_pump_wake (receiver->pump, 0);
}

static void
gst_elm_layer_src_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstElmLayerSrc *self = GST_ELM_LAYER_SRC (object);
  GstMccReceiver *receiver = GST_MCC_RECEIVER (object);

  switch (id) {
    case PROP_MAX_LEVEL:
      set_max_level (self, g_value_get_int (value));
      break;
    case PROP_STRATEGY:
      g_mutex_lock (&receiver->lock);
      self->strategy = (Strategy)g_value_get_enum (value);
      g_mutex_unlock (&receiver->lock);
      break;
    case PROP_LOSS_MEASURE:
      g_mutex_lock (&receiver->lock);
      self->loss_measure = (LossMeasure)g_value_get_enum (value);
      g_mutex_unlock (&receiver->lock);
      break;
    case PROP_LEAVE_LATENCY:
      g_mutex_lock (&receiver->lock);
      self->leave_latency_ms = g_value_get_uint (value);
      g_mutex_unlock (&receiver->lock);
      break;
    default:
      gst_mcc_receiver_set_property (object, id, value, pspec);
      break;
  }
}

static void
gst_elm_layer_src_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstElmLayerSrc *self = GST_ELM_LAYER_SRC (object);
  GstMccReceiver *receiver = GST_MCC_RECEIVER (object);

  if (id < PROP_LEVEL) {
    gst_mcc_receiver_get_property (object, id, value, pspec);
    return;
  }
  g_mutex_lock (&receiver->lock);
  switch (id) {
    case PROP_LEVEL:
      g_value_set_int (value, self->level);
      break;
    case PROP_MAX_LEVEL:
      g_value_set_int (value, self->max_level);
      break;
    case PROP_STRATEGY:
      g_value_set_enum (value, (gint)self->strategy);
      break;
    case PROP_LOSS_MEASURE:
      g_value_set_enum (value, (gint)self->loss_measure);
      break;
    case PROP_LEAVE_LATENCY:
      g_value_set_uint (value, self->leave_latency_ms);
      break;
    default:
      break;
  }
  g_mutex_unlock (&receiver->lock);
}

/* ---- class ---- */

static GstStateChangeReturn
gst_elm_layer_src_change_state (GstElement *element, GstStateChange transition)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    g_mutex_lock (&receiver->lock);
    GST_ELM_LAYER_SRC (element)->before = (Counters){ 0 };
    g_mutex_unlock (&receiver->lock);
  }
  return GST_ELEMENT_CLASS (gst_elm_layer_src_parent_class)->change_state (element, transition);
}

static void
gst_elm_layer_src_finalize (GObject *object)
{
  g_queue_clear_full (&GST_ELM_LAYER_SRC (object)->actions, g_free);
  G_OBJECT_CLASS (gst_elm_layer_src_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object)
{
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (object, PROP_LEVEL,
      g_param_spec_int ("level", "level",
          "The highest layer that is received, 0 the base layer (-1: none yet)", -1,
          MCC_ELM_LAYERS_MAX - 1, -1, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object, PROP_MAX_LEVEL,
      g_param_spec_int ("max-level", "max-level",
          "Receive no layer above this, whatever the path can carry (-1: all)", -1,
          MCC_ELM_LAYERS_MAX - 1, -1, flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object, PROP_STRATEGY,
      g_param_spec_enum ("strategy", "strategy", "When layers are joined and left",
          strategy_get_type (), STRATEGY_LAZY, flags | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object, PROP_LOSS_MEASURE,
      g_param_spec_enum ("loss-measure", "loss-measure",
          "How losses are counted for the TCP-friendly rate", loss_measure_get_type (), LOSS_AUTO,
          flags | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (
      object, PROP_LEAVE_LATENCY, gst_mcc_receiver_leave_latency_spec ());
  gst_type_mark_as_plugin_api (strategy_get_type (), 0);
  gst_type_mark_as_plugin_api (loss_measure_get_type (), 0);
}

static void
gst_elm_layer_src_class_init (GstElmLayerSrcClass *klass)
{
  GstMccReceiverClass *receiver = GST_MCC_RECEIVER_CLASS (klass);
  GObjectClass *object = G_OBJECT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_elm_layer_src_debug, "elmlayersrc", 0, "adaptive layer receiver");
  receiver->scheme = SCHEME;
  receiver->element_name = "elmlayersrc";
  receiver->latency_ms = LATENCY_MS;
  receiver->machine = &machine;
  receiver->handler = &session_handler;
  receiver->send_report = send_report;
  receiver->new_source = new_source;
  receiver->apply_caps = apply_caps;
  receiver->join = join;
  receiver->join_name = "Layer";
  receiver->act = act;
  receiver->is_forged = is_forged;
  receiver->add_stats = add_stats;
  receiver->settle = settle;
  receiver->started = started;
  receiver->stopped = stopped;
  gst_mcc_receiver_class_install (receiver);
  object->set_property = gst_elm_layer_src_set_property;
  object->get_property = gst_elm_layer_src_get_property;
  object->finalize = gst_elm_layer_src_finalize;
  GST_ELEMENT_CLASS (klass)->change_state = gst_elm_layer_src_change_state;
  install_properties (object);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Adaptive layer receiver (ELM)",
      "Source/Network/RTP",
      "Receives as many cumulative layers of a stream as its path can carry, and makes one stream "
      "of them that can be decoded",
      "adaptivemulticast");
}

static void
gst_elm_layer_src_init (GstElmLayerSrc *self)
{
  self->level = self->max_level = -1;
  self->strategy = STRATEGY_LAZY;
  self->loss_measure = LOSS_AUTO;
  self->leave_latency_ms = GST_MCC_LEAVE_LATENCY_MS;
  g_queue_init (&self->actions);
  gst_mcc_receiver_setup (GST_MCC_RECEIVER (self));
}
