/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Layers of real encoders, split and put together again: whatever is joined and left, each picture
 * that comes out of a real decoder is, bit by bit, the one that it is with all layers.
 */
#include <string.h>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include "gstelmsplit.h"
#include "gstmcclayers.h"
#include "mccrng.h"
#include "mccrtpextension.h"

#define EPOCH (50 * MCC_SECOND)
#define WAIT (100 * MCC_MSECOND)
#define ID 14 /* of the header extension: the highest one that is free */

typedef struct {
  const gchar *encoder, *depay;
  guint layers;
} Media;

typedef struct {
  GPtrArray *packets; /* GstBuffer, as they are sent */
  GstCaps *caps;
  guint layers, malformed;
} Stream;

static void
on_layers (gpointer owner, guint count)
{
  ((Stream *)owner)->layers = count;
}

static void
on_malformed (gpointer owner, MccLayerError error)
{
  ((Stream *)owner)->malformed++;
}

static void
set_list (GstElement *element, const gchar *property, const gint *values, guint n)
{
  GValueArray *array;

  G_GNUC_BEGIN_IGNORE_DEPRECATIONS
  array = g_value_array_new (n);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_INT);
    g_value_set_int (&value, values[i]);
    g_value_array_append (array, &value);
    g_value_unset (&value);
  }
  g_object_set (element, property, array, NULL);
  g_value_array_free (array);
  G_GNUC_END_IGNORE_DEPRECATIONS
}

/* @text: values with blanks between. */
static void
set_array (GstElement *element, const gchar *property, const gchar *text)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);
  GType type = GST_PARAM_SPEC_ARRAY_LIST (pspec)->element_spec->value_type;
  gchar **parts = g_strsplit (text, " ", -1);
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; parts[i]; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, type);
    g_assert_true (gst_value_deserialize (&value, parts[i]));
    gst_value_array_append_and_take_value (&array, &value);
  }
  g_object_set_property (G_OBJECT (element), property, &array);
  g_value_unset (&array);
  g_strfreev (parts);
}

/* 7.5, 15 and 30 Hz. */
static void
set_vp8_layers (GstElement *encoder)
{
  static const gint ids[] = { 0, 2, 1, 2 }, decimator[] = { 4, 2, 1 },
                    rates[] = { 300000, 450000, 600000 };

  g_object_set (encoder, "temporal-scalability-number-layers", 3,
      "temporal-scalability-periodicity", 4, NULL);
  set_list (encoder, "temporal-scalability-layer-id", ids, 4);
  set_list (encoder, "temporal-scalability-rate-decimator", decimator, 3);
  set_list (encoder, "temporal-scalability-target-bitrate", rates, 3);
  set_array (encoder, "temporal-scalability-layer-flags",
      "no-ref-golden+no-upd-golden+no-ref-alt+no-upd-alt "
      "no-ref-golden+no-upd-golden+no-upd-alt+no-upd-last+no-upd-entropy "
      "no-ref-golden+no-ref-alt+no-upd-alt+no-upd-last+no-upd-entropy "
      "no-ref-alt+no-upd-golden+no-upd-alt+no-upd-last+no-upd-entropy");
  set_array (encoder, "temporal-scalability-layer-sync-flags", "false true true false");
}

/* FALSE: an element is missing. */
static gboolean
make_stream (const Media *media, guint most, guint frames, Stream *stream)
{
  static const GstElmSplitHandler handler = { .layers = on_layers, .malformed = on_malformed };
  gchar *text = g_strdup_printf (
      "videotestsrc num-buffers=%u pattern=smpte100 ! "
      "video/x-raw,format=I420,width=320,height=180,framerate=30/1 ! timeoverlay ! %s name=pay "
      "appsink name=out sync=false async=false",
      frames, media->encoder);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error), *pay, *out, *split, *encoder;
  GstSample *sample;
  GstPad *src, *sink;

  g_free (text);
  if (error) {
    g_test_skip (error->message);
    g_clear_error (&error);
    gst_clear_object (&pipeline);
    return FALSE;
  }
  memset (stream, 0, sizeof *stream);
  stream->packets = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_buffer_unref);
  if ((encoder = gst_bin_get_by_name (GST_BIN (pipeline), "vp8"))) {
    set_vp8_layers (encoder);
    gst_object_unref (encoder);
  }
  pay = gst_bin_get_by_name (GST_BIN (pipeline), "pay");
  out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  split = gst_elm_split_new (&handler, stream, most, 1);
  gst_bin_add (GST_BIN (pipeline), split);
  src = gst_element_get_static_pad (pay, "src");
  sink = gst_elm_split_add_pad (GST_ELM_SPLIT (split), -1);
  g_assert_cmpint (gst_pad_link (src, sink), ==, GST_PAD_LINK_OK);
  gst_object_unref (src);
  g_assert_true (gst_element_link (split, out));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (out)))) {
    if (!stream->caps)
      stream->caps = gst_caps_ref (gst_sample_get_caps (sample));
    g_ptr_array_add (stream->packets, gst_buffer_copy_deep (gst_sample_get_buffer (sample)));
    gst_sample_unref (sample);
  }
  g_assert_true (gst_app_sink_is_eos (GST_APP_SINK (out)));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pay);
  gst_object_unref (out);
  gst_object_unref (pipeline);
  return TRUE;
}

static void
free_stream (Stream *stream)
{
  g_ptr_array_unref (stream->packets);
  gst_clear_caps (&stream->caps);
}

static gboolean
read_order (GstBuffer *buffer, MccLayerOrder *order)
{
  GstMapInfo map;
  const guint8 *element;
  gsize bytes = 0;
  gboolean good;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  element = mcc_rtp_packet_element (map.data, map.size, ID, &bytes);
  good = element && mcc_layer_order_read (element, bytes, order);
  gst_buffer_unmap (buffer, &map);
  return good;
}

/* ---- a decoder ---- */

typedef struct {
  GstElement *pipeline, *in;
  GstAppSink *out;
} Decoder;

static void
start_decoder (Decoder *self, const Media *media, GstCaps *caps)
{
  gchar *text = g_strdup_printf (
      "appsrc name=in format=time ! %s ! appsink name=out sync=false async=false", media->depay);

  self->pipeline = gst_parse_launch (text, NULL);
  g_assert_nonnull (self->pipeline);
  g_free (text);
  self->in = gst_bin_get_by_name (GST_BIN (self->pipeline), "in");
  self->out = GST_APP_SINK (gst_bin_get_by_name (GST_BIN (self->pipeline), "out"));
  g_object_set (self->in, "caps", caps, "max-bytes", (guint64)0, NULL);
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
}

/* The pictures' checksums by their times; none is flagged, nothing is complained of. */
static GHashTable *
finish_decoder (Decoder *self)
{
  GHashTable *pictures = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  GstBus *bus = gst_element_get_bus (self->pipeline);
  GstMessage *message;
  GstSample *sample;

  gst_app_src_end_of_stream (GST_APP_SRC (self->in));
  while ((sample = gst_app_sink_pull_sample (self->out))) {
    GstBuffer *buffer = gst_sample_get_buffer (sample);
    gint64 *pts = g_new (gint64, 1);
    GstMapInfo map;

    *pts = (gint64)GST_BUFFER_PTS (buffer);
    g_assert_false (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_CORRUPTED));
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    g_hash_table_replace (
        pictures, pts, g_compute_checksum_for_data (G_CHECKSUM_MD5, map.data, map.size));
    gst_buffer_unmap (buffer, &map);
    gst_sample_unref (sample);
  }
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  g_assert_null (message);
  gst_object_unref (bus);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->in);
  gst_object_unref (self->out);
  gst_object_unref (self->pipeline);
  return pictures;
}

/* ---- what comes out of the layers ---- */

typedef struct {
  Decoder decoder;
  guint pictures, keys;
  gint last_seq;
} Receiver;

static void
on_out (gpointer owner, GstBuffer *buffer)
{
  Receiver *self = owner;
  guint8 header[4];

  gst_buffer_extract (buffer, 0, header, sizeof header);
  if (self->last_seq >= 0)
    g_assert_cmpuint (GST_READ_UINT16_BE (header + 2), ==, (guint16)(self->last_seq + 1));
  self->last_seq = GST_READ_UINT16_BE (header + 2);
  self->pictures += header[1] >> 7;
  g_assert_cmpint (
      gst_app_src_push_buffer (GST_APP_SRC (self->decoder.in), buffer), ==, GST_FLOW_OK);
}

static void
on_shown (gpointer owner, guint layer)
{
}

static void
on_key_unit (gpointer owner)
{
  ((Receiver *)owner)->keys++;
}

static const GstMccLayersFuncs layers_funcs = { on_out, on_shown, on_key_unit };

/* What the network and the level do to packet @i of @order: FALSE: it does not come. */
typedef gboolean (*Fate) (MccRng *rng, const MccLayerOrder *order, guint i, guint *level);

static GHashTable *
receive (const Media *media, const Stream *stream, Fate fate, guint64 seed, Receiver *receiver)
{
  GstMccLayers *layers = gst_mcc_layers_new (&layers_funcs, receiver, 7, WAIT);
  guint level = 0, joined = 1;
  MccTime now = EPOCH;
  MccRng rng;

  memset (receiver, 0, sizeof *receiver);
  receiver->last_seq = -1;
  start_decoder (&receiver->decoder, media, stream->caps);
  mcc_rng_init (&rng, seed);
  gst_mcc_layers_set_media (layers, ID, 90000);
  gst_mcc_layers_join (layers, 0);
  for (guint i = 0; i < stream->packets->len; i++) {
    GstBuffer *buffer = g_ptr_array_index (stream->packets, i);
    MccLayerOrder order;
    gboolean comes;

    g_assert_true (read_order (buffer, &order));
    comes = fate (&rng, &order, i, &level);
    for (; joined <= level; joined++)
      gst_mcc_layers_join (layers, joined);
    for (; joined > level + 1; joined--)
      gst_mcc_layers_leave (layers, joined - 1);
    if (comes && order.layer <= level)
      gst_mcc_layers_handle (layers, order.layer, gst_buffer_copy_deep (buffer), now);
    now += 5 * MCC_MSECOND;
    gst_mcc_layers_due (layers, now);
  }
  for (guint i = 0; i < 40; i++)
    gst_mcc_layers_due (layers, now += WAIT);
  gst_mcc_layers_free (layers);
  return finish_decoder (&receiver->decoder);
}

/* Each picture is there with all layers too, and the same. */
static void
check_same (GHashTable *some, GHashTable *all)
{
  GHashTableIter iter;
  gpointer pts, sum;

  g_hash_table_iter_init (&iter, some);
  while (g_hash_table_iter_next (&iter, &pts, &sum))
    g_assert_cmpstr (sum, ==, g_hash_table_lookup (all, pts));
}

static guint fixed_level, changes;

static gboolean
fate_level (MccRng *rng, const MccLayerOrder *order, guint i, guint *level)
{
  *level = fixed_level;
  return TRUE;
}

/* A change every few packets, in the middle of pictures too. */
static gboolean
fate_changes (MccRng *rng, const MccLayerOrder *order, guint i, guint *level)
{
  if (mcc_rng_next (rng) % 6 == 0) {
    guint before = *level;

    *level = (guint)(mcc_rng_next (rng) % order->count);
    changes += *level != before;
  }
  return TRUE;
}

static gboolean
fate_losses (MccRng *rng, const MccLayerOrder *order, guint i, guint *level)
{
  fate_changes (rng, order, i, level);
  return mcc_rng_next (rng) % 40 != 0;
}

static const Media h264 = { "x264enc bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 "
                            "sync-lookahead=0 mb-tree=false threads=1 vbv-buf-capacity=400 "
                            "option-string=scenecut=0 speed-preset=superfast bitrate=600 "
                            "key-int-max=60 ! video/x-h264,profile=main ! "
                            "rtph264pay config-interval=-1 mtu=500",
  "rtph264depay ! avdec_h264 max-threads=1", 3 };
/* B pictures to which none refers. */
static const Media h264_plain = { "x264enc bframes=2 b-pyramid=false b-adapt=false rc-lookahead=0 "
                                  "sync-lookahead=0 mb-tree=false threads=1 vbv-buf-capacity=400 "
                                  "option-string=scenecut=0 speed-preset=superfast bitrate=600 "
                                  "key-int-max=60 ! video/x-h264,profile=main ! "
                                  "rtph264pay config-interval=-1 mtu=500",
  "rtph264depay ! avdec_h264 max-threads=1", 2 };
static const Media vp8 = { "vp8enc name=vp8 deadline=1 cpu-used=8 error-resilient=default "
                           "keyframe-max-dist=60 end-usage=cbr target-bitrate=600000 ! "
                           "rtpvp8pay picture-id-mode=15-bit mtu=500",
  "rtpvp8depay ! vp8dec", 3 };
#define H265(LAYERS)                                                                               \
  "x265enc speed-preset=ultrafast key-int-max=60 bitrate=600 "                                     \
  "option-string=temporal-layers=" LAYERS                                                          \
  ":bframes=3:b-pyramid=1:b-adapt=0:scenecut=0:open-gop=0:frame-threads=1:pools=1:"                \
  "rc-lookahead=5 ! rtph265pay config-interval=-1 mtu=500"
/* A switch until x265 3.5; since then a number, and 1 is none. */
static const Media h265_switch = { H265 ("1"), "rtph265depay ! avdec_h265 max-threads=1", 2 };
static const Media h265_number = { H265 ("2"), "rtph265depay ! avdec_h265 max-threads=1", 2 };

static const Media *
own_h265 (void)
{
  Stream stream;
  guint layers;

  if (!make_stream (&h265_switch, 7, 12, &stream))
    return NULL; /* skipped */
  layers = stream.layers;
  free_stream (&stream);
  return layers > 1 ? &h265_switch : &h265_number;
}

#define FRAMES 300

static void
test_levels (gconstpointer data)
{
  const Media *media = data;
  GHashTable *all = NULL, *some;
  Receiver receiver;
  Stream stream;
  guint before = 0;

  if (!make_stream (media, 7, FRAMES, &stream))
    return;
  g_assert_cmpuint (stream.layers, ==, media->layers);
  g_assert_cmpuint (stream.malformed, ==, 0);
  fixed_level = media->layers - 1;
  all = receive (media, &stream, fate_level, 1, &receiver);
  g_assert_cmpuint (g_hash_table_size (all), ==, FRAMES);
  for (fixed_level = 0; fixed_level < media->layers; fixed_level++) {
    some = receive (media, &stream, fate_level, 1, &receiver);
    g_test_message ("level %u: %u pictures", fixed_level, g_hash_table_size (some));
    g_assert_cmpuint (g_hash_table_size (some), ==, receiver.pictures); /* each that came is seen */
    g_assert_cmpuint (g_hash_table_size (some), >, before);
    before = g_hash_table_size (some);
    check_same (some, all);
    g_hash_table_unref (some);
  }
  g_assert_cmpuint (before, ==, FRAMES);
  g_hash_table_unref (all);
  free_stream (&stream);
}

static void
test_changes (gconstpointer data)
{
  const Media *media = data;
  GHashTable *all, *some;
  Receiver receiver;
  Stream stream;

  if (!make_stream (media, 7, FRAMES, &stream))
    return;
  fixed_level = media->layers - 1;
  all = receive (media, &stream, fate_level, 1, &receiver);
  changes = 0;
  for (guint64 seed = 1; changes < (g_test_slow () ? 1000 : 200); seed++) {
    some = receive (media, &stream, fate_changes, seed, &receiver);
    g_assert_cmpuint (g_hash_table_size (some), ==, receiver.pictures);
    g_assert_cmpuint (receiver.keys, ==, 0); /* nothing of the base layer is missing */
    check_same (some, all);
    g_hash_table_unref (some);
  }
  g_test_message ("%u changes", changes);
  for (guint64 seed = 1; seed <= 3; seed++) {
    some = receive (media, &stream, fate_losses, seed, &receiver);
    g_test_message ("with losses: %u pictures", receiver.pictures);
    g_assert_cmpuint (g_hash_table_size (some), ==, receiver.pictures);
    g_assert_cmpuint (receiver.pictures, >, 0);
    check_same (some, all);
    g_hash_table_unref (some);
  }
  g_hash_table_unref (all);
  free_stream (&stream);
}

/* Fewer layers than the encoder makes: the highest has the rest. */
static void
test_folded (gconstpointer data)
{
  const Media *media = data;
  GHashTable *all, *some;
  Receiver receiver;
  Stream stream;

  if (!make_stream (media, 2, FRAMES, &stream))
    return;
  g_assert_cmpuint (stream.layers, ==, 2);
  fixed_level = 1;
  all = receive (media, &stream, fate_level, 1, &receiver);
  g_assert_cmpuint (g_hash_table_size (all), ==, FRAMES);
  some = receive (media, &stream, fate_changes, 5, &receiver);
  g_assert_cmpuint (g_hash_table_size (some), ==, receiver.pictures);
  check_same (some, all);
  g_hash_table_unref (some);
  g_hash_table_unref (all);
  free_stream (&stream);
}

static void
test_h265_levels (void)
{
  const Media *media = own_h265 ();

  if (media)
    test_levels (media);
}

static void
test_h265_changes (void)
{
  const Media *media = own_h265 ();

  if (media)
    test_changes (media);
}

/* ---- a sender that begins anew ---- */

typedef struct {
  guint packets, back;
  guint16 seq;
  guint32 time; /* of the newest one */
} Again;

static void
on_again (gpointer owner, GstBuffer *buffer)
{
  Again *self = owner;
  guint8 header[8];
  guint32 time;

  gst_buffer_extract (buffer, 0, header, sizeof header);
  time = GST_READ_UINT32_BE (header + 4);
  if (self->packets > 0) {
    g_assert_cmpuint (GST_READ_UINT16_BE (header + 2), ==, (guint16)(self->seq + 1));
    self->back += (gint32)(time - self->time) <= 0;
  }
  self->seq = GST_READ_UINT16_BE (header + 2);
  self->time = time;
  self->packets++;
  gst_buffer_unref (buffer);
}

static void
on_key_wanted (gpointer owner)
{
}

/* Picture @n, the first one a key picture, in one packet of one layer. */
static GstBuffer *
make_picture (guint16 n)
{
  guint8 packet[22] = { 0x90, 0x80 | 96 };

  GST_WRITE_UINT16_BE (packet + 2, n);
  GST_WRITE_UINT32_BE (packet + 4, 3000u * n);
  GST_WRITE_UINT32_BE (packet + 12, 0xbede0001);
  packet[16] = ID << 4 | 2;
  packet[17] = MCC_LAYER_FIRST;
  if (n == 1)
    packet[17] |= MCC_LAYER_KEY | MCC_LAYER_SYNC | MCC_LAYER_CLEAN;
  GST_WRITE_UINT16_BE (packet + 18, n);
  return gst_buffer_new_memdup (packet, sizeof packet);
}

/* Under the SSRC that it had: its numbers and times are where they were, what comes out goes on. */
static void
test_begins_anew (void)
{
  static const GstMccLayersFuncs funcs = { on_again, on_shown, on_key_wanted };
  Again again = { 0 };
  GstMccLayers *layers = gst_mcc_layers_new (&funcs, &again, 7, WAIT);
  MccTime now = EPOCH;

  gst_mcc_layers_set_media (layers, ID, 90000);
  gst_mcc_layers_join (layers, 0);
  for (guint run = 0; run < 3; run++) {
    gst_mcc_layers_restart (layers, 5);
    for (guint16 n = 1; n <= 10; n++) {
      gst_mcc_layers_handle (layers, 0, make_picture (n), now);
      now += 33 * MCC_MSECOND;
      gst_mcc_layers_due (layers, now);
    }
    g_assert_cmpuint (again.packets, ==, 10 * (run + 1));
  }
  g_assert_cmpuint (again.back, ==, 0);
  gst_mcc_layers_free (layers);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/layers/h264/each-level-decodes-to-the-same-pictures", &h264, test_levels);
  g_test_add_data_func ("/layers/h264-without-b-references/each-level-decodes-to-the-same-pictures",
      &h264_plain, test_levels);
  g_test_add_data_func ("/layers/vp8/each-level-decodes-to-the-same-pictures", &vp8, test_levels);
  g_test_add_func ("/layers/h265/each-level-decodes-to-the-same-pictures", test_h265_levels);
  g_test_add_data_func ("/layers/h264/joins-and-leaves-at-any-time", &h264, test_changes);
  g_test_add_data_func (
      "/layers/h264-without-b-references/joins-and-leaves-at-any-time", &h264_plain, test_changes);
  g_test_add_data_func ("/layers/vp8/joins-and-leaves-at-any-time", &vp8, test_changes);
  g_test_add_func ("/layers/h265/joins-and-leaves-at-any-time", test_h265_changes);
  g_test_add_func ("/layers/a-sender-that-begins-anew-under-its-ssrc", test_begins_anew);
  g_test_add_data_func ("/layers/h264/fewer-layers-than-the-encoder-makes", &h264, test_folded);
  g_test_add_data_func ("/layers/vp8/fewer-layers-than-the-encoder-makes", &vp8, test_folded);
  return g_test_run ();
}
