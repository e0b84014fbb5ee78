/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccentry.h"

void
gst_mcc_entry_end (GstElement *clocksync)
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
  gst_mcc_entry_end (job->clocksync);
  gst_pad_set_active (job->pad, FALSE);
}

void
gst_mcc_entry_release (GstElement *element, GstPad *pad, GstElement *clocksync)
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
