/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmsequence: the packets of the layers that are received, numbered as one stream.
 *
 * Layers are sent side by side, so that the order of sending is not that of decoding, and none of
 * their own numbers says how many packets of other layers lie between. So the receiver numbers
 * (thesis 6.2.2: each layer has its own sequence space): a packet gets the next number, behind one
 * for each packet of its layer that is missing before it; one that comes late gets the number that
 * was left for it. Laws: of what comes, whatever is lost or swapped, no two packets have the same
 * number but copies of one; the numbers left out are as many as the packets missing. One packet
 * that is far off changes nothing; two in sequence are a new beginning (RFC 3550 A.1), but where
 * they lie behind only if they were sent after the newest one, or none newer came for
 * MCC_NUMBERING_RESTART (mccnumbering.h): else another path's, and late.
 */
#pragma once

#include "mccelmlayers.h"

/* More missing at once, in one layer, are far off (RFC 3550 A.1: MAX_DROPOUT). */
#define MCC_ELM_SEQUENCE_JUMP 3000
/* Ours: packets of a layer that may be late by as many. */
#define MCC_ELM_SEQUENCE_LATE 64

typedef struct {
  bool started, jumped;
  uint16_t jumped_to; /* what a second packet that agrees has */
  uint16_t highest;   /* of the layer's own numbers; the rest is of the packet that has it */
  bool stamped;
  uint32_t send_time;
  MccTime arrival;
  bool told; /* before the first one: what was sent of it, of its own numbers: */
  uint16_t told_first;
  MccTime missing_since; /* the first word of more than came; MCC_TIME_NONE: it comes */
  uint16_t given[MCC_ELM_SEQUENCE_LATE]; /* what the newest ones, by their own number, have here */
  unsigned known;                        /* ... as many */
} MccElmSequenceLayer;

typedef struct {
  uint16_t number; /* the newest */
  MccElmSequenceLayer layer[MCC_ELM_LAYERS_MAX];
} MccElmSequence;

void mcc_elm_sequence_init (MccElmSequence *self);
/* The layer begins anew with its next packet: what lies between is not missing. */
void mcc_elm_sequence_join (MccElmSequence *self, unsigned layer);
/* All do, after an outage, but @but, of which a packet has come; -1: all. */
void mcc_elm_sequence_restart (MccElmSequence *self, int but);
/* How many packets of @layer > 0 were sent since its newest one came, or, where none has since it
 * began, since the first such word of it, as @c of a packet of a lower layer says. *since: the
 * first word of any, while none comes; MCC_TIME_NONE. */
unsigned mcc_elm_sequence_missing (
    MccElmSequence *self, unsigned layer, const uint16_t *c, MccTime now, MccTime *since);
/* @c of @packet (mcclayerorder.h), whose layer is @layer. False: it is too late to have one, or far
 * off. */
bool mcc_elm_sequence_number (MccElmSequence *self, unsigned layer, const uint16_t *c,
    const MccRtpPacket *packet, MccTime now, uint16_t *out);
