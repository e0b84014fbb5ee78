/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccpump.h"

struct _GstMccPump {
  gchar *name;
  GstMccPumpFunc func;
  gpointer owner;
  GstClock *clock;
  GThread *thread;

  /* Guards what follows; a leaf: nothing is called with it held but the clock. */
  GMutex lock;
  GCond cond;
  gboolean running;
  MccTime wanted;     /* next call */
  GstClockID waiting; /* what the thread sleeps on */
  MccTime latest;     /* the last time given out */
};

GstMccPump *
gst_mcc_pump_new (const gchar *name, GstMccPumpFunc func, gpointer owner)
{
  GstMccPump *self = g_new0 (GstMccPump, 1);

  self->name = g_strdup (name);
  self->func = func;
  self->owner = owner;
  self->clock = gst_system_clock_obtain ();
  self->wanted = MCC_TIME_NONE;
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  return self;
}

void
gst_mcc_pump_free (GstMccPump *self)
{
  if (!self)
    return;
  gst_mcc_pump_stop (self);
  gst_object_unref (self->clock);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  g_free (self->name);
  g_free (self);
}

static MccTime
now_locked (GstMccPump *self)
{
  GstClockTime now = gst_clock_get_time (self->clock);

  if (GST_CLOCK_TIME_IS_VALID (now) && now > self->latest)
    self->latest = now;
  return self->latest;
}

MccTime
gst_mcc_pump_now (GstMccPump *self)
{
  MccTime now;

  g_mutex_lock (&self->lock);
  now = now_locked (self);
  g_mutex_unlock (&self->lock);
  return now;
}

/* Sleeps until self->wanted or until somebody interrupts; called and returns with the lock held. */
static void
sleep_locked (GstMccPump *self)
{
  GstClockID id;

  if (self->wanted == MCC_TIME_NONE) {
    g_cond_wait (&self->cond, &self->lock);
    return;
  }
  id = gst_clock_new_single_shot_id (self->clock, self->wanted);
  self->waiting = id;
  g_mutex_unlock (&self->lock);
  gst_clock_id_wait (id, NULL);
  g_mutex_lock (&self->lock);
  self->waiting = NULL;
  gst_clock_id_unref (id);
}

static gpointer
pump_thread (gpointer data)
{
  GstMccPump *self = data;

  g_mutex_lock (&self->lock);
  while (self->running) {
    MccTime now = now_locked (self), next;

    if (self->wanted > now) {
      sleep_locked (self);
      continue;
    }
    self->wanted = MCC_TIME_NONE;
    g_mutex_unlock (&self->lock);
    next = self->func (self->owner, now);
    g_mutex_lock (&self->lock);
    /* a wake that came during the call stands */
    self->wanted = mcc_time_min (self->wanted, next);
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

static void
interrupt_locked (GstMccPump *self)
{
  if (self->waiting)
    gst_clock_id_unschedule (self->waiting);
  g_cond_signal (&self->cond);
}

void
gst_mcc_pump_start (GstMccPump *self)
{
  if (self->thread)
    return;
  g_mutex_lock (&self->lock); /* somebody may wake us already */
  self->running = TRUE;
  /* the first call comes at once: the machine says when it wants the next */
  self->wanted = 0;
  g_mutex_unlock (&self->lock);
  self->thread = g_thread_new (self->name, pump_thread, self);
}

void
gst_mcc_pump_stop (GstMccPump *self)
{
  if (!self->thread)
    return;
  g_mutex_lock (&self->lock);
  self->running = FALSE;
  interrupt_locked (self);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  self->thread = NULL;
}

void
gst_mcc_pump_wake (GstMccPump *self, MccTime at)
{
  g_mutex_lock (&self->lock);
  if (at < self->wanted) {
    self->wanted = at;
    interrupt_locked (self);
  }
  g_mutex_unlock (&self->lock);
}
