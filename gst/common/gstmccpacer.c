/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccpacer.h"

#include <gst/base/gstqueuearray.h>
#include <gst/video/video.h>

#include "gstmccabssendtime.h"
#include "mccencoding.h"
#include "mccjitter.h"
#include "mccseq.h"

GST_DEBUG_CATEGORY_STATIC (gst_mcc_pacer_debug);
#define GST_CAT_DEFAULT gst_mcc_pacer_debug

/* Waking up earlier than planned pays only from here on. */
#define WAKE_SLACK (1 * MCC_MSECOND)

/* Packets that wait for one another. Its pacer is made when it is needed first. */
typedef struct {
  GstQueueArray *queue; /* of GstBuffer */
  MccPacer *pacer;
  guint due;          /* packets that may leave */
  guint64 came, gone; /* packets; `gone` are taken from the queue */
} Lane;

/* How packets behind some caps are to leave. */
typedef struct {
  guint8 send_time_id;
  guint32 time_shift;
} Marks;

/* ... and what has come between them. */
typedef struct {
  GstEvent *event;
  Marks marks;                       /* of what comes behind it */
  guint64 came[GST_MCC_PACER_LANES]; /* before it, in each lane */
} Between;

struct _GstMccPacer {
  GstElement parent;
  GstPad *sink, *src;
  GstMccPacerHandler handler;
  gpointer owner;
  GstClock *clock;
  GstClockID wait_id; /* of the pacer's thread */

  GMutex lock;   /* guards what follows; never held while pushing or calling the owner */
  GCond arrived; /* the lanes are not empty any more, or flushing */
  GCond left;    /* they have room again, or flushing */
  Lane lanes[GST_MCC_PACER_LANES];
  guint n_lanes; /* those that were used */
  guint queued;  /* packets of all */
  GQueue events; /* of Between */
  MccPacerConfig config;
  guint64 target_bps[GST_MCC_PACER_LANES];
  MccEncoding encoding;
  MccTime now;     /* never runs back */
  MccTime wake_at; /* the thread sleeps until then; 0 = it does not sleep on the clock */
  MccTime pushed;  /* when it pushed last */
  guint overhead;
  gboolean flushing, stopped, eos;
  gboolean idle, blocked; /* somebody waits for arrived, left: a signal costs a system call */
  GstFlowReturn result;
  Marks come, leave; /* of what comes, leaves next */

  MccSeq seq; /* pacer's thread only */
};

G_DEFINE_FINAL_TYPE (GstMccPacer, gst_mcc_pacer, GST_TYPE_ELEMENT)

static GstStaticPadTemplate sink_template
    = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template
    = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Called with the lock held. */
static MccTime
get_now (GstMccPacer *self)
{
  self->now = mcc_time_max (self->now, gst_clock_get_time (self->clock));
  return self->now;
}

/* ---- the pacer's thread ---- */

/* Called with the lock held. Waits until something is queued, or until @at. */
static void
wait_until (GstMccPacer *self, MccTime at)
{
  if (self->wait_id)
    gst_clock_single_shot_id_reinit (self->clock, self->wait_id, at);
  else
    self->wait_id = gst_clock_new_single_shot_id (self->clock, at);
  self->wake_at = at;
  g_mutex_unlock (&self->lock);
  gst_clock_id_wait (self->wait_id, NULL);
  g_mutex_lock (&self->lock);
  self->wake_at = 0;
}

/* Called with the lock held. Whether all that came before the oldest event has left. */
static gboolean
event_is_next (GstMccPacer *self)
{
  Between *head = g_queue_peek_head (&self->events);

  if (!head)
    return FALSE;
  for (guint i = 0; i < self->n_lanes; i++)
    if (self->lanes[i].gone < head->came[i])
      return FALSE;
  return TRUE;
}

/* Called with the lock held. Packets of lane @i before the oldest event. */
static guint
get_before (GstMccPacer *self, guint i)
{
  const Between *head = g_queue_peek_head (&self->events);
  const Lane *lane = &self->lanes[i];

  return (guint)((head ? head->came[i] : lane->came) - lane->gone);
}

/* Called with the lock held. Packets of lane @i that may be taken now. */
static guint
get_ready (GstMccPacer *self, guint i)
{
  return MIN (self->lanes[i].due, get_before (self, i));
}

/* Called with the lock held. Whether packets may be taken. */
static gboolean
any_ready (GstMccPacer *self)
{
  for (guint i = 0; i < self->n_lanes; i++)
    if (get_ready (self, i) > 0)
      return TRUE;
  return FALSE;
}

/* Called with the lock held. */
static MccTime
next_timeout (GstMccPacer *self)
{
  MccTime next = MCC_TIME_NONE;

  for (guint i = 0; i < self->n_lanes; i++)
    if (self->lanes[i].due < get_before (self, i)) /* else it waits for the event */
      next = mcc_time_min (next, mcc_pacer_next_timeout (self->lanes[i].pacer));
  return next;
}

/* Called with the lock held. Waits until something may leave; FALSE = flushing. */
static gboolean
wait_turn (GstMccPacer *self)
{
  while (!self->flushing) {
    MccTime now, at;

    if (self->queued == 0 && g_queue_is_empty (&self->events)) {
      self->idle = TRUE;
      g_cond_wait (&self->arrived, &self->lock);
      self->idle = FALSE;
      continue;
    }
    if (event_is_next (self))
      return TRUE;
    now = get_now (self);
    if (any_ready (self))
      return TRUE;                                             /* they waited behind an event */
    at = self->pushed + mcc_pacer_wake_period (&self->config); /* wake-ups cost more than packets */
    if (now >= at) {
      for (guint i = 0; i < self->n_lanes; i++)
        if (self->lanes[i].due < get_before (self, i))
          self->lanes[i].due += mcc_pacer_release (self->lanes[i].pacer, now);
      if (any_ready (self))
        return TRUE;
      at = mcc_time_max (next_timeout (self), now + WAKE_SLACK);
    }
    wait_until (self, at);
  }
  return FALSE;
}

/* Called with the lock held. Takes the buffers that are due, up to the next event. */
static GstBufferList *
take_due (GstMccPacer *self)
{
  GstBufferList *list = gst_buffer_list_new ();

  for (guint i = 0; i < self->n_lanes; i++) {
    Lane *lane = &self->lanes[i];
    guint n = get_ready (self, i);

    for (guint k = 0; k < n; k++)
      gst_buffer_list_add (list, gst_queue_array_pop_head (lane->queue));
    lane->due -= n;
    lane->gone += n;
    self->queued -= n;
  }
  if (self->blocked)
    g_cond_signal (&self->left);
  return list;
}

/* Called with the lock held. */
static GstEvent *
take_event (GstMccPacer *self)
{
  Between *head = g_queue_pop_head (&self->events);
  GstEvent *event = head->event;

  self->leave = head->marks;
  g_free (head);
  return event;
}

typedef struct {
  GstMccPacer *self;
  Marks marks;
  guint32 send_time;
  guint overhead;
  guint packets;
  guint64 bytes, highest;
} Stamp;

static gboolean
stamp_one (GstBuffer **buffer, guint index, gpointer data)
{
  Stamp *stamp = data;
  guint16 seq;

  *buffer = gst_buffer_make_writable (*buffer);
  if (gst_mcc_abs_send_time_stamp (*buffer, stamp->marks.send_time_id, stamp->send_time, &seq))
    stamp->highest = mcc_seq_extend16 (&stamp->self->seq, seq);
  if (stamp->marks.time_shift)
    gst_mcc_rtp_shift_time (*buffer, stamp->marks.time_shift);
  stamp->packets++;
  stamp->bytes += gst_buffer_get_size (*buffer) + stamp->overhead;
  return TRUE;
}

/* Stamps and pushes; without the lock. */
static GstFlowReturn
push_list (GstMccPacer *self, GstBufferList *list, const Stamp *how)
{
  Stamp stamp = *how;
  GstFlowReturn ret;

  gst_buffer_list_foreach (list, stamp_one, &stamp);
  if (stamp.packets == 1) {
    GstBuffer *buffer = gst_buffer_ref (gst_buffer_list_get (list, 0));

    gst_buffer_list_unref (list);
    ret = gst_pad_push (self->src, buffer);
  } else {
    ret = gst_pad_push_list (self->src, list);
  }
  if (ret == GST_FLOW_OK && self->handler.sent)
    self->handler.sent (self->owner, stamp.packets, stamp.bytes, mcc_seq_highest32 (&self->seq));
  return ret;
}

static void
push_event (GstMccPacer *self, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && self->handler.eos)
    self->handler.eos (self->owner);
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START && self->handler.again)
    self->handler.again (self->owner);
  gst_pad_push_event (self->src, event);
}

/* Called with the lock held: nothing can be pushed any more. */
static void
fail (GstMccPacer *self, GstFlowReturn ret)
{
  gboolean eos = self->eos;

  self->result = ret;
  g_cond_broadcast (&self->left);
  g_mutex_unlock (&self->lock);
  GST_DEBUG_OBJECT (self, "stops: %s", gst_flow_get_name (ret));
  gst_pad_pause_task (self->src);
  /* Nobody upstream hears of it any more. */
  if (eos && (ret == GST_FLOW_NOT_LINKED || ret < GST_FLOW_EOS))
    GST_ELEMENT_FLOW_ERROR (self, ret);
  g_mutex_lock (&self->lock);
}

static void
gst_mcc_pacer_loop (gpointer data)
{
  GstMccPacer *self = data;
  GstBufferList *list;
  GstFlowReturn ret;
  Stamp stamp;

  g_mutex_lock (&self->lock);
  if (!wait_turn (self)) {
    self->result = GST_FLOW_FLUSHING;
    g_mutex_unlock (&self->lock);
    gst_pad_pause_task (self->src);
    return;
  }
  if (event_is_next (self)) {
    GstEvent *event = take_event (self);

    g_mutex_unlock (&self->lock);
    push_event (self, event);
    return;
  }
  list = take_due (self);
  self->pushed = self->now; /* just read */
  stamp = (Stamp){ .self = self,
    .marks = self->leave,
    .send_time = mcc_abs_send_time (self->now),
    .overhead = self->overhead,
    .highest = self->seq.highest };
  g_mutex_unlock (&self->lock);

  ret = push_list (self, list, &stamp);
  if (ret == GST_FLOW_OK)
    return;
  g_mutex_lock (&self->lock);
  fail (self, ret);
  g_mutex_unlock (&self->lock);
}

/* ---- what comes in ---- */

/* Called with the lock held: somebody waits for what was queued. */
static void
wake (GstMccPacer *self)
{
  if (self->idle)
    g_cond_signal (&self->arrived);
  else if (self->wake_at && self->wait_id
           && mcc_time_max (
                  next_timeout (self), self->pushed + mcc_pacer_wake_period (&self->config))
                      + WAKE_SLACK
                  < self->wake_at)
    gst_clock_id_unschedule (self->wait_id);
}

static gboolean
queue_one (GstBuffer **buffer, guint index, gpointer data)
{
  gst_queue_array_push_tail (data, *buffer);
  *buffer = NULL; /* ours now */
  return TRUE;
}

/* Called with the lock held. */
static GstFlowReturn
wait_room (GstMccPacer *self)
{
  while (!self->flushing && self->result == GST_FLOW_OK && self->queued >= GST_MCC_PACER_LIMIT) {
    self->blocked = TRUE;
    g_cond_wait (&self->left, &self->lock);
    self->blocked = FALSE;
  }
  if (self->flushing)
    return GST_FLOW_FLUSHING;
  return self->eos ? GST_FLOW_EOS : self->result;
}

/* Called with the lock held. */
static Lane *
get_lane (GstMccPacer *self, guint i)
{
  for (; self->n_lanes <= i; self->n_lanes++) {
    Lane *lane = &self->lanes[self->n_lanes];

    lane->queue = gst_queue_array_new (256);
    lane->pacer = mcc_pacer_new (&self->config);
    if (!lane->pacer)
      g_error ("no memory for a pacer"); /* as GLib, where an object cannot be made */
    mcc_pacer_set_target (lane->pacer, self->target_bps[self->n_lanes]);
  }
  return &self->lanes[i];
}

static guint
find_lane (GstMccPacer *self, GstBuffer *buffer)
{
  guint8 ssrc[4];

  if (!self->handler.lane || gst_buffer_extract (buffer, 8, ssrc, sizeof ssrc) < sizeof ssrc)
    return 0;
  return MIN (self->handler.lane (self->owner, GST_READ_UINT32_BE (ssrc)), GST_MCC_PACER_LANES - 1);
}

/* Takes @list or @buffer (the other is NULL): @packets of together @bytes of RTP, of one lane. */
static GstFlowReturn
enqueue (GstMccPacer *self, GstBufferList *list, GstBuffer *buffer, guint packets, gsize bytes)
{
  GstBuffer *first = list ? gst_buffer_list_get (list, 0) : buffer;
  GstMccRtpInfo info = { 0, 0 };
  guint of = find_lane (self, first);
  GstFlowReturn ret;
  MccTime now;

  gst_mcc_rtp_info (first, &info); /* headers of one frame are alike */
  if (list)
    list = gst_buffer_list_make_writable (list);
  g_mutex_lock (&self->lock);
  ret = wait_room (self);
  if (ret == GST_FLOW_OK && !self->stopped) {
    guint wire = (guint)bytes + packets * self->overhead;
    guint headers = MIN (packets * info.header_bytes, (guint)bytes);
    Lane *lane = get_lane (self, of);

    now = get_now (self);
    mcc_pacer_enqueue (lane->pacer, packets, wire, now);
    mcc_encoding_handle_packet (&self->encoding, wire, (guint)bytes - headers, now);
    if (list)
      gst_buffer_list_foreach (list, queue_one, lane->queue);
    else
      gst_queue_array_push_tail (lane->queue, g_steal_pointer (&buffer));
    lane->came += packets;
    self->queued += packets;
    wake (self);
  }
  g_mutex_unlock (&self->lock);
  gst_clear_buffer (&buffer);
  if (list)
    gst_buffer_list_unref (list);
  return ret;
}

static GstFlowReturn
gst_mcc_pacer_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return enqueue (GST_MCC_PACER (parent), NULL, buffer, 1, gst_buffer_get_size (buffer));
}

static GstFlowReturn
gst_mcc_pacer_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  guint n = gst_buffer_list_length (list);

  if (n == 0) {
    gst_buffer_list_unref (list);
    return GST_FLOW_OK;
  }
  return enqueue (GST_MCC_PACER (parent), list, NULL, n, gst_buffer_list_calculate_size (list));
}

/* Called with the lock held. @keep_events: what a flush does not void stays on the pad. */
static void
clear_queue (GstMccPacer *self, gboolean keep_events)
{
  while (!g_queue_is_empty (&self->events)) {
    GstEvent *event = take_event (self);

    if (keep_events && GST_EVENT_IS_STICKY (event) && GST_EVENT_TYPE (event) != GST_EVENT_SEGMENT
        && GST_EVENT_TYPE (event) != GST_EVENT_EOS)
      gst_pad_store_sticky_event (self->src, event);
    gst_event_unref (event);
  }
  for (guint i = 0; i < self->n_lanes; i++) {
    Lane *lane = &self->lanes[i];

    while (!gst_queue_array_is_empty (lane->queue))
      gst_buffer_unref (gst_queue_array_pop_head (lane->queue));
    mcc_pacer_clear (lane->pacer);
    lane->due = 0;
    lane->gone = lane->came;
  }
  self->queued = 0;
}

/* Called with the lock held; takes @event. */
static void
queue_event (GstMccPacer *self, GstEvent *event)
{
  Between *between = g_new0 (Between, 1);

  between->event = event;
  between->marks = self->come;
  for (guint i = 0; i < self->n_lanes; i++)
    between->came[i] = self->lanes[i].came;
  g_queue_push_tail (&self->events, between);
}

static void
set_flushing (GstMccPacer *self, gboolean flushing)
{
  g_mutex_lock (&self->lock);
  self->flushing = flushing;
  clear_queue (self, TRUE);
  if (flushing) {
    g_cond_broadcast (&self->arrived);
    g_cond_broadcast (&self->left);
    if (self->wait_id)
      gst_clock_id_unschedule (self->wait_id);
  } else {
    self->result = GST_FLOW_OK;
    self->eos = FALSE;
  }
  g_mutex_unlock (&self->lock);
}

/* The caps that go on: with the id of abs-send-time, ours where the payloader has none. */
static GstEvent *
take_caps (GstMccPacer *self, GstEvent *event)
{
  GstCaps *caps;
  guint8 id, spare;

  gst_event_parse_caps (event, &caps);
  id = gst_mcc_abs_send_time_id_from_caps (caps, &spare);
  if (id == 0 && spare != 0) {
    gchar name[16];

    g_snprintf (name, sizeof name, "extmap-%u", spare);
    caps = gst_caps_copy (caps);
    gst_caps_set_simple (caps, name, G_TYPE_STRING, GST_MCC_ABS_SEND_TIME_URI, NULL);
    gst_event_unref (event);
    event = gst_event_new_caps (caps);
    id = spare;
  } else {
    caps = gst_caps_ref (caps);
  }
  GST_INFO_OBJECT (self, "abs-send-time has id %u in %" GST_PTR_FORMAT, id, caps);
  g_mutex_lock (&self->lock);
  self->come.send_time_id = id;
  g_mutex_unlock (&self->lock);
  if (self->handler.caps)
    self->handler.caps (self->owner, caps, id);
  gst_caps_unref (caps);
  return event;
}

static gboolean
gst_mcc_pacer_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstMccPacer *self = GST_MCC_PACER (parent);
  gboolean ok;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      ok = gst_pad_push_event (self->src, event);
      set_flushing (self, TRUE);
      gst_pad_pause_task (self->src);
      return ok;
    case GST_EVENT_FLUSH_STOP:
      ok = gst_pad_push_event (self->src, event);
      set_flushing (self, FALSE);
      if (self->handler.again)
        self->handler.again (self->owner);
      gst_pad_start_task (self->src, gst_mcc_pacer_loop, self, NULL);
      return ok;
    case GST_EVENT_CAPS:
      event = take_caps (self, event);
      break;
    default:
      break;
  }
  if (!GST_EVENT_IS_SERIALIZED (event))
    return gst_pad_push_event (self->src, event);

  g_mutex_lock (&self->lock);
  ok = !self->flushing && self->result == GST_FLOW_OK;
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    self->eos = TRUE;
  else if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    self->eos = FALSE;
  if (ok) {
    queue_event (self, event);
    wake (self);
  }
  g_mutex_unlock (&self->lock);
  if (!ok)
    gst_event_unref (event);
  return ok;
}

static gboolean
gst_mcc_pacer_sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  /* Nobody behind gets packets when they are made. */
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION || GST_QUERY_TYPE (query) == GST_QUERY_DRAIN)
    return FALSE;
  return gst_pad_query_default (pad, parent, query);
}

static gboolean
gst_mcc_pacer_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstMccPacer *self = GST_MCC_PACER (parent);

  if (self->handler.key_unit && gst_video_event_is_force_key_unit (event)) {
    gst_event_unref (event);
    self->handler.key_unit (self->owner);
    return TRUE;
  }
  return gst_pad_push_event (self->sink, event);
}

static gboolean
gst_mcc_pacer_src_activate_mode (GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstMccPacer *self = GST_MCC_PACER (parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  set_flushing (self, !active);
  return active ? gst_pad_start_task (pad, gst_mcc_pacer_loop, self, NULL)
                : gst_pad_stop_task (pad);
}

/* ---- life ---- */

static void
gst_mcc_pacer_finalize (GObject *object)
{
  GstMccPacer *self = GST_MCC_PACER (object);

  clear_queue (self, FALSE);
  for (guint i = 0; i < self->n_lanes; i++) {
    gst_queue_array_free (self->lanes[i].queue);
    mcc_pacer_free (self->lanes[i].pacer);
  }
  if (self->wait_id)
    gst_clock_id_unref (self->wait_id);
  gst_object_unref (self->clock);
  g_cond_clear (&self->arrived);
  g_cond_clear (&self->left);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_mcc_pacer_parent_class)->finalize (object);
}

static GstStateChangeReturn
gst_mcc_pacer_change_state (GstElement *element, GstStateChange transition)
{
  GstMccPacer *self = GST_MCC_PACER (element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    memset (&self->seq, 0, sizeof self->seq);
    g_mutex_lock (&self->lock);
    mcc_encoding_init (&self->encoding);
    self->stopped = FALSE;
    self->pushed = 0;
    g_mutex_unlock (&self->lock);
  }
  return GST_ELEMENT_CLASS (gst_mcc_pacer_parent_class)->change_state (element, transition);
}

static void
gst_mcc_pacer_class_init (GstMccPacerClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_mcc_pacer_debug, "mccpacer", 0, "pacer");
  G_OBJECT_CLASS (klass)->finalize = gst_mcc_pacer_finalize;
  element_class->change_state = gst_mcc_pacer_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Packet pacer", "Filter/Network/RTP",
      "Sends packets as the rate control allows", "adaptivemulticast");
}

static void
gst_mcc_pacer_init (GstMccPacer *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->arrived);
  g_cond_init (&self->left);
  g_queue_init (&self->events);
  self->config = mcc_pacer_config_default;
  mcc_encoding_init (&self->encoding);
  self->clock = gst_system_clock_obtain ();
  self->overhead = 28;
  self->flushing = TRUE;

  self->sink = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sink, gst_mcc_pacer_chain);
  gst_pad_set_chain_list_function (self->sink, gst_mcc_pacer_chain_list);
  gst_pad_set_event_function (self->sink, gst_mcc_pacer_sink_event);
  gst_pad_set_query_function (self->sink, gst_mcc_pacer_sink_query);
  GST_PAD_SET_PROXY_CAPS (self->sink);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);

  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->src, gst_mcc_pacer_src_event);
  gst_pad_set_activatemode_function (self->src, gst_mcc_pacer_src_activate_mode);
  GST_PAD_SET_PROXY_CAPS (self->src);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}

GstElement *
gst_mcc_pacer_new (const GstMccPacerHandler *handler, gpointer owner)
{
  GstMccPacer *self = g_object_new (GST_TYPE_MCC_PACER, NULL);

  self->handler = *handler;
  self->owner = owner;
  return GST_ELEMENT (self);
}

/* Called with the lock held. */
static void
configure_lanes (GstMccPacer *self)
{
  for (guint i = 0; i < self->n_lanes; i++)
    mcc_pacer_set_config (self->lanes[i].pacer, &self->config);
}

void
gst_mcc_pacer_set_config (GstMccPacer *self, gdouble factor, MccTime max_delay)
{
  g_mutex_lock (&self->lock);
  self->config.factor = factor;
  self->config.max_delay = max_delay;
  configure_lanes (self);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_pacer_set_pacing (GstMccPacer *self, const MccPacing *pacing)
{
  g_mutex_lock (&self->lock);
  self->config.pacing = *pacing;
  configure_lanes (self);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_pacer_set_overhead (GstMccPacer *self, guint bytes)
{
  g_mutex_lock (&self->lock);
  self->overhead = bytes;
  g_mutex_unlock (&self->lock);
}

/* Called with the lock held. */
static void
set_target (GstMccPacer *self, guint lane, guint64 target_bps)
{
  self->target_bps[lane] = target_bps;
  if (lane < self->n_lanes)
    mcc_pacer_set_target (self->lanes[lane].pacer, target_bps);
}

void
gst_mcc_pacer_set_target (GstMccPacer *self, guint64 target_bps)
{
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < GST_MCC_PACER_LANES; i++)
    set_target (self, i, target_bps);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_pacer_set_lane_target (GstMccPacer *self, guint lane, guint64 target_bps, guint64 all_bps)
{
  g_return_if_fail (lane < GST_MCC_PACER_LANES);
  g_mutex_lock (&self->lock);
  mcc_pacer_set_haste (get_lane (self, lane)->pacer, MCC_PACER_LAYER_DELAY, all_bps);
  set_target (self, lane, target_bps);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_pacer_set_time_shift (GstMccPacer *self, guint32 shift)
{
  g_mutex_lock (&self->lock);
  self->come.time_shift = shift;
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_pacer_set_stopped (GstMccPacer *self, gboolean stopped)
{
  g_mutex_lock (&self->lock);
  self->stopped = stopped;
  g_mutex_unlock (&self->lock);
}

gboolean
gst_mcc_pacer_ask (GstMccPacer *self, guint64 target_bps, guint64 *out_bps)
{
  gdouble pressure = 1.0;
  uint64_t out;
  gboolean changed;
  MccTime now;

  g_mutex_lock (&self->lock);
  now = get_now (self);
  for (guint i = 0; i < self->n_lanes; i++)
    pressure = MIN (pressure, mcc_pacer_pressure (self->lanes[i].pacer, now));
  changed = mcc_encoding_update (&self->encoding, target_bps, pressure, now, &out);
  g_mutex_unlock (&self->lock);
  if (changed)
    *out_bps = out;
  return changed;
}

void
gst_mcc_pacer_get_stats (GstMccPacer *self, MccTime *delay, guint64 *overruns, gboolean *behind)
{
  MccTime now;

  *delay = 0;
  *overruns = 0;
  *behind = FALSE;
  g_mutex_lock (&self->lock);
  now = get_now (self);
  for (guint i = 0; i < self->n_lanes; i++) {
    *delay = mcc_time_max (*delay, mcc_pacer_delay (self->lanes[i].pacer));
    *overruns += mcc_pacer_overruns (self->lanes[i].pacer);
    *behind |= mcc_pacer_pressure (self->lanes[i].pacer, now) < 1.0;
  }
  g_mutex_unlock (&self->lock);
}
