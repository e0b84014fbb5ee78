/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccoutlet.h"

#include <gst/video/video-event.h>

typedef struct {
  GstMccOutlet *outlet;
  GstPad *pad;  /* ours, sink */
  GstPad *peer; /* rtpbin's */
  guint32 ssrc;
  guint64 serial;
} Stream;

struct _GstMccOutlet {
  GstMccOutletFuncs funcs;
  gpointer owner;
  gchar *stream_id;
  GstClockTime latency;
  guint group_id;
  GstPad *src;
  GstPad *exit; /* where buffers leave: .src or what ghosts it; no ref */

  /* rtpbin's pads have threads of their own, downstream sees one: who is .busy, over pushes as
   * with a pad's stream lock; what follows is his. Nothing that stops waits for him, nor who is
   * replaced meanwhile: rtpbin waits for him. */
  gboolean started, eos;
  gboolean segmented; /* since the start or the last flush */
  GstCaps *caps;

  /* Guards what follows. */
  GMutex lock;
  GCond free;
  gboolean busy;
  guint64 newest; /* serial of the newest stream that has delivered ... */
  guint64 active; /* ... and of the one that delivered last, and its SSRC; 0: none */
  guint32 active_ssrc;
  GList *streams;
  guint64 serial;
};

static void
stream_free (Stream *stream)
{
  gst_pad_set_active (stream->pad, FALSE);
  gst_pad_unlink (stream->peer, stream->pad);
  gst_object_unref (stream->peer);
  gst_object_unref (stream->pad);
  g_free (stream);
}

/* Whether @stream is the rest of a sender that another has replaced. One of the same sender with
 * another payload type is not: rtpbin keeps a pad for each, and one may come back. */
static gboolean
is_replaced_locked (GstMccOutlet *self, Stream *stream)
{
  return stream->serial < self->newest && stream->ssrc != self->active_ssrc;
}

/* @stream: NULL, or FALSE when it is replaced. */
static gboolean
enter (GstMccOutlet *self, Stream *stream)
{
  gboolean mine;

  g_mutex_lock (&self->lock);
  while (self->busy && !(stream && is_replaced_locked (self, stream)))
    g_cond_wait (&self->free, &self->lock);
  mine = !(stream && is_replaced_locked (self, stream));
  if (mine)
    self->busy = TRUE;
  g_mutex_unlock (&self->lock);
  return mine;
}

static void
leave (GstMccOutlet *self)
{
  g_mutex_lock (&self->lock);
  self->busy = FALSE;
  g_cond_broadcast (&self->free);
  g_mutex_unlock (&self->lock);
}

/* By who is busy. TRUE: another stream delivered before. */
static gboolean
take_over (GstMccOutlet *self, Stream *stream)
{
  gboolean other;

  g_mutex_lock (&self->lock);
  other = stream->serial != self->active;
  self->newest = MAX (self->newest, stream->serial);
  self->active = stream->serial;
  self->active_ssrc = stream->ssrc;
  if (other)
    g_cond_broadcast (&self->free);
  g_mutex_unlock (&self->lock);
  return other;
}

/* Sends what must precede buffers. By who is busy. */
static void
push_start (GstMccOutlet *self, Stream *stream)
{
  GstCaps *caps = gst_pad_get_current_caps (stream->pad), *plain;
  GstSegment segment;

  if (!self->started) {
    GstEvent *event = gst_event_new_stream_start (self->stream_id);

    gst_event_set_group_id (event, self->group_id);
    gst_pad_push_event (self->src, event);
  }
  if (caps) {
    plain = gst_caps_make_writable (caps);
    /* what belongs to one sender's run is not the stream's */
    gst_structure_remove_fields (gst_caps_get_structure (plain, 0), "ssrc", "seqnum-base",
        "clock-base", "timestamp-offset", "seqnum-offset", NULL);
    if (!self->caps || !gst_caps_is_equal (self->caps, plain)) {
      gst_caps_replace (&self->caps, plain);
      gst_pad_push_event (self->src, gst_event_new_caps (plain));
    }
    gst_caps_unref (plain);
  }
  if (!self->segmented) {
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (self->src, gst_event_new_segment (&segment));
  }
  self->started = self->segmented = TRUE;
}

static GstFlowReturn
outlet_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Stream *stream = gst_pad_get_element_private (pad);
  GstMccOutlet *self = stream->outlet;
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *before = NULL;
  gboolean took_over = FALSE;

  if (!enter (self, stream)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (self->eos) {
    flow = GST_FLOW_EOS;
  } else {
    took_over = take_over (self, stream);
    if (took_over || !self->segmented)
      push_start (self, stream);
    if (self->funcs.leaving)
      buffer = self->funcs.leaving (self->owner, buffer, &before);
    if (before)
      flow = gst_pad_push (self->exit, before);
    if (flow == GST_FLOW_OK) {
      flow = gst_pad_push (self->exit, buffer);
      buffer = NULL;
    }
  }
  leave (self);
  if (buffer)
    gst_buffer_unref (buffer);
  if (took_over && self->funcs.took_over)
    self->funcs.took_over (self->owner, stream->ssrc);
  return flow;
}

static gboolean
outlet_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Stream *stream = gst_pad_get_element_private (pad);
  GstMccOutlet *self = stream->outlet;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS && enter (self, stream)) {
    if (stream->serial == self->active && self->started && !self->eos) {
      gst_pad_store_sticky_event (pad, event);
      push_start (self, stream);
    }
    leave (self);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM
             && gst_event_has_name (event, "GstRTPPacketLost") && enter (self, stream)) {
    if (self->funcs.lost) /* of one that is replaced nobody misses it any more */
      self->funcs.lost (self->owner, 1);
    leave (self);
  }
  gst_event_unref (event);
  return TRUE;
}

static gboolean
src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstMccOutlet *self = gst_pad_get_element_private (pad);
  gboolean handled = FALSE;

  if (gst_video_event_is_force_key_unit (event)) {
    if (self->funcs.key_unit_wanted)
      self->funcs.key_unit_wanted (self->owner);
    handled = TRUE;
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY || GST_EVENT_TYPE (event) == GST_EVENT_QOS
             || GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE) {
    handled = TRUE;
  }
  gst_event_unref (event);
  return handled;
}

static gboolean
src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstMccOutlet *self = gst_pad_get_element_private (pad);
  GstFormat format;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_LATENCY:
      gst_query_set_latency (query, TRUE, self->latency, GST_CLOCK_TIME_NONE);
      return TRUE;
    case GST_QUERY_SEEKING: /* a live stream has no other place */
      gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
      gst_query_set_seeking (query, format, FALSE, 0, -1);
      return TRUE;
    case GST_QUERY_SCHEDULING:
      gst_query_set_scheduling (query, 0, 1, -1, 0);
      gst_query_add_scheduling_mode (query, GST_PAD_MODE_PUSH);
      return TRUE;
    case GST_QUERY_CAPS:
    case GST_QUERY_ACCEPT_CAPS:
      return gst_pad_query_default (pad, parent, query);
    default:
      return FALSE;
  }
}

GstMccOutlet *
gst_mcc_outlet_new (
    const GstMccOutletFuncs *funcs, gpointer owner, const gchar *stream_id, GstClockTime latency)
{
  static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE (
      "mcc_outlet_src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
  GstMccOutlet *self = g_new0 (GstMccOutlet, 1);

  self->funcs = *funcs;
  self->owner = owner;
  self->stream_id = g_strdup (stream_id);
  self->latency = latency;
  self->group_id = gst_util_group_id_next ();
  g_cond_init (&self->free);
  g_mutex_init (&self->lock);
  self->src = gst_object_ref_sink (gst_pad_new_from_static_template (&template, "mcc_outlet_src"));
  self->exit = self->src;
  gst_pad_set_element_private (self->src, self);
  gst_pad_set_event_function (self->src, src_event);
  gst_pad_set_query_function (self->src, src_query);
  return self;
}

void
gst_mcc_outlet_free (GstMccOutlet *self)
{
  if (!self)
    return;
  g_list_free_full (self->streams, (GDestroyNotify)stream_free);
  gst_object_unref (self->src);
  gst_clear_caps (&self->caps);
  g_cond_clear (&self->free);
  g_mutex_clear (&self->lock);
  g_free (self->stream_id);
  g_free (self);
}

GstPad *
gst_mcc_outlet_get_src (GstMccOutlet *self)
{
  return self->src;
}

void
gst_mcc_outlet_set_exit (GstMccOutlet *self, GstPad *ghost)
{
  self->exit = ghost;
}

void
gst_mcc_outlet_start (GstMccOutlet *self)
{
  enter (self, NULL);
  self->started = self->segmented = self->eos = FALSE;
  gst_clear_caps (&self->caps);
  leave (self);
  gst_pad_set_active (self->src, TRUE);
}

void
gst_mcc_outlet_stop (GstMccOutlet *self)
{
  gst_pad_set_active (self->src, FALSE);
}

void
gst_mcc_outlet_add (GstMccOutlet *self, GstPad *pad, guint32 ssrc)
{
  Stream *stream = g_new0 (Stream, 1);

  stream->outlet = self;
  stream->ssrc = ssrc;
  stream->peer = gst_object_ref (pad);
  stream->pad = gst_object_ref_sink (gst_pad_new (NULL, GST_PAD_SINK));
  gst_pad_set_element_private (stream->pad, stream);
  gst_pad_set_chain_function (stream->pad, outlet_chain);
  gst_pad_set_event_function (stream->pad, outlet_event);
  /* Else only the first caps are taken: new parameter sets would end the stream. */
  GST_PAD_SET_ACCEPT_TEMPLATE (stream->pad);
  g_mutex_lock (&self->lock);
  stream->serial = ++self->serial;
  self->streams = g_list_prepend (self->streams, stream);
  g_mutex_unlock (&self->lock);
  gst_pad_set_active (stream->pad, TRUE);
  gst_pad_link (pad, stream->pad);
}

void
gst_mcc_outlet_remove (GstMccOutlet *self, GstPad *pad)
{
  Stream *found = NULL;

  g_mutex_lock (&self->lock);
  for (GList *item = self->streams; item; item = item->next) {
    Stream *stream = item->data;

    if (stream->peer == pad) {
      found = stream;
      self->streams = g_list_delete_link (self->streams, item);
      break;
    }
  }
  g_mutex_unlock (&self->lock);
  if (found)
    stream_free (found);
}

void
gst_mcc_outlet_eos (GstMccOutlet *self)
{
  enter (self, NULL);
  if (!self->eos) {
    if (!self->started)
      gst_pad_push_event (self->src, gst_event_new_stream_start (self->stream_id));
    self->eos = TRUE;
    gst_pad_push_event (self->src, gst_event_new_eos ());
  }
  leave (self);
}

/* Without waiting for who is busy: he may wait for this. */
void
gst_mcc_outlet_flush_start (GstMccOutlet *self)
{
  gst_pad_push_event (self->src, gst_event_new_flush_start ());
}

void
gst_mcc_outlet_flush_stop (GstMccOutlet *self, gboolean reset_time)
{
  enter (self, NULL);
  self->segmented = self->eos = FALSE;
  gst_pad_push_event (self->src, gst_event_new_flush_stop (reset_time));
  leave (self);
}
