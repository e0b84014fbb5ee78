/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccuri and gstmccproperties: a URI sets properties, all or nothing, and reads back.
 */
#include <gst/gst.h>

#include "gstasmpsink.h"
#include "gstasmpsrc.h"
#include "gstasspsimulcastbin.h"
#include "gstasspsimulcastsrc.h"
#include "gstelmlayersink.h"
#include "gstelmlayersrc.h"
#include "gstmccuri.h"

static GstElement *
make (void)
{
  return gst_object_ref_sink (g_object_new (GST_TYPE_ASMP_SRC, NULL));
}

typedef struct {
  const gchar *uri, *address, *source;
  gint port;
  const gchar *again; /* what _get() writes */
} Good;

static void
test_good (void)
{
  static const Good good[] = {
    { "asmp://239.1.2.3:6000", "239.1.2.3", NULL, 6000, "asmp://239.1.2.3:6000" },
    { "ASMP://239.1.2.3:6000/", "239.1.2.3", NULL, 6000, "asmp://239.1.2.3:6000" },
    { "asmp://239.1.2.3", "239.1.2.3", NULL, 5004, "asmp://239.1.2.3:5004" },
    { "asmp://[ff15::42]:6000", "ff15::42", NULL, 6000, "asmp://[ff15::42]:6000" },
    { "asmp://10.0.0.1@232.1.2.3:6000", "232.1.2.3", "10.0.0.1", 6000,
        "asmp://10.0.0.1@232.1.2.3:6000" },
    { "asmp://fd00::1@[ff35::42]:6000", "ff35::42", "fd00::1", 6000,
        "asmp://fd00::1@[ff35::42]:6000" },
    { "asmp://[fd00::1]@[ff35::42]:6000", "ff35::42", "fd00::1", 6000,
        "asmp://fd00::1@[ff35::42]:6000" },
    { "asmp://239.1.2.3:6000?ttl-mc=3&multicast-iface=eth0&loop=false", "239.1.2.3", NULL, 6000,
        "asmp://239.1.2.3:6000?multicast-iface=eth0&ttl-mc=3&loop=false" },
    { "asmp://239.1.2.3:6000?latency=500;variant=published", "239.1.2.3", NULL, 6000,
        "asmp://239.1.2.3:6000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    GstElement *element = make ();
    gchar *address, *source, *uri;
    GError *error = NULL;
    gint port;

    g_assert_true (gst_mcc_uri_set (element, "asmp", good[i].uri, &error) || error);
    g_assert_no_error (error);
    g_object_get (
        element, "address", &address, "port", &port, "source-address", &source, "uri", &uri, NULL);
    g_assert_cmpstr (address, ==, good[i].address);
    g_assert_cmpstr (source, ==, good[i].source);
    g_assert_cmpint (port, ==, good[i].port);
    g_assert_cmpstr (uri, ==, good[i].again);
    g_free (address);
    g_free (source);
    g_free (uri);
    gst_object_unref (element);
  }
}

static void
assert_uri (GstElement *element, const gchar *expected)
{
  gchar *uri;

  g_object_get (element, "uri", &uri, NULL);
  g_assert_cmpstr (uri, ==, expected);
  g_free (uri);
}

static void
test_values (void)
{
  GstElement *element = make ();
  guint latency;
  gint variant, ttl;
  gchar *iface;

  g_assert_true (gst_mcc_uri_set (
      element, "asmp", "asmp://239.1.2.3?caps=application/x-rtp,encoding-name=(string)VP8", NULL));
  g_assert_true (gst_mcc_uri_set (element, "asmp",
      "asmp://239.1.2.3:6000?latency=500&variant=published&ttl-mc=3&multicast-iface=a%20b", NULL));
  g_object_get (element, "latency", &latency, "variant", &variant, "ttl-mc", &ttl,
      "multicast-iface", &iface, NULL);
  g_assert_cmpuint (latency, ==, 500);
  g_assert_cmpint (variant, ==, 0);
  g_assert_cmpint (ttl, ==, 3);
  g_assert_cmpstr (iface, ==, "a b");
  g_free (iface);
  gst_object_unref (element);
}

static void
test_bad_changes_nothing (void)
{
  static const gchar *const bad[] = { NULL, "", "asmp", "asmp://", "assp://239.9.9.9:6000",
    "asmp://239.9.9.9:6001", "asmp://239.9.9.9:0", "asmp://239.9.9.9:70000",
    "asmp://239.9.9.9:6000/path", "asmp://here@239.9.9.9:6000", "asmp://239.9.9.9:6000?nosuch=1",
    "asmp://239.9.9.9:6000?ttl=many", "asmp://239.9.9.9:6000?latency=-1",
    "asmp://239.9.9.9:6000?ttl", "asmp://239.9.9.9:6000?ttl=%zz",
    "asmp://239.9.9.9:6000?variant=best", "asmp://239.9.9.9:6000?name=x",
    "asmp://239.9.9.9:6000?uri=asmp%3a%2f%2f1.1.1.1", "asmp://239.9.9.9:6000?stats=x",
    "asmp://239.9.9.9:6000?async-handling=true", "asmp://239.9.9.9:6000?multicast-iface=%ff%fe",
    "asmp://239.9.9.9:6000?latency=%ff", "asmp://239.9.9.9:6000?caps=1(on",
    "asmp://239.9.9.9:6000?caps=application/x-rtp%3b1(on", "asmp://239.9.9.9:6000?caps=video/x-raw",
    "asmp://239.9.9.9:6000?caps=application/x-rtp,a-ts-refclk=(string)local",
    "asmp://239.9.9.9:6000?address=", "asmp://239.9.9.9:6000?port=6001",
    "asmp://239.9.9.9:6000?source-address=here", "asmp://239.9.9.9:6000\xb8", "asmp://@a b@c",
    "asmp://a%3ab:6000", "asmp://example.org:6000" };
  GstElement *element = make ();

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GError *error = NULL;
    gchar *uri;

    g_assert_false (gst_mcc_uri_set (element, "asmp", bad[i], &error));
    g_assert_nonnull (error);
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
    g_clear_error (&error);
    g_object_get (element, "uri", &uri, NULL);
    g_assert_cmpstr (uri, ==, "asmp://239.255.12.42:5004");
    g_free (uri);
  }
  gst_object_unref (element);
}

/* Each says what would be right. */
static void
test_errors_name_the_mend (void)
{
  static const gchar *const table[][2] = {
    { "?variant=best", "variant: 'best' is not a valid value; it takes published, enhanced" },
    { "?latency=-1", "a whole number, 0 or more" },
    { "?loop=perhaps", "true or false" },
    { "?ttl=many", "gst-inspect-1.0" },
    { "?ttl", "write ttl=VALUE" },
    { "/path", "leave it out" },
    { "?nosuch=1", "gst-inspect-1.0 lists the properties" },
  };
  GstElement *element = make ();

  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    GError *error = NULL;
    gchar *uri = g_strconcat ("asmp://239.9.9.9:6000", table[i][0], NULL);

    g_assert_false (gst_mcc_uri_set (element, "asmp", uri, &error));
    g_assert_nonnull (strstr (error->message, table[i][1]));
    g_error_free (error);
    g_free (uri);
  }
  gst_object_unref (element);
}

static void
set_uri (GstElement *element, const gchar *uri)
{
  GError *error = NULL;

  gst_uri_handler_set_uri (GST_URI_HANDLER (element), uri, &error);
  g_assert_no_error (error);
}

/* A URI set again: nothing of the earlier one stays. */
static void
test_again (void)
{
  GstElement *element = make ();
  guint latency;
  gint ttl;

  set_uri (element, "asmp://192.0.2.10@232.1.2.3:6000?latency=500&ttl-mc=3&multicast-iface=eth0");
  set_uri (element, "asmp://239.255.12.42");
  assert_uri (element, "asmp://239.255.12.42:5004");
  g_object_get (element, "latency", &latency, NULL);
  g_assert_cmpuint (latency, ==, 300);

  /* port and source are the URI's, whoever set them; the rest stays as the application has it */
  g_object_set (element, "port", 7000, "source-address", "192.0.2.11", "ttl-mc", 5, NULL);
  set_uri (element, "asmp://239.255.12.43?latency=500");
  assert_uri (element, "asmp://239.255.12.43:5004?ttl-mc=5");
  g_object_set (element, "latency", 700, NULL);
  set_uri (element, "asmp://239.255.12.43?ttl-mc=6");
  set_uri (element, "asmp://239.255.12.43");
  g_object_get (element, "latency", &latency, "ttl-mc", &ttl, NULL);
  g_assert_cmpuint (latency, ==, 700);
  g_assert_cmpint (ttl, ==, 64);

  /* one with an error changes nothing, now as then */
  set_uri (element, "asmp://239.255.12.43:6000?ttl-mc=7");
  g_assert_false (gst_mcc_uri_set (element, "asmp", "asmp://239.255.12.44?ttl-mc=x", NULL));
  assert_uri (element, "asmp://239.255.12.43:6000?ttl-mc=7");
  gst_object_unref (element);
}

/* A value that is not the default one; NULL: none is tried. */
static const gchar *
other_value (GParamSpec *pspec)
{
  if (g_str_equal (pspec->name, "address") || g_str_equal (pspec->name, "port")
      || g_str_equal (pspec->name, "source-address"))
    return NULL;
  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    return G_PARAM_SPEC_BOOLEAN (pspec)->default_value ? "false" : "true";
  if (G_IS_PARAM_SPEC_ENUM (pspec)) {
    const GEnumClass *values = G_PARAM_SPEC_ENUM (pspec)->enum_class;
    gint preset = G_PARAM_SPEC_ENUM (pspec)->default_value;

    return values->values[values->values[0].value == preset ? 1 : 0].value_nick;
  }
  if (G_IS_PARAM_SPEC_STRING (pspec))
    return "x";
  if (pspec->value_type == GST_TYPE_CAPS)
    return "application/x-rtp";
  return "7";
}

static gboolean
is_default (GstElement *element, GParamSpec *pspec)
{
  GValue value = G_VALUE_INIT;
  gboolean result;

  g_value_init (&value, pspec->value_type);
  g_object_get_property (G_OBJECT (element), pspec->name, &value);
  result = g_param_value_defaults (pspec, &value);
  g_value_unset (&value);
  return result;
}

/* Whatever a URI may set. */
static void
test_all_goes_back (void)
{
  const GType types[] = { GST_TYPE_ASMP_SRC, GST_TYPE_ASMP_SINK, GST_TYPE_ASSP_SIMULCAST_SRC,
    GST_TYPE_ASSP_SIMULCAST_BIN, GST_TYPE_ELM_LAYER_SRC, GST_TYPE_ELM_LAYER_SINK };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    GstElement *element = gst_object_ref_sink (g_object_new (types[i], NULL));
    const gchar *scheme = gst_uri_handler_get_protocols (GST_URI_HANDLER (element))[0];
    gchar *plain = g_strconcat (scheme, "://239.1.2.3", NULL);
    guint n_specs, n = 0;
    GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n_specs);

    for (guint j = 0; j < n_specs; j++) {
      const gchar *value = other_value (specs[j]);
      gchar *uri = g_strdup_printf ("%s?%s=%s", plain, specs[j]->name, value);

      if (value && gst_mcc_uri_set (element, scheme, uri, NULL)) {
        g_test_message ("%s", uri);
        g_assert_false (is_default (element, specs[j]));
        set_uri (element, plain);
        g_assert_true (is_default (element, specs[j]));
        n++;
      }
      g_free (uri);
    }
    g_assert_cmpuint (n, >=, 15);
    g_free (specs);
    g_free (plain);
    gst_object_unref (element);
  }
}

/* A start-bitrate that is taken back is unset: within the bounds, not refused. */
static void
test_unset_start_goes_back (void)
{
  GstElement *element = gst_object_ref_sink (g_object_new (GST_TYPE_ASMP_SINK, NULL));

  set_uri (element, "asmp://127.0.0.1:61236?start-bitrate=200000");
  set_uri (element, "asmp://127.0.0.1:61236");
  g_object_set (element, "min-bitrate", (guint64)500000, NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

/* A URI comes from strangers: it must not name files to write. */
static void
test_no_files (void)
{
  GstElement *element = make ();
  GParamSpec **specs;
  guint n;

  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (guint i = 0; i < n; i++)
    if (strstr (specs[i]->name, "location"))
      g_assert_not_reached ();
  g_free (specs);
  gst_object_unref (element);
}

static void
test_handler (void)
{
  GstElement *element = make ();
  GError *error = NULL;

  g_assert_true (
      gst_uri_handler_set_uri (GST_URI_HANDLER (element), "asmp://239.1.2.3:6000", &error));
  g_assert_no_error (error);
  g_assert_cmpint (gst_uri_handler_get_uri_type (GST_URI_HANDLER (element)), ==, GST_URI_SRC);
  gst_object_unref (element);
}

/* A state change that fails with an error that has @part in it. */
static void
assert_fails (GstElement *element, GstState state, const gchar *part)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (element, bus);
  g_assert_cmpint (gst_element_set_state (element, state), ==, GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, part));
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
}

/* It does not play the default group instead. */
static void
test_bad_property_fails (void)
{
  GstElement *element = make ();

  g_object_set (element, "uri", "asmp://239.1.2.3:6001", NULL);
  assert_fails (element, GST_STATE_READY, "uri: port 6001");
  g_object_set (element, "uri", "asmp://127.0.0.1:61236", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

static void
test_only_in_null (void)
{
  GstElement *element = g_object_new (GST_TYPE_ASMP_SINK, NULL);
  GError *error = NULL;

  gst_object_ref_sink (element);
  g_object_set (element, "address", "127.0.0.1", "port", 61236, NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  g_assert_false (gst_uri_handler_set_uri (GST_URI_HANDLER (element), "asmp://127.0.0.2", &error));
  g_assert_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE);
  g_clear_error (&error);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

/* What may change in READY is checked once more on the way to PAUSED. */
static void
test_checked_again (void)
{
  static const gchar *const bad[] = { "min-bitrate", "start-bitrate" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstElement *element = g_object_new (GST_TYPE_ASMP_SINK, NULL);

    gst_object_ref_sink (element);
    g_object_set (element, "address", "127.0.0.1", "port", 61236, NULL);
    g_assert_cmpint (
        gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
    g_object_set (element, bad[i], (guint64)20000000, NULL);
    assert_fails (element, GST_STATE_PAUSED, bad[i]);
    gst_object_unref (element);
  }
}

static void
test_properties_round_trip (void)
{
  static const gchar *const values[][2] = { { "address", "239.1.2.3" }, { "port", "7000" },
    { "multicast-iface", "eth7" }, { "ttl", "3" }, { "ttl-mc", "255" }, { "loop", "false" },
    { "qos-dscp", "46" }, { "source-address", "10.1.1.1" }, { "feedback-address", "10.1.1.2" },
    { "feedback-port", "7001" }, { "variant", "published" },
    { "session-bandwidth", "18446744073709551615" }, { "cname", "someone" }, { "seed", "77" },
    { "stats-interval", "250" }, { "latency", "0" }, { "encoding-name", "VP8" },
    { "ssrc", "4294967295" } };
  GstElement *element = make ();

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    GValue value = G_VALUE_INIT;
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), values[i][0]);
    gchar *text;

    g_assert_nonnull (spec);
    gst_util_set_object_arg (G_OBJECT (element), values[i][0], values[i][1]);
    g_value_init (&value, spec->value_type);
    g_object_get_property (G_OBJECT (element), values[i][0], &value);
    text = G_VALUE_HOLDS_STRING (&value) ? g_value_dup_string (&value)
                                         : gst_value_serialize (&value);
    g_assert_cmpstr (text, ==, values[i][1]);
    g_free (text);
    g_value_unset (&value);
  }
  gst_object_unref (element);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/uri/good", test_good);
  g_test_add_func ("/uri/values", test_values);
  g_test_add_func ("/uri/bad-changes-nothing", test_bad_changes_nothing);
  g_test_add_func ("/uri/errors-name-the-mend", test_errors_name_the_mend);
  g_test_add_func ("/uri/again", test_again);
  g_test_add_func ("/uri/all-goes-back", test_all_goes_back);
  g_test_add_func ("/uri/unset-start-goes-back", test_unset_start_goes_back);
  g_test_add_func ("/uri/no-files", test_no_files);
  g_test_add_func ("/uri/handler", test_handler);
  g_test_add_func ("/uri/bad-property-fails", test_bad_property_fails);
  g_test_add_func ("/uri/only-in-null", test_only_in_null);
  g_test_add_func ("/properties/checked-again-below-paused", test_checked_again);
  g_test_add_func ("/properties/round-trip", test_properties_round_trip);
  return g_test_run ();
}
