/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <gst/check/gsttestclock.h>
#include <gst/gst.h>

#include "gstmccencoder.h"

static gint changes, own_changes; /* atomic */
static GThread *self_thread;

static void
on_changed (gpointer owner, GstElement *encoder, guint64 bitrate)
{
  if (g_thread_self () == self_thread)
    g_atomic_int_inc (&own_changes);
  g_atomic_int_inc (&changes);
}

static void
wait_for_changes (gint n)
{
  for (guint i = 0; i < 2000 && g_atomic_int_get (&changes) < n; i++)
    g_usleep (1000);
  g_assert_cmpint (g_atomic_int_get (&changes), ==, n);
}

/* A pipeline with a sink named "sink"; skips the test when an element is missing. */
static GstElement *
parse (const gchar *description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);

  if (!pipeline || error) {
    g_test_skip (error ? error->message : "cannot be made");
    g_clear_error (&error);
    gst_clear_object (&pipeline);
  }
  return pipeline;
}

static GstPad *
sink_pad (GstElement *pipeline)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");

  gst_object_unref (sink);
  return pad;
}

static void
assert_found (const gchar *description, const gchar *name)
{
  GstElement *pipeline = parse (description);
  GstElement *found;
  GstPad *pad;

  if (!pipeline)
    return;
  pad = sink_pad (pipeline);
  found = gst_mcc_encoder_search (pad);
  g_assert_cmpstr (found ? GST_OBJECT_NAME (found) : NULL, ==, name);
  gst_clear_object (&found);
  gst_object_unref (pad);
  gst_object_unref (pipeline);
}

static void
test_search (void)
{
  assert_found ("videotestsrc ! x264enc name=e ! rtph264pay ! fakesink name=sink", "e");
  assert_found ("videotestsrc ! x264enc name=e ! h264parse ! queue ! identity ! rtph264pay ! "
                "application/x-rtp,media=video ! queue ! fakesink name=sink",
      "e");
  assert_found ("bin.( videotestsrc ! x264enc name=e ) ! rtph264pay ! fakesink name=sink", "e");
  assert_found ("videotestsrc ! x264enc name=e ! bin.( queue ! bin.( rtph264pay ) ) ! "
                "fakesink name=sink",
      "e");
  assert_found ("videotestsrc ! x264enc name=e ! tee name=t t. ! queue ! fakesink t. ! queue ! "
                "rtph264pay ! bin.( fakesink name=sink )",
      "e");
}

static void
test_search_video_first (void)
{
  assert_found ("mpegtsmux name=m ! rtpmp2tpay ! fakesink name=sink "
                "audiotestsrc ! opusenc name=a ! opusparse ! m. videotestsrc ! x264enc name=v ! m.",
      "v");
  assert_found ("audiotestsrc ! opusenc name=a ! rtpopuspay ! fakesink name=sink", "a");
}

static void
test_search_none (void)
{
  assert_found ("filesrc ! matroskademux ! h264parse ! rtph264pay ! fakesink name=sink", NULL);
  /* The encoder before a decoder is somebody else's. */
  assert_found ("videotestsrc ! x264enc ! avdec_h264 ! rtpvrawpay ! fakesink name=sink", NULL);
}

typedef struct {
  GstElement *pipeline, *encoder;
  GstPad *pad;
  GstMccEncoder *control;
} Fixture;

static gboolean
setup (Fixture *f, const gchar *description)
{
  f->pipeline = parse (description);
  if (!f->pipeline)
    return FALSE;
  g_atomic_int_set (&changes, 0);
  f->encoder = gst_bin_get_by_name (GST_BIN (f->pipeline), "e");
  f->pad = sink_pad (f->pipeline);
  f->control = gst_mcc_encoder_new (f->pipeline, on_changed);
  return TRUE;
}

static void
teardown (Fixture *f)
{
  gst_element_set_state (f->pipeline, GST_STATE_NULL);
  gst_mcc_encoder_free (f->control);
  gst_object_unref (f->pad);
  gst_clear_object (&f->encoder);
  gst_object_unref (f->pipeline);
}

static gint
get_int (GstElement *element, const gchar *property)
{
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;
  gint result;

  g_value_init (&number, G_TYPE_INT);
  g_object_get_property (G_OBJECT (element), property, &value);
  g_assert_true (g_value_transform (&value, &number));
  result = g_value_get_int (&number);
  g_value_unset (&value);
  return result;
}

static void
wait_for (GstElement *element, const gchar *property, gint value)
{
  for (guint i = 0; i < 2000 && get_int (element, property) != value; i++)
    g_usleep (1000);
  g_assert_cmpint (get_int (element, property), ==, value);
}

/* Warnings and errors on the bus whose text has @part. */
static guint
count_messages (GstElement *pipeline, GstMessageType type, const gchar *part)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, type))) {
    GError *error = NULL;

    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    g_test_message ("%s", error->message);
    if (strstr (error->message, part))
      n++;
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return n;
}

static void
test_configures_defaults_only (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc ! x264enc name=e speed-preset=slow ! rtph264pay ! "
                  "fakesink name=sink"))
    return;
  gst_mcc_encoder_set_bitrate (f.control, 345678);
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, FALSE), ==, GST_MCC_ENCODER_FOUND);
  g_assert_cmpint (get_int (f.encoder, "pass"), ==, 5);
  g_assert_cmpint (get_int (f.encoder, "vbv-buf-capacity"), ==, 200);
  gboolean aud = TRUE;
  g_object_get (f.encoder, "aud", &aud, NULL);
  g_assert_false (aud);
  g_assert_cmpint (get_int (f.encoder, "tune"), ==, 4);
  g_assert_cmpint (get_int (f.encoder, "speed-preset"), ==, 7);
  /* At once: the encoder does not run yet. */
  g_assert_cmpint (get_int (f.encoder, "bitrate"), ==, 345);
  g_assert_cmpuint (gst_mcc_encoder_get_applied (f.control), ==, 345678);
  /* ... but it is told by a worker, as always: who calls us may hold locks */
  wait_for_changes (1);
  g_assert_cmpint (g_atomic_int_get (&own_changes), ==, 0);
  teardown (&f);
}

/* Slices cost small pictures much: one thread where the stream is never fast. */
static void
test_one_thread_for_low_rates (void)
{
  GstMccEncoderSettings settings = { .configure = TRUE };
  const struct {
    guint64 max_bps;
    const gchar *threads;
    gint expected;
  } rows[] = {
    { 1000000, "", 1 },
    { 1000001, "", 0 },
    { 0, "", 0 },
    { 500000, "threads=3", 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Fixture f;
    gchar *line = g_strdup_printf (
        "videotestsrc ! x264enc name=e %s ! rtph264pay ! fakesink name=sink", rows[i].threads);
    gboolean there = setup (&f, line);

    g_free (line);
    if (!there)
      return;
    settings.max_bps = rows[i].max_bps;
    g_assert_true (gst_mcc_encoder_set_settings (f.control, &settings));
    gst_mcc_encoder_find (f.control, f.pad, FALSE);
    g_assert_cmpint (get_int (f.encoder, "threads"), ==, rows[i].expected);
    teardown (&f);
  }
}

static void
test_leaves_layers (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc ! x264enc name=e bframes=3 ! rtph264pay ! fakesink name=sink"))
    return;
  gst_mcc_encoder_find (f.control, f.pad, FALSE);
  g_assert_cmpint (get_int (f.encoder, "tune"), ==, 0);
  g_assert_cmpint (get_int (f.encoder, "pass"), ==, 5);
  teardown (&f);
}

static void
test_configure_off (void)
{
  GstMccEncoderSettings settings = { .configure = FALSE };
  Fixture f;

  if (!setup (&f, "videotestsrc ! x264enc name=e ! rtph264pay ! fakesink name=sink"))
    return;
  g_assert_true (gst_mcc_encoder_set_settings (f.control, &settings));
  gst_mcc_encoder_set_bitrate (f.control, 500000);
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, FALSE), ==, GST_MCC_ENCODER_FOUND);
  g_assert_cmpint (get_int (f.encoder, "pass"), ==, 0);
  g_assert_cmpint (get_int (f.encoder, "bitrate"), ==, 500);
  teardown (&f);
}

static void
test_control_none (void)
{
  GstMccEncoderSettings settings = { .control = GST_MCC_ENCODER_CONTROL_NONE, .configure = TRUE };
  Fixture f;

  if (!setup (&f, "videotestsrc ! x264enc name=e ! rtph264pay ! fakesink name=sink"))
    return;
  g_assert_true (gst_mcc_encoder_set_settings (f.control, &settings));
  gst_mcc_encoder_set_bitrate (f.control, 500000);
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, TRUE), ==, GST_MCC_ENCODER_UNCONTROLLED);
  g_usleep (20000);
  g_assert_cmpint (get_int (f.encoder, "pass"), ==, 0);
  g_assert_cmpint (get_int (f.encoder, "bitrate"), ==, 2048);
  teardown (&f);
}

static void
test_latest_wins (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc is-live=true ! video/x-raw,format=I420 ! x264enc name=e ! "
                  "rtph264pay ! fakesink name=sink sync=false async=false"))
    return;
  gst_mcc_encoder_find (f.control, f.pad, FALSE);
  gst_element_set_state (f.pipeline, GST_STATE_PLAYING);
  for (guint i = 1; i <= 1000; i++)
    gst_mcc_encoder_set_bitrate (f.control, i * 1000);
  wait_for (f.encoder, "bitrate", 1000);
  g_usleep (20000);
  g_assert_cmpint (get_int (f.encoder, "bitrate"), ==, 1000);
  g_assert_cmpuint (gst_mcc_encoder_get_applied (f.control), ==, 1000000);
  g_assert_cmpint (g_atomic_int_get (&changes), <=, 1000);
  teardown (&f);
}

static void
test_late (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc is-live=true ! video/x-raw,format=I420 ! x264enc name=e ! "
                  "rtph264pay ! fakesink name=sink sync=false async=false"))
    return;
  gst_element_set_state (f.pipeline, GST_STATE_PLAYING);
  gst_element_get_state (f.pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  gst_mcc_encoder_find (f.control, f.pad, TRUE);
  gst_mcc_encoder_find (f.control, f.pad, TRUE);
  g_assert_cmpint (get_int (f.encoder, "pass"), ==, 0);
  g_assert_cmpint (get_int (f.encoder, "vbv-buf-capacity"), ==, 200);
  g_assert_cmpuint (count_messages (f.pipeline, GST_MESSAGE_WARNING, "pass=qual"), ==, 1);
  gst_mcc_encoder_set_bitrate (f.control, 700000);
  wait_for (f.encoder, "bitrate", 700);
  teardown (&f);
}

static void
test_key_frame_interval (void)
{
  GstClock *clock = gst_test_clock_new_with_start_time (17 * GST_SECOND);
  Fixture f;

  gst_system_clock_set_default (clock);
  if (setup (&f, "videotestsrc ! x265enc name=e ! rtph265pay ! fakesink name=sink")) {
    gst_mcc_encoder_set_bitrate (f.control, 1000000);
    gst_mcc_encoder_find (f.control, f.pad, FALSE);
    g_assert_cmpint (get_int (f.encoder, "bitrate"), ==, 1000);
    gst_mcc_encoder_set_bitrate (f.control, 500000);
    gst_mcc_encoder_set_bitrate (f.control, 600000);
    gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (clock), NULL);
    gst_test_clock_advance_time (GST_TEST_CLOCK (clock), 2 * GST_SECOND - 1);
    g_usleep (20000);
    g_assert_cmpint (get_int (f.encoder, "bitrate"), ==, 1000);
    gst_test_clock_advance_time (GST_TEST_CLOCK (clock), 1);
    gst_clock_id_unref (gst_test_clock_process_next_clock_id (GST_TEST_CLOCK (clock)));
    wait_for (f.encoder, "bitrate", 600);
    wait_for_changes (2);
    teardown (&f);
  }
  gst_system_clock_set_default (NULL);
  gst_object_unref (clock);
}

static void
assert_refused (const gchar *description, const gchar *property, const gchar *part)
{
  Fixture f;
  gint before;

  if (!setup (&f, description))
    return;
  before = get_int (f.encoder, property);
  gst_mcc_encoder_set_bitrate (f.control, 333000);
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, TRUE), ==, GST_MCC_ENCODER_REFUSED);
  gst_mcc_encoder_find (f.control, f.pad, TRUE);
  g_usleep (20000);
  g_assert_cmpint (get_int (f.encoder, property), ==, before);
  g_assert_cmpuint (count_messages (f.pipeline, GST_MESSAGE_WARNING, part), ==, 1);
  g_assert_cmpuint (gst_mcc_encoder_get_applied (f.control), ==, 0);
  teardown (&f);
}

static void
test_refuses (void)
{
  assert_refused (
      "videotestsrc ! avenc_mpeg4 name=e ! rtpmp4vpay ! fakesink name=sink", "bitrate", "x264enc");
}

static void
test_refuses_mpeg2enc (void)
{
  assert_refused (
      "videotestsrc ! mpeg2enc name=e ! rtpmpvpay ! fakesink name=sink", "bitrate", "x264enc");
}

static void
test_refuses_unknown (void)
{
  assert_refused ("videotestsrc ! pngenc name=e ! fakesink name=sink", "compression-level",
      "encoder-bitrate-property");
}

static void
test_obstacles (void)
{
  const gchar *options[] = { "vbv-buf-capacity=0", "option-string=nal-hrd=cbr", "pass=quant" };

  for (guint i = 0; i < G_N_ELEMENTS (options); i++) {
    gchar *description = g_strdup_printf (
        "videotestsrc ! x264enc name=e %s ! rtph264pay ! fakesink name=sink", options[i]);
    Fixture f;

    if (setup (&f, description)) {
      gst_mcc_encoder_find (f.control, f.pad, TRUE);
      gst_mcc_encoder_find (f.control, f.pad, TRUE);
      g_assert_cmpuint (count_messages (f.pipeline, GST_MESSAGE_WARNING, "bitrate"), ==, 1);
      teardown (&f);
    }
    g_free (description);
  }
}

static void
test_none (void)
{
  Fixture f;

  if (!setup (&f, "filesrc ! h264parse ! rtph264pay ! fakesink name=sink"))
    return;
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, FALSE), ==, GST_MCC_ENCODER_NONE);
  g_assert_cmpuint (count_messages (f.pipeline, GST_MESSAGE_WARNING, ""), ==, 0);
  gst_mcc_encoder_find (f.control, f.pad, TRUE);
  gst_mcc_encoder_find (f.control, f.pad, TRUE);
  g_assert_cmpuint (count_messages (f.pipeline, GST_MESSAGE_WARNING, "No encoder"), ==, 1);
  teardown (&f);
}

static void
test_override (void)
{
  /* An encoder that is not in the table, in a branch where the search does not come. */
  GstMccEncoderSettings settings = {
    .configure = TRUE, .encoder_name = "e", .property = "blocksize", .unit = GST_MCC_UNIT_KBIT
  };
  Fixture f;

  if (!setup (&f, "fakesrc name=e ! fakesink videotestsrc ! fakesink name=sink"))
    return;
  g_assert_true (gst_mcc_encoder_set_settings (f.control, &settings));
  gst_mcc_encoder_set_bitrate (f.control, 123999);
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, TRUE), ==, GST_MCC_ENCODER_FOUND);
  g_assert_cmpint (get_int (f.encoder, "blocksize"), ==, 123);

  settings.encoder_name = NULL;
  settings.encoder = f.encoder;
  settings.unit = GST_MCC_UNIT_BIT;
  g_assert_true (gst_mcc_encoder_set_settings (f.control, &settings));
  gst_mcc_encoder_find (f.control, f.pad, TRUE);
  g_assert_cmpint (get_int (f.encoder, "blocksize"), ==, 123999);

  settings.unit = GST_MCC_UNIT_UNKNOWN;
  g_assert_false (gst_mcc_encoder_set_settings (f.control, &settings));
  g_assert_cmpuint (count_messages (f.pipeline, GST_MESSAGE_ERROR, "encoder-bitrate-unit"), ==, 1);
  teardown (&f);
}

static void
on_gone (gpointer gone, GObject *object)
{
  g_atomic_int_set ((gint *)gone, TRUE);
}

static void
test_encoder_goes (void)
{
  gint gone = FALSE;
  Fixture f;

  if (!setup (&f, "videotestsrc ! x264enc name=e ! rtph264pay name=p ! fakesink name=sink"))
    return;
  gst_mcc_encoder_set_bitrate (f.control, 400000);
  gst_mcc_encoder_find (f.control, f.pad, FALSE);
  g_object_weak_ref (G_OBJECT (f.encoder), on_gone, &gone);
  gst_bin_remove (GST_BIN (f.pipeline), f.encoder);
  gst_clear_object (&f.encoder);
  /* who set its rate last may still have it */
  for (guint i = 0; !g_atomic_int_get (&gone) && i < 5000; i++)
    g_usleep (1000);
  g_assert_true (g_atomic_int_get (&gone));
  gst_mcc_encoder_set_bitrate (f.control, 500000);
  g_usleep (20000);
  g_assert_null (gst_mcc_encoder_get_element (f.control));
  g_assert_cmpuint (gst_mcc_encoder_get_applied (f.control), ==, 400000);
  teardown (&f);
}

/* ---- an encoder that takes its time ---- */

typedef struct {
  GstElement parent;
  guint rate;
  gboolean slow;
} Slow;
typedef struct {
  GstElementClass parent;
} SlowClass;

static GType slow_get_type (void);
G_DEFINE_TYPE (Slow, slow, GST_TYPE_ELEMENT)

static gint setting, go_on; /* atomic */

static void
slow_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  Slow *self = (Slow *)object;

  g_atomic_int_set (&setting, TRUE);
  while (self->slow && !g_atomic_int_get (&go_on))
    g_usleep (1000);
  self->rate = g_value_get_uint (value);
}

static void
slow_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_uint (value, ((Slow *)object)->rate);
}

static void
slow_class_init (SlowClass *klass)
{
  G_OBJECT_CLASS (klass)->set_property = slow_set_property;
  G_OBJECT_CLASS (klass)->get_property = slow_get_property;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1,
      g_param_spec_uint ("rate", "rate", "rate", 0, G_MAXUINT, 0, G_PARAM_READWRITE));
}

static void
slow_init (Slow *self)
{
}

static void
drive (Fixture *f, GstElement *encoder)
{
  GstMccEncoderSettings settings
      = { .encoder = encoder, .property = "rate", .unit = GST_MCC_UNIT_BIT };

  g_assert_true (gst_mcc_encoder_set_settings (f->control, &settings));
  g_assert_cmpint (gst_mcc_encoder_find (f->control, f->pad, FALSE), ==, GST_MCC_ENCODER_FOUND);
}

/* What the old encoder got at last the new one has not. */
static void
test_replaced_while_set (void)
{
  GstElement *old = gst_object_ref_sink (g_object_new (slow_get_type (), NULL));
  GstElement *fresh = gst_object_ref_sink (g_object_new (slow_get_type (), NULL));
  Fixture f;

  ((Slow *)old)->slow = TRUE;
  g_assert_true (setup (&f, "fakesrc ! fakesink name=sink"));
  drive (&f, old);
  setting = go_on = FALSE;
  gst_mcc_encoder_set_bitrate (f.control, 500000); /* by a worker, who stands in it */
  for (guint i = 0; i < 5000 && !g_atomic_int_get (&setting); i++)
    g_usleep (1000);
  g_assert_true (g_atomic_int_get (&setting));
  drive (&f, fresh);
  g_atomic_int_set (&go_on, TRUE);
  wait_for (fresh, "rate", 500000);
  teardown (&f);
  gst_object_unref (old);
  gst_object_unref (fresh);
}

/* ---- an encoder whose rate is one of its driver's controls ---- */

typedef struct {
  GstElement parent;
  GstStructure *controls;
} Driver;
typedef struct {
  GstElementClass parent;
} DriverClass;

static GType driver_get_type (void);
G_DEFINE_TYPE (Driver, driver, GST_TYPE_ELEMENT)

static void
driver_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  Driver *self = (Driver *)object;

  g_clear_pointer (&self->controls, gst_structure_free);
  self->controls = g_value_dup_boxed (value);
}

static void
driver_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_boxed (value, ((Driver *)object)->controls);
}

static void
driver_finalize (GObject *object)
{
  g_clear_pointer (&((Driver *)object)->controls, gst_structure_free);
  G_OBJECT_CLASS (driver_parent_class)->finalize (object);
}

static void
driver_class_init (DriverClass *klass)
{
  G_OBJECT_CLASS (klass)->set_property = driver_set_property;
  G_OBJECT_CLASS (klass)->get_property = driver_get_property;
  G_OBJECT_CLASS (klass)->finalize = driver_finalize;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1,
      g_param_spec_boxed ("extra-controls", "extra-controls", "extra-controls", GST_TYPE_STRUCTURE,
          G_PARAM_READWRITE));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "driver", "Encoder/Video",
      "An encoder as those of v4l2", "adaptivemulticast");
}

static void
driver_init (Driver *self)
{
}

/* What the user has set beside the rate stays. */
static void
test_driver_controls (void)
{
  static const struct {
    const gchar *before, *after;
  } rows[] = {
    { NULL, "controls,video_bitrate=400000" },
    { "controls,repeat_sequence_header=1,h264_profile=4",
        "controls,repeat_sequence_header=1,h264_profile=4,video_bitrate=400000" },
    { "mine,video_bitrate=7,h264_profile=4", "mine,video_bitrate=400000,h264_profile=4" },
  };

  g_assert_true (gst_element_register (NULL, "v4l2fakeenc", GST_RANK_NONE, driver_get_type ()));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstMccEncoderSettings settings = { .configure = TRUE };
    GstStructure *wanted = gst_structure_from_string (rows[i].after, NULL);
    Fixture f;

    g_assert_true (setup (&f, "v4l2fakeenc name=e fakesrc ! fakesink name=sink"));
    if (rows[i].before)
      gst_util_set_object_arg (G_OBJECT (f.encoder), "extra-controls", rows[i].before);
    settings.encoder = f.encoder;
    g_assert_true (gst_mcc_encoder_set_settings (f.control, &settings));
    gst_mcc_encoder_set_bitrate (f.control, 400000);
    g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, FALSE), ==, GST_MCC_ENCODER_FOUND);
    g_assert_true (gst_structure_is_equal (((Driver *)f.encoder)->controls, wanted));
    gst_structure_free (wanted);
    teardown (&f);
  }
}

/* Every row that is installed here has what it names, and every setting is understood. */
static void
test_table (void)
{
  guint n, checked = 0;
  const GstMccEncoderRow *rows = gst_mcc_encoder_table_get (&n);

  for (guint i = 0; i < n; i++) {
    GstElement *encoder = gst_element_factory_make (rows[i].factory, NULL);

    if (!encoder)
      continue;
    checked++;
    g_assert_true (gst_mcc_encoder_table_lookup (encoder) == &rows[i]);
    for (const GstMccEncoderSetting *s = rows[i].settings; s && s->property; s++) {
      GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), s->property);
      GValue want = G_VALUE_INIT, got = G_VALUE_INIT;

      g_test_message ("%s %s=%s", rows[i].factory, s->property, s->value);
      g_assert_nonnull (pspec);
      g_value_init (&want, pspec->value_type);
      g_assert_true (gst_value_deserialize (&want, s->value));
      gst_util_set_object_arg (G_OBJECT (encoder), s->property, s->value);
      g_object_get_property (G_OBJECT (encoder), s->property, &got);
      g_assert_cmpint (gst_value_compare (&want, &got), ==, GST_VALUE_EQUAL);
      g_value_unset (&want);
      g_value_unset (&got);
    }
    gst_object_unref (encoder);
  }
  if (checked < 2)
    g_test_skip ("hardly an encoder is installed");
}

G_GNUC_BEGIN_IGNORE_DEPRECATIONS

/* Rates of vp8enc's layers keep their shares. */
static void
test_shares (void)
{
  static const gint before[] = { 400000, 600000, 1000000 };
  GstElement *encoder = gst_element_factory_make ("vp8enc", NULL);
  GValueArray *rates = g_value_array_new (3);
  GValue rate = G_VALUE_INIT;

  if (!encoder) {
    g_value_array_free (rates);
    g_test_skip ("no vp8enc");
    return;
  }
  gst_mcc_encoder_share_rate (encoder, 500000); /* it has none */
  g_value_init (&rate, G_TYPE_INT);
  for (guint i = 0; i < 3; i++) {
    g_value_set_int (&rate, before[i]);
    g_value_array_append (rates, &rate);
  }
  g_object_set (encoder, "temporal-scalability-target-bitrate", rates, NULL);
  g_value_array_free (rates);
  gst_mcc_encoder_share_rate (encoder, 500000);
  g_object_get (encoder, "temporal-scalability-target-bitrate", &rates, NULL);
  g_assert_cmpuint (rates->n_values, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (g_value_get_int (g_value_array_get_nth (rates, i)), ==, before[i] / 2);
  g_value_array_free (rates);
  gst_object_unref (encoder);
}

G_GNUC_END_IGNORE_DEPRECATIONS

/* Two senders would undo each other's work. */
static void
test_one_driver (void)
{
  GstMccEncoderSettings settings = { .configure = TRUE };
  GstMccEncoder *second;
  Fixture f;

  if (!setup (&f, "videotestsrc ! x264enc name=e ! tee name=t t. ! queue ! fakesink t. ! queue ! "
                  "rtph264pay ! fakesink name=sink"))
    return;
  second = gst_mcc_encoder_new (f.pipeline, on_changed);
  g_assert_true (gst_mcc_encoder_set_settings (f.control, &settings));
  g_assert_true (gst_mcc_encoder_set_settings (second, &settings));
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, TRUE), ==, GST_MCC_ENCODER_FOUND);
  g_assert_cmpint (gst_mcc_encoder_find (second, f.pad, TRUE), ==, GST_MCC_ENCODER_REFUSED);
  g_assert_cmpuint (count_messages (f.pipeline, GST_MESSAGE_WARNING, "an encoder for each"), ==, 1);
  gst_mcc_encoder_reset (f.control);
  gst_mcc_encoder_reset (second);
  g_assert_cmpint (gst_mcc_encoder_find (second, f.pad, TRUE), ==, GST_MCC_ENCODER_FOUND);
  gst_mcc_encoder_free (second);
  g_assert_cmpint (gst_mcc_encoder_find (f.control, f.pad, TRUE), ==, GST_MCC_ENCODER_FOUND);
  teardown (&f);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  self_thread = g_thread_self ();
  g_test_add_func ("/encoder/search/through-everything", test_search);
  g_test_add_func ("/encoder/search/video-first", test_search_video_first);
  g_test_add_func ("/encoder/search/none", test_search_none);
  g_test_add_func ("/encoder/configure/defaults-only", test_configures_defaults_only);
  g_test_add_func ("/encoder/configure/one-thread", test_one_thread_for_low_rates);
  g_test_add_func ("/encoder/configure/leaves-layers", test_leaves_layers);
  g_test_add_func ("/encoder/configure/off", test_configure_off);
  g_test_add_func ("/encoder/configure/late-live-only", test_late);
  g_test_add_func ("/encoder/control-none", test_control_none);
  g_test_add_func ("/encoder/bitrate/latest-wins", test_latest_wins);
  g_test_add_func ("/encoder/bitrate/key-frame-interval", test_key_frame_interval);
  g_test_add_func ("/encoder/bitrate/encoder-goes", test_encoder_goes);
  g_test_add_func ("/encoder/bitrate/replaced-while-set", test_replaced_while_set);
  g_test_add_func ("/encoder/bitrate/driver-controls", test_driver_controls);
  g_test_add_func ("/encoder/refuses/another-one's", test_one_driver);
  g_test_add_func ("/encoder/refuses/avenc", test_refuses);
  g_test_add_func ("/encoder/refuses/mpeg2enc", test_refuses_mpeg2enc);
  g_test_add_func ("/encoder/refuses/unknown", test_refuses_unknown);
  g_test_add_func ("/encoder/obstacles", test_obstacles);
  g_test_add_func ("/encoder/none", test_none);
  g_test_add_func ("/encoder/override", test_override);
  g_test_add_func ("/encoder/table", test_table);
  g_test_add_func ("/encoder/shares-of-layers", test_shares);
  return g_test_run ();
}
