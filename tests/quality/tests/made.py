# SPDX-License-Identifier: LGPL-2.1-or-later
"""Made-up traces: test input, no run of the laboratory."""

import random

PACKET_BYTES = 1000


def streams(*bounds):
    return [{"low_bps": low, "high_bps": high} for low, high in bounds]


def nothing(time, stream):
    """... is lost."""
    return 0


def run(duration, ladder, targets, shown, lost=nothing):
    """A constant-rate source in each stream at its targets; @lost: fate by send time, stream."""
    packets = []
    for number in range(len(ladder)):
        mine = sorted((t, bps) for t, stream, bps in targets if stream == number)
        time = 0.0
        while time < duration:
            bps = next((bps for t, bps in reversed(mine) if t <= time), ladder[number]["low_bps"])
            packets.append([round(time, 6), number, lost(time, number)])
            time += 8 * PACKET_BYTES / bps
    return {
        "duration_s": duration,
        "receiver": "r1",
        "packet_bytes": PACKET_BYTES,
        "streams": ladder,
        "targets": targets,
        "shown": shown,
        "packets": packets,
    }


def random_loss(ratio, seed=1):
    """Each packet by itself."""
    rng = random.Random(seed)
    return lambda time, stream: int(rng.random() < ratio)
