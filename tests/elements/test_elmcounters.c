/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What elmlayersrc counts: from READY to PAUSED on, over pauses.
 */
#include <gst/gst.h>

#include "ownport.h"
#include "register.h"

#define SENDER                                                                                     \
  "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=30/1 ! "      \
  "x264enc tune=zerolatency key-int-max=30 ! rtph264pay ! elmlayersink name=it"
#define WITHIN_MS 10000

static gchar group[32];
static guint16 port;

/* NULL: an element is missing. */
static GstElement *
start (const gchar *description, GstElement **element)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);

  if (error) {
    g_test_skip (error->message);
    g_clear_error (&error);
    gst_clear_object (&pipeline);
    return NULL;
  }
  *element = gst_bin_get_by_name (GST_BIN (pipeline), "it");
  g_object_set (*element, "address", group, "port", port, "multicast-iface", "lo", NULL);
  return pipeline;
}

static void
stop (GstElement *pipeline, GstElement *element)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

static guint64
figure (GstElement *element, const gchar *field)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, field, &value));
  gst_structure_free (stats);
  return value;
}

/* Of the base layer. */
static guint64
pictures (GstElement *element)
{
  GstStructure *stats;
  const GValue *layers;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  layers = gst_structure_get_value (stats, "layers");
  if (gst_value_array_get_size (layers) > 0)
    gst_structure_get_uint64 (
        gst_value_get_structure (gst_value_array_get_value (layers, 0)), "pictures", &value);
  gst_structure_free (stats);
  return value;
}

static gboolean
are_more_than (GstElement *element, guint64 before)
{
  for (guint ms = 0; ms < WITHIN_MS && pictures (element) <= before; ms += 20)
    g_usleep (20000);
  return pictures (element) > before;
}

static void
test_counters (void)
{
  GstElement *sink, *src, *receiver, *sender = start (SENDER, &sink);
  guint64 joins, leaves, seen;

  if (!sender)
    return;
  receiver = start ("elmlayersrc name=it latency=50 ! fakesink sync=false", &src);
  g_assert_nonnull (receiver);
  gst_element_set_state (sender, GST_STATE_PLAYING);
  gst_element_set_state (receiver, GST_STATE_PLAYING);
  g_assert_true (are_more_than (src, 60));
  joins = figure (src, "joins");
  g_assert_cmpuint (joins, >=, 1);
  /* A pause: what was counted stays, and is counted on. */
  gst_element_set_state (receiver, GST_STATE_PAUSED);
  g_assert_cmpuint (figure (src, "joins"), ==, joins);
  leaves = figure (src, "leaves");
  g_assert_cmpuint (leaves, >=, 1);
  g_assert_cmpuint (figure (src, "failed-joins"), ==, 0);
  gst_element_set_state (receiver, GST_STATE_PLAYING);
  seen = pictures (src);
  g_assert_true (are_more_than (src, MAX (seen, 60)));
  g_assert_cmpuint (figure (src, "joins"), ==, joins + 1);
  g_assert_cmpuint (figure (src, "leaves"), ==, leaves);
  /* By way of READY all begins anew. */
  gst_element_set_state (receiver, GST_STATE_READY);
  gst_element_set_state (receiver, GST_STATE_PAUSED);
  g_assert_cmpuint (figure (src, "joins"), ==, 0);
  g_assert_cmpuint (figure (src, "leaves"), ==, 0);
  gst_element_set_state (receiver, GST_STATE_PLAYING);
  g_assert_true (are_more_than (src, 0));
  g_assert_cmpuint (pictures (src), <, 60);
  g_assert_cmpuint (figure (src, "joins"), ==, 1);
  g_assert_cmpuint (figure (src, "leaves"), ==, 0);
  stop (receiver, src);
  stop (sender, sink);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  register_elements ();
  own_group (group, sizeof group);
  port = own_port (8);
  g_test_add_func ("/elmcounters/over-pauses-and-anew-from-ready", test_counters);
  return g_test_run ();
}
