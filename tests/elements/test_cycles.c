/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Started and stopped again and again: what each element holds stays the same: heap, file
 * descriptors, threads. Receivers hear a sender that runs all the time, and in READY keep nothing
 * of the streams that they had. Who downstream has had enough ends the stream.
 *
 *   test_cycles [--cycles N] [-p /cycles/ELEMENT]     tests/bench/cycles is the long form
 */
#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gst/gst.h>

#include "ownport.h"
#include "register.h"

#define AUDIO "audiotestsrc is-live=true samplesperbuffer=441 ! rtpL16pay "
#define TWO AUDIO "! s.sink_0 " AUDIO "! s.sink_1 "
#define LAYERS AUDIO "! s.layer_0 " AUDIO "! s.layer_1 "
#define CYCLES 200 /* in each test run */
#define LOOKS 20
#define SETTLE_MS 8 /* in PLAYING: threads run, packets come */
#define BYTES_PER_CYCLE 24
#define BYTES_ANYWAY (256 * 1024) /* what malloc keeps; who leaks less is seen by LSan */

typedef struct {
  const gchar *name;
  const gchar *launch; /* that is started and stopped */
  const gchar *peer;   /* that runs beside it; NULL: nobody */
} Case;

static const Case cases[] = {
  { "asmpsink", AUDIO "! asmpsink @", NULL },
  { "asmpsrc", "asmpsrc @ ! fakesink name=sink async=false", AUDIO "! asmpsink @" },
  { "asspsimulcastbin", "asspsimulcastbin name=s @ " TWO, NULL },
  { "asspsimulcastsrc", "asspsimulcastsrc @ ! fakesink name=sink async=false",
      "asspsimulcastbin name=s @ " TWO },
  { "elmlayersink", "elmlayersink name=s @ " LAYERS, NULL },
  { "elmlayersrc", "elmlayersrc @ ! fakesink name=sink async=false",
      "elmlayersink name=s @ " LAYERS },
};

static guint cycles = CYCLES;

typedef struct {
  gsize heap;
  guint fds, threads;
} Held;

static guint
count_entries (const gchar *folder)
{
  DIR *dir = opendir (folder);
  guint count = 0;

  g_assert_nonnull (dir);
  while (readdir (dir))
    count++;
  closedir (dir);
  return count - 3; /* ".", "..", and of /proc/self/fd the folder itself */
}

static Held
look (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return (Held){ .heap = info.uordblks + info.hblkhd,
    .fds = count_entries ("/proc/self/fd"),
    .threads = count_entries ("/proc/self/task") + 1 };
}

static void
no_error (GstElement *pipeline, const gchar *when)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR))) {
    GError *error = NULL;

    gchar *debug = NULL;

    gst_message_parse_error (message, &error, &debug);
    g_error ("%s: %s (%s)", when, error->message, debug);
  }
  gst_object_unref (bus);
}

static void
cycle (GstElement *pipeline)
{
  GstStateChangeReturn result = gst_element_set_state (pipeline, GST_STATE_PLAYING);

  if (result == GST_STATE_CHANGE_FAILURE)
    no_error (pipeline, "starting");
  g_assert_cmpint (result, !=, GST_STATE_CHANGE_FAILURE);
  gst_element_get_state (pipeline, NULL, NULL, 5 * GST_SECOND);
  g_usleep (SETTLE_MS * 1000);
  no_error (pipeline, "playing");
  g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
}

/* What it held least behind one of the last LOOKS of @n cycles: packets and messages that just are
 * on their way are none of it. */
static Held
run (GstElement *pipeline, guint n)
{
  Held least = { G_MAXSIZE, G_MAXUINT, G_MAXUINT };

  for (guint i = 0; i < n; i++) {
    Held held;

    cycle (pipeline);
    if (i + LOOKS < n)
      continue;
    held = look ();
    least.heap = MIN (least.heap, held.heap);
    least.fds = MIN (least.fds, held.fds);
    least.threads = MIN (least.threads, held.threads);
  }
  return least;
}

/* "@" is where to; a port below those that the kernel gives away, and ours alone. */
static GstElement *
launch (const gchar *description)
{
  gchar **parts = g_strsplit (description, "@", -1), *whole;
  gchar *group
      = g_strdup_printf ("address=239.255.77.1 port=%d multicast-iface=lo ttl-mc=0", own_port (8));
  GError *error = NULL;
  GstElement *pipeline;

  whole = g_strjoinv (group, parts);
  pipeline = gst_parse_launch (whole, &error);
  g_assert_no_error (error);
  g_strfreev (parts);
  g_free (group);
  g_free (whole);
  return pipeline;
}

static void
test_cycles (gconstpointer data)
{
  const Case *test = data;
  GstElement *peer = test->peer ? launch (test->peer) : NULL, *pipeline = launch (test->launch);
  Held before, after;
  gdouble growth;

  if (peer)
    gst_element_set_state (peer, GST_STATE_PLAYING);
  before = run (pipeline, MAX (2 * LOOKS, cycles / 5));
  after = run (pipeline, cycles);
  growth = (gdouble)((gint64)after.heap - (gint64)before.heap);
  g_print ("# %s: %u cycles, heap %+.1f KiB (%.1f KiB), descriptors %u to %u, threads %u to %u\n",
      test->name, cycles, growth / 1024, (gdouble)before.heap / 1024, before.fds, after.fds,
      before.threads, after.threads);
  g_assert_cmpuint (after.fds, <=, before.fds);
  /* Pools keep an idle thread for a while. */
  g_assert_cmpuint (after.threads, <=, before.threads + 2);
  g_assert_cmpfloat (growth, <=, BYTES_ANYWAY + (gdouble)BYTES_PER_CYCLE * cycles);
  gst_object_unref (pipeline);
  if (peer) {
    gst_element_set_state (peer, GST_STATE_NULL);
    gst_object_unref (peer);
  }
}

static guint
count_jitterbuffers (GstElement *pipeline)
{
  GstIterator *iterator
      = gst_bin_iterate_all_by_element_factory_name (GST_BIN (pipeline), "rtpjitterbuffer");
  GValue value = G_VALUE_INIT;
  GstIteratorResult result;
  guint count = 0;

  while ((result = gst_iterator_next (iterator, &value)) == GST_ITERATOR_OK
         || result == GST_ITERATOR_RESYNC) {
    if (result == GST_ITERATOR_RESYNC) {
      gst_iterator_resync (iterator);
      count = 0;
      continue;
    }
    count++;
    g_value_reset (&value);
  }
  g_value_unset (&value);
  gst_iterator_free (iterator);
  return count;
}

/* A stream of before has the sender's CNAME, too: rtpbin keeps streams of one CNAME in sync, and
 * what it knows of that one is of another base time. The picture would stand as long as they
 * differ. */
static void
test_ready (gconstpointer data)
{
  const Case *test = data;
  GstElement *peer = launch (test->peer), *pipeline = launch (test->launch);

  gst_element_set_state (peer, GST_STATE_PLAYING);
  for (guint i = 0; i < 4; i++) {
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    for (guint j = 0; j < 500 && count_jitterbuffers (pipeline) == 0; j++)
      g_usleep (10000);
    g_assert_cmpuint (count_jitterbuffers (pipeline), ==, 1);
    no_error (pipeline, "playing");
    g_usleep (i % 2 ? 0 : 600000); /* past the latency or before anything has come out */
    gst_element_set_state (pipeline, GST_STATE_READY);
    g_assert_cmpuint (count_jitterbuffers (pipeline), ==, 0);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_element_set_state (peer, GST_STATE_NULL);
  gst_object_unref (pipeline);
  gst_object_unref (peer);
}

/* num-buffers, eos-after and the like end the stream, as they do behind udpsrc. */
static void
test_enough (gconstpointer data)
{
  const Case *test = data;
  GstElement *peer = launch (test->peer), *pipeline = launch (test->launch);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  g_object_set (sink, "num-buffers", 20, NULL);
  gst_element_set_state (peer, GST_STATE_PLAYING);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_element_set_state (peer, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  gst_object_unref (peer);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  register_elements ();
  for (int i = 1; i + 1 < argc; i++)
    if (g_str_equal (argv[i], "--cycles"))
      cycles = (guint)atoi (argv[i + 1]);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *path = g_strdup_printf ("/cycles/%s", cases[i].name);

    g_test_add_data_func (path, &cases[i], test_cycles);
    g_free (path);
    if (!cases[i].peer)
      continue;
    path = g_strdup_printf ("/cycles/%s-ready", cases[i].name);
    g_test_add_data_func (path, &cases[i], test_ready);
    g_free (path);
    path = g_strdup_printf ("/cycles/%s-enough", cases[i].name);
    g_test_add_data_func (path, &cases[i], test_enough);
    g_free (path);
  }
  return g_test_run ();
}
