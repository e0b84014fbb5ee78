/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstelmsplit.h"

#include <gst/rtp/gstrtpbuffer.h>

#include "gstmccabssendtime.h"
#include "gstmcccaps.h"
#include "gstmccrtpread.h"
#include "mccrng.h"

GST_DEBUG_CATEGORY_STATIC (gst_elm_split_debug);
#define GST_CAT_DEFAULT gst_elm_split_debug

#define LAYERS MCC_LAYER_ORDER_LAYERS_MAX
#define UNIT_PACKETS 4096 /* more are no access unit */
#define RTP_HEADER_BYTES 12
#define ID_MAX 14 /* of one-byte header extensions */

/* One stream that comes in. */
typedef struct {
  GstElmSplit *split;
  GstPad *pad;
  gint layer; /* -1: all */
  MccLayerClass class;
  guint32 time_offset; /* of its payloader */
  guint ids;           /* of header extensions in its caps, as a bit mask */
  guint8 time_id;      /* ... that of abs-send-time, 0: none */
  gboolean eos;
  /* The unit that has begun. */
  GstBufferList *unit;
  guint32 rtp_time;
} Input;

/* A unit that waits until the layers have been counted. */
typedef struct {
  GstBufferList *list;
  MccLayerUnit unit;
} Pending;

struct _GstElmSplit {
  GstElement parent;
  GstPad *src;
  GstElmSplitHandler handler;
  gpointer owner;
  guint most;
  Input *inputs[LAYERS];
  guint n_inputs;

  /* Guards what follows, and keeps units of several streams apart: held while they are pushed. */
  GMutex lock;
  MccRng rng;
  MccLayerOrder order;      /* .count 0: not counted yet */
  guint8 order_id, time_id; /* of the header extensions, the same ones in all layers */
  guint32 ssrc[LAYERS];
  guint16 seq[LAYERS];
  GArray *pending;
  gint64 pending_since; /* us */
  gboolean begun;       /* the base layer's segment has left */
  gboolean ended;       /* EOS has */

  gint collided; /* bit k: another one has the SSRC of layer k; atomic */

  GMutex figures; /* a leaf; guards the SSRCs too, which are written with both */
  guint64 units[LAYERS];
};

G_DEFINE_FINAL_TYPE (GstElmSplit, gst_elm_split, GST_TYPE_ELEMENT)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate src_template
    = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---- units on their way out; with the lock ---- */

static GstBuffer *
write_packet (GstElmSplit *self, GstBuffer *buffer, guint32 time_shift)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 bytes[MCC_LAYER_ORDER_BYTES_MAX];
  guint layer = self->order.layer;
  gsize size;

  buffer = gst_buffer_make_writable (buffer);
  if (!gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp))
    return buffer;
  gst_rtp_buffer_set_ssrc (&rtp, self->ssrc[layer]);
  gst_rtp_buffer_set_seq (&rtp, self->seq[layer]++);
  if (time_shift)
    gst_rtp_buffer_set_timestamp (&rtp, gst_rtp_buffer_get_timestamp (&rtp) + time_shift);
  size = mcc_layer_order_write (&self->order, bytes);
  if (!gst_rtp_buffer_add_extension_onebyte_header (&rtp, self->order_id, bytes, (guint)size)
      && !gst_rtp_buffer_add_extension_twobytes_header (
          &rtp, 0, self->order_id, bytes, (guint)size))
    GST_WARNING_OBJECT (self, "no room for the layers' order");
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static gboolean
is_taken (const GstElmSplit *self, guint32 ssrc)
{
  for (guint i = 0; i < LAYERS; i++)
    if (self->ssrc[i] == ssrc)
      return TRUE;
  return FALSE;
}

/* Apart, so that they are never the same. */
static void
choose_ssrcs (GstElmSplit *self)
{
  g_mutex_lock (&self->figures);
  self->ssrc[0] = (guint32)mcc_rng_next (&self->rng);
  for (guint i = 1; i < LAYERS; i++)
    self->ssrc[i] = self->ssrc[i - 1] + 0x10000001u;
  g_mutex_unlock (&self->figures);
}

static void
rename_layer (GstElmSplit *self, guint layer)
{
  GstEvent *event;
  GstCaps *caps;
  guint32 ssrc;

  do
    ssrc = (guint32)mcc_rng_next (&self->rng);
  while (is_taken (self, ssrc));
  g_mutex_lock (&self->figures);
  self->ssrc[layer] = ssrc;
  g_mutex_unlock (&self->figures);
  GST_INFO_OBJECT (self, "layer %u is %08x from now on: a collision", layer, ssrc);
  gst_pad_push_event (self->src, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
                                     gst_structure_new (GST_ELM_SPLIT_RENAMED, "layer", G_TYPE_UINT,
                                         layer, "ssrc", G_TYPE_UINT, ssrc, NULL)));
  event = gst_pad_get_sticky_event (self->src, GST_EVENT_CAPS, 0);
  if (event) {
    gst_event_parse_caps (event, &caps);
    caps = gst_caps_copy (caps);
    gst_event_unref (event);
    gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, self->ssrc[0], NULL);
    gst_pad_push_event (self->src, gst_event_new_caps (caps));
    gst_caps_unref (caps);
  }
  self->handler.renamed (self->owner, layer, ssrc);
}

static void
rename_collided (GstElmSplit *self)
{
  guint collided = g_atomic_int_and ((guint *)&self->collided, 0);

  for (guint i = 0; i < LAYERS; i++)
    if (collided & 1u << i)
      rename_layer (self, i);
}

/* Takes @list. */
static GstFlowReturn
push_unit (GstElmSplit *self, GstBufferList *list, const MccLayerUnit *unit, guint32 time_shift)
{
  guint n = gst_buffer_list_length (list);
  GstBufferList *out = gst_buffer_list_new_sized (n);

  if (g_atomic_int_get (&self->collided))
    rename_collided (self);
  for (guint i = 0; i < n; i++) {
    self->order.layer = unit->layer;
    self->order.flags = (guint8)(unit->flags | (i == 0 ? MCC_LAYER_FIRST : 0));
    mcc_layer_order_next (&self->order);
    gst_buffer_list_add (
        out, write_packet (self, gst_buffer_ref (gst_buffer_list_get (list, i)), time_shift));
  }
  gst_buffer_list_unref (list);
  g_mutex_lock (&self->figures);
  self->units[unit->layer]++;
  g_mutex_unlock (&self->figures);
  return gst_pad_push_list (self->src, out);
}

/* ---- which layer; with the lock ---- */

static void
read_payload (Input *input, GstBuffer *buffer)
{
  const guint8 *payload;
  GstMapInfo map;
  gsize size;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  payload = gst_mcc_rtp_find_payload (map.data, map.size, &size);
  mcc_layer_class_add (&input->class, payload, payload ? size : 0);
  gst_buffer_unmap (buffer, &map);
}

static MccLayerUnit
read_unit (Input *input, GstBufferList *list)
{
  for (guint i = 0; i < gst_buffer_list_length (list); i++)
    read_payload (input, gst_buffer_list_get (list, i));
  return mcc_layer_class_end (&input->class);
}

/* What waits, with no more than @count layers: the highest takes the rest, and what is needed in it
 * is another matter then. */
static void
fold_pending (GstElmSplit *self, guint count)
{
  Input *input = self->inputs[0];

  mcc_layer_class_init (&input->class, input->class.codec, count);
  for (guint i = 0; i < self->pending->len; i++) {
    Pending *pending = &g_array_index (self->pending, Pending, i);

    pending->unit = read_unit (input, pending->list);
  }
}

/* The layers of what waits, and of what has left. One that is empty, as that of the B references is
 * where no B picture is one, is none: the next one takes its place, and what is above it. */
static guint
count_pending (GstElmSplit *self)
{
  guint there = (1u << MAX (self->order.count, 1)) - 1, count = 0;

  for (guint i = 0; i < self->pending->len; i++)
    there |= 1u << g_array_index (self->pending, Pending, i).unit.layer;
  while (there & 1u << count)
    count++;
  if (there >> count)
    fold_pending (self, ++count);
  return count;
}

static void
set_count (GstElmSplit *self, guint count)
{
  GST_INFO_OBJECT (self, "%u layers", count);
  self->order.count = (guint8)count;
  self->handler.layers (self->owner, count);
}

/* The layers are counted: what has waited leaves. */
static GstFlowReturn
push_pending (GstElmSplit *self)
{
  GstFlowReturn ret = GST_FLOW_OK;

  if (self->pending->len > 0)
    set_count (self, count_pending (self));
  for (guint i = 0; i < self->pending->len; i++) {
    Pending *pending = &g_array_index (self->pending, Pending, i);

    ret = push_unit (self, pending->list, &pending->unit, 0);
  }
  g_array_set_size (self->pending, 0);
  return ret;
}

static gboolean
counted (GstElmSplit *self)
{
  return self->pending->len >= GST_ELM_SPLIT_UNITS
         || g_get_monotonic_time () - self->pending_since
                >= (gint64)(GST_ELM_SPLIT_TIME / GST_USECOND);
}

/* Whether the layers have to be counted, at first or again: one above the next came. */
static gboolean
is_to_be_counted (GstElmSplit *self, const MccLayerUnit *unit)
{
  return self->order.count == 0 || self->pending->len > 0 || unit->layer > self->order.count;
}

/* Takes @list. */
static GstFlowReturn
take_unit (GstElmSplit *self, Input *input, GstBufferList *list, const MccLayerUnit *unit)
{
  Pending pending = { list, *unit };
  guint32 shift = self->inputs[0]->time_offset - input->time_offset;

  if (self->order_id == 0 || !self->begun) { /* the base layer's caps and segment come first */
    gst_buffer_list_unref (list);
    return GST_FLOW_OK;
  }
  if (input->layer < 0 && is_to_be_counted (self, unit)) {
    if (self->pending->len == 0)
      self->pending_since = g_get_monotonic_time ();
    g_array_append_val (self->pending, pending);
    return counted (self) ? push_pending (self) : GST_FLOW_OK;
  }
  if (self->order.count == 0)
    set_count (self, self->n_inputs);
  if (unit->layer >= self->order.count)
    set_count (self, unit->layer + 1u);
  return push_unit (self, list, unit, input->layer < 0 ? 0 : shift);
}

/* ---- units on their way in ---- */

/* With the lock. */
static GstFlowReturn
finish_unit (Input *input)
{
  GstElmSplit *self = input->split;
  GstBufferList *list = g_steal_pointer (&input->unit);
  MccLayerUnit unit;

  if (!list)
    return GST_FLOW_OK;
  unit = read_unit (input, list);
  if (unit.error != MCC_LAYER_GOOD)
    self->handler.malformed (self->owner, unit.error);
  if (input->layer >= 0 && unit.layer != input->layer) {
    /* the layer is the pad's; what it needs its payload does not say */
    unit.layer = (uint8_t)input->layer;
    unit.flags = input->layer > 0 ? MCC_LAYER_SYNC : unit.flags & MCC_LAYER_KEY;
  }
  return take_unit (self, input, list, &unit);
}

static GstFlowReturn
take_packet (Input *input, GstBuffer *buffer)
{
  GstElmSplit *self = input->split;
  GstFlowReturn ret = GST_FLOW_OK;
  guint8 header[RTP_HEADER_BYTES];
  guint32 rtp_time;

  if (gst_buffer_extract (buffer, 0, header, sizeof header) < sizeof header
      || header[0] >> 6 != 2) {
    gst_buffer_unref (buffer);
    self->handler.malformed (self->owner, MCC_LAYER_MALFORMED);
    return GST_FLOW_OK;
  }
  rtp_time = GST_READ_UINT32_BE (header + 4);
  if (input->unit
      && (rtp_time != input->rtp_time || gst_buffer_list_length (input->unit) >= UNIT_PACKETS))
    ret = finish_unit (input);
  if (!input->unit)
    input->unit = gst_buffer_list_new ();
  input->rtp_time = rtp_time;
  gst_buffer_list_add (input->unit, buffer);
  return header[1] & 0x80 ? finish_unit (input) : ret;
}

static GstFlowReturn
sink_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstElmSplit *self = GST_ELM_SPLIT (parent);
  GstFlowReturn ret;

  g_mutex_lock (&self->lock);
  ret = take_packet (gst_pad_get_element_private (pad), buffer);
  g_mutex_unlock (&self->lock);
  return ret;
}

static GstFlowReturn
sink_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  GstElmSplit *self = GST_ELM_SPLIT (parent);
  GstFlowReturn ret = GST_FLOW_OK;

  g_mutex_lock (&self->lock);
  for (guint i = 0; ret == GST_FLOW_OK && i < gst_buffer_list_length (list); i++)
    ret = take_packet (
        gst_pad_get_element_private (pad), gst_buffer_ref (gst_buffer_list_get (list, i)));
  g_mutex_unlock (&self->lock);
  gst_buffer_list_unref (list);
  return ret;
}

/* ---- events ---- */

static MccLayerCodec
codec_of (GstCaps *caps)
{
  switch (gst_mcc_payload_from_name (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "encoding-name"))) {
    case GST_MCC_PAYLOAD_H264:
      return MCC_LAYER_CODEC_H264;
    case GST_MCC_PAYLOAD_H265:
      return MCC_LAYER_CODEC_H265;
    case GST_MCC_PAYLOAD_VP8:
      return MCC_LAYER_CODEC_VP8;
    case GST_MCC_PAYLOAD_VP9:
      return MCC_LAYER_CODEC_VP9;
    default:
      return MCC_LAYER_CODEC_OTHER;
  }
}

/* As a bit mask. */
static guint
ids_of (GstCaps *caps)
{
  guint ids = 0;

  for (guint id = 1; id <= ID_MAX; id++) {
    gchar name[16];

    g_snprintf (name, sizeof name, "extmap-%u", id);
    if (gst_structure_has_field (gst_caps_get_structure (caps, 0), name))
      ids |= 1u << id;
  }
  return ids;
}

/* Whether @id means something else in a layer than abs-send-time. */
static gboolean
is_other (const GstElmSplit *self, guint8 id)
{
  for (guint i = 0; i < self->n_inputs; i++)
    if (self->inputs[i]->ids & 1u << id && self->inputs[i]->time_id != id)
      return TRUE;
  return FALSE;
}

/* That of the base layer, else another layer's, else the highest that is free; 0: none. */
static guint8
find_time_id (const GstElmSplit *self, guint used)
{
  if (self->inputs[0]->time_id)
    return is_other (self, self->inputs[0]->time_id) ? 0 : self->inputs[0]->time_id;
  for (guint i = 1; i < self->n_inputs; i++)
    if (self->inputs[i]->time_id && !is_other (self, self->inputs[i]->time_id))
      return self->inputs[i]->time_id;
  for (guint8 id = ID_MAX; id > 0; id--)
    if (!(used & 1u << id))
      return id;
  return 0;
}

/* Finds ids for the layers' order and the send time when the base layer's caps come: ones that no
 * layer has for something else whose caps are known. The pacer stamps all layers by these ids, so
 * that layers whose caps come later must leave them. */
static gboolean
find_ids (Input *input, GstCaps *caps)
{
  GstElmSplit *self = input->split;
  guint used = 0;

  input->ids = ids_of (caps);
  input->time_id = gst_mcc_abs_send_time_id_from_caps (caps, NULL);
  if (input != self->inputs[0])
    return self->order_id == 0
           || (!(input->ids & 1u << self->order_id) && !is_other (self, self->time_id));
  for (guint i = 0; i < self->n_inputs; i++)
    used |= self->inputs[i]->ids;
  self->order_id = 0;
  for (guint8 id = 1; id <= ID_MAX; id++)
    if (!(used & 1u << id))
      self->order_id = id;
  if (self->order_id > 0)
    used |= 1u << self->order_id;
  self->time_id = find_time_id (self, used);
  if (self->time_id == 0)
    self->order_id = 0;
  return self->order_id > 0;
}

/* With the ids of the layers' order and the send time, and our SSRC. NULL: there are none. */
static GstEvent *
take_caps (Input *input, GstEvent *event)
{
  GstElmSplit *self = input->split;
  guint offset = 0;
  gchar name[16];
  MccLayerCodec codec;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  codec = codec_of (caps);
  if (codec != input->class.codec) /* else its layers are what they were counted as */
    push_pending (self);
  if (!find_ids (input, caps)) {
    self->handler.no_id (self->owner, caps);
    gst_event_unref (event);
    return NULL;
  }
  gst_structure_get_uint (gst_caps_get_structure (caps, 0), "timestamp-offset", &offset);
  input->time_offset = offset;
  if (codec != input->class.codec)
    mcc_layer_class_init (&input->class, codec, self->most);
  if (input != self->inputs[0])
    return event;
  caps = gst_caps_copy (caps);
  g_snprintf (name, sizeof name, "extmap-%u", self->order_id);
  gst_caps_set_simple (
      caps, name, G_TYPE_STRING, MCC_LAYER_ORDER_URI, "ssrc", G_TYPE_UINT, self->ssrc[0], NULL);
  g_snprintf (name, sizeof name, "extmap-%u", self->time_id);
  if (input->time_id == 0)
    gst_caps_set_simple (caps, name, G_TYPE_STRING, GST_MCC_ABS_SEND_TIME_URI, NULL);
  gst_event_unref (event);
  event = gst_event_new_caps (caps);
  gst_caps_unref (caps);
  return event;
}

static void
clear_units (GstElmSplit *self)
{
  for (guint i = 0; i < self->n_inputs; i++) {
    g_clear_pointer (&self->inputs[i]->unit, gst_buffer_list_unref);
    self->inputs[i]->eos = FALSE;
  }
  for (guint i = 0; i < self->pending->len; i++)
    gst_buffer_list_unref (g_array_index (self->pending, Pending, i).list);
  g_array_set_size (self->pending, 0);
}

static gboolean
all_ended (const GstElmSplit *self)
{
  for (guint i = 0; i < self->n_inputs; i++)
    if (!self->inputs[i]->eos)
      return FALSE;
  return TRUE;
}

/* With the lock. Serialized events come behind the units before them; those of the base layer go
 * on.
 */
static gboolean
serialized_event (Input *input, GstEvent *event)
{
  GstElmSplit *self = input->split;
  gboolean first = input == self->inputs[0];

  finish_unit (input);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      event = take_caps (input, event);
      if (!event)
        return FALSE;
      break;
    case GST_EVENT_STREAM_START:
      input->eos = FALSE;
      break;
    case GST_EVENT_SEGMENT:
      self->begun |= first;
      break;
    case GST_EVENT_EOS:
      input->eos = TRUE;
      push_pending (self);
      first = self->ended = all_ended (self);
      break;
    default:
      break;
  }
  if (first)
    return gst_pad_push_event (self->src, event);
  gst_event_unref (event);
  return TRUE;
}

/* What has left cannot go on behind EOS: a flush of its own, and the base layer's segment again. */
static void
begin_again (GstElmSplit *self)
{
  GstEvent *segment = gst_pad_get_sticky_event (self->inputs[0]->pad, GST_EVENT_SEGMENT, 0);

  self->ended = FALSE;
  gst_pad_push_event (self->src, gst_event_new_flush_start ());
  gst_pad_push_event (self->src, gst_event_new_flush_stop (FALSE));
  if (segment)
    gst_pad_push_event (self->src, segment);
}

/* With the lock. Of several streams, the others' packets stay. */
static gboolean
flush_stop (Input *input, GstEvent *event)
{
  GstElmSplit *self = input->split;

  if (self->n_inputs == 1) {
    clear_units (self);
    self->ended = FALSE;
    return gst_pad_push_event (self->src, event);
  }
  gst_event_unref (event);
  g_clear_pointer (&input->unit, gst_buffer_list_unref);
  input->eos = FALSE;
  if (self->ended)
    begin_again (self);
  return TRUE;
}

static gboolean
sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstElmSplit *self = GST_ELM_SPLIT (parent);
  gboolean ok;

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START && self->n_inputs > 1) {
    gst_event_unref (event); /* of one of them: the pad is flushing, no more */
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START || !GST_EVENT_IS_SERIALIZED (event))
    return gst_pad_push_event (self->src, event);
  g_mutex_lock (&self->lock);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    ok = flush_stop (gst_pad_get_element_private (pad), event);
  else
    ok = serialized_event (gst_pad_get_element_private (pad), event);
  g_mutex_unlock (&self->lock);
  return ok;
}

/* Of rtpsession, in the thread that reads RTCP: the SSRC changes between units. */
static void
note_collision (GstElmSplit *self, GstEvent *event)
{
  guint ssrc = 0;

  gst_structure_get_uint (gst_event_get_structure (event), "ssrc", &ssrc);
  g_mutex_lock (&self->figures);
  for (guint i = 0; i < LAYERS; i++)
    if (self->ssrc[i] == ssrc)
      g_atomic_int_or ((guint *)&self->collided, 1u << i);
  g_mutex_unlock (&self->figures);
}

static gboolean
src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstElmSplit *self = GST_ELM_SPLIT (parent);
  gboolean ok = FALSE;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM
      && gst_event_has_name (event, "GstRTPCollision")) {
    note_collision (self, event); /* ours: what comes in has another SSRC */
    gst_event_unref (event);
    return TRUE;
  }
  for (guint i = 0; i < self->n_inputs; i++)
    ok |= gst_pad_push_event (self->inputs[i]->pad, gst_event_ref (event));
  gst_event_unref (event);
  return ok;
}

/* ---- life ---- */

GstPad *
gst_elm_split_add_pad (GstElmSplit *self, gint layer)
{
  Input *input;
  gchar *name;

  g_return_val_if_fail (self->n_inputs < LAYERS, NULL);
  input = g_new0 (Input, 1);
  name = g_strdup_printf ("sink_%u", self->n_inputs);
  input->split = self;
  input->layer = layer;
  input->pad = gst_pad_new_from_static_template (&sink_template, name);
  g_free (name);
  mcc_layer_class_init (&input->class, MCC_LAYER_CODEC_OTHER, self->most);
  gst_pad_set_element_private (input->pad, input);
  gst_pad_set_chain_function (input->pad, sink_chain);
  gst_pad_set_chain_list_function (input->pad, sink_chain_list);
  gst_pad_set_event_function (input->pad, sink_event);
  self->inputs[self->n_inputs++] = input;
  gst_element_add_pad (GST_ELEMENT (self), input->pad);
  return input->pad;
}

guint32
gst_elm_split_get_ssrc (GstElmSplit *self, guint layer)
{
  guint32 ssrc;

  g_mutex_lock (&self->figures);
  ssrc = self->ssrc[layer];
  g_mutex_unlock (&self->figures);
  return ssrc;
}

guint
gst_elm_split_find_layer (GstElmSplit *self, guint32 ssrc)
{
  guint layer = 0;

  g_mutex_lock (&self->figures);
  for (guint i = 0; i < LAYERS; i++)
    if (self->ssrc[i] == ssrc)
      layer = i;
  g_mutex_unlock (&self->figures);
  return layer;
}

void
gst_elm_split_get_units (GstElmSplit *self, guint64 units[LAYERS])
{
  g_mutex_lock (&self->figures);
  memcpy (units, self->units, sizeof self->units);
  g_mutex_unlock (&self->figures);
}

static GstStateChangeReturn
gst_elm_split_change_state (GstElement *element, GstStateChange transition)
{
  GstElmSplit *self = GST_ELM_SPLIT (element);
  GstStateChangeReturn ret
      = GST_ELEMENT_CLASS (gst_elm_split_parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    g_mutex_lock (&self->lock);
    clear_units (self);
    self->ended = self->begun = FALSE;
    self->order.count = 0; /* what comes then may be another stream */
    self->order_id = 0;
    for (guint i = 0; i < self->n_inputs; i++)
      mcc_layer_class_init (&self->inputs[i]->class, MCC_LAYER_CODEC_OTHER, self->most);
    choose_ssrcs (self); /* those it had have said BYE */
    g_atomic_int_set (&self->collided, 0);
    g_mutex_unlock (&self->lock);
  }
  return ret;
}

static void
gst_elm_split_finalize (GObject *object)
{
  GstElmSplit *self = GST_ELM_SPLIT (object);

  clear_units (self);
  for (guint i = 0; i < self->n_inputs; i++)
    g_free (self->inputs[i]);
  g_array_unref (self->pending);
  g_mutex_clear (&self->figures);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_elm_split_parent_class)->finalize (object);
}

static void
gst_elm_split_class_init (GstElmSplitClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_elm_split_debug, "elmsplit", 0, "layers of RTP");
  G_OBJECT_CLASS (klass)->finalize = gst_elm_split_finalize;
  element_class->change_state = gst_elm_split_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Layer splitter", "Filter/Network/RTP",
      "Makes layers of RTP", "adaptivemulticast");
}

static void
gst_elm_split_init (GstElmSplit *self)
{
  g_mutex_init (&self->lock);
  g_mutex_init (&self->figures);
  self->pending = g_array_new (FALSE, FALSE, sizeof (Pending));
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->src, src_event);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}

GstElement *
gst_elm_split_new (const GstElmSplitHandler *handler, gpointer owner, guint count, guint64 seed)
{
  GstElmSplit *self = g_object_new (GST_TYPE_ELM_SPLIT, NULL);

  self->handler = *handler;
  self->owner = owner;
  self->most = count;
  mcc_rng_init (&self->rng, seed);
  choose_ssrcs (self);
  for (guint i = 0; i < LAYERS; i++) {
    self->seq[i] = (guint16)mcc_rng_next (&self->rng);
    self->order.c[i] = (guint16)mcc_rng_next (&self->rng);
  }
  return GST_ELEMENT (self);
}
