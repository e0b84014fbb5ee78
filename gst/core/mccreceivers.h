/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccreceivers: the sender's table of receivers, keyed by (SSRC, address).
 *
 * Laws:
 *  - Finding costs O(1) on average: a hash with a secret seed, so that nobody can choose SSRCs
 *    that collide. Entries with one SSRC are few: adding a further one beyond
 *    MCC_RECEIVERS_PER_SSRC fails.
 *  - Each order (rate, expiry, RTT, answer) is a binary heap over all entries: the first is found
 * in O(1), a changed key costs O(log n).
 *  - The lists (new, unproven) are intrusive: append, unlink and head in O(1).
 *  - MCC_RECEIVERS_COST bytes an entry at most, <= 256; memory grows by doubling, is kept, and
 *    never holds more than `max` entries.
 * A pointer to an entry is valid until the next add.
 */
#pragma once

#include "mcctypes.h"

#define MCC_RECEIVERS_NONE UINT32_MAX /* no slot */
#define MCC_RECEIVERS_NO_KEY UINT64_MAX
#define MCC_RECEIVERS_PER_SSRC 4 /* one active, a few that contend with it */
#define MCC_RECEIVERS_HISTORY 8  /* report intervals of a plain player, ASMP eq. 2 */

typedef enum {
  MCC_ORDER_RATE,   /* key: limit in bit/s; NO_KEY = does not limit */
  MCC_ORDER_EXPIRY, /* key: MccTime */
  MCC_ORDER_RTT,    /* key: UINT64_MAX - RTT: the largest RTT is first */
  MCC_ORDER_ANSWER, /* key: `answered`; NO_KEY = no newer RTT is known */
  MCC_ORDER_COUNT
} MccReceiversOrder;

typedef enum {
  MCC_LIST_NEW,      /* RTT measured, never sent; oldest first */
  MCC_LIST_UNPROVEN, /* nobody has seen that they hear us; oldest first */
  MCC_LIST_COUNT
} MccReceiversList;

typedef struct {
  uint64_t key[MCC_ORDER_COUNT];
  uint64_t rate_bps;
  union {
    struct {
      uint64_t received_bps, potential_bps;
    };
    struct {                           /* plain */
      MccTime plain_since;             /* end of the newest interval */
      float plain_packets, plain_lost; /* expected since then, of those lost */
    };
  };
  MccTime since; /* it came, no two at once */
  MccTime last_report;
  MccTime progress;  /* its highest_seq went on, or nothing was sent */
  uint64_t answered; /* its RTT was the so many-th to be sent; 0 = never */
  uint32_t position[MCC_ORDER_COUNT];
  uint32_t next[MCC_LIST_COUNT], previous[MCC_LIST_COUNT];
  uint32_t ssrc;
  MccAddress address;
  uint32_t highest_seq;                    /* as reported */
  float contradicted_s, pinned_s, below_s; /* mccasmpsendertrust.c */
  float pinned_bps;
  uint32_t number;    /* newest report */
  uint32_t candidate; /* newest report of what may be a restart */
  uint32_t effective_number;
  uint32_t effective_us; /* RTT_eff of report effective_number; 0 = none */
  uint32_t rtt_us;       /* as reported; 0 = unknown */
  uint32_t jitter_us;
  uint32_t interval_us; /* smoothed spacing of reports; 0 = one report only */
  float loss_ratio;
  uint16_t fraction[MCC_RECEIVERS_HISTORY]; /* plain: loss of an interval, 2^-16 */
  uint8_t fractions;                        /* ever added, saturates */
  uint8_t state;                            /* MccReceiverState */
  uint8_t reports;                          /* valid ones, saturates */
  uint8_t level;                            /* ELM */
  bool in_list[MCC_LIST_COUNT];
  uint8_t marked_share; /* of loss_ratio, 255ths */
  uint8_t quarantine;   /* MccQuarantine */
  uint8_t stuck;        /* reports since `progress`, saturates */
  bool deaf : 1;        /* does not heed ECN marks, or its path's say nothing */
  bool has_candidate : 1, no_limit : 1, rtt_measured : 1, plain : 1, leaving : 1, no_caps : 1;
  bool proven : 1;    /* active, or has echoed a send time of lately: it hears us */
  bool hears : 1;     /* has named our media's SSRC, or counts in another stream of ours */
  bool stranger : 1;  /* unproven, and came without a word about our media */
  bool queueless : 1; /* reports no queue and no congestion */
  bool pairs : 1;     /* asks for packets that leave together */
} MccReceiver;

typedef struct {
  uint32_t count, max, capacity;
  uint32_t hash_mask;
  uint64_t seed, multiplier;
  uint32_t free; /* slots without an entry, chained by next[0] */
  MccReceiver *slot;
  uint32_t *hash; /* slot or NONE; open addressing */
  uint32_t *heap[MCC_ORDER_COUNT];
  uint32_t head[MCC_LIST_COUNT], tail[MCC_LIST_COUNT];
} MccReceivers;

#define MCC_RECEIVERS_COST (sizeof (MccReceiver) + (4 + MCC_ORDER_COUNT) * sizeof (uint32_t))
_Static_assert(MCC_RECEIVERS_COST <= 256, "a receiver costs at most 256 bytes");

void mcc_receivers_init (MccReceivers *self, uint32_t max, uint64_t seed);
void mcc_receivers_clear (MccReceivers *self);

MccReceiver *mcc_receivers_find (
    const MccReceivers *self, uint32_t ssrc, const MccAddress *address);
/* Entries with @ssrc, whatever their address; at most MCC_RECEIVERS_PER_SSRC. */
unsigned mcc_receivers_find_ssrc (
    const MccReceivers *self, uint32_t ssrc, MccReceiver *out[MCC_RECEIVERS_PER_SSRC]);
/* A new entry, zeroed, without keys and in no list; NULL when the table is full, when the SSRC has
 * its share already, or when memory is short. */
MccReceiver *mcc_receivers_add (MccReceivers *self, uint32_t ssrc, const MccAddress *address);
void mcc_receivers_remove (MccReceivers *self, MccReceiver *receiver);

void mcc_receivers_set_key (
    MccReceivers *self, MccReceiver *receiver, MccReceiversOrder order, uint64_t key);
/* The entry with the smallest key; NULL when the table is empty. */
MccReceiver *mcc_receivers_first (const MccReceivers *self, MccReceiversOrder order);
/* Entry @i of @order's heap, i < count: each entry once, in no useful sequence. */
MccReceiver *mcc_receivers_get (const MccReceivers *self, MccReceiversOrder order, uint32_t i);

/* Moves the entry to the end of @list. */
void mcc_receivers_append (MccReceivers *self, MccReceiver *receiver, MccReceiversList list);
void mcc_receivers_unlink (MccReceivers *self, MccReceiver *receiver, MccReceiversList list);
MccReceiver *mcc_receivers_head (const MccReceivers *self, MccReceiversList list);

static inline uint32_t
mcc_receivers_slot (const MccReceivers *self, const MccReceiver *receiver)
{
  return (uint32_t)(receiver - self->slot);
}
