/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsource: which sender a receiver follows.
 *
 * Laws:
 *  - Nobody is followed before two packets in sequence (RFC 3550 A.1, MIN_SEQUENTIAL), or one
 *    packet of an SSRC that an announcement named.
 *  - With @wanted, nobody but that SSRC is ever followed.
 *  - Another sender takes over only when the present one was silent for @timeout, said BYE, or
 *    restarted: the new one is on the same host, was first heard after the present one's last
 *    packet, and that is MCC_ASMP_SOURCE_RESTART or 3 packet intervals ago.
 *  - Packets with its SSRC from another host are another sender's, as long as it is heard itself.
 *  - Before a packet of it has come, those from another host than the one that describes it
 *    (_set_host()) are another sender's, for MCC_ASMP_SOURCE_MOVED after that one was heard.
 *  - Packets that are read in the MCC_ASMP_SOURCE_BYE_GRACE after a BYE do not undo it: they
 *    overtook each other in two sockets.
 *  - At most MCC_ASMP_SOURCE_TOLD other senders are told of, each once.
 */
#pragma once

#include "mcctypes.h"

#define MCC_ASMP_SOURCE_CANDIDATES 4
#define MCC_ASMP_SOURCE_TOLD 8
#define MCC_ASMP_SOURCE_RESTART (250 * MCC_MSECOND) /* longer than between two pictures */
#define MCC_ASMP_SOURCE_BYE_GRACE MCC_SECOND
#define MCC_ASMP_SOURCE_MOVED (15 * MCC_SECOND)

typedef enum {
  MCC_SOURCE_OURS,     /* of the sender we follow */
  MCC_SOURCE_NEW,      /* of a sender that we follow from this packet on */
  MCC_SOURCE_WAIT,     /* may become ours: not enough packets yet */
  MCC_SOURCE_OTHER,    /* not ours */
  MCC_SOURCE_OTHER_NEW /* not ours, and not told of before */
} MccSourceVerdict;

typedef struct {
  uint32_t wanted; /* 0 = any */
  MccTime timeout;
  bool following;
  bool lost;   /* said BYE or fell silent: free for another */
  MccTime bye; /* when it said BYE; MCC_TIME_NONE */
  uint32_t ssrc;
  bool has_address;
  MccAddress address;
  bool has_host;
  MccAddress host; /* of all its streams, whichever is followed */
  MccTime host_heard;
  MccTime last;     /* newest packet; MCC_TIME_NONE */
  MccTime interval; /* smoothed time between packets */
  struct {
    bool used, announced, has_seq;
    uint32_t ssrc;
    uint16_t seq;
    MccTime first, time;
  } candidate[MCC_ASMP_SOURCE_CANDIDATES];
  uint32_t told[MCC_ASMP_SOURCE_TOLD];
  unsigned told_count;
} MccAsmpSource;

void mcc_asmp_source_init (MccAsmpSource *self, uint32_t wanted, MccTime timeout);
/* Another stream of the same sender. */
void mcc_asmp_source_next (MccAsmpSource *self, uint32_t wanted, MccTime timeout);
/* The sender described itself from there. */
void mcc_asmp_source_set_host (MccAsmpSource *self, const MccAddress *host, MccTime now);
/* Not there: of somebody else, whatever SSRC it has. */
bool mcc_asmp_source_is_elsewhere (const MccAsmpSource *self, const MccAddress *from, MccTime now);
MccSourceVerdict mcc_asmp_source_handle_packet (
    MccAsmpSource *self, const MccRtpPacket *packet, const MccAddress *from, MccTime now);
/* A sender announced that its stream has @ssrc. */
void mcc_asmp_source_handle_announced (MccAsmpSource *self, uint32_t ssrc, MccTime now);
/* True when that was the sender we follow. */
bool mcc_asmp_source_handle_bye (MccAsmpSource *self, uint32_t ssrc, MccTime now);
/* True once when the sender we follow has become silent. */
bool mcc_asmp_source_handle_timeout (MccAsmpSource *self, MccTime now);
/* We were absent: silence counts from @now on. */
void mcc_asmp_source_excuse (MccAsmpSource *self, MccTime now);
MccTime mcc_asmp_source_next_timeout (const MccAsmpSource *self);
/* Whether @ssrc may be told of as another sender: once each. */
bool mcc_asmp_source_tell (MccAsmpSource *self, uint32_t ssrc);
