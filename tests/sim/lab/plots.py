# SPDX-License-Identifier: LGPL-2.1-or-later
"""The figures: one picture for each scenario's `plots`, a column for each variant; one over all."""

import itertools
import logging
import math

import numpy

from .series import NoValue, Run

logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no word on its cache's place

import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

LINE = 1.1
STYLES = ("-", "--", "-.", ":")
FLOWS = ("#c0392b", "#1f5f8b", "#2e8b57", "#8e5ea2", "#b8860b", "#555555")
VARIANTS = {
    "published": ("#e0a030", "s"),
    "enhanced": ("#c0392b", "o"),
    "tfmcc": ("#1f5f8b", "^"),
    "pgmcc": ("#2e8b57", "v"),
    "smcc": ("#8e5ea2", "d"),
    "naive": ("#2e8b57", "v"),
    "rlc": ("#1f5f8b", "^"),
    "asmp": ("#c0392b", "o"),
    "assp": ("#e0a030", "s"),
    "elm": ("#2e8b57", "P"),
    "tcp": ("#777777", "x"),
}
UNITS = {
    "rates": "kb/s",
    "target": "kb/s",
    "loss": "loss, %",
    "delay": "one-way delay, ms",
    "queue": "queueing delay, ms",
    "level": "highest layer, from 1",
}


def sums(run, values, every):
    """(ends of the slots, sums)."""
    edges = numpy.arange(0, run.duration + 1e-9, every)
    return edges[1:], numpy.diff(run.at(values, edges))


def curves_of(run, what, sinks, every=1.0):
    """[(t, y)] of each sink."""
    out = []
    for sink in sinks:
        if what == "rates":
            t, total = sums(run, sink["bytes"], every)
            y = 8 * total / every / 1000
        elif what == "loss":
            t, lost = sums(run, sink["lost"], 5 * every)
            _, packets = sums(run, sink["packets"], 5 * every)
            y = 100 * lost / numpy.maximum(lost + packets, 1)
        else:
            t, total = sums(run, sink["delay_sum"], every)
            _, count = sums(run, sink["delay_count"], every)
            y = numpy.where(count > 0, 1000 * total / numpy.maximum(count, 1), numpy.nan)
        out.append((t, numpy.where(present(run, sink, t), y, numpy.nan)))
    return out


def present(run, sink, times):
    """Whether a receiver is a member before each of @times; a unicast flow always is."""
    pairs = sink.get("member")
    if not pairs:
        return numpy.ones(len(times), dtype=bool)
    index = numpy.searchsorted([t for t, _ in pairs], times - 1e-9) - 1
    members = numpy.array([value > 0 for _, value in pairs])
    return (index >= 0) & members[numpy.maximum(index, 0)]


def steps_curve(run, pairs):
    t = [t for t, _ in pairs] + [run.duration]
    y = [value / 1000 for _, value in pairs]
    return t, y + y[-1:]


def draw_curves(axes, curves, colour, label, style="-"):
    """One curve, or the mean of several in the range between the lowest and highest."""
    if len(curves) == 1:
        axes.plot(*curves[0], style, color=colour, linewidth=LINE, label=label)
        return
    t = curves[0][0]
    y = numpy.ma.masked_invalid([curve for _, curve in curves])
    axes.fill_between(t, y.min(axis=0), y.max(axis=0), color=colour, alpha=0.18, linewidth=0)
    label = f"{label} (mean of {len(curves)})"
    axes.plot(t, y.mean(axis=0).filled(numpy.nan), color=colour, linewidth=LINE, label=label)


def draw_flow(axes, run, what, member, colour):
    flow, _, receiver = member.partition("/")
    try:
        if what == "level":
            for sink in run.sinks(flow, receiver or None)[:1]:
                if sink.get("stream"):
                    pairs = [(t, 1000 * (value + 1)) for t, value in sink["stream"]]
                    t, y = steps_curve(run, pairs)
                    axes.step(t, y, where="post", color=colour, linewidth=LINE, label=member)
            return
        if what == "target":
            pairs = run.sender(flow)["target_bps"]
            if pairs:
                axes.step(*steps_curve(run, pairs), where="post", color=colour, label=member)
            return
        sinks = run.sinks(flow, receiver or None)
    except NoValue:
        return
    # Receivers that the file lists apart are drawn apart.
    groups = {}
    for sink in sinks:
        groups.setdefault(sink["group"] if "member" in sink else None, []).append(sink)
    for (group, members), style in zip(groups.items(), itertools.cycle(STYLES)):
        label = f"{member}/{group}" if len(groups) > 1 else member
        draw_curves(axes, curves_of(run, what, members), colour, label, style)


def draw_panel(axes, run, plot, fair):
    if plot["what"] == "queue":
        for name, colour in zip(plot["links"], FLOWS, strict=False):
            draw_curves(axes, curves_of(run, "delay", [run.link(name)]), colour, name)
        return
    for index, member in enumerate(plot["flows"]):
        draw_flow(axes, run, plot["what"], member, FLOWS[index % len(FLOWS)])
    if plot["what"] in ("rates", "target"):
        for begin, end, rate in fair.get(plot["flows"][0].partition("/")[0], ()):
            axes.plot([begin, end], [rate / 1000] * 2, ":", color="black", linewidth=0.9)


def fair_rates(outcome):
    """flow -> [(from, to, rate)] of its `share` measures: what is fair, and when."""
    out = {}
    for entry in outcome.measures:
        arguments, _ = outcome.arguments[entry["id"]]
        if entry["what"] == "share" and arguments is not None:
            line = (arguments["from"], arguments["to"], arguments["fair"])
            out.setdefault(arguments["flow"], []).append(line)
    return out


def ceiling(axes_row):
    """One scale for a row, which a short peak does not spoil."""
    tops = [
        numpy.nanpercentile(line.get_ydata(), 99)
        for axes in axes_row
        for line in axes.get_lines()
        if len(line.get_ydata()) and numpy.isfinite(line.get_ydata()).any()
    ]
    top = max(tops, default=0)
    for axes in axes_row:
        axes.set_ylim(0, 1.15 * top if top > 0 and math.isfinite(top) else 1)


def scenario_figure(outcome, read, path):
    """Draws the scenario's `plots` of the first seed into @path; @read (variant): its result."""
    plots = outcome.plan.scenario.data["plots"]
    results = {variant: read(variant) for variant in outcome.plan.variants}
    variants = [variant for variant in outcome.plan.variants if results[variant] is not None]
    if not plots or not variants:
        return False
    size = (0.6 + 3.1 * len(variants), 0.5 + 2.1 * len(plots))
    figure, grid = plt.subplots(len(plots), len(variants), figsize=size, squeeze=False, sharex=True)
    fair = fair_rates(outcome)
    for row, plot in zip(grid, plots, strict=True):
        for axes, variant in zip(row, variants, strict=True):
            if variant not in plot.get("variants", variants):
                axes.set_axis_off()
                continue
            result, stands_for = results[variant]
            draw_panel(axes, Run(result, stands_for), plot, fair)
            axes.set_title(f"{variant}: {plot['title']}", fontsize=8)
            axes.tick_params(labelsize=7)
            axes.grid(True, linewidth=0.3, alpha=0.6)
            axes.set_xlim(0, outcome.plan.duration)
        ceiling(row)
        row[0].set_ylabel(UNITS[plot["what"]], fontsize=8)
        handles = [axes for axes in row if axes.get_legend_handles_labels()[0]]
        if handles:
            handles[0].legend(fontsize=6, loc="upper right", framealpha=0.7)
    for axes in grid[-1]:
        axes.set_xlabel("s", fontsize=8)
    save(figure, path)
    return True


COMMON = (
    ("share", "share of the fair rate, %", 100),
    ("cov", "CoV of 1-s throughput", 1),
    ("loss", "loss, %", 100),
)
OVERVIEW = {
    "asmp": (*COMMON, ("queue_delay", "queueing delay, ms", 1000)),
    "assp": (*COMMON, ("switch_rate", "switches a minute", 1)),
    "elm": (
        ("jain", "Jain's index with TCP", 1),
        ("switches", "changes of layer", 1),
        ("loss", "loss, %", 100),
    ),
    "which-one": (
        ("throughput", "mean rate of a receiver, kb/s", 0.001),
        ("cov", "CoV of 1-s rates", 1),
        ("loss", "loss, %", 100),
        ("control_share", "feedback, %", 100),
    ),
}


def first_of(outcome, what):
    """The first measure of a kind that is about a multicast flow, or about a link."""
    flows = {f["id"]: f["type"] for f in outcome.plan.scenario.data["flows"]}
    for entry in outcome.measures:
        if entry["what"] == what and flows.get(entry.get("flow"), "multicast") == "multicast":
            return entry
    return None


def overview_figure(outcomes, path, stem="asmp"):
    """The page's first figures of all scenarios: a row each, a mark for each variant."""
    height = 0.8 + 0.2 * len(outcomes)
    kinds = OVERVIEW[stem]
    figure, grid = plt.subplots(1, len(kinds), figsize=(11, height), sharey=True)
    for axes, (what, label, factor) in zip(grid, kinds, strict=True):
        for row, outcome in enumerate(outcomes):
            entry = first_of(outcome, what)
            for variant, (colour, mark) in VARIANTS.items() if entry else ():
                if variant not in outcome.plan.variants:
                    continue
                summary = outcome.summary(entry, variant)
                if math.isnan(summary.mean):
                    continue
                half = 0 if math.isnan(summary.half) else summary.half
                axes.errorbar(
                    factor * summary.mean,
                    row,
                    xerr=factor * half,
                    fmt=mark,
                    color=colour,
                    markersize=4,
                    linewidth=0.7,
                    label=variant,
                )
        axes.set_xlabel(label, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(True, linewidth=0.3, alpha=0.6)
        axes.set_xlim(left=0)
    if kinds[0][0] == "share":
        grid[0].axvline(100, color="black", linewidth=0.6)
    grid[0].set_yticks(range(len(outcomes)), [outcome.plan.scenario.id for outcome in outcomes])
    grid[0].set_ylim(len(outcomes) - 0.5, -0.5)
    seen = {}
    for axes in grid:
        handles, labels = axes.get_legend_handles_labels()
        seen |= dict(zip(labels, handles, strict=True))
    figure.legend(
        seen.values(), seen.keys(), fontsize=7, ncols=max(1, len(seen)), loc="upper center"
    )
    save(figure, path, top=1 - 0.35 / height)


def heat_map(axes, data, columns, rows, title, limits):
    """Ratios, with their numbers; 1 is white, 2 ** @limits and beyond full colour, nan nothing."""
    shown = numpy.log2(data)
    axes.imshow(shown, cmap="RdBu_r", vmin=-limits, vmax=limits, aspect="auto")
    for (y, x), number in numpy.ndenumerate(data):
        if number == number:
            dark = abs(shown[y, x]) > 0.7 * limits
            colour = "white" if dark else "black"
            axes.text(x, y, f"{number:.2f}", ha="center", va="center", fontsize=6, color=colour)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(labelsize=7)
    axes.set_title(title, fontsize=8)


def save(figure, path, top=1.0):
    figure.tight_layout(pad=0.6, rect=(0, 0, 1, top))
    # No version, no date: the same results give the same file.
    figure.savefig(path, dpi=80, metadata={"Software": None})
    plt.close(figure)
