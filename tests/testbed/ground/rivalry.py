# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ours beside the real rivals in all scenarios: a row each, and a sentence that counts them; and
all protocols together where a scenario runs each."""

import math
import statistics
from dataclasses import dataclass

from lab import measure, stats
from lab import page as labpage
from lab.table import pick
from lab.units import significant

OURS, RIVALS = "asmp", ("norm", "uftp")
TITLES = {
    "share": "share",
    "cov": "CoV",
    "loss": "loss",
    "queue_delay": "queue",
    "reach": "time to reach",
}
TOGETHER = ("rate", "worst", "loss")  # the measures that together() shows
BEST = {
    "share": "nearest to the fair share",
    "cov": "lowest CoV",
    "loss": "least loss",
    "queue_delay": "shortest queue",
    "reach": "soonest",
}


@dataclass
class Row:
    name: str
    means: dict  # kind -> {flow: mean over the scenario's measures of that kind}
    runs: dict  # kind -> {flow: by repeat, what is best when least: of a share the distance from 1}


def entries(measured, kind):
    """The multicast flows' measures of this kind; of queues all."""
    flows = measured.plan.scenario.data["flows"]
    multicast = {flow["id"] for flow in flows if flow["type"] == "multicast"}
    return [
        entry
        for entry in measured.measures
        if entry["what"] == kind
        and measured.arguments[entry["id"]][0] is not None
        and (kind == "queue_delay" or entry.get("flow") in multicast)
    ]


def row_of(measured, name, variants):
    """@variants: {flow: variant}."""
    row = Row(name, {}, {})
    for kind in TITLES:
        found = {
            flow: [measured.summary(entry, variant).mean for entry in entries(measured, kind)]
            for flow, variant in variants.items()
        }
        found = {
            flow: values
            for flow, values in found.items()
            if values and not any(math.isnan(value) for value in values)
        }
        if OURS not in found or len(found) < 2:
            continue
        row.means[kind] = {flow: statistics.fmean(values) for flow, values in found.items()}
        row.runs[kind] = {flow: runs_of(measured, kind, variants[flow]) for flow in found}
    return row


def runs_of(measured, kind, variant):
    """By repeat the mean over the measures that have a value in it."""
    columns = [measured.finite_values(entry, variant) for entry in entries(measured, kind)]
    known = [
        [abs(value - (kind == "share")) for value in values if value is not None]
        for values in zip(*columns, strict=True)
    ]
    return [statistics.fmean(values) for values in known if values]


def rows_of(cases):
    rows = []
    for measured, _ in cases:
        there = measured.plan.variants
        for own in there:
            flow, _, tcp = own.partition("-")
            if flow != OURS:
                continue
            suffix = f"-{tcp}" if tcp else ""
            variants = {each: each + suffix for each in (OURS, *RIVALS) if each + suffix in there}
            if len(variants) > 1:
                name = measured.plan.scenario.id
                shown = f"[{name}](#{name})" + (f", {tcp}" if tcp else "")
                rows.append(row_of(measured, shown, variants))
    return rows


def best(row, kind):
    """Who is, and who is not told apart from him by their few runs (t-test, 95 %)."""
    runs = row.runs[kind]
    least = min(runs.values(), key=statistics.fmean)
    return {flow for flow, values in runs.items() if not stats.apart(values, least)}


def cell(row, kind):
    if kind not in row.means:
        return ""
    means = row.means[kind]
    factor, suffix = pick(measure.KINDS[kind].unit, max(means.values(), key=abs))
    texts = []
    for flow in (OURS, *RIVALS):
        text = significant(means[flow] * factor) if flow in means else "-"
        texts.append(f"**{text}**" if flow in means and flow in best(row, kind) else text)
    return " / ".join(texts) + suffix


def sentence(rows):
    parts = []
    for kind, words in BEST.items():
        of_kind = [row for row in rows if kind in row.means]
        if of_kind:
            first = [best(row, kind) for row in of_kind]
            ties = sum(OURS in flows and len(flows) > 1 for flows in first)
            text = f"{words} in {first.count({OURS})} of {len(of_kind)}"
            parts.append(text + (f" ({ties} more not told apart from another)" if ties else ""))
    return "asmpsink and asmpsrc are " + ", ".join(parts) + " rows."


def overview(cases):
    rows = rows_of(cases)
    if not rows:
        return "No rival was run beside ours."
    head = ["ours / NORM / UFTP", *TITLES.values()]
    lines = [labpage.row(head), "|" + "---|" * len(head)]
    for row in sorted(rows, key=lambda row: row.name):
        lines.append(labpage.row([row.name, *(cell(row, kind) for kind in TITLES)]))
    note = "*Each cell is the mean of what the scenario's own table says of that kind of the "
    note += "multicast flow; **bold**: the best (of a share by each run's distance from it) and "
    note += "who is not told apart from that (t-test of the runs, 95 %). A rival that has nothing "
    note += "there was not run: it cannot (UFTP admits nobody later), or did not end the run.*"
    return "\n".join([sentence(rows), "", *lines, "", note])


def together(cases):
    """Of scenarios that all of ours ran: mean rate and the slowest's, loss; a row each."""
    chosen = [
        (measured, [flow for flow in measured.plan.variants if not flow.startswith("simulated")])
        for measured, _ in cases
    ]
    chosen = [
        (measured, flows)
        for measured, flows in chosen
        if {"asmp", "elm"} <= set(flows)
        and {entry["id"] for entry in measured.measures} >= set(TOGETHER)
    ]
    if not chosen:
        return "No scenario was run with all."
    flows = list(dict.fromkeys(flow for _, own in chosen for flow in own))
    lines = [labpage.row(["", *flows]), "|" + "---|" * (len(flows) + 1)]
    for measured, own in sorted(chosen, key=lambda case: case[0].plan.scenario.id):
        name = measured.plan.scenario.id
        cells = [together_cell(measured, flow) if flow in own else "-" for flow in flows]
        lines.append(labpage.row([f"[{name}](#{name})", *cells]))
    return "\n".join(lines)


def together_cell(measured, flow):
    by_id = {entry["id"]: entry for entry in measured.measures}
    rate, worst, loss = (measured.summary(by_id[key], flow).mean for key in TOGETHER)
    return (
        f"{significant(rate / 1e3)} / {significant(worst / 1e3)} kb/s, {significant(100 * loss)} %"
    )
