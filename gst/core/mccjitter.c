/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccjitter.h"

#include <math.h>
#include <string.h>

#define FRACTION_BITS 18                          /* 6.18 fixed point */
#define WRAP (UINT64_C (64) * MCC_SECOND)         /* 6 bits of seconds */
#define PAUSE (2 * MCC_SECOND)                    /* behind it the sender's clock may be another: */
#define RISE_MAX ((MccTimeDelta)(1 * MCC_SECOND)) /* no queue grows so while nothing is sent */
#define FALL_MAX ((MccTimeDelta)(10 * MCC_SECOND)) /* none was so long */
#define GAIN (1.0 / 16.0)                          /* RFC 3550 6.4.1 */

uint32_t
mcc_abs_send_time (MccTime time)
{
  return (uint32_t)(((time % WRAP) << FRACTION_BITS) / MCC_SECOND);
}

/* later - earlier in units of 2^-18 s, modulo 64 s. */
static int32_t
diff_units (uint32_t later, uint32_t earlier)
{
  int32_t units = (int32_t)((later - earlier) & MCC_ABS_SEND_TIME_MASK);

  return units < 1 << (MCC_ABS_SEND_TIME_BITS - 1) ? units : units - (1 << MCC_ABS_SEND_TIME_BITS);
}

/* Rounded down, the seconds apart so that nothing overflows. */
static MccTimeDelta
units_to_ns (int64_t units)
{
  int64_t seconds = units / (1 << FRACTION_BITS);
  int64_t rest = units % (1 << FRACTION_BITS);

  if (rest < 0) {
    rest += 1 << FRACTION_BITS;
    seconds--;
  }
  return seconds * (int64_t)MCC_SECOND + rest * (int64_t)MCC_SECOND / (1 << FRACTION_BITS);
}

MccTimeDelta
mcc_abs_send_time_diff (uint32_t later, uint32_t earlier)
{
  return units_to_ns (diff_units (later, earlier));
}

void
mcc_jitter_init (MccJitter *self)
{
  memset (self, 0, sizeof *self);
}

/* Send time since the previous packet, with as many whole wraps as make D the smallest. */
static int64_t
sent_since (const MccJitter *self, uint32_t send, MccTime arrival)
{
  int64_t units = diff_units (send, self->last_send);
  MccTimeDelta d = (MccTimeDelta)(arrival - self->last_arrival) - units_to_ns (units);
  MccTimeDelta half = (MccTimeDelta)(WRAP / 2);

  return units + (d + half) / (MccTimeDelta)WRAP * (1 << MCC_ABS_SEND_TIME_BITS);
}

static bool
clock_jumped (const MccJitter *self, int64_t units, MccTime arrival)
{
  MccTimeDelta gap = (MccTimeDelta)(arrival - self->last_arrival);
  MccTimeDelta d = gap - units_to_ns (units);

  return gap > (MccTimeDelta)PAUSE && (d > RISE_MAX || d < -FALL_MAX);
}

/* No queue grows faster than time passes: an old packet, or, if the next one is so, too, our own
 * clock has stood still. */
static bool
is_too_late (int64_t units)
{
  return -units_to_ns (units) > RISE_MAX;
}

void
mcc_jitter_handle_packet (MccJitter *self, uint32_t send, MccTime arrival)
{
  send &= MCC_ABS_SEND_TIME_MASK;
  int64_t units = self->started ? sent_since (self, send, arrival) : 0;
  bool jumped = self->started && clock_jumped (self, units, arrival);
  self->jumped = jumped;
  bool late = self->started && !jumped && is_too_late (units), again = self->late;
  self->late = late && !again;
  if (self->late)
    return;
  if (!self->started || jumped || late) {
    /* CJ goes on from where it was. */
    self->origin = (MccTimeDelta)arrival - self->cumulative;
    self->sent_units = 0;
    self->started = true;
  } else {
    MccTimeDelta before = self->cumulative;

    /* The sum of D from its ends: rounding each D would add a skew of up to 1 ppm. */
    self->sent_units += units;
    self->cumulative = (MccTimeDelta)arrival - self->origin - units_to_ns (self->sent_units);
    self->jitter_s += GAIN * (fabs ((double)(self->cumulative - before) * 1e-9) - self->jitter_s);
  }
  self->last_send = send;
  self->last_arrival = arrival;
}
