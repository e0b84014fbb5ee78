/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memberships that are gone without a word, in a network namespace of our own: an interface is
 * unmade and made anew, a route moves. Skipped where a process may have none.
 */
#define _GNU_SOURCE
#include <gio/gio.h>
#include <gst/gst.h>
#include <sched.h>

#include "gstmccsockets.h"
#include "register.h"

#define PORT 5004
#define GROUP "239.255.77.40"

#define VIDEO                                                                                      \
  "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=30/1 ! "

typedef struct {
  GstElement *pipeline, *element;
  gint buffers;
  guint refused; /* warnings that the group cannot be joined */
} Side;

typedef struct {
  const gchar *name, *sender, *receiver, *source;
} Case;

static const Case cases[] = {
  { "one-rate",
      "audiotestsrc is-live=true samplesperbuffer=160 ! audio/x-raw,rate=8000,channels=1 ! "
      "audioconvert ! rtpL16pay ! asmpsink name=it",
      "asmpsrc", NULL },
  { "one-source",
      "audiotestsrc is-live=true samplesperbuffer=160 ! audio/x-raw,rate=8000,channels=1 ! "
      "audioconvert ! rtpL16pay ! asmpsink name=it",
      "asmpsrc", "10.77.0.1" },
  { "streams", VIDEO "asspsimulcastbin name=it streams=100000:300000,300000:900000",
      "asspsimulcastsrc", NULL },
  { "layers",
      VIDEO "x264enc bitrate=300 bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 "
            "sync-lookahead=0 mb-tree=false threads=1 option-string=scenecut=0 ! "
            "video/x-h264,profile=main ! rtph264pay config-interval=-1 ! elmlayersink name=it",
      "elmlayersrc", NULL },
};

static gboolean
ip (const gchar *words)
{
  gchar *command = g_strdup_printf ("ip %s", words), *told = NULL;
  gint status = -1;
  gboolean good = g_spawn_command_line_sync (command, NULL, &told, &status, NULL) && status == 0;

  if (!good)
    g_test_message ("%s: %s", command, told ? told : "?");
  g_free (command);
  g_free (told);
  return good;
}

/* One that sends what it is in the group of to itself, as multicast does. */
static void
make (const gchar *name, const gchar *address)
{
  gchar *text = g_strdup_printf ("link add %s type veth peer name %s-p", name, name);

  g_assert_true (ip (text));
  g_free (text);
  text = g_strdup_printf ("address add %s/24 dev %s", address, name);
  g_assert_true (ip (text));
  g_free (text);
  text = g_strdup_printf ("address add fd77::1/64 dev %s nodad", name);
  g_assert_true (ip (text));
  g_free (text);
  text = g_strdup_printf ("link set %s up", name);
  g_assert_true (ip (text));
  g_free (text);
  text = g_strdup_printf ("link set %s-p up", name);
  g_assert_true (ip (text));
  g_free (text);
}

static gboolean
begin (void)
{
  if (!ip ("link set lo up") || !ip ("link add mcc0 type veth peer name mcc0-p")) {
    g_test_skip ("no network namespace, or no tool ip");
    return FALSE;
  }
  g_assert_true (ip ("link del mcc0"));
  make ("mcc0", "10.77.0.1");
  make ("mcc1", "10.77.1.1");
  g_assert_true (ip ("route replace 224.0.0.0/4 dev mcc0"));
  return TRUE;
}

static void
end (void)
{
  ip ("link del mcc0");
  ip ("link del mcc1");
}

/* ---- elements ---- */

static GstPadProbeReturn
on_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc ((gint *)data);
  return GST_PAD_PROBE_OK;
}

static void
start (Side *side, const gchar *description, const gchar *iface, const gchar *source)
{
  GError *error = NULL;

  memset (side, 0, sizeof *side);
  side->pipeline = gst_parse_launch (description, &error);
  g_assert_no_error (error);
  side->element = gst_bin_get_by_name (GST_BIN (side->pipeline), "it");
  g_object_set (side->element, "address", GROUP, "port", PORT, "multicast-iface", iface,
      "source-address", source, NULL);
}

static void
play (Side *side)
{
  g_assert_cmpint (
      gst_element_set_state (side->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

static void
stop (Side *side)
{
  gst_element_set_state (side->pipeline, GST_STATE_NULL);
  gst_object_unref (side->element);
  gst_object_unref (side->pipeline);
}

/* When the sender heard its receiver last, in s; -1: it has none. */
static gdouble
age (Side *sender)
{
  const GstStructure *one;
  GstStructure *stats;
  const GValue *list;
  guint64 ns = 0;
  gdouble result = -1;

  g_object_get (sender->element, "stats", &stats, NULL);
  list = gst_structure_get_value (stats, "receivers");
  for (guint i = 0; list && i < gst_value_array_get_size (list); i++) {
    one = gst_value_get_structure (gst_value_array_get_value (list, i));
    if (g_strcmp0 (gst_structure_get_string (one, "state"), "active") == 0
        && gst_structure_get_uint64 (one, "age", &ns))
      result = (gdouble)ns / 1e9;
  }
  gst_structure_free (stats);
  return result;
}

/* Each hears the other, within @seconds. */
static gboolean
both_hear (Side *sender, Side *receiver, guint seconds)
{
  gint64 until = g_get_monotonic_time () + seconds * G_TIME_SPAN_SECOND;
  gint before = g_atomic_int_get (&receiver->buffers);
  gdouble heard = -1;
  gboolean media = FALSE;

  while (g_get_monotonic_time () < until && (!media || heard < 0 || heard > 2)) {
    g_usleep (50000);
    media = g_atomic_int_get (&receiver->buffers) > before + 20;
    heard = age (sender);
  }
  g_test_message ("media: %s, report %.1f s ago", media ? "yes" : "no", heard);
  return media && heard >= 0 && heard <= 2;
}

/* How many warnings with @part there are on the bus; *other: with @another. */
static guint
warnings (Side *side, const gchar *part, const gchar *another, guint *other)
{
  GstBus *bus = gst_element_get_bus (side->pipeline);
  GstMessage *message;
  guint n = 0;

  *other = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    GError *error = NULL;

    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
    gst_message_parse_warning (message, &error, NULL);
    g_test_message ("%s", error->message);
    n += strstr (error->message, part) != NULL;
    *other += strstr (error->message, another) != NULL;
    side->refused += strstr (error->message, "cannot join " GROUP) != NULL
                     && strstr (error->message, "on mcc0 (there is no such interface)") != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return n;
}

/* FALSE: skipped. */
static gboolean
start_both (Side *sender, Side *receiver, const Case *what, const gchar *iface)
{
  GstElementFactory *encoder = gst_element_factory_find ("x264enc");
  gboolean has = encoder != NULL || !strstr (what->sender, "videotestsrc");
  gchar *description;
  GstPad *pad;

  g_clear_object (&encoder);
  if (!has) {
    g_test_skip ("no x264enc");
    end ();
    return FALSE;
  }
  description = g_strdup_printf ("%s name=it latency=50 ! fakesink sync=false", what->receiver);
  start (sender, what->sender, iface, what->source);
  start (receiver, description, iface, what->source);
  g_free (description);
  pad = gst_element_get_static_pad (receiver->element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &receiver->buffers, NULL);
  gst_object_unref (pad);
  play (sender);
  play (receiver);
  g_assert_true (both_hear (sender, receiver, 20));
  return TRUE;
}

/* Away until the receiver says so; then back, under another index. */
static void
test_made_anew (gconstpointer what)
{
  Side sender, receiver;
  guint told = 0, other;

  if (!begin () || !start_both (&sender, &receiver, what, "mcc0"))
    return;
  g_assert_true (ip ("link del mcc0"));
  for (guint i = 0; i < 40 && told == 0; i++) {
    g_usleep (G_USEC_PER_SEC / 2);
    told = warnings (&receiver, "not heard any more", "No sender", &other);
    g_assert_cmpuint (other, ==, 0);
  }
  g_assert_cmpuint (told, ==, 1);
  g_assert_cmpuint (receiver.refused, ==, 1);
  if (what == &cases[0]) /* it is tried again */
    g_usleep (6 * G_USEC_PER_SEC);
  warnings (&receiver, "", "", &other);
  g_assert_cmpuint (receiver.refused, ==, 1);
  make ("mcc0", "10.77.0.1");
  g_assert_true (both_hear (&sender, &receiver, 20));
  g_usleep (3 * G_USEC_PER_SEC);
  g_assert_cmpuint (warnings (&sender, "Packets cannot be sent", "sent again", &other), ==, 1);
  g_assert_cmpuint (other, ==, 1);
  g_assert_cmpuint (sender.refused, <=, 1);
  g_assert_cmpuint (warnings (&receiver, "not heard any more", "No sender", &other), ==, 0);
  g_assert_cmpuint (receiver.refused, ==, 1);
  stop (&receiver);
  stop (&sender);
  end ();
}

/* Nobody has named an interface. */
static void
test_route_moves (void)
{
  Side sender, receiver;
  guint other;

  if (!begin () || !start_both (&sender, &receiver, &cases[0], NULL))
    return;
  g_assert_true (ip ("route replace 224.0.0.0/4 dev mcc1"));
  g_usleep (2 * G_USEC_PER_SEC); /* what was heard before is played */
  g_assert_true (both_hear (&sender, &receiver, 20));
  /* the interface that was left is no member any more */
  g_assert_true (ip ("link del mcc0"));
  g_assert_true (both_hear (&sender, &receiver, 5));
  /* one that is back, or has said BYE, is not missed */
  warnings (&receiver, "", "", &other);
  g_assert_true (both_hear (&sender, &receiver, 5));
  g_usleep (6 * G_USEC_PER_SEC);
  stop (&sender);
  g_usleep (9 * G_USEC_PER_SEC);
  g_assert_cmpuint (warnings (&receiver, "not heard any more", "No sender", &other), ==, 0);
  g_assert_cmpuint (other, ==, 0);
  stop (&receiver);
  end ();
}

/* ---- sockets ---- */

static void
send_some (GstMccSockets *sockets, guint n)
{
  GSocketAddress *to = gst_mcc_address_to_socket (&sockets->group, 0);

  for (guint i = 0; i < n; i++)
    g_assert_cmpint (g_socket_send_to (sockets->rtp, to, "packet", 6, NULL, NULL), ==, 6);
  g_object_unref (to);
}

static guint
count (GSocket *socket)
{
  gchar data[16];
  guint n = 0;

  g_usleep (20000);
  while (g_socket_receive_with_blocking (socket, data, sizeof data, FALSE, NULL, NULL) > 0)
    n++;
  return n;
}

/* What waits stays, and what comes is heard; also on an interface that was made anew, again and
 * again: no membership is left behind, of which a socket may have 20 only. */
static void
check_renew (const gchar *group, const gchar *iface, const gchar *source)
{
  GstMccSessionSettings settings = { .address = (gchar *)group,
    .port = PORT,
    .multicast_iface = (gchar *)iface,
    .source_address = (gchar *)source,
    .ttl = 1,
    .ttl_mc = 1,
    .loop = TRUE,
    .qos_dscp = -1 };
  GstMccSockets sender, receiver;
  GError *error = NULL;
  GSocket *stream;

  g_test_message ("%s on %s, from %s", group, iface ? iface : "a route", source ? source : "any");
  g_assert_true (gst_mcc_sockets_open (&sender, &settings, GST_MCC_SOCKETS_SENDER, &error));
  g_assert_no_error (error);
  g_assert_true (gst_mcc_sockets_open (&receiver, &settings, GST_MCC_SOCKETS_RECEIVER, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++) { /* also who is in already */
    g_assert_true (gst_mcc_sockets_rejoin (&receiver, &error));
    g_assert_no_error (error);
  }
  stream = gst_mcc_sockets_open_stream (&receiver, (MccPlace){ 0, 0 }, &error);
  g_assert_no_error (error);
  send_some (&sender, 3);
  g_assert_true (gst_mcc_sockets_renew (&receiver, &stream, 1, NULL));
  send_some (&sender, 3);
  g_assert_cmpuint (count (receiver.rtp), ==, 6);
  g_assert_cmpuint (count (stream), ==, 6);
  for (guint i = 0; i < 25; i++) {
    g_assert_true (ip ("link del mcc0"));
    if (iface && i == 0) {
      g_assert_false (gst_mcc_sockets_renew (&receiver, &stream, 1, &error));
      g_assert_nonnull (strstr (error->message, "there is no such interface"));
      g_clear_error (&error);
    }
    make ("mcc0", "10.77.0.1");
    g_assert_true (ip ("route replace 224.0.0.0/4 dev mcc0"));
    g_assert_true (gst_mcc_sockets_renew (&sender, NULL, 0, NULL));
    g_assert_true (gst_mcc_sockets_renew (&receiver, &stream, 1, NULL));
    send_some (&sender, 1);
    g_assert_cmpuint (count (receiver.rtp), ==, 1);
    g_assert_cmpuint (count (stream), ==, 1);
  }
  gst_mcc_sockets_leave (&receiver);
  gst_mcc_sockets_leave_stream (&receiver, stream);
  send_some (&sender, 1);
  g_assert_cmpuint (count (receiver.rtp), ==, 0);
  g_assert_cmpuint (count (stream), ==, 0);
  g_object_unref (stream);
  gst_mcc_sockets_close (&receiver);
  gst_mcc_sockets_close (&sender);
}

static void
test_renew (void)
{
  if (!begin ())
    return;
  check_renew (GROUP, "mcc0", NULL);
  check_renew (GROUP, "mcc0", "10.77.0.1");
  check_renew (GROUP, NULL, NULL);
  check_renew (GROUP, NULL, "10.77.0.1");
  check_renew ("ff15::77:40", "mcc0", NULL);
  end ();
}

static gboolean
switch_tells (const gchar *command, const gchar *what)
{
  gchar *told = NULL;
  gboolean tells
      = g_spawn_command_line_sync (command, &told, NULL, NULL, NULL) && strstr (told, what);

  g_free (told);
  return tells;
}

static gboolean
switch_knows (void)
{
  return switch_tells ("bridge mdb show dev mccbr", GROUP);
}

/* Before, its port takes no reports. */
static gboolean
switch_works (void)
{
  for (guint i = 0; i < 200; i++) {
    if (switch_tells ("bridge link show dev mcc0-p", "state forwarding")
        && switch_tells ("ip link show mccbr", "LOWER_UP"))
      return TRUE;
    g_usleep (50000);
  }
  return FALSE;
}

static gboolean
switch_learns (guint seconds)
{
  for (guint i = 0; i < 20 * seconds && !switch_knows (); i++)
    g_usleep (50000);
  return switch_knows ();
}

/* A switch that has forgotten us is told, though two sockets are in the group. */
static void
test_switch (void)
{
  GstMccSessionSettings settings = { .address = (gchar *)GROUP,
    .port = PORT,
    .multicast_iface = (gchar *)"mcc0",
    .ttl = 1,
    .ttl_mc = 1,
    .loop = TRUE,
    .qos_dscp = -1 };
  GstMccSockets receiver;
  GError *error = NULL;

  if (!begin ())
    return;
  if (!ip ("link add mccbr type bridge mcast_snooping 1 mcast_querier 1")) {
    g_test_skip ("no bridge");
    end ();
    return;
  }
  g_assert_true (ip ("link set mccbr up"));
  g_assert_true (ip ("link set mcc0-p master mccbr"));
  g_assert_true (switch_works ());
  g_assert_true (gst_mcc_sockets_open (&receiver, &settings, GST_MCC_SOCKETS_RECEIVER, &error));
  g_assert_no_error (error);
  g_assert_true (gst_mcc_sockets_rejoin (&receiver, &error));
  /* Its port is new: a report that is lost comes again within 10 s (RFC 2236, 8.10). */
  g_assert_true (switch_learns (12));
  for (guint i = 0; i < 3; i++) {
    g_assert_true (g_spawn_command_line_sync (
        "bridge mdb del dev mccbr port mcc0-p grp " GROUP, NULL, NULL, NULL, NULL));
    g_assert_false (switch_knows ());
    g_assert_true (gst_mcc_sockets_renew (&receiver, NULL, 0, NULL));
    g_assert_true (switch_learns (2));
  }
  gst_mcc_sockets_close (&receiver);
  ip ("link del mccbr");
  end ();
}

int
main (int argc, char **argv)
{
  /* before there are threads */
  const gchar *half;
  gboolean alone = unshare (CLONE_NEWNET) == 0 || unshare (CLONE_NEWUSER | CLONE_NEWNET) == 0;

  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  half = argc > 1 ? argv[1] : "";
  g_assert_true (argc == 1 || g_str_equal (half, "sockets") || g_str_equal (half, "elements"));
  if (!alone) {
    g_print ("1..0 # SKIP no network namespace\n");
    return 0;
  }
  register_elements ();
  if (!g_str_equal (half, "elements")) {
    g_test_add_func ("/memberships/sockets", test_renew);
    g_test_add_func ("/memberships/switch", test_switch);
    g_test_add_func ("/memberships/route-moves", test_route_moves);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases) && !g_str_equal (half, "sockets"); i++) {
    gchar *path = g_strdup_printf ("/memberships/interface-made-anew/%s", cases[i].name);

    g_test_add_data_func (path, &cases[i], test_made_anew);
    g_free (path);
  }
  return g_test_run ();
}
