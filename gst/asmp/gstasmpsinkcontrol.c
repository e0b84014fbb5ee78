/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The core's host: what comes from the network, the pacer and the clock goes to the core; what the
 * core wants done is done here.
 */
#include "gstasmpsinkprivate.h"
#include "gstmccsdp.h"
#include "mccjitter.h"

#define GST_CAT_DEFAULT gst_asmp_sink_debug

static gboolean
warn_once (GstAsmpSink *self, guint bit)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = !(self->warned & bit);
  self->warned |= bit;
  g_mutex_unlock (&self->lock);
  return first;
}

/* ---- what the core wants done ---- */

static void
act_target (GstAsmpSink *self, const MccSenderAction *action)
{
  const gchar *reason = mcc_target_reason_name (action->reason);

  GST_DEBUG_OBJECT (self, "target %" G_GUINT64_FORMAT " -> %" G_GUINT64_FORMAT " (%s, %08x)",
      action->previous_bps, action->target_bps, reason, action->ssrc);
  gst_mcc_send_stream_set_target (self->stream, action->target_bps);
  gst_mcc_session_set_bandwidth (self->session, action->target_bps);
  g_object_notify (G_OBJECT (self), "target-bitrate");
  gst_mcc_messages_target (self->messages, -1, action->target_bps, action->previous_bps, reason,
      action->ssrc, gst_mcc_pump_now (self->pump));
}

static void
act_session (GstAsmpSink *self, MccAppSession *session, const MccAppRttList *rtt)
{
  MccApp apps[2];
  guint n = 0;
  gboolean ended;

  memset (apps, 0, sizeof apps);
  g_mutex_lock (&self->lock);
  ended = self->ended;
  g_mutex_unlock (&self->lock);
  if (ended)
    return;

  apps[0].ssrc = apps[1].ssrc = session->media_ssrc = gst_mcc_session_get_ssrc (self->session, 0);
  session->send_time = mcc_abs_send_time (gst_mcc_pump_now (self->pump));
  apps[n].subtype = MCC_APP_SESSION;
  apps[n++].session = *session;
  if (rtt->count > 0) {
    apps[n].subtype = MCC_APP_RTT;
    apps[n++].rtt = *rtt;
  }
  gst_mcc_session_send (self->session, 0, apps, n, FALSE);
}

static void
act_receiver (GstAsmpSink *self, const MccSenderAction *action)
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
act (GstAsmpSink *self, MccSenderAction *action, MccAppSession *session, MccAppRttList *rtt)
{
  switch (action->type) {
    case MCC_SENDER_TARGET:
      act_target (self, action);
      break;
    case MCC_SENDER_SEND_SESSION:
      act_session (self, session, rtt);
      break;
    case MCC_SENDER_RECEIVER:
      act_receiver (self, action);
      break;
    case MCC_SENDER_FEEDBACK_LOST:
      if (warn_once (self, WARNED_FEEDBACK))
        GST_ELEMENT_WARNING (self, RESOURCE, READ,
            ("No receiver reports: nobody listens, or reports do not come back (see no-feedback)."),
            (NULL));
      break;
    case MCC_SENDER_FEEDBACK_FOUND:
      GST_INFO_OBJECT (self, "receivers report");
      break;
    case MCC_SENDER_STOP:
      gst_mcc_send_stream_set_stopped (self->stream, TRUE);
      break;
    case MCC_SENDER_RESUME:
      gst_mcc_send_stream_set_stopped (self->stream, FALSE);
      gst_mcc_send_stream_request_key_unit (
          self->stream); /* what was dropped is missing in the pictures to come */
      break;
    case MCC_SENDER_KEY_UNIT:
      gst_mcc_send_stream_request_key_unit (self->stream);
      break;
  }
}

static void
log_trace (GstAsmpSink *self)
{
  MccTraceEvent event;

  while (mcc_asmp_sender_poll_trace (self->core, &event))
    GST_LOG_OBJECT (self,
        "%s ssrc=%08x i=%u a=%" G_GUINT64_FORMAT " b=%" G_GUINT64_FORMAT " x=%g y=%g z=%g",
        mcc_trace_name (event.type), event.ssrc, event.i, event.a, event.b, event.x, event.y,
        event.z);
}

void
gst_asmp_sink_drain (GstAsmpSink *self)
{
  MccSenderAction action;
  MccAppSession session;
  MccAppRttList rtt;
  MccTime next = MCC_TIME_NONE;
  gboolean more = TRUE;

  while (more) {
    g_mutex_lock (&self->lock);
    more = self->core && mcc_asmp_sender_poll (self->core, &action);
    if (more && action.type == MCC_SENDER_TARGET)
      self->target_bps = action.target_bps;
    if (more && action.type == MCC_SENDER_SEND_SESSION) {
      /* These are the core's until its next call. */
      session = *action.session;
      rtt.count = action.rtt ? action.rtt->count : 0;
      if (rtt.count > 0)
        memcpy (rtt.entry, action.rtt->entry, rtt.count * sizeof rtt.entry[0]);
    }
    if (!more && self->core) {
      gboolean ect = mcc_asmp_sender_ect (self->core);

      if (ect != self->ect)
        gst_mcc_session_set_ect (self->session, ect);
      self->ect = ect;
      next = mcc_asmp_sender_next_timeout (self->core);
      log_trace (self);
    }
    g_mutex_unlock (&self->lock);
    if (more)
      act (self, &action, &session, &rtt);
  }
  gst_mcc_pump_wake (self->pump, next);
}

void
gst_asmp_sink_request_key_unit (GstAsmpSink *self)
{
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_handle_key_unit_request (self->core, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (
      self->pump, 0); /* the pump acts: an application's thread may be in our way down */
}

/* ---- the clock ---- */

/* Posts the stats message when it is due; returns when the next is. */
static MccTime
tell_stats (GstAsmpSink *self, MccTime now)
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
        self->messages, gst_asmp_sink_get_stats (self, GST_MCC_STATS_MESSAGE_RECEIVERS), now);
  return next;
}

MccTime
gst_asmp_sink_pump (gpointer owner, MccTime now)
{
  GstAsmpSink *self = owner;
  MccAsmpSenderStats stats;
  MccTime next = MCC_TIME_NONE;
  gboolean runs;

  g_mutex_lock (&self->lock);
  runs = self->core != NULL;
  if (runs) {
    now = gst_mcc_pump_now (self->pump); /* others may have come first with a later one */
    if (mcc_asmp_sender_next_timeout (self->core) <= now)
      mcc_asmp_sender_handle_timeout (self->core, now);
    mcc_asmp_sender_get_stats (self->core, now, &stats);
  }
  g_mutex_unlock (&self->lock);
  if (!runs)
    return MCC_TIME_NONE;
  gst_asmp_sink_drain (self);
  gst_mcc_send_stream_check_above (self->stream, stats.sent_bps, now);
  next = mcc_time_min (tell_stats (self, now), gst_mcc_messages_flush (self->messages, now));

  g_mutex_lock (&self->lock);
  if (self->core)
    next = mcc_time_min (next, mcc_asmp_sender_next_timeout (self->core));
  g_mutex_unlock (&self->lock);
  return next;
}

/* ---- what the network says ---- */

static void
on_app (gpointer owner, const MccApp *app, const MccAddress *from)
{
  GstAsmpSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core) {
    MccTime now = gst_mcc_pump_now (self->pump);

    if (app->subtype == MCC_APP_REPORT)
      mcc_asmp_sender_handle_report (self->core, app->ssrc, &app->report, from, now);
    else
      mcc_asmp_sender_handle_dropped (self->core, MCC_DROP_OTHER_SENDER, app->ssrc, now);
  }
  g_mutex_unlock (&self->lock);
  gst_asmp_sink_drain (self);
}

static void
on_report_block (gpointer owner, guint stream, guint32 ssrc, gdouble fraction_lost,
    guint32 highest_seq, MccTime rtt, gboolean has_app, const MccAddress *from)
{
  GstAsmpSink *self = owner;

  if (has_app)
    return; /* its APP says more */
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_handle_plain_report (
        self->core, ssrc, fraction_lost, highest_seq, rtt, from, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_asmp_sink_drain (self);
}

static void
on_bye (gpointer owner, guint32 ssrc, const MccAddress *from)
{
  GstAsmpSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_handle_bye (self->core, ssrc, from, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_asmp_sink_drain (self);
}

static void
on_key_unit_request (gpointer owner, guint stream, guint32 ssrc)
{
  gst_asmp_sink_request_key_unit (owner);
}

static void
on_dropped (gpointer owner, MccDrop drop, guint32 ssrc)
{
  GstAsmpSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_handle_dropped (self->core, drop, ssrc, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
}

static void
on_ssrc_changed (gpointer owner, guint stream, guint32 ssrc)
{
  GstAsmpSink *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_set_ssrc (self->core, ssrc);
  g_mutex_unlock (&self->lock);
}

const GstMccSessionHandler gst_asmp_sink_session_handler = {
  .app = on_app,
  .report_block = on_report_block,
  .bye = on_bye,
  .key_unit_request = on_key_unit_request,
  .dropped = on_dropped,
  .ssrc_changed = on_ssrc_changed,
};

/* ---- what the pacer says ---- */

static void
on_sent (gpointer owner, guint stream, guint packets, guint64 bytes, guint32 highest_seq)
{
  GstAsmpSink *self = owner;
  MccTime now = gst_mcc_pump_now (self->pump);
  gboolean mute;

  g_mutex_lock (&self->lock);
  mute = self->mute;
  self->ended = FALSE;
  if (self->core)
    mcc_asmp_sender_handle_sent (
        self->core, packets, bytes, highest_seq, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_asmp_sink_drain (self);
  gst_mcc_send_stream_refresh (self->stream, now);
  /* Not when they come: some payloaders have better ones before the first packet. */
  if (mute && warn_once (self, WARNED_CAPS))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The stream's caps cannot be announced: receivers need caps of their own."), (NULL));
}

static void
start_sdp (GstAsmpSink *self, GstCaps *caps)
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
  gst_mcc_send_stream_write_sdp (self->stream, location, &network, max_bps, caps);
  g_free (location);
}

static void
on_caps (gpointer owner, guint stream, GstCaps *caps)
{
  GstAsmpSink *self = owner;
  MccAppSession announced = { 0 };
  gboolean good;

  good = gst_mcc_caps_to_session (caps, &announced);
  g_mutex_lock (&self->lock);
  if (self->core)
    good &= mcc_asmp_sender_set_caps (self->core, &announced, gst_mcc_pump_now (self->pump));
  self->mute = !good;
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (self, "%s announced: %" GST_PTR_FORMAT, good ? "are" : "cannot be", caps);
  gst_mcc_send_stream_look_upstream (self->stream, TRUE);
  if (gst_structure_has_field (gst_caps_get_structure (caps, 0), "clock-rate"))
    start_sdp (self, caps);
}

static void
on_eos (gpointer owner, guint stream)
{
  GstAsmpSink *self = owner;

  g_mutex_lock (&self->lock);
  self->ended = TRUE;
  g_mutex_unlock (&self->lock);
  gst_mcc_session_send (self->session, 0, NULL, 0, TRUE);
}

static void
on_key_unit (gpointer owner, guint stream)
{
  gst_asmp_sink_request_key_unit (owner);
}

const GstMccSendStreamHandler gst_asmp_sink_stream_handler = {
  .sent = on_sent,
  .caps = on_caps,
  .eos = on_eos,
  .key_unit = on_key_unit,
};

/* ---- upstream ---- */

gboolean
gst_asmp_sink_update_encoder (GstAsmpSink *self)
{
  GstMccEncoderSettings encoder;
  gboolean ok;

  gst_mcc_sender_settings_get_encoder (&self->settings, GST_ELEMENT (self), &encoder);
  ok = gst_mcc_send_stream_set_encoder (self->stream, &encoder);
  gst_mcc_sender_settings_encoder_clear (&encoder);
  return ok;
}

/* ---- figures ---- */

GstStructure *
gst_asmp_sink_get_stats (GstAsmpSink *self, guint max_receivers)
{
  MccAsmpSenderStats stats = { 0 };
  GstMccSenderExtra extra = { 0 };
  MccReceiverInfo *receivers = NULL;
  GstStructure *structure;
  guint n = 0;

  g_mutex_lock (&self->lock);
  if (self->core) {
    MccTime now = gst_mcc_pump_now (self->pump);

    mcc_asmp_sender_get_stats (self->core, now, &stats);
    n = MIN (stats.receivers, max_receivers);
    receivers = g_new (MccReceiverInfo, MAX (n, 1));
    n = mcc_asmp_sender_get_receivers (self->core, now, receivers, n);
  } else {
    stats.target_bps = self->target_bps;
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_send_stream_get_extra (self->stream, &extra);
  structure = gst_mcc_stats_new_sender (&stats, &extra, receivers, n);
  g_free (receivers);
  return structure;
}
