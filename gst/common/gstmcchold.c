/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmcchold.h"

GST_DEBUG_CATEGORY_STATIC (gst_mcc_hold_debug);
#define GST_CAT_DEFAULT gst_mcc_hold_debug

struct _GstMccHold {
  gatomicrefcount references;
  GMutex lock; /* guards all below, and what is in the entries */
  GPtrArray *entries;
};

typedef struct {
  GstMccHold *hold;
  GWeakRef clocksync;
  gboolean begun;    /* its first buffer has left */
  GstClockTime late; /* by which that was late, if it was */
} Entry;

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_mutex_lock (&entry->hold->lock);
  g_ptr_array_remove_fast (entry->hold->entries, entry);
  g_mutex_unlock (&entry->hold->lock);
  g_weak_ref_clear (&entry->clocksync);
  gst_mcc_hold_unref (entry->hold);
  g_free (entry);
}

static GstClockTime
latest_locked (GstMccHold *self)
{
  GstClockTime late = 0;

  for (guint i = 0; i < self->entries->len; i++)
    late = MAX (late, ((Entry *)g_ptr_array_index (self->entries, i))->late);
  return late;
}

/* All are as late as the latest. Returns what is to be unreffed outside of the lock: an element
 * that goes takes it. */
static GPtrArray *
apply_locked (GstMccHold *self)
{
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  gint64 offset = (gint64)latest_locked (self);

  for (guint i = 0; i < self->entries->len; i++) {
    Entry *entry = g_ptr_array_index (self->entries, i);
    GstElement *clocksync = g_weak_ref_get (&entry->clocksync);

    if (!clocksync)
      continue;
    g_object_set (clocksync, "ts-offset", offset, NULL);
    g_ptr_array_add (elements, clocksync);
  }
  return elements;
}

static gboolean
is_live (GstElement *clocksync)
{
  GstPad *sink = gst_element_get_static_pad (clocksync, "sink");
  GstQuery *query = gst_query_new_latency ();
  gboolean live = TRUE; /* not known: as it was */

  if (gst_pad_peer_query (sink, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  gst_object_unref (sink);
  return live;
}

/* GST_CLOCK_TIME_NONE: it has no time. */
static GstClockTime
running_time_of (GstPad *pad, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_DTS_OR_PTS (buffer), running = GST_CLOCK_TIME_NONE;
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;

  if (!event)
    return running;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME)
    running = gst_segment_to_running_time (segment, GST_FORMAT_TIME, time);
  gst_event_unref (event);
  return running;
}

/* The first one has left clocksync, in time or late. */
static void
look_at_first (Entry *entry, GstPad *src, GstElement *clocksync, GstBuffer *buffer)
{
  GstMccHold *self = entry->hold;
  GstClockTime due = running_time_of (src, buffer);
  GstClockTime now = gst_element_get_current_running_time (clocksync);
  GPtrArray *moved = NULL;
  gboolean sync, live;

  if (!GST_CLOCK_TIME_IS_VALID (due) || !GST_CLOCK_TIME_IS_VALID (now))
    return;
  g_object_get (clocksync, "sync", &sync, NULL);
  live = is_live (clocksync);
  g_mutex_lock (&self->lock);
  entry->begun = TRUE;
  if (sync && !live && now > due + latest_locked (self) + GST_MCC_HOLD_LATE) {
    entry->late = now - due;
    GST_INFO_OBJECT (clocksync, "begins %" GST_TIME_FORMAT " late", GST_TIME_ARGS (entry->late));
    moved = apply_locked (self);
  }
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&moved, g_ptr_array_unref);
}

static void
handle_data (Entry *entry, GstPad *src, GstPadProbeInfo *info)
{
  GstElement *clocksync;
  GstBuffer *buffer;
  gboolean begun;

  g_mutex_lock (&entry->hold->lock);
  begun = entry->begun;
  g_mutex_unlock (&entry->hold->lock);
  if (begun)
    return;
  buffer = info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST
               ? gst_buffer_list_get (GST_PAD_PROBE_INFO_BUFFER_LIST (info), 0)
               : GST_PAD_PROBE_INFO_BUFFER (info);
  clocksync = g_weak_ref_get (&entry->clocksync);
  if (buffer && clocksync)
    look_at_first (entry, src, clocksync, buffer);
  gst_clear_object (&clocksync);
}

static void
handle_event (Entry *entry, GstEventType type)
{
  gboolean flushes = type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP;
  GPtrArray *moved = NULL;

  if (!flushes && type != GST_EVENT_STREAM_START)
    return;
  g_mutex_lock (&entry->hold->lock);
  entry->begun = FALSE;
  if (flushes) { /* running time may begin anew; else it goes on */
    entry->late = 0;
    moved = apply_locked (entry->hold);
  }
  g_mutex_unlock (&entry->hold->lock);
  g_clear_pointer (&moved, g_ptr_array_unref);
}

static GstPadProbeReturn
on_left (GstPad *src, GstPadProbeInfo *info, gpointer data)
{
  if (info->type & (GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST))
    handle_data (data, src, info);
  else
    handle_event (data, GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)));
  return GST_PAD_PROBE_OK;
}

GstMccHold *
gst_mcc_hold_new (void)
{
  GstMccHold *self = g_new0 (GstMccHold, 1);

  GST_DEBUG_CATEGORY_INIT (gst_mcc_hold_debug, "mcchold", 0, "what is not live, held to its pace");
  g_atomic_ref_count_init (&self->references);
  g_mutex_init (&self->lock);
  self->entries = g_ptr_array_new ();
  return self;
}

void
gst_mcc_hold_unref (GstMccHold *self)
{
  if (!self || !g_atomic_ref_count_dec (&self->references))
    return;
  g_ptr_array_unref (self->entries);
  g_mutex_clear (&self->lock);
  g_free (self);
}

void
gst_mcc_hold_add (GstMccHold *self, GstElement *clocksync)
{
  GstPad *src = gst_element_get_static_pad (clocksync, "src");
  Entry *entry = g_new0 (Entry, 1);
  GPtrArray *moved;

  g_atomic_ref_count_inc (&self->references);
  entry->hold = self;
  g_weak_ref_init (&entry->clocksync, clocksync);
  g_mutex_lock (&self->lock);
  g_ptr_array_add (self->entries, entry);
  moved = apply_locked (self);
  g_mutex_unlock (&self->lock);
  g_ptr_array_unref (moved);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      on_left, entry, entry_free);
  gst_object_unref (src);
}

void
gst_mcc_hold_reset (GstMccHold *self)
{
  GPtrArray *moved;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->entries->len; i++) {
    Entry *entry = g_ptr_array_index (self->entries, i);

    entry->begun = FALSE;
    entry->late = 0;
  }
  moved = apply_locked (self);
  g_mutex_unlock (&self->lock);
  g_ptr_array_unref (moved);
}
