/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspapp: codec of ASSP's RTCP APP packets, name "ASSP". The layout, byte by byte, is
 * docs/wire-format.md.
 *
 * Reports, RTT lists and announcements are ASMP's (mccapp.h), of one stream: a byte that is
 * reserved there says which. All of them go to one group, so that byte alone tells whom they
 * concern. The fourth kind describes all streams. The laws are mccapp.h's.
 */
#pragma once

#include "mccapp.h"

#define MCC_ASSP_NAME "ASSP"
#define MCC_ASSP_STREAMS 4 /* subtype: sender -> group, all streams */
#define MCC_ASSP_STREAMS_MAX 8
#define MCC_ASSP_REPORT_BYTES 72 /* ASMP's, and the potential; without: it is not known */

/* MccAsspStreams.flags */
#define MCC_ASSP_DECIDE 0x01u /* the papers' J_flag: receivers decide now, once for this round */

/* MccAsspStream.flags */
#define MCC_ASSP_RUNNING 0x01u /* media is sent; else its encoder idles until somebody reports */
#define MCC_ASSP_CLOSED                                                                            \
  0x02u /* not in the ladder now: nobody joins, who is in it goes elsewhere                        \
         */

typedef struct {
  uint64_t low_bps, high_bps; /* 0 < low <= high; those of open streams do not overlap */
  uint64_t average_bps;       /* avg_tx over the last round (eq. 5) */
  uint16_t address_offset;    /* to the address of the RTCP group, not 0: nobody leaves that */
  uint16_t port_offset;       /* to the even port below RTCP's; even */
  uint32_t flags;             /* 8 bits */
  uint32_t ssrc;              /* of its RTP and announcements, 0 = it has not begun */
} MccAsspStream;

/* All streams (subtype 4). A stream keeps its place here, whatever its bounds become: which one is
 * lower than which is said by the bounds alone. At least one is open. */
typedef struct {
  uint32_t number; /* +1 each description sent, wraps */
  uint32_t flags;  /* 8 bits */
  uint32_t round;  /* +1 each, the same in all descriptions of a round */
  uint16_t ladder; /* +1 when streams or bounds change */
  unsigned count;  /* 1..MCC_ASSP_STREAMS_MAX */
  MccAsspStream stream[MCC_ASSP_STREAMS_MAX];
} MccAsspStreams;

typedef struct {
  uint32_t ssrc; /* of the APP packet */
  unsigned subtype;
  unsigned stream; /* subtypes 1 to 3: which one it is about */
  union {
    MccApp asmp; /* subtypes 1 to 3; its ssrc and subtype are the same */
    MccAsspStreams streams;
  };
} MccAsspApp;

/* Decodes one whole APP packet; see mcc_app_decode(). */
MccDrop mcc_assp_app_decode (const uint8_t *data, size_t size, MccAsspApp *out);
/* Bytes that encoding needs, a multiple of 4; 0 when it cannot be encoded. */
size_t mcc_assp_app_size (const MccAsspApp *app);
/* Writes the packet; returns its bytes, 0 when @size is too small or a field is out of range. */
size_t mcc_assp_app_encode (const MccAsspApp *app, uint8_t *data, size_t size);
/* Whether the streams do not overlap, in bounds, ports and addresses, and one is open. */
bool mcc_assp_streams_valid (const MccAsspStreams *streams);
/* Whether @ssrc is one of theirs; 0 is nobody's. */
bool mcc_assp_streams_list (const MccAsspStreams *streams, uint32_t ssrc);

/* The ladder: open streams by their bounds. All O(count). */
bool mcc_assp_streams_open (const MccAsspStreams *streams, unsigned stream);
/* Whether @a's bounds are lower; of equal ones the first is. */
bool mcc_assp_streams_lower (const MccAsspStreams *streams, unsigned a, unsigned b);
unsigned mcc_assp_streams_lowest (const MccAsspStreams *streams);
/* The next open one above, or below; MCC_ASSP_STREAMS_MAX: none. @stream may be closed. */
unsigned mcc_assp_streams_above (const MccAsspStreams *streams, unsigned stream);
unsigned mcc_assp_streams_below (const MccAsspStreams *streams, unsigned stream);
/* The highest open one whose lower bound @bps reaches, else the lowest. */
unsigned mcc_assp_streams_place (const MccAsspStreams *streams, double bps);
