/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-asspsimulcastbin
 * @title: asspsimulcastbin
 *
 * Encodes a video several times and sends each version to a multicast group of its own. Receivers
 * (asspsimulcastsrc) take one of them at a time, the one that their path can carry, and each
 * version adapts within its bounds to those who receive it.
 *
 * |[
 * gst-launch-1.0 videotestsrc is-live=true ! asspsimulcastbin address=239.255.12.50 port=5010
 *     streams=300000:2000000,2000000:5000000,5000000:10000000
 * ]|
 */
#include "gstasspsimulcastbinprivate.h"

#include <stdio.h>

#include "gstmccentry.h"
#include "gstmccuri.h"

GST_DEBUG_CATEGORY (gst_assp_simulcast_bin_debug);
#define GST_CAT_DEFAULT gst_assp_simulcast_bin_debug

enum { SIGNAL_ENCODER_BITRATE_CHANGED, SIGNAL_FORCE_KEY_UNIT, N_SIGNALS };
static guint signals[N_SIGNALS];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));
static GstStaticPadTemplate request_template = GST_STATIC_PAD_TEMPLATE (
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

G_DEFINE_FINAL_TYPE_WITH_CODE (GstAsspSimulcastBin, gst_assp_simulcast_bin, GST_TYPE_BIN,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SINK, GST_ASSP_SCHEME))
GST_ELEMENT_REGISTER_DEFINE (
    asspsimulcastbin, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN)

/* ---- pads ---- */

static guint
count_request_pads (GstAsspSimulcastBin *self)
{
  guint n = 0;

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_MCC_STREAMS_MAX; i++)
    n += self->request[i] != NULL;
  GST_OBJECT_UNLOCK (self);
  return n;
}

/* Whoever releases it meanwhile does not free it. Transfer: full, or NULL. */
static GstPad *
ref_request_pad (GstAsspSimulcastBin *self, guint i)
{
  GstPad *pad;

  GST_OBJECT_LOCK (self);
  pad = self->request[i] ? gst_object_ref (self->request[i]) : NULL;
  GST_OBJECT_UNLOCK (self);
  return pad;
}

static void
pad_missing (GstAsspSimulcastBin *self, guint i)
{
  GST_ELEMENT_ERROR (self, CORE, PAD,
      ("sink_%u is missing: number the pads from sink_0, the lowest stream, on.", i), (NULL));
}

static GstPadLinkReturn
on_link (GstPad *pad, GstObject *parent, GstPad *peer)
{
  if (count_request_pads (GST_ASSP_SIMULCAST_BIN (parent)) == 0)
    return GST_PAD_LINK_OK;
  GST_ELEMENT_ERROR (parent, CORE, PAD,
      ("sink and sink_%%u exclude each other: link raw video to sink, or the streams of your own "
       "encoders to sink_0, sink_1, ..."),
      (NULL));
  return GST_PAD_LINK_REFUSED;
}

static void
on_linked (GstPad *pad, GstPad *peer, gpointer data)
{
  GstAsspSimulcastBin *self = data;

  g_rec_mutex_lock (&self->figures);
  for (guint i = 0; i < self->n_streams; i++)
    if (self->request[i] == pad)
      gst_mcc_send_stream_look_upstream (self->stream[i].send, FALSE);
  g_rec_mutex_unlock (&self->figures);
}

/* Takes the place of stream @wanted, or the first free one; -1: none. */
static gint
take_number (GstAsspSimulcastBin *self, GstPad *pad, gint wanted)
{
  gint number = -1;

  GST_OBJECT_LOCK (self);
  for (gint i = 0; i < GST_MCC_STREAMS_MAX && number < 0; i++)
    if ((wanted < 0 || wanted == i) && !self->request[i])
      number = i;
  if (number >= 0)
    self->request[number] = pad;
  GST_OBJECT_UNLOCK (self);
  return number;
}

static GstPad *
gst_assp_simulcast_bin_request_new_pad (
    GstElement *element, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (element);
  gint wanted = -1, number;
  gchar *pad_name;
  GstPad *pad;

  if (gst_pad_is_linked (self->sink)) {
    GST_ELEMENT_ERROR (self, CORE, PAD,
        ("sink and sink_%%u exclude each other: sink is linked; unlink it, or link nothing to "
         "sink_%%u."),
        (NULL));
    return NULL;
  }
  if (GST_STATE (self) > GST_STATE_NULL || GST_STATE_NEXT (self) > GST_STATE_NULL) {
    GST_ELEMENT_ERROR (self, CORE, PAD,
        ("sink_%%u: the streams are fixed while it runs; request them in NULL."), (NULL));
    return NULL;
  }
  if (name && (sscanf (name, "sink_%d", &wanted) != 1 || wanted < 0))
    return NULL;
  pad = gst_ghost_pad_new_no_target_from_template (NULL, template);
  number = take_number (self, pad, wanted);
  if (number < 0) {
    gst_object_unref (gst_object_ref_sink (pad));
    return NULL;
  }
  pad_name = g_strdup_printf ("sink_%d", number);
  gst_object_set_name (GST_OBJECT (pad), pad_name);
  g_free (pad_name);
  self->linked[number] = g_signal_connect (pad, "linked", G_CALLBACK (on_linked), self);
  gst_element_add_pad (element, pad);
  return pad;
}

static void
gst_assp_simulcast_bin_release_pad (GstElement *element, GstPad *pad)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (element);
  GstElement *clocksync = NULL;

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_MCC_STREAMS_MAX; i++)
    if (self->request[i] == pad) {
      self->request[i] = NULL;
      clocksync = self->stream[i].clocksync ? gst_object_ref (self->stream[i].clocksync) : NULL;
    }
  GST_OBJECT_UNLOCK (self);
  gst_mcc_entry_release (element, pad, clocksync); /* the others go on, and end without it */
  gst_clear_object (&clocksync);
}

/* ---- building: NULL->READY ---- */

static void
on_encoder_changed (gpointer owner, GstElement *encoder, guint64 bitrate)
{
  g_signal_emit (owner, signals[SIGNAL_ENCODER_BITRATE_CHANGED], 0, encoder, bitrate);
}

static GstElement *
make (GstAsspSimulcastBin *self, const gchar *factory)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  if (!element) {
    gst_mcc_messages_missing (GST_ELEMENT (self), factory);
    GST_ELEMENT_ERROR (self, CORE, MISSING_PLUGIN,
        ("The element %s is missing; install GStreamer's core plugins (Debian: "
         "libgstreamer1.0-0).",
            factory),
        (NULL));
    return NULL;
  }
  gst_bin_add (GST_BIN (self), element);
  return element;
}

static void
set_target (GstPad *ghost, GstElement *element)
{
  GstPad *sink = gst_element_get_static_pad (element, "sink");

  gst_ghost_pad_set_target (GST_GHOST_PAD (ghost), sink);
  gst_object_unref (sink);
}

/* clocksync ! tee, in front of all branches: a file is held to its time before it is encoded. */
static gboolean
build_raw (GstAsspSimulcastBin *self, gboolean sync)
{
  if (!(self->clocksync = make (self, "clocksync")) || !(self->tee = make (self, "tee")))
    return FALSE;
  g_object_set (self->clocksync, "sync", sync, NULL);
  g_object_set (self->tee, "allow-not-linked", TRUE, NULL);
  set_target (self->sink, self->clocksync);
  return gst_element_link (self->clocksync, self->tee);
}

static gboolean
build_branch (GstAsspSimulcastBin *self, guint i, gboolean sync, guint32 time_base)
{
  GstAsspStream *stream = &self->stream[i];
  GstAsspBranchSettings settings = { .low_bps = self->bounds.stream[i].low_bps,
    .high_bps = self->bounds.stream[i].high_bps,
    .timestamp_offset = time_base,
    .ssrc = gst_mcc_session_get_ssrc (self->session, i),
    .leaky = sync };
  gchar *description;

  GST_OBJECT_LOCK (self);
  settings.configure = self->sender.configure_encoder;
  description = g_strdup (self->settings.encoder_description);
  GST_OBJECT_UNLOCK (self);
  settings.description = description ? description : "";
  stream->branch = gst_assp_branch_new (GST_BIN (self), i, &settings);
  g_free (description);
  return stream->branch
         && gst_assp_branch_link (
             stream->branch, self->tee, gst_mcc_send_stream_get_pacer (stream->send));
}

static gboolean
build_request (GstAsspSimulcastBin *self, guint i, gboolean sync)
{
  GstAsspStream *stream = &self->stream[i];
  GstPad *pad;

  if (!(stream->clocksync = make (self, "clocksync")))
    return FALSE;
  g_object_set (stream->clocksync, "sync", sync, NULL);
  pad = ref_request_pad (self, i);
  if (!pad) { /* released meanwhile */
    pad_missing (self, i);
    return FALSE;
  }
  set_target (pad, stream->clocksync);
  gst_object_unref (pad);
  return gst_element_link (stream->clocksync, gst_mcc_send_stream_get_pacer (stream->send));
}

static gboolean
build_stream (GstAsspSimulcastBin *self, guint i, const GstMccSenderSettings *settings,
    gboolean request, guint32 time_base)
{
  GstAsspStream *stream = &self->stream[i];
  GstPad *entry;
  gboolean good;

  *stream = (GstAsspStream){ .send = gst_mcc_send_stream_new (GST_BIN (self), i,
                                 &gst_assp_simulcast_bin_stream_handler, on_encoder_changed) };
  gst_mcc_send_stream_set_time_base (stream->send, time_base);
  gst_mcc_send_stream_configure (stream->send, settings);
  good = gst_mcc_send_stream_link (stream->send, self->session)
         && (request ? build_request (self, i, settings->sync)
                     : build_branch (self, i, settings->sync, time_base));
  entry = gst_element_get_static_pad (
      stream->clocksync ? stream->clocksync : gst_mcc_send_stream_get_pacer (stream->send), "sink");
  gst_mcc_send_stream_set_entry (stream->send, entry);
  gst_object_unref (entry);
  return good;
}

static gboolean
open_session (GstAsspSimulcastBin *self)
{
  MccPlace places[GST_MCC_STREAMS_MAX];
  GstMccSessionSettings network;
  GError *error = NULL;
  gboolean ok;

  for (guint i = 0; i < self->bounds.count; i++)
    places[i] = gst_assp_streams_place (&self->bounds, i);
  gst_mcc_properties_get_settings (&self->network, &network);
  if (network.session_bandwidth == 0)
    network.session_bandwidth = self->bounds.stream[self->bounds.count - 1].high_bps;
  ok = gst_mcc_session_open_streams (self->session, &network, places, self->bounds.count, &error);
  gst_mcc_properties_settings_clear (&network);
  if (!ok) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
        g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
  }
  return ok;
}

/* The pads' numbers leave no gap. */
static gboolean
check_pads (GstAsspSimulcastBin *self, guint pads)
{
  for (guint i = 0; i < pads; i++)
    if (!self->request[i]) {
      pad_missing (self, i);
      return FALSE;
    }
  return TRUE;
}

static gboolean
build (GstAsspSimulcastBin *self)
{
  GstMccSenderSettings settings = gst_mcc_sender_settings_copy (&self->sender, GST_ELEMENT (self));
  guint pads = count_request_pads (self);
  guint32 time_base = g_random_int ();

  if (!check_pads (self, pads) || !gst_assp_simulcast_bin_get_bounds (self, pads, &self->bounds)
      || !open_session (self) || (pads == 0 && !build_raw (self, settings.sync)))
    return FALSE;
  for (guint i = 0; i < self->bounds.count; i++) {
    self->n_built = i + 1;
    if (!build_stream (self, i, &settings, pads > 0, time_base))
      return FALSE;
  }
  return TRUE;
}

static void
remove_child (GstAsspSimulcastBin *self, GstElement **child)
{
  if (!*child)
    return;
  gst_element_set_state (*child, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (self), *child);
  *child = NULL;
}

static void
clear_stream (GstAsspSimulcastBin *self, guint i)
{
  GstAsspStream *stream = &self->stream[i];
  GstPad *pad;

  gst_mcc_send_stream_unlink (stream->send);
  g_clear_pointer (&stream->branch, gst_assp_branch_free);
  pad = ref_request_pad (self, i);
  if (pad)
    gst_ghost_pad_set_target (GST_GHOST_PAD (pad), NULL);
  gst_clear_object (&pad);
  GST_OBJECT_LOCK (self);
  GstElement *clocksync = g_steal_pointer (&stream->clocksync);
  GST_OBJECT_UNLOCK (self);
  remove_child (self, &clocksync);
  gst_mcc_send_stream_remove (stream->send);
  g_clear_pointer (&stream->send, gst_mcc_send_stream_free);
}

/* From now on others may ask for figures of so many streams. */
static void
publish (GstAsspSimulcastBin *self, guint n)
{
  g_rec_mutex_lock (&self->figures);
  self->n_streams = n;
  g_rec_mutex_unlock (&self->figures);
}

/* READY->NULL */
static void
unbuild (GstAsspSimulcastBin *self)
{
  GstElement *clocksync;

  publish (self, 0);
  for (guint i = 0; i < self->n_built; i++)
    clear_stream (self, i);
  self->n_built = 0;
  gst_ghost_pad_set_target (GST_GHOST_PAD (self->sink), NULL);
  remove_child (self, &self->tee);
  g_rec_mutex_lock (&self->figures);
  clocksync = g_steal_pointer (&self->clocksync);
  g_rec_mutex_unlock (&self->figures);
  remove_child (self, &clocksync);
  gst_mcc_session_close (self->session);
}

static gboolean
prepare (GstAsspSimulcastBin *self)
{
  if (!build (self)) {
    unbuild (self);
    return FALSE;
  }
  publish (self, self->n_built);
  /* what was set meanwhile */
  gst_assp_simulcast_bin_apply (self, GST_MCC_SENDER_PROPERTY_SYNC);
  gst_assp_simulcast_bin_apply (self, GST_MCC_SENDER_PROPERTY_PACING_FACTOR);
  if (!gst_assp_simulcast_bin_update_encoders (self)) {
    unbuild (self);
    return FALSE;
  }
  for (guint i = 0; i < self->n_streams; i++) {
    gst_mcc_encoder_set_bitrate (
        gst_mcc_send_stream_get_encoder (self->stream[i].send), self->bounds.stream[i].low_bps);
    gst_mcc_send_stream_look_upstream (self->stream[i].send, FALSE);
  }
  return TRUE;
}

/* ---- states ---- */

/* Called with the lock. */
static void
reset_streams_locked (GstAsspSimulcastBin *self, MccTime now)
{
  for (guint i = 0; i < self->n_streams; i++) {
    GstAsspStream *stream = &self->stream[i];

    mcc_idle_init (&stream->idle, i == 0 ? MCC_TIME_NONE : self->idle_after, now);
    stream->target_bps = self->bounds.stream[i].low_bps;
    stream->rtcp_bps = 0;
    stream->ended = stream->mute = stream->failed = FALSE;
    mcc_assp_sender_set_running (self->core, i, true, now);
  }
}

/* READY->PAUSED, before the data flows */
static gboolean
make_core (GstAsspSimulcastBin *self)
{
  GstMccSenderSettings settings = gst_mcc_sender_settings_copy (&self->sender, GST_ELEMENT (self));
  MccAsspSenderConfig config = { .streams = self->bounds,
    .max_streams = self->live ? self->bounds.count : 0,
    .max_receivers = settings.max_receivers,
    .ecn = settings.ecn,
    .seed = gst_mcc_properties_get_seed (&self->network) };
  MccTime idle_after, now;

  for (guint i = 0; i < self->n_streams; i++)
    config.streams.stream[i].ssrc = gst_mcc_session_get_ssrc (self->session, i);
  g_mutex_lock (&self->network.lock);
  config.variant = self->network.variant;
  config.session_bandwidth_bps = self->network.settings.session_bandwidth;
  config.ttl = (uint8_t)self->network.settings.ttl_mc;
  g_mutex_unlock (&self->network.lock);
  gst_mcc_session_get_feedback (self->session, &config.feedback);
  GST_OBJECT_LOCK (self);
  idle_after = self->settings.idle_timeout_ms ? self->settings.idle_timeout_ms * MCC_MSECOND
                                              : MCC_TIME_NONE;
  GST_OBJECT_UNLOCK (self);

  for (guint i = 0; i < self->n_streams; i++) {
    gst_mcc_send_stream_start (self->stream[i].send, self->bounds.stream[i].low_bps);
    if (self->stream[i].branch)
      gst_assp_branch_set_running (self->stream[i].branch, TRUE);
  }
  gst_mcc_session_set_ect (self->session, FALSE);
  g_mutex_lock (&self->lock);
  now = gst_mcc_pump_now (self->pump);
  self->ect = FALSE;
  self->idle_after = idle_after;
  self->core = mcc_assp_sender_new (&config, now);
  if (self->core)
    reset_streams_locked (self, now);
  self->stopped = FALSE;
  self->warned = 0;
  self->next_stats = MCC_TIME_NONE;
  g_mutex_unlock (&self->lock);
  return self->core != NULL;
}

/* Pads that were released in READY: their streams end as the data begins. */
static void
end_released (GstAsspSimulcastBin *self)
{
  for (guint i = 0; i < self->n_streams; i++)
    if (!self->request[i] && self->stream[i].clocksync)
      gst_mcc_entry_end (self->stream[i].clocksync);
}

static void
free_core (GstAsspSimulcastBin *self)
{
  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->core, mcc_assp_sender_free);
  g_mutex_unlock (&self->lock);
  gst_mcc_messages_clear (self->messages);
}

static GstStateChangeReturn
gst_assp_simulcast_bin_change_state (GstElement *element, GstStateChange transition)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (element);
  GstStateChangeReturn ret;

  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (!prepare (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (!make_core (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      gst_mcc_pump_stop (self->pump);
      gst_mcc_session_stop (self->session); /* says BYE */
      break;
    default:
      break;
  }
  ret = GST_ELEMENT_CLASS (gst_assp_simulcast_bin_parent_class)->change_state (element, transition);
  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (ret == GST_STATE_CHANGE_FAILURE)
        unbuild (self);
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (ret == GST_STATE_CHANGE_FAILURE) {
        free_core (self);
        break;
      }
      if (!gst_mcc_session_start (self->session))
        GST_ELEMENT_WARNING (self, RESOURCE, READ, ("RTCP cannot be received."), (NULL));
      gst_mcc_pump_start (self->pump);
      end_released (self);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      free_core (self);
      break;
    case GST_STATE_CHANGE_READY_TO_NULL:
      unbuild (self);
      break;
    default:
      break;
  }
  return ret;
}

/* One encoder that fails must not end the others' streams: TRUE: it was a warning's worth. */
static gboolean
survive (GstAsspSimulcastBin *self, GstMessage *message)
{
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR || GST_STATE (self) < GST_STATE_PAUSED)
    return FALSE;
  for (guint i = 0; i < self->n_streams; i++) {
    GstAsspBranch *branch = self->stream[i].branch;
    GError *error = NULL;
    gchar *debug = NULL;

    if (!branch || !gst_assp_branch_owns (branch, GST_MESSAGE_SRC (message)))
      continue;
    if (!gst_assp_branch_fail (branch))
      return TRUE; /* what follows from the first */
    if (!gst_assp_simulcast_bin_stream_failed (self, i))
      return FALSE;
    gst_message_parse_error (message, &error, &debug);
    GST_ELEMENT_WARNING (self, STREAM, ENCODE,
        ("Stream %u is not sent any more, the others go on: %s failed (%s)", i,
            GST_MESSAGE_SRC_NAME (message), error->message),
        ("%s", debug ? debug : ""));
    g_error_free (error);
    g_free (debug);
    return TRUE;
  }
  return FALSE;
}

static void
gst_assp_simulcast_bin_handle_message (GstBin *bin, GstMessage *message)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (bin);

  if (self->session && gst_mcc_session_handle_message (self->session, message))
    return;
  if (survive (self, message))
    gst_message_unref (message);
  else
    GST_BIN_CLASS (gst_assp_simulcast_bin_parent_class)->handle_message (bin, message);
}

/* ---- life ---- */

static void
gst_assp_simulcast_bin_dispose (GObject *object)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (object);

  /* While the children are still here. */
  g_clear_pointer (&self->pump, gst_mcc_pump_free);
  g_clear_pointer (&self->session, gst_mcc_session_free);
  G_OBJECT_CLASS (gst_assp_simulcast_bin_parent_class)->dispose (object);
}

static void
gst_assp_simulcast_bin_finalize (GObject *object)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (object);

  gst_mcc_messages_free (self->messages);
  gst_assp_simulcast_bin_clear_settings (self);
  g_rec_mutex_clear (&self->figures);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_assp_simulcast_bin_parent_class)->finalize (object);
}

static void
install_signals (void)
{
  /* Worker thread, no lock: (encoder, bit/s) */
  signals[SIGNAL_ENCODER_BITRATE_CHANGED]
      = g_signal_new ("encoder-bitrate-changed", GST_TYPE_ASSP_SIMULCAST_BIN, G_SIGNAL_RUN_LAST, 0,
          NULL, NULL, NULL, G_TYPE_NONE, 2, GST_TYPE_ELEMENT, G_TYPE_UINT64);
  signals[SIGNAL_FORCE_KEY_UNIT] = g_signal_new_class_handler ("force-key-unit",
      GST_TYPE_ASSP_SIMULCAST_BIN, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_assp_simulcast_bin_request_key_units), NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
gst_assp_simulcast_bin_class_init (GstAsspSimulcastBinClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_assp_simulcast_bin_debug, "asspsimulcastbin", 0, "adaptive simulcast sender");
  object_class->set_property = gst_assp_simulcast_bin_set_property;
  object_class->get_property = gst_assp_simulcast_bin_get_property;
  object_class->dispose = gst_assp_simulcast_bin_dispose;
  object_class->finalize = gst_assp_simulcast_bin_finalize;
  element_class->change_state = gst_assp_simulcast_bin_change_state;
  element_class->request_new_pad = gst_assp_simulcast_bin_request_new_pad;
  element_class->release_pad = gst_assp_simulcast_bin_release_pad;
  GST_BIN_CLASS (klass)->handle_message = gst_assp_simulcast_bin_handle_message;

  gst_assp_simulcast_bin_install_properties (object_class);
  install_signals ();
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &request_template);
  gst_element_class_set_static_metadata (element_class, "Adaptive simulcast sender (ASSP)",
      "Sink/Network/Video",
      "Encodes a video at several rates and sends each to a multicast group of its own; receivers "
      "take the one that their path can carry, fair to TCP",
      "adaptivemulticast");
}

static void
gst_assp_simulcast_bin_init (GstAsspSimulcastBin *self)
{
  GstPadTemplate *template = gst_static_pad_template_get (&sink_template);

  /* RTCP has no part in EOS, preroll or liveness; we are a sink before there is a udpsink. */
  gst_bin_set_suppressed_flags (GST_BIN (self), GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SINK);
  g_mutex_init (&self->lock);
  g_rec_mutex_init (&self->figures);
  gst_assp_simulcast_bin_init_settings (self);
  self->pump = gst_mcc_pump_new ("asspsimulcastbin", gst_assp_simulcast_bin_pump, self);
  self->session
      = gst_mcc_session_new_sender (GST_BIN (self), &gst_assp_simulcast_bin_session_handler, self);
  self->messages = gst_mcc_messages_new (GST_ELEMENT (self));
  self->sink = gst_ghost_pad_new_no_target_from_template ("sink", template);
  gst_object_unref (template);
  gst_pad_set_link_function (self->sink, on_link);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
}
