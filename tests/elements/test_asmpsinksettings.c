/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpsink: its properties, their bounds, and what is refused.
 */
#include <gst/gst.h>

#include "gstasmpsink.h"
#include "settings.h"
#include "sinkfixture.h"

#define SINK "asmpsink address=127.0.0.1 port=61240 "

static void
test_properties (void)
{
  GstElement *sink = gst_element_factory_make ("asmpsink", NULL), *encoder, *back;
  gdouble factor;
  gchar *text;
  gboolean flag;

  g_assert_cmpuint (get_u64 (sink, "min-bitrate"), ==, 100000);
  g_assert_cmpuint (get_u64 (sink, "max-bitrate"), ==, 10000000);
  g_assert_cmpuint (get_u64 (sink, "start-bitrate"), ==, 150000);
  g_assert_cmpuint (get_u64 (sink, "target-bitrate"), ==, 0);
  g_assert_cmpuint (get_uint (sink, "pacing-max-delay"), ==, 150);
  g_assert_cmpuint (get_uint (sink, "max-receivers"), ==, 4096);
  g_object_get (sink, "pacing-factor", &factor, "sync", &flag, "address", &text, NULL);
  g_assert_cmpfloat (factor, ==, 1.5);
  g_assert_true (flag);
  g_object_get (sink, "ecn", &flag, NULL);
  g_assert_false (flag);
  g_object_set (sink, "ecn", TRUE, NULL);
  g_object_get (sink, "ecn", &flag, NULL);
  g_assert_true (flag);
  g_assert_cmpstr (text, ==, "239.255.12.42");
  g_free (text);

  gst_util_set_object_arg (G_OBJECT (sink), "no-feedback", "stop");
  gst_util_set_object_arg (G_OBJECT (sink), "encoder-control", "none");
  gst_util_set_object_arg (G_OBJECT (sink), "encoder-bitrate-unit", "kbit");
  encoder = gst_object_ref_sink (gst_element_factory_make ("identity", NULL));
  g_object_set (sink, "encoder", encoder, "encoder-name", "x", "sdp-location", "/tmp/x",
      "encoder-bitrate-property", "y", "sync", FALSE, "max-receivers", 10u, NULL);
  g_object_get (sink, "encoder", &back, "encoder-name", &text, "sync", &flag, NULL);
  g_assert_true (back == encoder);
  g_assert_cmpstr (text, ==, "x");
  g_assert_false (flag);
  g_free (text);
  gst_object_unref (back);
  g_assert_cmpuint (get_uint (sink, "no-feedback"), ==, 2);
  g_assert_cmpuint (get_uint (sink, "encoder-control"), ==, 1);
  g_assert_cmpuint (get_uint (sink, "encoder-bitrate-unit"), ==, 2);
  gst_object_unref (sink);
  gst_object_unref (encoder);
}

static void
test_bad_settings (void)
{
  static const gchar *const bad[][3] = {
    { "min-bitrate=2000000 max-bitrate=1000000", "min-bitrate", "raise max-bitrate" },
    { "min-bitrate=0", "min-bitrate", "1000" },
    { "min-bitrate=999", "min-bitrate", "1000" },
    { "max-bitrate=0", "min-bitrate", "raise max-bitrate" },
    { "max-bitrate=281474976710656", "max-bitrate", "281474976710655" },
    { "max-bitrate=18446744073709551615", "max-bitrate", "281474976710655" },
    { "start-bitrate=99999", "start-bitrate", "between" },
    { "start-bitrate=10000001", "start-bitrate", "between" },
    { "session-bandwidth=281474976710656", "session-bandwidth", "281474976710655" },
    { "port=5005", "port", "even" },
    { "port=0", "port", "even" },
    { "port=-2", "port", "even" },
    { "port=65535", "port", "even" },
    { "port=65536", "port", "65534" },
    { "ttl=256", "ttl", "0 to 255" },
    { "ttl=-1", "ttl", "0 to 255" },
    { "ttl-mc=256", "ttl-mc", "0 to 255" },
    { "ttl-mc=-1", "ttl-mc", "0 to 255" },
    { "qos-dscp=64", "qos-dscp", "0 to 63" },
    { "qos-dscp=-2", "qos-dscp", "0 to 63" },
    { "address=no.such.address.", "address", "239.255.12.42" },
    { "address=239.255.12.256", "address", "239.255.12.42" },
    { "address=\"\"", "address", "239.255.12.42" },
    { "address=224.0.0.0", "address", "239.255.12.42" },
    { "address=224.0.0.251", "address", "239.255.12.42" },
    { "address=0.0.0.0", "address", "239.255.12.42" },
    { "address=255.255.255.255", "address", "239.255.12.42" },
    { "address=::", "address", "239.255.12.42" },
    { "address=ff02::42", "multicast-iface", "name the interface" },
    { "address=239.1.1.1 multicast-iface=nosuch0", "multicast-iface", "ip link" },
    { "address=232.1.2.3", "source-address", "this host's own address" },
    { "address=ff3e::8000:1", "source-address", "this host's own address" },
    { "source-address=x", "source-address", "IP address" },
    { "source-address=fd00::1", "source-address", "IP version" },
    { "source-address=239.1.1.1", "source-address", "host" },
    { "feedback-address=x", "feedback-address", "IP address" },
    { "feedback-address=239.1.1.1", "feedback-address", "host" },
    { "feedback-port=65536", "feedback-port", "65535" },
    { "feedback-port=-1", "feedback-port", "65535" },
    { "feedback-port=6001", "feedback-port", "feedback-address" },
    { "address=239.1.1.1 feedback-port=6001", "feedback-port", "feedback-address" },
    { "encoder-bitrate-property=bitrate", "encoder-bitrate-property", "encoder-bitrate-unit" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *launch = g_strconcat (SINK, bad[i][0], NULL);

    settings_refused (launch, bad[i][1], bad[i][2]);
    g_free (launch);
  }
}

static void
test_bounds (void)
{
  static const gchar *const good[] = { "min-bitrate=1000 start-bitrate=1000",
    "min-bitrate=1000 max-bitrate=1000", "max-bitrate=281474976710655",
    "min-bitrate=281474976710655 max-bitrate=281474976710655", "session-bandwidth=281474976710655",
    "session-bandwidth=1", "port=2", "port=65534", "ttl=0", "ttl=255", "ttl-mc=0", "ttl-mc=255",
    "qos-dscp=0", "qos-dscp=63", "qos-dscp=-1", "max-receivers=1", "max-receivers=1000000",
    "pacing-factor=1", "pacing-factor=100", "pacing-max-delay=1", "pacing-max-delay=10000",
    "stats-interval=1", "stats-interval=4294967295",
    "feedback-address=127.0.0.1 feedback-port=65535", "seed=18446744073709551615" };
  static const struct {
    const gchar *name;
    gdouble low, high;
  } ranges[] = { { "pacing-factor", 1.0, 100.0 }, { "pacing-max-delay", 1, 10000 },
    { "max-receivers", 1, 1000000 } };
  GstElement *sink = gst_element_factory_make ("asmpsink", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    gchar *launch = g_strconcat (SINK, good[i], NULL);

    settings_accepted (launch, GST_STATE_PAUSED);
    g_free (launch);
  }
  /* the rest is excluded by the property's range */
  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++) {
    GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (sink), ranges[i].name);

    if (G_IS_PARAM_SPEC_DOUBLE (pspec)) {
      g_assert_cmpfloat (G_PARAM_SPEC_DOUBLE (pspec)->minimum, ==, ranges[i].low);
      g_assert_cmpfloat (G_PARAM_SPEC_DOUBLE (pspec)->maximum, ==, ranges[i].high);
    } else {
      g_assert_cmpfloat (G_PARAM_SPEC_UINT (pspec)->minimum, ==, ranges[i].low);
      g_assert_cmpfloat (G_PARAM_SPEC_UINT (pspec)->maximum, ==, ranges[i].high);
    }
  }
  gst_object_unref (sink);
}

static void
test_start_is_clamped (void)
{
  GstElement *sink
      = gst_parse_launch ("asmpsink address=127.0.0.1 port=61234 min-bitrate=500000", NULL);

  g_assert_cmpint (gst_element_set_state (sink, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  g_assert_cmpuint (get_u64 (sink, "target-bitrate"), ==, 500000);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK);
  g_test_add_func ("/asmpsink/properties", test_properties);
  g_test_add_func ("/asmpsink/settings/bad", test_bad_settings);
  g_test_add_func ("/asmpsink/settings/bounds", test_bounds);
  g_test_add_func ("/asmpsink/settings/start-is-clamped", test_start_is_clamped);
  return g_test_run ();
}
