/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmcclayers.h"

#include "mccrtpextension.h"

enum { PT_SR = 200, PT_SDES = 202 };

struct _GstMccLayers {
  GstMccLayersFuncs funcs;
  gpointer owner;
  guint32 ssrc;
  /* Of the one thread alone. */
  GArray *todo; /* MccLayerMergeAction */

  /* Guards what follows; never held over a call out. */
  GMutex lock;
  MccLayerMerge *merge;
  MccTime now;           /* never runs back: commands come from other threads */
  guint joined, applied; /* bits: what is wanted, what the merge knows */
  gboolean restart;      /* another sender is to come */
  guint32 base_ssrc;
  guint8 order_id;
  guint clock_rate;
  guint count; /* layers, as packets say; 0: none came */
};

GstMccLayers *
gst_mcc_layers_new (const GstMccLayersFuncs *funcs, gpointer owner, guint32 ssrc, MccTime wait)
{
  MccLayerMerge *merge = mcc_layer_merge_new (wait, (uint16_t)g_random_int ());
  GstMccLayers *self;

  if (!merge)
    return NULL;
  self = g_new0 (GstMccLayers, 1);
  self->funcs = *funcs;
  self->owner = owner;
  self->ssrc = ssrc;
  self->merge = merge;
  self->restart = TRUE;
  self->todo = g_array_new (FALSE, FALSE, sizeof (MccLayerMergeAction));
  g_mutex_init (&self->lock);
  return self;
}

/* Called with the lock. */
static MccTime
clock_locked (GstMccLayers *self, MccTime now)
{
  self->now = mcc_time_max (self->now, now);
  return self->now;
}

void
gst_mcc_layers_reset (GstMccLayers *self, MccTime now)
{
  MccLayerMergeAction action;

  g_mutex_lock (&self->lock);
  mcc_layer_merge_reset (self->merge, clock_locked (self, now));
  while (mcc_layer_merge_poll (self->merge, &action))
    if (action.type == MCC_LAYER_MERGE_FREE || action.type == MCC_LAYER_MERGE_EMIT)
      gst_buffer_unref (action.data);
  self->joined = self->applied = 0;
  self->count = 0;
  self->restart = TRUE;
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_layers_free (GstMccLayers *self)
{
  if (!self)
    return;
  gst_mcc_layers_reset (self, 0);
  mcc_layer_merge_free (self->merge);
  g_array_unref (self->todo);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* ---- what others tell ---- */

void
gst_mcc_layers_join (GstMccLayers *self, guint layer)
{
  g_mutex_lock (&self->lock);
  self->joined |= 1u << layer;
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_layers_leave (GstMccLayers *self, guint layer)
{
  g_mutex_lock (&self->lock);
  self->joined &= ~(1u << layer);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_layers_restart (GstMccLayers *self, guint32 ssrc)
{
  g_mutex_lock (&self->lock);
  self->restart = TRUE;
  self->base_ssrc = ssrc;
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_layers_set_media (GstMccLayers *self, guint8 order_id, guint clock_rate)
{
  g_mutex_lock (&self->lock);
  self->order_id = order_id;
  self->clock_rate = clock_rate;
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_layers_get_stats (GstMccLayers *self, MccLayerMergeStats *out)
{
  g_mutex_lock (&self->lock);
  mcc_layer_merge_get_stats (self->merge, out);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_layers_clear_stats (GstMccLayers *self)
{
  g_mutex_lock (&self->lock);
  mcc_layer_merge_clear_stats (self->merge);
  g_mutex_unlock (&self->lock);
}

/* ---- the one thread ---- */

static void
drain_locked (GstMccLayers *self)
{
  MccLayerMergeAction action;

  while (mcc_layer_merge_poll (self->merge, &action))
    g_array_append_val (self->todo, action);
}

static void
apply_locked (GstMccLayers *self, MccTime now)
{
  guint changed = self->joined ^ self->applied;

  for (guint k = 0; changed && k < MCC_LAYER_ORDER_LAYERS_MAX; k++) {
    if (!(changed & 1u << k))
      continue;
    if (self->joined & 1u << k)
      mcc_layer_merge_join (self->merge, k, now);
    else
      mcc_layer_merge_leave (self->merge, k, now);
    drain_locked (self);
  }
  self->applied = self->joined;
}

static void
count_locked (GstMccLayers *self, guint count, MccTime now)
{
  if (count == self->count && !self->restart)
    return;
  mcc_layer_merge_start (self->merge, count, self->clock_rate, self->restart, now);
  drain_locked (self);
  self->count = count;
  self->restart = FALSE;
}

/* FALSE: it has no order. */
static gboolean
read_packet (GstBuffer *buffer, guint8 order_id, MccLayerPacket *packet)
{
  const guint8 *element;
  gboolean good = FALSE;
  GstMapInfo map;
  gsize bytes;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  element = mcc_rtp_packet_element (map.data, map.size, order_id, &bytes);
  if (element)
    good = mcc_layer_order_read (element, bytes, &packet->order);
  if (good) {
    packet->bytes = (guint32)map.size;
    packet->marker = map.data[1] & 0x80;
    packet->rtp_time = GST_READ_UINT32_BE (map.data + 4);
    packet->data = buffer;
  }
  gst_buffer_unmap (buffer, &map);
  return good;
}

static void
emit (GstMccLayers *self, const MccLayerMergeAction *action)
{
  GstBuffer *buffer = action->data;
  guint32 words[3]; /* aligned */
  guint8 *header = (guint8 *)words;

  gst_buffer_extract (buffer, 0, header, 2);
  GST_WRITE_UINT16_BE (header + 2, action->seq);
  GST_WRITE_UINT32_BE (header + 4, action->rtp_time);
  GST_WRITE_UINT32_BE (header + 8, self->ssrc);
  gst_buffer_fill (buffer, 0, header, sizeof words);
  self->funcs.out (self->owner, buffer);
}

/* Without the lock. */
static void
act (GstMccLayers *self)
{
  for (guint i = 0; i < self->todo->len; i++) {
    MccLayerMergeAction action = g_array_index (self->todo, MccLayerMergeAction, i);

    switch (action.type) {
      case MCC_LAYER_MERGE_EMIT:
        emit (self, &action);
        break;
      case MCC_LAYER_MERGE_FREE:
        gst_buffer_unref (action.data);
        break;
      case MCC_LAYER_MERGE_SHOWN:
        self->funcs.shown (self->owner, action.layer);
        break;
      case MCC_LAYER_MERGE_KEY_UNIT:
        self->funcs.key_unit (self->owner);
        break;
    }
  }
  g_array_set_size (self->todo, 0);
}

void
gst_mcc_layers_handle (GstMccLayers *self, guint layer, GstBuffer *buffer, MccTime now)
{
  MccLayerPacket packet = { 0 };
  gboolean taken;

  g_mutex_lock (&self->lock);
  now = clock_locked (self, now);
  apply_locked (self, now);
  taken = read_packet (buffer, self->order_id, &packet) && packet.order.layer == layer;
  if (taken) {
    count_locked (self, packet.order.count, now);
    mcc_layer_merge_handle (self->merge, &packet, now);
    drain_locked (self);
  }
  g_mutex_unlock (&self->lock);
  if (!taken)
    gst_buffer_unref (buffer);
  act (self);
}

MccTime
gst_mcc_layers_due (GstMccLayers *self, MccTime now)
{
  MccTime next;

  g_mutex_lock (&self->lock);
  now = clock_locked (self, now);
  apply_locked (self, now);
  if (now >= mcc_layer_merge_next_timeout (self->merge)) {
    mcc_layer_merge_handle_timeout (self->merge, now);
    drain_locked (self);
  }
  next = mcc_layer_merge_next_timeout (self->merge);
  g_mutex_unlock (&self->lock);
  act (self);
  return next;
}

/* ---- RTCP ---- */

/* Screened: every packet has its SSRC behind its header, SDES one chunk or more of that SSRC. */
gsize
gst_mcc_layers_map_rtcp (GstMccLayers *self, guint8 *data, gsize size)
{
  guint32 rtp_time;
  gboolean shown;
  gsize kept = 0;

  if (size < 20 || data[1] != PT_SR)
    return 0;
  g_mutex_lock (&self->lock);
  shown = GST_READ_UINT32_BE (data + 4) == self->base_ssrc && !self->restart
          && mcc_layer_merge_map_time (self->merge, GST_READ_UINT32_BE (data + 16), &rtp_time);
  g_mutex_unlock (&self->lock);
  if (!shown)
    return 0;
  GST_WRITE_UINT32_BE (data + 16, rtp_time);
  for (gsize at = 0; at + 8 <= size;) {
    gsize bytes = 4 + 4 * (gsize)GST_READ_UINT16_BE (data + at + 2);

    if (bytes > size - at)
      break;
    if (data[at + 1] == PT_SR || data[at + 1] == PT_SDES) {
      GST_WRITE_UINT32_BE (data + at + 4, self->ssrc);
      memmove (data + kept, data + at, bytes);
      kept += bytes;
    }
    at += bytes;
  }
  return kept;
}
