/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcctime: time is an argument.
 *
 * Every time in the core is an MccTime: nanoseconds of one monotonic clock whose epoch the host
 * chooses. The core never reads a clock. MCC_TIME_NONE means "no such time" (no time-out, never
 * seen); it compares greater than every time.
 */
#pragma once

#include <stdint.h>

typedef uint64_t MccTime;     /* ns */
typedef int64_t MccTimeDelta; /* ns */

#define MCC_TIME_NONE UINT64_MAX
#define MCC_USECOND UINT64_C (1000)
#define MCC_MSECOND UINT64_C (1000000)
#define MCC_SECOND UINT64_C (1000000000)

/* Seconds as a double, for formulas. */
static inline double
mcc_time_to_seconds (MccTime time)
{
  return (double)time * 1e-9;
}

/* ns from seconds; negative and NaN give 0, what does not fit gives MCC_TIME_NONE - 1. */
static inline MccTime
mcc_time_from_seconds (double seconds)
{
  if (!(seconds > 0.0))
    return 0;
  if (seconds >= 1.8e10)
    return MCC_TIME_NONE - 1;
  return (MccTime)(seconds * 1e9);
}

/* A host that is called back so much later than it asked for stood still (stopped, suspended): what
 * was silent in between was not, and what comes next has waited in sockets. Ours. */
#define MCC_TIME_ABSENCE (500 * MCC_MSECOND)

/* Whether the host was absent: its last call was at @last, and @due was when it wanted to call. */
static inline int
mcc_time_absent (MccTime last, MccTime due, MccTime now)
{
  return now - last >= MCC_TIME_ABSENCE && due <= now - MCC_TIME_ABSENCE;
}

static inline MccTime
mcc_time_min (MccTime a, MccTime b)
{
  return a < b ? a : b;
}

static inline MccTime
mcc_time_max (MccTime a, MccTime b)
{
  return a > b ? a : b;
}

static inline MccTime
mcc_time_clamp (MccTime time, MccTime low, MccTime high)
{
  return time < low ? low : time > high ? high : time;
}
