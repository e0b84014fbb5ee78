/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * startlate: receivers of a class whose starting thread is slow, so that the sender's word comes
 * meanwhile.
 */
#pragma once

#include "gstmccreceiver.h"

static void (*startlate_inner) (GstMccReceiver *receiver);

static void
startlate_started (GstMccReceiver *receiver)
{
  gboolean announced = FALSE;

  for (guint ms = 0; ms < 500 && !announced; ms += 5) {
    g_usleep (5000);
    g_mutex_lock (&receiver->lock);
    announced = receiver->has_announced[0];
    g_mutex_unlock (&receiver->lock);
  }
  startlate_inner (receiver);
}

static void
start_late (GstMccReceiverClass *klass)
{
  startlate_inner = klass->started;
  klass->started = startlate_started;
}

static void
start_in_time (GstMccReceiverClass *klass)
{
  klass->started = startlate_inner;
}
