/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmcchold: a clocksync that holds what is not live to its pace, from wherever that begins.
 *
 * A sender goes to PLAYING without data, as live ones do, so that running time begins before the
 * first packet; and after a flushing seek it may go on, since only a pipeline that is live begins
 * it anew. What is late then would be late for good, and pass unheld: seconds of media at once. So
 * where the first buffer of a start or a flush comes more than GST_MCC_HOLD_LATE late, and what is
 * upstream is not live, it is as if it came in time (clocksync's ts-offset). What belongs together,
 * the streams or layers of one element, is late together: by as much as the latest of them.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Less a pacer can take. */
#define GST_MCC_HOLD_LATE (200 * GST_MSECOND)

typedef struct _GstMccHold GstMccHold;

GstMccHold *gst_mcc_hold_new (void);
void gst_mcc_hold_unref (GstMccHold *self);
/* Makes @clocksync do so, together with all others that were added. */
void gst_mcc_hold_add (GstMccHold *self, GstElement *clocksync);
/* Running time begins anew: READY->PAUSED. */
void gst_mcc_hold_reset (GstMccHold *self);

G_END_DECLS
