/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The core's host: what comes from the network, the pacers and the clock goes to the core; what the
 * core wants done is done here.
 */
#include "gstasspsimulcastbinprivate.h"
#include "gstmccsdp.h"
#include "mccjitter.h"

#define GST_CAT_DEFAULT gst_assp_simulcast_bin_debug

static gboolean
warn_once (GstAsspSimulcastBin *self, guint bit)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = !(self->warned & bit);
  self->warned |= bit;
  g_mutex_unlock (&self->lock);
  return first;
}

guint64
gst_assp_simulcast_bin_get_target (GstAsspSimulcastBin *self)
{
  guint64 sum = 0;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n_streams; i++)
    if (self->stream[i].idle.running)
      sum += self->stream[i].target_bps;
  g_mutex_unlock (&self->lock);
  return sum;
}

/* ---- what runs ---- */

/* Opens or closes the way in of a stream, as it runs or idles. Without a lock. */
static void
set_gate (GstAsspSimulcastBin *self, guint i)
{
  GstAsspStream *stream = &self->stream[i];
  gboolean open;

  g_mutex_lock (&self->lock);
  open = stream->idle.running && !self->stopped;
  g_mutex_unlock (&self->lock);
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
  mcc_assp_sender_set_running (
      self->core, i, self->stream[i].idle.running, gst_mcc_pump_now (self->pump));
}

static void
act_occupied (GstAsspSimulcastBin *self, guint i, gboolean occupied)
{
  GstAsspStream *stream = &self->stream[i];
  MccAsspStream bounds = { 0 };
  gboolean again = FALSE;

  g_mutex_lock (&self->lock);
  if (self->core)
    bounds = mcc_assp_sender_streams (self->core)->stream[i];
  if (self->core && !stream->failed) {
    again = mcc_idle_set_occupied (&stream->idle, occupied, gst_mcc_pump_now (self->pump));
    tell_running_locked (self, i);
  }
  g_mutex_unlock (&self->lock);
  /* Nobody looks at the picture: it may become that of bounds that have moved. */
  if (!occupied && stream->branch && bounds.high_bps > 0)
    gst_assp_branch_set_bounds (stream->branch, bounds.low_bps, bounds.high_bps);
  if (again)
    set_gate (self, i);
}

/* The lowest stream always runs: newcomers begin there, knowing nothing else. */
static void
keep_lowest (GstAsspSimulcastBin *self)
{
  gint begins = -1;

  g_mutex_lock (&self->lock);
  if (self->core) {
    guint lowest = mcc_assp_streams_lowest (mcc_assp_sender_streams (self->core));
    MccTime now = gst_mcc_pump_now (self->pump);

    for (guint i = 0; i < self->n_streams; i++)
      if (!self->stream[i].failed
          && mcc_idle_set_after (
              &self->stream[i].idle, i == lowest ? MCC_TIME_NONE : self->idle_after, now)) {
        tell_running_locked (self, i);
        begins = (gint)i;
      }
  }
  g_mutex_unlock (&self->lock);
  if (begins >= 0)
    set_gate (self, (guint)begins);
}

/* The ladder has moved. The picture stays while somebody looks at it. */
static void
act_bounds (GstAsspSimulcastBin *self, guint i, const MccAsspStream *bounds)
{
  GstAsspStream *stream = &self->stream[i];
  gboolean empty;

  g_mutex_lock (&self->lock);
  empty = self->core && !mcc_assp_sender_occupied (self->core, i);
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (self, "stream %u: %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "%s", i,
      (guint64)bounds->low_bps, (guint64)bounds->high_bps,
      bounds->flags & MCC_ASSP_CLOSED ? ", closed" : "");
  if (stream->branch && empty)
    gst_assp_branch_set_bounds (stream->branch, bounds->low_bps, bounds->high_bps);
  keep_lowest (self);
}

static void
stop_idle (GstAsspSimulcastBin *self)
{
  for (guint i = 0; i < self->n_streams; i++) {
    gboolean stops;

    g_mutex_lock (&self->lock);
    stops = self->core && !self->stream[i].failed
            && mcc_idle_handle_timeout (&self->stream[i].idle, gst_mcc_pump_now (self->pump));
    if (stops)
      tell_running_locked (self, i);
    g_mutex_unlock (&self->lock);
    if (stops)
      set_gate (self, i);
  }
}

gboolean
gst_assp_simulcast_bin_stream_failed (GstAsspSimulcastBin *self, guint i)
{
  gboolean others = FALSE;

  g_mutex_lock (&self->lock);
  self->stream[i].failed = TRUE;
  self->stream[i].idle.running = FALSE;
  self->stream[i].idle.after = MCC_TIME_NONE;
  for (guint k = 0; k < self->n_streams; k++)
    others = others || !self->stream[k].failed;
  if (self->core)
    tell_running_locked (self, i);
  g_mutex_unlock (&self->lock);
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
  g_object_notify (G_OBJECT (self), "target-bitrate");
  gst_mcc_messages_target (self->messages, (gint)i, action->target_bps, action->previous_bps,
      reason, action->ssrc, gst_mcc_pump_now (self->pump));
}

/* What one announcement carries; valid until the core's next call, so copied under the lock. */
typedef struct {
  MccAsspStreams streams;
  MccAppSession session;
  MccAppRttList rtt;
} Announcement;

static void
copy_announcement (const MccAsspSenderAction *action, Announcement *out)
{
  out->streams = *action->streams;
  out->session = *action->asmp.session;
  out->rtt.count = action->asmp.rtt ? action->asmp.rtt->count : 0;
  if (out->rtt.count > 0)
    memcpy (out->rtt.entry, action->asmp.rtt->entry, out->rtt.count * sizeof out->rtt.entry[0]);
}

static void
act_session (GstAsspSimulcastBin *self, guint i, Announcement *said)
{
  guint64 bps = said->session.session_bandwidth_bps;
  MccAsspApp apps[3];
  guint n = 0;
  gboolean ended, other;

  g_mutex_lock (&self->lock);
  ended = self->stream[i].ended;
  other = self->stream[i].rtcp_bps != bps;
  self->stream[i].rtcp_bps = bps;
  g_mutex_unlock (&self->lock);
  if (ended)
    return;
  if (other)
    gst_mcc_session_set_stream_bandwidth (self->session, i, bps);

  memset (apps, 0, sizeof apps);
  said->session.media_ssrc = gst_mcc_session_get_ssrc (self->session, i);
  said->session.send_time = mcc_abs_send_time (gst_mcc_pump_now (self->pump));
  apps[n].subtype = MCC_ASSP_STREAMS;
  apps[n++].streams = said->streams;
  apps[n].subtype = apps[n].asmp.subtype = MCC_APP_SESSION;
  apps[n++].asmp.session = said->session;
  if (said->rtt.count > 0) {
    apps[n].subtype = apps[n].asmp.subtype = MCC_APP_RTT;
    apps[n++].asmp.rtt = said->rtt;
  }
  for (guint k = 0; k < n; k++) {
    apps[k].ssrc = said->session.media_ssrc;
    apps[k].stream = i;
    if (k > 0)
      apps[k].asmp.ssrc = said->session.media_ssrc;
  }
  gst_mcc_session_send_assp (self->session, i, apps, n, FALSE);
}

static void
act_receiver (GstAsspSimulcastBin *self, guint i, const MccSenderAction *action)
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
  gst_mcc_messages_receiver (self->messages, (gint)i, action->ssrc, &action->address, state, reason,
      gst_mcc_pump_now (self->pump));
}

static void
act_stream (GstAsspSimulcastBin *self, guint i, const MccSenderAction *action, Announcement *said)
{
  switch (action->type) {
    case MCC_SENDER_TARGET:
      act_target (self, i, action);
      break;
    case MCC_SENDER_SEND_SESSION:
      act_session (self, i, said);
      break;
    case MCC_SENDER_RECEIVER:
      act_receiver (self, i, action);
      break;
    case MCC_SENDER_KEY_UNIT:
      gst_mcc_send_stream_request_key_unit (self->stream[i].send);
      break;
    default:
      break;
  }
}

/* no-feedback=stop. */
static void
set_stopped (GstAsspSimulcastBin *self, gboolean stopped)
{
  gboolean changed;

  g_mutex_lock (&self->lock);
  changed = self->stopped != stopped;
  self->stopped = stopped;
  g_mutex_unlock (&self->lock);
  for (guint i = 0; changed && i < self->n_streams; i++)
    set_gate (self, i);
}

static void
act_feedback (GstAsspSimulcastBin *self, gboolean found)
{
  GstMccSenderSettings settings = gst_mcc_sender_settings_copy (&self->sender, GST_ELEMENT (self));

  if (found)
    GST_INFO_OBJECT (self, "receivers report");
  else if (warn_once (self, WARNED_FEEDBACK))
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("No receiver reports: nobody listens, or reports do not come back (see no-feedback)."),
        (NULL));
  if (found || settings.no_feedback == MCC_NO_FEEDBACK_STOP)
    set_stopped (self, !found);
}

static void
act (GstAsspSimulcastBin *self, const MccAsspSenderAction *action, Announcement *said)
{
  switch (action->type) {
    case MCC_ASSP_SENDER_ASMP:
      act_stream (self, action->stream, &action->asmp, said);
      break;
    case MCC_ASSP_SENDER_OCCUPIED:
    case MCC_ASSP_SENDER_EMPTY:
      act_occupied (self, action->stream, action->type == MCC_ASSP_SENDER_OCCUPIED);
      break;
    case MCC_ASSP_SENDER_FEEDBACK_LOST:
    case MCC_ASSP_SENDER_FEEDBACK_FOUND:
      act_feedback (self, action->type == MCC_ASSP_SENDER_FEEDBACK_FOUND);
      break;
    case MCC_ASSP_SENDER_BOUNDS:
      act_bounds (self, action->stream, &action->bounds);
      break;
  }
}

void
gst_assp_simulcast_bin_drain (GstAsspSimulcastBin *self)
{
  MccAsspSenderAction action;
  MccTime next = MCC_TIME_NONE;
  Announcement said;
  gboolean more = TRUE;

  while (more) {
    g_mutex_lock (&self->lock);
    more = self->core && mcc_assp_sender_poll (self->core, &action);
    if (more && action.type == MCC_ASSP_SENDER_ASMP) {
      if (action.asmp.type == MCC_SENDER_TARGET)
        self->stream[action.stream].target_bps = action.asmp.target_bps;
      else if (action.asmp.type == MCC_SENDER_SEND_SESSION)
        copy_announcement (&action, &said);
    }
    if (!more && self->core) {
      gboolean ect = mcc_assp_sender_ect (self->core);

      if (ect != self->ect)
        gst_mcc_session_set_ect (self->session, ect);
      self->ect = ect;
      next = mcc_assp_sender_next_timeout (self->core);
    }
    g_mutex_unlock (&self->lock);
    if (more)
      act (self, &action, &said);
  }
  gst_mcc_pump_wake (self->pump, next);
}

static void
request_key_unit (GstAsspSimulcastBin *self, guint stream)
{
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_assp_sender_handle_key_unit_request (self->core, stream, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (
      self->pump, 0); /* the pump acts: an application's thread may be in our way down */
}

void
gst_assp_simulcast_bin_request_key_units (GstAsspSimulcastBin *self)
{
  g_rec_mutex_lock (&self->figures);
  for (guint i = 0; i < self->n_streams; i++)
    request_key_unit (self, i);
  g_rec_mutex_unlock (&self->figures);
}

/* ---- the clock ---- */

/* Posts the stats message when it is due; returns when the next is. */
static MccTime
tell_stats (GstAsspSimulcastBin *self, MccTime now)
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
    gst_mcc_messages_stats (self->messages,
        gst_assp_simulcast_bin_get_stats (self, GST_MCC_STATS_MESSAGE_RECEIVERS), now);
  return next;
}

/* What the streams really send, where nobody steers it. */
static void
check_above (GstAsspSimulcastBin *self, MccTime now)
{
  for (guint i = 0; i < self->n_streams; i++) {
    MccAsmpSenderStats stats = { 0 };

    g_mutex_lock (&self->lock);
    if (self->core)
      mcc_asmp_sender_get_stats (
          mcc_assp_sender_stream (self->core, i), gst_mcc_pump_now (self->pump), &stats);
    g_mutex_unlock (&self->lock);
    gst_mcc_send_stream_check_above (self->stream[i].send, stats.sent_bps, now);
  }
}

MccTime
gst_assp_simulcast_bin_pump (gpointer owner, MccTime now)
{
  GstAsspSimulcastBin *self = owner;
  MccTime next;
  gboolean runs;

  g_mutex_lock (&self->lock);
  runs = self->core != NULL;
  if (runs) {
    now = gst_mcc_pump_now (self->pump); /* others may have come first with a later one */
    if (mcc_assp_sender_next_timeout (self->core) <= now)
      mcc_assp_sender_handle_timeout (self->core, now);
  }
  g_mutex_unlock (&self->lock);
  if (!runs)
    return MCC_TIME_NONE;
  gst_assp_simulcast_bin_drain (self);
  stop_idle (self);
  check_above (self, now);
  next = mcc_time_min (tell_stats (self, now), gst_mcc_messages_flush (self->messages, now));

  g_mutex_lock (&self->lock);
  if (self->core)
    next = mcc_time_min (next, mcc_assp_sender_next_timeout (self->core));
  for (guint i = 0; i < self->n_streams; i++)
    next = mcc_time_min (next, mcc_idle_next_timeout (&self->stream[i].idle));
  g_mutex_unlock (&self->lock);
  return next;
}

/* ---- what the network says ---- */

static void
on_assp_app (gpointer owner, const MccAsspApp *app, const MccAddress *from)
{
  GstAsspSimulcastBin *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core) {
    MccTime now = gst_mcc_pump_now (self->pump);

    if (app->subtype == MCC_APP_REPORT)
      mcc_assp_sender_handle_report (
          self->core, app->stream, app->ssrc, &app->asmp.report, from, now);
    else
      mcc_assp_sender_handle_dropped (self->core, MCC_DROP_OTHER_SENDER, app->ssrc, now);
  }
  g_mutex_unlock (&self->lock);
  gst_assp_simulcast_bin_drain (self);
}

static void
on_report_block (gpointer owner, guint stream, guint32 ssrc, gdouble fraction_lost,
    guint32 highest_seq, MccTime rtt, gboolean has_app, const MccAddress *from)
{
  GstAsspSimulcastBin *self = owner;

  if (has_app)
    return; /* its APP says more */
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_assp_sender_handle_plain_report (self->core, stream, ssrc, fraction_lost, highest_seq, rtt,
        from, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_assp_simulcast_bin_drain (self);
}

static void
on_bye (gpointer owner, guint32 ssrc, const MccAddress *from)
{
  GstAsspSimulcastBin *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_assp_sender_handle_bye (self->core, ssrc, from, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_assp_simulcast_bin_drain (self);
}

static void
on_key_unit_request (gpointer owner, guint stream, guint32 ssrc)
{
  request_key_unit (owner, stream);
}

static void
on_dropped (gpointer owner, MccDrop drop, guint32 ssrc)
{
  GstAsspSimulcastBin *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_assp_sender_handle_dropped (self->core, drop, ssrc, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
}

static void
on_ssrc_changed (gpointer owner, guint stream, guint32 ssrc)
{
  GstAsspSimulcastBin *self = owner;

  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_assp_sender_set_ssrc (self->core, stream, ssrc, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
}

const GstMccSessionHandler gst_assp_simulcast_bin_session_handler = {
  .assp_app = on_assp_app,
  .report_block = on_report_block,
  .bye = on_bye,
  .key_unit_request = on_key_unit_request,
  .dropped = on_dropped,
  .ssrc_changed = on_ssrc_changed,
};

/* ---- what the streams say ---- */

static void
on_sent (gpointer owner, guint i, guint packets, guint64 bytes, guint32 highest_seq)
{
  GstAsspSimulcastBin *self = owner;
  MccTime now = gst_mcc_pump_now (self->pump);
  gboolean mute;

  g_mutex_lock (&self->lock);
  mute = self->stream[i].mute;
  self->stream[i].ended = FALSE;
  if (self->core)
    mcc_assp_sender_handle_sent (
        self->core, i, packets, bytes, highest_seq, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_assp_simulcast_bin_drain (self);
  gst_mcc_send_stream_refresh (self->stream[i].send, now);
  /* Not when they come: some payloaders have better ones before the first packet. */
  if (mute && warn_once (self, WARNED_CAPS))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The caps of stream %u cannot be announced: receivers need caps of their own.", i),
        (NULL));
}

/* The network as a plain player of the stream sees it. */
static gboolean
get_stream_network (GstAsspSimulcastBin *self, guint i, GstMccSessionSettings *out)
{
  gchar *address;
  guint port;

  gst_mcc_properties_get_settings (&self->network, out);
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
  GstMccSessionSettings network;
  gchar **parts, *number, *location;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->sender.sdp_location);
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
  MccAppSession announced = { 0 };
  gboolean good;

  good = gst_mcc_caps_to_session (caps, &announced);
  g_mutex_lock (&self->lock);
  if (self->core)
    good &= mcc_assp_sender_set_caps (self->core, i, &announced, gst_mcc_pump_now (self->pump));
  self->stream[i].mute = !good;
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (
      self, "stream %u: %s announced: %" GST_PTR_FORMAT, i, good ? "are" : "cannot be", caps);
  gst_mcc_send_stream_look_upstream (self->stream[i].send, TRUE);
  if (gst_structure_has_field (gst_caps_get_structure (caps, 0), "clock-rate"))
    start_sdp (self, i, caps);
}

static void
on_eos (gpointer owner, guint i)
{
  GstAsspSimulcastBin *self = owner;

  g_mutex_lock (&self->lock);
  self->stream[i].ended = TRUE;
  g_mutex_unlock (&self->lock);
  gst_mcc_session_send_assp (self->session, i, NULL, 0, TRUE);
}

static void
on_key_unit (gpointer owner, guint i)
{
  request_key_unit (owner, i);
}

const GstMccSendStreamHandler gst_assp_simulcast_bin_stream_handler = {
  .sent = on_sent,
  .caps = on_caps,
  .eos = on_eos,
  .key_unit = on_key_unit,
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
  memset (out, 0, sizeof *out);
  g_mutex_lock (&self->lock);
  out->running = self->stream[i].idle.running;
  out->bounds = self->bounds.stream[i];
  if (self->core) {
    const MccAsmpSender *core = mcc_assp_sender_stream (self->core, i);
    MccTime now = gst_mcc_pump_now (self->pump);

    mcc_asmp_sender_get_stats (core, now, &out->stats);
    out->n = MIN (out->stats.receivers, max_receivers);
    out->receivers = g_new (MccReceiverInfo, MAX (out->n, 1));
    out->n = mcc_asmp_sender_get_receivers (core, now, out->receivers, out->n);
    out->bounds = mcc_assp_sender_streams (self->core)->stream[i];
  }
  g_mutex_unlock (&self->lock);
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
        picture.height, "one-frame-of", G_TYPE_UINT, picture.every, NULL);
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

GstStructure *
gst_assp_simulcast_bin_get_stats (GstAsspSimulcastBin *self, guint max_receivers)
{
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
    }
    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&item, stream_stats (self, i, &one));
    gst_value_array_append_and_take_value (&array, &item);
    g_free (one.receivers);
  }
  g_rec_mutex_unlock (&self->figures);
  g_mutex_lock (&self->lock);
  sum.stats.ect = self->ect;
  g_mutex_unlock (&self->lock);
  s = gst_mcc_stats_new_sender (&sum.stats, &sum.extra, sum.receivers, MIN (sum.n, max_receivers));
  g_free (sum.receivers);
  gst_structure_take_value (s, "streams", &array);
  return s;
}
