# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/results/real-network.md: what was run here beside the laboratory's same scenario."""

import copy
import math
import re

from lab import document, measure, runner, stats
from lab import page as labpage
from lab.outcome import Job
from lab.table import pick
from lab.units import significant

from . import outcome, rivalry

APART = 0.15  # between reality and simulation: to be explained
SIMULATED = "simulated"
OURS = ("asmp", "assp", "elm")
UNEXPLAINED = "not explained yet"
SLOT = re.compile(r"@([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)/([A-Za-z0-9_=-]+)@")


class PageError(Exception):
    """The template asks for what there is not."""


def simulate(scenario, flow, tcp, seeds, builddir, jobs, duration):
    """Rows of the laboratory's `enhanced`, as @flow, in this scenario with this TCP."""
    scenario = copy.deepcopy(scenario)
    for entry in scenario.data["flows"]:
        if tcp and entry["type"] == "tcp":
            entry["congestion"] = tcp
        if flow == "elm" and entry.get("layers"):  # as source.c and elmlayersink send them
            entry["source"] = {"type": "pictures", "fps": 25.0, "paced": "layers"}
    rows = []
    # Of what has streams and layers each takes its own.
    several = [each for each in scenario.data["flows"] if each.get("streams") and each["layers"]]
    variant = flow if several else "enhanced"

    def each(job, result):
        rows.append((simulated(flow), tcp, job.seed, result | {"ground": None}))

    todo = [Job(scenario, variant, seed, duration) for seed in seeds]
    failures = runner.Runner(runner.Store(builddir), jobs).run(todo, each)
    return sorted(rows, key=lambda row: row[2]), failures


def simulated(flow):
    return SIMULATED if flow == "asmp" else f"{SIMULATED} {flow}"


def partner(variant, variants):
    """The simulation that a run of ours stands beside, or None."""
    flow, _, tcp = variant.partition("-")
    name = outcome.variant_name(simulated(flow), tcp)
    return name if flow in OURS and name in variants else None


def pairs(measured):
    """(measure, variant, real, simulated), both of which there are."""
    out = []
    for entry in measured.measures:
        for variant in measured.plan.variants:
            other = partner(variant, measured.plan.variants)
            if other is None:
                continue
            real = measured.summary(entry, variant)
            model = measured.summary(entry, other)
            if not math.isnan(real.mean) and not math.isnan(model.mean):
                out.append((entry, variant, real, model))
    return out


def apart(measured):
    """Those of pairs() that differ by more than APART."""
    return [
        row for row in pairs(measured) if abs(row[2].mean - row[3].mean) > APART * abs(row[3].mean)
    ]


def table(measured):
    variants = measured.plan.variants
    lines = [labpage.row(["figure", *variants, "goal"]), "|" + "---|" * (len(variants) + 2)]
    for entry in measured.measures:
        if measured.arguments[entry["id"]][0] is None or entry["what"] == "versus":
            continue
        unit = measure.KINDS[entry["what"]].unit
        cells = [text_of(measured.summary(entry, variant), unit) for variant in variants]
        if all(cell == "-" for cell in cells):
            continue
        goal = (entry.get("goal") or {}).get("text", "")
        lines.append(labpage.row([labpage.describe(entry), *cells, goal]))
    return "\n".join(lines)


def known(summary):
    return [value for value in summary.values if value is not None]


def text_of(summary, unit):
    """'115 (102-128) %': the mean and the range of the runs, which are too few for more."""
    values = known(summary)
    if not values:
        return "-"
    factor, suffix = pick(unit, summary.mean)
    text = significant(summary.mean * factor)
    if summary.never:
        return f"> {text}{suffix} (never in {summary.never} of {len(values)})"
    if len(values) > 1:
        low, high = (significant(bound * factor) for bound in (min(values), max(values)))
        text += f" ({low}-{high})"
    return text + suffix


def by_chance(one, other):
    """Whether chance explains the difference of the runs' means, or of their ranges where one never
    came to what is measured."""
    mine, theirs = known(one), known(other)
    if one.never or other.never:
        return min(mine) <= max(theirs) and min(theirs) <= max(mine)
    return not stats.apart(mine, theirs)


def differences(measured, reasons):
    """What is apart, a line each, with its reason of @reasons (measure -> text)."""
    rows, clear = {}, set()
    for entry, variant, real, model in apart(measured):
        if not by_chance(real, model):
            clear.add(entry["id"])
        unit = measure.KINDS[entry["what"]].unit
        text = f"{variant} {text_of(real, unit)} for {text_of(model, unit)}"
        rows.setdefault(entry["id"], []).append(text)
    lines = []
    for name, texts in rows.items():
        why = reasons.get(name) or reasons.get("all")
        why = why or (UNEXPLAINED if name in clear else "not told apart (t-test, 95 %)")
        lines.append(f"- {name}: {'; '.join(texts)}: {why}")
    return lines


def agreement(cases, reasons):
    """How many figures agree with the simulation, a sentence."""
    compared = apart_all = chance = told = 0
    for measured, _ in cases:
        why = reasons.get(measured.plan.scenario.id, {})
        compared += len(pairs(measured))
        for entry, _, real, model in apart(measured):
            apart_all += 1
            if by_chance(real, model):
                chance += 1
            else:
                told += bool(why.get(entry["id"]) or why.get("all"))
    other = apart_all - chance
    return (
        f"Of {compared} figures {compared - apart_all} are within {100 * APART:.0f} % of the "
        f"simulation, {chance} more are not told apart from it by so few runs (t-test, 95 %; one "
        f"in twenty would be by chance alone); of the other {other}, {told} have their "
        f"reason under the table and {other - told} none yet"
    )


def reasons_of(path):
    """{scenario: {measure: text}} of the file beside the template."""
    errors = document.Errors(str(path))
    out = {}
    scenario = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, text = line.strip().partition(":")
        if not colon:
            errors.add(number, "not `scenario:` or `  measure: reason`")
        elif not line.startswith(" "):
            scenario = out.setdefault(name, {})
        elif scenario is not None:
            scenario[name] = text.strip()
    if errors.found:
        raise errors
    return out


def machine(rows):
    """A sentence on how the machine did in the runs of a scenario."""
    runs = [result["ground"] for _, _, _, result in rows if result["ground"]]
    builds = {run.get("asked", {}).get("build") for run in runs}
    lag = max(run["lag_over_1ms"] for run in runs)
    longest = max(run.get("lag_max_ms", 0.0) for run in runs)
    busy = [run["machine_busy"] for run in runs]
    marked = [run for run in runs if run["marked"] or run["failed"]]
    text = f"{len(runs)} runs; at most {100 * lag:.2f} % of packets over 1 ms late, "
    text += f"the latest {longest:.0f} ms; machine "
    text += f"{100 * min(busy):.0f}-{100 * max(busy):.0f} % busy"
    if marked:
        what = {item for run in marked for item in run["marked"] + run["failed"]}
        text += f"; **{len(marked)} runs marked**: " + "; ".join(sorted(what))
    if len(builds) > 1:
        text += f"; **programs of {len(builds)} builds**"
    return text + "."


def repeats(measured, rows):
    """'asmp-reno 3, norm-reno 3; simulated 5 seeds'."""
    real, seeds = {}, {}
    for flow, tcp, _, _ in rows:
        name = outcome.variant_name(flow, tcp)
        counts = seeds if flow.startswith(SIMULATED) else real
        counts[name] = counts.get(name, 0) + 1
    text = "Repeats: " + ", ".join(f"{name} {count}" for name, count in real.items())
    if seeds:
        text += "; seeds: " + ", ".join(f"{name} {count}" for name, count in seeds.items())
    return text


def section(measured, rows, reasons, picture):
    data = measured.plan.scenario.data
    lines = [f"## {data['id']}", "", f"{data['title']} ({measured.plan.duration:g} s).", ""]
    lines += [table(measured), ""]
    lines += [f"*{repeats(measured, rows)}. {machine(rows)}*", ""]
    if picture:
        lines += [f"![Rates of the first repeat]({picture})", ""]
    different = differences(measured, reasons.get(data["id"], {}))
    if different:
        lines += ["More than 15 % from the simulation:", "", *different, ""]
    elif any(partner(v, measured.plan.variants) for v in measured.plan.variants):
        lines += ["Within 15 % of the simulation in every figure.", ""]
    return "\n".join(lines)


def slot(cases, match):
    name, which, variant = match.groups()
    for measured, _ in cases:
        if measured.plan.scenario.id != name:
            continue
        entry = next((each for each in measured.measures if each["id"] == which), None)
        if entry is None or variant not in measured.plan.variants:
            break
        return text_of(measured.summary(entry, variant), measure.KINDS[entry["what"]].unit)
    raise PageError(f"nothing was measured for {match.group(0)}")


def fill(template, cases, reasons, pictures, commands):
    """@cases: (Measured, rows) for each scenario."""
    sections = [
        section(measured, rows, reasons, pictures.get(measured.plan.scenario.id))
        for measured, rows in cases
    ]
    text = template.replace("@COMMANDS@", "\n".join(f"    {line}" for line in commands))
    text = text.replace("@AGREEMENT@", agreement(cases, reasons))
    text = text.replace("@RIVALS@", rivalry.overview(cases))
    text = text.replace("@TOGETHER@", rivalry.together(cases))
    text = text.replace("@SCENARIOS@", "\n".join(sections).rstrip())
    return SLOT.sub(lambda match: slot(cases, match), text)
