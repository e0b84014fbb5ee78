/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcctypes: what hosts and protocol machines exchange.
 *
 * Rates are bit/s on the wire (IP, UDP and RTP headers included), sizes IP bytes, times MccTime.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mcctime.h"

typedef enum {
  MCC_VARIANT_PUBLISHED, /* the papers' equations, constants included */
  MCC_VARIANT_ENHANCED
} MccVariant;

/* A transport address, compared bytewise: family 4 or 6 (0 = none), unused bytes zero. */
typedef struct {
  uint8_t family;
  uint8_t reserved;
  uint16_t port; /* host order */
  uint8_t bytes[16];
} MccAddress;

static inline bool
mcc_address_equal (const MccAddress *a, const MccAddress *b)
{
  return memcmp (a, b, sizeof *a) == 0;
}

/* The same but for the port. */
static inline bool
mcc_address_same_host (const MccAddress *a, const MccAddress *b)
{
  return a->family == b->family && memcmp (a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* Of its bytes those that are its holder's by the network's word: who has one IPv6 address has the
 * whole /64 (but for IPv4 in IPv6, RFC 4291 2.5.5.2). */
static inline unsigned
mcc_address_site_bytes (const MccAddress *self)
{
  static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
  return self->family == 6 && memcmp (self->bytes, mapped, sizeof mapped) != 0 ? 8 : 16;
}

/* Whether one host may have both: where many names shall not help it. */
static inline bool
mcc_address_same_site (const MccAddress *a, const MccAddress *b)
{
  unsigned bytes = mcc_address_site_bytes (a);
  return a->family == b->family && bytes == mcc_address_site_bytes (b)
         && memcmp (a->bytes, b->bytes, bytes) == 0;
}

/* The two bits of the IP header (RFC 3168 5); 0 also where the host cannot tell. */
typedef enum {
  MCC_ECN_NOT_ECT = 0,
  MCC_ECN_ECT1 = 1,
  MCC_ECN_ECT0 = 2, /* what our senders send */
  MCC_ECN_CE = 3    /* marked: a queue met congestion */
} MccEcn;

/* An RTP packet as the receiving core sees it. */
typedef struct {
  uint32_t ssrc;
  uint16_t seq;
  uint32_t bytes; /* IP bytes, headers included */
  bool has_send_time;
  uint32_t send_time; /* abs-send-time, 24 bits */
  MccEcn ecn;         /* as it arrived */
  MccTime waited;     /* in the socket, until we were told; 0: not known */
} MccRtpPacket;

/* Why something from the network was not used. One counter each; the names (mcc_drop_name) are
 * the `dropped-<reason>` fields of the elements' stats. */
typedef enum {
  MCC_DROP_NONE,      /* accepted */
  MCC_DROP_MALFORMED, /* not a valid compound or wrong lengths */
  MCC_DROP_UNKNOWN_NAME,
  MCC_DROP_UNKNOWN_SUBTYPE,
  MCC_DROP_UNKNOWN_VERSION,
  MCC_DROP_SSRC_MISMATCH, /* APP SSRC is not the SSRC of the compound's RR or SR */
  MCC_DROP_BAD_VALUE,     /* not finite, out of its range */
  MCC_DROP_STALE,         /* report or announcement number not newer */
  MCC_DROP_RATE_LIMITED,  /* per-source token bucket */
  MCC_DROP_TABLE_FULL,    /* max-receivers */
  MCC_DROP_ADDRESS,       /* known SSRC from another address, on probation; BYE that matches none */
  MCC_DROP_PROBATION,     /* first report(s) of a new receiver */
  MCC_DROP_OTHER_SENDER,  /* RTP or RTCP of a sender that is not ours */
  MCC_DROP_OWN,           /* our own packet looped back */
  MCC_DROP_UNAUTHENTIC,   /* SRTP: not from who has the key, or cannot be read without it */
  MCC_DROP_REPLAYED,      /* SRTP: authentic, but it was here before */
  MCC_DROP_COUNT
} MccDrop;

const char *mcc_drop_name (MccDrop drop);
