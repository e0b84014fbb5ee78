#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every kind of measure on series whose answer is known by hand; means, intervals, verdicts."""

import math
import sys
import tempfile
from types import SimpleNamespace

import numpy
import tap
from lab import measure, page, paired, scenario, stats
from lab.outcome import Outcome, Plan
from lab.runner import Job
from lab.series import Run, weighted_quantile
from lab.table import mean_text

BIN = 0.1
DURATION = 40.0
BINS = 400


def series(*pieces):
    """Bins from (seconds, value per bin)."""
    out = []
    for seconds, value in pieces:
        out += [value] * round(seconds / BIN)
    return out


def sink(bytes_=(), packets=(), lost=(), **more):
    empty = {"delay_sum": [], "delay_count": [], "control_bytes": [], "reports": []}
    return {"bytes": list(bytes_), "packets": list(packets), "lost": list(lost)} | empty | more


def unicast(kind, group, **fields):
    return sink(**fields) | {"kind": kind, "group": group}


def multicast(receivers, **sender):
    base = {"bytes": [], "packets": [], "control_bytes": [], "reports": []}
    return {
        "kind": "multicast",
        "group": "m",
        "sender": base | {"target_bps": [], "limiting": []} | sender,
        "receivers": {
            name: value | {"group": value.get("group", name)} for name, value in receivers.items()
        },
    }


def link(**fields):
    names = ("bytes", "packets", "queue_drops", "random_drops", "marks", "delay_sum", "delay_count")
    return {"rate_bps": [[0, 1e6]], "delays": {}} | {name: [] for name in names} | fields


def run(flows=None, links=None, **more):
    result = {"bin": BIN, "duration": DURATION, "flows": flows or {}, "links": links or {}}
    return Run(result, **more)


def value(one, what, **arguments):
    """The measure with its defaults, as normal.arguments gives them."""
    full = {name: default for name, (_, default) in measure.KINDS[what].arguments.items()}
    full |= {name.rstrip("_"): argument for name, argument in arguments.items()}
    if "to" in full and full["to"] is None:
        full["to"] = one.duration
    return measure.evaluate(one, what, full)


def near(got, expected, slack=1e-9):
    assert got is not None and abs(got - expected) <= slack * max(1, abs(expected)), (got, expected)


# 100 kB/s = 800 kb/s for 20 s, then 50 kB/s; two TCP flows of 25 and 75 kB/s.
STEP = series((20, 10_000), (20, 5_000))
FLOWS = {
    "m": multicast({"r": sink(STEP)}, bytes=STEP),
    "t-1": unicast("tcp", "t", bytes_=series((40, 2_500))),
    "t-2": unicast("tcp", "t", bytes_=series((40, 7_500))),
}


def test_throughput_and_share():
    one = run(FLOWS)
    near(value(one, "throughput", flow="m", receiver="r"), 600e3)
    near(value(one, "throughput", flow="m", to=20.0), 800e3)
    near(value(one, "throughput", flow="m", from_=19.95, to=20.05), 600e3)
    near(value(one, "throughput", flow="t"), 400e3)
    near(value(one, "throughput", flow="t", over="max"), 600e3)
    near(value(one, "throughput", flow="t-1"), 200e3)
    near(value(one, "share", flow="m", fair=800e3, from_=20.0), 0.5)
    near(value(one, "tcp_share", flows=["t-1", "t-2", "m/r"], fair=1e6), (0.2 + 0.6 + 0.6) / 3)
    near(value(one, "relative", flow="m", other="t", to=20.0), 2.0)
    near(value(one, "relative", flow="m", other="t-2"), 1.0)
    near(value(one, "sent", flow="m", from_=30.0), 400e3)


def test_trailing_zeros_may_be_left_out():
    one = run({"t": unicast("tcp", "t", bytes_=series((10, 1_000)))})
    near(value(one, "throughput", flow="t", from_=5.0, to=15.0), 40e3)
    near(value(one, "min_rate", flow="t"), 0.0)


def test_layer_jain():
    """Layers of 128, 256 and 512 kb/s beside TCP flows of 200 and 600 kb/s, whose mean is 400."""
    streams = [{"bytes": [], "target_bps": [[0, rate]]} for rate in (128e3, 128e3, 256e3)]
    flows = FLOWS | {"l": multicast({"r": sink(series((40, 1_000)))}, streams=streams)}
    best = 912**2 / (2 * (512**2 + 400**2))
    near(value(run(flows), "layer_jain", flow="l", flows=["t"]), best)
    # ... of one of 200 kb/s alone the middle layer is the fair one.
    near(value(run(flows), "layer_jain", flow="l", flows=["t-1"]), 456**2 / (2 * (256**2 + 200**2)))
    assert value(run(flows), "layer_jain", flow="m", flows=["t"]) is None


def test_jain():
    one = run(FLOWS)
    # (2 + 6 + 8)^2 / (3 (4 + 36 + 64)).
    near(value(one, "jain", flows=["m", "t"], to=20.0), 256 / 312)
    near(value(one, "jain", flows=["m/r", "t"], to=20.0, means=True), 144 / (2 * (64 + 16)))
    near(value(one, "jain", flows=["t-1"]), 1.0)


def test_cov_and_extremes():
    # Slots of 1 s in turn 1 and 3: mean 2, standard deviation 1.
    waves = []
    for _ in range(20):
        waves += series((1, 100), (1, 300))
    one = run({"t": unicast("tcp", "t", bytes_=waves), **FLOWS})
    near(value(one, "cov", flow="t"), 0.5)
    near(value(one, "cov", flow="t", every=2.0), 0.0)
    near(value(one, "cov", flow="m", to=20.0), 0.0)
    near(value(one, "min_rate", flow="t"), 8e3)
    near(value(one, "max_rate", flow="t"), 24e3)
    near(value(one, "max_rate", flow="t", every=2.0), 16e3)


def test_loss():
    one = run(
        {
            "m": multicast(
                {
                    "a-1": sink(packets=series((40, 9)), lost=series((40, 1)), group="a"),
                    "a-2": sink(packets=series((40, 7)), lost=series((40, 3)), group="a"),
                    "b": sink(packets=series((40, 5)), lost=series((20, 0), (20, 5))),
                }
            )
        }
    )
    near(value(one, "loss", flow="m", receiver="a"), 0.2)
    near(value(one, "loss", flow="m", receiver="a", over="max"), 0.3)
    near(value(one, "loss", flow="m", receiver="a", over="min"), 0.1)
    near(value(one, "loss", flow="m", receiver="b", to=20.0), 0.0)
    near(value(one, "loss", flow="m", receiver="b", from_=20.0), 0.5)
    near(value(one, "loss", flow="m"), (0.1 + 0.3 + 1 / 3) / 3)
    assert value(one, "loss", flow="m", receiver="c") is None


def test_utilisation_follows_the_rate():
    # 1 Mb/s, from 20 s on 500 kb/s, always half used.
    entry = link(rate_bps=[[0, 1e6], [20, 5e5]], bytes=series((20, 6250), (20, 3125)))
    one = run(links={"l": entry})
    near(value(one, "utilisation", link="l"), 0.5)
    near(value(one, "utilisation", link="l", from_=20.0), 0.5)
    near(value(one, "utilisation", link="l", from_=10.0, to=30.0), 0.5)


def test_links_drops_and_marks():
    entry = link(
        packets=series((40, 8)),
        queue_drops=series((40, 2)),
        random_drops=series((40, 50)),
        marks=series((40, 4)),
    )
    one = run(links={"l": entry})
    near(value(one, "drops", link="l"), 0.2)
    near(value(one, "marks", link="l"), 0.5)
    assert value(run(links={"l": link()}), "drops", link="l") is None


def test_delays():
    # 90 % of the packets wait 10 ms, 10 % 100 ms.
    count = series((20, 9), (20, 1))
    total = series((20, 0.09), (20, 0.1))
    entry = link(delay_count=count, delay_sum=total, delays={"p95": 0.123})
    one = run({"t": unicast("tcp", "t", delay_count=count, delay_sum=total)}, {"l": entry})
    near(value(one, "queue_delay", link="l"), 0.123)  # the exact one, over the whole run
    near(value(one, "queue_delay", link="l", stat="p50"), 0.010)
    near(value(one, "queue_delay", link="l", from_=1.0), 0.1)
    near(value(one, "queue_delay", link="l", from_=20.0, stat="p50"), 0.1)
    near(value(one, "queue_delay", link="l", stat="mean"), 0.019)
    near(value(one, "delay", flow="t", stat="p50"), 0.010)
    near(value(one, "delay", flow="t", stat="p95"), 0.1)
    near(value(one, "delay", flow="t", stat="max"), 0.1)
    assert value(run(links={"l": link()}), "queue_delay", link="l") is None
    near(weighted_quantile([3, 1, 2], [1, 1, 2], 0.75), 2)


def test_jitter():
    total = [0.010, 0.030] * 200
    one = run({"t": unicast("tcp", "t", delay_count=[1] * 400, delay_sum=total)})
    near(value(one, "jitter", flow="t"), 0.020)


# 800 kb/s; at 20 s 0 for 5 s, then 400 kb/s.
DIP = series((20, 10_000), (5, 0), (15, 5_000))


def test_reach_and_settle():
    one = run({"m": multicast({"r": sink(DIP)}, bytes=DIP)})
    # A whole second must be at 400: from 25 to 26 s.
    near(value(one, "reach", flow="m", value=400e3, within=0.0, event=20.0), 6.0, 1e-6)
    # 10 % of 400 less: nine tenths of the second.
    near(value(one, "reach", flow="m", value=400e3, within=0.1, event=20.0), 5.9, 1e-6)
    near(value(one, "settle", flow="m", value=400e3, within=0.0, event=20.0), 6.0, 1e-6)
    # Below 400 at once, and above it again never.
    near(value(one, "reach", flow="m", value=400e3, within=0.0, side="below", event=20.0), 1.0)
    below = value(one, "reach", flow="m", value=100e3, within=0.0, side="below", event=19.0)
    near(below, 1.9, 1e-6)  # 19.9 to 20.9 s holds a tenth of a second at 800
    assert value(one, "reach", flow="m", value=900e3, within=0.0, side="above") == math.inf
    near(value(one, "reach", flow="m", value=700e3, within=0.0, side="above"), 1.0)
    # It was there, but did not stay.
    near(value(one, "reach", flow="m", value=800e3, event=0.0), 1.0)
    assert value(one, "settle", flow="m", value=800e3, event=0.0) == math.inf
    near(value(one, "settle", flow="m", value=800e3, event=0.0, to=20.0), 1.0)
    near(value(one, "reach", flow="m", value=800e3, every=5.0), 5.0)
    assert value(one, "reach", flow="m", value=800e3, event=39.5) is None
    # Who is there before has nothing to reach.
    given = {"flow": "m", "value": 400e3, "within": 0.0, "side": "below", "crossing": True}
    near(value(one, "reach", event=20.0, **given), 1.0)
    assert value(one, "reach", event=21.0, **given) is None
    near(value(one, "reach", event=0.0, **given), 20.5)


def test_reaction_and_dent():
    one = run({"m": multicast({"r": sink(DIP)}, bytes=DIP)})
    near(value(one, "reaction", flow="m", event=19.0, below=400e3), 1.3, 1e-6)
    near(value(one, "dent", flow="m", event=20.0), 1.0)
    near(value(one, "dent", flow="m", event=26.0, before=5.0, after=5.0), 0.0)
    near(value(one, "dent", flow="m", event=25.0, before=10.0, after=5.0), 0.0)
    near(value(one, "dent", flow="m", event=15.0, before=5.0, after=5.0), 0.0)
    half = run({"m": multicast({"r": sink(STEP)}, bytes=STEP)})
    near(value(half, "dent", flow="m", event=20.0), 0.5)
    assert value(half, "dent", flow="m", event=35.0) is None


def test_control_and_reports():
    control = series((40, 200))
    one = run(
        {
            "m": multicast(
                {
                    "a": sink(control_bytes=series((40, 100))),
                    "b": sink(control_bytes=series((40, 200))),
                },
                bytes=series((40, 9_500)),
                control_bytes=control,
                reports=series((10, 1), (1, 5), (9, 1), (1, 3), (19, 1)),
            )
        }
    )
    near(value(one, "control_share", flow="m"), 0.05)
    near(value(one, "report_rate", flow="m", to=10.0), 10.0)
    # 50 instead of 10 and 30 instead of 14 (of the ten seconds before: nine with 10, one with 50).
    near(value(one, "reports_per_event", flow="m", events=[10.0]), 40.0)
    near(value(one, "reports_per_event", flow="m", events=[10.0, 20.0]), (40 + 16) / 2)
    near(value(one, "reports_per_event", flow="m", events=[30.0]), 0.0)


def test_tcp_model():
    # s = 1000 B, R = 60 ms, p = 1 %: RFC 5348 3.1 by hand.
    root = 0.06 * math.sqrt(2 * 0.01 / 3)
    timeout = 0.24 * 3 * math.sqrt(3 * 0.01 / 8) * 0.01 * (1 + 32 * 0.01**2)
    near(measure.tcp_rate(0.01, 0.06, 1000), 8000 / (root + timeout))
    near(measure.tcp_rate(0.01, 0.1, 1000), 899e3, 0.001)  # by hand: 899 kb/s
    near(measure.tcp_rate(0.05, 0.2, 1000), 147e3, 0.01)
    # Above p = 8/27 the term is bounded.
    bounded = 8000 / (0.06 * math.sqrt(2 * 0.5 / 3) + 0.24 * 0.5 * (1 + 32 * 0.25))
    near(measure.tcp_rate(0.5, 0.06, 1000), bounded)
    one = run({"t": unicast("tcp", "t", bytes_=series((40, 1_250)))})
    near(
        value(one, "model_ratio", flow="t", p=0.01, rtt=0.06),
        100e3 / measure.tcp_rate(0.01, 0.06, 1000),
    )


def test_limiting_and_estimates():
    a = sink(rate_bps=[[10, 100.0], [30, 300.0]], loss_ratio=[[0, 0.1]], rtt=[], group="g")
    one = run({"m": multicast({"a": a, "b": sink()}, limiting=[[0, None], [10, "a"], [20, "b"]])})
    near(value(one, "limiting", flow="m", receiver="a"), 0.25)
    near(value(one, "limiting", flow="m", receiver="g"), 0.25)
    near(value(one, "limiting", flow="m", receiver="b"), 0.5)
    near(value(one, "estimated_rate", flow="m", receiver="a"), (20 * 100 + 10 * 300) / 30)
    near(value(one, "estimated_loss", flow="m", receiver="a"), 0.1)
    assert value(one, "estimated_rtt", flow="m", receiver="a") is None


def test_the_control_has_values_for_its_receiver_only():
    flows = {"m": unicast("tcp", "m", bytes_=series((40, 100)))}
    one = run(flows, stands_for={"m": {"r", "r-1"}})
    near(value(one, "throughput", flow="m", receiver="r-1"), 8e3)
    near(value(one, "throughput", flow="m"), 8e3)
    assert value(one, "throughput", flow="m", receiver="other") is None
    assert value(one, "control_share", flow="m") is None


def simulcast():
    """10 s in stream 0, 1 s of nothing, 29 s in stream 1; stream 1 alone is on the trunk then."""
    changes = [[1.0, -1, 0, "start", 0.5], [11.0, 0, 1, "up", 1.0], [12.0, 0, 1, "failed", 6.0]]
    one = sink(
        frames=series((40, 2.5)),
        frames_damaged=series((20, 0.25)),
        stream=[[0.0, 0], [10.0, -1], [11.0, 1]],
        switches=changes,
    )
    streams = [{"bytes": series((40, 100.0))}, {"bytes": series((40, 300.0))}]
    flow = multicast({"r": one}, streams=streams) | {"number": 3}
    groups = {"3/0": series((40, 7.0)), "2/1": series((40, 5.0)), "3/1": series((11, 100.0))}
    groups["3/2"] = series((10, 0), (30, 300.0))
    made = run({"m": flow}, {"l": link(multicast=groups)})
    made.result["variant"] = "published"
    return made


def test_streams():
    made = simulcast()

    def measured(what, **more):
        return value(made, what, flow="m", **more)

    near(measured("switches"), 2)
    near(measured("switches", from_=11.5), 1)
    near(measured("switch_rate"), 3)
    near(measured("switch_time"), 1)
    near(measured("moved"), 10)
    near(measured("moved", event=4.0), 6)
    assert measured("moved", event=10.5) == math.inf  # the next attempt failed
    assert measured("moved", event=4.0, to=9.0) == math.inf
    near(measured("level"), (10 * 1 + 29 * 2) / 39)
    near(measured("unshown"), 1 / 40)
    near(measured("frame_loss"), 0.05)
    near(measured("frame_loss", to=20.0), 0.1)
    near(measured("carried", link="l"), 8 * (110 * 100 + 300 * 300) / 40)
    near(measured("trunk", link="l"), (110 * 100 + 300 * 300) / (100 * 100 + 290 * 300))


def test_controls_of_a_simulcast_stand_for_their_receivers():
    flows = {
        f"m-{name}": unicast("tcp", "m", bytes_=series((40, value_)))
        for name, value_ in (("r1", 100), ("r2", 200))
    }
    one = run(flows, stands_for={"m-r1": {"r1"}, "m-r2": {"r2", "r2-1"}})
    near(value(one, "throughput", flow="m", receiver="r1"), 8e3)
    near(value(one, "throughput", flow="m", receiver="r2-1"), 16e3)
    near(value(one, "throughput", flow="m"), 12e3)
    assert value(one, "throughput", flow="m", receiver="r3") is None
    assert value(one, "switches", flow="m") is None


def test_student_t():
    # By integration of the density; the table has four digits.
    for df in (1, 2, 5, 9, 29, 30, 31, 60, 200):
        x = numpy.linspace(0, stats.t975(df), 200_001)
        scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
        density = scale * (1 + x**2 / df) ** (-(df + 1) / 2)
        near(0.5 + float(numpy.trapz(density, x)), 0.975, 1e-5)


def test_summary():
    one = stats.summarise([1.0, 2.0, 3.0, None])
    near(one.mean, 2.0)
    near(one.half, 4.3027 / math.sqrt(3))
    assert one.count == 3 and one.never == 0
    late = stats.summarise([1.0, math.inf], 9.0)
    near(late.mean, 5.0)
    assert late.never == 1
    # Some runs have no value, or only a bound: both are said.
    assert mean_text(one, "number") == "2.00 ±2.5 (3 of 4)", mean_text(one, "number")
    assert mean_text(late, "number") == "> 5.00 (never in 1 of 2)", mean_text(late, "number")
    assert math.isnan(stats.summarise([4.0]).half) and math.isnan(stats.summarise([None]).mean)


def test_what_is_apart_beyond_chance():
    assert stats.apart([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])  # t = 3.67 of 2.78
    assert not stats.apart([1.0, 2.0, 3.0], [3.0, 4.0, 5.0])  # t = 2.45
    assert stats.apart([6.0], [1.0, 2.0, 3.0, 2.0]) and not stats.apart([4.0], [1.0, 2.0, 3.0])
    assert stats.apart([1.0], [2.0]) and stats.apart([0.0, 0.0], [0.1, 0.1])
    assert not stats.apart([0.0], [0.0])


def test_intervals_of_proportions():
    # Wilson: the bounds are those p from which what was seen is z standard deviations away.
    for part, whole in ((73, 100), (1, 7), (0, 46), (46, 46), (5, 10)):
        low, high = stats.wilson(part, whole)
        assert 0 <= low <= part / whole <= high <= 1, (part, whole, low, high)
        for p in {low, high} - {0.0, 1.0}:
            near((part / whole - p) ** 2, stats.Z975**2 * p * (1 - p) / whole, 1e-12)
        near(stats.wilson(whole - part, whole)[0], 1 - high)
    near(stats.wilson(0, 46)[1], stats.Z975**2 / (46 + stats.Z975**2))
    near(stats.wilson(81, 263)[0], 0.2553, 1e-4)  # Newcombe 1998, table I
    near(stats.wilson(81, 263)[1], 0.3662, 1e-4)


FILE = """
id: x
title: A test
duration: 40 s
seeds: 2
variants: [published, enhanced]
links: [{id: l, from: a, to: b, rate: 1 Mb/s, delay: 1 ms}]
flows:
  - {id: m, type: multicast, from: a, receivers: [{id: r, at: b}]}
measures:
  - {id: rate, what: throughput, flow: m, goal: ">= 1.5 x published", band: {published: [70 kb/s, 90 kb/s], enhanced: [70 kb/s, 90 kb/s]}}
  - {id: late, what: throughput, flow: m, from: 30 s, to: 40 s, band: {enhanced: [1 kb/s, 2 kb/s]}, smoke: {from: 5 s, to: 10 s, band: {enhanced: [100 kb/s, 200 kb/s]}}}
  - {id: half, what: throughput, flow: m, from: 5 s, to: 20 s, goal: "<= 1 x rate", band: {enhanced: [70 kb/s, 90 kb/s]}}
  - {id: quick, what: reach, flow: m, value: 80 kb/s, goal: "<= 30 s", band: {published: [0 s, 5 s]}}
  - {id: each, what: throughput, flow: m, goal: ">= 100 kb/s, each run"}
  - {id: versus, what: versus, measure: rate, variant: published}
smoke: {duration: 20 s, seeds: 1}
"""  # noqa: E501


VARIANTS = ("enhanced", "published")


def outcome(smoke=False, duration=None):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(FILE)
        file.flush()
        loaded = scenario.load(file.name)
    out = Outcome(Plan(loaded, smoke=smoke, duration=duration))
    for variant, per_bin in (("published", 1_000), ("enhanced", 2_000)):
        for seed in out.plan.seeds:
            flows = {"m": multicast({"r": sink([per_bin * seed] * BINS)})}
            result = {"bin": BIN, "duration": out.plan.duration, "flows": flows, "links": {}}
            out.add(Job(loaded, variant, seed, out.plan.duration), result)
    return out, {entry["id"]: entry for entry in out.measures}


def test_verdicts():
    out, by_id = outcome()
    # Seeds 1 and 2: 80 and 160 kb/s, 160 and 320 kb/s.
    near(out.summary(by_id["rate"], "published").mean, 120e3)
    assert out.verdict(by_id["rate"], "published") == "high"
    assert out.verdict(by_id["late"], "published") is None
    assert out.verdict(by_id["late"], "enhanced") == "high"
    assert out.goal(by_id["rate"], "enhanced") == "ok"
    assert out.goal(by_id["rate"], "published") == "low"
    assert out.goal(by_id["half"], "enhanced") == "ok"
    assert out.goal(by_id["each"], "enhanced") == "ok"
    assert out.goal(by_id["each"], "published") == "low"  # seed 1, though the mean is enough
    assert out.runs_beyond(by_id["each"], "published") == ["low", ""]
    assert not out.is_open(by_id["each"], "published")
    assert out.value(by_id["versus"], "enhanced", 2) == 2.0
    # Of two seeds the interval is far wider than what the goal is away.
    assert out.is_open(by_id["rate"], "enhanced") and not out.is_open(by_id["late"], "enhanced")
    # In seed 2 published is never at 80 kb/s: the limit is 40 s.
    quick = out.summary(by_id["quick"], "published")
    assert (quick.never, quick.mean) == (1, 20.5), quick
    assert out.goal(by_id["quick"], "published") == "high"  # though that mean is below
    assert out.verdict(by_id["quick"], "published") == "high"
    assert {entry["id"] for entry, _, _ in out.failures()} == {"rate", "late", "half", "quick"}


def test_short_runs_are_judged_by_what_they_hold():
    out, by_id = outcome(smoke=True)
    assert out.plan.duration == 20 and out.plan.seeds == [1]
    assert out.verdict(by_id["late"], "enhanced") == "ok"  # its own times and band
    assert out.verdict(by_id["half"], "enhanced") == "high"  # held wholly
    assert out.verdict(by_id["rate"], "published") is None  # the whole run, cut
    short, by_id = outcome(duration=25.0)
    assert short.verdict(by_id["late"], "enhanced") is None
    assert short.summary(by_id["late"], "enhanced").count == 0
    assert short.verdict(by_id["half"], "enhanced") == "high"


def test_differences_are_taken_seed_by_seed():
    def entry(what):
        return {"id": what, "what": what}

    class Fake:  # four seeds that differ much, each a little worse in enhanced
        def __init__(self, **values):
            self.values = values
            self.plan = SimpleNamespace(
                variants=["published", "enhanced"],
                scenario=SimpleNamespace(id="x"),
            )
            self.measures = [entry("share"), entry("cov"), entry("throughput"), entry("reach")]

        def finite_values(self, measure, variant):
            return self.values[measure["what"]][variant == "enhanced"]

        def summary(self, measure, variant):
            return stats.summarise(self.finite_values(measure, variant))

    out = Fake(
        share=([0.5, 1.0, 0.7, 0.9], [0.4, 0.9, 0.6, 0.81]),
        cov=([0.2, 0.2, 0.2, 0.2], [0.1, 0.4, 0.1, 0.3]),
        throughput=([1, 1, 1, 1], [0, 0, 0, 0]),
        reach=([2.0, 2.1, 2.2, 2.0], [1.0, 1.1, 1.2, 1.1]),
    )
    sides = {e["id"]: (d, side) for _, e, d, side in paired.compared([out], *VARIANTS)}
    assert sides.keys() == {"share", "cov", "reach"}  # a throughput is neither good nor bad
    near(sides["share"][0].mean, -0.0975)
    near(sides["share"][0].half, 3.1824 * 0.005 / 2)
    assert [side for _, side in sides.values()] == [-1, -1, 1]
    text = paired.table([out])
    assert text.startswith("In 2 of 3 figures") and "in 1 of them" in text and "in 1 where" in text
    assert "| **-9.75 ±0.80 points** | 4 |" in text and "| +0.0250 ±" in text, text

    # Above the fair share there is nothing to be gained.
    same = ([1, 1], [1, 1])
    out = Fake(share=([1.3, 1.4], [1.1, 1.2]), cov=same, throughput=None, reach=same)
    assert [side for *_, side in paired.compared([out], *VARIANTS)] == [0, 0, 0]
    assert paired.table([out]).startswith("In none of 3 figures")

    # ... nor does it widen what is missing.
    out = Fake(share=([1.3, 1.4, 1.2], [0.9, 0.95, 0.85]), cov=same, throughput=None, reach=same)
    (_, _, apart, side), *_ = paired.compared([out], *VARIANTS)
    assert side == -1
    near(apart.mean, -0.1)


def test_losses_differ_by_their_ratio():
    loss, share = {"what": "loss"}, {"what": "share"}
    assert page.is_far(loss, 0.0033, 0.0008) and page.is_far(loss, 0.0008, 0.0033)
    assert not page.is_far(loss, 0.0010, 0.0008)
    assert not page.is_far(loss, 0.0004, 0.0001)  # a packet more or less
    assert page.is_far(share, 0.62, 0.75) and not page.is_far(share, 0.70, 0.75)


def test_json_is_json():
    out, _ = outcome()
    import json

    json.dumps(out.as_json(), allow_nan=False)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules["__main__"]))
