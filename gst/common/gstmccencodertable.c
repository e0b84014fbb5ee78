/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How each encoder is driven. Measured on GStreamer 1.22 (x264, x265, vp8, vp9, openh264, av1,
 * theora, avenc, mpeg2enc) or taken from the element's source. Units are never guessed: an encoder
 * that is not here needs encoder-bitrate-property and encoder-bitrate-unit.
 */
#include "gstmccencoder.h"

#include <string.h>

/* Capped CRF with a short VBV: what it may not use now it cannot save for later, so that it
 * follows within a frame or two in both directions. Bytes above the cap's need are never made up.
 */
static const GstMccEncoderSetting x264_settings[]
    = { { "pass", "qual", NULL }, { "vbv-buf-capacity", "200", NULL },
        { "tune", "zerolatency", "bframes" }, /* B frames are asked for where layers are made */
        { "speed-preset", "veryfast", NULL },
        { "aud", "false", NULL }, /* a packet of its own a frame; RTP's marker says the same */
        { NULL, NULL, NULL } };

static const GstMccEncoderSetting x265_settings[] = { { "tune", "zerolatency", NULL },
  { "speed-preset", "ultrafast", NULL }, { NULL, NULL, NULL } };

/* Key frames come on request. The quantizer's and the buffer's defaults overshoot for seconds. */
static const GstMccEncoderSetting vp8_settings[] = { { "end-usage", "cbr", NULL },
  { "deadline", "1", NULL }, { "cpu-used", "8", NULL }, { "buffer-size", "600", NULL },
  { "buffer-initial-size", "300", NULL }, { "buffer-optimal-size", "400", NULL },
  { "undershoot", "95", NULL }, { "max-intra-bitrate", "300", NULL },
  { "min-quantizer", "2", NULL }, { "dropframe-threshold", "30", NULL },
  { "keyframe-max-dist", "999", NULL }, { NULL, NULL, NULL } };

static const GstMccEncoderSetting vp9_settings[]
    = { { "end-usage", "cbr", NULL }, { "deadline", "1", NULL }, { "cpu-used", "7", NULL },
        { "lag-in-frames", "0", NULL }, { "buffer-size", "600", NULL },
        { "buffer-initial-size", "300", NULL }, { "buffer-optimal-size", "400", NULL },
        { "keyframe-max-dist", "999", NULL }, { NULL, NULL, NULL } };

/* lag-in-frames=0 with cbr lets libaom abort the process when the rate changes. */
static const GstMccEncoderSetting av1_settings[] = { { "usage-profile", "realtime", NULL },
  { "end-usage", "cbr", NULL }, { "cpu-used", "8", NULL }, { "lag-in-frames", "1", NULL },
  { "max-quantizer", "63", NULL }, { "keyframe-max-dist", "999", NULL }, { NULL, NULL, NULL } };

/* Holds a rate only by skipping frames. */
static const GstMccEncoderSetting openh264_settings[] = { { "rate-control", "bitrate", NULL },
  { "enable-frame-skip", "true", NULL }, { NULL, NULL, NULL } };

static const GstMccEncoderSetting hardware_settings[]
    = { { "rc-mode", "cbr", NULL }, { "rate-control", "cbr", NULL },
        { "zerolatency", "true", NULL }, { "low-latency", "true", NULL }, { NULL, NULL, NULL } };

static const GstMccEncoderSetting vt_settings[] = { { "realtime", "true", NULL },
  { "allow-frame-reordering", "false", NULL }, { NULL, NULL, NULL } };

static gint64
get_int (GstElement *element, const gchar *property)
{
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;
  gint64 result = -1;

  g_value_init (&number, G_TYPE_INT64);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), property)) {
    g_object_get_property (G_OBJECT (element), property, &value);
    if (g_value_transform (&value, &number))
      result = g_value_get_int64 (&number);
    g_value_unset (&value);
  }
  g_value_unset (&number);
  return result;
}

static const gchar *
x264_obstacle (GstElement *encoder, gboolean *dangerous)
{
  gchar *options = NULL;
  gboolean hrd;

  if (get_int (encoder, "pass") == 4)
    return "pass=quant has no bitrate; set pass=qual";
  if (get_int (encoder, "vbv-buf-capacity") == 0)
    return "vbv-buf-capacity=0 makes it ignore a new bitrate; set vbv-buf-capacity=200";
  g_object_get (encoder, "option-string", &options, NULL);
  hrd = options && strstr (options, "nal-hrd=cbr");
  g_free (options);
  return hrd ? "option-string nal-hrd=cbr makes it ignore a new bitrate; leave nal-hrd out" : NULL;
}

static const gchar *
av1_obstacle (GstElement *encoder, gboolean *dangerous)
{
  if (get_int (encoder, "lag-in-frames") == 0) {
    *dangerous = TRUE;
    return "with lag-in-frames=0 a new bitrate can abort the process (libaom); set lag-in-frames=1";
  }
  if (get_int (encoder, "max-quantizer") == 0)
    return "max-quantizer=0 makes it ignore its bitrate; set max-quantizer=63";
  return NULL;
}

static const gchar *
vp8_obstacle (GstElement *encoder, gboolean *dangerous)
{
  return get_int (encoder, "end-usage") == 1
             ? NULL
             : "end-usage other than cbr hardly follows a new bitrate; set end-usage=cbr";
}

#define BIT GST_MCC_UNIT_BIT
#define KBIT GST_MCC_UNIT_KBIT
#define YES GST_MCC_LIVE_YES
#define NO GST_MCC_LIVE_NO

static const GstMccEncoderRow rows[] = {
  { "x264enc", "bitrate", KBIT, YES, 0, x264_settings, x264_obstacle },
  { "x265enc", "bitrate", KBIT, GST_MCC_LIVE_KEY_FRAME, 2 * GST_SECOND, x265_settings, NULL },
  { "vp8enc", "target-bitrate", BIT, YES, 0, vp8_settings, vp8_obstacle },
  { "vp9enc", "target-bitrate", BIT, YES, 0, vp9_settings, NULL },
  { "openh264enc", "bitrate", BIT, YES, 0, openh264_settings, NULL },
  { "av1enc", "target-bitrate", KBIT, YES, 0, av1_settings, av1_obstacle },
  { "theoraenc", "bitrate", KBIT, YES, 0, NULL, NULL },
  { "opusenc", "bitrate", BIT, YES, 0, NULL, NULL },
  /* Hardware, by source or flags. */
  { "nvh26*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "nvcuda*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "nvd3d11*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "nvauto*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "nvav1enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "nvv4l2*enc", "bitrate", BIT, YES, 0, NULL, NULL },
  { "vah26*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "vavp*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "vaav1*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "qsv*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "msdk*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "amf*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "vulkanh26*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "vtenc_*", "bitrate", KBIT, YES, 0, vt_settings, NULL },
  { "d3d12*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "mfh26*enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  { "mfvp9enc", "bitrate", KBIT, YES, 0, hardware_settings, NULL },
  /* From 1.30 on a property of its own, before that a control of the driver. */
  { "v4l2*enc", "bitrate", BIT, YES, 0, NULL, NULL },
  { "v4l2*enc", "extra-controls", BIT, YES, 0, NULL, NULL },
  { "amcvidenc-*", "bitrate", BIT, YES, 0, NULL, NULL },
  { "vpuenc_*", "bitrate", KBIT, YES, 0, NULL, NULL },
  { "qtic2venc", "target-bitrate", BIT, YES, 0, NULL, NULL },
  { "omx*enc", "target-bitrate", BIT, YES, 0, NULL, NULL },
  /* These keep the rate they were started with. */
  { "avenc_*", "bitrate", BIT, NO, 0, NULL, NULL },
  { "mpeg2enc", "bitrate", KBIT, NO, 0, NULL, NULL },
  { "svtav1enc", "target-bitrate", KBIT, NO, 0, NULL, NULL },
  { "rav1enc", "bitrate", BIT, NO, 0, NULL, NULL },
  { "voaacenc", "bitrate", BIT, NO, 0, NULL, NULL },
  { "lamemp3enc", "bitrate", KBIT, NO, 0, NULL, NULL },
  { "jpegenc", "quality", GST_MCC_UNIT_UNKNOWN, NO, 0, NULL, NULL },
};

const GstMccEncoderRow *
gst_mcc_encoder_table_get (guint *n_rows)
{
  *n_rows = G_N_ELEMENTS (rows);
  return rows;
}

const GstMccEncoderRow *
gst_mcc_encoder_table_lookup (GstElement *encoder)
{
  GstElementFactory *factory = gst_element_get_factory (encoder);
  const gchar *name = factory ? GST_OBJECT_NAME (factory) : "";

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_pattern_match_simple (rows[i].factory, name)
        && g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), rows[i].property))
      return &rows[i];
  return NULL;
}

void
gst_mcc_encoder_fit_rate (GstElement *encoder, guint64 bps)
{
  const GstMccEncoderRow *row = gst_mcc_encoder_table_lookup (encoder);

  if (row && row->settings == x264_settings && bps <= GST_MCC_ENCODER_ONE_THREAD_BPS
      && get_int (encoder, "threads") == 0)
    g_object_set (encoder, "threads", 1u, NULL);
}

/* GValueArray is what the property has. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS

void
gst_mcc_encoder_share_rate (GstElement *encoder, guint64 bps)
{
  static const gchar property[] = "temporal-scalability-target-bitrate";
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), property);
  GValueArray *rates = NULL;
  gint all = 0;

  if (!pspec || pspec->value_type != g_value_array_get_type ())
    return;
  g_object_get (encoder, property, &rates, NULL);
  if (rates && rates->n_values > 0)
    all = g_value_get_int (g_value_array_get_nth (rates, rates->n_values - 1));
  for (guint i = 0; all > 0 && i < rates->n_values; i++) {
    GValue *rate = g_value_array_get_nth (rates, i);

    g_value_set_int (rate, (gint)gst_util_uint64_scale ((guint64)MAX (g_value_get_int (rate), 0),
                               MIN (bps, G_MAXINT), (guint64)all));
  }
  if (all > 0)
    g_object_set (encoder, property, rates, NULL);
  if (rates)
    g_value_array_free (rates);
}

G_GNUC_END_IGNORE_DEPRECATIONS
