# SPDX-License-Identifier: LGPL-2.1-or-later
"""The thesis' figures 6-16 and 18-27, redrawn: four pictures."""

import numpy

from . import openloop
from .plots import heat_map, plt, save

LINES = {
    "lip": ("CBR (LIP)", "#c0392b", "o"),
    "lap": ("LAP, eq. 15", "#1f5f8b", "s"),
    "weighted": ("LAP, eq. 16", "#6fa8dc", "d"),
    "window": ("LIP/LAP window", "#2e8b57", "^"),
    "tfrc": ("TFRC, closed loop", "black", "x"),
    "tcp": ("TCP", "#999999", "v"),
}
OVERVIEW = ("lip", "lap", "window")


def curve(axes, xs, summaries, label, colour, mark, factor=1):
    half = [0 if s.half != s.half else factor * s.half for s in summaries]
    axes.errorbar(
        xs,
        [factor * s.mean for s in summaries],
        yerr=half,
        marker=mark,
        color=colour,
        label=label,
        markersize=3,
        linewidth=0.9,
        elinewidth=0.6,
    )


def dress(axes, xs, xlabel, title=None):
    axes.set_xscale("log", base=10 if min(xs) < 1 else 2)
    axes.set_xticks(xs, [f"{x:g}" for x in xs])
    axes.minorticks_off()
    axes.tick_params(labelsize=7)
    axes.set_xlabel(xlabel, fontsize=8)
    axes.grid(True, linewidth=0.3, alpha=0.6)
    if title:
        axes.set_title(title, fontsize=8)


def column(pair, cells, xs, keys, xlabel, title, factor=1):
    """Loss event rate above, calculated rate below, over @xs; the cells of @keys."""
    for axes, of, scale in ((pair[0], "loss", 100), (pair[1], "rate", 1)):
        for name, (label, colour, mark) in LINES.items():
            summaries = [getattr(cells[key], of)(name) for key in keys]
            curve(axes, [factor * x for x in xs], summaries, label, colour, mark, scale)
        dress(axes, [factor * x for x in xs], xlabel, title if of == "loss" else None)
    if min(xs) < 1:
        for axes in pair:
            axes.set_yscale("log")
        return
    # As in the thesis, what is far above all that may be is cut off.
    closed = max(cells[key].rate("tfrc").mean for key in keys)
    pair[0].set_ylim(bottom=0)
    pair[1].set_ylim(0, min(pair[1].get_ylim()[1], 4 * closed))


def columns(cells, path, chosen):
    figure, grid = plt.subplots(2, len(chosen), figsize=(3.1 * len(chosen), 5), squeeze=False)
    for number, (xs, keys, xlabel, title, factor) in enumerate(chosen):
        column(grid[:, number], cells, xs, keys, xlabel, title, factor)
    grid[0][0].set_ylabel("loss event rate, %", fontsize=8)
    grid[1][0].set_ylabel("calculated rate, packets/RTT", fontsize=8)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=7, ncols=len(LINES), loc="upper center")
    save(figure, path, top=0.95)


BY_RATE = "CBR rate, packets/RTT"


def lossy_figure(cells, path):
    rates, losses = openloop.RATES, openloop.LOSSES
    by_loss = [
        (
            losses,
            [(loss, rate) for loss in losses],
            "packet loss, %",
            f"CBR of {rate} packet{'s' * (rate > 1)}/RTT (fig. {figures})",
            100,
        )
        for rate, figures in ((1, "7, 19"), (16, "8, 20"))
    ]
    by_rate = [
        (
            rates,
            [(loss, rate) for rate in rates],
            BY_RATE,
            f"{100 * loss:g} % loss (fig. {figures})",
            1,
        )
        for loss, figures in ((0.001, "12, 24"), (0.03, "13, 25"))
    ]
    columns(cells, path, by_loss + by_rate)


def shared_figure(cells, path):
    chosen = []
    for rate, figures in ((1, "10, 22"), (32, "11, 23")):
        counts = [count for count in openloop.TCPS if (count, rate) in cells]
        keys = [(count, rate) for count in counts]
        title = f"CBR of {rate} packet{'s' * (rate > 1)}/RTT (fig. {figures})"
        chosen.append((counts, keys, "TCP flows", title, 1))
    for count, figures in ((1, "14, 26"), (8, "15, 27")):
        rates = openloop.shared_rates(count)
        keys = [(count, rate) for rate in rates]
        title = f"{count} TCP flow{'s' * (count > 1)} (fig. {figures})"
        chosen.append((rates, keys, BY_RATE, title, 1))
    columns(cells, path, chosen)


def heat(axes, cells, rows, row_label, value, title, limits):
    data = numpy.full((len(rows), len(openloop.RATES)), numpy.nan)
    for y, row in enumerate(rows):
        for x, rate in enumerate(openloop.RATES):
            if (row, rate) in cells:
                data[y, x] = value(row, cells[row, rate])
    heat_map(axes, data, openloop.RATES, [row_label(row) for row in rows], title, limits)


def overview_figure(lossy, shared, path):
    """Figures 6, 18, 9, 21: every cell, as ratios; the thesis draws surfaces."""
    figure, grid = plt.subplots(4, len(OVERVIEW), figsize=(4 * len(OVERVIEW), 9))
    numbers = {"lip": ("6", "9"), "lap": ("18", "21"), "window": ("-", "-")}
    for x, name in enumerate(OVERVIEW):
        label = LINES[name][0]
        lone, beside = (f" (fig. {n})" if n != "-" else "" for n in numbers[name])
        panels = (
            (lossy, openloop.LOSSES, "loss", f"{label}: loss event rate / packet loss{lone}"),
            (lossy, openloop.LOSSES, "rate", f"{label}: calculated rate / TFRC's{lone}"),
            (shared, openloop.TCPS, "tfrc", f"{label}: loss event rate / TFRC's{beside}"),
            (shared, openloop.TCPS, "rate", f"{label}: calculated rate / TFRC's{beside}"),
        )
        for y, (cells, rows, what, title) in enumerate(panels):

            def value(row, cell, what=what, name=name):
                if what == "loss":
                    return cell.loss(name).mean / row
                if what == "tfrc":
                    return cell.loss(name).mean / cell.loss("tfrc").mean
                return cell.ratio(name)

            def text(row, cells=cells, lossy=lossy):
                return f"{100 * row:g} %" if cells is lossy else f"{row} TCP"

            heat(grid[y][x], cells, rows, text, value, title, 2)
        grid[3][x].set_xlabel(BY_RATE, fontsize=8)
    save(figure, path)


def virtual_figure(lossy, virtual, path):
    """Figure 16: (a) 1000-byte packets; (b) of 100, as they are and as virtual ones."""
    rates = openloop.RATES
    whole, byte = openloop.VIRTUAL_LOSS, openloop.byte_loss()
    figure, grid = plt.subplots(1, 3, figsize=(9.3, 2.8), sharey=True)
    panels = (
        ("1000-byte packets (fig. 16a)", None),
        ("100-byte packets, 5 % of them lost (16b)", whole),
        ("100-byte packets, 5 % per 1000 bytes", byte),
    )
    for axes, (title, loss) in zip(grid, panels, strict=True):
        big = [lossy[whole, rate].loss("lip") for rate in rates]
        curve(axes, rates, big, "LIP, 1000-byte packets", *LINES["lip"][1:], 100)
        for name, colour, mark in (("virtual", "#2e8b57", "^"), ("real", "#1f5f8b", "s")):
            if loss is not None:
                label = f"LIP, {openloop.VIRTUAL[name][0]}"
                own = [virtual[loss, rate].loss(name) for rate in rates]
                curve(axes, rates, own, label, colour, mark, 100)
        dress(axes, rates, "1000 bytes/RTT", title)
    grid[0].set_ylabel("loss event rate, %", fontsize=8)
    grid[1].legend(fontsize=6)
    save(figure, path)
