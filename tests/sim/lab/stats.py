# SPDX-License-Identifier: LGPL-2.1-or-later
"""Means over seeds with their 95 % confidence intervals (Student's t), and proportions with theirs
(Wilson)."""

import math
import statistics
from dataclasses import dataclass, field

# t(0.975, df) for df = 1 .. 30.
T975 = (
    (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
    + (2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860)
    + (2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423)
)
Z975 = 1.959964


def t975(df):
    if df <= len(T975):
        return T975[df - 1]
    z = Z975  # Cornish-Fisher (Abramowitz & Stegun 26.7.5)
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)


@dataclass
class Summary:
    """Of one measure in one variant. @values: by seed, None where there was none."""

    values: list = field(default_factory=list)
    mean: float = math.nan
    half: float = math.nan  # of the confidence interval; nan with one value
    count: int = 0
    never: int = 0  # values that were infinite, taken as the limit


def summarise(values, limit=math.nan):
    """@limit: what an infinite value (never) counts as."""
    known = [limit if math.isinf(value) else value for value in values if value is not None]
    out = Summary(list(values), count=len(known))
    out.never = sum(1 for value in values if value is not None and math.isinf(value))
    if known:
        out.mean = statistics.fmean(known)
    if len(known) > 1:
        out.half = t975(len(known) - 1) * statistics.stdev(known) / math.sqrt(len(known))
    return out


def apart(own, other):
    """Whether the means of two lists differ beyond what chance explains: Student's t-test at 5 %
    with the variance of both. Without variance, or of one value each, any difference is."""
    degrees = len(own) + len(other) - 2
    squares = sum((value - statistics.fmean(each)) ** 2 for each in (own, other) for value in each)
    difference = abs(statistics.fmean(own) - statistics.fmean(other))
    if degrees < 1:
        return difference > 0
    error = math.sqrt(squares / degrees * (1 / len(own) + 1 / len(other)))
    return difference > t975(degrees) * error


def paired(own, other):
    """Summary of the differences @own - @other, each a list of values by seed: runs of the same
    seed have the same hosts, delays, starts and clocks, so that much of what is chance goes."""
    pairs = zip(own, other, strict=True)
    return summarise([None if None in pair else pair[0] - pair[1] for pair in pairs])


def is_certain(difference):
    """Whether the interval of the difference leaves out zero; not without an interval."""
    return abs(difference.mean) > difference.half


def wilson(part, whole):
    """(low, high), 95 %, of the probability of what came in @part of @whole independent tries: from
    which p @part is within z. Of none or all of them, too, it says how much is left open."""
    share, square = part / whole, Z975**2 / whole
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)
