/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plugins that are not installed: NULL->READY fails with an error that names the package, and a
 * message for installers. Each case is a process of its own whose GStreamer knows few plugins.
 */
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "lastref.h"
#include "register.h"

/* Makes @directory the only place that plugins are found in. */
static void
hide_the_others (const gchar *directory, const gchar *const *plugins)
{
  GstRegistry *registry = gst_registry_get ();
  gchar *registry_file = g_build_filename (directory, "registry.bin", NULL);

  for (; *plugins; plugins++) {
    GstPlugin *plugin = gst_registry_find_plugin (registry, *plugins);
    gchar *name, *link;

    g_assert_nonnull (plugin);
    name = g_path_get_basename (gst_plugin_get_filename (plugin));
    link = g_build_filename (directory, name, NULL);
    g_assert_cmpint (symlink (gst_plugin_get_filename (plugin), link), ==, 0);
    g_free (link);
    g_free (name);
    gst_object_unref (plugin);
  }
  g_setenv ("GST_PLUGIN_SYSTEM_PATH_1_0", directory, TRUE);
  g_setenv ("GST_PLUGIN_SYSTEM_PATH", directory, TRUE);
  g_setenv ("GST_REGISTRY_1_0", registry_file, TRUE);
  g_setenv ("GST_REGISTRY", registry_file, TRUE);
  g_unsetenv ("GST_PLUGIN_PATH_1_0");
  g_unsetenv ("GST_PLUGIN_PATH");
  g_free (registry_file);
}

static void
remove_all (const gchar *directory)
{
  GDir *dir = g_dir_open (directory, 0, NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir))) {
    gchar *path = g_build_filename (directory, name, NULL);

    g_unlink (path);
    g_free (path);
  }
  g_dir_close (dir);
  g_rmdir (directory);
}

/* In the child: @element fails for want of @missing, twice. */
static void
assert_missing (const gchar *factory, const gchar *missing, const gchar *package)
{
  gboolean groups = g_str_has_prefix (factory, "assp") || g_str_has_prefix (factory, "elm");
  GstElement *element = gst_element_factory_make (factory, NULL);
  GstBus *bus = gst_bus_new ();

  g_assert_nonnull (element);
  gst_element_set_bus (element, bus);
  g_object_set (element, "address", groups ? "239.255.77.20" : "127.0.0.1", "port", 15304, NULL);
  if (groups)
    g_object_set (element, "multicast-iface", "lo", NULL);
  if (!missing) {
    g_assert_cmpint (
        gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (element, GST_STATE_NULL);
  }
  for (guint i = 0; missing && i < 2; i++) {
    GstMessage *message;
    GError *error = NULL;

    g_assert_cmpint (
        gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    g_assert_nonnull (message);
    g_assert_true (gst_message_has_name (message, "missing-plugin"));
    g_assert_cmpstr (
        gst_structure_get_string (gst_message_get_structure (message), "detail"), ==, missing);
    gst_message_unref (message);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    g_assert_nonnull (message);
    gst_message_parse_error (message, &error, NULL);
    g_assert_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN);
    g_assert_nonnull (strstr (error->message, missing));
    g_assert_nonnull (strstr (error->message, package));
    g_clear_error (&error);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
  }
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  last_unref (element);
}

#define GOOD "gstreamer1.0-plugins-good"

static const struct {
  const gchar *path, *factory, *missing, *package;
  const gchar *plugins[6];
} cases[] = {
  { "/missing/sink-without-rtpmanager", "asmpsink", "rtpbin", GOOD, { "coreelements", "udp" } },
  { "/missing/src-without-rtpmanager", "asmpsrc", "rtpbin", GOOD, { "coreelements", "udp" } },
  { "/missing/sink-without-udp", "asmpsink", "udpsink", GOOD, { "coreelements", "rtpmanager" } },
  /* it has a source of its own */
  { "/missing/src-needs-no-udp", "asmpsrc", NULL, NULL, { "coreelements", "rtp", "rtpmanager" } },
  { "/missing/sink-without-core-elements", "asmpsink", "clocksync", "libgstreamer1.0-0",
      { "rtpmanager", "udp" } },
  { "/missing/simulcast-without-rtpmanager", "asspsimulcastbin", "rtpbin", GOOD,
      { "coreelements", "udp" } },
  { "/missing/simulcast-without-scaler", "asspsimulcastbin", "videoscale",
      "gstreamer1.0-plugins-base", { "coreelements", "rtp", "rtpmanager", "udp" } },
  { "/missing/simulcast-without-encoder", "asspsimulcastbin", "x264enc",
      "gstreamer1.0-plugins-ugly",
      { "coreelements", "rtp", "rtpmanager", "udp", "videoconvertscale" } },
  { "/missing/layers-sink-without-rtpmanager", "elmlayersink", "rtpbin", GOOD,
      { "coreelements", "udp" } },
  { "/missing/layers-sink-without-udp", "elmlayersink", "udpsink", GOOD,
      { "coreelements", "rtpmanager" } },
  { "/missing/layers-sink-without-core-elements", "elmlayersink", "clocksync", "libgstreamer1.0-0",
      { "rtp", "rtpmanager", "udp" } },
  { "/missing/layers-src-without-rtpmanager", "elmlayersrc", "rtpbin", GOOD,
      { "coreelements", "udp" } },
};

static void
test_case (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  gchar *directory;

  gst_init (NULL, NULL);
  if (g_test_subprocess ()) {
    register_elements ();
    assert_missing (cases[i].factory, cases[i].missing, cases[i].package);
    return;
  }
  directory = g_dir_make_tmp ("adaptive-multicast-XXXXXX", NULL);
  g_assert_nonnull (directory);
  hide_the_others (directory, cases[i].plugins);
  g_test_trap_subprocess (NULL, 60 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_DEFAULT);
  remove_all (directory);
  g_free (directory);
  g_test_trap_assert_passed ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_test_add_data_func (cases[i].path, GUINT_TO_POINTER (i), test_case);
  return g_test_run ();
}
