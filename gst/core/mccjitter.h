/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccjitter: transit time, jitter and cumulative jitter of one path, from send times.
 *
 * D_i = (A_i - A_{i-1}) - (S_i - S_{i-1}) (ASMP eq. 4); J += (|D| - J)/16 (RFC 3550 6.4.1; ASMP
 * eq. 5 with the |.| it lacks); CJ_i = sum of D since the first packet = transit relative to the
 * first packet: it tracks the queue. Send times are 24-bit 6.18 abs-send-time (wraps every 64 s),
 * so differences are taken modulo 64 s. No common clock is needed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_ABS_SEND_TIME_BITS 24
#define MCC_ABS_SEND_TIME_MASK 0xffffffu

/* 24-bit 6.18 seconds of @time, modulo 64 s. */
uint32_t mcc_abs_send_time (MccTime time);
/* later - earlier in ns, modulo 64 s, in [-32 s, 32 s). */
MccTimeDelta mcc_abs_send_time_diff (uint32_t later, uint32_t earlier);

typedef struct {
  bool started, late; /* the newest packet was sent more than 1 s before the one before it */
  bool jumped; /* the newest packet was sent by another clock than those before it, or waited */
  uint32_t last_send; /* abs-send-time of the previous packet */
  MccTime last_arrival;
  MccTimeDelta origin;     /* arrival - transit where the sum of D starts, ns */
  int64_t sent_units;      /* send time since then, 2^-18 s */
  MccTimeDelta cumulative; /* CJ, ns, signed */
  double jitter_s;         /* J, seconds */
} MccJitter;

void mcc_jitter_init (MccJitter *self);
/* A packet with @send (24 bits) arrived. After a pause of more than 2 s in which D rises by more
 * than 1 s or falls by more than 10 s the sender's clock is another: it restarts without a jump. So
 * it does where two packets in a row were sent more than 1 s before others (our clock stood still,
 * or the sender's was put back); one alone is late, and says nothing. */
void mcc_jitter_handle_packet (MccJitter *self, uint32_t send, MccTime arrival);
