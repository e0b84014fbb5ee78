/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstelmsplit: events and caps of one layer among several; how many layers one stream has; with the
 * pacer and gstelmfan, a layer's other SSRC. What the layers are made of is test_layers.c's.
 */
#include <string.h>

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/rtp/gstrtpbuffer.h>

#include "gstelmfan.h"
#include "gstelmsplit.h"
#include "gstmccabssendtime.h"
#include "gstmccpacer.h"
#include "mcclayerorder.h"
#include "mccrtpextension.h"

#define CAPS_OF(NAME)                                                                              \
  "application/x-rtp,media=video,encoding-name=" NAME ",clock-rate=90000,payload=96"
#define CAPS CAPS_OF ("VP8")

typedef struct {
  GstHarness *layer[2]; /* [0] has the src pad, too */
  guint refused, flushes, segments, eos;
  guint count, seen; /* layers: as told, as the newest packet says */
  guint16 seq;
} Fixture;

static void
on_layers (gpointer owner, guint count)
{
  if (owner)
    ((Fixture *)owner)->count = count;
}

static void
on_malformed (gpointer owner, MccLayerError error)
{
  g_assert_not_reached ();
}

static void
on_no_id (gpointer owner, GstCaps *caps)
{
  ((Fixture *)owner)->refused++;
}

static GstPadProbeReturn
on_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Fixture *f = data;
  GstEventType type = GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info));

  f->flushes += type == GST_EVENT_FLUSH_STOP;
  f->segments += type == GST_EVENT_SEGMENT;
  f->eos += type == GST_EVENT_EOS;
  return GST_PAD_PROBE_OK;
}

static void
setup_with (Fixture *f, guint layers, guint most, guint64 seed)
{
  static const GstElmSplitHandler handler
      = { .layers = on_layers, .malformed = on_malformed, .no_id = on_no_id };
  GstElement *split;
  GstPad *src;

  memset (f, 0, sizeof *f);
  split = gst_elm_split_new (&handler, f, most, seed);
  for (guint i = 0; i < layers; i++)
    gst_elm_split_add_pad (GST_ELM_SPLIT (split), layers > 1 ? (gint)i : -1);
  f->layer[0] = gst_harness_new_with_element (split, "sink_0", "src");
  if (layers > 1)
    f->layer[1] = gst_harness_new_with_element (split, "sink_1", NULL);
  src = gst_element_get_static_pad (split, "src");
  gst_pad_add_probe (
      src, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, on_event, f, NULL);
  gst_object_unref (src);
  gst_object_unref (split);
}

static void
setup (Fixture *f, guint layers)
{
  setup_with (f, layers, 2, 1);
}

static void
teardown (Fixture *f)
{
  if (f->layer[1])
    gst_harness_teardown (f->layer[1]);
  gst_harness_teardown (f->layer[0]);
}

/* @marker: the unit's last packet. */
static GstFlowReturn
push (Fixture *f, guint layer, gboolean marker)
{
  guint8 packet[16] = { 0x80, 96 };

  packet[1] |= marker ? 0x80 : 0;
  GST_WRITE_UINT16_BE (packet + 2, f->seq++);
  packet[12] = 0x10;
  return gst_harness_push (f->layer[layer], gst_buffer_new_memdup (packet, sizeof packet));
}

static void
start (Fixture *f)
{
  gst_harness_set_src_caps_str (f->layer[0], CAPS);
  gst_harness_set_src_caps_str (f->layer[1], CAPS);
}

static void
flush (Fixture *f, guint layer)
{
  g_assert_true (gst_harness_push_event (f->layer[layer], gst_event_new_flush_start ()));
  g_assert_true (gst_harness_push_event (f->layer[layer], gst_event_new_flush_stop (TRUE)));
}

static void
push_segment (Fixture *f, guint layer)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_true (gst_harness_push_event (f->layer[layer], gst_event_new_segment (&segment)));
}

/* What comes before the base layer has its segment cannot be sent. */
static void
test_base_first (void)
{
  GstElement *split;
  Fixture f;

  setup (&f, 2);
  split = f.layer[0]->element;
  gst_harness_set_src_caps_str (f.layer[1], CAPS);
  {
    GstPad *sink = gst_element_get_static_pad (split, "sink_0");
    GstCaps *caps = gst_caps_from_string (CAPS);

    gst_pad_send_event (sink, gst_event_new_stream_start ("base"));
    gst_pad_send_event (sink, gst_event_new_caps (caps));
    gst_caps_unref (caps);
    gst_object_unref (sink);
  }
  g_assert_cmpint (push (&f, 1, TRUE), ==, GST_FLOW_OK);
  g_assert_cmpuint (gst_harness_buffers_received (f.layer[0]), ==, 0);
  gst_harness_set_src_caps_str (f.layer[0], CAPS);
  g_assert_cmpint (push (&f, 1, TRUE), ==, GST_FLOW_OK);
  g_assert_cmpuint (gst_harness_buffers_received (f.layer[0]), ==, 1);
  teardown (&f);
}

/* RFC 8285 4.3: a payloader writes two-byte headers where an extension has an id above 14, say. */
static void
test_two_byte_extensions (void)
{
  guint8 packet[28]
      = { 0x90, 0x80 | 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0x10, 0, 0, 1, 20, 1, 7, 0, 0x10 };
  GstBuffer *out;
  MccLayerOrder order;
  GstMapInfo map;
  gsize bytes;
  Fixture f;
  guint found = 0;

  setup (&f, 2);
  start (&f);
  g_assert_cmpint (gst_harness_push (f.layer[0], gst_buffer_new_memdup (packet, sizeof packet)), ==,
      GST_FLOW_OK);
  out = gst_harness_pull (f.layer[0]);
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  for (guint8 id = 1; id <= 14; id++) {
    const guint8 *data = mcc_rtp_packet_element (map.data, map.size, id, &bytes);

    found += data && mcc_layer_order_read (data, bytes, &order) && order.count == 2;
  }
  g_assert_cmpuint (found, ==, 1);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  teardown (&f);
}

/* A flush of one layer is its own: half a unit of it goes, that of the other one stays. */
static void
test_flush_of_one (void)
{
  Fixture f;

  setup (&f, 2);
  start (&f);
  g_assert_cmpint (push (&f, 0, FALSE), ==, GST_FLOW_OK);
  g_assert_cmpint (push (&f, 1, FALSE), ==, GST_FLOW_OK);
  flush (&f, 1);
  g_assert_cmpuint (f.flushes, ==, 0);
  g_assert_cmpint (push (&f, 0, TRUE), ==, GST_FLOW_OK);
  g_assert_cmpuint (gst_harness_buffers_received (f.layer[0]), ==, 2);
  push_segment (&f, 1);
  g_assert_cmpint (push (&f, 1, TRUE), ==, GST_FLOW_OK);
  g_assert_cmpuint (gst_harness_buffers_received (f.layer[0]), ==, 3);
  teardown (&f);
}

/* Behind EOS a seek of one layer makes the whole go on. */
static void
test_flush_behind_eos (void)
{
  Fixture f;

  setup (&f, 2);
  start (&f);
  g_assert_true (gst_harness_push_event (f.layer[1], gst_event_new_eos ()));
  g_assert_cmpuint (f.eos, ==, 0);
  g_assert_true (gst_harness_push_event (f.layer[0], gst_event_new_eos ()));
  g_assert_cmpuint (f.eos, ==, 1);
  f.segments = 0;
  flush (&f, 1);
  g_assert_cmpuint (f.flushes, ==, 1);
  g_assert_cmpuint (f.segments, ==, 1);
  push_segment (&f, 1);
  g_assert_cmpint (push (&f, 1, TRUE), ==, GST_FLOW_OK);
  g_assert_cmpuint (gst_harness_buffers_received (f.layer[0]), ==, 1);
  /* and ends again */
  g_assert_true (gst_harness_push_event (f.layer[1], gst_event_new_eos ()));
  g_assert_cmpuint (f.eos, ==, 2);
  teardown (&f);
}

/* Where there is one stream only, its flush is that of all. */
static void
test_flush_of_all (void)
{
  Fixture f;

  setup (&f, 1);
  gst_harness_set_src_caps_str (f.layer[0], CAPS);
  flush (&f, 0);
  g_assert_cmpuint (f.flushes, ==, 1);
  teardown (&f);
}

/* Caps with the ids from @first to @last, the first one's is @uri; what becomes of a unit of them.
 */
static GstFlowReturn
offer (Fixture *f, guint layer, guint first, guint last, const gchar *uri)
{
  GstCaps *caps = gst_caps_from_string (CAPS);

  for (guint i = first; i <= last; i++) {
    gchar name[16];

    g_snprintf (name, sizeof name, "extmap-%u", i);
    gst_caps_set_simple (caps, name, G_TYPE_STRING, i == first ? uri : "urn:x", NULL);
  }
  gst_harness_set_src_caps (f->layer[layer], caps);
  return push (f, layer, TRUE);
}

/* No room for the order, or behind it none for the send time: refused, and said. */
static void
test_ids (void)
{
  static const struct {
    guint first, last;
    const gchar *uri;
    gboolean good;
  } cases[] = {
    { 1, 14, "urn:x", FALSE },
    { 1, 14, GST_MCC_ABS_SEND_TIME_URI, FALSE },
    { 1, 13, "urn:x", FALSE },
    { 1, 13, GST_MCC_ABS_SEND_TIME_URI, TRUE },
    { 3, 14, "urn:x", TRUE },
    { 2, 14, "urn:x", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Fixture f;

    g_test_message ("case %u", i);
    setup (&f, 1);
    g_assert_cmpint (offer (&f, 0, cases[i].first, cases[i].last, cases[i].uri), ==,
        cases[i].good ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED);
    g_assert_cmpint (f.refused > 0, ==, !cases[i].good);
    teardown (&f);
  }
}

/* The other layers must leave the id. */
static void
test_ids_of_others (void)
{
  Fixture f;

  setup (&f, 2);
  /* the order gets 14, the send time 13: stamped there in all layers */
  g_assert_cmpint (offer (&f, 0, 1, 2, "urn:x"), ==, GST_FLOW_OK);
  for (guint id = 13; id <= 14; id++) {
    f.refused = 0;
    g_assert_cmpint (offer (&f, 1, id, id, "urn:x"), ==, GST_FLOW_NOT_NEGOTIATED);
    g_assert_cmpuint (f.refused, >, 0);
  }
  g_assert_cmpint (offer (&f, 1, 13, 13, GST_MCC_ABS_SEND_TIME_URI), ==, GST_FLOW_OK);
  g_assert_cmpint (offer (&f, 1, 3, 12, "urn:x"), ==, GST_FLOW_OK);
  teardown (&f);
  /* the base layer's send time is where another layer has something else */
  setup (&f, 2);
  g_assert_cmpint (offer (&f, 1, 5, 6, "urn:x"), ==, GST_FLOW_OK);
  g_assert_cmpint (offer (&f, 0, 5, 5, GST_MCC_ABS_SEND_TIME_URI), ==, GST_FLOW_NOT_NEGOTIATED);
  teardown (&f);
}

/* The extension's URI in the caps that leave. */
static void
assert_id (Fixture *f, const gchar *field, const gchar *uri)
{
  GstPad *src = gst_element_get_static_pad (f->layer[0]->element, "src");
  GstCaps *caps = gst_pad_get_current_caps (src);

  g_assert_cmpstr (gst_structure_get_string (gst_caps_get_structure (caps, 0), field), ==, uri);
  gst_caps_unref (caps);
  gst_object_unref (src);
}

/* Of the base layer's caps none, of the other layer's one: that one is for both. */
static void
test_id_of_the_send_time (void)
{
  Fixture f;

  setup (&f, 2);
  g_assert_cmpint (offer (&f, 1, 7, 7, GST_MCC_ABS_SEND_TIME_URI), ==, GST_FLOW_OK);
  g_assert_cmpint (offer (&f, 0, 1, 2, "urn:x"), ==, GST_FLOW_OK);
  assert_id (&f, "extmap-7", GST_MCC_ABS_SEND_TIME_URI);
  teardown (&f);
  /* unless the base layer has it for something else */
  setup (&f, 2);
  g_assert_cmpint (offer (&f, 1, 7, 7, GST_MCC_ABS_SEND_TIME_URI), ==, GST_FLOW_OK);
  g_assert_cmpint (offer (&f, 0, 6, 7, "urn:x"), ==, GST_FLOW_OK);
  assert_id (&f, "extmap-7", "urn:x");
  assert_id (&f, "extmap-13", GST_MCC_ABS_SEND_TIME_URI);
  teardown (&f);
}

/* SSRCs are the seed's. */
static void
test_seed (void)
{
  guint32 ssrc[3][2];

  for (guint i = 0; i < 3; i++) {
    Fixture f;

    setup_with (&f, 2, 2, i < 2 ? 7 : 8);
    for (guint k = 0; k < 2; k++)
      ssrc[i][k] = gst_elm_split_get_ssrc (GST_ELM_SPLIT (f.layer[0]->element), k);
    teardown (&f);
  }
  g_assert_cmpmem (ssrc[0], sizeof ssrc[0], ssrc[1], sizeof ssrc[1]);
  g_assert_cmphex (ssrc[0][0], !=, ssrc[2][0]);
  g_assert_cmphex (ssrc[0][0], !=, ssrc[0][1]);
}

/* Another layer's caps come before the base layer's: the order takes an id that both leave. */
static void
test_ids_of_earlier_ones (void)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer;
  gpointer data;
  guint size;
  Fixture f;

  setup (&f, 2);
  g_assert_cmpint (offer (&f, 1, 13, 14, "urn:x"), ==, GST_FLOW_OK);
  g_assert_cmpint (offer (&f, 0, 1, 2, "urn:x"), ==, GST_FLOW_OK);
  g_assert_cmpint (push (&f, 1, TRUE), ==, GST_FLOW_OK);
  for (guint i = 0; i < 2; i++) {
    buffer = gst_harness_pull (f.layer[0]);
    g_assert_true (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
    g_assert_true (gst_rtp_buffer_get_extension_onebyte_header (&rtp, 12, 0, &data, &size));
    gst_rtp_buffer_unmap (&rtp);
    gst_buffer_unref (buffer);
  }
  g_assert_cmpuint (f.refused, ==, 0);
  teardown (&f);
  /* None is left. */
  setup (&f, 2);
  g_assert_cmpint (offer (&f, 1, 7, 14, "urn:x"), ==, GST_FLOW_OK);
  g_assert_cmpint (offer (&f, 0, 1, 6, "urn:x"), ==, GST_FLOW_NOT_NEGOTIATED);
  g_assert_cmpuint (f.refused, >, 0);
  teardown (&f);
}

/* ---- the layers of one stream ---- */

/* Pictures by their letters: I and P, B that others refer to, b that none does. */
static void
push_pictures (Fixture *f, const gchar *kinds)
{
  static const gchar names[] = "IPBb";
  static const guint8 payloads[][2]
      = { { 0x65, 0x88 }, { 0x41, 0x9a }, { 0x41, 0x9e }, { 0x01, 0x9c } };

  for (; *kinds; kinds++) {
    guint8 packet[14] = { 0x80, 0x80 | 96 };

    GST_WRITE_UINT16_BE (packet + 2, f->seq++);
    memcpy (packet + 12, payloads[strchr (names, *kinds) - names], 2);
    g_assert_cmpint (gst_harness_push (f->layer[0], gst_buffer_new_memdup (packet, sizeof packet)),
        ==, GST_FLOW_OK);
  }
}

/* What has left: of each picture the layer; a comma where there are more from here on, a dash
 * behind one that nobody begins with at its layer. */
static void
assert_left (Fixture *f, const gchar *wanted)
{
  GString *left = g_string_new (NULL);
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (f->layer[0]))) {
    MccLayerOrder order;
    GstMapInfo map;
    const guint8 *data;
    gsize bytes = 0;

    g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
    data = mcc_rtp_packet_element (map.data, map.size, 14, &bytes);
    g_assert_true (data && mcc_layer_order_read (data, bytes, &order));
    g_string_append_printf (left, "%s%u%s", order.count == f->seen ? "" : ",", order.layer,
        order.layer == 0 || order.flags & MCC_LAYER_SYNC ? "" : "-");
    f->seen = order.count;
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  g_assert_cmpuint (f->seen, ==, f->count);
  g_assert_cmpstr (left->str, ==, wanted);
  g_string_free (left, TRUE);
}

static void
setup_h264 (Fixture *f, guint most)
{
  setup_with (f, 1, most, 1);
  gst_harness_set_src_caps_str (f->layer[0], CAPS_OF ("H264"));
}

/* B pictures to which none refers are layer 1, where no other is: a layer of which nothing comes
 * would be in the way of those above. A B reference that comes later is in theirs. */
static void
test_no_empty_layer (void)
{
  Fixture f;

  setup_h264 (&f, 3);
  push_pictures (&f, "IPbbPbb");
  g_assert_cmpuint (gst_harness_buffers_received (f.layer[0]), ==, 0);
  push_pictures (&f, "P");
  assert_left (&f, ",00110110");
  push_pictures (&f, "BbPb");
  assert_left (&f, "11-01");
  /* of the same encoding: its layers are what they were */
  gst_harness_set_src_caps_str (f.layer[0], CAPS_OF ("H264") ",profile-level-id=42c01e");
  push_pictures (&f, "IPbb");
  assert_left (&f, "0011");
  teardown (&f);
}

/* All three from the start, and as many as there is room for. */
static void
test_all_layers (void)
{
  Fixture f;

  setup_h264 (&f, 3);
  push_pictures (&f, "IPBbbPBb");
  assert_left (&f, ",00122012");
  teardown (&f);
  setup_h264 (&f, 2);
  push_pictures (&f, "IPbbPbbP");
  assert_left (&f, ",00110110");
  teardown (&f);
}

/* Layers that come later: the next one at once; one above that is counted again. */
static void
test_later_layers (void)
{
  Fixture f;

  setup_h264 (&f, 3);
  push_pictures (&f, "IPPPPPPP");
  assert_left (&f, ",00000000");
  push_pictures (&f, "BbP");
  assert_left (&f, ",1,20");
  teardown (&f);
  setup_h264 (&f, 3);
  push_pictures (&f, "IPPPPPPPPbPbPbP");
  assert_left (&f, ",000000000");
  push_pictures (&f, "bPb");
  assert_left (&f, ",101010101");
  teardown (&f);
}

/* A picture begins only with a key frame. */
static void
test_vp9 (void)
{
  static const guint8 payloads[][2] = { { 0x8c, 0x05 }, { 0xcc, 0x06 } };
  guint keys = 0;
  GstBuffer *buffer;
  Fixture f;

  setup_with (&f, 1, 3, 1);
  gst_harness_set_src_caps_str (f.layer[0], CAPS_OF ("VP9"));
  for (guint i = 0; i < GST_ELM_SPLIT_UNITS; i++) {
    guint8 packet[14] = { 0x80, 0x80 | 96 };

    GST_WRITE_UINT16_BE (packet + 2, f.seq++);
    memcpy (packet + 12, payloads[i > 0], 2);
    gst_harness_push (f.layer[0], gst_buffer_new_memdup (packet, sizeof packet));
  }
  for (guint i = 0; (buffer = gst_harness_try_pull (f.layer[0])); i++) {
    MccLayerOrder order = { 0 };
    const guint8 *data;
    GstMapInfo map;
    gsize bytes = 0;

    g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
    data = mcc_rtp_packet_element (map.data, map.size, 14, &bytes);
    g_assert_true (data && mcc_layer_order_read (data, bytes, &order));
    g_assert_cmpint ((order.flags & MCC_LAYER_KEY) != 0, ==, i == 0);
    keys += (order.flags & MCC_LAYER_KEY) != 0;
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  g_assert_cmpuint (keys, ==, 1);
  g_assert_cmpuint (f.count, ==, 1);
  teardown (&f);
}

/* ---- with the pacer and the fan ---- */

typedef struct {
  GstElement *split, *pacer, *bin;
  GstHarness *layer[2]; /* [0] has the sink pad, too */
} Chain;

static void
on_renamed (gpointer owner, guint layer, guint32 ssrc)
{
}

static void
on_sent (gpointer owner, guint layer, guint packets, guint64 bytes, guint32 highest_seq)
{
}

static void
chain_start (Chain *c)
{
  static const GstElmSplitHandler handler = {
    .layers = on_layers, .malformed = on_malformed, .renamed = on_renamed, .no_id = on_no_id
  };
  static const GstMccPacerHandler nobody = { 0 };
  GstElement *fan;

  c->split = gst_elm_split_new (&handler, NULL, 2, 1);
  c->pacer = gst_mcc_pacer_new (&nobody, NULL);
  fan = gst_elm_fan_new (GST_ELM_SPLIT (c->split), on_sent, NULL);
  c->bin = gst_bin_new (NULL);
  gst_bin_add_many (GST_BIN (c->bin), c->split, c->pacer, fan, NULL);
  g_assert_true (gst_element_link_many (c->split, c->pacer, fan, NULL));
  gst_element_add_pad (
      c->bin, gst_ghost_pad_new ("sink", gst_elm_split_add_pad (GST_ELM_SPLIT (c->split), -1)));
  for (guint i = 0; i < 2; i++)
    gst_element_add_pad (
        c->bin, gst_ghost_pad_new (i ? "src_1" : "src_0", gst_elm_fan_add_pad (GST_ELM_FAN (fan))));
  c->layer[0] = gst_harness_new_with_element (c->bin, "sink", "src_0");
  c->layer[1] = gst_harness_new_with_element (c->bin, NULL, "src_1");
  gst_harness_set_src_caps_str (c->layer[0], CAPS);
  gst_object_unref (c->bin);
}

static void
chain_stop (Chain *c)
{
  gst_harness_teardown (c->layer[1]);
  gst_harness_teardown (c->layer[0]);
}

/* @n pictures, of either layer in turn. */
static void
chain_push (Chain *c, guint n)
{
  static guint16 seq;

  for (guint i = 0; i < n; i++) {
    guint8 packet[16] = { 0x80, 0x80 | 96 };

    GST_WRITE_UINT16_BE (packet + 2, seq++);
    GST_WRITE_UINT32_BE (packet + 12, i % 2 ? 0x90206091 : 0x90200091);
    g_assert_cmpint (gst_harness_push (c->layer[0], gst_buffer_new_memdup (packet, sizeof packet)),
        ==, GST_FLOW_OK);
  }
}

static void
chain_set_rate (Chain *c, guint64 bps)
{
  gst_mcc_pacer_set_config (GST_MCC_PACER (c->pacer), 1.0, 60 * MCC_SECOND);
  gst_mcc_pacer_set_target (GST_MCC_PACER (c->pacer), bps);
}

/* @n packets of @layer have come, and they and their caps have its SSRC. */
static void
assert_came (Chain *c, guint layer, guint n)
{
  GstHarness *harness = c->layer[layer];
  guint32 ssrc = gst_elm_split_get_ssrc (GST_ELM_SPLIT (c->split), layer);
  guint in_caps = 0;
  GstCaps *caps;

  for (guint i = 0; i < 200 && gst_harness_buffers_in_queue (harness) < n; i++)
    g_usleep (10000);
  g_assert_cmpuint (gst_harness_buffers_in_queue (harness), ==, n);
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    guint8 header[12];

    gst_buffer_extract (buffer, 0, header, sizeof header);
    g_assert_cmphex (GST_READ_UINT32_BE (header + 8), ==, ssrc);
    gst_buffer_unref (buffer);
  }
  caps = gst_pad_get_current_caps (harness->sinkpad);
  gst_structure_get_uint (gst_caps_get_structure (caps, 0), "ssrc", &in_caps);
  g_assert_cmphex (in_caps, ==, ssrc);
  gst_caps_unref (caps);
}

/* What takes away all that is in the pacer. */
static void
chain_empty (Chain *c, gboolean by_stop)
{
  GstSegment segment;
  GstBuffer *buffer;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (by_stop) {
    gst_element_set_state (c->bin, GST_STATE_READY);
    gst_element_set_state (c->bin, GST_STATE_PLAYING);
    gst_harness_push_event (c->layer[0], gst_event_new_stream_start ("again"));
    gst_harness_set_src_caps_str (c->layer[0], CAPS);
  } else {
    gst_harness_push_event (c->layer[0], gst_event_new_flush_start ());
    gst_harness_push_event (c->layer[0], gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (c->layer[0], gst_event_new_segment (&segment));
  }
  for (guint i = 0; i < 2; i++)
    while ((buffer = gst_harness_try_pull (c->layer[i])))
      gst_buffer_unref (buffer);
}

/* A layer has got another SSRC when a flush or a stop comes, behind which all have others: its
 * packets find their way. */
static void
test_renamed (gconstpointer by_stop)
{
  Chain c;

  chain_start (&c);
  chain_set_rate (&c, 100000000);
  chain_push (&c, 8);
  for (guint layer = 0; layer < 2; layer++) {
    guint32 before = gst_elm_split_get_ssrc (GST_ELM_SPLIT (c.split), layer), renamed;
    GstPad *src = gst_element_get_static_pad (c.split, "src");

    assert_came (&c, 0, 4);
    assert_came (&c, 1, 4);
    chain_set_rate (&c, 100); /* what comes next waits */
    chain_push (&c, 4);
    gst_pad_send_event (
        src, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
                 gst_structure_new ("GstRTPCollision", "ssrc", G_TYPE_UINT, before, NULL)));
    chain_push (&c, 2);
    renamed = gst_elm_split_get_ssrc (GST_ELM_SPLIT (c.split), layer);
    g_assert_cmphex (renamed, !=, before);
    chain_empty (&c, by_stop != NULL);
    g_assert_cmpint (
        gst_elm_split_get_ssrc (GST_ELM_SPLIT (c.split), layer) != renamed, ==, by_stop != NULL);
    chain_set_rate (&c, 100000000);
    chain_push (&c, 8);
    gst_object_unref (src);
  }
  assert_came (&c, 0, 4);
  assert_came (&c, 1, 4);
  chain_stop (&c);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elmsplit/the-base-layer-comes-first", test_base_first);
  g_test_add_func ("/elmsplit/two-byte-extensions", test_two_byte_extensions);
  g_test_add_func ("/elmsplit/flush/of-one-layer", test_flush_of_one);
  g_test_add_func ("/elmsplit/flush/behind-eos", test_flush_behind_eos);
  g_test_add_func ("/elmsplit/flush/of-the-only-stream", test_flush_of_all);
  g_test_add_func ("/elmsplit/extension-ids", test_ids);
  g_test_add_func ("/elmsplit/extension-ids-of-other-layers", test_ids_of_others);
  g_test_add_func ("/elmsplit/extension-ids-of-earlier-layers", test_ids_of_earlier_ones);
  g_test_add_func ("/elmsplit/extension-id-of-the-send-time", test_id_of_the_send_time);
  g_test_add_func ("/elmsplit/seed", test_seed);
  g_test_add_func ("/elmsplit/layers/none-is-empty", test_no_empty_layer);
  g_test_add_func ("/elmsplit/layers/from-the-start", test_all_layers);
  g_test_add_func ("/elmsplit/layers/that-come-later", test_later_layers);
  g_test_add_func ("/elmsplit/vp9-begins-with-a-key-frame", test_vp9);
  g_test_add_data_func ("/elmsplit/renamed/and-flushed", NULL, test_renamed);
  g_test_add_data_func ("/elmsplit/renamed/and-stopped", "stop", test_renamed);
  return g_test_run ();
}
