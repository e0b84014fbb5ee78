# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the open-loop study must show, and what the thesis says of its figures, beside ours."""

from dataclasses import dataclass
from statistics import fmean

from . import openloop as study

TFRC = (0.85, 1.15)  # calculated rate / closed-loop TFRC's: what must be
WISH = 0.1  # and how near it is wanted
# Loss event rate / what the thesis' equations give. These are of long means; the mean of a ratio
# over eight events lies up to a tenth above, as 1 / interval is convex.
LAW = (0.85, 1.15)
WINDOW_LOSS = 0.05  # up to here the window counts most losses
SHARED_TCPS = (4, 8, 16, 32)


def place(cell):
    row, rate = cell
    return f"{100 * row:g} % loss, CBR {rate}" if row < 1 else f"{row} TCP, CBR {rate}"


@dataclass
class Check:
    title: str
    low: float
    high: float
    values: dict  # cell -> value
    goal: bool = True  # nearness to TFRC; else a law

    @property
    def out(self):
        return {cell: v for cell, v in self.values.items() if not self.low <= v <= self.high}

    @property
    def beyond_wish(self):
        return {cell: v for cell, v in self.values.items() if abs(v - 1) > WISH}

    @property
    def mean(self):
        return fmean(self.values.values())

    def range_text(self):
        return f"{min(self.values.values()):.2f} to {max(self.values.values()):.2f}"

    def cells_text(self):
        return ", ".join(f"{value:.3f} ({place(cell)})" for cell, value in self.out.items())

    def worst_text(self):
        middle = (self.low + self.high) / 2
        cell, value = max(self.values.items(), key=lambda item: abs(item[1] - middle))
        return f"{value:.3f} ({place(cell)})"


def ratios(cells, name, wanted):
    return {key: cell.ratio(name) for key, cell in cells.items() if wanted(*key)}


def lossy_checks(lossy):
    def by_law(name, law):
        return {key: cell.loss(name).mean / law(*key) for key, cell in lossy.items()}

    lap = ratios(lossy, "lap", lambda *_: True)
    window = ratios(lossy, "window", lambda loss, _: loss <= WINDOW_LOSS)
    loss = by_law("lap", lambda loss, _: loss)
    lip = by_law("lip", study.lip_expected)
    rule = by_law("window", study.window_expected)
    return [
        Check("LAP's rate / TFRC's, random loss", *TFRC, lap),
        Check("the window's rate / TFRC's, up to 5 % loss", *TFRC, window),
        Check("LAP's loss event rate / the loss", *LAW, loss, goal=False),
        Check("LIP's loss event rate / eq. 12", *LAW, lip, goal=False),
        Check("the window's / by its rule (6.2.2)", *LAW, rule, goal=False),
    ]


def shared_checks(shared):
    def fair(count, rate):
        return count in SHARED_TCPS and rate in study.GOAL_RATES

    return [
        Check("LAP's rate / TFRC's, shared link", *TFRC, ratios(shared, "lap", fair)),
        Check("the window's rate / TFRC's, shared link", *TFRC, ratios(shared, "window", fair)),
    ]


def whole(lossy, shared):
    return lossy_checks(lossy) + shared_checks(shared)


SHORT_LOSS, SHORT_RATES, SHORT_SHARED = 0.03, (4, 16, 128), (4, 16)


def short(bench):
    """The same of a few cells."""
    lossy = study.lossy(bench, 4, losses=(SHORT_LOSS,), rates=SHORT_RATES)
    shared = study.shared(bench, 2, cells=[SHORT_SHARED])
    return whole(lossy, shared)


# -- the thesis in words ------------------------------------------------------------------------


def row_of(cells, row, what, name, rates=study.RATES, factor=1, form="{:.3g}"):
    """Values of a row, as text."""
    values = [cells[row, rate] for rate in rates if (row, rate) in cells]
    return ", ".join(form.format(factor * getattr(cell, what)(name).mean) for cell in values)


def column_of(cells, rate, what, name, factor=1):
    rows = [row for row, at in cells if at == rate]
    return ", ".join(f"{factor * getattr(cells[r, rate], what)(name).mean:.3g}" for r in rows)


def claims(lossy, shared, virtual):
    """(head, rows): what the thesis says of a figure, and ours."""

    def ratio_row(cells, row, name):
        return ", ".join(f"{cells[r, n].ratio(name):.2f}" for r, n in cells if r == row)

    def ratio_column(cells, rate, name):
        return ", ".join(f"{cells[r, n].ratio(name):.2f}" for r, n in cells if n == rate)

    small = [virtual[study.VIRTUAL_LOSS, n].loss("virtual").mean for n in study.RATES]
    byte = [virtual[study.byte_loss(), n].loss("virtual").mean for n in study.RATES]
    large = [lossy[study.VIRTUAL_LOSS, n].loss("lip").mean for n in study.RATES]

    def by(values):
        return ", ".join(f"{a / b:.2f}" for a, b in zip(values, large, strict=True))

    return (
        ["fig.", "the thesis", "ours"],
        [
            (
                "7, 19",
                "at 1 packet/RTT LIP and LAP follow the loss and TFRC at every loss",
                f"LIP's rate / TFRC's {ratio_column(lossy, 1, 'lip')}; LAP's "
                f"{ratio_column(lossy, 1, 'lap')}",
            ),
            (
                "8, 20",
                "at 16 LIP badly underestimates and its rate rockets up, LAP follows TFRC",
                f"LIP's / TFRC's {ratio_column(lossy, 16, 'lip')}; LAP's "
                f"{ratio_column(lossy, 16, 'lap')}",
            ),
            (
                "12, 24",
                "at 0.1 % all operate almost equally",
                f"LIP's / TFRC's {ratio_row(lossy, 0.001, 'lip')}; LAP's "
                f"{ratio_row(lossy, 0.001, 'lap')}",
            ),
            (
                "13, 25",
                "at 3 % LIP's loss event rate sinks from 8 packets/RTT on, LAP's does not",
                f"LIP {row_of(lossy, 0.03, 'loss', 'lip', factor=100)} %; LAP "
                f"{row_of(lossy, 0.03, 'loss', 'lap', factor=100)} %",
            ),
            (
                "10, 22",
                "1 packet/RTT beside few TCP flows: both overestimate, their rates are low and "
                "come to TCP's with more flows",
                f"LIP's / TFRC's {ratio_column(shared, 1, 'lip')}; LAP's "
                f"{ratio_column(shared, 1, 'lap')}",
            ),
            (
                "11, 23",
                "32: LIP's loss event rate is too low with any number of flows, LAP follows TFRC",
                f"LIP's / TFRC's {ratio_column(shared, 32, 'lip')}; LAP's "
                f"{ratio_column(shared, 32, 'lap')}",
            ),
            (
                "14, 26",
                "1 TCP: LIP too high at low rates, too low at high ones; LAP as LIP, then as TFRC",
                f"loss event rate: LIP {row_of(shared, 1, 'loss', 'lip', factor=100)} %, LAP "
                f"{row_of(shared, 1, 'loss', 'lap', factor=100)} %, TFRC "
                f"{row_of(shared, 1, 'loss', 'tfrc', factor=100)} %",
            ),
            (
                "15, 27",
                "8 TCP: LIP meets TFRC at the fair 16 packets/RTT and overshoots beyond",
                f"LIP's / TFRC's {ratio_row(shared, 8, 'lip')}; LAP's "
                f"{ratio_row(shared, 8, 'lap')}",
            ),
            (
                "16",
                "virtual packets of 1000 bytes give small packets the estimate of large ones",
                f"of large ones, 5 % of bytes lost: {by(byte)}; 5 % of packets: {by(small)}",
            ),
        ],
    )
