/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmcckeywait: when a receiver asks for a key unit (PLI).
 *
 * A request leaves at once, but not within GST_MCC_KEY_WAIT_MIN of the one before (loss:
 * GST_MCC_KEY_WAIT_LOSS); it is repeated, each time after twice as long, until a key unit arrives,
 * at most GST_MCC_KEY_WAIT_TRIES times. No clock: time is an argument.
 */
#pragma once

#include <glib.h>

#include "mcctime.h"

G_BEGIN_DECLS

#define GST_MCC_KEY_WAIT_MIN (1 * MCC_SECOND)
#define GST_MCC_KEY_WAIT_LOSS (3 * MCC_SECOND)
#define GST_MCC_KEY_WAIT_TRIES 5

typedef struct {
  gboolean wanted;
  guint tries;
  gboolean asked;
  MccTime last; /* of the last request, when asked */
  MccTime due;
} GstMccKeyWait;

void gst_mcc_key_wait_init (GstMccKeyWait *self);
/* A key unit is needed; @loss: because of packet loss, which may mend itself. */
void gst_mcc_key_wait_want (GstMccKeyWait *self, gboolean loss, MccTime now);
/* A key unit has come. */
void gst_mcc_key_wait_got (GstMccKeyWait *self);
/* When _take() may say TRUE; MCC_TIME_NONE: never. */
MccTime gst_mcc_key_wait_next_timeout (const GstMccKeyWait *self);
/* TRUE: send a PLI now. */
gboolean gst_mcc_key_wait_take (GstMccKeyWait *self, MccTime rtt, MccTime now);

G_END_DECLS
