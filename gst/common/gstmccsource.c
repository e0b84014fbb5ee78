/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "gstmccsource.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

GST_DEBUG_CATEGORY_STATIC (gst_mcc_source_debug);
#define GST_CAT_DEFAULT gst_mcc_source_debug

#define BATCH 8              /* datagrams of one system call */
#define DATAGRAM_BYTES 65536 /* untouched pages cost nothing */
#define POOLED_BYTES 1500    /* what an Ethernet frame carries; larger ones are allocated */
#define RETRY_MS 100         /* after an error that might stay */
#define NO_EVENT_POLL_MS 100
#define INPUTS_MAX 9 /* streams of a session, and one that is being left */

typedef union {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} Address;

struct _GstMccSource {
  GstElement parent;
  GstPad *src;
  GstBufferPool *pool;
  GstPad *direct; /* the pad behind rtpbin's ghost pad */
  int wake_fd;
  GstMccSourceFuncs funcs;
  gpointer owner;

  /* Of the task alone. */
  GstMccInput *reading[INPUTS_MAX];
  guint n_reading;
  struct pollfd fds[INPUTS_MAX + 1]; /* the first is .wake_fd */
  GstFlowReturn flow;                /* of what was pushed in it */
  struct mmsghdr messages[BATCH];
  struct iovec vectors[BATCH];
  Address addresses[BATCH];
  union {
    struct cmsghdr align;
    guint8 bytes[GST_MCC_ARRIVAL_BYTES];
  } controls[BATCH];
  guint8 *data; /* BATCH datagrams */
  Address last;
  MccAddress from; /* of .last */
  gboolean failed; /* a warning was posted */
  GQueue held;
  GQueue waiting; /* of senders that may come to be followed */
  MccTime waiting_since;
  gboolean started; /* stream-start and segment have gone to rtpbin */

  gint inputs_changed; /* atomic */

  /* Guards what follows; never held over a push or a callback. */
  GMutex lock;
  GstMccInput *inputs[INPUTS_MAX];
  guint n_inputs;
  gboolean playing, eos, flushing;
  GstClock *clock;   /* in PLAYING */
  GstCaps *caps;     /* NULL: hold */
  GstCaps *fallback; /* the last stream's */
  gboolean caps_changed;
  gboolean restart; /* drop what is held: it belongs to the stream before */
  MccTime held_since;
  guint64 dropped;
};

G_DEFINE_FINAL_TYPE (GstMccSource, gst_mcc_source, GST_TYPE_ELEMENT)

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

static void
wake (GstMccSource *self)
{
  (void)!eventfd_write (self->wake_fd, 1);
}

/* ---- what goes to rtpbin ---- */

/* Holds @buffer (transfer full); the oldest give way. Called with the lock. */
static void
hold_locked (GstMccSource *self, GstBuffer *buffer, MccTime now)
{
  if (g_queue_is_empty (&self->held))
    self->held_since = now;
  g_queue_push_tail (&self->held, buffer);
  while (self->held.length > GST_MCC_SOURCE_PACKETS
         || (self->held.length > 1 && now - self->held_since > 2 * GST_MCC_SOURCE_HOLD)) {
    gst_buffer_unref (g_queue_pop_head (&self->held));
    self->dropped++;
  }
}

static void
clear_queue (GQueue *queue)
{
  g_queue_clear_full (queue, (GDestroyNotify)gst_buffer_unref);
}

/* Keeps @buffer (transfer full) for when its sender is followed; the oldest give way. */
static void
keep (GstMccSource *self, GstBuffer *buffer, MccTime now)
{
  /* what came long ago is of no use; nor is a queue that a flood has filled */
  if (!g_queue_is_empty (&self->waiting) && now - self->waiting_since > GST_MCC_SOURCE_HOLD)
    clear_queue (&self->waiting);
  if (g_queue_is_empty (&self->waiting))
    self->waiting_since = now;
  g_queue_push_tail (&self->waiting, buffer);
  if (self->waiting.length > GST_MCC_SOURCE_PACKETS)
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
begin_locked (GstMccSource *self, GstBuffer *first, MccTime now)
{
  guint32 ssrc = ssrc_of (first);
  GstBuffer *buffer;

  clear_queue (&self->held);
  while ((buffer = g_queue_pop_head (&self->waiting))) {
    if (ssrc_of (buffer) == ssrc && now - self->waiting_since <= 2 * GST_MCC_SOURCE_HOLD)
      g_queue_push_tail (&self->held, buffer);
    else
      gst_buffer_unref (buffer);
  }
  self->restart = FALSE;
  self->held_since = now;
}

static void
push_events (GstMccSource *self, GstCaps *caps)
{
  if (!self->started)
    gst_pad_push_event (self->src, gst_event_new_stream_start ("rtp"));
  gst_pad_push_event (self->src, gst_event_new_caps (caps));
  if (!self->started) {
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (self->src, gst_event_new_segment (&segment));
  }
  self->started = TRUE;
}

/* Who chains past the pads' own check must look for itself: a session that is just being stopped
 * has refused the segment and still takes packets. */
static GstFlowReturn
begun (GstMccSource *self)
{
  GstEvent *segment = gst_pad_get_sticky_event (self->direct, GST_EVENT_SEGMENT, 0);

  self->started = segment != NULL;
  g_clear_pointer (&segment, gst_event_unref);
  return self->started ? GST_FLOW_OK : GST_FLOW_FLUSHING;
}

/* Called with the lock: whether the next packet must wait for its caps. *changed (transfer full):
 * to be told before it. */
static gboolean
must_hold_locked (GstMccSource *self, MccTime now, GstCaps **changed)
{
  if (!self->caps && self->fallback && !g_queue_is_empty (&self->held)
      && now - self->held_since >= GST_MCC_SOURCE_HOLD) {
    self->caps = gst_caps_ref (self->fallback);
    self->caps_changed = TRUE;
  }
  if (!self->caps)
    return TRUE;
  if (self->caps_changed || !self->started) {
    *changed = gst_caps_ref (self->caps);
    self->caps_changed = FALSE;
  }
  return FALSE;
}

static GstBuffer *
make_buffer (
    GstMccSource *self, const guint8 *data, gsize size, GstClockTime running_time, gboolean discont)
{
  GstBuffer *buffer = NULL;

  if (size <= POOLED_BYTES)
    gst_buffer_pool_acquire_buffer (self->pool, &buffer, NULL);
  if (!buffer)
    buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_fill (buffer, 0, data, size);
  gst_buffer_set_size (buffer, (gssize)size);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = running_time;
  if (discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  return buffer;
}

/* Hands @buffer (transfer full) to rtpbin, or holds it. */
static GstFlowReturn
forward (GstMccSource *self, GstBuffer *buffer, MccTime now)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstCaps *changed = NULL;
  gboolean hold;

  g_mutex_lock (&self->lock);
  if (self->restart)
    begin_locked (self, buffer, now);
  hold = must_hold_locked (self, now, &changed);
  if (hold)
    hold_locked (self, buffer, now);
  g_mutex_unlock (&self->lock);
  if (hold)
    return GST_FLOW_OK;

  if (changed) {
    push_events (self, changed);
    gst_caps_unref (changed);
    flow = begun (self);
  }
  while (flow == GST_FLOW_OK && !g_queue_is_empty (&self->held))
    flow = gst_pad_chain (self->direct, g_queue_pop_head (&self->held));
  if (flow == GST_FLOW_OK)
    return gst_pad_chain (self->direct, buffer);
  gst_buffer_unref (buffer);
  return flow;
}

/* One datagram. */
static GstFlowReturn
take (GstMccSource *self, GstMccInput *input, guint8 *data, gsize size, GstClockTime running_time,
    MccTime now)
{
  GstMccSourceVerdict verdict;
  GstBuffer *buffer;

  if (self->funcs.decrypt && !self->funcs.decrypt (self->owner, data, &size))
    return GST_FLOW_OK;
  verdict = self->funcs.accept (self->owner, input, data, size, &self->from, now);
  if (verdict == GST_MCC_SOURCE_DROP || (verdict == GST_MCC_SOURCE_WAIT && self->funcs.merge))
    return GST_FLOW_OK;
  /* what is merged begins with what leaves first: a depayloader begins anew at each mark */
  buffer = make_buffer (self, data, size, running_time,
      !self->started && !self->funcs.merge && g_queue_is_empty (&self->held));
  if (verdict == GST_MCC_SOURCE_WAIT) {
    keep (self, buffer, now);
    return GST_FLOW_OK;
  }
  if (!self->funcs.merge)
    return forward (self, buffer, now);
  self->flow = GST_FLOW_OK;
  self->funcs.merge (self->owner, input->stream, buffer, now);
  return self->flow;
}

/* ---- the task ---- */

/* The sender is nearly always the same: compare before converting. */
static void
note_address (GstMccSource *self, const Address *address)
{
  socklen_t bytes = address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;

  if (memcmp (address, &self->last, bytes) == 0)
    return;
  memcpy (&self->last, address, bytes);
  memset (&self->from, 0, sizeof self->from);
  if (address->any.sa_family == AF_INET) {
    self->from.family = 4;
    self->from.port = g_ntohs (address->v4.sin_port);
    memcpy (self->from.bytes, &address->v4.sin_addr, 4);
  } else if (address->any.sa_family == AF_INET6) {
    self->from.family = 6;
    self->from.port = g_ntohs (address->v6.sin6_port);
    memcpy (self->from.bytes, &address->v6.sin6_addr, 16);
  }
}

/* The running time now; none without a clock. */
static GstClockTime
get_running_time (GstMccSource *self)
{
  GstClock *clock = NULL;
  GstClockTime base, now;

  g_mutex_lock (&self->lock);
  gst_object_replace ((GstObject **)&clock, (GstObject *)self->clock);
  g_mutex_unlock (&self->lock);
  if (!clock)
    return GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK (self);
  base = GST_ELEMENT_CAST (self)->base_time;
  GST_OBJECT_UNLOCK (self);
  now = gst_clock_get_time (clock);
  gst_object_unref (clock);
  return now > base ? now - base : 0;
}

void
gst_mcc_source_push (GstMccSource *self, GstBuffer *buffer, gboolean late)
{
  GstFlowReturn flow;

  if (late)
    GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = get_running_time (self);
  if (!self->started && g_queue_is_empty (&self->held))
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  flow = forward (self, buffer, (MccTime)g_get_monotonic_time () * MCC_USECOND);
  if (flow != GST_FLOW_OK)
    self->flow = flow;
}

static void
clear_reading (GstMccSource *self)
{
  while (self->n_reading > 0)
    gst_mcc_input_unref (self->reading[--self->n_reading]);
}

/* What is to be read may have changed. */
static void
refresh_reading (GstMccSource *self)
{
  if (!g_atomic_int_compare_and_exchange (&self->inputs_changed, TRUE, FALSE))
    return;
  clear_reading (self);
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n_inputs; i++) {
    g_atomic_ref_count_inc (&self->inputs[i]->references);
    self->reading[i] = self->inputs[i];
    self->fds[i + 1]
        = (struct pollfd){ .fd = g_socket_get_fd (self->inputs[i]->socket), .events = POLLIN };
  }
  self->n_reading = self->n_inputs;
  g_mutex_unlock (&self->lock);
}

/* TRUE: datagrams may be there. */
static gboolean
wait_readable (GstMccSource *self, guint n_inputs, int timeout_ms)
{
  self->fds[0] = (struct pollfd){ .fd = self->wake_fd, .events = POLLIN };
  /* Without an eventfd (no descriptor was left) the end of reading is noticed by looking. */
  if (self->wake_fd < 0 && (timeout_ms < 0 || timeout_ms > NO_EVENT_POLL_MS))
    timeout_ms = NO_EVENT_POLL_MS;
  if (poll (self->fds, n_inputs + 1, timeout_ms) <= 0)
    return FALSE;
  if (self->fds[0].revents) {
    eventfd_t value;

    (void)!eventfd_read (self->wake_fd, &value);
    return FALSE;
  }
  return TRUE;
}

static void
handle_error (GstMccSource *self, int error)
{
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)
    return;
  GST_INFO_OBJECT (self, "cannot receive: %s", g_strerror (error));
  if (!self->failed)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("Cannot receive (%s); trying again. Is the interface up?", g_strerror (error)), (NULL));
  self->failed = TRUE;
  wait_readable (self, 0, RETRY_MS); /* an error that stays must not spin */
}

static GstFlowReturn
read_batch (GstMccSource *self, GstMccInput *input)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstClockTime running_time;
  struct timespec clock_now = { 0 };
  MccTime now;
  int n;

  for (guint i = 0; i < BATCH; i++) {
    self->messages[i].msg_hdr.msg_namelen = sizeof self->addresses[i];
    self->messages[i].msg_hdr.msg_controllen = sizeof self->controls[i];
  }
  n = recvmmsg (g_socket_get_fd (input->socket), self->messages, BATCH, MSG_DONTWAIT, NULL);
  if (n <= 0) {
    handle_error (self, n < 0 ? errno : EAGAIN);
    return GST_FLOW_OK;
  }
  self->failed = FALSE;
  running_time = get_running_time (self);
  now = (MccTime)g_get_monotonic_time () * MCC_USECOND;
  clock_gettime (CLOCK_REALTIME, &clock_now);
  for (int i = 0; i < n && flow == GST_FLOW_OK; i++) {
    note_address (self, &self->addresses[i]);
    input->arrival = gst_mcc_arrival_read (&self->messages[i].msg_hdr, &clock_now);
    flow = take (
        self, input, self->vectors[i].iov_base, self->messages[i].msg_len, running_time, now);
  }
  return flow;
}

/* Waits, and reads what has come. */
static GstFlowReturn
take_turn (GstMccSource *self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  int timeout_ms = -1;

  if (self->funcs.due) {
    MccTime now = (MccTime)g_get_monotonic_time () * MCC_USECOND, due;

    self->flow = GST_FLOW_OK;
    due = self->funcs.due (self->owner, now);
    if (self->flow != GST_FLOW_OK)
      return self->flow;
    if (due != MCC_TIME_NONE)
      timeout_ms = due > now ? (int)MIN ((due - now) / MCC_MSECOND + 1, G_MAXINT) : 0;
  }
  refresh_reading (self);
  if (!wait_readable (self, self->n_reading, timeout_ms))
    return GST_FLOW_OK;
  for (guint i = 0; i < self->n_reading && flow == GST_FLOW_OK; i++)
    if (self->fds[i + 1].revents)
      flow = read_batch (self, self->reading[i]);
  return flow;
}

static void
source_loop (gpointer data)
{
  GstMccSource *self = data;
  GstFlowReturn flow;
  gboolean eos, done;

  /* a start in between must not be undone: hence the lock over the pause */
  g_mutex_lock (&self->lock);
  eos = self->eos;
  self->eos = FALSE;
  done = eos || self->flushing || !self->playing;
  if (done)
    gst_pad_pause_task (self->src);
  g_mutex_unlock (&self->lock);
  if (eos)
    self->funcs.eos (self->owner);
  if (done)
    return;
  flow = take_turn (self);
  if (flow == GST_FLOW_OK)
    return;
  GST_DEBUG_OBJECT (self, "stops: %s", gst_flow_get_name (flow));
  g_mutex_lock (&self->lock);
  /* While somebody flushes, packets are dropped; a pause could undo the start after the flush. */
  if (flow != GST_FLOW_FLUSHING || !self->playing)
    gst_pad_pause_task (self->src);
  g_mutex_unlock (&self->lock);
  if (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS)
    GST_ELEMENT_FLOW_ERROR (self, flow);
  if (flow == GST_FLOW_NOT_LINKED || flow <= GST_FLOW_EOS) /* or downstream has had enough */
    self->funcs.eos (self->owner);
}

/* ---- pad and states ---- */

static void
start_task (GstMccSource *self)
{
  g_mutex_lock (&self->lock);
  self->playing = TRUE;
  gst_clear_object (&self->clock);
  self->clock = gst_element_get_clock (GST_ELEMENT (self));
  gst_pad_start_task (self->src, source_loop, self, NULL);
  g_mutex_unlock (&self->lock);
}

/* Of one that is added to a pipeline that plays, behind its start. */
static gboolean
gst_mcc_source_set_clock (GstElement *element, GstClock *clock)
{
  GstMccSource *self = GST_MCC_SOURCE (element);

  g_mutex_lock (&self->lock);
  if (self->playing)
    gst_object_replace ((GstObject **)&self->clock, GST_OBJECT_CAST (clock));
  g_mutex_unlock (&self->lock);
  return GST_ELEMENT_CLASS (gst_mcc_source_parent_class)->set_clock (element, clock);
}

/* The task pauses by itself: what it pushes into may wait for the state change that asks. */
static void
pause_task (GstMccSource *self)
{
  g_mutex_lock (&self->lock);
  self->playing = FALSE;
  g_mutex_unlock (&self->lock);
  wake (self);
}

static gboolean
src_activate_mode (GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (active)
    return TRUE;
  pause_task (GST_MCC_SOURCE (parent));
  return gst_pad_stop_task (pad);
}

static gboolean
src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event); /* nothing upstream of a socket */
  return TRUE;
}

static gboolean
src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, TRUE, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean
is_active (GstMccSource *self)
{
  gboolean active;

  GST_OBJECT_LOCK (self->src);
  active = GST_PAD_MODE (self->src) == GST_PAD_MODE_PUSH;
  GST_OBJECT_UNLOCK (self->src);
  return active;
}

/* EOS must come from the task, behind the packets before it. */
static gboolean
end_stream (GstMccSource *self)
{
  if (!is_active (self))
    return FALSE;
  g_mutex_lock (&self->lock);
  self->eos = TRUE;
  gst_pad_start_task (self->src, source_loop, self, NULL);
  g_mutex_unlock (&self->lock);
  wake (self);
  return TRUE;
}

static gboolean
flush_start (GstMccSource *self, GstEvent *event)
{
  gboolean good;

  g_mutex_lock (&self->lock);
  self->flushing = TRUE;
  g_mutex_unlock (&self->lock);
  if (self->funcs.flush_start)
    self->funcs.flush_start (self->owner);
  good = gst_pad_push_event (self->src, event);
  wake (self);
  return good;
}

static gboolean
flush_stop (GstMccSource *self, GstEvent *event)
{
  gboolean good, playing, reset_time;

  gst_event_parse_flush_stop (event, &reset_time);
  /* The task has it until it has paused, which the start of the flush has asked for. */
  GST_PAD_STREAM_LOCK (self->src);
  good = gst_pad_push_event (self->src, event);
  clear_queue (&self->held);
  clear_queue (&self->waiting);
  self->started = FALSE;
  if (self->funcs.flush_stop)
    self->funcs.flush_stop (self->owner, reset_time);
  GST_PAD_STREAM_UNLOCK (self->src);
  g_mutex_lock (&self->lock);
  self->flushing = FALSE;
  playing = self->playing;
  g_mutex_unlock (&self->lock);
  if (playing)
    start_task (self);
  return good;
}

static gboolean
gst_mcc_source_send_event (GstElement *element, GstEvent *event)
{
  GstMccSource *self = GST_MCC_SOURCE (element);
  gboolean flushing;

  g_mutex_lock (&self->lock);
  flushing = self->flushing;
  g_mutex_unlock (&self->lock);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_EOS:
      gst_event_unref (event);
      return end_stream (self);
    case GST_EVENT_FLUSH_START:
      if (is_active (self))
        return flush_start (self, event);
      break;
    case GST_EVENT_FLUSH_STOP:
      if (flushing && is_active (self)) /* a start came before */
        return flush_stop (self, event);
      break;
    default:
      break;
  }
  gst_event_unref (event);
  return FALSE;
}

static GstStateChangeReturn
gst_mcc_source_change_state (GstElement *element, GstStateChange transition)
{
  GstMccSource *self = GST_MCC_SOURCE (element);
  GstStateChangeReturn result;

  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      self->started = self->failed = self->eos = self->flushing = FALSE;
      gst_buffer_pool_set_active (self->pool, TRUE);
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      pause_task (self);
      break;
    default:
      break;
  }
  result = GST_ELEMENT_CLASS (gst_mcc_source_parent_class)->change_state (element, transition);
  if (result == GST_STATE_CHANGE_FAILURE)
    return result;
  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      return GST_STATE_CHANGE_NO_PREROLL;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      start_task (self);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      clear_queue (&self->held);
      clear_queue (&self->waiting);
      gst_buffer_pool_set_active (self->pool, FALSE);
      break;
    default:
      break;
  }
  return result;
}

/* ---- life ---- */

static void
gst_mcc_source_finalize (GObject *object)
{
  GstMccSource *self = GST_MCC_SOURCE (object);

  clear_queue (&self->held);
  clear_queue (&self->waiting);
  gst_clear_caps (&self->caps);
  gst_clear_caps (&self->fallback);
  gst_clear_object (&self->clock);
  gst_clear_object (&self->direct);
  gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  clear_reading (self);
  for (guint i = 0; i < self->n_inputs; i++)
    gst_mcc_input_unref (self->inputs[i]);
  g_free (self->data);
  if (self->wake_fd >= 0)
    close (self->wake_fd);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_mcc_source_parent_class)->finalize (object);
}

static void
gst_mcc_source_class_init (GstMccSourceClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_mcc_source_debug, "mccsource", 0, "RTP source");
  G_OBJECT_CLASS (klass)->finalize = gst_mcc_source_finalize;
  element_class->change_state = gst_mcc_source_change_state;
  element_class->set_clock = gst_mcc_source_set_clock;
  element_class->send_event = gst_mcc_source_send_event;
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (
      element_class, "RTP source", "Source/Network/RTP", "Reads RTP", "adaptivemulticast");
}

static GstBufferPool *
make_pool (void)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, POOLED_BYTES, 0, 0);
  gst_buffer_pool_set_config (pool, config);
  return pool;
}

static void
gst_mcc_source_init (GstMccSource *self)
{
  g_mutex_init (&self->lock);
  g_queue_init (&self->held);
  g_queue_init (&self->waiting);
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->pool = make_pool ();
  self->data = g_malloc (BATCH * DATAGRAM_BYTES);
  for (guint i = 0; i < BATCH; i++) {
    self->vectors[i]
        = (struct iovec){ .iov_base = self->data + i * DATAGRAM_BYTES, .iov_len = DATAGRAM_BYTES };
    self->messages[i].msg_hdr = (struct msghdr){ .msg_name = &self->addresses[i],
      .msg_iov = &self->vectors[i],
      .msg_iovlen = 1,
      .msg_control = &self->controls[i] };
  }
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SOURCE);
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_activatemode_function (self->src, src_activate_mode);
  gst_pad_set_event_function (self->src, src_event);
  gst_pad_set_query_function (self->src, src_query);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}

GstElement *
gst_mcc_source_new (GSocket *socket, const GstMccSourceFuncs *funcs, gpointer owner)
{
  GstMccSource *self = g_object_new (GST_TYPE_MCC_SOURCE, NULL);

  self->funcs = *funcs;
  self->owner = owner;
  if (socket) {
    GstMccInput *input = gst_mcc_input_new (socket, 0);

    gst_mcc_source_add (self, input);
    gst_mcc_input_unref (input);
  }
  return GST_ELEMENT (self);
}

GstMccInput *
gst_mcc_input_new (GSocket *socket, guint stream)
{
  GstMccInput *self = g_new0 (GstMccInput, 1);

  gst_mcc_arrival_enable (g_socket_get_fd (socket));
  g_atomic_ref_count_init (&self->references);
  self->socket = g_object_ref (socket);
  self->stream = stream;
  mcc_stall_init (&self->stall);
  return self;
}

void
gst_mcc_input_unref (GstMccInput *self)
{
  if (!g_atomic_ref_count_dec (&self->references))
    return;
  g_object_unref (self->socket);
  g_free (self);
}

/* Those of @stream, or of @socket. */
static void
remove_locked (GstMccSource *self, guint stream, GSocket *socket)
{
  guint kept = 0;

  for (guint i = 0; i < self->n_inputs; i++)
    if (self->inputs[i]->stream == stream || self->inputs[i]->socket == socket)
      gst_mcc_input_unref (self->inputs[i]);
    else
      self->inputs[kept++] = self->inputs[i];
  self->n_inputs = kept;
}

void
gst_mcc_source_add (GstMccSource *self, GstMccInput *input)
{
  g_mutex_lock (&self->lock);
  remove_locked (self, input->stream, NULL);
  if (self->n_inputs < INPUTS_MAX) {
    g_atomic_ref_count_inc (&input->references);
    self->inputs[self->n_inputs++] = input;
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_source_wake (self);
}

void
gst_mcc_source_remove (GstMccSource *self, GSocket *socket)
{
  g_mutex_lock (&self->lock);
  remove_locked (self, G_MAXUINT, socket);
  g_mutex_unlock (&self->lock);
  gst_mcc_source_wake (self);
}

void
gst_mcc_source_set_unread (GstMccSource *self)
{
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n_inputs; i++)
    g_atomic_int_set (&self->inputs[i]->unread, TRUE);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_source_wake (GstMccSource *self)
{
  g_atomic_int_set (&self->inputs_changed, TRUE);
  wake (self);
}

gboolean
gst_mcc_source_link (GstMccSource *self, GstPad *sink)
{
  if (gst_pad_link (self->src, sink) != GST_PAD_LINK_OK)
    return FALSE;
  self->direct = gst_ghost_pad_get_target (GST_GHOST_PAD (sink));
  return self->direct != NULL;
}

void
gst_mcc_source_stop (GstMccSource *self)
{
  gst_pad_set_active (self->src, FALSE);
}

void
gst_mcc_source_set_caps (GstMccSource *self, GstCaps *caps)
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
gst_mcc_source_reset (GstMccSource *self)
{
  g_mutex_lock (&self->lock);
  gst_clear_caps (&self->caps);
  self->restart = TRUE;
  g_mutex_unlock (&self->lock);
}

guint64
gst_mcc_source_get_dropped (GstMccSource *self)
{
  guint64 dropped;

  g_mutex_lock (&self->lock);
  dropped = self->dropped;
  g_mutex_unlock (&self->lock);
  return dropped;
}
