# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where one variant's mean is behind another's, and whether that is more than chance.

The difference is taken seed by seed (stats.paired); its 95 % confidence interval is Student's t of
these differences.
"""

import math

from . import measure
from .stats import is_certain, paired, summarise
from .table import mean_text, pick
from .units import significant

LESS = {"cov", "loss", "reach", "settle", "reaction", "dent"}
MORE = {"jain", "utilisation", "min_rate"}
SHARES = {
    "share",
    "tcp_share",
    "relative",
}  # more, up to the fair one: what is above it others lack
FAIR = 1.0


def behind(what, own, other):
    """Whether the mean @own is behind @other, in a measure of this kind."""
    if what in LESS:
        return own > other
    return what in MORE | SHARES and own < other


def judged_values(outcome, entry, variant):
    """By seed: "never" counts as the time that was measured, more than the fair share as that."""
    values = outcome.finite_values(entry, variant)
    if entry["what"] not in SHARES:
        return values
    return [None if value is None else min(value, FAIR) for value in values]


def difference(outcome, entry, own, other):
    """Summary of @own - @other by seed, of what is judged."""
    return paired(judged_values(outcome, entry, own), judged_values(outcome, entry, other))


def difference_text(summary, unit):
    factor, suffix = pick(unit, summary.mean)
    text = ("+" if summary.mean > 0 else "-") + significant(abs(summary.mean) * factor)
    if not math.isnan(summary.half):
        text += f" ±{significant(summary.half * factor, 2)}"
    return text + (" points" if unit == "ratio" else suffix)


def compared(outcomes, own, other):
    """(outcome, measure, difference, -1 behind, 1 ahead or 0) of all that has a better and a
    worse."""
    out = []
    for outcome in outcomes:
        if own not in outcome.plan.variants or other not in outcome.plan.variants:
            continue
        for entry in outcome.measures:
            if entry["what"] not in LESS | MORE | SHARES:
                continue
            means = [summarise(judged_values(outcome, entry, v)).mean for v in (own, other)]
            if any(math.isnan(mean) for mean in means):
                continue
            apart = difference(outcome, entry, own, other)
            ahead = behind(entry["what"], *reversed(means))
            out.append((outcome, entry, apart, ahead - behind(entry["what"], *means)))
    return out


def table(outcomes, own="enhanced", other="published"):
    """Markdown: every figure in which @own's mean is behind, those first that are no chance."""
    every = compared(outcomes, own, other)
    worse = [(out, entry, apart) for out, entry, apart, side in every if side < 0]
    if not worse:
        return f"In none of {len(every)} figures is `{own}` behind `{other}` in the mean.\n"
    sure = [each for each in worse if is_certain(each[2])]
    ahead = sum(is_certain(apart) and side > 0 for _, _, apart, side in every)
    lines = [
        f"In {len(worse)} of {len(every)} figures the mean of `{own}` is behind that of "
        f"`{other}`; in {len(sure)} of them the 95 % confidence interval of the difference "
        f"excludes zero (**bold**), as it does in {ahead} where `{own}` is ahead.",
        "",
        f"| scenario | figure | {other} | {own} | difference | seeds |",
        "|---|---|---|---|---|---|",
    ]
    for out, entry, apart in sorted(worse, key=lambda each: not is_certain(each[2])):
        unit = measure.KINDS[entry["what"]].unit
        name = out.plan.scenario.id
        text = difference_text(apart, unit)
        cells = [
            f"[{name}](#{name})",
            entry["id"],
            mean_text(out.summary(entry, other), unit),
            mean_text(out.summary(entry, own), unit),
            f"**{text}**" if is_certain(apart) else text,
            str(apart.count),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
