/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcccapacity: how fast the path was seen to carry packets, a lower bound of the bottleneck's
 * capacity (packet dispersion). Packets that arrive closer to each other than they would have left
 * a link of our received rate prove that the link is faster; where the queue stands all the same,
 * others have the rest of it.
 *
 * Laws: at most the capacity while host jitter stays below MCC_CAPACITY_JITTER, and where a host
 * stalls now and then: the median of what stretches of 250 ms proved counts; forgets after
 * MCC_CAPACITY_SPAN; constant cost a packet.
 */
#pragma once

#include <stdint.h>

#include "mcctime.h"

#define MCC_CAPACITY_PACKETS 256 /* of a train, at most; a power of 2 ... */
#define MCC_CAPACITY_STRIDE 32   /* ... and longer ones by each of so many packets ... */
#define MCC_CAPACITY_LONG (100 * MCC_MSECOND) /* ... that take no longer than this */
#define MCC_CAPACITY_BUCKETS 16
#define MCC_CAPACITY_SPAN (4 * MCC_SECOND)
#define MCC_CAPACITY_JITTER (10 * MCC_MSECOND)

typedef struct {
  MccTime time;
  uint64_t bytes; /* of all packets up to this one */
} MccCapacityPacket;

typedef struct {
  MccCapacityPacket packet[MCC_CAPACITY_PACKETS];
  MccCapacityPacket stride[MCC_CAPACITY_PACKETS]; /* the first of each stride */
  uint64_t packets;                               /* ever */
  struct {
    uint64_t index; /* time / its length */
    uint64_t bps;
  } bucket[MCC_CAPACITY_BUCKETS];
} MccCapacity;

void mcc_capacity_init (MccCapacity *self);
void mcc_capacity_handle_packet (MccCapacity *self, uint32_t bytes, MccTime now);
/* Bit/s, proven by trains that ended after @since, a bucket (250 ms) later at most; 0: nothing. A
 * train may have begun before @since. */
uint64_t mcc_capacity_proven_bps (const MccCapacity *self, MccTime since, MccTime now);
