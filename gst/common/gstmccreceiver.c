/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccreceiver.h"

#include "gstmccabssendtime.h"
#include "gstmcccaps.h"
#include "gstmccreceiverprivate.h"
#include "gstmccsdp.h"

GST_DEBUG_CATEGORY_STATIC (gst_mcc_receiver_debug);
#define GST_CAT_DEFAULT gst_mcc_receiver_debug

#define LATENCY_MAX_MS 60000
#define RETRY_INTERVAL MCC_SECOND /* of joins */

G_DEFINE_ABSTRACT_TYPE (GstMccReceiver, gst_mcc_receiver, GST_TYPE_BIN)

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

/* ---- what the machine wants ---- */

void
gst_mcc_receiver_drain_locked (GstMccReceiver *self, GstMccReceiverTodo *todo)
{
  const GstMccMachine *machine = GST_MCC_RECEIVER_GET_CLASS (self)->machine;
  MccAsspReceiverAction action;
  MccTraceEvent event;

  todo->some = FALSE;
  while (machine->poll_trace && machine->poll_trace (self->core, &event))
    GST_LOG_OBJECT (self, GST_MCC_TRACE_FORMAT, GST_MCC_TRACE_ARGS (event));
  while (machine->poll (self->core, &action)) {
    if (action.type == MCC_ASSP_RECEIVER_ASMP && action.asmp.type == MCC_RECEIVER_SESSION
        && action.stream < GST_MCC_STREAMS_MAX) {
      /* a copy: the machine's is valid only under the lock */
      self->announced[action.stream] = *action.asmp.session;
      self->has_announced[action.stream] = TRUE;
      self->unread_since = MCC_TIME_NONE;
      self->send_time_id[action.stream] = action.asmp.session->send_time_id;
      self->payload = gst_mcc_payload_from_name (action.asmp.session->encoding_name);
    } else if (action.type == MCC_ASSP_RECEIVER_ASMP
               && action.asmp.type == MCC_RECEIVER_NEW_SOURCE) {
      self->silent_since = MCC_TIME_NONE;
    } else if (action.type == MCC_ASSP_RECEIVER_ASMP
               && action.asmp.type == MCC_RECEIVER_SOURCE_LOST) {
      gst_mcc_receiver_note_lost_locked (self);
    } else if (action.type == MCC_ASSP_RECEIVER_ASMP && action.asmp.type == MCC_RECEIVER_CEASE) {
      mcc_rejoin_stop (&self->rejoin);
      self->ceased = TRUE;
      mcc_key_wait_got (&self->key_wait);
      g_atomic_int_set (&self->key_wanted, FALSE);
    }
    action.asmp.session = NULL;
    g_queue_push_tail (&self->waiting, g_memdup2 (&action, sizeof action));
    todo->some = TRUE;
  }
  todo->next = machine->next_timeout (self->core);
}

GstCaps *
gst_mcc_receiver_make_caps (GstMccReceiver *self, const MccAppSession *session)
{
  GstCaps *caps = NULL;

  if (self->user_caps)
    caps = gst_caps_ref (self->user_caps);
  else if (session)
    caps = gst_mcc_caps_from_session (session);
  return caps ? gst_mcc_caps_without_send_time (caps) : NULL;
}

/* Where reports go: as the user says, else as the announcement. */
static void
apply_feedback (GstMccReceiver *self, const MccAppSession *session, const MccAddress *announcer)
{
  MccAddress address;
  gboolean good = mcc_app_session_feedback (session, announcer, &address), set, told;

  g_mutex_lock (&self->properties.lock);
  set = self->properties.opened.feedback_address != NULL;
  g_mutex_unlock (&self->properties.lock);
  if (set)
    memset (&address, 0, sizeof address);
  if (!set && !good) {
    g_mutex_lock (&self->lock);
    told = self->feedback_told;
    self->feedback_told = TRUE;
    g_mutex_unlock (&self->lock);
    if (!told) {
      gchar *text = gst_mcc_address_to_string (&session->feedback);

      GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
          ("The sender asks for reports at %s, which is not its own address; they go to the "
           "group. Set feedback-address if that is right.",
              text),
          (NULL));
      g_free (text);
    }
  }
  gst_mcc_session_set_feedback (self->session, &address, session->ttl);
}

static void
on_session_announced (GstMccReceiver *self, guint stream)
{
  MccAppSession session;
  MccAddress announcer;

  g_mutex_lock (&self->lock);
  session = self->announced[stream];
  announcer = self->announcer;
  g_mutex_unlock (&self->lock);
  GST_DEBUG_OBJECT (self, "announced: %s/%s, %" G_GUINT64_FORMAT " bit/s", session.media,
      session.encoding_name, session.target_bps);
  GST_MCC_RECEIVER_GET_CLASS (self)->apply_caps (self, stream, &session);
  apply_feedback (self, &session, &announcer);
}

void
gst_mcc_receiver_tell_other (GstMccReceiver *self, guint32 other, guint32 ours)
{
  gboolean told;

  g_mutex_lock (&self->lock);
  told = self->other_told;
  self->other_told = TRUE;
  g_mutex_unlock (&self->lock);
  if (!told)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("Another sender (SSRC %u) is on this group; staying with SSRC %u. Set the property ssrc "
         "to choose, or give each sender a group of its own.",
            other, ours),
        (NULL));
}

void
gst_mcc_receiver_join (GstMccReceiver *self, guint stream, const MccAsspStream *group)
{
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  GError *error = NULL;
  gboolean joined = klass->join (self, stream, group, &error), told;
  MccTime at = gst_mcc_pump_now (self->pump) + RETRY_INTERVAL;

  g_mutex_lock (&self->lock);
  self->retry[stream].wanted = !joined && self->core;
  self->retry[stream].group = *group;
  self->retry[stream].at = at;
  told = self->join_told;
  self->join_told = told || !joined;
  g_mutex_unlock (&self->lock);
  if (joined)
    return;
  gst_mcc_pump_wake (self->pump, at);
  if (!told)
    GST_ELEMENT_WARNING (self, RESOURCE, OPEN_READ,
        ("%s %u cannot be received: %s; it is tried again every second.", klass->join_name, stream,
            error->message),
        (NULL));
  g_error_free (error);
}

void
gst_mcc_receiver_forget_join (GstMccReceiver *self, guint stream)
{
  g_mutex_lock (&self->lock);
  self->retry[stream].wanted = FALSE;
  g_mutex_unlock (&self->lock);
}

/* Called with the lock: -1: none is due; *next: when one will be. */
static gint
due_join_locked (GstMccReceiver *self, MccTime now, MccTime *next)
{
  for (gint i = 0; i < GST_MCC_STREAMS_MAX; i++)
    if (self->retry[i].wanted && self->retry[i].at <= now)
      return i;
    else if (self->retry[i].wanted)
      *next = mcc_time_min (*next, self->retry[i].at);
  return -1;
}

GParamSpec *
gst_mcc_receiver_leave_latency_spec (void)
{
  return g_param_spec_uint ("leave-latency", "leave-latency",
      "Time from a leave to the end of the traffic, as far as known of the network, in ms (2000: "
      "last member query time of IGMPv3 and MLDv2; less where switches or routers leave fast)",
      0, 60000, GST_MCC_LEAVE_LATENCY_MS,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
}

static void
on_other_sender (GstMccReceiver *self, guint32 ssrc)
{
  MccAsmpReceiverStats stats;

  g_mutex_lock (&self->lock);
  if (self->core)
    GST_MCC_RECEIVER_GET_CLASS (self)->machine->get_stats (
        self->core, gst_mcc_pump_now (self->pump), &stats);
  else
    stats = self->last_stats;
  g_mutex_unlock (&self->lock);
  gst_mcc_receiver_tell_other (self, ssrc, stats.source_ssrc);
}

static void
on_rate (GstMccReceiver *self, guint64 rate_bps)
{
  g_mutex_lock (&self->lock);
  self->estimated_bps = rate_bps;
  g_mutex_unlock (&self->lock);
  g_object_notify (G_OBJECT (self), "estimated-bitrate");
}

/* The circuit breaker: out of the groups, BYE, and no way back but by a new start. */
static void
on_cease (GstMccReceiver *self, MccBreakerVerdict verdict)
{
  for (guint i = 0; i < GST_MCC_STREAMS_MAX; i++)
    gst_mcc_receiver_forget_join (self, i);
  gst_mcc_session_cease (self->session);
  GST_ELEMENT_ERROR (self, RESOURCE, READ,
      ("The network path does not carry the lowest rate that the sender offers (%s); left the "
       "group. Lower min-bitrate on the sender, or offer lower streams or layers.",
          mcc_breaker_verdict_name (verdict)),
      (NULL));
}

static void
act_asmp (GstMccReceiver *self, guint stream, const MccReceiverAction *action)
{
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);

  switch (action->type) {
    case MCC_RECEIVER_SEND_REPORT:
      klass->send_report (self, stream, &action->report, FALSE);
      break;
    case MCC_RECEIVER_NEW_SOURCE:
      GST_INFO_OBJECT (self, "following sender %08x", action->ssrc);
      klass->new_source (self, stream, action->ssrc);
      break;
    case MCC_RECEIVER_SOURCE_LOST:
      GST_INFO_OBJECT (self, "sender %08x is gone", action->ssrc);
      gst_mcc_session_lose_source (self->session);
      break;
    case MCC_RECEIVER_OTHER_SENDER:
      on_other_sender (self, action->ssrc);
      break;
    case MCC_RECEIVER_SESSION:
      on_session_announced (self, stream);
      break;
    case MCC_RECEIVER_RATE:
      on_rate (self, action->rate_bps);
      break;
    case MCC_RECEIVER_CEASE:
      on_cease (self, action->breaker);
      break;
  }
}

/* Called with the lock, which it releases meanwhile. */
static void
join_again_locked (GstMccReceiver *self)
{
  MccTime next = MCC_TIME_NONE;
  gint stream;

  while ((stream = due_join_locked (self, gst_mcc_pump_now (self->pump), &next)) >= 0) {
    MccAsspStream group = self->retry[stream].group;

    g_mutex_unlock (&self->lock);
    gst_mcc_receiver_join (self, (guint)stream, &group);
    g_mutex_lock (&self->lock);
  }
}

/* Called with the lock, which it releases meanwhile. One thread at a time, or a join and a leave of
 * two threads could change places. */
static void
act_locked (GstMccReceiver *self)
{
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  MccAsspReceiverAction *action;

  self->actor = g_thread_self ();
  while ((action = g_queue_pop_head (&self->waiting))) {
    g_mutex_unlock (&self->lock);
    if (action->type == MCC_ASSP_RECEIVER_ASMP)
      act_asmp (self, action->stream, &action->asmp);
    else if (klass->act)
      klass->act (self, action);
    g_free (action);
    g_mutex_lock (&self->lock);
  }
  join_again_locked (self);
  gst_mcc_receiver_rejoin_locked (self);
  self->actor = NULL;
  g_cond_broadcast (&self->acted);
}

void
gst_mcc_receiver_act (GstMccReceiver *self, const GstMccReceiverTodo *todo)
{
  if (todo->some) {
    g_mutex_lock (&self->lock);
    while (self->actor && self->actor != g_thread_self ())
      g_cond_wait (&self->acted, &self->lock);
    if (!self->actor) /* else it is ourselves, further up */
      act_locked (self);
    g_mutex_unlock (&self->lock);
  }
  gst_mcc_pump_wake (self->pump, todo->next);
}

/* ---- the session's handler ---- */

static void
handle_bye (gpointer owner, guint32 ssrc, const MccAddress *from)
{
  GstMccReceiver *self = owner;
  const GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;
  MccTime now;

  g_mutex_lock (&self->lock);
  now = gst_mcc_pump_now (self->pump);
  if (self->core && klass->is_forged && klass->is_forged (self, ssrc, from, now)) {
    self->dropped[MCC_DROP_ADDRESS]++;
  } else if (self->core) {
    klass->machine->handle_bye (self->core, ssrc, now);
    self->bye = TRUE;
    gst_mcc_receiver_drain_locked (self, &todo);
    self->bye = FALSE;
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_receiver_act (self, &todo);
}

static void
handle_dropped (gpointer owner, MccDrop drop, guint32 ssrc)
{
  GstMccReceiver *self = owner;

  g_mutex_lock (&self->lock);
  self->dropped[drop]++;
  if (drop == MCC_DROP_UNAUTHENTIC || drop == MCC_DROP_REPLAYED) /* it came by the group */
    mcc_rejoin_handle_heard (&self->rejoin, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
}

static void
handle_ssrc_changed (gpointer owner, guint stream, guint32 ssrc)
{
  GstMccReceiver *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    GST_MCC_RECEIVER_GET_CLASS (self)->machine->set_ssrc (self->core, ssrc);
  g_mutex_unlock (&self->lock);
}

static GstMccSourceVerdict
handle_rtp (gpointer owner, guint stream, const guint8 *data, gsize size, const MccAddress *from,
    guint bytes, const GstMccArrival *arrival)
{
  GstMccReceiver *self = owner;
  MccRtpPacket packet = { .bytes = bytes, .ecn = arrival->ecn, .waited = arrival->waited };
  MccDrop verdict = MCC_DROP_OTHER_SENDER;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;

  packet.ssrc = GST_READ_UINT32_BE (data + 8);
  packet.seq = GST_READ_UINT16_BE (data + 2);
  g_mutex_lock (&self->lock);
  packet.has_send_time
      = gst_mcc_rtp_find_send_time (data, size, self->send_time_id[stream], &packet.send_time);
  if (self->core) {
    const GstMccMachine *machine = GST_MCC_RECEIVER_GET_CLASS (self)->machine;
    MccTime now = gst_mcc_pump_now (self->pump);

    if (machine->read_rtp)
      machine->read_rtp (self->core, data, size);
    verdict = machine->handle_rtp (self->core, stream, &packet, from, now);
    gst_mcc_receiver_note_rtp_locked (self, verdict == MCC_DROP_NONE, now);
    gst_mcc_receiver_drain_locked (self, &todo);
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_receiver_act (self, &todo);
  return verdict == MCC_DROP_NONE        ? GST_MCC_SOURCE_PASS
         : verdict == MCC_DROP_PROBATION ? GST_MCC_SOURCE_WAIT
                                         : GST_MCC_SOURCE_DROP;
}

static void
handle_host_dropped (gpointer owner, guint64 packets)
{
  GstMccReceiver *self = owner;

  g_mutex_lock (&self->lock);
  self->extra.host_dropped += packets;
  if (self->core)
    GST_MCC_RECEIVER_GET_CLASS (self)->machine->handle_host_dropped (
        self->core, packets, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
}

static GstMccSessionHandler
make_handler (const GstMccReceiverClass *klass)
{
  GstMccSessionHandler handler = *klass->handler;

  handler.bye = handle_bye;
  handler.key_unit_request = gst_mcc_receiver_handle_key_unit_request;
  handler.dropped = handle_dropped;
  handler.ssrc_changed = handle_ssrc_changed;
  handler.rtp = handle_rtp;
  handler.host_dropped = handle_host_dropped;
  handler.lost = gst_mcc_receiver_handle_lost;
  handler.leaving = gst_mcc_receiver_handle_leaving;
  return handler;
}

/* ---- stats ---- */

static void
add_packets (MccAsmpReceiverStats *to, const MccAsmpReceiverStats *from)
{
  to->packets_received += from->packets_received;
  to->packets_lost += from->packets_lost;
  to->packets_marked += from->packets_marked;
  to->duplicates += from->duplicates;
  to->reordered += from->reordered;
}

static void
add_counts (MccAsmpReceiverStats *to, const MccAsmpReceiverStats *from)
{
  add_packets (to, from);
  to->reports_sent += from->reports_sent;
  to->reports_suppressed += from->reports_suppressed;
  for (guint i = 0; i < MCC_DROP_COUNT; i++)
    to->dropped[i] += from->dropped[i];
}

/* Called with the lock. A machine counts a sender's packets from 0 on. */
static void
look_locked (GstMccReceiver *self, gpointer core, MccTime now)
{
  MccAsmpReceiverStats before = self->last_stats;

  GST_MCC_RECEIVER_GET_CLASS (self)->machine->get_stats (core, now, &self->last_stats);
  if (self->last_stats.packets_received < before.packets_received)
    add_packets (&self->counted, &before);
}

/* Called with the lock: the machine is at its end, the next one counts from 0 on. */
static void
keep_counts_locked (GstMccReceiver *self)
{
  MccAsmpReceiverStats *last = &self->last_stats;

  add_counts (&self->counted, last);
  last->packets_received = last->packets_lost = last->packets_marked = 0;
  last->duplicates = last->reordered = last->reports_sent = last->reports_suppressed = 0;
  memset (last->dropped, 0, sizeof last->dropped);
}

GstStructure *
gst_mcc_receiver_make_stats (GstMccReceiver *self)
{
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  MccAsmpReceiverStats stats;
  GstStructure *structure;

  g_mutex_lock (&self->lock);
  if (self->core)
    look_locked (self, self->core, gst_mcc_pump_now (self->pump));
  stats = self->last_stats;
  add_counts (&stats, &self->counted);
  for (guint i = 0; i < MCC_DROP_COUNT; i++)
    stats.dropped[i] += self->dropped[i];
  structure = gst_mcc_stats_new_receiver (&stats, &self->extra);
  if (klass->add_stats)
    klass->add_stats (self, structure);
  g_mutex_unlock (&self->lock);
  return structure;
}

/* Posts stats when they are due; returns when they are next. */
static MccTime
post_stats (GstMccReceiver *self, MccTime now)
{
  MccTime interval;
  gboolean due;

  interval = gst_mcc_properties_get_stats_interval (&self->properties);
  if (interval == MCC_TIME_NONE) {
    self->next_stats = MCC_TIME_NONE;
    return MCC_TIME_NONE;
  }
  /* The interval may have become shorter. */
  self->next_stats = mcc_time_min (self->next_stats, now + interval);
  due = now >= self->next_stats;
  if (due) {
    gst_mcc_messages_stats (self->messages, gst_mcc_receiver_make_stats (self), now);
    self->next_stats = mcc_time_max (self->next_stats + interval, now + interval / 2);
  }
  return self->next_stats;
}

/* ---- the pump ---- */

static MccTime
on_pump (gpointer owner, MccTime now)
{
  GstMccReceiver *self = owner;
  gboolean ask = FALSE;
  GstMccReceiverSilence silence = GST_MCC_RECEIVER_SILENCE_NONE;
  const GstMccMachine *machine = GST_MCC_RECEIVER_GET_CLASS (self)->machine;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;
  MccTime next = MCC_TIME_NONE;
  guint64 announced = 0;
  guint receivers = 0;

  g_mutex_lock (&self->lock);
  if (self->core) {
    /* others may have told the machine a later time while we waited for the lock */
    now = gst_mcc_pump_now (self->pump);
    machine->handle_timeout (self->core, now);
    gst_mcc_receiver_drain_locked (self, &todo);
    look_locked (self, self->core, now);
    ask = mcc_key_wait_take (&self->key_wait, self->last_stats.rtt, now);
    next = mcc_time_min (todo.next, mcc_key_wait_next_timeout (&self->key_wait));
    silence = gst_mcc_receiver_check_silence_locked (self, now, &next);
    if (due_join_locked (self, now, &next) >= 0 || mcc_rejoin_next_timeout (&self->rejoin) <= now)
      todo.some = TRUE;
    receivers = self->last_stats.receivers;
    if (self->last_stats.announced_bps != self->told_bps || receivers != self->told_receivers)
      announced = self->told_bps = self->last_stats.announced_bps;
    self->told_receivers = receivers;
  }
  g_mutex_unlock (&self->lock);
  todo.next = MCC_TIME_NONE; /* returned */
  gst_mcc_receiver_act (self, &todo);
  if (announced)
    gst_mcc_session_set_shared_bandwidth (self->session, announced, receivers);
  if (ask)
    gst_mcc_session_request_key_unit (self->session, 0);
  gst_mcc_receiver_tell_silence (self, silence);
  next = mcc_time_min (next, gst_mcc_receiver_next_rejoin (self));
  next = mcc_time_min (next, post_stats (self, now));
  return mcc_time_min (next, gst_mcc_messages_flush (self->messages, now));
}

/* ---- states ---- */

static gboolean
get_user_caps (GstMccReceiver *self, GstCaps **out, GError **error)
{
  GstCaps *caps;
  gchar *name;
  gboolean good;

  GST_OBJECT_LOCK (self);
  caps = self->caps ? gst_caps_ref (self->caps) : NULL;
  name = g_strdup (self->encoding_name);
  GST_OBJECT_UNLOCK (self);
  good = gst_mcc_caps_from_user (caps, name, out, error);
  gst_clear_caps (&caps);
  g_free (name);
  return good;
}

static gboolean
check_latency (const GstMccSessionSettings *settings, GError **error)
{
  if (settings->latency_ms <= LATENCY_MAX_MS)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "latency: %u; choose 0 to %d ms", settings->latency_ms, LATENCY_MAX_MS);
  return FALSE;
}

static gboolean
open_session (GstMccReceiver *self)
{
  GstMccSessionSettings settings;
  GError *error = NULL;
  gboolean good;

  gst_mcc_properties_open (&self->properties, G_OBJECT (self), &settings);
  good = check_latency (&settings, &error) && get_user_caps (self, &self->user_caps, &error)
         && gst_mcc_session_open (self->session, &settings, &error);
  gst_mcc_properties_settings_clear (&settings);
  if (!good) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
        g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_clear_error (&error);
    gst_clear_caps (&self->user_caps);
    return FALSE;
  }
  GstPad *target = gst_mcc_session_get_rtp_pad (self->session, 0);
  gst_ghost_pad_set_target (GST_GHOST_PAD (self->src), target);
  gst_mcc_session_set_exit (self->session, self->src);
  gst_object_unref (target);
  return TRUE;
}

static void
close_session (GstMccReceiver *self)
{
  gst_ghost_pad_set_target (GST_GHOST_PAD (self->src), NULL);
  gst_mcc_session_close (self->session);
  gst_clear_caps (&self->user_caps);
}

/* A machine for a stretch of PLAYING: what it had measured before a pause says nothing now. FALSE:
 * no memory. */
static gboolean
start_machine (GstMccReceiver *self)
{
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  MccAsmpReceiverConfig config = { .seed = gst_mcc_properties_get_seed (&self->properties),
    .ssrc = gst_mcc_session_get_ssrc (self->session, 0),
    .srtcp_bytes = gst_mcc_session_get_srtcp_bytes (self->session),
    .ecn = TRUE,
    .hears_group = gst_mcc_session_hears_group (self->session) };
  guint8 send_time_id
      = self->user_caps ? gst_mcc_abs_send_time_id_from_caps (self->user_caps, NULL) : 0;
  MccTime now = gst_mcc_pump_now (self->pump);
  gpointer core;

  g_mutex_lock (&self->properties.lock);
  config.variant = self->properties.variant;
  g_mutex_unlock (&self->properties.lock);
  GST_OBJECT_LOCK (self);
  config.source_ssrc = self->wanted_ssrc;
  GST_OBJECT_UNLOCK (self);
  core = klass->machine->create (self, &config, now);
  if (!core) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for a session."), (NULL));
    return FALSE;
  }
  if (klass->started)
    klass->started (self); /* before the core can be told what that would undo */
  g_mutex_lock (&self->lock);
  self->core = core;
  self->ssrc = config.source_ssrc;
  memset (self->has_announced, 0, sizeof self->has_announced);
  memset (self->send_time_id, send_time_id, sizeof self->send_time_id);
  self->payload = self->user_caps ? gst_mcc_payload_from_name (gst_structure_get_string (
                      gst_caps_get_structure (self->user_caps, 0), "encoding-name"))
                                  : GST_MCC_PAYLOAD_OTHER;
  gst_mcc_receiver_begin_silence_locked (self, now);
  self->next_stats = MCC_TIME_NONE;
  mcc_key_wait_init (&self->key_wait);
  self->ceased = FALSE;
  self->missing = FALSE;
  self->left_pts = GST_CLOCK_TIME_NONE;
  if (klass->settle)
    klass->settle (self, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_session_resume (self->session);
  gst_mcc_pump_start (self->pump);
  return TRUE;
}

/* Says goodbye: while paused we neither watch nor take part. */
static void
stop_machine (GstMccReceiver *self)
{
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  MccAppReport report;
  guint stream = 0;
  gpointer core;
  MccTime now;

  gst_mcc_pump_stop (self->pump);
  gst_mcc_messages_clear (self->messages);
  g_mutex_lock (&self->lock);
  core = self->core;
  self->core = NULL;
  if (core) {
    now = gst_mcc_pump_now (self->pump);
    look_locked (self, core, now);
    keep_counts_locked (self);
    klass->machine->leave (core, &stream, &report, now);
    self->extra.leaves++;
  }
  /* Nothing is joined behind what follows. */
  g_queue_clear_full (&self->waiting, g_free);
  memset (self->retry, 0, sizeof self->retry);
  while (self->actor && self->actor != g_thread_self ())
    g_cond_wait (&self->acted, &self->lock);
  g_mutex_unlock (&self->lock);
  if (!core)
    return;
  klass->machine->destroy (core);
  klass->send_report (self, stream, &report, TRUE);
  gst_mcc_session_pause (self->session);
  if (klass->stopped)
    klass->stopped (self);
}

static void
reset_stats (GstMccReceiver *self)
{
  g_mutex_lock (&self->lock);
  memset (&self->last_stats, 0, sizeof self->last_stats);
  memset (&self->counted, 0, sizeof self->counted);
  memset (&self->extra, 0, sizeof self->extra);
  memset (self->dropped, 0, sizeof self->dropped);
  self->other_told = self->join_told = self->feedback_told = FALSE;
  self->estimated_bps = 0;
  g_mutex_unlock (&self->lock);
}

static GstStateChangeReturn
gst_mcc_receiver_change_state (GstElement *element, GstStateChange transition)
{
  GstMccReceiver *self = GST_MCC_RECEIVER (element);
  GstStateChangeReturn result;

  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (!open_session (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      reset_stats (self);
      if (!gst_mcc_session_start (self->session))
        GST_ELEMENT_WARNING (self, RESOURCE, READ,
            ("RTCP cannot be received: no thread or file descriptor is left for it (ulimit -u, "
             "-n)."),
            (NULL));
      break;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      if (!start_machine (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      stop_machine (self);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      stop_machine (self);
      gst_pad_set_active (self->src, FALSE); /* who streams may stand in a blocked pad */
      gst_mcc_session_stop (self->session);
      break;
    default:
      break;
  }
  result = GST_ELEMENT_CLASS (gst_mcc_receiver_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL
      || (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    close_session (self);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && result == GST_STATE_CHANGE_FAILURE)
    gst_mcc_session_stop (self->session);
  return result;
}

/* ---- class ---- */

static void
gst_mcc_receiver_dispose (GObject *object)
{
  GstMccReceiver *self = GST_MCC_RECEIVER (object);

  /* Whoever let go may not have stopped it: while the children are still here. */
  if (self->session) {
    stop_machine (self);
    close_session (self);
  }
  g_clear_pointer (&self->session, gst_mcc_session_free);
  g_clear_pointer (&self->pump, gst_mcc_pump_free);
  G_OBJECT_CLASS (gst_mcc_receiver_parent_class)->dispose (object);
}

static void
gst_mcc_receiver_finalize (GObject *object)
{
  GstMccReceiver *self = GST_MCC_RECEIVER (object);

  gst_mcc_messages_free (self->messages);
  gst_mcc_properties_clear (&self->properties);
  gst_clear_caps (&self->user_caps);
  gst_clear_caps (&self->caps);
  g_free (self->encoding_name);
  g_queue_clear_full (&self->waiting, g_free);
  g_cond_clear (&self->acted);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_mcc_receiver_parent_class)->finalize (object);
}

static void
gst_mcc_receiver_class_init (GstMccReceiverClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_mcc_receiver_debug, "mccreceiver", 0, "adaptive multicast receiver");
  object->dispose = gst_mcc_receiver_dispose;
  object->finalize = gst_mcc_receiver_finalize;
  GST_ELEMENT_CLASS (klass)->change_state = gst_mcc_receiver_change_state;
  gst_mcc_properties_install_signals (GST_TYPE_MCC_RECEIVER);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_RECEIVER, 0);
}

void
gst_mcc_receiver_class_install (GstMccReceiverClass *klass)
{
  /* GObject does not let a class inherit these */
  G_OBJECT_CLASS (klass)->set_property = gst_mcc_receiver_set_property;
  G_OBJECT_CLASS (klass)->get_property = gst_mcc_receiver_get_property;
  gst_mcc_receiver_install_properties (G_OBJECT_CLASS (klass));
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &src_template);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_VARIANT, 0);
}

static void
gst_mcc_receiver_init (GstMccReceiver *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->acted);
  g_queue_init (&self->waiting);
  self->messages = gst_mcc_messages_new (GST_ELEMENT (self));
  self->silent_since = self->unread_since = self->next_stats = MCC_TIME_NONE;
  mcc_key_wait_init (&self->key_wait);
  mcc_rejoin_stop (&self->rejoin);
}

void
gst_mcc_receiver_setup (GstMccReceiver *self)
{
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  GstPadTemplate *template = gst_element_class_get_pad_template (GST_ELEMENT_CLASS (klass), "src");
  GstMccSessionHandler handler = make_handler (klass);

  gst_mcc_properties_init (&self->properties, klass->scheme);
  if (klass->latency_ms)
    self->properties.settings.latency_ms = klass->latency_ms;
  self->session = gst_mcc_session_new_receiver (GST_BIN (self), &handler, self);
  self->pump = gst_mcc_pump_new (klass->element_name, on_pump, self);
  self->src = gst_ghost_pad_new_no_target_from_template ("src", template);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SOURCE);
}
