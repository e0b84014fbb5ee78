# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of drawn scenarios: how often what was wanted came, and where it did not."""

import math
import re
import statistics

from . import drawn
from .gridpage import table
from .plots import VARIANTS, plt, save
from .sections import CONTROL
from .stats import wilson
from .units import show

WORST = 15  # rows
OURS = ("enhanced",)  # sends a video where there is one; the rivals' have data always


def spread(values, dimension="number", digits=2):
    """'1.02 (0.85 to 1.21)': the median, the 10th and the 90th of a hundred."""
    if not values:
        return "-"
    values = sorted(values)
    low, high = (values[round(q * (len(values) - 1))] for q in (0.1, 0.9))
    texts = [show(value, dimension, digits) for value in (statistics.median(values), low, high)]
    return f"{texts[0]} ({texts[1]} to {texts[2]})"


def counted(part, whole):
    """'73 of 100 (64 to 81 %)': with the 95 % interval of the proportion."""
    if not whole:
        return "-"
    low, high = wilson(part, whole)
    return f"{part} of {whole} ({100 * low:.0f} to {100 * high:.0f} %)"


class Value:
    """What one run gave, by link."""

    def __init__(self, outcome, found, variant):
        self.outcome, self.found, self.variant = outcome, found, variant
        self.id = outcome.plan.scenario.id
        self.title = outcome.plan.scenario.data["title"]
        self.measures = {
            entry["id"]: outcome.summary(entry, variant).mean for entry in outcome.measures
        }

    @property
    def video(self):
        return self.title.endswith("; video")

    def of(self, name):
        return self.measures.get(name, math.nan)

    @property
    def beside_tcp(self):
        """link -> its rate by TCP's."""
        out = {k: self.of(f"by-tcp-{k}") for k, p in enumerate(self.found, 1) if p.flows}
        return {k: value for k, value in out.items() if not math.isnan(value)}

    # -- one rate --

    @property
    def tightest(self):
        """The link where TCP has least: what one rate has to follow."""
        return max(self.beside_tcp, key=self.beside_tcp.get)

    @property
    def ratio(self):
        return max(self.beside_tcp[self.tightest], 1e-3)

    @property
    def within(self):
        low, high = self.found[self.tightest - 1].cell.bound()
        return low <= self.ratio <= high

    @property
    def far(self):
        return abs(math.log2(self.ratio))

    @property
    def beyond(self):
        low, high = drawn.BOUNDS["never"]
        return not low <= self.ratio <= high

    @property
    def loss(self):
        return self.of(f"loss-{self.tightest}")

    @property
    def loss_tcp(self):
        return self.of(f"loss-tcp-{self.tightest}")

    # -- receivers that choose --

    @property
    def parts(self):
        """(receivers, their rate by the fair one) of each link."""
        most = drawn.LADDER[1]
        return [
            (place.receivers, self.of(f"rate-{k}") / min(place.fair, most))
            for k, place in enumerate(self.found, 1)
        ]

    @property
    def got(self):
        """Of the fair rates, by what their receivers have, each at most 1."""
        count = sum(receivers for receivers, _ in self.parts)
        return sum(receivers * min(1.0, part) for receivers, part in self.parts) / count

    @property
    def least(self):
        return min(part for _, part in self.parts)

    @property
    def lost(self):
        count = sum(place.receivers for place in self.found)
        own = [p.receivers * self.of(f"loss-{k}") for k, p in enumerate(self.found, 1)]
        return sum(own) / count


def values(outcomes, places, variant):
    out = [
        Value(outcome, places[outcome.plan.scenario.id], variant)
        for outcome in outcomes
        if any(key[0] == variant for key in outcome.values)
    ]
    return [value for value in out if not math.isnan(value.of("rate-1"))]


def is_one(outcome):
    return outcome.plan.scenario.id.startswith("drawn-one-")


def has_control(name, found):
    """Whether a TCP flow can take our place: of several links it would take one."""
    return name.startswith("drawn-one-") and len(found) == 1


def within(found):
    return counted(sum(value.within for value in found), len(found))


def told_one(found):
    beside = [value.loss / value.loss_tcp for value in found if value.loss_tcp > 0]
    return [
        within(found),
        counted(sum(value.beyond for value in found), len(found)),
        spread([value.ratio for value in found]),
        spread([value.of("cov") for value in found]),
        spread(beside),
    ]


TOLD = ("within the bound", "beyond half or twice", "its rate by TCP's", "CoV", "loss by TCP's")
KINDS = (
    ("bottlenecks", lambda v: str(len(v.found))),
    ("queue", lambda v: v.found[v.tightest - 1].discipline),
    ("ECN", lambda v: "with" if v.found[v.tightest - 1].ecn else "without"),
    ("TCP", lambda v: v.found[v.tightest - 1].congestion),
    ("random loss", lambda v: (v.found[v.tightest - 1].loss or {"type": "none"})["type"]),
    ("midway", lambda v: "a change" if "; then " in v.title else "none"),
    ("source", lambda v: "video" if v.video else "ideal"),
)


def kinds(found):
    rows = []
    for name, of in KINDS:
        for text in sorted({of(value) for value in found}):
            own = [value for value in found if of(value) == text]
            rows.append([name, text, len(own), *told_one(own)])
    return table(["", "", "runs", *TOLD], rows)


def worst_one(found):
    out = sorted((v for v in found if not v.within), key=lambda v: -v.far)[:WORST]
    rows = [
        [
            value.id.rpartition("-")[2],
            value.title,
            value.tightest,
            f"{value.ratio:.2f}",
            show(value.loss, "ratio", 2),
            show(value.loss_tcp, "ratio", 2),
        ]
        for value in out
    ]
    return table(["number", "what", "link", "by TCP", "loss", "TCP's loss"], rows)


MANY = (
    "of the fair rates",
    "... the slowest link's receivers",
    "most by TCP at a link",
    "loss",
    "changes a receiver and minute",
    "CoV",
)


def told_many(found):
    beside = [max(value.beside_tcp.values()) for value in found if value.beside_tcp]
    return [
        spread([value.got for value in found], "ratio"),
        spread([value.least for value in found], "ratio"),
        spread(beside),
        spread([value.lost for value in found], "ratio"),
        spread([v for v in (value.of("changes") for value in found) if not math.isnan(v)]),
        spread([value.of("cov") for value in found]),
    ]


def worst_many(found):
    rows = [
        [
            value.id.rpartition("-")[2],
            value.title,
            " / ".join(f"{100 * part:.0f} %" for _, part in value.parts),
            show(value.lost, "ratio", 2),
        ]
        for value in sorted(found, key=lambda v: v.got)[:5]
    ]
    return table(["number", "what", "of the fair rates", "loss"], rows)


def curve(axes, numbers, variant):
    numbers = sorted(numbers)
    steps = [(i + 1) / len(numbers) for i in range(len(numbers))]
    colour, _ = VARIANTS[variant]
    axes.step(numbers, steps, where="post", color=colour, label=variant, lw=1.4)


def figure(by_variant_one, by_variant_many, path):
    """How the runs are spread: rate by TCP's, and what receivers have of their fair rates."""
    drawing, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    for variant, found in by_variant_one.items():
        curve(left, [value.ratio for value in found], variant)
    left.axvspan(*drawn.BOUNDS["reno"], color="#dddddd", zorder=0)
    left.set_xscale("log", base=2)
    left.set_xlim(0.25, 4)
    left.set_xlabel("rate by that of TCP at the tightest link")
    left.set_ylabel("part of the runs")
    for variant, found in by_variant_many.items():
        curve(right, [100 * value.got for value in found], variant)
    right.set_xlabel("of the fair rates, mean over receivers, %")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend(fontsize=7)
    save(drawing, path)


def nearest(by_variant, own):
    """In how many of @own's scenarios that variant is nearest to TCP's rate."""
    ids = {value.id: {} for value in own}
    for variant, found in by_variant.items():
        for value in found:
            if value.id in ids:
                ids[value.id][variant] = value.far
    best = [min(far, key=far.get) for far in ids.values() if len(far) == len(by_variant)]
    return counted(best.count(own[0].variant), len(best))


def rows_one(by_variant):
    """A row for each variant; of ours one more without videos: then both have data always."""
    rows = []
    control = by_variant.get(CONTROL, [])
    rivals = {name: found for name, found in by_variant.items() if name != CONTROL}
    for name, found in rivals.items():
        parts = {name: found}
        even = [value for value in found if not value.video]
        if name in OURS and 0 < len(even) < len(found):
            parts[f"{name}, without those that send a video"] = even
        for text, own in parts.items():
            rows.append([text, len(own), *told_one(own), nearest(rivals, own)])
    for name, found in by_variant.items() if control else ():
        own = [value for value in found if len(value.found) == 1]
        text = "a TCP flow in our place" if name == CONTROL else name
        rows.append([f"with one bottleneck: {text}", len(own), *told_one(own), "-"])
    return rows


def fill(template, outcomes, places, path, slots):
    """The page's text; draws its picture. Slots: those of @slots and of all_slots."""
    runs = {True: [o for o in outcomes if is_one(o)], False: [o for o in outcomes if not is_one(o)]}
    by = {}
    for family, own in runs.items():
        names = list(dict.fromkeys(name for outcome in own for name in outcome.plan.variants))
        by[family] = {name: values(own, places, name) for name in names}
        by[family] = {name: found for name, found in by[family].items() if found}
    rivals = {name: found for name, found in by[True].items() if name != CONTROL}
    figure(rivals, by[False], path)
    main = by[True].get("enhanced", [])
    several = [[name, len(found), *told_many(found)] for name, found in by[False].items()]
    all_slots = slots | {
        "ONE": table(["variant", "runs", *TOLD, "nearest to TCP"], rows_one(by[True])),
        "WITHIN": within(main),
        "WITHIN_EVEN": within([value for value in main if not value.video]),
        "WITHIN_ALONE": within([value for value in main if len(value.found) == 1]),
        "BEYOND": counted(sum(value.beyond for value in main), len(main)),
        "KINDS": kinds(main),
        "WORST": worst_one(main),
        "MANY": table(["variant", "runs", *MANY], several),
        "WORST_ASSP": worst_many(by[False].get("assp", [])),
        "WORST_ELM": worst_many(by[False].get("elm", [])),
    }
    for name in ("tfmcc", "pgmcc", "published", CONTROL):
        all_slots[f"WITHIN_{name.upper()}"] = within(by[True].get(name, []))
    for name in ("asmp", "assp", "elm", "tfmcc", "smcc", "rlc"):
        found = by[False].get(name)
        got = statistics.median(value.got for value in found) if found else math.nan
        all_slots[f"GOT_{name.upper()}"] = show(got, "ratio", 2)
    return re.sub(r"@([A-Z_]+)@", lambda match: str(all_slots.get(match[1], "-")), template)
