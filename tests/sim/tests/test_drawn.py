#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drawn scenarios: the same ones for ever, readable, of every kind, and what the page counts."""

import hashlib
import math
import sys
import tempfile
from pathlib import Path

import tap
import yaml
from lab import drawn, drawnpage, normal, scenario

NUMBERS = range(1, 401)


def read(data):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(data, file)
        file.flush()
        return scenario.load(file.name)


def test_a_number_is_always_the_same_scenario():
    """Whoever reads the page in a year must be able to run number 7 again."""
    text = repr([drawn.scenario(family, 7)[0] for family in drawn.FAMILIES])
    assert text == repr([drawn.scenario(family, 7)[0] for family in drawn.FAMILIES])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert digest == "02c5e01fea476508", f"number 7 is another scenario: {digest}"


def test_numbers_are_readable_scenarios():
    for family in drawn.FAMILIES:
        for number in range(1, 16):
            data, found = drawn.scenario(family, number)
            loaded = read(data)
            assert loaded.id == f"drawn-{family}-{number}"
            assert len(loaded.data["links"]) == len(found)


def test_of_one_rate_everything_occurs_within_bounds():
    seen = set()
    for number in NUMBERS:
        draw, found = drawn.places("one", number)
        for place in found:
            assert 2 <= place.cell.fair <= 200, (number, place)
            assert place.cell.tooth <= drawn.TOOTH_MAX, (number, place)
            assert place.packets >= drawn.LEAST_QUEUE, (number, place)
            assert not (place.ecn and place.discipline == "droptail"), (number, place)
            lost = place.loss["type"] if place.loss else "none"
            seen |= {place.discipline, place.congestion, lost, ("ecn", place.ecn)}
        seen.add(len(found))
        changed = drawn.scenario("one", number)[0]
        seen.add("changes" in changed or len(changed["flows"]) > 1 + len(found))
        assert draw is not None
    wanted = {"droptail", "red", "codel", "reno", "cubic", "none", "bernoulli", "gilbert"}
    assert wanted | {("ecn", True), ("ecn", False), 1, 2, 3, True, False} <= seen, seen


def test_of_many_links_differ():
    for number in NUMBERS:
        _, found = drawn.places("many", number)
        assert 2 <= len(found) <= 5
        rates = [place.fair for place in found]
        assert rates == sorted(rates) and rates[0] >= drawn.LADDER[0]


def path_of(told, flow, far_access, to):
    """Of a flow to router @to: the seconds one way without queues, mean of what is drawn, and the
    slower access link's rate."""
    near, (link,) = flow["access"], [each for each in told["links"] if each["to"] == to]
    delays = [near["delay"], link["delay"], far_access["delay"]]
    mean = sum(sum(d) / 2 if isinstance(d, list) else d for d in delays)
    return mean, min(near["rate"], far_access["rate"])


def test_nobody_is_favoured_for_being_near():
    """What the multicast flow has is by the RTT: it must be that of TCP behind the same link."""
    for family in drawn.FAMILIES:
        for number in NUMBERS:
            data, found = drawn.scenario(family, number)
            told = normal.normalise(read(data), data["variants"][0], 1)
            multicast = next(flow for flow in told["flows"] if flow["type"] == "multicast")
            ours = {
                receiver["at"]: path_of(told, multicast, receiver["access"], receiver["at"])
                for receiver in multicast["receivers"]
            }
            for k, place in enumerate(found, 1):
                delay = ours[f"g{k}"][0]
                assert math.isclose(2 * delay, place.rtt, abs_tol=5e-6), (family, number, k)
            for flow in told["flows"]:
                if flow["type"] == "tcp":
                    delay, rate = path_of(told, flow, flow["access"], flow["to"])
                    beside = ours[flow["to"]]
                    assert math.isclose(delay, beside[0], abs_tol=5e-6), (family, number, flow)
                    assert rate == beside[1], (family, number, flow)


class Summary:
    def __init__(self, mean):
        self.mean = mean


class Told:
    """An outcome of which only the figures matter."""

    def __init__(self, name, figures, title="x"):
        self.figures = figures
        self.measures = [{"id": key} for key in figures]
        self.plan = type("Plan", (), {})()
        self.plan.scenario = type("Scenario", (), {"id": name, "data": {"title": title}})()

    def summary(self, entry, _variant):
        return Summary(self.figures[entry["id"]])


def place(**more):
    plain = {"capacity": 2e6, "rtt": 0.1, "flows": 1, "queue": 1.0, "discipline": "droptail"}
    plain |= {"ecn": False, "congestion": "reno", "loss": None, "receivers": 1}
    return drawn.Place(**(plain | more))


def test_one_rate_is_judged_where_tcp_has_least():
    """A link with room to spare says nothing of a sender that the other one holds."""
    figures = {"rate-1": 1e6, "by-tcp-1": 0.3, "rate-2": 1e6, "by-tcp-2": 1.1}
    value = drawnpage.Value(Told("drawn-one-1", figures), [place(), place()], "enhanced")
    assert value.tightest == 2 and value.within and not value.beyond
    figures["by-tcp-2"] = 2.1
    assert (
        not value.within
        or drawnpage.Value(Told("drawn-one-1", figures), [place(), place()], "enhanced").beyond
    )


def test_ours_is_counted_without_videos_too():
    """Rivals' sources always have data: beside them ours is told where its own has, too."""

    def values(variant, *ratios):
        titles = ("x", "x; video")
        tolds = [
            Told(f"drawn-one-{i}", {"rate-1": 1e6, "by-tcp-1": ratio}, titles[i])
            for i, ratio in enumerate(ratios)
        ]
        return [drawnpage.Value(told, [place()], variant) for told in tolds]

    found = {"enhanced": values("enhanced", 1.0, 0.4), "tfmcc": values("tfmcc", 1.2, 1.2)}
    rows = [(row[0], *row[1:3], row[-1]) for row in drawnpage.rows_one(found)]
    assert rows == [
        ("enhanced", 2, "1 of 2 (9 to 91 %)", "1 of 2 (9 to 91 %)"),
        (
            "enhanced, without those that send a video",
            1,
            "1 of 1 (21 to 100 %)",
            "1 of 1 (21 to 100 %)",
        ),
        ("tfmcc", 2, "2 of 2 (34 to 100 %)", "1 of 2 (9 to 91 %)"),
    ], rows


def test_a_tcp_flow_in_our_place_stands_beside_those_with_one_bottleneck():
    """It goes over one link, and is no rival that is nearest to TCP."""
    figures = {"rate-1": 1e6, "by-tcp-1": 1.0}
    one, two = [place()], [place(), place()]
    told = Told("drawn-one-1", figures), Told("drawn-one-2", figures | {"by-tcp-2": 0.5})
    found = {
        "enhanced": [
            drawnpage.Value(told[0], one, "enhanced"),
            drawnpage.Value(told[1], two, "enhanced"),
        ],
        "tcp": [drawnpage.Value(told[0], one, "tcp")],
    }
    rows = [(row[0], row[1], row[-1]) for row in drawnpage.rows_one(found)]
    assert rows == [
        ("enhanced", 2, "2 of 2 (34 to 100 %)"),
        ("with one bottleneck: enhanced", 1, "-"),
        ("with one bottleneck: a TCP flow in our place", 1, "-"),
    ], rows
    assert drawnpage.has_control("drawn-one-1", one)
    assert not drawnpage.has_control("drawn-one-2", two)
    assert not drawnpage.has_control("drawn-many-1", one)


def test_what_receivers_have_is_at_most_their_fair_rate():
    """Nobody's surplus makes up for what another one lacks."""
    figures = {"rate-1": 4e6, "rate-2": 0.5e6}
    found = [place(receivers=1), place(receivers=3)]
    value = drawnpage.Value(Told("drawn-many-1", figures), found, "elm")
    assert math.isclose(value.got, (1 * 1 + 3 * 0.5) / 4), value.got
    assert math.isclose(value.least, 0.5)


def test_the_template_has_no_slot_that_nobody_fills():
    template = (Path(__file__).resolve().parents[1] / "drawn.md.in").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        text = drawnpage.fill(template, [], {}, Path(directory) / "drawn.png", {})
    assert "@" not in text


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
