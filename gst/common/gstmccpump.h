/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccpump: the clock of a protocol machine. One thread waits on the system clock
 * (gst_system_clock_obtain(), so that GstTestClock works; never the pipeline's clock) and calls the
 * owner back when a machine's next time-out is due. Times never run back.
 */
#pragma once

#include <gst/gst.h>

#include "mcctime.h"

G_BEGIN_DECLS

typedef struct _GstMccPump GstMccPump;

/* Called from the pump's thread without a lock: @now may be older than what another thread has told
 * the machine meanwhile, so ask gst_mcc_pump_now() again under the owner's lock. Returns the next
 * time-out, MCC_TIME_NONE = none. */
typedef MccTime (*GstMccPumpFunc) (gpointer owner, MccTime now);

GstMccPump *gst_mcc_pump_new (const gchar *name, GstMccPumpFunc func, gpointer owner);
void gst_mcc_pump_free (GstMccPump *self);
/* The first call comes at once. */
void gst_mcc_pump_start (GstMccPump *self);
/* Waits until the callback has returned; not from within it, nor under a lock that it takes. */
void gst_mcc_pump_stop (GstMccPump *self);
/* The next time-out has changed (is earlier): wake up. Cheap; any thread, any lock. */
void gst_mcc_pump_wake (GstMccPump *self, MccTime at);
/* Now, clamped so that it never runs back. Any thread. */
MccTime gst_mcc_pump_now (GstMccPump *self);

G_END_DECLS
