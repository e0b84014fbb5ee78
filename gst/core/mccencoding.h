/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccencoding: what to ask of the encoder so that the wire rate follows the target.
 *
 *   encoder = pressure x target x payload share / overshoot
 *
 * payload share: encoder bytes / wire bytes of the stream (headers of RTP, UDP, IP), measured.
 * overshoot: encoder bytes produced / asked over the last second, when the encoder overshoots
 * steadily; a correction in [0.5, 1.1], moved at most 10 % a second, so that an encoder that
 * produces less than asked (easy content) is not driven up. A fall of the target is passed on at
 * once; rises of less than 2 % wait until 250 ms have passed since the last change.
 */
#pragma once

#include <stdbool.h>

#include "mccmeter.h"

typedef struct {
  uint64_t target_bps;
  uint64_t asked_bps; /* last value given out */
  MccTime asked_time;
  double payload_share;
  double correction;
  MccTime correction_time;
  MccMeter wire, payload;
} MccEncoding;

void mcc_encoding_init (MccEncoding *self);
/* One packet entered the pacer: @wire_bytes IP bytes, @payload_bytes RTP payload bytes. */
void mcc_encoding_handle_packet (
    MccEncoding *self, uint32_t wire_bytes, uint32_t payload_bytes, MccTime now);
/* Returns true when the encoder should get *out_bps now. @pressure: mcc_pacer_pressure(). */
bool mcc_encoding_update (
    MccEncoding *self, uint64_t target_bps, double pressure, MccTime now, uint64_t *out_bps);
