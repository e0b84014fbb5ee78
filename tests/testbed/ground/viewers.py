# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/results/real-viewers.md: what viewers saw."""

import re
import statistics

import matplotlib
import numpy
from lab.units import significant

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from . import page  # noqa: E402
from .quality import FROM_S  # noqa: E402

NAMES = {"asmp": "ASMP", "assp": "ASSP", "elm": "ELM"}
COLOURS = {"asmp": "tab:blue", "assp": "tab:green", "elm": "tab:orange"}
FIXED = ("0.8", "0.65", "0.5", "0.35")  # greys
SLOT = re.compile(r"@([a-z0-9-]+)/([a-z0-9-]+)(?:/([a-z0-9=]+))?@")
STOP_S = 0.2  # no picture of ours is to stand longer
HEAD = ("SSIM", "PSNR", "not in time", "stops > 100, > 200 ms", "longest stop", "delay")


class Watched:
    """All runs of a scenario that had a film. @rows: (flow, tcp, repeat, result)."""

    def __init__(self, scenario, rows):
        self.scenario, self.flows = scenario, {}
        for flow, _, _, result in rows:
            self.flows.setdefault(flow, []).append(result)
        self.receivers = list(rows[0][3]["viewers"])
        self.duration, self.film = rows[0][3]["duration"], rows[0][3]["ground"]["asked"]["film"]
        counts = [len(runs) for runs in self.flows.values()]
        self.fewest, self.repeats = min(counts), max(counts)

    def values(self, flow, key, receiver=None):
        """Of each run, the mean over viewers, or one's."""
        chosen = [receiver] if receiver else self.receivers
        out = []
        for run in self.flows[flow]:
            each = [run["viewers"][name].get(key) for name in chosen if name in run["viewers"]]
            each = [value for value in each if value is not None]
            if each:
                out.append(statistics.fmean(each))
        return out

    def mean(self, flow, key, receiver=None):
        values = self.values(flow, key, receiver)
        return statistics.fmean(values) if values else float("nan")

    def best_fixed(self):
        """The fixed rate at which viewers see the most, or None."""
        fixed = [flow for flow in self.flows if flow not in NAMES]
        return max(fixed, key=lambda flow: self.mean(flow, "ssim"), default=None)

    def above(self):
        """Those of ours that show more than the best fixed rate."""
        best = self.best_fixed()
        return [
            flow
            for flow in NAMES
            if flow in self.flows and best and self.mean(flow, "ssim") > self.mean(best, "ssim")
        ]


def name_of(flow):
    kind, _, rate = flow.partition("=")
    return NAMES.get(kind, f"fixed, {rate.replace('k', ' kb/s').replace('M', ' Mb/s')}")


def spread(values, form):
    """'0.91 (0.90-0.92)' of the repeats."""
    if not values:
        return "-"
    text = form.format(statistics.fmean(values))
    if len(values) > 1:
        text += f" ({form.format(min(values))}-{form.format(max(values))})"
    return text


def table(watched):
    """A row a flow and viewer."""
    lines = [page.labpage.row(["sent by", "viewer", "received", "packets lost", *HEAD])]
    lines.append("|" + "---|" * (len(HEAD) + 4))
    for flow in watched.flows:
        mean = watched.values(flow, "ssim")
        lines.append(
            page.labpage.row(
                [f"**{name_of(flow)}**", "all", "", "", spread(mean, "**{:.3f}**"), *[""] * 5]
            )
        )
        for receiver in watched.receivers:
            rate, lost = network(watched, flow, receiver)
            stops = [watched.mean(flow, f"stops_{ms}ms", receiver) for ms in (100, 200)]
            cells = ["", receiver, f"{significant(rate / 1e3)} kb/s", f"{100 * lost:.1f} %"]
            cells += [spread(watched.values(flow, "ssim", receiver), "{:.3f}")]
            cells += [f"{watched.mean(flow, 'psnr', receiver):.1f} dB"]
            cells += [f"{100 * watched.mean(flow, 'lost', receiver):.1f} %"]
            cells += [f"{stops[0]:.3g}, {stops[1]:.3g}"]
            cells += [milliseconds(max(watched.values(flow, "longest_stop", receiver)))]
            cells += [milliseconds(watched.mean(flow, "delay_mean", receiver))]
            lines.append(page.labpage.row(cells))
    return "\n".join(lines)


def network(watched, flow, receiver):
    """(bit/s, share of packets lost) from FROM_S on, means of the runs."""
    rates, losses = [], []
    for run in watched.flows[flow]:
        (own,) = (each for each in run["flows"].values() if each["kind"] == "multicast")
        sink = own["receivers"][receiver]
        first = int(FROM_S / run["bin"])
        packets, lost = sum(sink["packets"][first:]), sum(sink["lost"][first:])
        rates.append(8 * sum(sink["bytes"][first:]) / (run["duration"] - FROM_S))
        losses.append(lost / (packets + lost) if packets + lost else 0.0)
    return statistics.fmean(rates), statistics.fmean(losses)


def milliseconds(seconds):
    return "-" if seconds != seconds else f"{1000 * seconds:.0f} ms"


def verdict(watched):
    best = watched.best_fixed()
    if best is None:
        return ""
    text = f"The best fixed rate is {name_of(best).removeprefix('fixed, ')}, mean SSIM "
    text += f"{watched.mean(best, 'ssim'):.3f}. "
    above = watched.above()
    each = ", ".join(f"{NAMES[flow]} {watched.mean(flow, 'ssim'):.3f}" for flow in above)
    below = [flow for flow in NAMES if flow in watched.flows and flow not in above]
    others = ", ".join(f"{NAMES[flow]} {watched.mean(flow, 'ssim'):.3f}" for flow in below)
    text += f"Above it: {each or 'none of ours'}" + (f"; not above: {others}" if others else "")
    return text + "."


def draw(watched, path):
    """SSIM over time, a panel for each viewer; the first repeat."""
    figure, panels = plt.subplots(
        len(watched.receivers), 1, figsize=(9, 2.2 * len(watched.receivers)), sharex=True
    )
    greys = dict(zip((f for f in watched.flows if f not in NAMES), FIXED, strict=False))
    for panel, receiver in zip(numpy.atleast_1d(panels), watched.receivers, strict=True):
        for flow, runs in watched.flows.items():
            saw = runs[0]["viewers"].get(receiver)
            if saw is None:
                continue
            values, times = numpy.array(saw["ssim_values"]), numpy.array(saw["times"])
            smooth = numpy.convolve(values, numpy.ones(25) / 25, "valid")
            colour = COLOURS.get(flow, greys.get(flow))
            panel.plot(times[len(times) - len(smooth) :], smooth, color=colour, label=name_of(flow))
        panel.set_ylabel("SSIM, 1 s")
        panel.set_title(receiver, fontsize=9, loc="left")
        panel.grid(alpha=0.3)
    numpy.atleast_1d(panels)[-1].set_xlabel("s")
    numpy.atleast_1d(panels)[0].legend(fontsize=7, ncol=3)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)


def section(watched, picture, log):
    data = watched.scenario.data
    lines = [f"## {data['id']}", "", f"{data['title']} ({watched.duration:g} s).", ""]
    lines += [f"{verdict(watched)} Film: `{watched.film}`.", "", table(watched), ""]
    lines += [f"*{runs_each(watched)}. {page.machine(log)}*", ""]
    return "\n".join([*lines, f"![SSIM over time]({picture})", ""])


def runs_each(watched):
    """'3 runs each', or '1 to 3' where some were not kept."""
    number = str(watched.repeats)
    if watched.fewest < watched.repeats:
        number = f"{watched.fewest} to {number}"
    return f"{number} run{'s' * (watched.repeats > 1)} each"


def slot(cases, match):
    """@SCENARIO/ssim/FLOW@, @SCENARIO/verdict@ and so on."""
    name, which, flow = match.groups()
    for watched in cases:
        if watched.scenario.id != name:
            continue
        if which == "verdict":
            return verdict(watched)
        if which == "ssim" and flow in watched.flows:
            return f"{watched.mean(flow, 'ssim'):.3f}"
        if which == "stop" and flow in watched.flows:
            each = [watched.values(flow, "longest_stop", name) for name in watched.receivers]
            return milliseconds(max(max(values) for values in each))
    raise page.PageError(f"nothing was measured for {match.group(0)}")


def stops(cases):
    """Those of ours whose picture stood for longer than is wanted, a sentence."""
    found = []
    for watched in cases:
        for flow in (flow for flow in NAMES if flow in watched.flows):
            longest = {
                name: watched.values(flow, "longest_stop", name) for name in watched.receivers
            }
            runs = len(watched.flows[flow])
            for name, values in longest.items():
                over = [value for value in values if value > STOP_S]
                if over:
                    text = (
                        f"{NAMES[flow]} {name} in {watched.scenario.id}, {milliseconds(max(over))}"
                    )
                    found.append(f"{text} in {len(over)} of {runs} runs")
    return "missed by " + "; ".join(found) if found else "reached in every run"


def fill(template, cases, sections, commands):
    """@cases: Watched; @sections: theirs."""
    text = template.replace("@COMMANDS@", "\n".join(f"    {line}" for line in commands))
    text = text.replace("@VIEWERS@", "\n".join(sections).rstrip())
    text = text.replace("@STOPS@", stops(cases))
    return SLOT.sub(lambda match: slot(cases, match), text)
