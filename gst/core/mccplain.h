/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccplain: what a plain player, one that knows RTCP only, says of a stream.
 */
#pragma once

#include "mcctime.h"

/* A report block of RTCP (RFC 3550 6.4.1). */
typedef struct {
  double fraction_lost; /* since the reporter's previous one, 0..1 */
  int32_t packets_lost; /* ever; duplicates count against it */
  uint32_t highest_seq; /* extended; 0 = unknown */
  MccTime rtt;          /* 0 = unknown */
} MccPlainReport;
