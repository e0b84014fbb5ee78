# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run through a capacity step shows, in figures and in words."""

from .table import rate

# What the project has promised of step_figures(): at least, at most. Loss is a ratio.
STEP_GOALS = {
    "below_capacity_s": (None, 3),
    "loss_after_5s": (None, 0.01),
    "reach_90_s": (None, 15),
    "steady_loss": (None, 0.005),
    "lowest_in_low": (0.5, None),
}


def below_after(record, time, limit, window=0.5, hold=2.0):
    """Seconds after @time until the sent rate (mean over @window) is below @limit, and so is the
    mean over the next @hold; None if never. Who fills a link passes its rate in single windows, by
    a frame or by probing; a rate that only dips, and then is above it, is not below."""
    end = record.links[-1]["time"] if record.links else 0.0
    for t, bits in record.offered_series(window):
        if t >= time and bits <= limit and t + hold <= end:
            if record.offered_rate(t, t + hold) <= limit:
                return t - time
    return None


def reaches_after(record, time, limit, end, window=1.0):
    """Seconds after @time until the sent rate first reaches @limit; None if not before @end."""
    for t, bits in record.offered_series(window):
        if time <= t <= end and bits >= limit:
            return t - time
    return None


def lowest(record, begin, end, window=1.0):
    """Lowest sliding mean of the sent rate between two times."""
    return min(
        (b for t, b in record.offered_series(window) if begin + window <= t <= end), default=0
    )


def step_figures(record, receivers, down, up, end, low, high):
    """The figures of a run high -> low (at @down) -> high (at @up) that ends at @end. Steady is
    everything but the first 10 s and the 5 s after each step."""
    alive = [name for name in receivers if record.nodes[name].stats]
    settle = 10.0
    steady = []
    for begin, stop in ((settle, down), (down + 5, up), (up + 5, end)):
        for name in alive:
            if stop - begin > 2:
                steady.append(record.loss_between(name, begin, stop))
    return {
        "below_capacity_s": below_after(record, down, low),
        "loss_after_5s": max(
            (record.loss_between(name, down + 5, up) for name in alive), default=0.0
        ),
        "reach_90_s": reaches_after(record, up, 0.9 * high, end),
        "lowest_in_low": lowest(record, down + 3, up) / low,
        "steady_loss": max(steady, default=0.0),
        "low_use": record.offered_rate(down + 5, up) / low,
        "corrupted": {name: record.nodes[name].frames.get("corrupted", 0) for name in alive},
    }


def seconds(value):
    return "never" if value is None else f"after {value:.1f} s"


def words(figures, low, high):
    """One sentence for a person."""
    corrupted = sum(figures["corrupted"].values())
    return (
        f"When the bottleneck fell to {rate(low)} the sent rate was below it "
        f"{seconds(figures['below_capacity_s'])} and used {100 * figures['low_use']:.0f} % of it; "
        f"when it came back, 90 % of {rate(high)} was reached {seconds(figures['reach_90_s'])}. "
        f"Loss from 5 s after the fall on: {100 * figures['loss_after_5s']:.2f} %. "
        + ("No picture was damaged." if not corrupted else f"{corrupted} pictures were damaged.")
    )
