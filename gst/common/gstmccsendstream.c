/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsendstream.h"

#include <gst/video/video.h>

#include "gstmccabssendtime.h"
#include "gstmccsdp.h"

GST_DEBUG_CATEGORY_STATIC (gst_mcc_send_stream_debug);
#define GST_CAT_DEFAULT gst_mcc_send_stream_debug

/* The encoder's output is corrected that often; a new target reaches it at once. */
#define ASK_INTERVAL (50 * MCC_MSECOND)
/* RTP that fits tunnels and VPNs; only where the user left the payloader's default. */
#define PAYLOADER_MTU "1200"
/* Unsteered input above the target that long is worth a warning. */
#define ABOVE_TIME (5 * MCC_SECOND)
#define ABOVE_FACTOR 1.1

/* Warnings that were posted. */
#define WARNED_ABOVE (1u << 0)
#define WARNED_SDP (1u << 1)

struct _GstMccSendStream {
  gint refs;     /* a thread that writes a file has one */
  GstBin *owner; /* outlives us */
  guint number;
  GstMccSendStreamHandler handler;
  GstMccPacer *pacer;
  GstMccEncoder *encoder;
  GstPad *entry;
  gboolean configure_payloader;
  gboolean has_time_base;
  guint32 time_base;

  /* Guards what follows. A leaf. */
  GMutex lock;
  guint64 target_bps;
  guint warned;
  MccTime above_since; /* MCC_TIME_NONE = it is not */
  MccTime next_ask;    /* when the target stays */
  guint sdp_jobs;      /* that began */

  GMutex sdp_lock;   /* held while a file is written; guards what follows */
  guint sdp_written; /* the newest job */
};

static gboolean
warn_once (GstMccSendStream *self, guint bit)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = !(self->warned & bit);
  self->warned |= bit;
  g_mutex_unlock (&self->lock);
  return first;
}

/* ---- the pacer's words go on with the stream's number ---- */

static void
on_sent (gpointer data, guint packets, guint64 bytes, guint32 highest_seq)
{
  GstMccSendStream *self = data;

  self->handler.sent (self->owner, self->number, packets, bytes, highest_seq);
}

/* What is missing from the time base of @caps to ours. */
static guint32
time_shift (const GstMccSendStream *self, GstCaps *caps)
{
  guint offset;

  if (!self->has_time_base
      || !gst_structure_get_uint (gst_caps_get_structure (caps, 0), "timestamp-offset", &offset))
    return 0;
  return self->time_base - offset;
}

static void
on_caps (gpointer data, GstCaps *caps, guint8 send_time_id)
{
  GstMccSendStream *self = data;

  gst_mcc_pacer_set_time_shift (self->pacer, time_shift (self, caps));
  self->handler.caps (self->owner, self->number, caps);
}

static void
on_eos (gpointer data)
{
  GstMccSendStream *self = data;

  self->handler.eos (self->owner, self->number);
}

static void
on_again (gpointer data)
{
  GstMccSendStream *self = data;

  self->handler.again (self->owner, self->number);
}

static void
on_key_unit (gpointer data)
{
  GstMccSendStream *self = data;

  self->handler.key_unit (self->owner, self->number);
}

static guint
on_lane (gpointer data, guint32 ssrc)
{
  GstMccSendStream *self = data;

  return self->handler.lane ? self->handler.lane (self->owner, ssrc) : 0;
}

static const GstMccPacerHandler pacer_handler = { .sent = on_sent,
  .caps = on_caps,
  .eos = on_eos,
  .again = on_again,
  .key_unit = on_key_unit,
  .lane = on_lane };

/* ---- life ---- */

GstMccSendStream *
gst_mcc_send_stream_new (GstBin *owner, guint number, const GstMccSendStreamHandler *handler,
    GstMccEncoderChanged changed)
{
  static gsize once = 0;
  GstMccSendStream *self = g_new0 (GstMccSendStream, 1);

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (gst_mcc_send_stream_debug, "mccsendstream", 0, "a sender's stream");
    g_once_init_leave (&once, 1);
  }
  self->refs = 1;
  self->owner = owner;
  self->number = number;
  self->handler = *handler;
  self->configure_payloader = TRUE;
  g_mutex_init (&self->lock);
  g_mutex_init (&self->sdp_lock);
  self->pacer = GST_MCC_PACER (gst_object_ref (gst_mcc_pacer_new (&pacer_handler, self)));
  gst_bin_add (owner, GST_ELEMENT (self->pacer));
  self->encoder = gst_mcc_encoder_new (GST_ELEMENT (owner), changed);
  return self;
}

static void
stream_unref (gpointer data)
{
  GstMccSendStream *self = data;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  gst_clear_object (&self->pacer);
  gst_clear_object (&self->entry);
  g_mutex_clear (&self->lock);
  g_mutex_clear (&self->sdp_lock);
  g_free (self);
}

void
gst_mcc_send_stream_free (GstMccSendStream *self)
{
  if (!self)
    return;
  g_clear_pointer (&self->encoder, gst_mcc_encoder_free);
  stream_unref (self);
}

void
gst_mcc_send_stream_remove (GstMccSendStream *self)
{
  gst_element_set_state (GST_ELEMENT (self->pacer), GST_STATE_NULL);
  gst_bin_remove (self->owner, GST_ELEMENT (self->pacer));
}

GstElement *
gst_mcc_send_stream_get_pacer (GstMccSendStream *self)
{
  return GST_ELEMENT (self->pacer);
}

void
gst_mcc_send_stream_set_entry (GstMccSendStream *self, GstPad *pad)
{
  gst_object_replace ((GstObject **)&self->entry, GST_OBJECT (pad));
}

GstMccEncoder *
gst_mcc_send_stream_get_encoder (GstMccSendStream *self)
{
  return self->encoder;
}

gboolean
gst_mcc_send_stream_link (GstMccSendStream *self, GstMccSession *session)
{
  GstPad *src = gst_element_get_static_pad (GST_ELEMENT (self->pacer), "src");
  GstPad *sink = gst_mcc_session_get_rtp_pad (session, self->number);
  gboolean ok = gst_pad_link (src, sink) == GST_PAD_LINK_OK;

  gst_object_unref (src);
  gst_object_unref (sink);
  if (!ok)
    GST_ELEMENT_ERROR (self->owner, CORE, PAD, (NULL), ("the pacer cannot be linked to rtpbin"));
  else
    gst_mcc_pacer_set_overhead (self->pacer, gst_mcc_session_get_overhead (session));
  return ok;
}

void
gst_mcc_send_stream_unlink (GstMccSendStream *self)
{
  GstPad *src = gst_element_get_static_pad (GST_ELEMENT (self->pacer), "src");
  GstPad *peer = gst_pad_get_peer (src);

  if (peer) {
    gst_pad_unlink (src, peer);
    gst_object_unref (peer);
  }
  gst_object_unref (src);
  gst_mcc_encoder_reset (self->encoder);
}

void
gst_mcc_send_stream_configure (GstMccSendStream *self, const GstMccSenderSettings *settings)
{
  gst_mcc_pacer_set_config (
      self->pacer, settings->pacing_factor, settings->pacing_max_delay_ms * MCC_MSECOND);
}

void
gst_mcc_send_stream_set_pacing (GstMccSendStream *self, const MccPacing *pacing)
{
  gst_mcc_pacer_set_pacing (self->pacer, pacing);
}

/* ---- upstream ---- */

gboolean
gst_mcc_send_stream_set_encoder (GstMccSendStream *self, const GstMccEncoderSettings *settings)
{
  self->configure_payloader = settings->configure;
  return gst_mcc_encoder_set_settings (self->encoder, settings);
}

/* Sets @property of @element where the user left it at its default. */
static void
configure (GstElement *element, const gchar *property, const gchar *value)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);
  GValue now = G_VALUE_INIT;

  if (!pspec)
    return;
  g_object_get_property (G_OBJECT (element), property, &now);
  if (g_param_value_defaults (pspec, &now))
    gst_util_set_object_arg (G_OBJECT (element), property, value);
  g_value_unset (&now);
}

/* Late joiners need the headers: with each key unit, or each second where that cannot be asked for
 * (rtptheorapay). */
static void
configure_headers (GstElement *payloader)
{
  GParamSpec *pspec
      = g_object_class_find_property (G_OBJECT_GET_CLASS (payloader), "config-interval");

  if (pspec)
    configure (payloader, "config-interval", pspec->value_type == G_TYPE_INT ? "-1" : "1");
}

static void
configure_packets (GstElement *payloader)
{
  configure_headers (payloader);
  configure (payloader, "mtu", PAYLOADER_MTU);
}

void
gst_mcc_send_stream_configure_entry (GstMccSendStream *self, GstPad *entry)
{
  GstElement *payloader = self->configure_payloader ? gst_mcc_payloader_search (entry) : NULL;

  if (!payloader)
    return;
  configure_packets (payloader);
  gst_object_unref (payloader);
}

static void
configure_payloader (GstMccSendStream *self)
{
  GstElement *payloader = gst_mcc_payloader_search (self->entry);

  if (!payloader)
    return;
  if (self->has_time_base) {
    gchar *base = g_strdup_printf ("%u", self->time_base);

    configure (payloader, "timestamp-offset", base);
    g_free (base);
  }
  if (!gst_mcc_abs_send_time_reserve (payloader))
    GST_INFO_OBJECT (
        self->owner, "%" GST_PTR_FORMAT " reserves no bytes; the pacer adds them", payloader);
  if (self->configure_payloader)
    configure_packets (payloader);
  gst_object_unref (payloader);
}

void
gst_mcc_send_stream_set_time_base (GstMccSendStream *self, guint32 offset)
{
  self->has_time_base = TRUE;
  self->time_base = offset;
}

void
gst_mcc_send_stream_look_upstream (GstMccSendStream *self, gboolean expected)
{
  gst_mcc_encoder_find (self->encoder, self->entry, expected);
  if (!expected) /* its caps are out, they name what it reserves */
    configure_payloader (self);
}

void
gst_mcc_send_stream_request_key_unit (GstMccSendStream *self)
{
  GST_DEBUG_OBJECT (self->owner, "asks for a key unit of stream %u", self->number);
  gst_pad_push_event (
      self->entry, gst_video_event_new_upstream_force_key_unit (GST_CLOCK_TIME_NONE, TRUE, 0));
}

/* ---- the rate ---- */

static void
ask_encoder (GstMccSendStream *self)
{
  guint64 target, ask;

  g_mutex_lock (&self->lock);
  target = self->target_bps;
  g_mutex_unlock (&self->lock);
  if (target > 0 && gst_mcc_pacer_ask (self->pacer, target, &ask))
    gst_mcc_encoder_set_bitrate (self->encoder, ask);
}

void
gst_mcc_send_stream_start (GstMccSendStream *self, guint64 target_bps)
{
  g_mutex_lock (&self->lock);
  self->target_bps = target_bps;
  self->warned = 0;
  self->above_since = MCC_TIME_NONE;
  self->next_ask = 0;
  g_mutex_unlock (&self->lock);
  gst_mcc_pacer_set_target (self->pacer, target_bps);
}

void
gst_mcc_send_stream_set_target (GstMccSendStream *self, guint64 target_bps)
{
  g_mutex_lock (&self->lock);
  self->target_bps = target_bps;
  g_mutex_unlock (&self->lock);
  gst_mcc_pacer_set_target (self->pacer, target_bps);
  ask_encoder (self);
}

void
gst_mcc_send_stream_refresh (GstMccSendStream *self, MccTime now)
{
  gboolean ask;

  g_mutex_lock (&self->lock);
  ask = now >= self->next_ask;
  if (ask)
    self->next_ask = now + ASK_INTERVAL;
  g_mutex_unlock (&self->lock);
  if (ask)
    ask_encoder (self);
}

void
gst_mcc_send_stream_check_above (GstMccSendStream *self, guint64 sent_bps, MccTime now)
{
  gboolean above = gst_mcc_encoder_get_status (self->encoder) != GST_MCC_ENCODER_FOUND, tell;
  guint64 target;

  g_mutex_lock (&self->lock);
  target = self->target_bps;
  above = above && (gdouble)sent_bps > ABOVE_FACTOR * (gdouble)target;
  if (!above)
    self->above_since = MCC_TIME_NONE;
  else if (self->above_since == MCC_TIME_NONE)
    self->above_since = now;
  tell = above && now - self->above_since >= ABOVE_TIME;
  g_mutex_unlock (&self->lock);
  if (tell && warn_once (self, WARNED_ABOVE))
    GST_ELEMENT_WARNING (self->owner, STREAM, ENCODE,
        ("The input has %" G_GUINT64_FORMAT " bit/s where the network allows %" G_GUINT64_FORMAT
         ", and no encoder is there to change it. Encode with less.",
            sent_bps, target),
        (NULL));
}

void
gst_mcc_send_stream_set_stopped (GstMccSendStream *self, gboolean stopped)
{
  gst_mcc_pacer_set_stopped (self->pacer, stopped);
}

/* ---- the session description ---- */

typedef struct {
  GstMccSendStream *stream;
  guint number; /* from 1 */
  gchar *location;
  GstMccSessionSettings network;
  guint64 max_bps;
  GstCaps *caps;
} SdpJob;

static void
sdp_job_free (gpointer data)
{
  SdpJob *job = data;

  g_free (job->location);
  gst_mcc_properties_settings_clear (&job->network);
  gst_caps_unref (job->caps);
  stream_unref (job->stream);
  g_free (job);
}

static void
write_newest (GstElement *element, SdpJob *job, GError **error)
{
  gchar *text
      = gst_mcc_sdp_to_text (&job->network, job->caps, job->max_bps, "adaptive multicast", error);

  if (text && g_file_set_contents (job->location, text, -1, error))
    GST_INFO_OBJECT (element, "wrote %s", job->location);
  g_free (text);
}

/* Several may be about it at once: the newest caps stay, whichever of them ends last. */
static void
write_sdp (GstElement *element, gpointer data)
{
  SdpJob *job = data;
  GstMccSendStream *self = job->stream;
  GError *error = NULL;

  g_mutex_lock (&self->sdp_lock);
  if (job->number > self->sdp_written) {
    self->sdp_written = job->number;
    write_newest (element, job, &error);
  }
  g_mutex_unlock (&self->sdp_lock);
  if (error && warn_once (self, WARNED_SDP))
    GST_ELEMENT_WARNING (element, RESOURCE, WRITE,
        ("sdp-location: %s; name a file that can be written.", error->message), (NULL));
  g_clear_error (&error);
}

void
gst_mcc_send_stream_write_sdp (GstMccSendStream *self, const gchar *location,
    GstMccSessionSettings *network, guint64 max_bps, GstCaps *caps)
{
  SdpJob *job = g_new0 (SdpJob, 1);

  g_atomic_int_inc (&self->refs);
  job->stream = self;
  g_mutex_lock (&self->lock);
  job->number = ++self->sdp_jobs;
  g_mutex_unlock (&self->lock);
  job->location = g_strdup (location);
  job->network = *network;
  memset (network, 0, sizeof *network);
  job->max_bps = max_bps;
  job->caps = gst_caps_ref (caps);
  gst_element_call_async (GST_ELEMENT (self->owner), write_sdp, job, sdp_job_free);
}

void
gst_mcc_send_stream_get_extra (GstMccSendStream *self, GstMccSenderExtra *out)
{
  out->applied_bps = gst_mcc_encoder_get_applied (self->encoder);
  gst_mcc_pacer_get_stats (
      self->pacer, &out->pacer_delay, &out->pacer_overruns, &out->pacer_behind);
}
