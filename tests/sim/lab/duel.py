# SPDX-License-Identifier: LGPL-2.1-or-later
"""`enhanced` against the published protocol and SMCC: means, and differences seed by seed."""

import math

from .stats import is_certain, paired
from .table import mean_text, row
from .units import show

RIVALS = ("published", "enhanced", "smcc")

# column -> (kinds of measures, their unit, whether less is better)
DUEL = {
    "loss": (("loss",), "ratio", True),
    "CoV": (("cov",), "number", True),
    "switches a minute": (("switch_rate",), "number", True),
    "utilisation": (("utilisation",), "ratio", False),
    "Jain": (("jain",), "number", False),
}
SAME = 0.02  # of the better one: no difference


def own_measures(outcome, kinds):
    """Those of these kinds that are about multicast flows or links."""
    flows = {flow["id"]: flow["type"] for flow in outcome.plan.scenario.data["flows"]}
    return [
        entry
        for entry in outcome.measures
        if entry["what"] in kinds and flows.get(entry.get("flow"), "multicast") == "multicast"
    ]  # jain is about flows, utilisation about a link: they name no flow


def mean(values):
    """Of those that there are; or None."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return sum(known) / len(known) if known else None


def mean_of(outcome, kinds, variant):
    """Mean of all of them, over the seeds; or None."""
    return mean(outcome.summary(entry, variant).mean for entry in own_measures(outcome, kinds))


def cell(outcome, kinds, unit_, less):
    """'published / enhanced / smcc'; enhanced in bold where one of the others is better."""
    values = {
        name: mean_of(outcome, kinds, name) for name in RIVALS if name in outcome.plan.variants
    }
    own = values.get("enhanced")
    others = [value for name, value in values.items() if name != "enhanced" and value is not None]
    texts = []
    for name in RIVALS:
        value = values.get(name)
        text = "-" if value is None else show(value, unit_)
        behind = (
            name == "enhanced"
            and own is not None
            and any(
                own > other * (1 + SAME) if less else own < other * (1 - SAME) for other in others
            )
        )
        texts.append(f"**{text}**" if behind else text)
    return " / ".join(texts)


def table(outcomes):
    """A row for each scenario: loss, smoothness, changes, utilisation and fairness of published,
    enhanced and smcc, each the mean of the scenario's measures of that kind."""
    lines = [row(["published / enhanced / smcc", *DUEL]), "|" + "---|" * (len(DUEL) + 1)]
    for outcome in outcomes:
        if "enhanced" not in outcome.plan.variants:
            continue
        name = outcome.plan.scenario.id
        cells = [cell(outcome, *what) for what in DUEL.values()]
        lines.append(row([f"[{name}](#{name})", *cells]))
    return "\n".join(lines)


def of_seed(outcome, kinds, variant, seed):
    """mean_of() in one run."""
    return mean(outcome.value(entry, variant, seed) for entry in own_measures(outcome, kinds))


def difference(outcome, kinds, other):
    """enhanced - @other, paired by seed, as a Summary."""
    seeds = outcome.plan.seeds
    own, others = (
        [of_seed(outcome, kinds, name, seed) for seed in seeds] for name in ("enhanced", other)
    )
    return paired(own, others)


def is_behind(summary, less):
    """Whether the mean difference is to our disadvantage."""
    return not math.isnan(summary.mean) and (summary.mean > 0 if less else summary.mean < 0)


def lost(outcomes):
    """(scenario, column, unit, rival, difference) where enhanced is behind in the mean."""
    out = []
    for what, (kinds, unit_, less) in DUEL.items():
        for outcome in outcomes:
            for other in RIVALS:
                if other == "enhanced" or not {other, "enhanced"} <= set(outcome.plan.variants):
                    continue
                summary = difference(outcome, kinds, other)
                if is_behind(summary, less):
                    out.append((outcome.plan.scenario.id, what, unit_, other, summary))
    return out


def differences(outcomes):
    """A row for each scenario and kind in which enhanced is behind one of the others."""
    rows = {}
    for name, what, unit_, other, summary in lost(outcomes):
        text = mean_text(summary, unit_)
        rows.setdefault((name, what), {})[other] = f"**{text}**" if is_certain(summary) else text
    lines = [row(["scenario", "enhanced less", "published", "smcc"]), "|---|---|---|---|"]
    for (name, what), cells in sorted(rows.items()):
        own = [cells.get(other, "") for other in RIVALS if other != "enhanced"]
        lines.append(row([f"[{name}](#{name})", what, *own]))
    return "\n".join(lines) if rows else "`enhanced` is behind in none of these."


def behind(outcomes):
    """Where another one of the rivals is surely better than enhanced, as a line for each kind."""
    lines = []
    for what in DUEL:
        names = [entry[0] for entry in lost(outcomes) if entry[1] == what and is_certain(entry[4])]
        if names:
            lines.append(f"- {what}: {', '.join(dict.fromkeys(names))}")
    if not lines:
        return (
            "`enhanced` is nowhere behind `published` or SMCC by more than the interval of the "
            "difference."
        )
    return (
        "Where `enhanced` is behind `published` or SMCC by more than the 95 % interval of the "
        "difference, seed by seed:\n\n" + "\n".join(lines)
    )
