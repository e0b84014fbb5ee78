/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmcckeywait.h"

#define RTTS 2                      /* request and key unit, and as much again */
#define ENCODER (300 * MCC_MSECOND) /* until the key unit has been encoded and paced */

void
gst_mcc_key_wait_init (GstMccKeyWait *self)
{
  *self = (GstMccKeyWait){ .due = MCC_TIME_NONE };
}

void
gst_mcc_key_wait_want (GstMccKeyWait *self, gboolean loss, MccTime now)
{
  MccTime spacing = loss ? GST_MCC_KEY_WAIT_LOSS : GST_MCC_KEY_WAIT_MIN;
  MccTime due = self->asked ? mcc_time_max (now, self->last + spacing) : now;

  if (self->wanted) {
    if (!loss && self->tries == 0)
      self->due = mcc_time_min (self->due, due);
    return;
  }
  self->wanted = TRUE;
  self->tries = 0;
  self->due = due;
}

void
gst_mcc_key_wait_got (GstMccKeyWait *self)
{
  self->wanted = FALSE;
  self->due = MCC_TIME_NONE;
}

MccTime
gst_mcc_key_wait_next_timeout (const GstMccKeyWait *self)
{
  return self->wanted ? self->due : MCC_TIME_NONE;
}

gboolean
gst_mcc_key_wait_take (GstMccKeyWait *self, MccTime rtt, MccTime now)
{
  MccTime wait = mcc_time_max (GST_MCC_KEY_WAIT_MIN, RTTS * rtt + ENCODER);

  if (!self->wanted || now < self->due)
    return FALSE;
  self->asked = TRUE;
  self->last = now;
  self->due = now + (wait << self->tries);
  if (++self->tries >= GST_MCC_KEY_WAIT_TRIES)
    gst_mcc_key_wait_got (self);
  return TRUE;
}
