#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grids: their cells, what is wrong with a file and where, parts, time limits, the page."""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import tap
from lab import cli, grid, gridpage, normal
from lab.document import Errors
from lab.outcome import Outcome, Plan

FILE = cli.GRIDS / "asmp-grid.yaml"
TEXT = FILE.read_text(encoding="utf-8")


def load(text):
    """The scenarios of @text, or the list of (line, message)."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        try:
            return grid.load(file.name)
        except Errors as errors:
            return sorted(errors.found)


def axes(name):
    """The lowest and highest value of an axis, over all cells."""
    values = [getattr(each.cell, name) for each in LOADED]
    return min(values), max(values)


LOADED = grid.load(FILE)


def test_the_grid_is_what_it_claims():
    assert axes("capacity") == (0.5e6, 50e6), axes("capacity")
    assert axes("rtt") == (0.01, 0.5), axes("rtt")
    assert axes("flows") == (1, 32), axes("flows")
    assert axes("queue") == (0.5, 4), axes("queue")
    for name, values in (
        ("discipline", {"droptail", "red"}),
        ("congestion", {"reno", "cubic", "bbr"}),
    ):
        assert {getattr(each.cell, name) for each in LOADED} == values, name
    for cell in (each.cell for each in LOADED):
        assert 2 <= cell.fair <= 200, cell
        assert cell.queue * cell.bdp >= 4, cell


def test_what_a_cell_runs_is_the_cell():
    for each in LOADED:
        cell, given = each.cell, normal.normalise(each, "enhanced", 1)
        json.dumps(given, allow_nan=False)
        link = given["links"][0]
        assert link["rate"] == cell.capacity, given["id"]
        size = link["queue"]["size"]["bytes"]
        assert abs(size - cell.queue * cell.capacity * cell.rtt / 8) <= 1, (given["id"], size)
        # One way: the link, and the mean of both hosts' access.
        way = link["delay"] + sum(given["access"]["delay"])
        assert abs(2 * way / cell.rtt - 1) < 0.001, (given["id"], way)
        assert sum(flow["type"] == "tcp" for flow in given["flows"]) == cell.flows
        measured = given["duration"] - each.data["measures"][0]["from"]
        assert measured >= 20 * cell.tooth and measured >= 60, given["id"]


def test_a_tooth_is_half_a_window_of_round_trips():
    # 8 Mb/s, 100 ms: 100 packets in flight and 100 in the queue, of two flows; W/2 RTTs of 0.2 s,
    # W the peak of which three quarters are the mean.
    cell = grid.Cell(8e6, 0.1, 1, 1, "droptail", "reno")
    assert abs(cell.tooth - 0.2 * (100 / 0.75) / 2) < 1e-9, cell.tooth
    assert grid.Cell(8e6, 0.1, 1, 1, "red", "reno").tooth < cell.tooth


def test_cubic_is_reno_where_windows_are_small():
    # RFC 9438 5.1, RTT 0.1 s (here with the queue full): mean windows at p = 1e-3 38 of Reno, 33 by
    # CUBIC's own function; at 1e-4 120 and 187.
    def cell(window):
        return grid.Cell(window / 2 * 2 * 8000 / 0.05, 0.05, 1, 1, "droptail", "cubic")

    assert abs(cell(38).fair - 19) < 1e-9
    assert cell(38).in_reno_region and not cell(120).in_reno_region


def test_halves_and_parts_are_fixed_and_whole():
    held = [each for each in LOADED if not each.cell.design]
    assert 0.45 < len(held) / len(LOADED) < 0.55, len(held)
    parts = [grid.chosen(LOADED, None, (i, 3)) for i in (1, 2, 3)]
    ids = sorted(each.id for part in parts for each in part)
    assert ids == sorted(each.id for each in LOADED)
    assert min(len(part) for part in parts) > len(LOADED) / 4
    assert all(each.id.endswith("-bbr") for each in grid.chosen(LOADED, "*-bbr"))


WRONG = [
    ("rtt: [10 ms,", "rtt: [10,", "has no unit"),
    ("discipline: [droptail, red]", "discipline: [droptail, codel]", "'codel' is unknown"),
    ("  sawteeth: 20", "  sawtooth: 20", "did you mean 'sawteeth'"),
    ("fair: [2, 200]", "fair: [200, 2]", "the lower bound comes first"),
    ("fair: [2, 200]", "fair: [9000, 9001]", "the grid has no cell"),
    ("rate: $capacity\n    delay", "rate: $capacty\n    delay", "did you mean 'capacity'"),
    (
        "- grid-2000k-40ms-1tcp-q100-red-reno",
        "- grid-2000k-41ms-1tcp-q100-red-reno",
        "did you mean",
    ),
    ("other: tcp\n", "other: tpc\n", "did you mean 'tcp'"),
]


def test_mistakes_have_a_line_and_say_what_is_allowed():
    for old, new, what in WRONG:
        assert TEXT.count(old) == 1, old
        line = TEXT[: TEXT.index(old)].count("\n") + 1
        found = load(TEXT.replace(old, new))
        assert found and isinstance(found[0], tuple), (new, "was taken")
        assert any(what in text for _, text in found), (new, found)
        near = {at for at, text in found if what in text}
        # A grid without cells is the section's mistake.
        assert line in near or "no cell" in what or "lacks" in what, (new, found)


def test_only_some_cells_have_a_short_form():
    short = [each.id for each in LOADED if "smoke" in each.data]
    assert 1 <= len(short) <= 4, short


def outcome_of(scenario, *shares):
    """As if it had been run, a seed each; None: not this one."""
    seeds = range(1, len(shares) + 1)
    out = Outcome(Plan(scenario, ["enhanced"], seeds))
    for seed, share in zip(seeds, shares, strict=True):
        if share is not None:
            values = {entry["id"]: 0.01 for entry in out.measures} | {"share": share}
            out.values["enhanced", seed] = values
    return out


def test_a_cell_is_the_mean_of_its_runs_and_beyond_if_one_is():
    reno = [each for each in LOADED if each.cell.congestion == "reno"][:5]
    rows = (
        (0.7, 1.3, 1.0),  # within, though two of three runs are not
        (2.0, 0.5, None),  # half and twice make one, and are not beyond
        (1.0, 0.4, 2.5),  # within, and beyond
        (0.7, 0.7, 0.75),
        (None, None, None),
    )
    outcomes = [outcome_of(each, *row) for each, row in zip(reno, rows, strict=True)]
    found = gridpage.values(outcomes, "enhanced", "reno")
    assert [value.within for value in found] == [True, True, True, False]
    assert [value.beyond for value in found] == [False, False, True, False]
    assert abs(found[1].share - 1) < 1e-9, found[1].share
    assert gridpage.told(found)[:3] == ["3 of 4 (75 %)", "2 of 11 (18 %)", "1 of 4 (25 %)"]


def test_the_two_regions_of_cubic_are_counted_apart():
    cubic = [each for each in LOADED if each.cell.congestion == "cubic"]
    outcomes = [outcome_of(each, 1.0 if each is cubic[0] else None) for each in cubic]
    inside = sum(each.cell.in_reno_region for each in cubic)
    whole = inside if cubic[0].cell.in_reno_region else len(cubic) - inside
    text = gridpage.summary(outcomes, ["enhanced"], ["cubic"])
    assert 0 < inside < len(cubic) and f"| 1 of {whole} |" in text, text


def test_the_page_counts_cells_by_their_bounds():
    reno = [each for each in LOADED if each.cell.congestion == "reno"][:4]
    outcomes = [
        outcome_of(each, share) for each, share in zip(reno, (1.0, 0.81, 0.6, 3.0), strict=True)
    ]
    found = gridpage.values(outcomes, "enhanced", "reno")
    assert [value.within for value in found] == [True, True, False, False]
    assert [value.beyond for value in found] == [False, False, False, True]
    template = (tap.HERE.parent / "asmp-grid.md.in").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        places = {"COMMAND": "c", "COST": "d"}
        text = gridpage.fill(template, outcomes, ["enhanced"], "g", Path(directory), places)
        assert os.listdir(directory) == ["g-reno-enhanced.png"]
    assert "2 of 4 (50 %)" in text and "1 of 4 (25 %)" in text, text[:600]
    assert not re.search(r"@[A-Z]", text)
    worst = [line for line in text.splitlines() if line.startswith("| `grid-")]
    assert reno[3].id in worst[0] and reno[2].id in worst[1] and len(worst) == 2, worst


def test_beside_cubic_and_bbr_the_bounds_are_others():
    for cell in (each.cell for each in LOADED):
        wanted = {"reno": (0.8, 1.25), "cubic": (0.35, 1.5), "bbr": None}[cell.congestion]
        if cell.congestion == "cubic" and cell.in_reno_region:
            wanted = (0.8, 1.25)
        assert cell.bound() is None if wanted is None else tuple(cell.bound()) == wanted, cell.id


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
