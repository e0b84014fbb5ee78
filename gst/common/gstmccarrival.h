/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccarrival: what the kernel tells of a datagram beside its bytes.
 */
#pragma once

#include <gst/gst.h>

#include <sys/socket.h>
#include <time.h>

#include "mcctypes.h"

G_BEGIN_DECLS

/* What the kernel is asked for here. */
#define GST_MCC_ARRIVAL_BYTES (CMSG_SPACE (sizeof (int)) + CMSG_SPACE (sizeof (struct timespec)))

typedef struct {
  MccEcn ecn;     /* MCC_ECN_NOT_ECT where the kernel does not tell */
  MccTime waited; /* in the socket before it was read; 0: not known, or above MCC_STALL_WAIT_MAX */
} GstMccArrival;

/* From now on the kernel tells it of what comes to @fd. */
void gst_mcc_arrival_enable (int fd);
/* Of what was read with @message at @now of CLOCK_REALTIME. */
GstMccArrival gst_mcc_arrival_read (struct msghdr *message, const struct timespec *now);

G_END_DECLS
