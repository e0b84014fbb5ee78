/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccnumbering: the packets of a path, numbered for its loss measure.
 *
 * number = extended sequence number (mccseq.h) - skipped. A number that is left out is a packet
 * that the network lost. Skipped are, so that they are no such loss:
 *  - gaps of an outage: MCC_NUMBERING_OUTAGE of silence, or in which our clock stood still (below);
 *  - gaps that the caller excuses;
 *  - as many packets as our own socket dropped in the second before;
 *  - jumps of the sequence numbers (RFC 3550 A.1: MAX_DROPOUT 3000, MAX_MISORDER 100), taken when
 *    two packets in sequence confirm them. A number behind the newest is late as a rule (another
 *    path's): those are a jump only when sent after the newest, or when none newer came for
 *    MCC_NUMBERING_RESTART (ours);
 *  - what lies between two streams that were spliced.
 *
 * Sent later - arrived later, of two packets, is at most the queue that the first one met: what is
 * beyond that our clock has missed, for it was suspended with us. Send times tell it modulo 64 s.
 * They are the sender's word: a jump of them within 10 s after another excuses nothing (ours), so
 * that who makes them jump is excused one gap in 10 s at most, and does not know before which.
 * Constant cost a packet.
 */
#pragma once

#include "mccseq.h"
#include "mcctypes.h"

#define MCC_NUMBERING_OUTAGE (2 * MCC_SECOND)
#define MCC_NUMBERING_RESTART (250 * MCC_MSECOND) /* longer than between two pictures */

typedef struct {
  MccSeq seq;
  uint64_t skipped;   /* numbers that the loss measure does not see */
  uint64_t first;     /* from which on just so many are skipped */
  uint64_t explained; /* ever: packets that were missing, and not lost by the network */
  uint64_t absorb;    /* host drops that the next gaps explain */
  MccTime absorb_until;
  MccTime last; /* newest packet; MCC_TIME_NONE before the first */
  bool splice;  /* the next packet is of another stream of the same sender */
  bool jumping;
  uint16_t jump_seq; /* confirms a jump */
  /* Of the packet with the highest number. */
  bool follows; /* it is the next one of that before it: nothing is missing, whoever lost it */
  bool stamped;
  uint32_t send_time;
  MccTime arrival;
  MccTime stood;  /* our clock seemed to have stood still; MCC_TIME_NONE: never */
  MccTime outage; /* the newest packet behind an outage, of which no gap counts; MCC_TIME_NONE */
} MccNumbering;

typedef struct {
  const MccRtpPacket *packet;
  MccTime now;
  MccTime arrival; /* in the socket, <= now */
  MccTime queue;   /* that the packet before met */
  bool excused;    /* a gap before this one is not the network's */
} MccNumberingInput;

void mcc_numbering_init (MccNumbering *self);
/* The packet's number, which is below an earlier one's where it is late. False: it is out of
 * sequence. */
bool mcc_numbering_handle_packet (
    MccNumbering *self, const MccNumberingInput *input, uint64_t *out);
void mcc_numbering_handle_host_dropped (MccNumbering *self, uint64_t packets, MccTime now);
/* Another stream follows: its numbers go on where the old ones ended. */
void mcc_numbering_splice (MccNumbering *self);
