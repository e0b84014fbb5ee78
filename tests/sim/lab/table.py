# SPDX-License-Identifier: LGPL-2.1-or-later
"""Outcomes as tables: for a terminal, and as Markdown."""

import math

from . import measure
from .units import given, significant

SCALES = {"ratio": (100, " %"), "number": (1, "")}


def pick(unit, value):
    """(factor, suffix) in which @value is well read."""
    if unit in SCALES:
        return SCALES[unit]
    if unit == "rate":
        return (1e-6, " Mb/s") if abs(value) >= 1e6 else (1e-3, " kb/s")
    return (1000, " ms") if 0 < abs(value) < 0.5 else (1, " s")


def mean_text(summary, unit):
    """'72.1 +-2.3 %', '6.2 +-1 s (7 of 10)' where the others have no value, '-', and without an
    interval, being a bound: '> 24 s (never in 3 of 10)'."""
    if math.isnan(summary.mean):
        return "-"
    if summary.never == summary.count:
        return "never"
    factor, suffix = pick(unit, summary.mean)
    text = significant(summary.mean * factor)
    if summary.never:
        return f"> {text}{suffix} (never in {summary.never} of {summary.count})"
    if not math.isnan(summary.half):
        text += f" ±{significant(summary.half * factor, 2)}"
    if summary.count < len(summary.values):
        suffix += f" ({summary.count} of {len(summary.values)})"
    return text + suffix


def paper_text(entry, variant):
    """The paper's figure, or ''."""
    value = (entry.get("published") or {}).get(variant)
    return "" if value is None else given(value, measure.KINDS[entry["what"]].unit)


def columns(rows, gap="  "):
    """Left-aligned text columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def cell(outcome, entry, variant):
    text = mean_text(outcome.summary(entry, variant), measure.KINDS[entry["what"]].unit)
    paper = paper_text(entry, variant)
    if paper:
        text += f" [{paper}]"
    verdict = outcome.verdict(entry, variant)
    return text + {None: "", "ok": " ok", "low": " LOW", "high": " HIGH", "none": " NONE"}[verdict]


def terminal(outcome):
    """Lines: the scenario's measures, a column for each variant."""
    plan = outcome.plan
    data = plan.scenario.data
    seeds = f"{len(plan.seeds)} seed{'s' if len(plan.seeds) > 1 else ''}"
    lines = [f"{data['id']}: {data['title']} ({seeds}, {plan.duration:g} s)"]
    rows = [["", *plan.variants, "goal"]]
    for entry in outcome.measures:
        if outcome.arguments[entry["id"]][0] is None:
            continue
        cells = [cell(outcome, entry, variant) for variant in plan.variants]
        rows.append([entry["id"], *cells, (entry.get("goal") or {}).get("text", "")])
    if len(rows) == 1:
        return lines + ["  no measure fits into this run"]
    return lines + ["  " + line for line in columns(rows)]


def out_of_band(outcome):
    """A row for each band that does not hold."""
    rows = []
    for entry, variant, verdict in outcome.failures():
        unit = measure.KINDS[entry["what"]].unit
        low, high = (given(bound, unit) for bound in outcome.band(entry, variant))
        mean = mean_text(outcome.summary(entry, variant), unit)
        names = (outcome.plan.scenario.id, variant, entry["id"])
        rows.append((*names, mean, f"{low} .. {high}", verdict.upper()))
    return rows


def escaped(text):
    return text.replace("|", "\\|")


def row(cells):
    return "| " + " | ".join(escaped(str(cell)) for cell in cells) + " |"
