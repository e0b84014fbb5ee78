/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccpicture.h"

#include <math.h>

#define FPS_HALVED 48.0 /* half of it is as fluent as film */

static const struct {
  uint32_t n, d;
} fractions[]
    = { { 1, 1 }, { 3, 4 }, { 2, 3 }, { 1, 2 }, { 3, 8 }, { 1, 3 }, { 1, 4 }, { 1, 6 }, { 1, 8 } };

#define FRACTIONS (sizeof fractions / sizeof fractions[0])

/* The even number next to @fraction of @length, not above it. */
static uint32_t
scale (uint32_t length, unsigned fraction)
{
  uint64_t n = fractions[fraction].n, d = fractions[fraction].d;
  uint64_t even = ((uint64_t)length * n + d) / (2 * d) * 2;

  if (even > length)
    even -= 2;
  return even < 2 ? (length < 2 ? length : 2) : (uint32_t)even;
}

static MccPicture
picture (uint32_t width, uint32_t height, unsigned fraction, uint32_t every)
{
  return (MccPicture){ scale (width, fraction), scale (height, fraction), every };
}

static double
area (const MccPicture *self)
{
  return (double)self->width * self->height;
}

/* How a rate varies between them. */
static double
mean_bps (uint64_t low_bps, uint64_t high_bps)
{
  return sqrt ((double)low_bps) * sqrt ((double)high_bps);
}

MccPicture
mcc_picture_choose (uint32_t width, uint32_t height, uint32_t fps_n, uint32_t fps_d,
    uint64_t low_bps, uint64_t high_bps)
{
  double fps = fps_n > 0 && fps_d > 0 ? (double)fps_n / fps_d : MCC_PICTURE_FPS_UNKNOWN;
  double pixels
      = MCC_PICTURE_TOLERANCE / MCC_PICTURE_BITS * mean_bps (low_bps, high_bps); /* a second */
  MccPicture now = picture (width, height, 0, 1);

  while (area (&now) * fps / now.every > pixels) {
    MccPicture next = now;
    if (fps / now.every >= FPS_HALVED) {
      now.every *= 2;
      continue;
    }
    for (unsigned f = 1; f < FRACTIONS && area (&next) >= area (&now); f++)
      next = picture (width, height, f, now.every);
    if (area (&next) < area (&now) && area (&next) >= MCC_PICTURE_AREA_MIN)
      now = next;
    else if (fps / (now.every + 1) >= MCC_PICTURE_FPS_MIN)
      now.every++;
    else
      break;
  }
  return now;
}

bool
mcc_picture_moves (
    uint64_t from_low_bps, uint64_t from_high_bps, uint64_t low_bps, uint64_t high_bps)
{
  double from = mean_bps (from_low_bps, from_high_bps), to = mean_bps (low_bps, high_bps);
  return to > MCC_PICTURE_STAY * from || from > MCC_PICTURE_STAY * to;
}
