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

#include "gstmccuri.h"

GST_DEBUG_CATEGORY (gst_assp_simulcast_bin_debug);
#define GST_CAT_DEFAULT gst_assp_simulcast_bin_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));
static GstStaticPadTemplate request_template = GST_STATIC_PAD_TEMPLATE (
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

G_DEFINE_FINAL_TYPE_WITH_CODE (GstAsspSimulcastBin, gst_assp_simulcast_bin, GST_TYPE_MCC_SENDER,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SINK, GST_ASSP_SCHEME))
GST_ELEMENT_REGISTER_DEFINE (
    asspsimulcastbin, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN)

/* ---- pads ---- */

static const GstMccEntryWords words = { .name = "sink",
  .things = "streams",
  .lowest = "the lowest stream",
  .to_sink = "raw video",
  .to_names = "the streams of your own encoders" };

static void
on_linked (GstPad *pad, GstPad *peer, gpointer data)
{
  GstAsspSimulcastBin *self = data;

  g_rec_mutex_lock (&self->figures);
  for (guint i = 0; i < self->n_streams; i++)
    if (self->entries.request[i] == pad)
      gst_mcc_send_stream_look_upstream (self->stream[i].send, FALSE);
  g_rec_mutex_unlock (&self->figures);
}

static GstPad *
gst_assp_simulcast_bin_request_new_pad (
    GstElement *element, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (element);
  GstPad *pad = gst_mcc_entries_request (&self->entries, template, name);

  if (pad)
    g_signal_connect (pad, "linked", G_CALLBACK (on_linked), self);
  return pad;
}

static void
gst_assp_simulcast_bin_release_pad (GstElement *element, GstPad *pad)
{
  gst_mcc_entries_release (&GST_ASSP_SIMULCAST_BIN (element)->entries, pad);
}

/* ---- building: NULL->READY ---- */

/* clocksync ! tee, in front of all branches: a file is held to its time before it is encoded. */
static gboolean
build_raw (GstAsspSimulcastBin *self, gboolean sync)
{
  if (!gst_mcc_entries_build (&self->entries, 0, FALSE, sync)
      || !(self->tee = gst_mcc_sender_make (GST_MCC_SENDER (self), "tee")))
    return FALSE;
  g_object_set (self->tee, "allow-not-linked", TRUE, NULL);
  return gst_element_link (self->entries.clocksync[0], self->tee);
}

static gboolean
build_branch (GstAsspSimulcastBin *self, guint i, gboolean sync, guint32 time_base)
{
  GstMccSender *sender = GST_MCC_SENDER (self);
  GstAsspStream *stream = &self->stream[i];
  GstAsspBranchSettings settings = { .low_bps = self->bounds.stream[i].low_bps,
    .high_bps = self->bounds.stream[i].high_bps,
    .timestamp_offset = time_base,
    .ssrc = gst_mcc_session_get_ssrc (sender->session, i),
    .leaky = sync };
  gchar *description;

  GST_OBJECT_LOCK (self);
  settings.configure = sender->settings.configure_encoder;
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
  return gst_mcc_entries_build (&self->entries, i, TRUE, sync)
         && gst_element_link (
             self->entries.clocksync[i], gst_mcc_send_stream_get_pacer (self->stream[i].send));
}

static gboolean
build_stream (GstAsspSimulcastBin *self, guint i, const GstMccSenderSettings *settings,
    gboolean request, guint32 time_base)
{
  GstAsspStream *stream = &self->stream[i];
  GstPad *entry;
  gboolean good;

  *stream = (GstAsspStream){ .send = gst_mcc_send_stream_new (GST_BIN (self), i,
                                 &gst_assp_simulcast_bin_stream_handler,
                                 gst_mcc_sender_encoder_changed) };
  gst_mcc_send_stream_set_time_base (stream->send, time_base);
  gst_mcc_send_stream_configure (stream->send, settings);
  good = gst_mcc_send_stream_link (stream->send, GST_MCC_SENDER (self)->session)
         && (request ? build_request (self, i, settings->sync)
                     : build_branch (self, i, settings->sync, time_base));
  entry = gst_element_get_static_pad (request && self->entries.clocksync[i]
                                          ? self->entries.clocksync[i]
                                          : gst_mcc_send_stream_get_pacer (stream->send),
      "sink");
  gst_mcc_send_stream_set_entry (stream->send, entry);
  gst_object_unref (entry);
  return good;
}

static gboolean
open_session (GstAsspSimulcastBin *self)
{
  MccPlace places[GST_MCC_STREAMS_MAX];

  for (guint i = 0; i < self->bounds.count; i++)
    places[i] = gst_assp_streams_place (&self->bounds, i);
  return gst_mcc_sender_open_session (GST_MCC_SENDER (self), places, self->bounds.count,
      self->bounds.stream[self->bounds.count - 1].high_bps);
}

static gboolean
build (GstAsspSimulcastBin *self)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&GST_MCC_SENDER (self)->settings, GST_ELEMENT (self));
  guint pads = gst_mcc_entries_count (&self->entries);
  guint32 time_base = g_random_int ();

  if (!gst_mcc_entries_check (&self->entries, pads)
      || !gst_assp_simulcast_bin_get_bounds (self, pads, &self->bounds) || !open_session (self)
      || (pads == 0 && !build_raw (self, settings.sync)))
    return FALSE;
  for (guint i = 0; i < self->bounds.count; i++) {
    self->n_built = i + 1;
    if (!build_stream (self, i, &settings, pads > 0, time_base))
      return FALSE;
  }
  return TRUE;
}

static void
clear_stream (GstAsspSimulcastBin *self, guint i)
{
  GstAsspStream *stream = &self->stream[i];

  gst_mcc_send_stream_unlink (stream->send);
  g_clear_pointer (&stream->branch, gst_assp_branch_free);
  if (self->entries.of_pads)
    gst_mcc_entries_clear (&self->entries, i);
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
gst_assp_simulcast_bin_release (GstMccSender *sender)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);

  publish (self, 0);
  for (guint i = 0; i < self->n_built; i++)
    clear_stream (self, i);
  self->n_built = 0;
  gst_ghost_pad_set_target (GST_GHOST_PAD (self->entries.sink), NULL);
  gst_mcc_sender_unmake (sender, &self->tee);
  gst_mcc_entries_clear (&self->entries, 0);
  gst_mcc_session_close (sender->session);
}

static gboolean
gst_assp_simulcast_bin_prepare (GstMccSender *sender)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);

  if (!build (self))
    return FALSE;
  publish (self, self->n_built);
  /* what was set meanwhile */
  gst_assp_simulcast_bin_apply (sender, GST_MCC_SENDER_PROPERTY_SYNC);
  gst_assp_simulcast_bin_apply (sender, GST_MCC_SENDER_PROPERTY_PACING_FACTOR);
  if (!gst_assp_simulcast_bin_update_encoders (self))
    return FALSE;
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
    stream->gate_running = stream->gate_open = TRUE;
    stream->target_bps = self->bounds.stream[i].low_bps;
    stream->rtcp_bps = 0;
    stream->failed = FALSE;
    mcc_assp_sender_set_running (GST_MCC_SENDER (self)->core, i, true, now);
  }
}

/* READY->PAUSED, before the data flows */
static gboolean
gst_assp_simulcast_bin_start (GstMccSender *sender)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));
  MccAsspSenderConfig config = { .streams = self->bounds,
    .max_streams = self->live ? self->bounds.count : 0,
    .wants_block = true,
    .max_receivers = settings.max_receivers,
    .ecn = settings.ecn,
    .seed = gst_mcc_properties_get_seed (&sender->network) };
  MccTime idle_after, now;
  gboolean good;

  if (!gst_assp_simulcast_bin_check_settings (self))
    return FALSE;
  g_mutex_lock (&sender->network.lock);
  config.variant = sender->network.variant;
  config.session_bandwidth_bps = sender->network.opened.session_bandwidth;
  config.ttl = (uint8_t)sender->network.opened.ttl_mc;
  g_mutex_unlock (&sender->network.lock);
  gst_mcc_session_get_feedback (sender->session, &config.feedback);
  config.srtcp_bytes = gst_mcc_session_get_srtcp_bytes (sender->session);
  GST_OBJECT_LOCK (self);
  idle_after = self->settings.idle_timeout_ms ? self->settings.idle_timeout_ms * MCC_MSECOND
                                              : MCC_TIME_NONE;
  GST_OBJECT_UNLOCK (self);

  for (guint i = 0; i < self->n_streams; i++) {
    gst_mcc_send_stream_set_pacing (self->stream[i].send, &mcc_pacing_default);
    gst_mcc_send_stream_start (self->stream[i].send, self->bounds.stream[i].low_bps);
    if (!self->stream[i].branch)
      continue;
    gst_assp_branch_set_bounds (self->stream[i].branch, self->bounds.stream[i].low_bps,
        self->bounds.stream[i].high_bps, FALSE);
    gst_assp_branch_start (self->stream[i].branch, gst_mcc_session_get_ssrc (sender->session, i));
  }
  g_mutex_lock (&sender->lock);
  now = gst_mcc_pump_now (sender->pump);
  self->idle_after = idle_after;
  sender->core = mcc_assp_sender_new (&config, now);
  good = sender->core != NULL;
  if (good)
    reset_streams_locked (self, now);
  g_mutex_unlock (&sender->lock);
  if (!good) /* the bounds are valid */
    gst_mcc_sender_tell_no_memory (sender);
  return good;
}

/* Pads that were released in READY: their streams end as the data begins. */
static void
gst_assp_simulcast_bin_started (GstMccSender *sender)
{
  gst_mcc_entries_end_released (&GST_ASSP_SIMULCAST_BIN (sender)->entries);
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
  if (survive (GST_ASSP_SIMULCAST_BIN (bin), message))
    gst_message_unref (message);
  else
    GST_BIN_CLASS (gst_assp_simulcast_bin_parent_class)->handle_message (bin, message);
}

/* ---- life ---- */

static void
gst_assp_simulcast_bin_finalize (GObject *object)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (object);

  gst_assp_simulcast_bin_clear_settings (self);
  g_rec_mutex_clear (&self->figures);
  G_OBJECT_CLASS (gst_assp_simulcast_bin_parent_class)->finalize (object);
}

static void
gst_assp_simulcast_bin_class_init (GstAsspSimulcastBinClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstMccSenderClass *sender_class = GST_MCC_SENDER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_assp_simulcast_bin_debug, "asspsimulcastbin", 0, "adaptive simulcast sender");
  G_OBJECT_CLASS (klass)->finalize = gst_assp_simulcast_bin_finalize;
  element_class->request_new_pad = gst_assp_simulcast_bin_request_new_pad;
  element_class->release_pad = gst_assp_simulcast_bin_release_pad;
  GST_BIN_CLASS (klass)->handle_message = gst_assp_simulcast_bin_handle_message;
  sender_class->scheme = GST_ASSP_SCHEME;
  sender_class->element_name = "asspsimulcastbin";
  sender_class->machine = &gst_assp_simulcast_bin_machine;
  sender_class->handler = &gst_assp_simulcast_bin_session_handler;
  sender_class->prepare = gst_assp_simulcast_bin_prepare;
  sender_class->release = gst_assp_simulcast_bin_release;
  sender_class->start = gst_assp_simulcast_bin_start;
  sender_class->started = gst_assp_simulcast_bin_started;
  sender_class->poll_locked = gst_assp_simulcast_bin_poll_locked;
  sender_class->act = gst_assp_simulcast_bin_act;
  sender_class->tick = gst_assp_simulcast_bin_tick;
  sender_class->apply = gst_assp_simulcast_bin_apply;
  sender_class->request_key_units = gst_assp_simulcast_bin_request_key_units;
  sender_class->get_target = gst_assp_simulcast_bin_get_target;
  sender_class->get_stats = gst_assp_simulcast_bin_get_stats;

  gst_assp_simulcast_bin_install_properties (sender_class);
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
  gst_mcc_sender_setup (GST_MCC_SENDER (self));
  g_rec_mutex_init (&self->figures);
  gst_assp_simulcast_bin_init_settings (self);
  gst_mcc_entries_init (
      &self->entries, GST_MCC_SENDER (self), &words, GST_MCC_STREAMS_MAX, &sink_template);
}
