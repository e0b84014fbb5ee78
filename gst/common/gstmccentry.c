/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccentry.h"

#include <stdio.h>

/* ---- the end of one ---- */

static void
end (GstElement *clocksync)
{
  GstPad *src = gst_element_get_static_pad (clocksync, "src");
  GstPad *peer = gst_pad_get_peer (src);
  GstEvent *begun;

  gst_object_unref (src);
  if (!peer)
    return;
  begun = gst_pad_get_sticky_event (peer, GST_EVENT_STREAM_START, 0);
  if (!begun)
    gst_pad_send_event (peer, gst_event_new_stream_start ("released"));
  gst_clear_event (&begun);
  if (!GST_PAD_IS_EOS (peer))
    gst_pad_send_event (peer, gst_event_new_eos ());
  gst_object_unref (peer);
}

typedef struct {
  GstPad *pad;
  GstElement *clocksync;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  gst_object_unref (job->pad);
  gst_object_unref (job->clocksync);
  g_free (job);
}

/* A thread of its own: each may wait for the streaming thread. */
static void
finish (GstElement *element, gpointer data)
{
  Job *job = data;

  gst_element_set_state (job->clocksync, GST_STATE_NULL); /* nobody waits in it any more */
  end (job->clocksync);
  gst_pad_set_active (job->pad, FALSE);
}

static void
release (GstElement *element, GstPad *pad, GstElement *clocksync)
{
  Job *job;

  if (!clocksync) {
    gst_pad_set_active (pad, FALSE);
    gst_element_remove_pad (element, pad);
    return;
  }
  job = g_new0 (Job, 1);
  job->pad = gst_object_ref (pad);
  job->clocksync = gst_object_ref (clocksync);
  gst_element_set_locked_state (clocksync, TRUE);
  gst_ghost_pad_set_target (GST_GHOST_PAD (pad), NULL);
  gst_element_remove_pad (element, pad);
  gst_element_call_async (element, finish, job, job_free);
}

/* ---- pads ---- */

guint
gst_mcc_entries_count (GstMccEntries *self)
{
  guint n = 0;

  GST_OBJECT_LOCK (self->owner);
  for (guint i = 0; i < self->max; i++)
    n += self->request[i] != NULL;
  GST_OBJECT_UNLOCK (self->owner);
  return n;
}

/* Whoever releases it meanwhile does not free it. Transfer: full, or NULL. */
static GstPad *
ref_request (GstMccEntries *self, guint i)
{
  GstPad *pad;

  GST_OBJECT_LOCK (self->owner);
  pad = self->request[i] ? gst_object_ref (self->request[i]) : NULL;
  GST_OBJECT_UNLOCK (self->owner);
  return pad;
}

static void
tell_missing (GstMccEntries *self, guint i)
{
  const GstMccEntryWords *words = self->words;

  GST_ELEMENT_ERROR (self->owner, CORE, PAD,
      ("%s_%u is missing: number the pads from %s_0, %s, on.", words->name, i, words->name,
          words->lowest),
      (NULL));
}

gboolean
gst_mcc_entries_check (GstMccEntries *self, guint n)
{
  for (guint i = 0; i < n; i++)
    if (!self->request[i]) {
      tell_missing (self, i);
      return FALSE;
    }
  return TRUE;
}

static GstPadLinkReturn
on_link (GstPad *pad, GstObject *parent, GstPad *peer)
{
  GstMccEntries *self = pad->linkdata;
  const GstMccEntryWords *words = self->words;

  if (gst_mcc_entries_count (self) == 0)
    return GST_PAD_LINK_OK;
  GST_ELEMENT_ERROR (parent, CORE, PAD,
      ("sink and %s_%%u exclude each other: link %s to sink, or %s to %s_0, %s_1, ...", words->name,
          words->to_sink, words->to_names, words->name, words->name),
      (NULL));
  return GST_PAD_LINK_REFUSED;
}

/* Takes the place @wanted, or the first free one; -1: none. */
static gint
take_number (GstMccEntries *self, GstPad *pad, gint wanted)
{
  gint number = -1;

  GST_OBJECT_LOCK (self->owner);
  for (gint i = 0; i < (gint)self->max && number < 0; i++)
    if ((wanted < 0 || wanted == i) && !self->request[i])
      number = i;
  if (number >= 0)
    self->request[number] = pad;
  GST_OBJECT_UNLOCK (self->owner);
  return number;
}

static gboolean
may_request (GstMccEntries *self)
{
  const GstMccEntryWords *words = self->words;

  if (gst_pad_is_linked (self->sink)) {
    GST_ELEMENT_ERROR (self->owner, CORE, PAD,
        ("sink and %s_%%u exclude each other: sink is linked; unlink it, or link nothing to "
         "%s_%%u.",
            words->name, words->name),
        (NULL));
    return FALSE;
  }
  if (GST_STATE (self->owner) > GST_STATE_NULL || GST_STATE_NEXT (self->owner) > GST_STATE_NULL) {
    GST_ELEMENT_ERROR (self->owner, CORE, PAD,
        ("%s_%%u: the %s are fixed while it runs; request them in NULL.", words->name,
            words->things),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

/* The number of the pad @name, -1: any. FALSE: an error was posted. */
static gboolean
read_number (GstMccEntries *self, const gchar *name, gint *out)
{
  const GstMccEntryWords *words = self->words;

  *out = -1;
  if (!name
      || (g_str_has_prefix (name, words->name)
          && sscanf (name + strlen (words->name), "_%d", out) == 1 && *out >= 0
          && *out < (gint)self->max))
    return TRUE;
  GST_ELEMENT_ERROR (self->owner, CORE, PAD,
      ("There is no %s: request %s_0 to %s_%u.", name, words->name, words->name, self->max - 1),
      (NULL));
  return FALSE;
}

static void
tell_taken (GstMccEntries *self, gint wanted)
{
  const GstMccEntryWords *words = self->words;

  if (wanted >= 0)
    GST_ELEMENT_ERROR (self->owner, CORE, PAD,
        ("%s_%d is taken: request another one, or %s_%%u for the next.", words->name, wanted,
            words->name),
        (NULL));
  else
    GST_ELEMENT_ERROR (self->owner, CORE, PAD,
        ("%s_0 to %s_%u are taken, and there are no more: at most %u %s.", words->name, words->name,
            self->max - 1, self->max, words->things),
        (NULL));
}

GstPad *
gst_mcc_entries_request (GstMccEntries *self, GstPadTemplate *template, const gchar *name)
{
  gint wanted, number;
  gchar *pad_name;
  GstPad *pad;

  if (!may_request (self) || !read_number (self, name, &wanted))
    return NULL;
  pad = gst_ghost_pad_new_no_target_from_template (NULL, template);
  number = take_number (self, pad, wanted);
  if (number < 0) {
    tell_taken (self, wanted);
    gst_object_unref (gst_object_ref_sink (pad));
    return NULL;
  }
  pad_name = g_strdup_printf ("%s_%d", self->words->name, number);
  gst_object_set_name (GST_OBJECT (pad), pad_name);
  g_free (pad_name);
  gst_element_add_pad (GST_ELEMENT (self->owner), pad);
  return pad;
}

void
gst_mcc_entries_release (GstMccEntries *self, GstPad *pad)
{
  GstElement *clocksync = NULL;

  GST_OBJECT_LOCK (self->owner);
  for (guint i = 0; i < self->max; i++)
    if (self->request[i] == pad) {
      self->request[i] = NULL;
      clocksync = self->clocksync[i] ? gst_object_ref (self->clocksync[i]) : NULL;
    }
  GST_OBJECT_UNLOCK (self->owner);
  release (GST_ELEMENT (self->owner), pad, clocksync); /* the others go on, and end without it */
  gst_clear_object (&clocksync);
}

void
gst_mcc_entries_init (GstMccEntries *self, GstMccSender *owner, const GstMccEntryWords *words,
    guint max, GstStaticPadTemplate *sink_template)
{
  GstPadTemplate *template = gst_static_pad_template_get (sink_template);

  self->owner = owner;
  self->words = words;
  self->max = max;
  self->sink = gst_ghost_pad_new_no_target_from_template ("sink", template);
  gst_object_unref (template);
  gst_pad_set_link_function_full (self->sink, on_link, self, NULL);
  gst_element_add_pad (GST_ELEMENT (owner), self->sink);
}

/* ---- what is behind them ---- */

gboolean
gst_mcc_entries_build (GstMccEntries *self, guint i, gboolean request, gboolean sync)
{
  GstElement *clocksync = gst_mcc_sender_make (self->owner, "clocksync");
  GstPad *ghost, *sink;

  if (!clocksync)
    return FALSE;
  self->of_pads = request;
  gst_mcc_hold_add (self->owner->hold, clocksync);
  g_object_set (clocksync, "sync", sync, NULL);
  GST_OBJECT_LOCK (self->owner);
  self->clocksync[i] = clocksync;
  GST_OBJECT_UNLOCK (self->owner);
  ghost = request ? ref_request (self, i) : gst_object_ref (self->sink);
  if (!ghost) { /* released meanwhile */
    tell_missing (self, i);
    return FALSE;
  }
  sink = gst_element_get_static_pad (clocksync, "sink");
  gst_ghost_pad_set_target (GST_GHOST_PAD (ghost), sink);
  gst_object_unref (sink);
  gst_object_unref (ghost);
  return TRUE;
}

void
gst_mcc_entries_clear (GstMccEntries *self, guint i)
{
  GstPad *pad = ref_request (self, i);

  if (pad)
    gst_ghost_pad_set_target (GST_GHOST_PAD (pad), NULL);
  gst_clear_object (&pad);
  gst_mcc_sender_unmake (self->owner, &self->clocksync[i]);
}

void
gst_mcc_entries_set_sync (GstMccEntries *self, gboolean sync)
{
  for (guint i = 0; i < self->max; i++) {
    GstElement *clocksync;

    GST_OBJECT_LOCK (self->owner);
    clocksync = self->clocksync[i] ? gst_object_ref (self->clocksync[i]) : NULL;
    GST_OBJECT_UNLOCK (self->owner);
    if (clocksync)
      g_object_set (clocksync, "sync", sync, NULL);
    gst_clear_object (&clocksync);
  }
}

void
gst_mcc_entries_end_released (GstMccEntries *self)
{
  for (guint i = 0; self->of_pads && i < self->max; i++)
    if (!self->request[i] && self->clocksync[i])
      end (self->clocksync[i]);
}
