/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsource: what udpsrc did for the receiver, with a fakesink in the place of rtpbin.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "gstmccsource.h"

typedef struct {
  GstElement *pipeline, *source, *sink;
  GSocket *in, *out;
  GSocketAddress *to;
  GstMccSourceVerdict verdict;
  gint accepted, ends, buffers; /* atomic */
  guint8 last;
  GstClockTime stamp;
  MccAddress from;
  gint marks[4];  /* by ECN bits; atomic */
  MccTime waited; /* the last one, in the socket */
} World;

static GstMccSourceVerdict
on_accept (gpointer owner, GstMccInput *input, const guint8 *data, gsize size,
    const MccAddress *from, MccTime now)
{
  World *world = owner;

  world->from = *from;
  world->waited = input->arrival.waited;
  g_atomic_int_inc (&world->marks[input->arrival.ecn]);
  g_atomic_int_inc (&world->accepted);
  return world->verdict;
}

static void
on_eos (gpointer owner)
{
  g_atomic_int_inc (&((World *)owner)->ends);
}

static void
on_handoff (GstElement *sink, GstBuffer *buffer, GstPad *pad, World *world)
{
  gst_buffer_extract (buffer, 12, &world->last, 1);
  g_assert_cmpuint (gst_buffer_get_size (buffer), ==, 13);
  g_assert_cmpuint (GST_BUFFER_PTS (buffer), ==, GST_BUFFER_DTS (buffer));
  world->stamp = GST_BUFFER_PTS (buffer);
  g_atomic_int_inc (&world->buffers);
}

/* NULL: the host has no such address. */
static GSocket *
make_socket_at (const gchar *host, GSocketAddress **address)
{
  GSocketAddress *any = g_inet_socket_address_new_from_string (host, 0);
  GSocket *socket
      = g_socket_new (g_socket_address_get_family (any), G_SOCKET_TYPE_DATAGRAM, 0, NULL);

  if (socket && !g_socket_bind (socket, any, FALSE, NULL))
    g_clear_object (&socket);
  g_object_unref (any);
  if (!socket)
    return NULL;
  *address = g_socket_get_local_address (socket, NULL);
  return socket;
}

static gboolean
reached (const gint *value, gint least)
{
  for (guint i = 0; i < 300 && g_atomic_int_get (value) < least; i++)
    g_usleep (10000);
  return g_atomic_int_get (value) >= least;
}

static void
send_packets (World *world, guint8 first, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint8 packet[13] = { 0x80, 96, 0, first, 0, 0, 0, 0, 1, 2, 3, 4, 0 };

    packet[12] = (guint8)(first + i);
    g_assert_cmpint (
        g_socket_send_to (world->out, world->to, (const gchar *)packet, sizeof packet, NULL, NULL),
        ==, sizeof packet);
  }
}

static GSocket *
make_socket (GSocketAddress **address)
{
  GSocket *socket = make_socket_at ("127.0.0.1", address);

  g_assert_nonnull (socket);
  return socket;
}

static void
world_start (World *world)
{
  static const GstMccSourceFuncs funcs = { .accept = on_accept, .eos = on_eos };
  GstElement *bin = gst_bin_new (NULL);
  GSocketAddress *unused;
  GstPad *pad, *ghost;

  memset (world, 0, sizeof *world);
  world->verdict = GST_MCC_SOURCE_PASS;
  world->in = make_socket (&world->to);
  world->out = make_socket (&unused);
  g_object_unref (unused);
  world->pipeline = gst_pipeline_new (NULL);
  world->source = gst_mcc_source_new (world->in, &funcs, world);
  world->sink = gst_element_factory_make ("fakesink", NULL);
  g_object_set (world->sink, "signal-handoffs", TRUE, "sync", FALSE, "async", FALSE, NULL);
  g_signal_connect (world->sink, "handoff", G_CALLBACK (on_handoff), world);
  gst_bin_add (GST_BIN (bin), world->sink);
  pad = gst_element_get_static_pad (world->sink, "sink");
  ghost = gst_ghost_pad_new ("sink", pad);
  gst_element_add_pad (bin, ghost);
  gst_object_unref (pad);
  gst_bin_add_many (GST_BIN (world->pipeline), world->source, bin, NULL);
  g_assert_true (gst_mcc_source_link (GST_MCC_SOURCE (world->source), ghost));
}

static void
world_caps (World *world)
{
  GstCaps *caps = gst_caps_new_empty_simple ("application/x-rtp");

  gst_mcc_source_set_caps (GST_MCC_SOURCE (world->source), caps);
  gst_caps_unref (caps);
}

static void
world_stop (World *world)
{
  gst_element_set_state (world->pipeline, GST_STATE_NULL);
  gst_object_unref (world->pipeline);
  g_assert_false (g_socket_is_closed (world->in));
  g_object_unref (world->in);
  g_object_unref (world->out);
  g_object_unref (world->to);
}

static GstPadProbeReturn
refuse_segment (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gint *refused = data;

  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) != GST_EVENT_SEGMENT || *refused)
    return GST_PAD_PROBE_OK;
  g_atomic_int_inc (refused);
  return GST_PAD_PROBE_DROP;
}

/* As a session does that is being stopped: no packet goes where no segment has gone. */
static void
test_segment_refused (void)
{
  World world;
  GstPad *pad;
  gint refused = 0;

  world_start (&world);
  pad = gst_element_get_static_pad (world.sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, refuse_segment, &refused, NULL);
  world_caps (&world);
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  send_packets (&world, 1, 1);
  g_assert_true (reached (&refused, 1));
  g_usleep (20000);
  g_assert_cmpint (g_atomic_int_get (&world.buffers), ==, 0);
  send_packets (&world, 2, 1);
  g_assert_true (reached (&world.buffers, 1));
  g_assert_cmpuint (world.last, ==, 2);
  gst_object_unref (pad);
  world_stop (&world);
}

/* As one gets it that is added to a pipeline that plays already. */
static void
test_clock_behind_the_start (void)
{
  GstClock *clock = gst_system_clock_obtain ();
  World world;

  world_start (&world);
  world_caps (&world);
  gst_element_set_state (world.source, GST_STATE_PLAYING);
  gst_element_set_state (GST_ELEMENT_PARENT (world.sink), GST_STATE_PLAYING);
  gst_element_set_base_time (world.source, gst_clock_get_time (clock) - 1000 * GST_SECOND);
  gst_element_set_clock (world.source, clock);
  send_packets (&world, 1, 1);
  g_assert_true (reached (&world.buffers, 1));
  g_assert_true (GST_CLOCK_TIME_IS_VALID (world.stamp));
  g_assert_cmpuint (world.stamp, >=, 1000 * GST_SECOND);
  g_assert_cmpuint (world.stamp, <, 1030 * GST_SECOND);
  gst_object_unref (clock);
  world_stop (&world);
}

static void
test_holds_for_caps (void)
{
  World world;

  world_start (&world);
  g_assert_cmpint (
      gst_element_set_state (world.pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_NO_PREROLL);
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  send_packets (&world, 1, 20);
  g_assert_true (reached (&world.accepted, 20));
  g_assert_cmpint (g_atomic_int_get (&world.buffers), ==, 0);
  world_caps (&world);
  send_packets (&world, 21, 1);
  g_assert_true (reached (&world.buffers, 21));
  g_assert_cmpuint (world.last, ==, 21);
  g_assert_true (GST_CLOCK_TIME_IS_VALID (world.stamp));
  g_assert_cmpuint (world.stamp, <, 30 * GST_SECOND); /* a running time, not the clock's */
  g_assert_cmpuint (world.from.family, ==, 4);
  g_assert_cmpuint (world.from.bytes[0], ==, 127);
  world.verdict = GST_MCC_SOURCE_DROP;
  send_packets (&world, 22, 1);
  g_assert_true (reached (&world.accepted, 22));
  g_usleep (20000);
  g_assert_cmpint (g_atomic_int_get (&world.buffers), ==, 21);
  world_stop (&world);
}

static void
test_reads_only_in_playing (void)
{
  World world;

  world_start (&world);
  world_caps (&world);
  for (gint i = 1; i <= 3; i++) {
    gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
    g_assert_true (reached (&world.buffers, i - 1)); /* what came while paused */
    gst_element_set_state (world.pipeline, i == 2 ? GST_STATE_READY : GST_STATE_PAUSED);
    g_usleep (50000);
    send_packets (&world, (guint8)i, 1);
    g_usleep (50000);
    g_assert_cmpint (g_atomic_int_get (&world.accepted), ==, i - 1);
  }
  world_stop (&world);
}

static void
test_eos (void)
{
  World world;

  world_start (&world);
  g_assert_false (gst_element_send_event (world.source, gst_event_new_eos ()));
  gst_element_set_state (world.pipeline, GST_STATE_PAUSED);
  g_assert_true (gst_element_send_event (world.source, gst_event_new_eos ()));
  g_assert_true (reached (&world.ends, 1));
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  g_assert_true (gst_element_send_event (world.source, gst_event_new_eos ()));
  g_assert_true (reached (&world.ends, 2));
  world_stop (&world);
}

/* An error of the socket: one warning, and what comes later is read. */
static void
test_socket_error (void)
{
  World world;
  GSocketAddress *nobody;
  GSocket *other = make_socket (&nobody);
  GstMessage *message;
  GstBus *bus;
  guint warnings = 0;

  world_start (&world);
  world_caps (&world);
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  g_socket_close (other, NULL);
  g_object_unref (other);
  g_assert_true (g_socket_connect (world.in, nobody, NULL, NULL));
  for (guint i = 0; i < 3; i++) { /* nobody hears them: ECONNREFUSED when reading */
    g_socket_send (world.in, "x", 1, NULL, NULL);
    g_usleep (150000);
  }
  bus = gst_element_get_bus (world.pipeline);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
    warnings++;
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  g_assert_cmpuint (warnings, ==, 1);
  other = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, 0, NULL);
  g_assert_true (g_socket_bind (other, nobody, FALSE, NULL));
  g_object_unref (world.out);
  world.out = other;
  send_packets (&world, 1, 1);
  g_assert_true (reached (&world.buffers, 1));
  g_object_unref (nobody);
  world_stop (&world);
}

/* An old membership ends when its group has been joined anew: the new one is read on. */
static void
test_removes_its_own (void)
{
  GSocketAddress *to;
  GSocket *in = make_socket (&to);
  GstMccInput *input = gst_mcc_input_new (in, 0);
  World world;

  world_start (&world);
  world_caps (&world);
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  gst_mcc_source_add (GST_MCC_SOURCE (world.source), input); /* instead */
  gst_mcc_source_remove (GST_MCC_SOURCE (world.source), world.in);
  g_object_unref (world.to);
  world.to = g_object_ref (to);
  send_packets (&world, 1, 1);
  g_assert_true (reached (&world.buffers, 1));
  gst_mcc_source_remove (GST_MCC_SOURCE (world.source), in);
  send_packets (&world, 2, 1);
  g_usleep (200000);
  g_assert_cmpint (g_atomic_int_get (&world.buffers), ==, 1);
  world_stop (&world);
  gst_mcc_input_unref (input);
  g_object_unref (in);
  g_object_unref (to);
}

/* The two bits of each datagram, whatever its DSCP, of each of a batch by itself. */
static void
test_ecn (void)
{
  static const gchar *const hosts[] = { "127.0.0.1", "::1" };

  for (guint i = 0; i < G_N_ELEMENTS (hosts); i++) {
    gboolean ipv6 = i == 1;
    GSocketAddress *to, *unused;
    GSocket *in = make_socket_at (hosts[i], &to), *out;
    GstMccInput *input;
    World world;

    if (!in) {
      g_test_message ("no %s", hosts[i]);
      continue;
    }
    out = make_socket_at (hosts[i], &unused);
    g_object_unref (unused);
    world_start (&world);
    input = gst_mcc_input_new (in, 0);
    gst_mcc_source_add (GST_MCC_SOURCE (world.source), input); /* instead */
    gst_mcc_input_unref (input);
    gst_element_set_state (world.pipeline, GST_STATE_PAUSED);
    for (guint n = 0; n < 40; n++) {
      int tos = 46 << 2 | (n % 10 == 0 ? MCC_ECN_CE : n % 10 < 4 ? MCC_ECN_ECT0 : MCC_ECN_NOT_ECT);
      guint8 packet[13] = { 0x80, 96 };

      g_assert_cmpint (setsockopt (g_socket_get_fd (out), ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
                           ipv6 ? IPV6_TCLASS : IP_TOS, &tos, sizeof tos),
          ==, 0);
      g_socket_send_to (out, to, (const gchar *)packet, sizeof packet, NULL, NULL);
    }
    gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
    g_assert_true (reached (&world.accepted, 40));
    g_assert_cmpint (world.marks[MCC_ECN_CE], ==, 4);
    g_assert_cmpint (world.marks[MCC_ECN_ECT0], ==, 12);
    g_assert_cmpint (world.marks[MCC_ECN_NOT_ECT], ==, 24);
    world_stop (&world);
    g_object_unref (in);
    g_object_unref (out);
    g_object_unref (to);
  }
}

/* By the kernel's stamp, however late we read; not where the host stood still. */
static void
test_waited (void)
{
  static const struct {
    guint ms;
    gboolean told;
  } table[] = { { 0, TRUE }, { 100, TRUE }, { 400, FALSE } };

  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    MccTime least = table[row].told ? table[row].ms * MCC_MSECOND : 0;
    World world;

    world_start (&world);
    gst_element_set_state (world.pipeline, GST_STATE_PAUSED);
    send_packets (&world, 1, 1);
    g_usleep (1000 * table[row].ms);
    gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
    g_assert_true (reached (&world.accepted, 1));
    g_test_message ("%u ms: %.1f", table[row].ms, (double)world.waited / MCC_MSECOND);
    g_assert_cmpuint (world.waited, >=, least);
    g_assert_cmpuint (world.waited, <=, table[row].told ? least + 100 * MCC_MSECOND : 0);
    world_stop (&world);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/source/holds-for-caps", test_holds_for_caps);
  g_test_add_func ("/source/segment-refused", test_segment_refused);
  g_test_add_func ("/source/clock-behind-the-start", test_clock_behind_the_start);
  g_test_add_func ("/source/reads-only-in-playing", test_reads_only_in_playing);
  g_test_add_func ("/source/eos-from-its-thread", test_eos);
  g_test_add_func ("/source/socket-error-is-one-warning", test_socket_error);
  g_test_add_func ("/source/removes-its-own-socket", test_removes_its_own);
  g_test_add_func ("/source/ecn", test_ecn);
  g_test_add_func ("/source/waited-in-the-socket", test_waited);
  return g_test_run ();
}
