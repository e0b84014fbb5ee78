/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emured: Random Early Detection (Floyd and Jacobson 1993), in the form of ns-2 and ns-3, so that
 * the laboratory's RED and ours are one: `gentle`, and spread by `wait`.
 *
 * Laws, with q the queue in packets (or bytes) that a packet finds:
 *  - avg <- (1 - w) avg + w q on each arrival. When the link was idle for as long as m packets of
 *    1000 bytes take, avg <- (1 - w)^m avg before that.
 *  - avg < min, or at most one packet waits: it passes.
 *  - else it is picked with p_a, from p_b and the number n of packets since the last one picked (in
 *    bytes: by 1000): p_b = max_p (avg - min) / (max - min) up to max, then (gentle)
 *    max_p + (1 - max_p) (avg - max) / max up to 2 max; p_a = 0 while n p_b < 1,
 *    p_b / (2 - n p_b) while n p_b < 2, then 1: gaps are uniform between 1 / p_b and 2 / p_b. In
 *    bytes p_a counts by the packet's size. The first one after avg has passed min passes.
 *  - avg >= 2 max (max, when not gentle): all are dropped, also where packets are marked.
 */
#pragma once

#include "emutypes.h"

#define EMU_RED_MEAN_BYTES 1000

typedef struct {
  double min; /* max 0: no RED */
  double max;
  double max_p;
  double weight;
  bool in_bytes; /* min and max are */
  bool gentle;
  bool ecn; /* ECN-capable packets are marked where others are dropped */
} EmuRedConfig;

typedef struct {
  double average;
  uint32_t count; /* since the last one picked */
  uint64_t count_bytes;
  bool above; /* min, at the last arrival */
} EmuRed;

typedef enum { EMU_RED_PASS, EMU_RED_PICK, EMU_RED_DROP } EmuRedVerdict;

/* @queued: packets or bytes, by in_bytes; @waiting: packets; @idle_s: how long the link had
 * nothing, 0 when it has. */
EmuRedVerdict emu_red_arrive (EmuRed *self, const EmuRedConfig *config, double queued,
    uint32_t waiting, uint32_t bytes, double idle_s, double rate_bps, EmuRng *rng);
