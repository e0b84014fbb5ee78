/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstelmfan.h"

#include <gst/base/gstflowcombiner.h>

#include "mcclayerorder.h"
#include "mccseq.h"

#define LAYERS MCC_LAYER_ORDER_LAYERS_MAX

struct _GstElmFan {
  GstElement parent;
  GstPad *sink;
  GstElmSplit *split;
  GstElmFanSent sent;
  gpointer owner;
  guint overhead;
  GstFlowCombiner *combiner;
  struct {
    GstPad *pad;
    guint32 ssrc;
    MccSeq seq;
  } layer[LAYERS];
  guint n_layers;
};

G_DEFINE_FINAL_TYPE (GstElmFan, gst_elm_fan, GST_TYPE_ELEMENT)

static GstStaticPadTemplate sink_template
    = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template
    = GST_STATIC_PAD_TEMPLATE ("src_%u", GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);

/* The layer of a packet; LAYERS: none. */
static guint
find_layer (const GstElmFan *self, GstBuffer *buffer, guint16 *seq)
{
  guint8 header[12];
  guint32 ssrc;

  if (gst_buffer_extract (buffer, 0, header, sizeof header) < sizeof header)
    return LAYERS;
  *seq = GST_READ_UINT16_BE (header + 2);
  ssrc = GST_READ_UINT32_BE (header + 8);
  for (guint i = 0; i < self->n_layers; i++)
    if (self->layer[i].ssrc == ssrc)
      return i;
  return LAYERS;
}

/* Takes @list: packets of @layer. */
static GstFlowReturn
push_run (GstElmFan *self, guint layer, GstBufferList *list, guint64 highest)
{
  guint packets = gst_buffer_list_length (list);
  guint64 bytes = gst_buffer_list_calculate_size (list) + (guint64)packets * self->overhead;
  GstFlowReturn ret = gst_pad_push_list (self->layer[layer].pad, list);

  self->sent (self->owner, layer, packets, bytes, (guint32)highest);
  return gst_flow_combiner_update_pad_flow (self->combiner, self->layer[layer].pad, ret);
}

static GstFlowReturn
chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  GstElmFan *self = GST_ELM_FAN (parent);
  GstFlowReturn ret = GST_FLOW_OK;
  GstBufferList *run = NULL;
  guint of = LAYERS;
  guint64 highest = 0;

  for (guint i = 0; i < gst_buffer_list_length (list); i++) {
    GstBuffer *buffer = gst_buffer_list_get (list, i);
    guint16 seq = 0;
    guint layer = find_layer (self, buffer, &seq);

    if (layer == LAYERS)
      continue;
    if (run && layer != of)
      ret = push_run (self, of, g_steal_pointer (&run), highest);
    if (!run)
      run = gst_buffer_list_new ();
    of = layer;
    highest = mcc_seq_extend16 (&self->layer[layer].seq, seq);
    gst_buffer_list_add (run, gst_buffer_ref (buffer));
  }
  if (run)
    ret = push_run (self, of, run, highest);
  gst_buffer_list_unref (list);
  return ret;
}

static GstFlowReturn
chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstBufferList *list = gst_buffer_list_new_sized (1);

  gst_buffer_list_add (list, buffer);
  return chain_list (pad, parent, list);
}

static GstEvent *
make_event (const GstElmFan *self, guint layer, GstEvent *event)
{
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return gst_event_ref (event);
  gst_event_parse_caps (event, &caps);
  caps = gst_caps_copy (caps);
  gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, self->layer[layer].ssrc, NULL);
  event = gst_event_new_caps (caps);
  gst_caps_unref (caps);
  return event;
}

/* Packets that follow have another SSRC; so have the caps that do. */
static void
rename_layer (GstElmFan *self, const GstStructure *renamed)
{
  guint layer = 0, ssrc = 0;

  gst_structure_get_uint (renamed, "layer", &layer);
  gst_structure_get_uint (renamed, "ssrc", &ssrc);
  if (layer < self->n_layers)
    self->layer[layer].ssrc = ssrc;
}

/* The split's are those of what comes next: nothing is under way. */
static void
take_ssrcs (GstElmFan *self)
{
  for (guint i = 0; i < self->n_layers; i++)
    self->layer[i].ssrc = gst_elm_split_get_ssrc (self->split, i);
}

static gboolean
sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstElmFan *self = GST_ELM_FAN (parent);
  gboolean ok = TRUE;

  if (gst_event_has_name (event, GST_ELM_SPLIT_RENAMED)) {
    rename_layer (self, gst_event_get_structure (event));
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    gst_flow_combiner_reset (self->combiner);
    take_ssrcs (self);
  }
  for (guint i = 0; i < self->n_layers; i++)
    ok &= gst_pad_push_event (self->layer[i].pad, make_event (self, i, event));
  gst_event_unref (event);
  return ok;
}

GstPad *
gst_elm_fan_add_pad (GstElmFan *self)
{
  guint layer = self->n_layers;
  gchar *name = g_strdup_printf ("src_%u", layer);
  GstPad *pad = gst_pad_new_from_static_template (&src_template, name);

  g_free (name);
  self->layer[layer].pad = pad;
  self->layer[layer].ssrc = gst_elm_split_get_ssrc (self->split, layer);
  self->n_layers++;
  gst_element_add_pad (GST_ELEMENT (self), pad);
  gst_flow_combiner_add_pad (self->combiner, pad);
  return pad;
}

void
gst_elm_fan_set_overhead (GstElmFan *self, guint bytes)
{
  self->overhead = bytes;
}

static GstStateChangeReturn
gst_elm_fan_change_state (GstElement *element, GstStateChange transition)
{
  GstElmFan *self = GST_ELM_FAN (element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    gst_flow_combiner_reset (self->combiner);
    take_ssrcs (self);
  }
  return GST_ELEMENT_CLASS (gst_elm_fan_parent_class)->change_state (element, transition);
}

static void
gst_elm_fan_finalize (GObject *object)
{
  GstElmFan *self = GST_ELM_FAN (object);

  gst_flow_combiner_free (self->combiner);
  g_clear_object (&self->split);
  G_OBJECT_CLASS (gst_elm_fan_parent_class)->finalize (object);
}

static void
gst_elm_fan_class_init (GstElmFanClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_elm_fan_finalize;
  element_class->change_state = gst_elm_fan_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Layer fan", "Filter/Network/RTP",
      "Hands packets to their layers", "adaptivemulticast");
}

static void
gst_elm_fan_init (GstElmFan *self)
{
  self->combiner = gst_flow_combiner_new ();
  self->sink = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sink, chain);
  gst_pad_set_chain_list_function (self->sink, chain_list);
  gst_pad_set_event_function (self->sink, sink_event);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
}

GstElement *
gst_elm_fan_new (GstElmSplit *split, GstElmFanSent sent, gpointer owner)
{
  GstElmFan *self = g_object_new (GST_TYPE_ELM_FAN, NULL);

  self->split = gst_object_ref (split);
  self->sent = sent;
  self->owner = owner;
  return GST_ELEMENT (self);
}
