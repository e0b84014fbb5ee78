/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The core's host: what comes from the network, the pacer and the clock goes to the core; what the
 * core wants done is done here.
 */
#include "gstasmpsinkprivate.h"
#include "mccjitter.h"

#define GST_CAT_DEFAULT gst_asmp_sink_debug

/* ---- the core ---- */

GST_MCC_SENDER_DEFINE_MACHINE (mcc_asmp_sender)

static void
handle_app (gpointer core, gconstpointer data, const MccAddress *from, MccTime now)
{
  const MccApp *app = data;

  if (app->subtype == MCC_APP_REPORT)
    mcc_asmp_sender_handle_report (core, app->ssrc, &app->report, from, now);
  else
    mcc_asmp_sender_handle_dropped (core, MCC_DROP_OTHER_SENDER, app->ssrc, now);
}

static void
handle_block (gpointer core, guint stream, guint32 ssrc, const MccAddress *from, MccTime now)
{
  mcc_asmp_sender_handle_block (core, ssrc, from, now);
}

static void
handle_plain_report (gpointer core, guint stream, guint32 ssrc, const MccPlainReport *report,
    const MccAddress *from, MccTime now)
{
  mcc_asmp_sender_handle_plain_report (core, ssrc, report, from, now);
}

static void
handle_key_unit_request (gpointer core, guint stream, MccTime now)
{
  mcc_asmp_sender_handle_key_unit_request (core, now);
}

static void
handle_sent (
    gpointer core, guint stream, guint packets, guint64 bytes, guint32 highest_seq, MccTime now)
{
  mcc_asmp_sender_handle_sent (core, packets, bytes, highest_seq, now);
}

static bool
set_caps (gpointer core, guint stream, const MccAppSession *caps, MccTime now)
{
  return mcc_asmp_sender_set_caps (core, caps, now);
}

static void
set_ssrc (gpointer core, guint stream, guint32 ssrc, MccTime now)
{
  mcc_asmp_sender_set_ssrc (core, ssrc, now);
}

static void
set_ended (gpointer core, guint stream, bool ended, MccTime now)
{
  mcc_asmp_sender_set_ended (core, ended, now);
}

static bool
ect (gpointer core)
{
  return mcc_asmp_sender_ect (core);
}

const GstMccSenderMachine gst_asmp_sink_machine = {
  .destroy = destroy,
  .handle_app = handle_app,
  .handle_block = handle_block,
  .handle_plain_report = handle_plain_report,
  .handle_bye = handle_bye,
  .handle_dropped = handle_dropped,
  .handle_key_unit_request = handle_key_unit_request,
  .handle_sent = handle_sent,
  .set_caps = set_caps,
  .set_ssrc = set_ssrc,
  .set_ended = set_ended,
  .ect = ect,
  .handle_timeout = handle_timeout,
  .next_timeout = next_timeout,
};

/* ---- what it wants done ---- */

static void
log_trace (GstAsmpSink *self, MccAsmpSender *core)
{
  MccTraceEvent event;

  while (mcc_asmp_sender_poll_trace (core, &event))
    GST_LOG_OBJECT (self, GST_MCC_TRACE_FORMAT, GST_MCC_TRACE_ARGS (event));
}

gboolean
gst_asmp_sink_poll_locked (GstMccSender *sender, GstMccSenderTodo *out)
{
  GstAsmpSink *self = GST_ASMP_SINK (sender);
  MccSenderAction *action = &out->action.asmp;

  if (!mcc_asmp_sender_poll (sender->core, action)) {
    log_trace (self, sender->core);
    return FALSE;
  }
  if (action->type == MCC_SENDER_TARGET)
    self->target_bps = action->target_bps;
  if (action->type == MCC_SENDER_SEND_SESSION)
    gst_mcc_sender_copy_session (out, action->session, action->rtt);
  return TRUE;
}

static void
act_target (GstAsmpSink *self, const MccSenderAction *action)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  const gchar *reason = mcc_target_reason_name (action->reason);

  GST_DEBUG_OBJECT (self, "target %" G_GUINT64_FORMAT " -> %" G_GUINT64_FORMAT " (%s, %08x)",
      action->previous_bps, action->target_bps, reason, action->ssrc);
  gst_mcc_send_stream_set_target (self->stream, action->target_bps);
  gst_mcc_session_set_bandwidth (sender->session, action->target_bps);
  gst_mcc_sender_tell_target (
      sender, -1, action->target_bps, action->previous_bps, reason, action->ssrc);
}

static void
act_session (GstMccSender *sender, GstMccSenderTodo *todo)
{
  MccAppSession *session = &todo->session;
  MccApp apps[2];
  guint n = 0;

  memset (apps, 0, sizeof apps);
  if (gst_mcc_sender_has_ended (sender, 0))
    return;

  apps[0].ssrc = apps[1].ssrc = session->media_ssrc = gst_mcc_session_get_ssrc (sender->session, 0);
  session->send_time = mcc_abs_send_time (gst_mcc_pump_now (sender->pump));
  apps[n].subtype = MCC_APP_SESSION;
  apps[n++].session = *session;
  if (todo->rtt.count > 0) {
    apps[n].subtype = MCC_APP_RTT;
    apps[n++].rtt = todo->rtt;
  }
  gst_mcc_session_send (sender->session, 0, apps, n, FALSE);
}

void
gst_asmp_sink_act (GstMccSender *sender, GstMccSenderTodo *todo)
{
  GstAsmpSink *self = GST_ASMP_SINK (sender);
  const MccSenderAction *action = &todo->action.asmp;

  switch (action->type) {
    case MCC_SENDER_TARGET:
      act_target (self, action);
      break;
    case MCC_SENDER_SEND_SESSION:
      act_session (sender, todo);
      break;
    case MCC_SENDER_RECEIVER:
      gst_mcc_sender_tell_receiver (
          sender, -1, action->state, action->quarantine, action->ssrc, &action->address);
      break;
    case MCC_SENDER_FEEDBACK_LOST:
    case MCC_SENDER_FEEDBACK_FOUND:
      gst_mcc_sender_tell_feedback (sender, action->type == MCC_SENDER_FEEDBACK_FOUND);
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
    case MCC_SENDER_PACING:
      gst_mcc_send_stream_set_pacing (self->stream, &action->pacing);
      break;
  }
}

MccTime
gst_asmp_sink_tick (GstMccSender *sender, MccTime now)
{
  MccAsmpSenderStats stats = { 0 };

  g_mutex_lock (&sender->lock);
  if (sender->core)
    mcc_asmp_sender_get_stats (sender->core, gst_mcc_pump_now (sender->pump), &stats);
  g_mutex_unlock (&sender->lock);
  gst_mcc_send_stream_check_above (GST_ASMP_SINK (sender)->stream, stats.sent_bps, now);
  return MCC_TIME_NONE;
}

/* ---- what the network says ---- */

static void
on_app (gpointer owner, const MccApp *app, const MccAddress *from)
{
  gst_mcc_sender_handle_app (owner, app, from);
}

const GstMccSessionHandler gst_asmp_sink_session_handler = { .app = on_app };

/* ---- what the pacer says ---- */

static void
on_sent (gpointer owner, guint stream, guint packets, guint64 bytes, guint32 highest_seq)
{
  MccTime now = gst_mcc_pump_now (GST_MCC_SENDER (owner)->pump);

  gst_mcc_sender_handle_sent (owner, stream, packets, bytes, highest_seq);
  gst_mcc_send_stream_refresh (GST_ASMP_SINK (owner)->stream, now);
}

static void
on_caps (gpointer owner, guint stream, GstCaps *caps)
{
  GstAsmpSink *self = owner;

  gst_mcc_sender_handle_caps (owner, stream, caps);
  gst_mcc_send_stream_look_upstream (self->stream, TRUE);
  gst_mcc_sender_write_sdp (owner, self->stream, caps);
}

const GstMccSendStreamHandler gst_asmp_sink_stream_handler = {
  .sent = on_sent,
  .caps = on_caps,
  .eos = gst_mcc_sender_handle_eos,
  .again = gst_mcc_sender_handle_again,
  .key_unit = gst_mcc_sender_request_key_unit,
};

/* ---- upstream ---- */

gboolean
gst_asmp_sink_update_encoder (GstAsmpSink *self)
{
  GstMccEncoderSettings encoder;
  gboolean ok;

  gst_mcc_sender_settings_get_encoder (
      &GST_MCC_SENDER (self)->settings, GST_ELEMENT (self), &encoder);
  ok = gst_mcc_send_stream_set_encoder (self->stream, &encoder);
  gst_mcc_sender_settings_encoder_clear (&encoder);
  return ok;
}

/* ---- figures ---- */

guint64
gst_asmp_sink_get_target (GstMccSender *sender)
{
  guint64 bps;

  g_mutex_lock (&sender->lock);
  bps = GST_ASMP_SINK (sender)->target_bps;
  g_mutex_unlock (&sender->lock);
  return bps;
}

GstStructure *
gst_asmp_sink_get_stats (GstMccSender *sender, guint max_receivers)
{
  GstAsmpSink *self = GST_ASMP_SINK (sender);
  MccAsmpSenderStats stats = { 0 };
  GstMccSenderExtra extra = { 0 };
  MccReceiverInfo *receivers = NULL;
  GstStructure *structure;
  guint n = 0;

  g_mutex_lock (&sender->lock);
  if (sender->core)
    receivers = gst_mcc_sender_get_figures_locked (sender, sender->core, max_receivers, &stats, &n);
  else
    stats.target_bps = self->target_bps;
  g_mutex_unlock (&sender->lock);
  gst_mcc_send_stream_get_extra (self->stream, &extra);
  structure = gst_mcc_stats_new_sender (&stats, &extra, receivers, n);
  g_free (receivers);
  return structure;
}
