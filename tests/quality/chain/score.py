# SPDX-License-Identifier: LGPL-2.1-or-later
"""From frames to figures: MOS by the papers' table, frame loss, percentiles."""

import bisect

import numpy

# ASSP 2010, table 2; its gaps (30-31, 24-25 dB) go to the better side's neighbour as in
# shared tables: > 37 dB 5, 31-37 4, 25-31 3, 20-25 2, < 20 1.
MOS_BOUNDS = (20.0, 25.0, 31.0, 37.0)
PERCENTILES = (5, 25, 50, 75, 95)


def mos(psnr):
    """1..5 of a PSNR in dB; 37 dB is the most that still is 4."""
    if psnr > MOS_BOUNDS[-1]:
        return 5
    return 1 + bisect.bisect_right(MOS_BOUNDS[:-1], psnr)


def summary(values):
    """Mean, percentiles, lowest; of nothing: None."""
    if not len(values):
        return None
    array = numpy.asarray(values, dtype=float)
    out = {"mean": float(array.mean()), "min": float(array.min())}
    for percent, value in zip(PERCENTILES, numpy.percentile(array, PERCENTILES), strict=True):
        out[f"p{percent}"] = float(value)
    return out


def longest(flags):
    """Frames of the longest run of true."""
    most = now = 0
    for flag in flags:
        now = now + 1 if flag else 0
        most = max(most, now)
    return most


def ratio(part, whole):
    return part / whole if whole else 0.0
