/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccencoding: what to ask of the encoder so that the wire rate follows the target.
 *
 *   encoder = pressure x (target - headers) / overshoot
 *
 * headers: of RTP, UDP and IP; wire bytes less encoder bytes, measured over the last 2 s. Below
 * what is sent they shrink with the target; what the target has above that comes in full packets
 * (the largest seen), for a picture that asks for more fills them. As a share of the bytes alone,
 * the headers of nearly empty packets (easy content) would be taken off a target that is not used,
 * the encoder would get less, its packets would get emptier, and the rate would never rise again.
 * overshoot: encoder bytes produced / asked over the last 2 s (a usual key-frame interval, so that
 * key frames do not swing it). 1/overshoot is a correction in [0.5, 1.1], moved at most 10 % a
 * second. An encoder that produces far less than asked (below 1/1.1) has easy content, which says
 * nothing about the encoder: the correction goes to 1, upwards at 2 % a second, so that it is not
 * driven up. A fall of the target is passed on at once, other changes of 2 % as well; smaller ones
 * wait until 250 ms have passed since the last change.
 *
 * To be called with every frame, and when the target changes.
 */
#pragma once

#include <stdbool.h>

#include "mccmeter.h"

typedef struct {
  uint64_t target_bps;
  uint64_t asked_bps; /* last value given out */
  MccTime asked_time;
  double wire_bps, headers_bps;      /* as last measured; 0 before */
  uint32_t full_bytes, full_headers; /* of the largest packet: wire bytes, and without payload */
  double correction;
  MccTime correction_time;
  MccMeter wire, payload, asked;
  MccTime counted;   /* what was asked is counted up to here; MCC_TIME_NONE before packets */
  double asked_bits; /* counted since the last packet, not in the meter yet */
} MccEncoding;

void mcc_encoding_init (MccEncoding *self);
/* One packet entered the pacer: @wire_bytes IP bytes, @payload_bytes RTP payload bytes. */
void mcc_encoding_handle_packet (
    MccEncoding *self, uint32_t wire_bytes, uint32_t payload_bytes, MccTime now);
/* Returns true when the encoder should get *out_bps now. @pressure: mcc_pacer_pressure(). */
bool mcc_encoding_update (
    MccEncoding *self, uint64_t target_bps, double pressure, MccTime now, uint64_t *out_bps);
