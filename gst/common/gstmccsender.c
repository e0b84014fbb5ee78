/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsender.h"

#include "gstmcccaps.h"
#include "gstmccsdp.h"

GST_DEBUG_CATEGORY_STATIC (gst_mcc_sender_debug);
#define GST_CAT_DEFAULT gst_mcc_sender_debug

enum { SIGNAL_ENCODER_BITRATE_CHANGED, SIGNAL_FORCE_KEY_UNIT, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_ABSTRACT_TYPE (GstMccSender, gst_mcc_sender, GST_TYPE_BIN)

static const GstMccSenderMachine *
machine_of (GstMccSender *self)
{
  return GST_MCC_SENDER_GET_CLASS (self)->machine;
}

gboolean
gst_mcc_sender_warn_once (GstMccSender *self, guint bit)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = !(self->warned & bit);
  self->warned |= bit;
  g_mutex_unlock (&self->lock);
  return first;
}

void
gst_mcc_sender_encoder_changed (gpointer self, GstElement *encoder, guint64 bitrate)
{
  g_signal_emit (self, signals[SIGNAL_ENCODER_BITRATE_CHANGED], 0, encoder, bitrate);
}

/* ---- what the machine wants done ---- */

void
gst_mcc_sender_copy_session (
    GstMccSenderTodo *todo, const MccAppSession *session, const MccAppRttList *rtt)
{
  todo->session = *session;
  todo->rtt.count = rtt ? rtt->count : 0;
  if (todo->rtt.count > 0)
    memcpy (todo->rtt.entry, rtt->entry, rtt->count * sizeof rtt->entry[0]);
}

/* Called with the lock, which it releases meanwhile. One thread at a time, or what the machine said
 * first could be done last. */
static void
act_locked (GstMccSender *self)
{
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);
  GstMccSenderTodo todo;

  self->actor = g_thread_self ();
  while (self->core && klass->poll_locked (self, &todo)) {
    g_mutex_unlock (&self->lock);
    klass->act (self, &todo);
    g_mutex_lock (&self->lock);
  }
  self->actor = NULL;
  g_cond_broadcast (&self->acted);
}

void
gst_mcc_sender_drain (GstMccSender *self)
{
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);
  MccTime next = MCC_TIME_NONE;

  g_mutex_lock (&self->lock);
  if (!self->actor) /* else who acts polls again behind us */
    act_locked (self);
  if (self->core) {
    gboolean ect = klass->machine->ect && klass->machine->ect (self->core);

    if (ect != self->ect)
      gst_mcc_session_set_ect (self->session, ect);
    self->ect = ect;
    next = klass->machine->next_timeout (self->core);
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, next);
}

void
gst_mcc_sender_tell_receiver (GstMccSender *self, gint stream, MccReceiverState state,
    MccQuarantine quarantine, guint32 ssrc, const MccAddress *address)
{
  const gchar *name, *reason;

  switch (state) {
    case MCC_RECEIVER_ACTIVE:
      name = "joined";
      reason = "report";
      break;
    case MCC_RECEIVER_LEFT:
      name = "left";
      reason = "bye";
      break;
    case MCC_RECEIVER_MOVED:
      name = "left";
      reason = "moved";
      break;
    case MCC_RECEIVER_TIMED_OUT:
      name = "timed out";
      reason = "silence";
      break;
    case MCC_RECEIVER_QUARANTINED:
      name = "quarantined";
      reason = mcc_quarantine_name (quarantine);
      break;
    default:
      return;
  }
  gst_mcc_messages_receiver (
      self->messages, stream, ssrc, address, name, reason, gst_mcc_pump_now (self->pump));
}

void
gst_mcc_sender_tell_target (GstMccSender *self, gint stream, guint64 bps, guint64 previous_bps,
    const gchar *reason, guint32 ssrc)
{
  g_object_notify (G_OBJECT (self), "target-bitrate");
  gst_mcc_messages_target (
      self->messages, stream, bps, previous_bps, reason, ssrc, gst_mcc_pump_now (self->pump));
}

void
gst_mcc_sender_tell_feedback (GstMccSender *self, gboolean found)
{
  if (found)
    GST_INFO_OBJECT (self, "receivers report");
  else if (gst_mcc_sender_warn_once (self, GST_MCC_SENDER_WARNED_FEEDBACK))
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("No receiver reports: nobody listens, or reports do not come back. Does a receiver run, "
         "does "
         "multicast reach it (ttl-mc, multicast-iface), and does the firewall let RTCP (UDP, the "
         "odd "
         "port) in? no-feedback says what is sent meanwhile."),
        (NULL));
  g_mutex_lock (&self->lock);
  self->lost = !found;
  g_mutex_unlock (&self->lock);
}

gboolean
gst_mcc_sender_is_stopped_locked (GstMccSender *self)
{
  return self->lost && self->no_feedback == MCC_NO_FEEDBACK_STOP;
}

gboolean
gst_mcc_sender_has_ended (GstMccSender *self, guint stream)
{
  gboolean ended;

  g_mutex_lock (&self->lock);
  ended = self->stream[stream].ended;
  g_mutex_unlock (&self->lock);
  return ended;
}

/* ---- the clock ---- */

/* Posts the stats message when it is due; returns when the next is. */
static MccTime
tell_stats (GstMccSender *self, MccTime now)
{
  MccTime interval, next;
  gboolean due;

  interval = gst_mcc_properties_get_stats_interval (&self->network);
  if (interval == MCC_TIME_NONE)
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
    gst_mcc_messages_stats (self->messages,
        GST_MCC_SENDER_GET_CLASS (self)->get_stats (self, GST_MCC_STATS_MESSAGE_RECEIVERS), now);
  return next;
}

/* Reports may come by a membership that is gone, or would if multicast left by the interface that
 * has the name now. */
static void
join_again (GstMccSender *self, MccTime now)
{
  if (gst_mcc_session_rejoin (self->session))
    return;
  g_mutex_lock (&self->lock);
  mcc_rejoin_handle_failed (&self->rejoin, now);
  g_mutex_unlock (&self->lock);
}

static MccTime
on_pump (gpointer owner, MccTime now)
{
  GstMccSender *self = owner;
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);
  gboolean runs, rejoin = FALSE;
  MccTime next;

  g_mutex_lock (&self->lock);
  runs = self->core != NULL;
  if (runs) {
    now = gst_mcc_pump_now (self->pump); /* others may have come first with a later one */
    if (klass->machine->next_timeout (self->core) <= now)
      klass->machine->handle_timeout (self->core, now);
    rejoin = mcc_rejoin_handle_timeout (&self->rejoin, now);
  }
  g_mutex_unlock (&self->lock);
  if (!runs)
    return MCC_TIME_NONE;
  gst_mcc_sender_drain (self);
  if (rejoin)
    join_again (self, now);
  next = klass->tick ? klass->tick (self, now) : MCC_TIME_NONE;
  next = mcc_time_min (next, tell_stats (self, now));
  next = mcc_time_min (next, gst_mcc_messages_flush (self->messages, now));
  g_mutex_lock (&self->lock);
  if (self->core) {
    next = mcc_time_min (next, klass->machine->next_timeout (self->core));
    next = mcc_time_min (next, mcc_rejoin_next_timeout (&self->rejoin));
  }
  g_mutex_unlock (&self->lock);
  return next;
}

/* ---- what the network says ---- */

void
gst_mcc_sender_handle_app (GstMccSender *self, gconstpointer app, const MccAddress *from)
{
  MccTime now;

  g_mutex_lock (&self->lock);
  now = gst_mcc_pump_now (self->pump);
  mcc_rejoin_handle_heard (&self->rejoin, now);
  if (self->core)
    machine_of (self)->handle_app (self->core, app, from, now);
  g_mutex_unlock (&self->lock);
  gst_mcc_sender_drain (self);
}

static void
on_report_block (gpointer owner, guint stream, guint32 ssrc, const MccPlainReport *report,
    gboolean has_app, const MccAddress *from)
{
  GstMccSender *self = owner;
  MccTime now;

  g_mutex_lock (&self->lock);
  now = gst_mcc_pump_now (self->pump);
  mcc_rejoin_handle_heard (&self->rejoin, now);
  if (self->core && has_app && machine_of (self)->handle_block)
    machine_of (self)->handle_block (self->core, stream, ssrc, from, now);
  else if (self->core && !has_app) /* which would say more */
    machine_of (self)->handle_plain_report (self->core, stream, ssrc, report, from, now);
  g_mutex_unlock (&self->lock);
  gst_mcc_sender_drain (self);
}

static void
on_bye (gpointer owner, guint32 ssrc, const MccAddress *from)
{
  GstMccSender *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    machine_of (self)->handle_bye (self->core, ssrc, from, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_sender_drain (self);
}

void
gst_mcc_sender_request_key_unit (gpointer owner, guint stream)
{
  GstMccSender *self = owner;
  MccTime next = MCC_TIME_NONE;

  g_mutex_lock (&self->lock);
  if (self->core) {
    machine_of (self)->handle_key_unit_request (self->core, stream, gst_mcc_pump_now (self->pump));
    next = machine_of (self)->next_timeout (self->core);
  }
  g_mutex_unlock (&self->lock);
  /* The pump acts, once for a flood of them: an application's thread may be in our way down. */
  gst_mcc_pump_wake (self->pump, next);
}

static void
on_key_unit_request (gpointer owner, guint stream, guint32 ssrc)
{
  gst_mcc_sender_request_key_unit (owner, stream);
}

static void
on_dropped (gpointer owner, MccDrop drop, guint32 ssrc)
{
  GstMccSender *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    machine_of (self)->handle_dropped (self->core, drop, ssrc, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
}

static void
on_ssrc_changed (gpointer owner, guint stream, guint32 ssrc)
{
  GstMccSender *self = owner;
  MccTime next = MCC_TIME_NONE;

  g_mutex_lock (&self->lock);
  if (self->core && machine_of (self)->set_ssrc) {
    machine_of (self)->set_ssrc (self->core, stream, ssrc, gst_mcc_pump_now (self->pump));
    next = machine_of (self)->next_timeout (self->core);
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, next);
}

static GstMccSessionHandler
make_handler (GstMccSenderClass *klass)
{
  GstMccSessionHandler handler = *klass->handler;

  handler.report_block = on_report_block;
  handler.bye = on_bye;
  handler.key_unit_request = on_key_unit_request;
  handler.dropped = on_dropped;
  handler.ssrc_changed = on_ssrc_changed;
  return handler;
}

/* ---- what the pacer says ---- */

/* Called with the lock. */
static void
set_ended_locked (GstMccSender *self, guint stream, gboolean ended)
{
  if (self->core && self->stream[stream].ended != ended && machine_of (self)->set_ended)
    machine_of (self)->set_ended (self->core, stream, ended, gst_mcc_pump_now (self->pump));
  self->stream[stream].ended = ended;
}

void
gst_mcc_sender_handle_sent (
    gpointer owner, guint stream, guint packets, guint64 bytes, guint32 highest_seq)
{
  GstMccSender *self = owner;
  gboolean mute;

  g_mutex_lock (&self->lock);
  mute = self->stream[stream].mute;
  set_ended_locked (self, stream, FALSE);
  if (self->core)
    machine_of (self)->handle_sent (
        self->core, stream, packets, bytes, highest_seq, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_sender_drain (self);
  /* Not when they come: some payloaders have better ones before the first packet. */
  if (mute && gst_mcc_sender_warn_once (self, GST_MCC_SENDER_WARNED_CAPS))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The caps of stream %u cannot be announced: receivers need caps of their own.", stream),
        (NULL));
}

void
gst_mcc_sender_handle_caps (GstMccSender *self, guint stream, GstCaps *caps)
{
  MccAppSession announced = { 0 };
  gboolean good;

  good = gst_mcc_caps_to_session (caps, &announced);
  g_mutex_lock (&self->lock);
  self->stream[stream].caps = announced;
  self->stream[stream].has_caps = TRUE;
  if (self->core)
    good &= machine_of (self)->set_caps (
        self->core, stream, &announced, gst_mcc_pump_now (self->pump));
  self->stream[stream].mute = !good;
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (
      self, "stream %u: %s announced: %" GST_PTR_FORMAT, stream, good ? "are" : "cannot be", caps);
}

/* Returns when the core is next due. */
static MccTime
note_ended (GstMccSender *self, guint stream, gboolean ended)
{
  MccTime next = MCC_TIME_NONE;

  g_mutex_lock (&self->lock);
  set_ended_locked (self, stream, ended);
  if (self->core)
    next = machine_of (self)->next_timeout (self->core);
  g_mutex_unlock (&self->lock);
  return next;
}

void
gst_mcc_sender_handle_eos (gpointer owner, guint stream)
{
  GstMccSender *self = owner;
  MccTime next = note_ended (self, stream, TRUE);

  gst_mcc_session_send (self->session, stream, NULL, 0, TRUE);
  gst_mcc_pump_wake (self->pump, next);
}

/* Before anything leaves: while nobody listens nothing does (no-feedback=stop, a stream that
 * idles), and nobody would come to one that is not announced. */
void
gst_mcc_sender_handle_again (gpointer owner, guint stream)
{
  GstMccSender *self = owner;

  gst_mcc_pump_wake (self->pump, note_ended (self, stream, FALSE));
}

void
gst_mcc_sender_write_sdp (GstMccSender *self, GstMccSendStream *stream, GstCaps *caps)
{
  GstMccSessionSettings network;
  gchar *location;
  guint64 max_bps;

  if (!gst_structure_has_field (gst_caps_get_structure (caps, 0), "clock-rate"))
    return;
  GST_OBJECT_LOCK (self);
  location = g_strdup (self->settings.sdp_location);
  max_bps = self->settings.max_bps;
  GST_OBJECT_UNLOCK (self);
  if (!location)
    return;
  gst_mcc_properties_get_opened (&self->network, &network);
  gst_mcc_send_stream_write_sdp (stream, location, &network, max_bps, caps);
  g_free (location);
}

/* ---- figures ---- */

MccReceiverInfo *
gst_mcc_sender_get_figures_locked (GstMccSender *self, const MccAsmpSender *core,
    guint max_receivers, MccAsmpSenderStats *stats, guint *n)
{
  MccTime now = gst_mcc_pump_now (self->pump);
  MccReceiverInfo *receivers;

  mcc_asmp_sender_get_stats (core, now, stats);
  *n = MIN (stats->receivers, max_receivers);
  receivers = g_new (MccReceiverInfo, MAX (*n, 1));
  *n = mcc_asmp_sender_get_receivers (core, now, receivers, *n);
  return receivers;
}

/* ---- making ---- */

void
gst_mcc_sender_tell_missing (GstMccSender *self, const gchar *factory)
{
  gst_mcc_messages_missing (GST_ELEMENT (self), factory);
  GST_ELEMENT_ERROR (self, CORE, MISSING_PLUGIN,
      ("The element %s is missing; install GStreamer's core plugins (Debian: libgstreamer1.0-0).",
          factory),
      (NULL));
}

void
gst_mcc_sender_tell_no_memory (GstMccSender *self)
{
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for a session."), (NULL));
}

GstElement *
gst_mcc_sender_make (GstMccSender *self, const gchar *factory)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  if (element)
    gst_bin_add (GST_BIN (self), element);
  else
    gst_mcc_sender_tell_missing (self, factory);
  return element;
}

void
gst_mcc_sender_unmake (GstMccSender *self, GstElement **child)
{
  GstElement *element;

  GST_OBJECT_LOCK (self);
  element = g_steal_pointer (child);
  GST_OBJECT_UNLOCK (self);
  if (!element)
    return;
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (self), element);
}

gboolean
gst_mcc_sender_open_session (
    GstMccSender *self, const MccPlace *places, guint n, guint64 bandwidth_bps)
{
  GstMccSessionSettings network;
  GError *error = NULL;
  gboolean good;

  gst_mcc_properties_open (&self->network, G_OBJECT (self), &network);
  if (network.session_bandwidth == 0)
    network.session_bandwidth = bandwidth_bps;
  good = gst_mcc_session_open_streams (self->session, &network, places, n, &error);
  gst_mcc_properties_settings_clear (&network);
  if (!good) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
        g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
  }
  return good;
}

/* ---- states ---- */

static gboolean
start (GstMccSender *self)
{
  gst_mcc_session_set_ect (self->session, FALSE);
  gst_mcc_session_renew_ssrcs (self->session);
  g_mutex_lock (&self->lock);
  self->ect = self->lost = FALSE;
  self->warned = 0;
  self->next_stats = MCC_TIME_NONE;
  mcc_rejoin_init (&self->rejoin, gst_mcc_pump_now (self->pump));
  memset (self->stream, 0, sizeof self->stream);
  g_mutex_unlock (&self->lock);
  if (!GST_MCC_SENDER_GET_CLASS (self)->start (self))
    return FALSE;
  g_mutex_lock (&self->lock);
  self->running = TRUE;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* Who sees it may watch, and who sends a report is believed. */
static void
tell_plain (GstMccSender *self)
{
  gboolean encrypted;

  g_mutex_lock (&self->network.lock);
  encrypted = self->network.opened.encrypted;
  g_mutex_unlock (&self->network.lock);
  if (!encrypted && !self->told_plain)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("Plain RTP: anyone on the network can watch the stream and, by false reports, slow it; "
         "name a file with a key by srtp-key-file."),
        (NULL));
  self->told_plain = TRUE;
}

static void
started (GstMccSender *self)
{
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);

  tell_plain (self);
  if (!gst_mcc_session_start (self->session))
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("RTCP cannot be received: no thread or file descriptor is left for it (ulimit -u, -n)."),
        (NULL));
  gst_mcc_pump_start (self->pump);
  if (klass->started)
    klass->started (self);
}

static void
stop (GstMccSender *self)
{
  g_mutex_lock (&self->lock);
  self->running = FALSE;
  g_clear_pointer (&self->core, machine_of (self)->destroy);
  /* Nothing is done behind what follows. */
  while (self->actor && self->actor != g_thread_self ())
    g_cond_wait (&self->acted, &self->lock);
  g_mutex_unlock (&self->lock);
  gst_mcc_messages_clear (self->messages);
}

static GstStateChangeReturn
gst_mcc_sender_change_state (GstElement *element, GstStateChange transition)
{
  GstMccSender *self = GST_MCC_SENDER (element);
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);
  GstStateChangeReturn ret;
  gboolean failed;

  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (!klass->prepare (self)) {
        klass->release (self);
        return GST_STATE_CHANGE_FAILURE;
      }
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      gst_mcc_hold_reset (self->hold);
      if (!start (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      gst_mcc_pump_stop (self->pump);
      gst_mcc_session_stop (self->session); /* says BYE */
      break;
    default:
      break;
  }
  ret = GST_ELEMENT_CLASS (gst_mcc_sender_parent_class)->change_state (element, transition);
  failed = ret == GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !failed)
    started (self);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED && failed))
    stop (self);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL
      || (transition == GST_STATE_CHANGE_NULL_TO_READY && failed))
    klass->release (self);
  return ret;
}

static void
gst_mcc_sender_handle_message (GstBin *bin, GstMessage *message)
{
  GstMccSender *self = GST_MCC_SENDER (bin);

  if (self->session && gst_mcc_session_handle_message (self->session, message))
    return;
  GST_BIN_CLASS (gst_mcc_sender_parent_class)->handle_message (bin, message);
}

/* ---- properties ---- */

static void
apply_no_feedback (GstMccSender *self, MccNoFeedback policy)
{
  g_mutex_lock (&self->lock);
  self->no_feedback = policy;
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, 0);
}

void
gst_mcc_sender_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstMccSender *self = GST_MCC_SENDER (object);

  if (gst_mcc_properties_set (&self->network, object, id, value)) {
    gst_mcc_properties_apply_key (&self->network, GST_ELEMENT (self), id, self->session);
    if (id == GST_MCC_PROPERTY_STATS_INTERVAL)
      gst_mcc_pump_wake (self->pump, 0);
    return;
  }
  if (!gst_mcc_sender_settings_set (&self->settings, GST_ELEMENT (self), id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  if (id == GST_MCC_SENDER_PROPERTY_NO_FEEDBACK)
    apply_no_feedback (self, (MccNoFeedback)g_value_get_enum (value));
  GST_MCC_SENDER_GET_CLASS (self)->apply (self, id);
}

void
gst_mcc_sender_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstMccSender *self = GST_MCC_SENDER (object);
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);

  if (id == GST_MCC_SENDER_PROPERTY_TARGET_BITRATE)
    g_value_set_uint64 (value, klass->get_target (self));
  else if (id == GST_MCC_SENDER_PROPERTY_STATS)
    g_value_take_boxed (value, klass->get_stats (self, G_MAXUINT));
  else if (!gst_mcc_properties_get (&self->network, object, id, value)
           && !gst_mcc_sender_settings_get (&self->settings, GST_ELEMENT (self), id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
on_force_key_unit (GstMccSender *self)
{
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);

  if (klass->request_key_units)
    klass->request_key_units (self);
  else
    gst_mcc_sender_request_key_unit (self, 0);
}

/* ---- class ---- */

static void
gst_mcc_sender_dispose (GObject *object)
{
  GstMccSender *self = GST_MCC_SENDER (object);

  /* Whoever let go may not have stopped it: while the children are still here. */
  if (self->session && GST_STATE (self) != GST_STATE_NULL) {
    gst_mcc_pump_stop (self->pump);
    gst_mcc_session_stop (self->session);
    stop (self);
    GST_MCC_SENDER_GET_CLASS (self)->release (self);
  }
  g_clear_pointer (&self->pump, gst_mcc_pump_free);
  g_clear_pointer (&self->session, gst_mcc_session_free);
  G_OBJECT_CLASS (gst_mcc_sender_parent_class)->dispose (object);
}

static void
gst_mcc_sender_finalize (GObject *object)
{
  GstMccSender *self = GST_MCC_SENDER (object);

  gst_mcc_hold_unref (self->hold);
  gst_mcc_messages_free (self->messages);
  gst_mcc_properties_clear (&self->network);
  gst_mcc_sender_settings_clear (&self->settings);
  g_cond_clear (&self->acted);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_mcc_sender_parent_class)->finalize (object);
}

static void
gst_mcc_sender_class_init (GstMccSenderClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_mcc_sender_debug, "mccsender", 0, "adaptive multicast sender");
  object->dispose = gst_mcc_sender_dispose;
  object->finalize = gst_mcc_sender_finalize;
  GST_ELEMENT_CLASS (klass)->change_state = gst_mcc_sender_change_state;
  GST_BIN_CLASS (klass)->handle_message = gst_mcc_sender_handle_message;
  /* Worker thread, no lock: (encoder, bit/s) */
  signals[SIGNAL_ENCODER_BITRATE_CHANGED]
      = g_signal_new ("encoder-bitrate-changed", GST_TYPE_MCC_SENDER, G_SIGNAL_RUN_LAST, 0, NULL,
          NULL, NULL, G_TYPE_NONE, 2, GST_TYPE_ELEMENT, G_TYPE_UINT64);
  signals[SIGNAL_FORCE_KEY_UNIT] = g_signal_new_class_handler ("force-key-unit",
      GST_TYPE_MCC_SENDER, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (on_force_key_unit),
      NULL, NULL, NULL, G_TYPE_NONE, 0);
  gst_mcc_properties_install_signals (GST_TYPE_MCC_SENDER);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_SENDER, 0);
}

void
gst_mcc_sender_class_install (GstMccSenderClass *klass, GstMccSends what)
{
  GObjectClass *object = G_OBJECT_CLASS (klass);

  /* GObject does not let a class inherit these */
  object->set_property = gst_mcc_sender_set_property;
  object->get_property = gst_mcc_sender_get_property;
  gst_mcc_sender_properties_install (object, klass->scheme, what);
}

static void
gst_mcc_sender_init (GstMccSender *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->acted);
  gst_mcc_sender_settings_init (&self->settings);
  self->messages = gst_mcc_messages_new (GST_ELEMENT (self));
  self->next_stats = MCC_TIME_NONE;
}

void
gst_mcc_sender_setup (GstMccSender *self)
{
  GstMccSenderClass *klass = GST_MCC_SENDER_GET_CLASS (self);
  GstMccSessionHandler handler = make_handler (klass);

  /* RTCP has no part in EOS, preroll or liveness; we are a sink before there is a udpsink. A
   * clocksync says that it provides a clock, and has none. */
  gst_bin_set_suppressed_flags (GST_BIN (self),
      GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK | GST_ELEMENT_FLAG_PROVIDE_CLOCK);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SINK);
  gst_mcc_properties_init (&self->network, klass->scheme);
  self->hold = gst_mcc_hold_new ();
  self->pump = gst_mcc_pump_new (klass->element_name, on_pump, self);
  self->session = gst_mcc_session_new_sender (GST_BIN (self), &handler, self);
}
