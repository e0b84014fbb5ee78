/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccreceiver: what the machine wants done, by whichever thread; what comes while nothing plays.
 */
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <gio/gio.h>
#include <gst/gst.h>

#include "gstmccreceiver.h"
#include "gstmccsockets.h"
#include "lastref.h"
#include "ownport.h"
#include "register.h"

#define ACTIONS 3000
#define THREADS 3

/* A class whose machine says numbers; ASSP's JOIN stands for any action. */
typedef struct {
  GstMccReceiver parent;
} Fake;
typedef struct {
  GstMccReceiverClass parent;
} FakeClass;

static GType fake_get_type (void);
G_DEFINE_TYPE (Fake, fake, GST_TYPE_MCC_RECEIVER)

static guint said, acted, swapped;
static gboolean ceases;
static MccAsmpReceiverStats figures;

static bool
say (gpointer core, MccAsspReceiverAction *out)
{
  gboolean *asked = core;

  if (*asked || said == ACTIONS)
    return false;
  *asked = TRUE;
  memset (out, 0, sizeof *out);
  out->type = ceases ? MCC_ASSP_RECEIVER_ASMP : MCC_ASSP_RECEIVER_JOIN;
  out->asmp.type = MCC_RECEIVER_CEASE;
  out->stream = ceases ? 0 : said++;
  return true;
}

static void
tell (gpointer core, MccTime now, MccAsmpReceiverStats *out)
{
  *out = figures;
}

static MccTime
never (gpointer core)
{
  return MCC_TIME_NONE;
}

static void
act (GstMccReceiver *self, const MccAsspReceiverAction *action)
{
  GstMccReceiverTodo todo = { TRUE, MCC_TIME_NONE };

  if (action->stream % 64 == 0)
    g_usleep (1000); /* as a join may take */
  swapped += action->stream != acted;
  acted = action->stream + 1;
  if (action->stream % 100 == 0)
    gst_mcc_receiver_act (self, &todo); /* from a handler of the bus, say: no deadlock */
}

static void
fake_class_init (FakeClass *klass)
{
  static const GstMccMachine machine = { .poll = say, .next_timeout = never, .get_stats = tell };
  static const GstMccSessionHandler handler = { 0 };

  klass->parent.scheme = "asmp";
  klass->parent.element_name = "fake";
  klass->parent.machine = &machine;
  klass->parent.handler = &handler;
  klass->parent.act = act;
  gst_mcc_receiver_class_install (&klass->parent);
}

static void
fake_init (Fake *self)
{
  gst_mcc_receiver_setup (GST_MCC_RECEIVER (self));
}

static gpointer
drive (gpointer data)
{
  GstMccReceiver *self = data;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;
  gboolean more = TRUE;

  while (more) {
    g_mutex_lock (&self->lock);
    *(gboolean *)self->core = FALSE; /* one for each call: another thread gets the next */
    gst_mcc_receiver_drain_locked (self, &todo);
    more = said < ACTIONS;
    g_mutex_unlock (&self->lock);
    gst_mcc_receiver_act (self, &todo);
  }
  return NULL;
}

static void
test_order (void)
{
  GstMccReceiver *self = g_object_new (fake_get_type (), NULL);
  gboolean asked = FALSE;
  GThread *threads[THREADS];

  gst_object_ref_sink (self);
  self->core = &asked;
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("drive", drive, self);
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
  self->core = NULL;
  g_assert_cmpuint (acted, ==, ACTIONS);
  g_assert_cmpuint (swapped, ==, 0);
  gst_object_unref (self);
}

/* ---- who has left for good ---- */

/* A quarter of all is lost, say: key units are wanted all the time. */
static void
test_ceased (void)
{
  GstMccReceiver *self = g_object_new (fake_get_type (), NULL);
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;
  gboolean asked = FALSE;

  gst_object_ref_sink (self);
  said = 0;
  self->core = &asked;
  self->payload = GST_MCC_PAYLOAD_H264;
  gst_mcc_receiver_want_key_unit (self);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&self->key_wait), !=, MCC_TIME_NONE);
  ceases = TRUE;
  g_mutex_lock (&self->lock);
  gst_mcc_receiver_drain_locked (self, &todo);
  g_mutex_unlock (&self->lock);
  ceases = FALSE;
  g_assert_cmpuint (mcc_key_wait_next_timeout (&self->key_wait), ==, MCC_TIME_NONE);
  gst_mcc_receiver_want_key_unit (self);
  gst_mcc_receiver_follow_key_unit (self);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&self->key_wait), ==, MCC_TIME_NONE);
  g_queue_clear_full (&self->waiting, g_free);
  self->core = NULL;
  gst_object_unref (self);
}

/* ---- what was counted ---- */

static guint64
count (GstMccReceiver *self, const gchar *name)
{
  GstStructure *stats = gst_mcc_receiver_make_stats (self);
  guint64 value = 0;

  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  gst_structure_free (stats);
  return value;
}

/* Who takes differences must not see them run back; a late packet may still repair a loss. */
static void
test_counts_go_on (void)
{
  GstMccReceiver *self = g_object_new (fake_get_type (), NULL);
  gboolean asked = TRUE;

  gst_object_ref_sink (self);
  self->core = &asked;
  figures = (MccAsmpReceiverStats){ .packets_received = 100, .packets_lost = 7, .reports_sent = 3 };
  g_assert_cmpuint (count (self, "packets-received"), ==, 100);
  figures.packets_received = 101;
  figures.packets_lost = 6;
  g_assert_cmpuint (count (self, "packets-lost"), ==, 6);
  /* another sender */
  figures = (MccAsmpReceiverStats){ .packets_received = 5, .packets_lost = 1, .reports_sent = 4 };
  g_assert_cmpuint (count (self, "packets-received"), ==, 106);
  g_assert_cmpuint (count (self, "packets-lost"), ==, 7);
  g_assert_cmpuint (count (self, "reports-sent"), ==, 4);
  self->core = NULL;
  gst_object_unref (self);
}

/* ---- who waits for whom ---- */

typedef struct {
  GMutex lock;
  GCond cond;
  gboolean inside, go_on;
} Door;

static Door door;

static void
stand (GstMccReceiver *self, const MccAsspReceiverAction *action)
{
  g_mutex_lock (&door.lock);
  door.inside = TRUE;
  g_cond_broadcast (&door.cond);
  while (!door.go_on)
    g_cond_wait (&door.cond, &door.lock);
  g_mutex_unlock (&door.lock);
  acted++;
}

static gpointer
drive_once (gpointer data)
{
  GstMccReceiver *self = data;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;

  g_mutex_lock (&self->lock);
  *(gboolean *)self->core = FALSE;
  gst_mcc_receiver_drain_locked (self, &todo);
  g_mutex_unlock (&self->lock);
  gst_mcc_receiver_act (self, &todo);
  return NULL;
}

/* A slow handler of the application's, while more is to be done: a packet that brings nothing new
 * goes on. */
static void
test_nothing_new (void)
{
  GstMccReceiver *self = g_object_new (fake_get_type (), NULL);
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;
  gboolean asked = FALSE;
  GThread *first, *second;

  said = acted = 0;
  klass->act = stand;
  gst_object_ref_sink (self);
  self->core = &asked;
  first = g_thread_new ("first", drive_once, self);
  g_mutex_lock (&door.lock);
  while (!door.inside)
    g_cond_wait (&door.cond, &door.lock);
  g_mutex_unlock (&door.lock);
  second = g_thread_new ("second", drive_once, self);
  g_mutex_lock (&self->lock);
  while (g_queue_is_empty (&self->waiting)) {
    g_mutex_unlock (&self->lock);
    g_usleep (1000);
    g_mutex_lock (&self->lock);
  }
  gst_mcc_receiver_drain_locked (self, &todo); /* the machine has been asked: nothing */
  g_mutex_unlock (&self->lock);
  g_assert_false (todo.some);
  gst_mcc_receiver_act (self, &todo); /* else it would stand here for good */
  g_assert_cmpuint (acted, ==, 0);
  g_mutex_lock (&door.lock);
  door.go_on = TRUE;
  g_cond_broadcast (&door.cond);
  g_mutex_unlock (&door.lock);
  g_thread_join (first);
  g_thread_join (second);
  g_assert_cmpuint (acted, ==, 2);
  self->core = NULL;
  klass->act = act;
  gst_object_unref (self);
}

/* ---- joins that fail ---- */

static gint attempts, fails; /* atomic */

static gboolean
join (GstMccReceiver *self, guint stream, const MccAsspStream *group, GError **error)
{
  g_assert_cmpuint (stream, ==, 2);
  g_assert_cmpuint (group->ssrc, ==, 77);
  if (g_atomic_int_add (&attempts, 1) >= fails)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "no");
  return FALSE;
}

static void
no_timeout (gpointer core, MccTime now)
{
}

static void
no_stats (gpointer core, MccTime now, MccAsmpReceiverStats *out)
{
  memset (out, 0, sizeof *out);
}

/* Each second, until it is a success or is not wanted any more. */
static void
test_join_again (void)
{
  static const GstMccMachine machine
      = { .poll = say, .next_timeout = never, .handle_timeout = no_timeout, .get_stats = no_stats };
  GstMccReceiver *self = g_object_new (fake_get_type (), NULL);
  GstMccReceiverClass *klass = GST_MCC_RECEIVER_GET_CLASS (self);
  MccAsspStream group = { .ssrc = 77 };
  const GstMccMachine *before = klass->machine;
  gboolean asked = TRUE;

  gst_object_ref_sink (self);
  klass->machine = &machine;
  klass->join = join;
  klass->join_name = "Thing";
  self->core = &asked;
  gst_mcc_pump_start (self->pump);
  fails = 2;
  gst_mcc_receiver_join (self, 2, &group);
  g_assert_cmpint (g_atomic_int_get (&attempts), ==, 1);
  g_usleep (700000);
  g_assert_cmpint (g_atomic_int_get (&attempts), ==, 1);
  g_usleep (2500000);
  g_assert_cmpint (g_atomic_int_get (&attempts), ==, 3); /* the third is a success */
  fails = G_MAXINT;
  gst_mcc_receiver_join (self, 2, &group);
  gst_mcc_receiver_forget_join (self, 2);
  g_usleep (1300000);
  g_assert_cmpint (g_atomic_int_get (&attempts), ==, 4);
  gst_mcc_pump_stop (self->pump);
  self->core = NULL;
  klass->machine = before;
  gst_object_unref (self);
}

/* ---- figures ---- */

/* A shorter interval counts at once, without a sender to wake anybody, too. */
static void
test_stats_interval (gconstpointer data)
{
  GstElement *pipeline
      = gst_parse_launch ("asmpsrc name=src address=127.0.0.1 ! fakesink async=false", NULL);
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  GstBus *bus = gst_element_get_bus (pipeline);
  gint64 until;
  gboolean told = FALSE;

  g_object_set (src, "port", own_port (2), "stats-interval", GPOINTER_TO_UINT (data), NULL);
  g_assert_cmpint (
      gst_element_set_state (pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  g_usleep (200000);
  g_object_set (src, "stats-interval", 100, NULL);
  for (until = g_get_monotonic_time () + 2 * G_USEC_PER_SEC;
       !told && g_get_monotonic_time () < until;) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 50 * GST_MSECOND, GST_MESSAGE_ELEMENT);

    told = message && gst_message_has_name (message, "adaptive-multicast-stats");
    if (message)
      gst_message_unref (message);
  }
  g_assert_true (told);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (src);
  gst_object_unref (pipeline);
}

/* ---- a pad that is blocked ---- */

static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc ((gint *)data);
  return GST_PAD_PROBE_OK; /* a blocking probe: stays */
}

static gboolean
is_reached (gint *count, gint target)
{
  for (guint i = 0; i < 1000 && g_atomic_int_get (count) < target; i++)
    g_usleep (10000);
  return g_atomic_int_get (count) >= target;
}

typedef struct {
  GstElement *element;
  gint done; /* atomic */
} Stopping;

static gpointer
stop_element (gpointer data)
{
  Stopping *stopping = data;

  gst_element_set_state (stopping->element, GST_STATE_READY);
  gst_element_set_state (stopping->element, GST_STATE_NULL);
  g_atomic_int_set (&stopping->done, 1);
  return NULL;
}

/* Who swaps sources blocks the pad, and stops the element: that ends, and it plays again. */
static void
test_stopped_while_blocked (void)
{
  GstElement *sender = gst_parse_launch (
      "audiotestsrc is-live=true ! audio/x-raw,format=S16BE,rate=8000,channels=1 ! rtpL16pay ! "
      "asmpsink name=it address=127.0.0.1 encoder-control=none start-bitrate=300000",
      NULL);
  GstElement *receiver = gst_parse_launch (
      "asmpsrc name=it address=127.0.0.1 latency=50 ! fakesink sync=false async=false", NULL);
  GstElement *both[] = { sender, receiver };
  Stopping stopping = { receiver, 0 };
  GThread *thread;
  gint buffers = 0, blocked = 0;
  GstElement *src = gst_bin_get_by_name (GST_BIN (receiver), "it");
  GstPad *pad = gst_element_get_static_pad (src, "src");
  gulong probe;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note, &buffers, NULL);
  for (guint i = 0; i < 2; i++) {
    GstElement *it = gst_bin_get_by_name (GST_BIN (both[i]), "it");

    g_object_set (it, "port", own_port (4), NULL);
    gst_object_unref (it);
    g_assert_cmpint (
        gst_element_set_state (both[i], GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  }
  g_assert_true (is_reached (&buffers, 10));
  probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, note, &blocked, NULL);
  g_assert_true (is_reached (&blocked, 1));
  thread = g_thread_new ("stop", stop_element, &stopping);
  g_assert_true (is_reached (&stopping.done, 1)); /* else it stands there for good */
  g_thread_join (thread);
  gst_pad_remove_probe (pad, probe);
  buffers = 0;
  gst_element_set_state (receiver, GST_STATE_PLAYING);
  g_assert_true (is_reached (&buffers, 10));
  for (guint i = 0; i < 2; i++) {
    gst_element_set_state (both[1 - i], GST_STATE_NULL);
    gst_object_unref (both[1 - i]);
  }
  gst_object_unref (pad);
  gst_object_unref (src);
}

/* ---- what comes while nothing plays ---- */

#define FLOOD 6000 /* packets, which overflow a socket's buffer */

/* Sockets of this host that are in @group on the loopback interface. */
static guint
count_members (const gchar *group)
{
  gchar *text, **lines;
  guint members = 0;
  gboolean lo = FALSE;

  g_assert_true (g_file_get_contents ("/proc/net/igmp", &text, NULL, NULL));
  lines = g_strsplit (text, "\n", 0);
  for (guint i = 1; lines[i]; i++) {
    guint address, users;

    if (strchr (lines[i], ':') && g_ascii_isdigit (lines[i][0]))
      lo = strstr (lines[i], "\tlo ") != NULL;
    else if (lo && sscanf (lines[i], " %x %u", &address, &users) == 2
             && address == inet_addr (group))
      members = users;
  }
  g_strfreev (lines);
  g_free (text);
  return members;
}

/* A receiver that does not play is in no group: nobody would hear how much its link can carry. */
static void
test_members (gconstpointer factory)
{
  static const struct {
    GstState state;
    gboolean member;
  } steps[] = {
    { GST_STATE_READY, FALSE },
    { GST_STATE_PAUSED, FALSE },
    { GST_STATE_PLAYING, TRUE },
    { GST_STATE_PAUSED, FALSE },
    { GST_STATE_PLAYING, TRUE },
    { GST_STATE_READY, FALSE },
    { GST_STATE_PLAYING, TRUE },
    { GST_STATE_NULL, FALSE },
  };
  gchar *group = g_strdup_printf ("239.255.%d.%d", 192 + getpid () / 256 % 60, getpid () % 256);

  for (guint ssm = 0; ssm < 2; ssm++) {
    gchar *text = g_strdup_printf ("%s name=src multicast-iface=lo address=%s port=%u %s ! "
                                   "fakesink async=false",
        (const gchar *)factory, group, own_port (2), ssm ? "source-address=127.0.0.1" : "");
    GstElement *pipeline = gst_parse_launch (text, NULL);

    for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
      g_test_message ("ssm %u, step %u", ssm, i);
      g_assert_cmpint (gst_element_set_state (pipeline, steps[i].state), !=, 0);
      gst_element_get_state (pipeline, NULL, NULL, 2 * GST_SECOND);
      g_assert_cmpint (count_members (group) > 0, ==, steps[i].member);
    }
    gst_object_unref (pipeline);
    g_free (text);
  }
  g_free (group);
}

static void
test_let_go (gconstpointer factory)
{
  last_unref_running (factory, NULL);
}

/* RFC 3550 6.3.7: who has sent nothing does not say BYE. */
static void
test_unheard (gconstpointer factory)
{
  GstMccSessionSettings settings
      = { .address = g_strdup_printf ("239.255.%d.%d", 192 + getpid () / 256 % 60, getpid () % 256),
          .port = own_port (2),
          .multicast_iface = (gchar *)"lo",
          .ttl_mc = 1,
          .loop = TRUE,
          .qos_dscp = -1 };
  static const GstState states[] = { GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_PLAYING,
    GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL };
  GstElement *src = gst_element_factory_make (factory, NULL);
  GstMccSockets peer = { 0 };

  g_assert_true (gst_mcc_sockets_open (&peer, &settings, TRUE, NULL));
  g_object_set (
      src, "address", settings.address, "port", settings.port, "multicast-iface", "lo", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (states); i++) {
    g_assert_cmpint (gst_element_set_state (src, states[i]), !=, GST_STATE_CHANGE_FAILURE);
    g_assert_false (g_socket_condition_timed_wait (
        peer.rtcp_group, G_IO_IN, 100 * G_TIME_SPAN_MILLISECOND, NULL, NULL));
  }
  gst_mcc_sockets_close (&peer);
  gst_object_unref (src);
  g_free (settings.address);
}

/* What the kernel has dropped at the socket of 127.0.0.1 and @port. */
static guint
get_drops (guint port)
{
  gchar *address = g_strdup_printf (" 0100007F:%04X 00000000:0000", port), *text, **lines;
  guint drops = 0;

  g_assert_true (g_file_get_contents ("/proc/net/udp", &text, NULL, NULL));
  lines = g_strsplit (text, "\n", 0);
  for (guint i = 1; lines[i]; i++)
    if (strstr (lines[i], address))
      drops = (guint)g_ascii_strtoull (strrchr (g_strchomp (lines[i]), ' '), NULL, 10);
  g_strfreev (lines);
  g_free (text);
  g_free (address);
  return drops;
}

static void
send_rtp (guint port, guint8 payload_type, guint n, guint bytes, gulong apart_us)
{
  static guint16 seq;
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *to = g_inet_socket_address_new_from_string ("127.0.0.1", port);
  guint8 packet[1400] = { 0x80, 0x80 | payload_type };

  for (guint i = 0; i < n; i++) {
    GST_WRITE_UINT16_BE (packet + 2, seq++);
    GST_WRITE_UINT32_BE (packet + 4, 3000u * seq);
    GST_WRITE_UINT32_BE (packet + 8, 0x7001);
    packet[12] = 0x65;
    g_socket_send_to (socket, to, (const gchar *)packet, bytes, NULL, NULL);
    if (apart_us > 0)
      g_usleep (apart_us);
  }
  g_object_unref (to);
  g_object_unref (socket);
}

static guint64
get_stat (GstElement *src, const gchar *name)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (src, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  gst_structure_free (stats);
  return value;
}

/* By unicast, packets come all the same. That nobody has read them is not for want of time. */
static void
test_unread (void)
{
  GstElement *pipeline = gst_parse_launch (
      "asmpsrc name=src address=127.0.0.1 encoding-name=H264 ! fakesink async=false", NULL);
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  guint port = own_port (2), drops = 0;

  g_object_set (src, "port", port, NULL);
  for (guint i = 0; i < 2; i++) { /* the first start, and a pause */
    g_assert_cmpint (
        gst_element_set_state (pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_NO_PREROLL);
    send_rtp (port, 96, FLOOD, 1400, 0);
    g_assert_cmpuint (get_drops (port), >, drops);
    g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PLAYING), !=, 0);
    send_rtp (port, 96, 150, 200, 2000);
    drops = get_drops (port);
    g_assert_cmpuint (get_stat (src, "packets-received"), >, 0);
    g_assert_cmpuint (get_stat (src, "host-dropped"), ==, 0);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (pipeline);
}

static guint
count_warnings (GstElement *pipeline, const gchar *part)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    GError *error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    n += strstr (error->message, part) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return n;
}

/* Whoever knows the encoding alone need not know its payload type; whose caps name another hears of
 * it, for nothing plays. */
static void
test_payload_types (void)
{
  static const struct {
    const gchar *text;
    gboolean plays;
  } rows[] = { { "encoding-name=H264", TRUE },
    { "caps=application/x-rtp,media=video,encoding-name=H264,clock-rate=90000,payload=96",
        FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *text = g_strdup_printf (
        "asmpsrc name=src address=127.0.0.1 latency=50 %s ! fakesink name=out async=false",
        rows[i].text);
    GstElement *pipeline = gst_parse_launch (text, NULL);
    GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
    GstElement *out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
    guint port = own_port (2);

    g_object_set (src, "port", port, NULL);
    g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PLAYING), !=, 0);
    send_rtp (port, 97, 100, 200, 2000);
    for (guint ms = 0; ms < 2000 && rows[i].plays && get_stat (out, "rendered") < 90; ms += 20)
      g_usleep (20000);
    if (rows[i].plays)
      g_assert_cmpuint (get_stat (out, "rendered"), >=, 90);
    else
      g_assert_cmpuint (get_stat (out, "rendered"), ==, 0);
    g_assert_cmpuint (count_warnings (pipeline, "payload type 97"), ==, rows[i].plays ? 0 : 1);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (out);
    gst_object_unref (src);
    gst_object_unref (pipeline);
    g_free (text);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  register_elements ();
  g_test_add_func ("/receiver/actions-keep-their-order", test_order);
  g_test_add_func ("/receiver/ceased-asks-for-nothing", test_ceased);
  g_test_add_func ("/receiver/counts-go-on", test_counts_go_on);
  g_test_add_func ("/receiver/nothing-new-does-not-wait", test_nothing_new);
  g_test_add_func ("/receiver/joins-again", test_join_again);
  g_test_add_data_func (
      "/receiver/stats-interval-shorter", GUINT_TO_POINTER (60000), test_stats_interval);
  g_test_add_data_func (
      "/receiver/stats-interval-begins", GUINT_TO_POINTER (0), test_stats_interval);
  g_test_add_data_func ("/receiver/plays-or-is-in-no-group/asmp", "asmpsrc", test_members);
  g_test_add_data_func ("/receiver/plays-or-is-in-no-group/assp", "asspsimulcastsrc", test_members);
  g_test_add_data_func ("/receiver/plays-or-is-in-no-group/elm", "elmlayersrc", test_members);
  g_test_add_data_func ("/receiver/let-go-while-it-runs/asmp", "asmpsrc", test_let_go);
  g_test_add_data_func ("/receiver/let-go-while-it-runs/assp", "asspsimulcastsrc", test_let_go);
  g_test_add_data_func ("/receiver/let-go-while-it-runs/elm", "elmlayersrc", test_let_go);
  g_test_add_data_func ("/receiver/unheard-says-nothing/asmp", "asmpsrc", test_unheard);
  g_test_add_data_func ("/receiver/unheard-says-nothing/assp", "asspsimulcastsrc", test_unheard);
  g_test_add_data_func ("/receiver/unheard-says-nothing/elm", "elmlayersrc", test_unheard);
  g_test_add_func ("/receiver/stopped-while-its-pad-is-blocked", test_stopped_while_blocked);
  g_test_add_func ("/receiver/unread-is-not-dropped", test_unread);
  g_test_add_func ("/receiver/payload-types", test_payload_types);
  return g_test_run ();
}
