/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-asspsimulcastsrc
 * @title: asspsimulcastsrc
 *
 * Receives one of the streams that asspsimulcastbin sends, the one that its path can carry, and
 * moves to another when that changes; what comes out is one continuous RTP stream.
 *
 * |[
 * gst-launch-1.0 asspsimulcastsrc address=239.255.12.50 port=5010 ! decodebin ! videoconvert
 *     ! autovideosink
 * ]|
 */
#include "gstasspsimulcastsrc.h"

#include "gstmccuri.h"

GST_DEBUG_CATEGORY_STATIC (gst_assp_simulcast_src_debug);
#define GST_CAT_DEFAULT gst_assp_simulcast_src_debug

#define SCHEME "assp"
#define TORN_SPACING (250 * MCC_MSECOND) /* between requests for key units that came torn */
#define SENDER_MOVED (15 * MCC_SECOND)   /* without a description: its host may be another */

enum { PROP_STREAM = GST_MCC_RECEIVER_PROPERTY_LAST + 1, PROP_LOCK_STREAM, PROP_LEAVE_LATENCY };

struct _GstAsspSimulcastSrc {
  GstMccReceiver parent;

  /* Guarded by the parent's lock. */
  gint stream; /* shown; -1: none */
  gint lock_stream;
  guint leave_latency_ms;
  guint32 ssrc[GST_MCC_STREAMS_MAX]; /* of what was joined */
  MccAddress sender;                 /* where the description that counts comes from */
  MccTime described;                 /* newest one of it */
  MccTime torn;                      /* newest request; MCC_TIME_NONE: none */
  guint64 overlaps; /* since READY to PAUSED: switches during which the old stream went on */
};

G_DEFINE_FINAL_TYPE_WITH_CODE (GstAsspSimulcastSrc, gst_assp_simulcast_src, GST_TYPE_MCC_RECEIVER,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SRC, SCHEME))
GST_ELEMENT_REGISTER_DEFINE (
    asspsimulcastsrc, "asspsimulcastsrc", GST_RANK_PRIMARY, GST_TYPE_ASSP_SIMULCAST_SRC)

/* ---- the machine ---- */

static gpointer
machine_create (GstMccReceiver *owner, const MccAsmpReceiverConfig *config, MccTime now)
{
  GstAsspSimulcastSrc *self = GST_ASSP_SIMULCAST_SRC (owner);
  MccAsspReceiverConfig assp = { .asmp = *config };

  /* no SSRC is followed but those that the description names */
  assp.asmp.source_ssrc = 0;
  g_mutex_lock (&owner->lock);
  assp.lock_stream = self->lock_stream;
  assp.leave_latency = GST_MCC_LEAVE_LATENCY (self->leave_latency_ms);
  self->torn = MCC_TIME_NONE;
  memset (&self->sender, 0, sizeof self->sender);
  g_mutex_unlock (&owner->lock);
  return mcc_assp_receiver_new (&assp, now);
}

static void
machine_destroy (gpointer core)
{
  mcc_assp_receiver_free (core);
}

static MccDrop
machine_handle_rtp (
    gpointer core, guint stream, const MccRtpPacket *packet, const MccAddress *from, MccTime now)
{
  return mcc_assp_receiver_handle_rtp (core, stream, packet, from, now);
}

static void
machine_handle_bye (gpointer core, guint32 ssrc, MccTime now)
{
  mcc_assp_receiver_handle_bye (core, ssrc, now);
}

static void
machine_handle_host_dropped (gpointer core, guint64 packets, MccTime now)
{
  mcc_assp_receiver_handle_host_dropped (core, packets, now);
}

static void
machine_set_ssrc (gpointer core, guint32 ssrc)
{
  mcc_assp_receiver_set_ssrc (core, ssrc);
}

static void
machine_handle_timeout (gpointer core, MccTime now)
{
  mcc_assp_receiver_handle_timeout (core, now);
}

static MccTime
machine_next_timeout (gpointer core)
{
  return mcc_assp_receiver_next_timeout (core);
}

static bool
machine_poll (gpointer core, MccAsspReceiverAction *out)
{
  return mcc_assp_receiver_poll (core, out);
}

static bool
machine_poll_trace (gpointer core, MccTraceEvent *out)
{
  return mcc_asmp_receiver_poll_trace (mcc_assp_receiver_asmp (core), out);
}

static void
machine_get_stats (gpointer core, MccTime now, MccAsmpReceiverStats *out)
{
  MccAsspReceiverStats stats;

  mcc_asmp_receiver_get_stats (mcc_assp_receiver_asmp (core), now, out);
  mcc_assp_receiver_get_stats (core, &stats);
  for (guint i = 0; i < MCC_DROP_COUNT; i++)
    out->dropped[i] += stats.dropped[i];
}

static void
machine_leave (gpointer core, guint *stream, MccAppReport *out, MccTime now)
{
  mcc_assp_receiver_leave (core, stream, out, now);
}

static const GstMccMachine machine = {
  .create = machine_create,
  .destroy = machine_destroy,
  .handle_rtp = machine_handle_rtp,
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
send_report (GstMccReceiver *receiver, guint stream, const MccAppReport *report, gboolean bye)
{
  MccAsspApp app = { .ssrc = gst_mcc_session_get_ssrc (receiver->session, 0),
    .subtype = MCC_APP_REPORT,
    .stream = stream };

  app.asmp.ssrc = app.ssrc;
  app.asmp.subtype = app.subtype;
  app.asmp.report = *report;
  /* in no stream yet: nothing to report on */
  gst_mcc_session_send_assp (receiver->session, 0, &app, stream < GST_MCC_STREAMS_MAX ? 1 : 0, bye);
}

static void
apply_caps (GstMccReceiver *receiver, guint stream, const MccAppSession *session)
{
  GstCaps *caps = gst_mcc_receiver_make_caps (receiver, session);

  gst_mcc_session_set_stream_caps (receiver->session, stream, caps);
  if (caps)
    gst_caps_unref (caps);
}

/* The first packet of a stream, or the sender's SSRC has met another one's. */
static void
new_source (GstMccReceiver *receiver, guint stream, guint32 ssrc)
{
  GstAsspSimulcastSrc *self = GST_ASSP_SIMULCAST_SRC (receiver);
  gboolean renamed;

  if (stream >= GST_MCC_STREAMS_MAX)
    return;
  g_mutex_lock (&receiver->lock);
  renamed = self->ssrc[stream] != ssrc;
  self->ssrc[stream] = ssrc;
  g_mutex_unlock (&receiver->lock);
  if (!renamed)
    return;
  GST_INFO_OBJECT (self, "stream %u goes on as %08x", stream, ssrc);
  gst_mcc_session_rename (receiver->session, stream, ssrc);
  gst_mcc_session_request_key_unit (receiver->session, ssrc);
}

static gboolean
join (GstMccReceiver *receiver, guint stream, const MccAsspStream *group, GError **error)
{
  return gst_mcc_session_join (receiver->session, stream, group, error);
}

static void
on_join (GstAsspSimulcastSrc *self, const MccAsspReceiverAction *action)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);

  GST_INFO_OBJECT (self, "joining stream %u (%s)", action->stream,
      action->overlap ? "the present one goes on" : "alone");
  g_mutex_lock (&receiver->lock);
  self->ssrc[action->stream] = action->group.ssrc;
  self->overlaps += action->overlap;
  receiver->extra.joins++;
  g_mutex_unlock (&receiver->lock);
  /* what it carries is told next, where that is known */
  apply_caps (receiver, action->stream, NULL);
  if (!action->overlap)
    gst_mcc_receiver_leave_key_unit (receiver);
  gst_mcc_session_follow (receiver->session, action->group.ssrc);
  gst_mcc_receiver_join (receiver, action->stream, &action->group);
}

static void
set_stream (GstAsspSimulcastSrc *self, gint stream)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);
  gboolean changed;

  g_mutex_lock (&receiver->lock);
  changed = self->stream != stream;
  self->stream = stream;
  g_mutex_unlock (&receiver->lock);
  if (changed)
    g_object_notify (G_OBJECT (self), "stream");
}

static void
on_switched (GstAsspSimulcastSrc *self, const MccAsspReceiverAction *action)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);
  gint from = action->from < GST_MCC_STREAMS_MAX ? (gint)action->from : -1;

  GST_INFO_OBJECT (self, "stream %d -> %u (%s), %" GST_TIME_FORMAT, from, action->stream,
      mcc_assp_reason_name (action->reason), GST_TIME_ARGS (action->duration));
  g_mutex_lock (&receiver->lock);
  receiver->extra.switches += action->reason != MCC_ASSP_REASON_START;
  g_mutex_unlock (&receiver->lock);
  set_stream (self, (gint)action->stream);
  gst_mcc_messages_switch (receiver->messages, from, (gint)action->stream,
      mcc_assp_reason_name (action->reason), action->duration, gst_mcc_pump_now (receiver->pump));
  gst_mcc_pump_wake (receiver->pump, 0);
}

static void
on_failed (GstAsspSimulcastSrc *self, const MccAsspReceiverAction *action)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);
  guint32 ssrc;

  GST_INFO_OBJECT (self, "stream %u did not come; back to %u", action->from, action->stream);
  g_mutex_lock (&receiver->lock);
  receiver->extra.late_joins++;
  ssrc = self->ssrc[action->stream];
  g_mutex_unlock (&receiver->lock);
  gst_mcc_session_follow (receiver->session, ssrc);
}

static void
act (GstMccReceiver *receiver, const MccAsspReceiverAction *action)
{
  GstAsspSimulcastSrc *self = GST_ASSP_SIMULCAST_SRC (receiver);

  switch (action->type) {
    case MCC_ASSP_RECEIVER_JOIN:
      on_join (self, action);
      break;
    case MCC_ASSP_RECEIVER_LEAVE:
      g_mutex_lock (&receiver->lock);
      receiver->extra.leaves++;
      g_mutex_unlock (&receiver->lock);
      gst_mcc_receiver_forget_join (receiver, action->stream);
      gst_mcc_session_leave (receiver->session, action->stream);
      break;
    case MCC_ASSP_RECEIVER_SWITCHED:
      on_switched (self, action);
      break;
    case MCC_ASSP_RECEIVER_FAILED:
      on_failed (self, action);
      break;
    case MCC_ASSP_RECEIVER_KEY_UNIT:
      gst_mcc_session_request_key_unit (receiver->session, action->group.ssrc);
      break;
    case MCC_ASSP_RECEIVER_STREAMS:
      GST_INFO_OBJECT (self, "the sender has described its streams");
      break;
    case MCC_ASSP_RECEIVER_ASMP:
      break;
  }
}

static void
settle (GstMccReceiver *receiver, MccTime now)
{
  mcc_assp_receiver_set_lock (receiver->core, GST_ASSP_SIMULCAST_SRC (receiver)->lock_stream, now);
}

static void
started (GstMccReceiver *receiver)
{
  for (guint i = 0; i < GST_MCC_STREAMS_MAX; i++)
    apply_caps (receiver, i, NULL);
}

static void
stopped (GstMccReceiver *receiver)
{
  set_stream (GST_ASSP_SIMULCAST_SRC (receiver), -1);
}

/* With the lock. */
static void
add_stats (GstMccReceiver *receiver, GstStructure *stats)
{
  GstAsspSimulcastSrc *self = GST_ASSP_SIMULCAST_SRC (receiver);
  const MccAsspStreams *streams
      = receiver->core ? mcc_assp_receiver_streams (receiver->core) : NULL;
  MccAsspReceiverStats assp = { 0 };
  GValue list = G_VALUE_INIT;

  if (receiver->core)
    mcc_assp_receiver_get_stats (receiver->core, &assp);
  g_value_init (&list, GST_TYPE_ARRAY);
  for (guint i = 0; streams && i < streams->count; i++) {
    const MccAsspStream *stream = &streams->stream[i];
    GValue item = G_VALUE_INIT;

    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&item,
        gst_structure_new ("stream", "low", G_TYPE_UINT64, (guint64)stream->low_bps, "high",
            G_TYPE_UINT64, (guint64)stream->high_bps, "average", G_TYPE_UINT64,
            (guint64)stream->average_bps, "running", G_TYPE_BOOLEAN,
            (stream->flags & MCC_ASSP_RUNNING) != 0, "ssrc", G_TYPE_UINT, stream->ssrc, NULL));
    gst_value_array_append_and_take_value (&list, &item);
  }
  gst_structure_set (stats, "stream", G_TYPE_INT, self->stream, "switching", G_TYPE_BOOLEAN,
      (gboolean)assp.switching, "overlaps", G_TYPE_UINT64, self->overlaps, "average-bitrate",
      G_TYPE_UINT64, (guint64)assp.average_bps, NULL);
  gst_structure_take_value (stats, "streams", &list);
}

/* ---- the session's handler ---- */

static gboolean
is_elsewhere (const GstAsspSimulcastSrc *self, const MccAddress *from, MccTime now)
{
  return self->sender.family && !mcc_address_same_host (from, &self->sender)
         && now - self->described < SENDER_MOVED;
}

/* What speaks for the sender must come from where the sender is, and be of the one that the user
 * wants. With the lock. */
static MccDrop
judge_locked (GstAsspSimulcastSrc *self, const MccAsspApp *app, const MccAddress *from, MccTime now)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);
  const MccAsspStreams *streams = mcc_assp_receiver_streams (receiver->core);
  gboolean ours = streams && mcc_assp_streams_list (streams, app->ssrc);

  if (app->subtype == MCC_APP_REPORT)
    return MCC_DROP_NONE;
  if (ours && is_elsewhere (self, from, now))
    return MCC_DROP_ADDRESS;
  if (app->subtype == MCC_ASSP_STREAMS && receiver->ssrc
      && !mcc_assp_streams_list (&app->streams, receiver->ssrc))
    return MCC_DROP_OTHER_SENDER;
  return MCC_DROP_NONE;
}

static gboolean
is_forged (GstMccReceiver *receiver, guint32 ssrc, const MccAddress *from, MccTime now)
{
  const MccAsspStreams *streams = mcc_assp_receiver_streams (receiver->core);

  return streams && mcc_assp_streams_list (streams, ssrc)
         && is_elsewhere (GST_ASSP_SIMULCAST_SRC (receiver), from, now);
}

static void
handle_app (gpointer owner, const MccAsspApp *app, const MccAddress *from)
{
  GstAsspSimulcastSrc *self = owner;
  GstMccReceiver *receiver = owner;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;
  MccDrop verdict = MCC_DROP_NONE;
  const MccAsspStreams *streams;
  gboolean described = FALSE;
  guint32 ours = 0;

  g_mutex_lock (&receiver->lock);
  if (receiver->core) {
    MccTime now = gst_mcc_pump_now (receiver->pump);

    verdict = judge_locked (self, app, from, now);
    if (verdict != MCC_DROP_NONE)
      receiver->dropped[verdict]++;
    else
      verdict = mcc_assp_receiver_handle_app (receiver->core, app, now);
    if (verdict == MCC_DROP_NONE && app->subtype == MCC_APP_SESSION)
      receiver->announcer = *from;
    described = verdict == MCC_DROP_NONE && app->subtype == MCC_ASSP_STREAMS;
    if (described) {
      self->sender = *from;
      self->described = now;
      mcc_asmp_receiver_set_host (mcc_assp_receiver_asmp (receiver->core), from, now);
    }
    if (verdict == MCC_DROP_NONE && app->subtype != MCC_APP_REPORT)
      gst_mcc_receiver_note_rtcp_locked (receiver, now);
    streams = mcc_assp_receiver_streams (receiver->core);
    ours = streams ? streams->stream[0].ssrc : 0;
    gst_mcc_receiver_drain_locked (receiver, &todo);
  }
  g_mutex_unlock (&receiver->lock);
  if (described)
    gst_mcc_session_set_host (receiver->session, from);
  gst_mcc_receiver_act (receiver, &todo);
  if (verdict == MCC_DROP_OTHER_SENDER && app->subtype == MCC_ASSP_STREAMS && ours)
    gst_mcc_receiver_tell_other (receiver, app->ssrc, ours);
}

static void
handle_cut (gpointer owner, guint stream)
{
  GstMccReceiver *receiver = owner;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;

  g_mutex_lock (&receiver->lock);
  if (receiver->core) {
    mcc_assp_receiver_handle_cut (receiver->core, stream, gst_mcc_pump_now (receiver->pump));
    gst_mcc_receiver_drain_locked (receiver, &todo);
  }
  g_mutex_unlock (&receiver->lock);
  gst_mcc_receiver_act (receiver, &todo);
}

static void
handle_key_unit_torn (gpointer owner, guint stream)
{
  GstAsspSimulcastSrc *self = owner;
  GstMccReceiver *receiver = owner;
  MccTime now = gst_mcc_pump_now (receiver->pump);
  guint32 ssrc;
  gboolean ask;

  g_mutex_lock (&receiver->lock);
  ask = receiver->core && (self->torn == MCC_TIME_NONE || now - self->torn >= TORN_SPACING);
  if (ask)
    self->torn = now;
  ssrc = self->ssrc[stream];
  g_mutex_unlock (&receiver->lock);
  if (ask)
    gst_mcc_session_request_key_unit (receiver->session, ssrc);
}

static const GstMccSessionHandler session_handler
    = { .assp_app = handle_app, .cut = handle_cut, .key_unit_torn = handle_key_unit_torn };

/* ---- properties ---- */

static void
set_lock_stream (GstAsspSimulcastSrc *self, gint stream)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (self);

  g_mutex_lock (&receiver->lock);
  self->lock_stream = stream;
  if (receiver->core)
    mcc_assp_receiver_set_lock (receiver->core, stream, gst_mcc_pump_now (receiver->pump));
  g_mutex_unlock (&receiver->lock);
  gst_mcc_pump_wake (receiver->pump, 0);
}

static void
gst_assp_simulcast_src_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstAsspSimulcastSrc *self = GST_ASSP_SIMULCAST_SRC (object);
  GstMccReceiver *receiver = GST_MCC_RECEIVER (object);

  switch (id) {
    case PROP_LOCK_STREAM:
      set_lock_stream (self, g_value_get_int (value));
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
gst_assp_simulcast_src_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstAsspSimulcastSrc *self = GST_ASSP_SIMULCAST_SRC (object);
  GstMccReceiver *receiver = GST_MCC_RECEIVER (object);

  if (id < PROP_STREAM) {
    gst_mcc_receiver_get_property (object, id, value, pspec);
    return;
  }
  g_mutex_lock (&receiver->lock);
  if (id == PROP_LEAVE_LATENCY)
    g_value_set_uint (value, self->leave_latency_ms);
  else
    g_value_set_int (value, id == PROP_STREAM ? self->stream : self->lock_stream);
  g_mutex_unlock (&receiver->lock);
}

/* ---- class ---- */

static GstStateChangeReturn
gst_assp_simulcast_src_change_state (GstElement *element, GstStateChange transition)
{
  GstMccReceiver *receiver = GST_MCC_RECEIVER (element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    g_mutex_lock (&receiver->lock);
    GST_ASSP_SIMULCAST_SRC (element)->overlaps = 0;
    g_mutex_unlock (&receiver->lock);
  }
  return GST_ELEMENT_CLASS (gst_assp_simulcast_src_parent_class)
      ->change_state (element, transition);
}

static void
gst_assp_simulcast_src_class_init (GstAsspSimulcastSrcClass *klass)
{
  GstMccReceiverClass *receiver = GST_MCC_RECEIVER_CLASS (klass);
  GObjectClass *object = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  GST_DEBUG_CATEGORY_INIT (
      gst_assp_simulcast_src_debug, "asspsimulcastsrc", 0, "adaptive simulcast receiver");
  receiver->scheme = SCHEME;
  receiver->element_name = "asspsimulcastsrc";
  receiver->machine = &machine;
  receiver->handler = &session_handler;
  receiver->send_report = send_report;
  receiver->new_source = new_source;
  receiver->apply_caps = apply_caps;
  receiver->join = join;
  receiver->join_name = "Stream";
  receiver->act = act;
  receiver->is_forged = is_forged;
  receiver->add_stats = add_stats;
  receiver->settle = settle;
  receiver->started = started;
  receiver->stopped = stopped;
  gst_mcc_receiver_class_install (receiver);
  object->set_property = gst_assp_simulcast_src_set_property;
  object->get_property = gst_assp_simulcast_src_get_property;
  GST_ELEMENT_CLASS (klass)->change_state = gst_assp_simulcast_src_change_state;
  g_object_class_install_property (object, PROP_STREAM,
      g_param_spec_int ("stream", "stream",
          "The stream that is shown: its place in the sender's description (streams in stats); 0 "
          "is the lowest only while the bounds stay as they were given (-1: none yet)",
          -1, GST_MCC_STREAMS_MAX - 1, -1, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object, PROP_LOCK_STREAM,
      g_param_spec_int ("lock-stream", "lock-stream",
          "Stay in this stream, whatever the path can carry: a place in the sender's description "
          "(streams in stats); but 0 is the lowest, and a number beyond the last, such as 8, the "
          "highest, also where bounds move (-1: adapt)",
          -1, GST_MCC_STREAMS_MAX, -1, flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (
      object, PROP_LEAVE_LATENCY, gst_mcc_receiver_leave_latency_spec ());
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Adaptive simulcast receiver (ASSP)", "Source/Network/RTP",
      "Receives the stream of several that its path can carry, and moves between them without a "
      "seam",
      "adaptivemulticast");
}

static void
gst_assp_simulcast_src_init (GstAsspSimulcastSrc *self)
{
  self->stream = self->lock_stream = -1;
  self->leave_latency_ms = GST_MCC_LEAVE_LATENCY_MS;
  self->torn = MCC_TIME_NONE;
  gst_mcc_receiver_setup (GST_MCC_RECEIVER (self));
}
