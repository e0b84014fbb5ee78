/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccpicture: the picture that a stream of a given rate should have: a standard fraction of the
 * input's size, and one frame of so many.
 *
 * The choices form one chain from the whole input downwards: frame rates of 48 and more are halved
 * first (50, 60 to 25, 30), then the size goes down by fractions as long as MCC_PICTURE_AREA_MIN
 * pixels are left, then frames are left out as long as MCC_PICTURE_FPS_MIN are left. The first one
 * that needs no more than the stream's rate (the geometric mean of its bounds, since that is how a
 * rate varies between them) at MCC_PICTURE_BITS per pixel is taken, else the last.
 * Laws: a pure function of its arguments; width and height are even and never above the input's
 * (of an input below 2 x 2: the input's); the aspect ratio is kept but for that rounding; higher
 * bounds never give a smaller picture, nor fewer frames.
 *
 * Who looks at a picture sees another one begin, with a key unit: one that is watched goes with its
 * stream's bounds only when their mean has moved by more than MCC_PICTURE_STAY, up or down, against
 * that of the bounds it was chosen for. So no sequence of bounds within a factor of that changes it
 * twice.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Ours. 640 x 360 at 30/s with 0.7 Mb/s, 1280 x 720 with 2.8, 1920 x 1080 with 6.2: the ladders in
 * use for H.264 are of that kind. */
#define MCC_PICTURE_BITS 0.1
#define MCC_PICTURE_TOLERANCE 1.1  /* a rate just below does too */
#define MCC_PICTURE_AREA_MIN 48000 /* 320 x 180, 256 x 192 */
#define MCC_PICTURE_FPS_MIN 7.5
#define MCC_PICTURE_FPS_UNKNOWN 30.0 /* counts for 0/1 */
#define MCC_PICTURE_STAY 1.5         /* the chain's steps are 1.3 to 2.3 in pixels */

typedef struct {
  uint32_t width, height;
  uint32_t every; /* one frame of so many is kept; 1: all */
} MccPicture;

MccPicture mcc_picture_choose (uint32_t width, uint32_t height, uint32_t fps_n, uint32_t fps_d,
    uint64_t low_bps, uint64_t high_bps);
/* Whether a picture chosen for @from_low_bps to @from_high_bps is another one from now on, though
 * it is watched. */
bool mcc_picture_moves (
    uint64_t from_low_bps, uint64_t from_high_bps, uint64_t low_bps, uint64_t high_bps);
