# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of a grid: how many cells meet the bound, which do not, and heat maps of all."""

import itertools
import math
import re
import statistics

import numpy

from . import grid
from .plots import heat_map, plt, save
from .table import row
from .units import show

FIRST = "share"  # the measure that the bounds are about
WORST = 24  # rows of the table
LIMITS = math.log2(4)


class Value:
    """What the runs of a cell gave."""

    def __init__(self, outcome, variant):
        self.cell = outcome.plan.scenario.cell
        self.measures = {
            entry["id"]: outcome.summary(entry, variant).mean for entry in outcome.measures
        }
        first = next(entry for entry in outcome.measures if entry["id"] == FIRST)
        shares = outcome.finite_values(first, variant)
        self.shares = [share for share in shares if share is not None and not math.isnan(share)]

    @property
    def share(self):
        """Half and twice make one."""
        return statistics.geometric_mean(max(share, 1e-6) for share in self.shares)

    @property
    def within(self):
        return self._is_within(self.share)

    @property
    def runs_within(self):
        return sum(self._is_within(share) for share in self.shares)

    def _is_within(self, share):
        low, high = self.cell.bound()
        return low <= share <= high

    @property
    def beyond(self):
        """Any of its runs."""
        low, high = self.cell.bounds["never"]
        return not all(low <= share <= high for share in self.shares)

    @property
    def far(self):
        return abs(math.log2(max(self.share, 1e-6)))


def values(outcomes, variant, congestion):
    """Of the cells that were run."""
    out = []
    for outcome in outcomes:
        if outcome.plan.scenario.cell.congestion == congestion and variant in outcome.plan.variants:
            value = Value(outcome, variant)
            if value.shares:
                out.append(value)
    return out


def table(head, rows):
    return "\n".join([row(head), "|" + "---|" * len(head), *(row(each) for each in rows)])


def percent(part, whole):
    """'9 of 10 (90 %)'."""
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "-"


def middle(found):
    """Median and range of the shares."""
    if not found:
        return "-"
    shares = sorted(value.share for value in found)
    low, high = (shares[round(q * (len(shares) - 1))] for q in (0.1, 0.9))
    return f"{statistics.median(shares):.2f} ({low:.2f} to {high:.2f})"


TOLD = ("within the bound", "single runs", "beyond half or twice", "median (10th to 90th)")


def told(found):
    """[within the bound, runs within, beyond `never`, median] of cells that have a bound."""
    bound = [value for value in found if value.cell.bound()]
    within = percent(sum(value.within for value in bound), len(bound))
    beyond = percent(sum(value.beyond for value in found), len(found))
    return [within, runs(bound), beyond, middle(found)]


def runs(found):
    """Of single ones, those within the bound."""
    return percent(
        sum(value.runs_within for value in found), sum(len(value.shares) for value in found)
    )


def kinds(congestion, found, cell_of=lambda value: value.cell):
    """(name, values) of the groups that are judged apart."""
    if congestion == "cubic":
        inside = [value for value in found if cell_of(value).in_reno_region]
        outside = [value for value in found if not cell_of(value).in_reno_region]
        yield "cubic, Reno region", inside
        yield "cubic, beyond it", outside
    else:
        yield congestion, found


def summary(outcomes, variants, congestions):
    """A row for each variant and kind of TCP."""
    rows = []
    for congestion, variant in itertools.product(congestions, variants):
        whole = [o.plan.scenario.cell for o in outcomes]
        whole = [cell for cell in whole if cell.congestion == congestion]
        whole = dict(kinds(congestion, whole, lambda cell: cell))
        for name, found in kinds(congestion, values(outcomes, variant, congestion)):
            if not found:
                continue
            half = [value for value in found if not value.cell.design]
            bound = [value for value in half if value.cell.bound()]
            held = percent(sum(value.within for value in bound), len(bound))
            rows.append([variant, name, f"{len(found)} of {len(whole[name])}", *told(found), held])
    head = ["variant", "beside", "cells run", *TOLD]
    return table([*head, "within, held-back half"], rows)


def fair_class(cell):
    for low, high in itertools.pairwise((0, 5, 20, 60)):
        if cell.fair < high:
            return f"{low} to {high}"
    return "60 and more"


REGIONS = (
    ("capacity", lambda cell: show(cell.capacity, "rate", 2)),
    ("RTT", lambda cell: f"{1000 * cell.rtt:g} ms"),
    ("TCP flows", lambda cell: str(cell.flows)),
    ("queue, BDP", lambda cell: f"{cell.queue:g}"),
    ("discipline", lambda cell: cell.discipline),
    ("fair, packets/RTT", fair_class),
)


def regions(found):
    """Where it holds: a row for each value of each axis."""
    rows = []
    for name, of in REGIONS:
        for text in sorted({of(value.cell) for value in found}, key=first_number):
            own = [value for value in found if of(value.cell) == text]
            rows.append([name, text, len(own), *told(own)])
    return table(["axis", "", "cells", *TOLD], rows)


def first_number(text):
    match = re.search(r"[0-9.]+", text)
    number = float(match[0]) if match else 0
    return ("Mb/s" in text, number, text)


def ratio_text(value):
    return "-" if math.isnan(value) else f"{100 * value:.2g} %"


def worst(found):
    """The cells furthest from TCP's rate."""
    rows = []
    out = [value for value in found if not (value.cell.bound() and value.within)]
    for value in sorted(out, key=lambda each: -each.far)[:WORST]:
        cell, measures = value.cell, value.measures
        rows.append(
            [
                f"`{cell.id}`",
                f"{cell.fair:.3g}",
                " ".join(f"{share:.2f}" for share in value.shares),
                f"{measures['fair']:.2f}",
                ratio_text(measures["loss"]),
                ratio_text(measures["loss-tcp"]),
                show(measures["queue"], "time", 2),
                show(measures["estimated-rtt"], "time", 2),
                f"{measures['cov']:.2f}",
                "design" if cell.design else "held back",
            ]
        )
    head = ["cell", "fair, packets/RTT", "by TCP", "by the fair rate", "loss", "TCP's loss"]
    return table([*head, "mean queue", "RTT it sees", "CoV", "half"], rows)


def sizes(outcomes, congestion, name):
    return sorted({getattr(o.plan.scenario.cell, name) for o in outcomes})


def figure(outcomes, found, congestion, variant, path):
    """Panels capacity x RTT, a row for each discipline and queue, a column for each TCP count."""
    axes_of = {name: sizes(outcomes, congestion, name) for name in grid.AXES}
    at = {value.cell: value.share for value in found}
    kinds_of = list(itertools.product(axes_of["discipline"], axes_of["queue"]))
    size = (2.5 * len(axes_of["flows"]), 1.45 * len(kinds_of) + 0.4)
    panels = plt.subplots(len(kinds_of), len(axes_of["flows"]), figsize=size, squeeze=False)
    for y, (discipline, queue) in enumerate(kinds_of):
        for x, flows in enumerate(axes_of["flows"]):
            data = numpy.full((len(axes_of["capacity"]), len(axes_of["rtt"])), numpy.nan)
            for (r, capacity), (c, rtt) in itertools.product(
                enumerate(axes_of["capacity"]), enumerate(axes_of["rtt"])
            ):
                cell = grid.Cell(capacity, rtt, flows, queue, discipline, congestion)
                data[r, c] = at.get(cell, numpy.nan)
            title = f"{discipline} {queue:g} BDP, {flows} TCP"
            columns = [f"{1000 * rtt:g}" for rtt in axes_of["rtt"]]
            rows = [f"{capacity / 1e6:g}" for capacity in axes_of["capacity"]]
            heat_map(panels[1][y][x], data, columns, rows, title, LIMITS)
        panels[1][y][0].set_ylabel("Mb/s", fontsize=7)
    for axes in panels[1][-1]:
        axes.set_xlabel("RTT, ms", fontsize=7)
    save(panels[0], path)


def cost(jobs, store):
    """What was run took, and what all of it would."""
    known = [(job.weight, store.seconds(job)) for job in jobs]
    done = [(weight, seconds) for weight, seconds in known if seconds is not None]
    if not done:
        return "nothing was run"
    spent = sum(seconds for _, seconds in done)
    packets = sum(weight for weight, _ in done)
    whole = spent / packets * sum(weight for weight, _ in known)
    return (
        f"{len(done)} of {len(known)} runs, {spent / 60:.0f} min of CPU for "
        f"{packets / 1e6:.0f} million packets of the bottleneck; all of them would be "
        f"{whole / 3600:.0f} hours"
    )


def fill(template, outcomes, variants, name, directory, places):
    """The page; draws its pictures. Slots: those of @places and of all_places."""
    congestions = list(dict.fromkeys(o.plan.scenario.cell.congestion for o in outcomes))
    main = values(outcomes, "enhanced", "reno")
    maps = []
    for congestion, variant in itertools.product(congestions, variants):
        found = values(outcomes, variant, congestion)
        if not found:
            continue
        file = f"{name}-{congestion}-{variant}.png"
        figure(outcomes, found, congestion, variant, directory / file)
        text = f"{variant} beside {congestion}: its rate by that of the mean TCP flow"
        maps.append(f"### {variant} beside {congestion}\n\n![{text}]({file})\n")
    within = [value for value in main if value.within]
    all_places = places | {
        "SUMMARY": summary(outcomes, variants, congestions),
        "REGIONS": regions(main),
        "WORST": worst(main),
        "MAPS": "\n".join(maps),
        "WITHIN": percent(len(within), len(main)),
        "RUNS": runs(main),
        "SEEDS": str(max((len(value.shares) for value in main), default=0)),
        "BEYOND": percent(sum(value.beyond for value in main), len(main)),
        "MEDIAN": middle(main),
    }
    return re.sub(r"@([A-Z_]+)@", lambda match: str(all_places[match[1]]), template)
