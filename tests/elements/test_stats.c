/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/gst.h>

#include "gstmccstats.h"

#define START (1000 * MCC_SECOND)

static MccAddress
address4 (guint last, guint port)
{
  MccAddress a;

  memset (&a, 0, sizeof a);
  a.family = 4;
  a.bytes[0] = 10;
  a.bytes[3] = (guint8)last;
  a.port = (guint16)port;
  return a;
}

static void
test_address (void)
{
  MccAddress a = address4 (7, 5005);
  gchar *text = gst_mcc_address_to_string (&a);

  g_assert_cmpstr (text, ==, "10.0.0.7:5005");
  g_free (text);
  memset (&a, 0, sizeof a);
  text = gst_mcc_address_to_string (&a);
  g_assert_cmpstr (text, ==, "");
  g_free (text);
  a.family = 6;
  a.bytes[0] = 0xfd;
  a.bytes[15] = 1;
  a.port = 9;
  text = gst_mcc_address_to_string (&a);
  g_assert_cmpstr (text, ==, "[fd00::1]:9");
  g_free (text);
}

static void
assert_u64 (const GstStructure *s, const gchar *field, guint64 want)
{
  guint64 got;

  g_assert_true (gst_structure_get_uint64 (s, field, &got));
  g_assert_cmpuint (got, ==, want);
}

static void
test_sender (void)
{
  MccAsmpSenderStats stats = { .target_bps = 900000,
    .sent_bps = 880000,
    .reason = MCC_TARGET_RECEIVER,
    .limiting_ssrc = 0xabcd,
    .receivers = 1 };
  GstMccSenderExtra extra = { .applied_bps = 850000, .pacer_delay = 5000, .pacer_overruns = 3 };
  MccReceiverInfo info = { .ssrc = 0xabcd,
    .address = address4 (7, 5005),
    .state = MCC_RECEIVER_ACTIVE,
    .rate_bps = 900000,
    .loss_ratio = 0.25,
    .rtt = 40 * MCC_MSECOND,
    .rtt_measured = true };
  GstStructure *s;
  const GstStructure *one;
  const GValue *receivers;
  gdouble loss;
  gboolean measured;
  guint level;

  stats.limiting_address = info.address;
  stats.dropped[MCC_DROP_STALE] = 11;
  s = gst_mcc_stats_new_sender (&stats, &extra, &info, 1);
  g_assert_cmpstr (gst_structure_get_name (s), ==, "application/x-adaptive-multicast-sender-stats");
  assert_u64 (s, "target-bitrate", 900000);
  assert_u64 (s, "applied-bitrate", 850000);
  assert_u64 (s, "sent-bitrate", 880000);
  assert_u64 (s, "pacer-delay", 5000);
  assert_u64 (s, "pacer-overruns", 3);
  assert_u64 (s, "dropped-stale", 11);
  g_assert_cmpstr (gst_structure_get_string (s, "reason"), ==, "receiver");
  g_assert_cmpstr (gst_structure_get_string (s, "limiting-address"), ==, "10.0.0.7:5005");
  receivers = gst_structure_get_value (s, "receivers");
  g_assert_cmpuint (gst_value_array_get_size (receivers), ==, 1);
  one = gst_value_get_structure (gst_value_array_get_value (receivers, 0));
  assert_u64 (one, "rate", 900000);
  assert_u64 (one, "rtt", 40000000);
  g_assert_true (gst_structure_get_double (one, "loss", &loss));
  g_assert_cmpfloat (loss, ==, 0.25);
  g_assert_true (gst_structure_get_boolean (one, "rtt-measured", &measured) && measured);
  g_assert_false (gst_structure_has_field (one, "level"));
  gst_structure_free (s);
  /* of layers; and while the encoder gets less than the target */
  info.level = 2;
  extra.layers = extra.pacer_behind = TRUE;
  s = gst_mcc_stats_new_sender (&stats, &extra, &info, 1);
  g_assert_cmpstr (gst_structure_get_string (s, "reason"), ==, "pacer");
  g_assert_cmpstr (gst_structure_get_string (s, "limiting-address"), ==, "10.0.0.7:5005");
  receivers = gst_structure_get_value (s, "receivers");
  one = gst_value_get_structure (gst_value_array_get_value (receivers, 0));
  g_assert_true (gst_structure_get_uint (one, "level", &level));
  g_assert_cmpuint (level, ==, 2);
  gst_structure_free (s);
}

static void
test_receiver (void)
{
  static const gchar *const fields[]
      = { "received-bitrate", "estimated-bitrate", "loss", "packets-lost", "host-dropped", "rtt",
          "rtt-measured", "jitter", "queue-delay", "congested", "ecn", "ecn-marked", "reports-sent",
          "reports-suppressed", "switches", "joins", "leaves", "late-joins", "gaps" };
  MccAsmpReceiverStats stats = {
    .estimated_bps = 123, .packets_lost = 9, .packets_marked = 21, .ecn = MCC_ECN_PATH_BLEACHES
  };
  GstMccReceiverExtra extra = { .host_dropped = 4 };
  GstStructure *s = gst_mcc_stats_new_receiver (&stats, &extra);

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    g_assert_true (gst_structure_has_field (s, fields[i]));
  assert_u64 (s, "estimated-bitrate", 123);
  assert_u64 (s, "packets-lost", 9);
  assert_u64 (s, "host-dropped", 4);
  assert_u64 (s, "ecn-marked", 21);
  g_assert_cmpstr (gst_structure_get_string (s, "ecn"), ==, "bleached");
  gst_structure_free (s);
}

static guint
count (GstBus *bus, const gchar *name, GstStructure **last)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name (message, name)) {
      n++;
      if (last) {
        g_clear_pointer (last, gst_structure_free);
        *last = gst_structure_copy (gst_message_get_structure (message));
      }
    }
    gst_message_unref (message);
  }
  return n;
}

static void
test_at_most_ten_a_second (void)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMccMessages *messages = gst_mcc_messages_new (pipeline);
  MccAddress from = address4 (1, 2);
  guint n, total = 0;

  for (guint ms = 0; ms < 5000; ms++)
    gst_mcc_messages_receiver (
        messages, -1, ms, &from, "joined", "report", START + ms * MCC_MSECOND);
  n = count (bus, "adaptive-multicast-receiver", NULL);
  g_assert_cmpuint (n, >=, 30);
  g_assert_cmpuint (n, <=, 5 * GST_MCC_MESSAGES_PER_S);
  /* What waits is bounded, and comes out in time. */
  for (guint s = 5; s < 60; s++) {
    gst_mcc_messages_flush (messages, START + s * MCC_SECOND);
    n = count (bus, "adaptive-multicast-receiver", NULL);
    g_assert_cmpuint (n, <=, GST_MCC_MESSAGES_PER_S);
    total += n;
  }
  g_assert_cmpuint (total, ==, 64);
  gst_mcc_messages_free (messages);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

static void
test_target_coalesces (void)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMccMessages *messages = gst_mcc_messages_new (pipeline);
  GstStructure *last = NULL;
  MccTime due;

  for (guint i = 0; i < 100; i++)
    gst_mcc_messages_target (messages, -1, i + 1, i, "receiver", 7, START);
  g_assert_cmpuint (count (bus, "adaptive-multicast-target", &last), ==, GST_MCC_MESSAGES_BURST);
  due = gst_mcc_messages_flush (messages, START);
  g_assert_cmpuint (due, >, START);
  g_assert_cmpuint (due, <=, START + MCC_SECOND);
  g_assert_cmpuint (gst_mcc_messages_flush (messages, due), ==, MCC_TIME_NONE);
  g_assert_cmpuint (count (bus, "adaptive-multicast-target", &last), ==, 1);
  assert_u64 (last, "bitrate", 100);
  assert_u64 (last, "previous", GST_MCC_MESSAGES_BURST);
  gst_structure_free (last);
  gst_mcc_messages_free (messages);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

/* A rush of receivers takes the place of none but receivers: what is the case now is told. */
static void
test_rush_keeps_states (void)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMccMessages *messages = gst_mcc_messages_new (pipeline);
  MccAddress from = address4 (1, 2);
  GstMessage *message;
  guint targets = 0, stats = 0, receivers = 0, newest = 0;
  MccTime due = START;

  for (guint i = 0; i < GST_MCC_MESSAGES_BURST; i++)
    gst_mcc_messages_receiver (messages, 0, i, &from, "joined", "report", START);
  g_assert_cmpuint (count (bus, "adaptive-multicast-receiver", NULL), ==, GST_MCC_MESSAGES_BURST);
  for (gint stream = 0; stream < 2; stream++)
    gst_mcc_messages_target (messages, stream, 500000, 400000, "receiver", 7, START);
  gst_mcc_messages_stats (messages, gst_structure_new_empty ("stats"), START);
  for (guint i = 0; i < 500; i++)
    gst_mcc_messages_receiver (messages, 0, i, &from, "joined", "report", START);
  while ((due = gst_mcc_messages_flush (messages, due)) != MCC_TIME_NONE)
    ;
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT))) {
    targets += gst_message_has_name (message, "adaptive-multicast-target");
    stats += gst_message_has_name (message, "adaptive-multicast-stats");
    if (gst_message_has_name (message, "adaptive-multicast-receiver")) {
      receivers++;
      gst_structure_get_uint (gst_message_get_structure (message), "ssrc", &newest);
    }
    gst_message_unref (message);
  }
  g_assert_cmpuint (targets, ==, 2);
  g_assert_cmpuint (stats, ==, 1);
  g_assert_cmpuint (receivers, ==, 64 - 3);
  g_assert_cmpuint (newest, ==, 499);
  gst_mcc_messages_free (messages);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stats/address", test_address);
  g_test_add_func ("/stats/sender", test_sender);
  g_test_add_func ("/stats/receiver", test_receiver);
  g_test_add_func ("/stats/messages/at-most-ten-a-second", test_at_most_ten_a_second);
  g_test_add_func ("/stats/messages/target-coalesces", test_target_coalesces);
  g_test_add_func ("/stats/messages/rush-keeps-states", test_rush_keeps_states);
  return g_test_run ();
}
