/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccgate.h"

struct _GstMccGate {
  GstMccGateAccept accept;
  GstMccGateEos eos;
  gpointer owner;
  GstPad *sink, *src;

  /* Of the streaming thread alone. */
  GQueue held;
  GQueue waiting; /* of senders that may come to be followed */
  MccTime waiting_since;
  gboolean started; /* stream-start and segment have gone to rtpbin */
  GstSegment segment;

  /* Guards what follows; never held over a push. */
  GMutex lock;
  GstCaps *caps;     /* NULL: hold */
  GstCaps *fallback; /* the last stream's */
  gboolean caps_changed;
  gboolean restart; /* drop what is held: it belongs to the stream before */
  MccTime held_since;
  guint64 dropped;
};

static MccTime
monotonic_now (void)
{
  return (MccTime)g_get_monotonic_time () * MCC_USECOND;
}

static void
clear_queue (GQueue *queue)
{
  g_queue_clear_full (queue, (GDestroyNotify)gst_buffer_unref);
}

/* Keeps @buffer (transfer full) for when its sender is followed; the oldest give way. */
static void
wait (GstMccGate *self, GstBuffer *buffer, MccTime now)
{
  /* what came long ago is of no use; nor is a queue that a flood has filled */
  if (!g_queue_is_empty (&self->waiting) && now - self->waiting_since > GST_MCC_GATE_HOLD)
    clear_queue (&self->waiting);
  if (g_queue_is_empty (&self->waiting))
    self->waiting_since = now;
  g_queue_push_tail (&self->waiting, buffer);
  if (self->waiting.length > GST_MCC_GATE_PACKETS)
    gst_buffer_unref (g_queue_pop_head (&self->waiting));
}

static guint32
ssrc_of (GstBuffer *buffer)
{
  guint8 ssrc[4] = { 0 };

  gst_buffer_extract (buffer, 8, ssrc, sizeof ssrc);
  return GST_READ_UINT32_BE (ssrc);
}

/* Another sender is followed, whose packet @first is: what is held belongs to the one before, what
 * waited of the new one goes first. */
static void
begin_locked (GstMccGate *self, GstBuffer *first, MccTime now)
{
  guint32 ssrc = ssrc_of (first);
  GstBuffer *buffer;

  clear_queue (&self->held);
  while ((buffer = g_queue_pop_head (&self->waiting))) {
    if (ssrc_of (buffer) == ssrc && now - self->waiting_since <= 2 * GST_MCC_GATE_HOLD)
      g_queue_push_tail (&self->held, buffer);
    else
      gst_buffer_unref (buffer);
  }
  self->restart = FALSE;
  self->held_since = now;
}

/* Holds @buffer (transfer full); the oldest give way. Called with the lock. */
static void
hold_locked (GstMccGate *self, GstBuffer *buffer, MccTime now)
{
  if (g_queue_is_empty (&self->held))
    self->held_since = now;
  g_queue_push_tail (&self->held, buffer);
  while (self->held.length > GST_MCC_GATE_PACKETS
         || (self->held.length > 1 && now - self->held_since > 2 * GST_MCC_GATE_HOLD)) {
    gst_buffer_unref (g_queue_pop_head (&self->held));
    self->dropped++;
  }
}

static void
push_events (GstMccGate *self, GstCaps *caps)
{
  if (!self->started)
    gst_pad_push_event (self->src, gst_event_new_stream_start ("rtp"));
  gst_pad_push_event (self->src, gst_event_new_caps (caps));
  if (!self->started)
    gst_pad_push_event (self->src, gst_event_new_segment (&self->segment));
  self->started = TRUE;
}

static GstFlowReturn
gate_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstMccGate *self = gst_pad_get_element_private (pad);
  MccTime now = monotonic_now ();
  GstFlowReturn flow = GST_FLOW_OK;
  GstMccGateVerdict verdict = self->accept (self->owner, buffer, now);
  GstCaps *changed = NULL;

  g_mutex_lock (&self->lock);
  if (verdict != GST_MCC_GATE_PASS) {
    g_mutex_unlock (&self->lock);
    if (verdict == GST_MCC_GATE_WAIT)
      wait (self, buffer, now);
    else
      gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (self->restart)
    begin_locked (self, buffer, now);
  if (!self->caps && self->fallback && !g_queue_is_empty (&self->held)
      && now - self->held_since >= GST_MCC_GATE_HOLD) {
    self->caps = gst_caps_ref (self->fallback);
    self->caps_changed = TRUE;
  }
  if (!self->caps) {
    hold_locked (self, buffer, now);
    g_mutex_unlock (&self->lock);
    return GST_FLOW_OK;
  }
  if (self->caps_changed || !self->started) {
    changed = gst_caps_ref (self->caps);
    self->caps_changed = FALSE;
  }
  g_mutex_unlock (&self->lock);

  if (changed) {
    push_events (self, changed);
    gst_caps_unref (changed);
  }
  while (flow == GST_FLOW_OK && !g_queue_is_empty (&self->held))
    flow = gst_pad_push (self->src, g_queue_pop_head (&self->held));
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  return gst_pad_push (self->src, buffer);
}

static gboolean
gate_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstMccGate *self = gst_pad_get_element_private (pad);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      self->started = FALSE;
      break;
    case GST_EVENT_EOS:
      self->eos (self->owner);
      break;
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      return gst_pad_push_event (self->src, event);
    default:
      break; /* stream-start and caps are ours to make */
  }
  gst_event_unref (event);
  return TRUE;
}

static gboolean
gate_src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstMccGate *self = gst_pad_get_element_private (pad);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS || GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default (pad, parent, query);
  return gst_pad_peer_query (self->sink, query);
}

static gboolean
gate_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event); /* nothing upstream of a socket */
  return TRUE;
}

GstMccGate *
gst_mcc_gate_new (GstMccGateAccept accept, GstMccGateEos eos, gpointer owner)
{
  GstMccGate *self = g_new0 (GstMccGate, 1);

  self->accept = accept;
  self->eos = eos;
  self->owner = owner;
  g_mutex_init (&self->lock);
  g_queue_init (&self->held);
  g_queue_init (&self->waiting);
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  self->sink = gst_object_ref_sink (gst_pad_new ("mcc_gate_sink", GST_PAD_SINK));
  self->src = gst_object_ref_sink (gst_pad_new ("mcc_gate_src", GST_PAD_SRC));
  gst_pad_set_element_private (self->sink, self);
  gst_pad_set_element_private (self->src, self);
  gst_pad_set_chain_function (self->sink, gate_chain);
  gst_pad_set_event_function (self->sink, gate_event);
  gst_pad_set_query_function (self->src, gate_src_query);
  gst_pad_set_event_function (self->src, gate_src_event);
  return self;
}

void
gst_mcc_gate_free (GstMccGate *self)
{
  if (!self)
    return;
  gst_mcc_gate_stop (self);
  gst_object_unref (self->sink);
  gst_object_unref (self->src);
  gst_clear_caps (&self->caps);
  gst_clear_caps (&self->fallback);
  g_mutex_clear (&self->lock);
  g_free (self);
}

GstPad *
gst_mcc_gate_get_sink (GstMccGate *self)
{
  return self->sink;
}

GstPad *
gst_mcc_gate_get_src (GstMccGate *self)
{
  return self->src;
}

void
gst_mcc_gate_start (GstMccGate *self)
{
  self->started = FALSE;
  gst_pad_set_active (self->src, TRUE);
  gst_pad_set_active (self->sink, TRUE);
}

void
gst_mcc_gate_stop (GstMccGate *self)
{
  /* in this order: when the sink pad is inactive, no thread is in the chain function */
  gst_pad_set_active (self->src, FALSE);
  gst_pad_set_active (self->sink, FALSE);
  clear_queue (&self->held);
  clear_queue (&self->waiting);
}

void
gst_mcc_gate_set_caps (GstMccGate *self, GstCaps *caps)
{
  g_mutex_lock (&self->lock);
  if (!self->caps || !gst_caps_is_equal (self->caps, caps)) {
    gst_caps_replace (&self->caps, caps);
    gst_caps_replace (&self->fallback, caps);
    self->caps_changed = TRUE;
  }
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_gate_reset (GstMccGate *self)
{
  g_mutex_lock (&self->lock);
  gst_clear_caps (&self->caps);
  self->restart = TRUE;
  g_mutex_unlock (&self->lock);
}

guint64
gst_mcc_gate_get_dropped (GstMccGate *self)
{
  guint64 dropped;

  g_mutex_lock (&self->lock);
  dropped = self->dropped;
  g_mutex_unlock (&self->lock);
  return dropped;
}
