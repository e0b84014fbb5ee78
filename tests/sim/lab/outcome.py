# SPDX-License-Identifier: LGPL-2.1-or-later
"""A scenario's measures over seeds and variants, and the verdicts."""

import math
import threading

from . import measure, normal, sections
from .runner import Job
from .series import Run
from .stats import summarise

CROSS = "versus"  # the one kind that needs two variants


class Plan:
    """What to run of one scenario."""

    def __init__(self, scenario, variants=None, seeds=None, duration=None, smoke=False):
        data = scenario.data
        short = (data.get("smoke") or {}) if smoke else {}
        self.scenario, self.smoke = scenario, smoke
        names = [variant["id"] for variant in data["variants"]]
        self.variants = list(variants or short.get("variants") or names)
        count = short.get("seeds") or data["seeds"]
        self.seeds = list(seeds or range(1, count + 1))
        wanted = duration or short.get("duration") or data["duration"]
        self.duration = min(wanted, data["duration"])

    def jobs(self):
        # Work grows with time and with who is there, even on a shared link.
        hosts = sum(flow.get("count", 1) for flow in self.scenario.data["flows"])
        for flow in self.scenario.data["flows"]:
            hosts += sum(entry["count"] for entry in flow.get("receivers", ()))
        weight = self.duration * (1 + hosts)
        if self.scenario.cell:
            weight = self.scenario.cell.packets
        return [
            Job(self.scenario, variant, seed, self.duration, weight)
            for variant in self.variants
            for seed in self.seeds
        ]


class Outcome:
    """The values of one plan; add() from any thread."""

    def __init__(self, plan):
        self.plan = plan
        self.values = {}  # (variant, seed) -> {measure: value}
        self.lock = threading.Lock()
        self.measures = plan.scenario.data["measures"]
        self.arguments = {
            entry["id"]: normal.arguments(plan.scenario, entry, plan.duration, plan.smoke)
            for entry in self.measures
        }

    def add(self, job, result):
        variant = self.plan.scenario.variant(job.variant)
        run = Run(result, normal.stands_for(self.plan.scenario, variant))
        values = {}
        for entry in self.measures:
            arguments, _ = self.arguments[entry["id"]]
            if arguments is not None and entry["what"] != CROSS:
                values[entry["id"]] = measure.evaluate(run, entry["what"], arguments)
        with self.lock:
            self.values[job.variant, job.seed] = values

    def value(self, entry, variant, seed):
        if entry["what"] == CROSS:
            return self.versus(entry, variant, seed)
        return self.values.get((variant, seed), {}).get(entry["id"])

    def versus(self, entry, variant, seed):
        own = self.values.get((variant, seed), {}).get(entry["measure"])
        other = self.values.get((entry["variant"], seed), {}).get(entry["measure"])
        if own is None or not other or math.isinf(own) or math.isinf(other):
            return None
        return own / other

    def span(self, entry):
        """What "never" counts as."""
        arguments, _ = self.arguments[entry["id"]]
        return (arguments or {}).get("to", 0) - (arguments or {}).get("event", 0)

    def summary(self, entry, variant):
        values = [self.value(entry, variant, seed) for seed in self.plan.seeds]
        return summarise(values, self.span(entry))

    def finite_values(self, entry, variant):
        """By seed, None where there was none; "never" as the span."""
        values = [self.value(entry, variant, seed) for seed in self.plan.seeds]
        return [self.span(entry) if value == math.inf else value for value in values]

    def band(self, entry, variant):
        """What the mean must lie in; None when there is none for a run like this."""
        smoke = (entry.get("smoke") or {}) if self.plan.smoke else {}
        if "band" in smoke:
            return smoke["band"].get(variant)
        _, whole = self.arguments[entry["id"]]
        return (entry.get("band") or {}).get(variant) if whole else None

    def verdict(self, entry, variant):
        """'ok', 'low', 'high', 'none' (no value), or None without a band."""
        band = self.band(entry, variant)
        if band is None:
            return None
        return judge(self.summary(entry, variant).mean, band[0], band[1])

    def goal(self, entry, variant):
        """The same for the goal; None when it is only a text, or is about another variant. What was
        never reached in some runs is not within any time."""
        limits = self.goal_limits(entry, variant)
        if limits is None:
            return None
        summary = self.summary(entry, variant)
        if summary.never and limits[1] < math.inf:
            return "high"
        if entry["goal"].get("each"):
            wrong = self.runs_beyond(entry, variant)
            return next((verdict for verdict in wrong if verdict), "ok") if wrong else "none"
        return judge(summary.mean, *limits)

    def runs_beyond(self, entry, variant):
        """Of a goal for each run: '', 'low' or 'high'; runs without a value are left out."""
        limits = self.goal_limits(entry, variant)
        values = [v for v in self.finite_values(entry, variant) if v is not None]
        return [judge(value, *limits).replace("ok", "") for value in values]

    def is_open(self, entry, variant):
        """Whether the confidence interval has an edge of the goal in it, so that other seeds might
        say otherwise."""
        limits, summary = self.goal_limits(entry, variant), self.summary(entry, variant)
        if limits is None or math.isnan(summary.half) or summary.never:
            return False
        if entry["goal"].get("each"):
            return False
        return any(abs(summary.mean - limit) < summary.half for limit in limits)

    def goal_limits(self, entry, variant):
        """(lowest, highest) that the goal allows, or None."""
        goal = entry.get("goal")
        if not goal or ("lo" not in goal and "hi" not in goal):
            return None
        low, high = goal.get("lo", -math.inf), goal.get("hi", math.inf)
        if "of" in goal:
            base = self.base(entry, variant, goal["of"])
            if base is None:
                return None
            low, high = low * base, high * base
        return low, high

    def base(self, entry, variant, name):
        """The mean that a relative goal refers to: this measure in a variant, or another one."""
        others = [other for other in self.measures if other["id"] == name]
        if others:
            mean = self.summary(others[0], variant).mean
        elif name in self.plan.variants:
            mean = self.summary(entry, name).mean
        else:
            return None
        return None if math.isnan(mean) else mean

    def bands(self):
        """How many there are for runs like these."""
        return sum(
            self.band(entry, variant) is not None
            for entry in self.measures
            for variant in self.plan.variants
        )

    def failures(self):
        """(measure, variant, verdict) of every band that does not hold."""
        out = []
        for entry in self.measures:
            for variant in self.plan.variants:
                verdict = self.verdict(entry, variant)
                if verdict not in (None, "ok"):
                    out.append((entry, variant, verdict))
        return out

    def as_json(self):
        data = self.plan.scenario.data
        out = {"scenario": data["id"], "duration": self.plan.duration, "seeds": self.plan.seeds}
        out["variants"] = {variant: {} for variant in self.plan.variants}
        for entry in self.measures:
            for variant in self.plan.variants:
                summary = self.summary(entry, variant)
                out["variants"][variant][entry["id"]] = {
                    "what": entry["what"],
                    "unit": measure.KINDS[entry["what"]].unit,
                    "mean": finite(summary.mean),
                    "ci95": finite(summary.half),
                    "values": [finite(value) for value in summary.values],
                    "never": summary.never,
                    "published": (entry.get("published") or {}).get(variant),
                    "band": self.band(entry, variant),
                    "verdict": self.verdict(entry, variant),
                    "goal": (entry.get("goal") or {}).get("text"),
                    "goal_verdict": self.goal(entry, variant),
                }
        return out


def judge(value, low, high):
    if math.isnan(value):
        return "none"
    slack = 1e-9 * max(abs(value), 1e-9)
    return "low" if value < low - slack else "high" if value > high + slack else "ok"


def finite(value):
    """JSON has neither nan nor infinity."""
    return value if value is not None and math.isfinite(value) else None


def known_variant(scenario, name):
    names = [variant["id"] for variant in scenario.data["variants"]]
    return name in names or name in sections.WORDS or name == sections.CONTROL
