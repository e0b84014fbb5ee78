/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The core's host: what comes from the network, the pacers and the clock goes to the core; what the
 * core wants done is done here.
 */
#include "gstasspsimulcastbinprivate.h"
#include "mccjitter.h"

#define GST_CAT_DEFAULT gst_assp_simulcast_bin_debug

/* ---- the core ---- */

GST_MCC_SENDER_DEFINE_MACHINE (mcc_assp_sender)

static void
handle_app (gpointer core, gconstpointer data, const MccAddress *from, MccTime now)
{
  const MccAsspApp *app = data;

  if (app->subtype == MCC_APP_REPORT)
    mcc_assp_sender_handle_report (core, app->stream, app->ssrc, &app->asmp.report, from, now);
  else
    mcc_assp_sender_handle_dropped (core, MCC_DROP_OTHER_SENDER, app->ssrc, now);
}

static void
handle_block (gpointer core, guint stream, guint32 ssrc, const MccAddress *from, MccTime now)
{
  mcc_assp_sender_handle_block (core, ssrc, from, now);
}

static void
handle_plain_report (gpointer core, guint stream, guint32 ssrc, const MccPlainReport *report,
    const MccAddress *from, MccTime now)
{
  mcc_assp_sender_handle_plain_report (core, stream, ssrc, report, from, now);
}

static void
handle_key_unit_request (gpointer core, guint stream, MccTime now)
{
  mcc_assp_sender_handle_key_unit_request (core, stream, now);
}

static void
handle_sent (
    gpointer core, guint stream, guint packets, guint64 bytes, guint32 highest_seq, MccTime now)
{
  mcc_assp_sender_handle_sent (core, stream, packets, bytes, highest_seq, now);
}

static bool
set_caps (gpointer core, guint stream, const MccAppSession *caps, MccTime now)
{
  return mcc_assp_sender_set_caps (core, stream, caps, now);
}

static void
set_ssrc (gpointer core, guint stream, guint32 ssrc, MccTime now)
{
  mcc_assp_sender_set_ssrc (core, stream, ssrc, now);
}

static void
set_ended (gpointer core, guint stream, bool ended, MccTime now)
{
  mcc_assp_sender_set_ended (core, stream, ended, now);
}

static bool
ect (gpointer core)
{
  return mcc_assp_sender_ect (core);
}

const GstMccSenderMachine gst_assp_simulcast_bin_machine = {
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

/* Called with the lock. */
static gboolean
runs_locked (GstAsspSimulcastBin *self, guint i)
{
  GstMccSender *sender = GST_MCC_SENDER (self);

  return self->stream[i].idle.running && !sender->stream[i].ended
         && !gst_mcc_sender_is_stopped_locked (sender);
}

guint64
gst_assp_simulcast_bin_get_target (GstMccSender *sender)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);
  guint64 sum = 0;

  g_mutex_lock (&sender->lock);
  for (guint i = 0; i < self->n_streams; i++)
    if (runs_locked (self, i))
      sum += self->stream[i].target_bps;
  g_mutex_unlock (&sender->lock);
  return sum;
}

/* ---- what runs ---- */

/* Opens or closes the way in of a stream, as it runs or idles. */
static void
act_gate (GstAsspSimulcastBin *self, guint i, gboolean open)
{
  GstAsspStream *stream = &self->stream[i];

  GST_INFO_OBJECT (self, "stream %u %s", i, open ? "runs" : "idles");
  /* Before its first frame: what was not encoded is missing in those to come. */
  if (open)
    gst_mcc_send_stream_request_key_unit (stream->send);
  if (stream->branch)
    gst_assp_branch_set_running (stream->branch, open);
  else
    gst_mcc_send_stream_set_stopped (stream->send, !open);
  g_object_notify (G_OBJECT (self), "target-bitrate");
}

/* Called with the lock. */
static void
tell_running_locked (GstAsspSimulcastBin *self, guint i)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  gboolean running = self->stream[i].idle.running && !gst_mcc_sender_is_stopped_locked (sender);

  mcc_assp_sender_set_running (sender->core, i, running, gst_mcc_pump_now (sender->pump));
}

/* Called with the lock: a stream whose way in is not as it should be. */
static gboolean
poll_gate_locked (GstAsspSimulcastBin *self, GstMccSenderTodo *out)
{
  gboolean stopped = gst_mcc_sender_is_stopped_locked (GST_MCC_SENDER (self));

  for (guint i = 0; i < self->n_streams; i++) {
    GstAsspStream *stream = &self->stream[i];
    gboolean running = stream->idle.running, open = running && !stopped;

    if (running == stream->gate_running && open == stream->gate_open)
      continue;
    stream->gate_running = running;
    out->gate_open = stream->gate_open = open;
    out->gate_stream = i;
    tell_running_locked (self, i); /* all stop where nobody reports (no-feedback) */
    return TRUE;
  }
  return FALSE;
}

static void
act_occupied (GstAsspSimulcastBin *self, guint i, gboolean occupied)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  GstAsspStream *stream = &self->stream[i];
  MccAsspStream bounds = { 0 };

  g_mutex_lock (&sender->lock);
  if (sender->core)
    bounds = mcc_assp_sender_streams (sender->core)->stream[i];
  if (sender->core && !stream->failed) {
    mcc_idle_set_occupied (&stream->idle, occupied, gst_mcc_pump_now (sender->pump));
    tell_running_locked (self, i);
  }
  g_mutex_unlock (&sender->lock);
  /* Nobody looks at the picture: it may become that of bounds that have moved. */
  if (!occupied && stream->branch && bounds.high_bps > 0)
    gst_assp_branch_set_bounds (stream->branch, bounds.low_bps, bounds.high_bps, FALSE);
}

/* The lowest stream always runs: newcomers begin there, knowing nothing else. */
static void
keep_lowest (GstAsspSimulcastBin *self)
{
  GstMccSender *sender = GST_MCC_SENDER (self);

  g_mutex_lock (&sender->lock);
  if (sender->core) {
    guint lowest = mcc_assp_streams_lowest (mcc_assp_sender_streams (sender->core));
    MccTime now = gst_mcc_pump_now (sender->pump);

    for (guint i = 0; i < self->n_streams; i++)
      if (!self->stream[i].failed
          && mcc_idle_set_after (
              &self->stream[i].idle, i == lowest ? MCC_TIME_NONE : self->idle_after, now))
        tell_running_locked (self, i);
  }
  g_mutex_unlock (&sender->lock);
}

/* The ladder has moved. The picture stays while somebody looks at it, if it nearly fits. */
static void
act_bounds (GstAsspSimulcastBin *self, guint i, const MccAsspStream *bounds)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  GstAsspStream *stream = &self->stream[i];
  gboolean watched;

  g_mutex_lock (&sender->lock);
  watched = !sender->core || mcc_assp_sender_occupied (sender->core, i);
  g_mutex_unlock (&sender->lock);
  GST_INFO_OBJECT (self, "stream %u: %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "%s", i,
      (guint64)bounds->low_bps, (guint64)bounds->high_bps,
      bounds->flags & MCC_ASSP_CLOSED ? ", closed" : "");
  if (stream->branch)
    gst_assp_branch_set_bounds (stream->branch, bounds->low_bps, bounds->high_bps, watched);
  keep_lowest (self);
}

static void
stop_idle (GstAsspSimulcastBin *self)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  gboolean some = FALSE;

  g_mutex_lock (&sender->lock);
  for (guint i = 0; sender->core && i < self->n_streams; i++) {
    if (self->stream[i].failed
        || !mcc_idle_handle_timeout (&self->stream[i].idle, gst_mcc_pump_now (sender->pump)))
      continue;
    tell_running_locked (self, i);
    some = TRUE;
  }
  g_mutex_unlock (&sender->lock);
  if (some)
    gst_mcc_sender_drain (sender);
}

gboolean
gst_assp_simulcast_bin_stream_failed (GstAsspSimulcastBin *self, guint i)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  gboolean others = FALSE;
  MccTime next = MCC_TIME_NONE;

  g_mutex_lock (&sender->lock);
  self->stream[i].failed = TRUE;
  self->stream[i].idle.running = FALSE;
  self->stream[i].idle.after = MCC_TIME_NONE;
  for (guint k = 0; k < self->n_streams; k++)
    others = others || !self->stream[k].failed;
  if (sender->core) {
    mcc_assp_sender_set_ended (sender->core, i, true, gst_mcc_pump_now (sender->pump));
    next = mcc_assp_sender_next_timeout (sender->core);
  }
  g_mutex_unlock (&sender->lock);
  gst_mcc_pump_wake (sender->pump, next);
  return others;
}

/* ---- what the core wants done ---- */

static void
act_target (GstAsspSimulcastBin *self, guint i, const MccSenderAction *action)
{
  const gchar *reason = mcc_target_reason_name (action->reason);

  GST_DEBUG_OBJECT (self,
      "stream %u: target %" G_GUINT64_FORMAT " -> %" G_GUINT64_FORMAT " (%s, %08x)", i,
      action->previous_bps, action->target_bps, reason, action->ssrc);
  gst_mcc_send_stream_set_target (self->stream[i].send, action->target_bps);
  gst_mcc_sender_tell_target (GST_MCC_SENDER (self), (gint)i, action->target_bps,
      action->previous_bps, reason, action->ssrc);
}

/* Of stream @k. FALSE: it has ended. */
static gboolean
prepare_session (GstAsspSimulcastBin *self, guint k, MccAppSession *session)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  guint64 bps = session->session_bandwidth_bps;
  gboolean ended, other;

  g_mutex_lock (&sender->lock);
  ended = sender->stream[k].ended;
  other = self->stream[k].rtcp_bps != bps;
  self->stream[k].rtcp_bps = bps;
  g_mutex_unlock (&sender->lock);
  if (ended)
    return FALSE;
  if (other)
    gst_mcc_session_set_stream_bandwidth (sender->session, k, bps);
  session->media_ssrc = gst_mcc_session_get_ssrc (sender->session, k);
  session->send_time = mcc_abs_send_time (gst_mcc_pump_now (sender->pump));
  return TRUE;
}

static void
set_app (MccAsspApp *app, guint32 subtype, guint k, guint32 ssrc)
{
  memset (app, 0, sizeof *app);
  app->subtype = subtype;
  app->stream = k;
  app->ssrc = ssrc;
  if (subtype == MCC_ASSP_STREAMS)
    return;
  app->asmp.subtype = subtype;
  app->asmp.ssrc = ssrc;
}

static void
act_session (GstAsspSimulcastBin *self, guint i, GstMccSenderTodo *said)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  MccAsspApp apps[2 + MCC_ASSP_STREAMS_MAX];
  guint n = 0;

  if (!prepare_session (self, i, &said->session))
    return;
  set_app (&apps[n], MCC_ASSP_STREAMS, i, said->session.media_ssrc);
  apps[n++].streams = said->streams;
  set_app (&apps[n], MCC_APP_SESSION, i, said->session.media_ssrc);
  apps[n++].asmp.session = said->session;
  for (guint k = 0; k < self->n_streams; k++) {
    if (said->action.assp.also[k] == NULL || !prepare_session (self, k, &said->also[k]))
      continue;
    set_app (&apps[n], MCC_APP_SESSION, k, said->also[k].media_ssrc);
    apps[n++].asmp.session = said->also[k];
  }
  if (said->rtt.count > 0) {
    set_app (&apps[n], MCC_APP_RTT, i, said->session.media_ssrc);
    apps[n++].asmp.rtt = said->rtt;
  }
  gst_mcc_session_send_assp (sender->session, i, apps, n, FALSE);
}

static void
act_stream (GstAsspSimulcastBin *self, guint i, GstMccSenderTodo *todo)
{
  const MccSenderAction *action = &todo->action.assp.asmp;

  switch (action->type) {
    case MCC_SENDER_TARGET:
      act_target (self, i, action);
      break;
    case MCC_SENDER_SEND_SESSION:
      act_session (self, i, todo);
      break;
    case MCC_SENDER_RECEIVER:
      gst_mcc_sender_tell_receiver (GST_MCC_SENDER (self), (gint)i, action->state,
          action->quarantine, action->ssrc, &action->address);
      break;
    case MCC_SENDER_KEY_UNIT:
      gst_mcc_send_stream_request_key_unit (self->stream[i].send);
      break;
    case MCC_SENDER_PACING:
      gst_mcc_send_stream_set_pacing (self->stream[i].send, &action->pacing);
      break;
    default:
      break;
  }
}

gboolean
gst_assp_simulcast_bin_poll_locked (GstMccSender *sender, GstMccSenderTodo *out)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);
  const MccAsspSenderAction *action = &out->action.assp;

  out->gate = poll_gate_locked (self, out);
  if (out->gate)
    return TRUE;
  if (!mcc_assp_sender_poll (sender->core, &out->action.assp))
    return FALSE;
  if (action->type == MCC_ASSP_SENDER_ASMP && action->asmp.type == MCC_SENDER_TARGET)
    self->stream[action->stream].target_bps = action->asmp.target_bps;
  if (action->type == MCC_ASSP_SENDER_ASMP && action->asmp.type == MCC_SENDER_SEND_SESSION) {
    gst_mcc_sender_copy_session (out, action->asmp.session, action->asmp.rtt);
    out->streams = *action->streams;
    for (guint k = 0; k < self->n_streams; k++)
      if (action->also[k] != NULL)
        out->also[k] = *action->also[k];
  }
  return TRUE;
}

void
gst_assp_simulcast_bin_act (GstMccSender *sender, GstMccSenderTodo *todo)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);
  const MccAsspSenderAction *action = &todo->action.assp;

  if (todo->gate) {
    act_gate (self, todo->gate_stream, todo->gate_open);
    return;
  }
  switch (action->type) {
    case MCC_ASSP_SENDER_ASMP:
      act_stream (self, action->stream, todo);
      break;
    case MCC_ASSP_SENDER_OCCUPIED:
    case MCC_ASSP_SENDER_EMPTY:
      act_occupied (self, action->stream, action->type == MCC_ASSP_SENDER_OCCUPIED);
      break;
    case MCC_ASSP_SENDER_FEEDBACK_LOST:
    case MCC_ASSP_SENDER_FEEDBACK_FOUND:
      gst_mcc_sender_tell_feedback (sender, action->type == MCC_ASSP_SENDER_FEEDBACK_FOUND);
      break;
    case MCC_ASSP_SENDER_BOUNDS:
      act_bounds (self, action->stream, &action->bounds);
      break;
  }
}

void
gst_assp_simulcast_bin_request_key_units (GstMccSender *sender)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);

  g_rec_mutex_lock (&self->figures);
  for (guint i = 0; i < self->n_streams; i++)
    gst_mcc_sender_request_key_unit (sender, i);
  g_rec_mutex_unlock (&self->figures);
}

/* ---- the clock ---- */

/* What the streams really send, where nobody steers it. */
static void
check_above (GstAsspSimulcastBin *self, MccTime now)
{
  GstMccSender *sender = GST_MCC_SENDER (self);

  for (guint i = 0; i < self->n_streams; i++) {
    MccAsmpSenderStats stats = { 0 };

    g_mutex_lock (&sender->lock);
    if (sender->core)
      mcc_asmp_sender_get_stats (
          mcc_assp_sender_stream (sender->core, i), gst_mcc_pump_now (sender->pump), &stats);
    g_mutex_unlock (&sender->lock);
    gst_mcc_send_stream_check_above (self->stream[i].send, stats.sent_bps, now);
  }
}

MccTime
gst_assp_simulcast_bin_tick (GstMccSender *sender, MccTime now)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);
  MccTime next = MCC_TIME_NONE;

  stop_idle (self);
  check_above (self, now);
  g_mutex_lock (&sender->lock);
  for (guint i = 0; i < self->n_streams; i++)
    next = mcc_time_min (next, mcc_idle_next_timeout (&self->stream[i].idle));
  g_mutex_unlock (&sender->lock);
  return next;
}

/* ---- what the network says ---- */

static void
on_assp_app (gpointer owner, const MccAsspApp *app, const MccAddress *from)
{
  gst_mcc_sender_handle_app (owner, app, from);
}

const GstMccSessionHandler gst_assp_simulcast_bin_session_handler = { .assp_app = on_assp_app };

/* ---- what the streams say ---- */

static void
on_sent (gpointer owner, guint i, guint packets, guint64 bytes, guint32 highest_seq)
{
  MccTime now = gst_mcc_pump_now (GST_MCC_SENDER (owner)->pump);

  gst_mcc_sender_handle_sent (owner, i, packets, bytes, highest_seq);
  gst_mcc_send_stream_refresh (GST_ASSP_SIMULCAST_BIN (owner)->stream[i].send, now);
}

/* The network as a plain player of the stream sees it. */
static gboolean
get_stream_network (GstAsspSimulcastBin *self, guint i, GstMccSessionSettings *out)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  gchar *address;
  guint port;

  gst_mcc_properties_get_opened (&sender->network, out);
  if (!gst_mcc_session_settings_place (
          out, gst_assp_streams_place (&self->bounds, i), &address, &port, NULL))
    return FALSE;
  if (!out->feedback_address && !out->source_address) {
    out->feedback_address = out->address; /* where RTCP goes: RFC 3605 */
    out->feedback_port = out->port + 1;
  } else {
    g_free (out->address);
    if (!out->feedback_port)
      out->feedback_port = out->port + 1;
  }
  out->address = address;
  out->port = port;
  return TRUE;
}

static void
start_sdp (GstAsspSimulcastBin *self, guint i, GstCaps *caps)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  GstMccSessionSettings network;
  gchar **parts, *number, *location;

  GST_OBJECT_LOCK (self);
  location = g_strdup (sender->settings.sdp_location);
  GST_OBJECT_UNLOCK (self);
  if (!location)
    return;
  number = g_strdup_printf ("%u", i);
  parts = g_strsplit (location, "%d", -1);
  g_free (location);
  location = g_strjoinv (number, parts);
  if (get_stream_network (self, i, &network))
    gst_mcc_send_stream_write_sdp (
        self->stream[i].send, location, &network, self->bounds.stream[i].high_bps, caps);
  gst_mcc_properties_settings_clear (&network);
  g_strfreev (parts);
  g_free (location);
  g_free (number);
}

static void
on_caps (gpointer owner, guint i, GstCaps *caps)
{
  GstAsspSimulcastBin *self = owner;

  gst_mcc_sender_handle_caps (owner, i, caps);
  gst_mcc_send_stream_look_upstream (self->stream[i].send, TRUE);
  if (gst_structure_has_field (gst_caps_get_structure (caps, 0), "clock-rate"))
    start_sdp (self, i, caps);
}

const GstMccSendStreamHandler gst_assp_simulcast_bin_stream_handler = {
  .sent = on_sent,
  .caps = on_caps,
  .eos = gst_mcc_sender_handle_eos,
  .again = gst_mcc_sender_handle_again,
  .key_unit = gst_mcc_sender_request_key_unit,
};

/* ---- figures ---- */

typedef struct {
  MccAsmpSenderStats stats;
  GstMccSenderExtra extra;
  MccReceiverInfo *receivers;
  guint n;
  MccAsspStream bounds;
  gboolean running;
} Figures;

static void
get_figures (GstAsspSimulcastBin *self, guint i, guint max_receivers, Figures *out)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  memset (out, 0, sizeof *out);
  g_mutex_lock (&sender->lock);
  out->running = runs_locked (self, i);
  out->bounds = self->bounds.stream[i];
  if (sender->core) {
    out->receivers = gst_mcc_sender_get_figures_locked (
        sender, mcc_assp_sender_stream (sender->core, i), max_receivers, &out->stats, &out->n);
    out->bounds = mcc_assp_sender_streams (sender->core)->stream[i];
  }
  g_mutex_unlock (&sender->lock);
  gst_mcc_send_stream_get_extra (self->stream[i].send, &out->extra);
}

static GstStructure *
stream_stats (GstAsspSimulcastBin *self, guint i, const Figures *figures)
{
  GstStructure *s
      = gst_mcc_stats_new_sender (&figures->stats, &figures->extra, figures->receivers, figures->n);

  gst_structure_set (s, "stream", G_TYPE_UINT, i, "low-bitrate", G_TYPE_UINT64,
      (guint64)figures->bounds.low_bps, "high-bitrate", G_TYPE_UINT64,
      (guint64)figures->bounds.high_bps, "average-bitrate", G_TYPE_UINT64,
      (guint64)figures->bounds.average_bps, "closed", G_TYPE_BOOLEAN,
      (gboolean)((figures->bounds.flags & MCC_ASSP_CLOSED) != 0), "running", G_TYPE_BOOLEAN,
      figures->running, NULL);
  if (self->stream[i].branch) {
    MccPicture picture = gst_assp_branch_get_picture (self->stream[i].branch);

    gst_structure_set (s, "width", G_TYPE_UINT, picture.width, "height", G_TYPE_UINT,
        picture.height, "one-frame-of", G_TYPE_UINT, picture.every, "frames-dropped", G_TYPE_UINT64,
        gst_assp_branch_get_dropped (self->stream[i].branch), NULL);
  }
  return s;
}

/* The session's totals; who limits is the lowest stream's affair. */
static void
add_figures (Figures *sum, const Figures *one)
{
  if (one->running)
    sum->stats.target_bps += one->stats.target_bps;
  sum->stats.sent_bps += one->stats.sent_bps;
  sum->stats.receivers += one->stats.receivers;
  sum->stats.quarantined += one->stats.quarantined;
  sum->stats.reports += one->stats.reports;
  sum->stats.rtt_max = mcc_time_max (sum->stats.rtt_max, one->stats.rtt_max);
  for (guint i = 0; i < MCC_DROP_COUNT; i++)
    sum->stats.dropped[i] += one->stats.dropped[i];
  sum->extra.applied_bps += one->extra.applied_bps;
  sum->extra.pacer_delay = mcc_time_max (sum->extra.pacer_delay, one->extra.pacer_delay);
  sum->extra.pacer_overruns += one->extra.pacer_overruns;
  sum->receivers = g_renew (MccReceiverInfo, sum->receivers, MAX (sum->n + one->n, 1));
  if (one->n)
    memcpy (sum->receivers + sum->n, one->receivers, one->n * sizeof *one->receivers);
  sum->n += one->n;
}

static int
compare_receivers (const void *a, const void *b)
{
  return mcc_receiver_info_slower (a, b) ? -1 : mcc_receiver_info_slower (b, a);
}

GstStructure *
gst_assp_simulcast_bin_get_stats (GstMccSender *sender, guint max_receivers)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);
  Figures sum = { 0 };
  GValue array = G_VALUE_INIT;
  GstStructure *s;

  g_value_init (&array, GST_TYPE_ARRAY);
  g_rec_mutex_lock (&self->figures);
  for (guint i = 0; i < self->n_streams; i++) {
    GValue item = G_VALUE_INIT;
    Figures one;

    get_figures (self, i, max_receivers, &one);
    add_figures (&sum, &one);
    if (i == 0) {
      sum.stats.reason = one.stats.reason;
      sum.stats.limiting_ssrc = one.stats.limiting_ssrc;
      sum.stats.limiting_address = one.stats.limiting_address;
      sum.extra.pacer_behind = one.extra.pacer_behind;
    }
    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&item, stream_stats (self, i, &one));
    gst_value_array_append_and_take_value (&array, &item);
    g_free (one.receivers);
  }
  g_rec_mutex_unlock (&self->figures);
  g_mutex_lock (&sender->lock);
  sum.stats.ect = sender->ect;
  g_mutex_unlock (&sender->lock);
  if (sum.n)
    qsort (sum.receivers, sum.n, sizeof *sum.receivers, compare_receivers);
  s = gst_mcc_stats_new_sender (&sum.stats, &sum.extra, sum.receivers, MIN (sum.n, max_receivers));
  g_free (sum.receivers);
  gst_structure_take_value (s, "streams", &array);
  return s;
}
