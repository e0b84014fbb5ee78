# SPDX-License-Identifier: LGPL-2.1-or-later
"""The report: pages of docs/results from their templates and the outcomes."""

import math
import re

from . import duel, measure, paired
from .table import mean_text, paper_text, row
from .units import given, show

DIFFERS = 0.10  # from the paper, in what is a ratio: to be explained
LOSSES = {"loss", "frame_loss"}
LOSS_DIFFERS = 1.5  # times; ten points of loss are a broken link
LOSS_FLOOR = 0.0005
SLOT = re.compile(r"@([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)@")
COMMON = {
    "asmp": ("published", "enhanced", "tfmcc", "pgmcc", "tcp"),
    "assp": ("published", "enhanced", "smcc", "tcp"),
    "elm": ("published", "enhanced", "rlc", "tcp"),
    "which-one": ("asmp", "assp", "elm", "tfmcc", "smcc", "rlc"),
}


class PageError(Exception):
    """The template asks for what there is not."""


def unit(entry):
    return measure.KINDS[entry["what"]].unit


def natural(name):
    """A key by which scale-100 stands before scale-1000."""
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", name)]


def papers(entry, variants):
    """'83.05 %', or 'published 83.05 %, tfmcc 143.3 %'."""
    known = [v for v in variants if v in (entry.get("published") or {})]
    if known == ["published"]:
        return paper_text(entry, "published")
    return ", ".join(f"{variant} {paper_text(entry, variant)}" for variant in known)


def goal_text(outcome, entry):
    """(goal, verdict) of `enhanced`: ok or missed, with (open) where chance may decide."""
    goal = (entry.get("goal") or {}).get("text", "")
    if not goal or "enhanced" not in outcome.plan.variants:
        return goal, ""
    verdict = outcome.goal(entry, "enhanced")
    text = {None: "", "ok": "ok", "none": "-"}.get(verdict, "missed")
    chance = text in ("ok", "missed") and outcome.is_open(entry, "enhanced")
    return goal, text + (" (open)" if chance else "")


def cell(outcome, entry, variant):
    text = mean_text(outcome.summary(entry, variant), unit(entry))
    return f"**{text}**" if outcome.verdict(entry, variant) in ("low", "high", "none") else text


def table(outcome):
    variants = outcome.plan.variants
    lines = [row(["figure", "paper", *variants, "goal", ""])]
    lines.append("|" + "---|" * (len(variants) + 4))
    for entry in outcome.measures:
        if outcome.arguments[entry["id"]][0] is None:
            continue
        cells = [cell(outcome, entry, variant) for variant in variants]
        name = entry.get("title") or describe(entry)
        lines.append(row([name, papers(entry, variants), *cells, *goal_text(outcome, entry)]))
    return "\n".join(lines)


def protocols(outcome):
    """A row for each variant, a column for each figure that any of them has."""
    variants = outcome.plan.variants
    rows = {variant: [] for variant in variants}
    heads = []
    for entry in outcome.measures:
        if outcome.arguments[entry["id"]][0] is None:
            continue
        means = {variant: outcome.summary(entry, variant) for variant in variants}
        if all(math.isnan(summary.mean) for summary in means.values()):
            continue
        heads.append(entry.get("title") or describe(entry))
        for variant, summary in means.items():
            rows[variant].append(mean_text(summary, unit(entry)))
    lines = [row(["", *heads]), "|" + "---|" * (len(heads) + 1)]
    return "\n".join(lines + [row([variant, *cells]) for variant, cells in rows.items()])


def describe(entry):
    """'share-l1 (30-120 s)', 'cov (from 30 s)'."""
    begin = entry.get("from") or entry.get("event") or 0
    end = entry.get("to")
    if end is not None:
        return f"{entry['id']} ({begin:g}-{end:g} s)"
    return f"{entry['id']} (from {begin:g} s)" if begin else entry["id"]


def is_far(entry, mean, paper):
    if entry["what"] in LOSSES:
        low, high = sorted([max(mean, LOSS_FLOOR), max(paper, LOSS_FLOOR)])
        return high > LOSS_DIFFERS * low
    return (abs(mean - paper) if unit(entry) == "ratio" else abs(mean / paper - 1)) > DIFFERS


def differences(outcome):
    """(measure, variant, ours, the paper's, why or None) where they are far apart."""
    out = []
    for entry in outcome.measures:
        for variant, paper in (entry.get("published") or {}).items():
            if variant not in outcome.plan.variants:
                continue
            mean = outcome.summary(entry, variant).mean
            if math.isnan(mean):
                continue
            if paper and is_far(entry, mean, paper):
                why = (entry.get("differs") or {}).get(variant)
                out.append((entry, variant, mean, paper, why))
    return out


def difference_lines(outcome):
    whole = outcome.plan.scenario.data.get("differs")
    lines = []
    for entry, variant, mean, paper, why in differences(outcome):
        ours, theirs = show(mean, unit(entry)), given(paper, unit(entry))
        why = why or ("see above" if whole else "not explained yet")
        lines.append(f"- {entry['id']}, {variant}: {ours} here, {theirs} in the paper: {why}")
    return lines


def unexplained(outcome):
    """What has neither a `differs` of its own nor one of the scenario."""
    if outcome.plan.scenario.data.get("differs"):
        return []
    return [(entry["id"], variant) for entry, variant, _, _, why in differences(outcome) if not why]


def section(outcome, picture):
    """One scenario, as Markdown."""
    data = outcome.plan.scenario.data
    seeds = len(outcome.plan.seeds)
    runs = f"{seeds} runs" if seeds > 1 else "One run"
    lines = [f"### {data['id']}", "", f"{data['title']}. {runs} of {outcome.plan.duration:g} s."]
    if data.get("source"):
        lines[-1] += f" Source: {data['source']}."
    plain = not any(entry.get("published") or entry.get("goal") for entry in outcome.measures)
    lines += ["", protocols(outcome) if plain else table(outcome), ""]
    if data.get("chosen"):
        lines += [f"*Chosen*: {data['chosen']}", ""]
    if data.get("differs"):
        lines += [f"*Differs from the paper*: {data['differs']}", ""]
    apart = difference_lines(outcome)
    if apart:
        far = "10 points (a tenth, of rates and times; 1.5 times, of losses)"
        lines += [f"More than {far} from the paper:", ""]
        lines += [*apart, ""]
    if picture:
        figures = [plot["figure"] for plot in data["plots"] if plot.get("figure")]
        lines += [f"![{data['title']}]({picture})", ""]
        if figures:
            lines += [f"*Seed {outcome.plan.seeds[0]}; {'; '.join(figures)} redrawn.*", ""]
    return "\n".join(lines)


def overview(outcomes, stem):
    """A row for each scenario: its first figure, and how many goals and bands hold."""
    ran = {variant for outcome in outcomes for variant in outcome.plan.variants}
    common = [variant for variant in COMMON[stem] if variant in ran]
    judged = any(goal_text(outcome, e)[0] for outcome in outcomes for e in outcome.measures)
    heads = ["scenario", "figure", *common, *(["goals of enhanced", "bands"] if judged else [])]
    lines = [row(heads), "|" + "---|" * len(heads)]
    for outcome in outcomes:
        first = next((e for e in outcome.measures if outcome.arguments[e["id"]][0]), None)
        if first is None:
            continue
        cells = [
            cell(outcome, first, name) if name in outcome.plan.variants else "" for name in common
        ]
        verdicts = [goal_text(outcome, entry)[1] for entry in outcome.measures]
        met = sum(verdict.startswith("ok") for verdict in verdicts)
        all_goals = sum(verdict != "" for verdict in verdicts)
        bands = outcome.bands()
        held = bands - len(outcome.failures())
        name = outcome.plan.scenario.id
        link = f"[{name}](#{name})"
        verdict = [f"{met} of {all_goals}", f"{held} of {bands}"] if judged else []
        lines.append(row([link, first["id"], *cells, *verdict]))
    return "\n".join(lines)


def missed(outcomes):
    """The goals that `enhanced` misses, a row each."""
    total, lines = 0, []
    for outcome in outcomes:
        name = outcome.plan.scenario.id
        for entry in outcome.measures:
            goal, verdict = goal_text(outcome, entry)
            total += verdict != ""
            if verdict.startswith("missed"):
                ours = mean_text(outcome.summary(entry, "enhanced"), unit(entry))
                if entry["goal"].get("each"):
                    wrong = outcome.runs_beyond(entry, "enhanced")
                    ours += f" (not in {sum(map(bool, wrong))} of {len(wrong)})"
                title = entry.get("title") or describe(entry)
                by_chance = " (open)" if verdict.endswith("(open)") else ""
                lines.append(row([f"[{name}](#{name})", title, ours, goal + by_chance]))
    head = f"`enhanced` misses {len(lines)} of {total} goals."
    if not lines:
        return head
    head += " Open: chance may decide, as the confidence interval has the goal's edge in it."
    rows = [row(["scenario", "figure", "enhanced", "goal"]), "|" + "---|" * 4, *lines]
    return "\n".join([head, "", *rows])


def fill(template, outcomes, pictures, command, stem="asmp"):
    """The page. Slots: @COMMAND@, @OVERVIEW@, @MISSED@, @DUEL@, @BEHIND@, @DIFFERENCES@,
    @PAIRED@, @SCENARIOS:PREFIX@, and @SCENARIO/MEASURE/VARIANT@ for one figure in the text."""
    by_id = {outcome.plan.scenario.id: outcome for outcome in outcomes}

    def figure(match):
        name, which, variant = match.groups()
        if name not in by_id:
            return "-"  # not among the files of this report
        entries = [entry for entry in by_id[name].measures if entry["id"] == which]
        if not entries:
            raise PageError(f"the template's {match.group()}: '{name}' has no measure '{which}'")
        if variant not in by_id[name].plan.variants:
            return "-"
        return mean_text(by_id[name].summary(entries[0], variant), unit(entries[0]))

    def sections(match):
        chosen = [out for out in outcomes if out.plan.scenario.id.startswith(match.group(1))]
        texts = [section(out, pictures.get(out.plan.scenario.id)) for out in chosen]
        return "\n".join(texts) or "None of them was run.\n"

    text = template.replace("@COMMAND@", command).replace("@OVERVIEW@", overview(outcomes, stem))
    text = text.replace("@MISSED@", missed(outcomes))
    text = text.replace("@DUEL@", duel.table(outcomes)).replace("@BEHIND@", duel.behind(outcomes))
    text = text.replace("@DIFFERENCES@", duel.differences(outcomes))
    text = text.replace("@PAIRED@", paired.table(outcomes))
    text = re.sub(r"@SCENARIOS:([a-z0-9-]+)@\n?", sections, text)
    text = SLOT.sub(figure, text)
    left = re.search(r"@[A-Z][A-Z:a-z0-9-]*@", text)
    if left:
        raise PageError(f"the template's {left.group()} is unknown")
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"
