# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers with units, as scenario files write them and tables show them; SI inside."""

import math
import re

NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*)", re.S)

# unit -> (multiply by, divide by): division keeps 25 ms at 0.025 exactly as Python reads it.
DIMENSIONS = {
    "time": {"s": (1, 1), "ms": (1, 1000), "min": (60, 1)},
    "rate": {"b/s": (1, 1), "kb/s": (1000, 1), "Mb/s": (10**6, 1), "Gb/s": (10**9, 1)},
    "size": {"B": (1, 1), "kB": (1000, 1), "MB": (10**6, 1)},
    "ratio": {"%": (1, 100)},
    "number": {"": (1, 1)},
    "queue": {
        "packets": (1, 1),
        "packet": (1, 1),
        "B": (1, 1),
        "kB": (1000, 1),
        "MB": (10**6, 1),
        "bdp": (1, 1),
    },
}
EXAMPLES = {
    "time": "a time such as '30 s', '5 ms' or '2 min'",
    "rate": "a rate such as '6.5 Mb/s' (b/s, kb/s, Mb/s, Gb/s)",
    "size": "a size such as '1000 B' (B, kB, MB)",
    "ratio": "a percentage such as '1 %'",
    "number": "a plain number",
    "queue": "'50 packets', '60 kB' or '1 bdp'",
}


class UnitError(ValueError):
    """The text is not what was asked for; says what is wrong and what is allowed."""


def split(text, dimension):
    """(number, unit) of @text, or UnitError."""
    match = NUMBER.fullmatch(text.strip())
    allowed = EXAMPLES[dimension]
    if not match:
        raise UnitError(f"'{text}' is not a number; {allowed} is allowed")
    number, unit = float(match.group(1)), match.group(2).strip()
    if not math.isfinite(number):
        raise UnitError(f"'{text}' is too large; {allowed} is allowed")
    if unit not in DIMENSIONS[dimension]:
        wrong = f"has the unit '{unit}'" if unit else "has no unit"
        raise UnitError(f"'{text}' {wrong}; {allowed} is allowed")
    return number, unit


def parse(text, dimension):
    """SI value of @text."""
    number, unit = split(text, dimension)
    times, by = DIMENSIONS[dimension][unit]
    return number * times / by


def plain(value):
    """An int where nothing is lost by it: JSON that C++ reads as a count."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def significant(value, digits=3, most=4):
    """'1230', '12.3', '0.120', '0' below @most decimals: never an exponent."""
    if abs(value) < 0.5 * 10**-most:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(decimals, most)}f}"


def given(value, dimension):
    """@value as a file would write it: up to four digits, no zeros at the end."""
    number, space, unit = show(value, dimension, 4).partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number + space + unit


def show(value, dimension, digits=3):
    """@value for people."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "never"
    if dimension == "ratio":
        return f"{significant(100 * value, digits)} %"
    if dimension == "rate":
        if abs(value) >= 1e6:
            return f"{significant(value / 1e6, digits)} Mb/s"
        return f"{significant(value / 1e3, digits)} kb/s"
    if dimension == "time":
        if 0 < abs(value) < 0.5:
            return f"{significant(1000 * value, digits)} ms"
        return f"{significant(value, digits)} s"
    return significant(value, digits)
