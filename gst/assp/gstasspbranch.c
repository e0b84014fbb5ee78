/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstasspbranch.h"

#include <gst/video/video.h>
#include <math.h>

#include "gstmccencoder.h"
#include "gstmccstats.h"

GST_DEBUG_CATEGORY_STATIC (gst_assp_branch_debug);
#define GST_CAT_DEFAULT gst_assp_branch_debug

/* What an encoder may lag behind, in frames. */
#define QUEUE_FRAMES 3

struct _GstAsspBranch {
  GstBin *owner; /* no ref */
  guint number;
  GstElement *bin; /* of all below */
  GstElement *queue, *filter;
  GstElement *payloader; /* ref; NULL: none that takes an SSRC */
  GstPad *gate;          /* the queue's sink pad */
  GstPad *tee;           /* the tee's pad that feeds it */
  GstPad *pacer;         /* the sink pad behind */
  gulong probe;
  GstPadChainFunction chain; /* the queue's own */
  GstCaps *formats;          /* what the encoder shall get, but for the size */

  /* Guards what follows. A leaf. */
  GMutex lock;
  gboolean running, failed;
  guint64 low_bps, high_bps;
  gboolean renew; /* the bounds have changed: choose again */
  GstVideoInfo input;
  gboolean has_input;
  MccPicture picture;
  guint frame; /* since one was kept */
  guint64 dropped;
};

/* ---- the gate: the tee's thread ---- */

/* The caps filter behind the scaler for @picture. */
static void
set_size (GstAsspBranch *self, const GstVideoInfo *input, const MccPicture *picture)
{
  GstCaps *caps = gst_caps_copy (self->formats);

  if ((gint)picture->width != GST_VIDEO_INFO_WIDTH (input)
      || (gint)picture->height != GST_VIDEO_INFO_HEIGHT (input))
    gst_caps_set_simple (caps, "width", G_TYPE_INT, (gint)picture->width, "height", G_TYPE_INT,
        (gint)picture->height, "pixel-aspect-ratio", GST_TYPE_FRACTION,
        GST_VIDEO_INFO_PAR_N (input), GST_VIDEO_INFO_PAR_D (input), NULL);
  g_object_set (self->filter, "caps", caps, NULL);
  gst_caps_unref (caps);
}

static void
choose (GstAsspBranch *self)
{
  GstVideoInfo input;
  MccPicture picture;

  g_mutex_lock (&self->lock);
  input = self->input;
  self->renew = FALSE;
  picture = mcc_picture_choose ((guint32)GST_VIDEO_INFO_WIDTH (&input),
      (guint32)GST_VIDEO_INFO_HEIGHT (&input), (guint32)GST_VIDEO_INFO_FPS_N (&input),
      (guint32)GST_VIDEO_INFO_FPS_D (&input), self->low_bps, self->high_bps);
  self->picture = picture;
  self->frame = 0;
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (self->owner, "stream %u: %u x %u, one frame of %u", self->number, picture.width,
      picture.height, picture.every);
  set_size (self, &input, &picture);
}

/* The frames that are left out are missing in the rate that the encoder is told. */
static GstEvent *
new_caps (GstAsspBranch *self, GstEvent *event)
{
  GstVideoInfo input;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (!gst_video_info_from_caps (&input, caps))
    return event;
  g_mutex_lock (&self->lock);
  self->input = input;
  self->has_input = TRUE;
  g_mutex_unlock (&self->lock);
  choose (self);
  if (self->picture.every > 1 && GST_VIDEO_INFO_FPS_N (&input) > 0) {
    gint n = GST_VIDEO_INFO_FPS_N (&input), d = GST_VIDEO_INFO_FPS_D (&input);

    caps = gst_caps_copy (caps);
    if (gst_util_fraction_multiply (n, d, 1, (gint)self->picture.every, &n, &d))
      gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, n, d, NULL);
    gst_event_unref (event);
    event = gst_event_new_caps (caps);
    gst_caps_unref (caps);
  }
  return event;
}

static gboolean
has_failed (GstAsspBranch *self)
{
  gboolean failed;

  g_mutex_lock (&self->lock);
  failed = self->failed;
  g_mutex_unlock (&self->lock);
  return failed;
}

static GstPadProbeReturn
on_event (GstAsspBranch *self, GstPadProbeInfo *info)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      info->data = new_caps (self, event);
      return GST_PAD_PROBE_OK;
    case GST_EVENT_RECONFIGURE:
      /* What we change behind the gate is no reason for the camera to change its picture. */
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_EOS:
      if (!has_failed (self))
        return GST_PAD_PROBE_OK;
      gst_pad_send_event (self->pacer, gst_event_new_eos ());
      return GST_PAD_PROBE_DROP;
    default:
      return GST_PAD_PROBE_OK;
  }
}

/* Where the input goes on with other caps than the first ones, the encoder is told anew. */
static void
push_caps_again (GstAsspBranch *self)
{
  GstEvent *event = gst_pad_get_sticky_event (self->tee, GST_EVENT_CAPS, 0);

  if (event)
    gst_pad_send_event (self->gate, event); /* by the probe, which chooses */
}

static GstPadProbeReturn
on_gate (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstAsspBranch *self = data;
  gboolean pass, renew;

  if (!(GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER))
    return on_event (self, info);
  g_mutex_lock (&self->lock);
  renew = self->renew && self->has_input;
  g_mutex_unlock (&self->lock);
  if (renew)
    push_caps_again (self);
  g_mutex_lock (&self->lock);
  pass = self->running && !self->failed && self->frame == 0;
  if (self->running)
    self->frame = (self->frame + 1) % MAX (self->picture.every, 1);
  g_mutex_unlock (&self->lock);
  return pass ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/* The tee gives up all streams for one's failure. That of an encoder that has posted nothing goes
 * the way of others' errors. */
static GstFlowReturn
gate_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstAsspBranch *self = pad->chaindata;
  GstFlowReturn ret = self->chain (pad, parent, buffer);

  if (ret >= GST_FLOW_EOS)
    return ret;
  if (!has_failed (self))
    GST_ELEMENT_FLOW_ERROR (self->queue, ret);
  return has_failed (self) ? GST_FLOW_OK : ret;
}

/* Once for each frame that the full queue lets go, or holds up where it does not leak. */
static void
on_overrun (GstElement *queue, gpointer data)
{
  GstAsspBranch *self = data;
  gint leaky;
  gboolean first;

  g_object_get (queue, "leaky", &leaky, NULL);
  if (!leaky)
    return;
  g_mutex_lock (&self->lock);
  first = self->dropped++ == 0;
  g_mutex_unlock (&self->lock);
  if (first)
    GST_WARNING_OBJECT (self->owner,
        "stream %u: the encoder is too slow for the machine: frames are dropped", self->number);
}

/* ---- making ---- */

static GstElement *
make (GstAsspBranch *self, const gchar *factory, const gchar *package)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  if (!element) {
    gst_mcc_messages_missing (GST_ELEMENT (self->owner), factory);
    GST_ELEMENT_ERROR (self->owner, CORE, MISSING_PLUGIN,
        ("The element %s is missing; install %s.", factory, package), (NULL));
    return NULL;
  }
  gst_bin_add (GST_BIN (self->bin), element);
  return element;
}

static void
fail_description (GstAsspBranch *self, const gchar *description, const gchar *why)
{
  GST_ELEMENT_ERROR (
      self->owner, LIBRARY, SETTINGS, ("encoder-description: '%s' %s", description, why), (NULL));
}

/* Elements that the description names and nobody has. */
static void
fail_parse (
    GstAsspBranch *self, const gchar *description, GstParseContext *context, const GError *error)
{
  gchar **missing = gst_parse_context_get_missing_elements (context);

  if (g_error_matches (error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT) && missing
      && missing[0]) {
    gst_mcc_messages_missing (GST_ELEMENT (self->owner), missing[0]);
    GST_ELEMENT_ERROR (self->owner, CORE, MISSING_PLUGIN,
        ("encoder-description: there is no element %s; install its plugin%s, or name another "
         "encoder.",
            missing[0],
            g_str_equal (missing[0], "x264enc") ? " (Debian: gstreamer1.0-plugins-ugly)" : ""),
        (NULL));
  } else {
    gchar *why
        = g_strdup_printf ("cannot be used (%s); give an encoder as gst-launch-1.0 takes it, "
                           "such as x264enc tune=zerolatency.",
            error ? error->message : "it is empty");

    fail_description (self, description, why);
    g_free (why);
  }
  g_strfreev (missing);
}

/* The encoder itself in @encoder, a bin; NULL: there is none. */
static GstElement *
find_encoder (GstElement *encoder)
{
  GstPad *src = gst_element_get_static_pad (encoder, "src");
  GstPad *probe = gst_pad_new ("probe", GST_PAD_SINK);
  GstElement *found = NULL;

  gst_object_ref_sink (probe);
  if (gst_pad_link_full (src, probe, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK) {
    found = gst_mcc_encoder_search (probe);
    gst_pad_unlink (src, probe);
  }
  gst_object_unref (probe);
  gst_object_unref (src);
  return found;
}

/* The encoder's bin, in ours; NULL: said why. */
static GstElement *
make_encoder (GstAsspBranch *self, const GstAsspBranchSettings *settings)
{
  const gchar *description = settings->description;
  GstParseContext *context = gst_parse_context_new ();
  GError *error = NULL;
  GstElement *encoder = gst_parse_bin_from_description_full (
      description, TRUE, context, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  GstElement *found = NULL;
  GstPad *sink = NULL, *src = NULL;

  if (!encoder || error) {
    fail_parse (self, description, context, error);
    if (encoder)
      gst_object_unref (gst_object_ref_sink (encoder));
    g_clear_error (&error);
    gst_parse_context_free (context);
    return NULL;
  }
  gst_parse_context_free (context);
  gst_bin_add (GST_BIN (self->bin), encoder);
  sink = gst_element_get_static_pad (encoder, "sink");
  src = gst_element_get_static_pad (encoder, "src");
  if (!sink || !src) {
    fail_description (self, description,
        "has not one way in and one way out; give an encoder, such as x264enc tune=zerolatency.");
    encoder = NULL;
  } else if (!(found = find_encoder (encoder))) {
    fail_description (
        self, description, "has no encoder in it; give one, such as x264enc tune=zerolatency.");
    encoder = NULL;
  } else if (settings->configure) { /* a stream's rate is about the geometric mean of its bounds */
    gst_mcc_encoder_fit_rate (
        found, (guint64)sqrt ((gdouble)settings->low_bps * (gdouble)settings->high_bps));
  }
  gst_clear_object (&found);
  gst_clear_object (&sink);
  gst_clear_object (&src);
  return encoder;
}

/* 4:2:0 where the encoder takes it: left to itself x264enc would get 4:4:4, which few can decode.
 */
static GstCaps *
formats_for (GstElement *encoder)
{
  static const gchar *const preferred[]
      = { "video/x-raw,format=I420", "video/x-raw,format=NV12", "video/x-raw" };
  GstPad *sink = gst_element_get_static_pad (encoder, "sink");
  GstCaps *can = gst_pad_query_caps (sink, NULL), *caps = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (preferred) && !caps; i++) {
    caps = gst_caps_from_string (preferred[i]);
    if (!gst_caps_can_intersect (can, caps))
      gst_clear_caps (&caps);
  }
  gst_caps_unref (can);
  gst_object_unref (sink);
  return caps;
}

/* The payloader for what @encoder gives; NULL in *out: it gives RTP. */
static gboolean
make_payloader (
    GstAsspBranch *self, GstElement *encoder, const gchar *description, GstElement **out)
{
  static const struct {
    const gchar *media, *payloader;
  } known[] = { { "video/x-h264", "rtph264pay" }, { "video/x-h265", "rtph265pay" },
    { "video/x-vp8", "rtpvp8pay" }, { "video/x-vp9", "rtpvp9pay" }, { "video/x-av1", "rtpav1pay" },
    { "image/jpeg", "rtpjpegpay" }, { "video/mpeg", "rtpmp4vpay" },
    { "video/x-theora", "rtptheorapay" } };
  GstPad *src = gst_element_get_static_pad (encoder, "src");
  GstCaps *caps = gst_pad_query_caps (src, NULL);
  const gchar *media = gst_caps_is_any (caps) || gst_caps_is_empty (caps)
                           ? ""
                           : gst_structure_get_name (gst_caps_get_structure (caps, 0));
  gboolean good = g_str_equal (media, "application/x-rtp");

  *out = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (known) && !good; i++)
    if (g_str_equal (media, known[i].media)) {
      *out = make (self, known[i].payloader,
          g_str_equal (media, "video/x-av1")
              ? "GStreamer's Rust plugins (gst-plugin-rtp)"
              : "GStreamer's good plugins (Debian: gstreamer1.0-plugins-good)");
      good = *out != NULL;
      if (!good)
        break;
    }
  if (!good && !*media)
    fail_description (self, description,
        "does not say what it gives; end it with ! capsfilter caps=video/x-h264 or the like.");
  else if (!good && !g_str_has_prefix (media, "video/x-av1")) {
    gchar *why = g_strdup_printf (
        "gives %s, for which no video payloader is known; put one behind it.", media);

    fail_description (self, description, why);
    g_free (why);
  }
  gst_caps_unref (caps);
  gst_object_unref (src);
  return good;
}

/* All streams have one time base; the announced SSRC is true from the start. */
static void
set_up_payloader (GstAsspBranch *self, GstElement *encoder, GstElement *payloader,
    const GstAsspBranchSettings *settings)
{
  GstElement *last = payloader ? gst_object_ref (payloader) : NULL;

  if (!last) {
    GstPad *src = gst_element_get_static_pad (encoder, "src");
    GstPad *target = gst_ghost_pad_get_target (GST_GHOST_PAD (src));

    last = gst_pad_get_parent_element (target);
    gst_object_unref (target);
    gst_object_unref (src);
  }
  if (last && g_object_class_find_property (G_OBJECT_GET_CLASS (last), "timestamp-offset")) {
    g_object_set (
        last, "timestamp-offset", settings->timestamp_offset, "ssrc", settings->ssrc, NULL);
    self->payloader = gst_object_ref (last);
  }
  gst_clear_object (&last);
}

static gboolean
add_ghost (GstAsspBranch *self, GstElement *child, const gchar *name)
{
  GstPad *pad = gst_element_get_static_pad (child, name);
  gboolean good = gst_element_add_pad (self->bin, gst_ghost_pad_new (name, pad));

  gst_object_unref (pad);
  return good;
}

#define CORE_PACKAGE "GStreamer's core plugins (Debian: libgstreamer1.0-0)"
#define BASE_PACKAGE "GStreamer's base plugins (Debian: gstreamer1.0-plugins-base)"

static gboolean
build (GstAsspBranch *self, const GstAsspBranchSettings *settings)
{
  GstElement *scale, *convert, *encoder, *payloader;

  if (!(self->queue = make (self, "queue", CORE_PACKAGE))
      || !(scale = make (self, "videoscale", BASE_PACKAGE))
      || !(convert = make (self, "videoconvert", BASE_PACKAGE))
      || !(self->filter = make (self, "capsfilter", CORE_PACKAGE))
      || !(encoder = make_encoder (self, settings))
      || !make_payloader (self, encoder, settings->description, &payloader))
    return FALSE;
  self->formats = formats_for (encoder);
  if (!self->formats) {
    fail_description (self, settings->description,
        "takes no raw video from memory; put what brings it there in front of the encoder.");
    return FALSE;
  }
  set_up_payloader (self, encoder, payloader, settings);
  g_object_set (self->queue, "max-size-buffers", QUEUE_FRAMES, "max-size-bytes", 0u,
      "max-size-time", (guint64)0, NULL);
  gst_assp_branch_set_leaky (self, settings->leaky);
  g_signal_connect (self->queue, "overrun", G_CALLBACK (on_overrun), self);
  g_object_set (scale, "add-borders", FALSE, NULL);
  g_object_set (self->filter, "caps", self->formats, NULL);
  if (!gst_element_link_many (self->queue, scale, convert, self->filter, encoder, NULL)
      || (payloader && !gst_element_link (encoder, payloader))
      || !add_ghost (self, self->queue, "sink")
      || !add_ghost (self, payloader ? payloader : encoder, "src")) {
    fail_description (self, settings->description,
        "cannot be linked between raw video and an RTP payloader; give an encoder, such as x264enc "
        "tune=zerolatency.");
    return FALSE;
  }
  self->gate = gst_element_get_static_pad (self->queue, "sink");
  self->probe = gst_pad_add_probe (self->gate,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
          | GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      on_gate, self, NULL);
  self->chain = GST_PAD_CHAINFUNC (self->gate);
  gst_pad_set_chain_function_full (self->gate, gate_chain, self, NULL);
  return TRUE;
}

GstAsspBranch *
gst_assp_branch_new (GstBin *owner, guint number, const GstAsspBranchSettings *settings)
{
  static gsize once = 0;
  GstAsspBranch *self = g_new0 (GstAsspBranch, 1);
  gchar *name = g_strdup_printf ("stream%u", number);

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (gst_assp_branch_debug, "asspbranch", 0, "a version of the video");
    g_once_init_leave (&once, 1);
  }
  self->owner = owner;
  self->number = number;
  self->running = TRUE;
  self->low_bps = settings->low_bps;
  self->high_bps = settings->high_bps;
  g_mutex_init (&self->lock);
  self->bin = gst_object_ref (gst_bin_new (name));
  g_free (name);
  gst_bin_add (owner, self->bin);
  if (!build (self, settings)) {
    gst_assp_branch_free (self);
    return NULL;
  }
  return self;
}

void
gst_assp_branch_free (GstAsspBranch *self)
{
  if (!self)
    return;
  gst_element_set_state (self->bin, GST_STATE_NULL);
  if (self->tee) {
    GstElement *tee = gst_pad_get_parent_element (self->tee);

    gst_element_release_request_pad (tee, self->tee);
    gst_object_unref (tee);
    gst_object_unref (self->tee);
  }
  if (self->gate)
    gst_pad_remove_probe (self->gate, self->probe);
  gst_clear_object (&self->gate);
  gst_clear_object (&self->pacer);
  gst_clear_object (&self->payloader);
  gst_clear_caps (&self->formats);
  gst_bin_remove (self->owner, self->bin);
  gst_object_unref (self->bin);
  g_mutex_clear (&self->lock);
  g_free (self);
}

gboolean
gst_assp_branch_link (GstAsspBranch *self, GstElement *tee, GstElement *pacer)
{
  GstPad *sink = gst_element_get_static_pad (self->bin, "sink");
  gboolean good;

  self->tee = gst_element_request_pad_simple (tee, "src_%u");
  self->pacer = gst_element_get_static_pad (pacer, "sink");
  good = gst_pad_link (self->tee, sink) == GST_PAD_LINK_OK && gst_element_link (self->bin, pacer);
  gst_object_unref (sink);
  if (!good)
    GST_ELEMENT_ERROR (self->owner, CORE, PAD, (NULL), ("a branch cannot be linked"));
  return good;
}

/* ---- what is told ---- */

void
gst_assp_branch_set_leaky (GstAsspBranch *self, gboolean leaky)
{
  gst_util_set_object_arg (G_OBJECT (self->queue), "leaky", leaky ? "downstream" : "no");
}

void
gst_assp_branch_start (GstAsspBranch *self, guint32 ssrc)
{
  if (self->payloader)
    g_object_set (self->payloader, "ssrc", ssrc, NULL);
  g_mutex_lock (&self->lock);
  self->running = TRUE;
  self->failed = FALSE;
  self->frame = 0;
  g_mutex_unlock (&self->lock);
}

void
gst_assp_branch_set_running (GstAsspBranch *self, gboolean running)
{
  g_mutex_lock (&self->lock);
  self->running = running;
  self->frame = 0;
  g_mutex_unlock (&self->lock);
}

void
gst_assp_branch_set_bounds (
    GstAsspBranch *self, guint64 low_bps, guint64 high_bps, gboolean watched)
{
  g_mutex_lock (&self->lock);
  if (!watched || mcc_picture_moves (self->low_bps, self->high_bps, low_bps, high_bps)) {
    self->renew = self->renew || self->low_bps != low_bps || self->high_bps != high_bps;
    self->low_bps = low_bps;
    self->high_bps = high_bps;
  }
  g_mutex_unlock (&self->lock);
}

gboolean
gst_assp_branch_owns (GstAsspBranch *self, GstObject *object)
{
  return gst_object_has_as_ancestor (object, GST_OBJECT (self->bin));
}

gboolean
gst_assp_branch_fail (GstAsspBranch *self)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = !self->failed;
  self->failed = TRUE;
  g_mutex_unlock (&self->lock);
  return first;
}

MccPicture
gst_assp_branch_get_picture (GstAsspBranch *self)
{
  MccPicture picture;

  g_mutex_lock (&self->lock);
  picture = self->picture;
  g_mutex_unlock (&self->lock);
  return picture;
}

guint64
gst_assp_branch_get_dropped (GstAsspBranch *self)
{
  guint64 dropped;

  g_mutex_lock (&self->lock);
  dropped = self->dropped;
  g_mutex_unlock (&self->lock);
  return dropped;
}
