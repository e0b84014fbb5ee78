/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsender: what the machine wants done, by whichever thread; gstmccsendstream: the file with
 * the description.
 */
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <unistd.h>

#include "gstasmpsink.h"
#include "gstasspsimulcastbin.h"
#include "gstelmlayersink.h"
#include "gstmccsender.h"
#include "lastref.h"
#include "ownport.h"

#define ACTIONS 3000
#define THREADS 3

/* A class whose machine says numbers; an ASMP target stands for any action. */
typedef struct {
  GstMccSender parent;
} Fake;
typedef struct {
  GstMccSenderClass parent;
} FakeClass;

static GType fake_get_type (void);
G_DEFINE_TYPE (Fake, fake, GST_TYPE_MCC_SENDER)

static guint said, acted, swapped;
static gint inside, together; /* atomic */
static gboolean asked;        /* guarded by the lock, as .said */

static gboolean
poll_locked (GstMccSender *self, GstMccSenderTodo *out)
{
  if (asked || said == ACTIONS)
    return FALSE;
  asked = TRUE;
  out->action.asmp.target_bps = said++;
  return TRUE;
}

static void
act (GstMccSender *self, GstMccSenderTodo *todo)
{
  guint64 number = todo->action.asmp.target_bps;

  if (g_atomic_int_add (&inside, 1) > 0)
    g_atomic_int_inc (&together);
  if (number % 64 == 0)
    g_usleep (1000); /* as the bus may take */
  swapped += number != acted;
  acted = (guint)number + 1;
  if (number % 100 == 0)
    gst_mcc_sender_drain (self); /* from a handler of the application's, say: no deadlock */
  g_atomic_int_add (&inside, -1);
}

/* ---- what the class needs besides ---- */

static MccTime
never (gpointer core)
{
  return MCC_TIME_NONE;
}

static guint destroyed;

static void
destroy (gpointer core)
{
  destroyed++;
}

static gboolean
prepare (GstMccSender *self)
{
  MccPlace place = { 0 };

  return gst_mcc_sender_open_session (self, &place, 1, 1000000);
}

static void
release (GstMccSender *self)
{
  gst_mcc_session_close (self->session);
}

static gboolean
start (GstMccSender *self)
{
  g_mutex_lock (&self->lock);
  self->core = &asked;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
fake_class_init (FakeClass *klass)
{
  static const GstMccSenderMachine machine = { .destroy = destroy, .next_timeout = never };
  static const GstMccSessionHandler handler = { 0 };

  klass->parent.scheme = "asmp";
  klass->parent.element_name = "fake";
  klass->parent.machine = &machine;
  klass->parent.handler = &handler;
  klass->parent.prepare = prepare;
  klass->parent.release = release;
  klass->parent.start = start;
  klass->parent.poll_locked = poll_locked;
  klass->parent.act = act;
  gst_mcc_sender_class_install (&klass->parent, GST_MCC_SENDS_STREAM);
}

static void
fake_init (Fake *self)
{
  gst_mcc_sender_setup (GST_MCC_SENDER (self));
}

static GstMccSender *
new_fake (void)
{
  GstMccSender *self = g_object_new (fake_get_type (), NULL);

  said = acted = swapped = 0;
  inside = together = 0;
  asked = FALSE;
  return gst_object_ref_sink (self);
}

/* ---- tests ---- */

static gpointer
drive (gpointer data)
{
  GstMccSender *self = data;
  gboolean more = TRUE;

  while (more) {
    g_mutex_lock (&self->lock);
    asked = FALSE; /* one for each call: another thread gets the next */
    more = said < ACTIONS;
    g_mutex_unlock (&self->lock);
    gst_mcc_sender_drain (self);
  }
  return NULL;
}

static void
test_order (void)
{
  GstMccSender *self = new_fake ();
  GThread *threads[THREADS];

  start (self);
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("drive", drive, self);
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
  self->core = NULL;
  g_assert_cmpuint (acted, ==, ACTIONS);
  g_assert_cmpuint (swapped, ==, 0);
  g_assert_cmpint (together, ==, 0);
  gst_object_unref (self);
}

/* A slow handler of the application's. */
typedef struct {
  GMutex lock;
  GCond cond;
  gboolean stands, go_on;
} Door;

static Door door;

static void
stand (GstMccSender *self, GstMccSenderTodo *todo)
{
  g_mutex_lock (&door.lock);
  door.stands = TRUE;
  g_cond_broadcast (&door.cond);
  while (!door.go_on)
    g_cond_wait (&door.cond, &door.lock);
  g_mutex_unlock (&door.lock);
  acted++;
}

static void
open_door (void)
{
  g_mutex_lock (&door.lock);
  door.go_on = TRUE;
  g_cond_broadcast (&door.cond);
  g_mutex_unlock (&door.lock);
}

static gpointer
drive_once (gpointer data)
{
  GstMccSender *self = data;

  g_mutex_lock (&self->lock);
  asked = FALSE;
  g_mutex_unlock (&self->lock);
  gst_mcc_sender_drain (self);
  return NULL;
}

/* A thread in a handler that stands. */
static GThread *
stand_in_it (GstMccSender *self)
{
  GThread *thread;

  GST_MCC_SENDER_GET_CLASS (self)->act = stand;
  door.stands = door.go_on = FALSE;
  thread = g_thread_new ("stands", drive_once, self);
  g_mutex_lock (&door.lock);
  while (!door.stands)
    g_cond_wait (&door.cond, &door.lock);
  g_mutex_unlock (&door.lock);
  return thread;
}

/* Who comes meanwhile, a pacer, goes on; who acts does that, too. */
static void
test_nobody_waits (void)
{
  GstMccSender *self = new_fake ();
  GThread *first;

  start (self);
  first = stand_in_it (self);
  drive_once (self); /* else it would stand here for good */
  g_assert_cmpuint (acted, ==, 0);
  open_door ();
  g_thread_join (first);
  g_assert_cmpuint (acted, ==, 2);
  self->core = NULL;
  GST_MCC_SENDER_GET_CLASS (self)->act = act;
  gst_object_unref (self);
}

static gint stopped; /* atomic */

static gpointer
set_null (gpointer data)
{
  g_assert_cmpint (gst_element_set_state (data, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  g_atomic_int_set (&stopped, TRUE);
  return NULL;
}

/* Nothing is done behind the end. */
static void
test_stop (void)
{
  GstMccSender *self = new_fake ();
  GThread *first, *second;

  g_object_set (self, "address", "127.0.0.1", "port", own_port (2), NULL);
  asked = TRUE;
  g_assert_cmpint (
      gst_element_set_state (GST_ELEMENT (self), GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  first = stand_in_it (self);
  stopped = FALSE;
  second = g_thread_new ("stops", set_null, self);
  g_usleep (300000);
  g_assert_false (g_atomic_int_get (&stopped));
  open_door ();
  g_thread_join (first);
  g_thread_join (second);
  g_assert_cmpuint (acted, ==, 1);
  g_assert_null (self->actor);
  GST_MCC_SENDER_GET_CLASS (self)->act = act;
  gst_object_unref (self);
}

static void
test_let_go (gconstpointer factory)
{
  last_unref_running (factory, NULL);
}

static void
check_destroyed (GstState state)
{
  g_assert_cmpuint (destroyed, ==, state > GST_STATE_READY);
  destroyed = 0;
}

static void
test_let_go_any (void)
{
  asked = TRUE;
  destroyed = 0;
  last_unref_running ("fake", check_destroyed);
}

static void
write_description (GstMccSendStream *stream, const gchar *location, gint payload)
{
  GstMccSessionSettings network = { .address = g_strdup ("239.255.12.42"), .port = 5004 };
  GstCaps *caps = gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING, "video",
      "encoding-name", G_TYPE_STRING, "H264", "clock-rate", G_TYPE_INT, 90000, "payload",
      G_TYPE_INT, payload, NULL);

  gst_mcc_send_stream_write_sdp (stream, location, &network, 0, caps);
  gst_caps_unref (caps);
}

/* The description in the file is that of the newest caps, and no older one comes after it. */
static void
test_newest_description (void)
{
  static const GstMccSendStreamHandler nothing;
  gchar *location = g_strdup_printf ("%s/sender-%d.sdp", g_get_tmp_dir (), (gint)getpid ());
  GstBin *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstMccSendStream *stream = gst_mcc_send_stream_new (bin, 0, &nothing, NULL);

  for (guint round = 0; round < 20; round++) {
    gint newest = 100 + (gint)round % 2;
    gchar *line = g_strdup_printf ("a=rtpmap:%d H264/90000", newest), *text = NULL;

    for (gint payload = 96; payload <= newest; payload++)
      write_description (stream, location, payload);
    for (guint i = 0; i < 500 && !(text && strstr (text, line)); i++) {
      g_usleep (10000);
      g_clear_pointer (&text, g_free);
      g_file_get_contents (location, &text, NULL, NULL);
    }
    g_clear_pointer (&text, g_free);
    g_usleep (50000);
    g_assert_true (g_file_get_contents (location, &text, NULL, NULL));
    g_assert_nonnull (strstr (text, line));
    g_free (text);
    g_free (line);
  }
  gst_mcc_send_stream_free (stream);
  gst_object_unref (bin);
  g_unlink (location);
  g_free (location);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sender/actions-keep-their-order", test_order);
  g_test_add_func ("/sender/nobody-waits", test_nobody_waits);
  g_test_add_func ("/sender/nothing-behind-the-end", test_stop);
  g_test_add_func ("/sender/newest-description", test_newest_description);
  gst_element_register (NULL, "fake", GST_RANK_NONE, fake_get_type ());
  gst_element_register (NULL, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK);
  gst_element_register (NULL, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN);
  gst_element_register (NULL, "elmlayersink", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SINK);
  g_test_add_func ("/sender/let-go-while-it-runs/any", test_let_go_any);
  g_test_add_data_func ("/sender/let-go-while-it-runs/asmp", "asmpsink", test_let_go);
  g_test_add_data_func ("/sender/let-go-while-it-runs/assp", "asspsimulcastbin", test_let_go);
  g_test_add_data_func ("/sender/let-go-while-it-runs/elm", "elmlayersink", test_let_go);
  return g_test_run ();
}
