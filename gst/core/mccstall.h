/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccstall: which packets waited in the socket while the host stood still (stopped, swapped out,
 * suspended). Ours.
 *
 * What piled up meanwhile says nothing about the path and comes too late to be shown. After
 * MCC_TIME_ABSENCE without a packet a backlog of MCC_STALL_BACKLOG_BYTES or more is such a pile;
 * all of it is stale, up to and with the packet that leaves less than MCC_STALL_DRAINED_BYTES.
 * A sender that was silent leaves no such backlog, and a busy host no such silence.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

/* Kernel memory, which counts a packet at two to three times its size. */
#define MCC_STALL_BACKLOG_BYTES (128u * 1024u) /* more than a key unit leaves behind */
#define MCC_STALL_DRAINED_BYTES (16u * 1024u)
/* What a packet may have waited in the socket of a host that is only busy. A longer wait is one
 * that stood still, or whose clock was set, and is not subtracted from the arrival. */
#define MCC_STALL_WAIT_MAX (250 * MCC_MSECOND)

typedef struct {
  MccTime last; /* packet; MCC_TIME_NONE: none yet */
  bool draining;
  uint64_t stale; /* packets of this pile so far */
} MccStall;

void mcc_stall_init (MccStall *self);
/* Whether the packet of @now can be judged only with the socket's backlog; else 0 will do. */
bool mcc_stall_needs_backlog (const MccStall *self, MccTime now);
/* A packet was read that left @backlog_bytes in the socket. True: it is stale. *@dropped: how many
 * were, once the pile is gone; else 0. */
bool mcc_stall_handle_packet (
    MccStall *self, uint32_t backlog_bytes, MccTime now, uint64_t *dropped);
