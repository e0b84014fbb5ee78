#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The proving ground without a network: scenarios as topologies, traces as results."""

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sim"), str(HERE.parent / "sim" / "tests")]

import netlab  # noqa: E402
import numpy  # noqa: E402
import tap  # noqa: E402
from ground import (  # noqa: E402
    flows,
    matrix,
    outcome,
    page,
    place,
    rivalry,
    streams,
    trace,
)
from lab import cli, measure, normal, scenario  # noqa: E402
from lab.series import Run  # noqa: E402

SCENARIO = """
id: two-links
title: t
duration: 10 s
seeds: 1
variants: [enhanced]
access: {rate: 100 Mb/s, delay: [1 ms, 3 ms]}
links:
  - {id: up, from: a, to: b, rate: 1 Mb/s, delay: 10 ms, queue: {type: droptail, size: 20 packets}}
  - {id: down, from: b, to: c, rate: 300 kb/s, delay: 5 ms, loss: {type: bernoulli, ratio: 1 %}}
flows:
  - id: m
    type: multicast
    from: a
    receivers:
      - {id: near, at: b}
      - {id: far, at: c, join: 2 s, leave: 8 s}
  - {id: t, type: tcp, from: a, to: c, count: 2, start: 1 s}
  - {id: u, type: udp, from: c, to: a, rate: 80 kb/s,
     onoff: {on: 1 s, off: 1 s, distribution: constant}}
changes:
  - {at: 4 s, link: up, rate: 500 kb/s, ramp: 1 s}
  - {at: 6 s, link: up, reverse: {loss: {type: bernoulli, ratio: 100 %}}}
"""


def load(text=SCENARIO):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        return scenario.load(file.name)


def program_of(name):
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def placed(seed=1, text=SCENARIO):
    return place.Place(normal.normalise(load(text), "enhanced", seed))


def describe(text):
    with tempfile.NamedTemporaryFile("w", suffix=".topology") as file:
        file.write(text)
        file.flush()
        return subprocess.run(
            [netlab.find_emulator(), "--describe", file.name],
            capture_output=True,
            text=True,
            check=False,
        )


def test_every_scenario_is_a_topology_or_says_why():
    possible = 0
    for each in cli.load([]):
        why = place.obstacle(each.data, "asmp")
        assert why is None or len(why) > 10, each.id
        if why is None:
            possible += 1
            done = describe(place.Place(normal.normalise(each, "enhanced", 1)).text())
            assert done.returncode == 0, (each.id, done.stderr)
    assert possible >= 15, possible


def test_obstacles():
    data = load().data
    assert place.obstacle(data, "asmp") is None
    assert "announce" in place.obstacle(data, "uftp")
    pauses = cli.load(["rfc8867-5-8"])[0].data
    assert "'m1' pauses" in place.obstacle(pauses, "uftp")
    assert place.obstacle(pauses, "asmp") is None
    layers = load(
        SCENARIO.replace("    from: a\n    rec", "    from: a\n    layers: [100 kb/s]\n    rec")
    )
    assert "elm" in place.obstacle(layers.data, "asmp")
    assert "layers" in place.obstacle(layers.data, "assp")
    assert place.obstacle(layers.data, "elm") is None
    assert "streams" in place.obstacle(data, "assp")
    both = cli.load(["which-one-alone"])[0].data  # of which each takes its own
    assert [place.obstacle(both, kind) for kind in ("asmp", "assp", "elm")] == [None] * 3
    many = load(SCENARIO.replace("at: b}", "at: b, count: 40}"))
    assert "receivers" in place.obstacle(many.data, "asmp")


def test_load_is_what_bottlenecks_let_through():
    # Three flows share `down`; the UDP goes the other way.
    got = place.load_bps(load().data)
    assert abs(got - (2 * 100e3 + 2 * 100e3 + 80e3)) < 1, got


def test_draws_repeat_and_differ_by_seed():
    assert placed(1).text() == placed(1).text()
    assert placed(1).text() != placed(2).text()


def test_times_of_pauses():
    flow = placed().flows[-1]
    assert flow["times"] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]], flow["times"]


def test_changes():
    rows = placed().changes()
    steps = [row for row in rows if "rate" in row[3]]
    for towards in ("up>r-b", "up>r-a"):  # a link has one rate, unless its way back was given one
        ramp = [row for row in steps if row[1:3] == ("up", towards)]
        assert [row[0] for row in ramp] == [4.25, 4.5, 4.75, 5.0], ramp
        assert [float(row[3]["rate"]) for row in ramp] == [875e3, 750e3, 625e3, 500e3], ramp
    assert rows[-1] == (6.0, "up", "up>r-a", {"loss": "1", "gilbert": 0})
    given = SCENARIO.replace("delay: 10 ms,", "delay: 10 ms, reverse: {rate: 1 Mb/s},")
    assert [row[2] for row in placed(text=given).changes() if "rate" in row[3]] == ["up>r-b"] * 4


def changed(*changes):
    """What these make of a link with 1 %, whose way back has none and the same rate."""
    text = SCENARIO[: SCENARIO.index("changes:")] + "changes:\n"
    text += "".join(f"  - {{link: down, {change}}}\n" for change in changes)
    return [(at, where, settings) for at, _, where, settings in placed(text=text).changes()]


def test_one_kind_of_loss_takes_the_others_place():
    gilbert = "loss: {type: gilbert, good_to_bad: 0.01, bad_to_good: 0.2, bad_loss: 0.5}"
    bernoulli = "loss: {type: bernoulli, ratio: 2 %}"
    got = changed(f"at: 1 s, {gilbert}", f"at: 2 s, {bernoulli}")
    assert got[0] == (1.0, "down>r-c", {"loss": 0, "gilbert": "0.01,0.2,0.5,0"}), got
    assert got[1] == (2.0, "down>r-c", {"loss": "0.02", "gilbert": 0}), got


def test_losses_and_ways_back_have_ramps():
    got = changed("at: 1 s, ramp: 1 s, loss: {type: bernoulli, ratio: 5 %}")
    assert [row[0] for row in got] == [1.25, 1.5, 1.75, 2.0], got
    assert [row[2]["loss"] for row in got] == ["0.02", "0.03", "0.04", "0.05"], got
    got = changed("at: 1 s, ramp: 1 s, reverse: {rate: 100 kb/s}", "at: 5 s, rate: 1 Mb/s")
    rates = [float(row[2]["rate"]) for row in got]
    assert rates == [250e3, 200e3, 150e3, 100e3, 1e6], got
    assert [row[1] for row in got] == ["down>r-b"] * 4 + ["down>r-c"], got
    gilbert = "{type: gilbert, good_to_bad: 0.01, bad_to_good: 0.2, bad_loss: 0.5}"
    got = changed(f"at: 1 s, ramp: 0.5 s, reverse: {{loss: {gilbert}}}")
    assert [row[2]["gilbert"] for row in got] == ["0.005,0.1,0.25,0", "0.01,0.2,0.5,0"], got
    got = changed(f"at: 1 s, ramp: 0.5 s, loss: {gilbert}")  # from 1 %
    assert [row[2]["gilbert"] for row in got] == ["0.005,0.1,0.25,0.005", "0.01,0.2,0.5,0"], got


# -- a trace written by hand --


def packet(place_, what, where, time, source, to, port, size=1000, value=0.0, protocol=17):
    to = to if isinstance(to, str) else to.address
    address = trace.number(source.address), trace.number(to)
    at = round((time + 3.0) * 1e9)  # the scenario's zero is 3 s into the network's life
    return (at, round(value * 1e6), *address, 9, port, size, where, what, protocol, 0, 4)


def result_of(place_, rows, control_port=True, **told_more):
    with tempfile.NamedTemporaryFile() as file:
        file.write(numpy.array(sorted(rows), dtype=trace.RECORD).tobytes())
        file.flush()
        seen = trace.Trace(file.name, 3.0, 10.0)
    told = {"control_port": control_port, "target_bps": [], "limiting": [], "receivers": {}}
    told |= told_more
    return trace.result(seen, place_, {"m": told}, "asmp")


def stream(place_):
    """A multicast packet every 0.1 s; those at n.5 s are lost on `up`, those at n.7 s on `down`."""
    flow = place_.flows[0]
    sender, group = flow["sender"], flow["group_address"]
    near, far = (each["host"] for each in flow["receivers"])
    rows = []
    for i in range(100):
        time = i / 10 + 0.05
        line = (sender, group, 5004)
        rows.append(packet(place_, trace.ENTERED, sender.number, time, *line))
        if i % 10 == 5:
            rows.append(packet(place_, trace.DROP_QUEUE, 0, time, *line))
            continue
        rows.append(packet(place_, trace.LEFT, 0, time, *line, value=0.010 * (1 + i % 10)))
        rows.append(packet(place_, trace.DELIVERED, near.number, time, *line, value=0.020))
        if not 2 <= time < 8:
            continue
        if i % 10 == 7:
            rows.append(packet(place_, trace.DROP_LOSS, 2, time, *line))
        else:
            rows.append(packet(place_, trace.DELIVERED, far.number, time, *line, value=0.040))
    return rows


def test_receivers_have_what_reached_them_and_what_was_lost_on_their_way():
    own = placed()
    run = Run(result_of(own, stream(own)))
    near, far = (run.sinks("m", name)[0] for name in ("near", "far"))
    assert sum(near["packets"]) == 90 and sum(near["lost"]) == 10
    # From its first packet on: 6 s with one loss on each link a second.
    assert sum(far["packets"]) == 48 and sum(far["lost"]) == 12, (far["packets"], far["lost"])
    span = {"flow": "m", "from": 2.0, "to": 8.0, "over": "mean"}
    assert abs(measure.evaluate(run, "loss", span | {"receiver": "far"}) - 0.2) < 1e-9
    assert abs(measure.evaluate(run, "throughput", span | {"receiver": "far"}) - 64000) < 1e-6
    got = measure.evaluate(run, "delay", span | {"receiver": "far", "stat": "mean"})
    assert abs(got - 0.040) < 1e-6, got
    assert abs(measure.evaluate(run, "sent", {"flow": "m", "from": 0.0, "to": 10.0}) - 80000) < 1


def test_links_count_what_left_them():
    own = placed()
    result = result_of(own, stream(own))
    up = result["links"]["up"]
    assert sum(up["packets"]) == 90 and sum(up["queue_drops"]) == 10
    assert sum(result["links"]["down"]["random_drops"]) == 6
    assert abs(up["delays"]["max"] - 0.100) < 1e-6
    run = Run(result)
    used = measure.evaluate(run, "utilisation", {"link": "up", "from": 0.0, "to": 4.0})
    assert abs(used - 0.072) < 1e-9, used
    # After the ramp the link carries half.
    used = measure.evaluate(run, "utilisation", {"link": "up", "from": 6.0, "to": 10.0})
    assert abs(used - 0.144) < 1e-9, used


def test_control_is_what_is_not_media():
    own = placed()
    flow = own.flows[0]
    sender, group = flow["sender"], flow["group_address"]
    far = flow["receivers"][1]["host"]
    rows = stream(own)
    rows.append(packet(own, trace.ENTERED, sender.number, 1.0, sender, group, 5005, 200))
    rows.append(packet(own, trace.ENTERED, far.number, 3.0, far, group, 5005, 100))
    rows.append(packet(own, trace.DELIVERED, sender.number, 3.1, far, group, 5005, 100))
    out = result_of(own, rows)["flows"]["m"]
    assert sum(out["sender"]["control_bytes"]) == 200 and sum(out["sender"]["reports"]) == 1
    assert sum(out["receivers"]["far"]["control_bytes"]) == 100
    assert sum(out["sender"]["bytes"]) == 100_000
    rival = result_of(own, rows, control_port=False)["flows"]["m"]  # no port of its own: all counts
    assert sum(rival["sender"]["bytes"]) == 100_200


def test_of_several_groups_counts_what_a_receiver_takes():
    own = placed()
    flow = own.flows[0]
    sender, near = flow["sender"], flow["receivers"][0]["host"]
    groups = [("239.90.1.1", 5004), ("239.90.1.2", 5006)]
    rows = []
    for i in range(100):  # a packet of each group every 0.1 s; at 5.05 s both are dropped
        for address, port in groups:
            line = (i / 10 + 0.05, sender, address, port)
            rows.append(packet(own, trace.ENTERED, sender.number, *line))
            dropped = i == 50
            rows.append(packet(own, trace.DROP_QUEUE if dropped else trace.LEFT, 0, *line))
            if not dropped:
                rows.append(packet(own, trace.DELIVERED, near.number, *line))
    steps = {"stream": [[1.0, 0], [4.0, 1]], "switches": []}
    told = {"media": groups, "receivers": {"near": steps}, "streams": [{}, {}]}

    def near_of(cumulative):
        result = result_of(own, rows, cumulative=cumulative, **told)
        (sink,) = Run(result).sinks("m", "near")
        return sum(sink["packets"]), sum(sink["lost"]), result

    assert near_of(False)[:2] == (89, 1)  # from 1 s on, one or the other
    packets, lost, result = near_of(True)
    assert (packets, lost) == (30 + 2 * 59, 2), (packets, lost)
    assert sum(result["flows"]["m"]["sender"]["streams"][1]["bytes"]) == 100e3
    run = Run(result)
    carried = measure.evaluate(run, "carried", {"link": "up", "flow": "m", "from": 0.0, "to": 10.0})
    assert abs(carried - 2 * 99 * 8000 / 10) < 1, carried


def test_changes_are_as_the_laboratory_has_them():
    fields = {"from": 0, "to": 1, "reason": "up", "duration": 250_000_000}
    line = {"time": 107.0, "type": "message", "name": "adaptive-multicast-switch", "fields": fields}
    got = streams.switches([{"time": 101.0, "type": "state"}, line], 100.0)
    assert got["stream"] == [[7.0, 1]] and got["switches"] == [[7.0, 0, 1, "up", 0.25]], got
    back = line | {"time": 109.0, "fields": {**fields, "from": 1, "to": 0, "reason": "trouble"}}
    got = streams.switches([line, back], 100.0)  # what it leaves at once is not shown meanwhile
    assert got["stream"] == [[7.0, 1], [8.75, -1], [9.0, 0]], got


def test_a_stream_that_was_left_is_not_lost_any_more():
    own = placed()
    flow = own.flows[0]
    sender, near = flow["sender"], flow["receivers"][0]["host"]
    groups = [("239.90.1.1", 5004), ("239.90.1.2", 5006)]
    rows = []
    for i in range(100):
        for number, (address, port) in enumerate(groups):
            line = (i / 10 + 0.05, sender, address, port)
            dropped = i == 30 or 40 <= i < 43 or (i == 45 and number == 0)
            rows.append(packet(own, trace.DROP_QUEUE if dropped else trace.LEFT, 0, *line))
            if not dropped:
                rows.append(packet(own, trace.DELIVERED, near.number, *line, value=0.02))
    # The higher one is left at 4 s; the lower one comes from 4.35 s on, its picture at 5 s.
    steps = {"stream": [[1.0, 1], [4.0, -1], [5.0, 0]], "switches": []}
    told = {"media": groups, "receivers": {"near": steps}, "streams": [{}, {}]}
    (sink,) = Run(result_of(own, rows, **told)).sinks("m", "near")
    assert sum(sink["lost"]) == 2 and sum(sink["packets"]) == 29 + 56, sink


def test_tcp_flows_are_told_apart_by_port():
    own = placed()
    one, other = own.flows[1], own.flows[2]
    rows = []
    for flow, count in ((one, 3), (other, 5)):
        for i in range(count):
            line = (flow["sender"], flow["receiver"], flow["port"])
            where = flow["receiver"].number
            rows.append(packet(own, trace.DELIVERED, where, 5 + i / 10, *line, protocol=6))
        rows.append(packet(own, trace.DROP_QUEUE, 0, 6.0, *line, protocol=6))
    flows = result_of(own, rows)["flows"]
    assert [sum(flows[name]["packets"]) for name in ("t-1", "t-2")] == [3, 5]
    assert [sum(flows[name]["lost"]) for name in ("t-1", "t-2")] == [1, 1]
    assert flows["t-1"]["group"] == "t"


def test_measures_are_the_laboratorys():
    own = placed()
    result = result_of(own, stream(own)) | {"ground": {}}
    measured = load(
        SCENARIO + "measures:\n  - {id: x, what: share, flow: m, receiver: near, fair: 72 kb/s}\n"
    )
    out = outcome.measured(measured, [("asmp", "cubic", 1, result), ("norm", "", 1, result)])
    assert out.plan.variants == ["asmp-cubic", "norm"]
    got = out.summary(out.measures[0], "norm").mean
    assert abs(got - 1.0) < 1e-9, got


# -- the evaluation --


def test_the_matrix_is_what_can_be_run():
    rows = matrix.read(HERE / "ground" / "matrix.txt", cli.load)
    for each, flow, _, _ in rows:
        assert place.obstacle(each.data, flow) is None, (each.id, flow)
    own = {each.id for each, flow, _, _ in rows if flow == "asmp"}
    own |= {"ours-ecn-many", "ours-newcomer", "ours-two-links"}  # the hour is full
    for each in cli.load([]):
        asmp = each.id.startswith(("asmp-", "ours-", "rfc"))
        assert not asmp or each.id in own or place.obstacle(each.data, "asmp"), each.id
    assert all(flow.partition("=")[0] in flows.FLOWS for _, flow, _, _ in rows)
    assert matrix.seconds(matrix.runs_of(rows, [1, 2, 3])) < 3600


def test_the_rivals_are_everywhere_that_they_can_be():
    rows = matrix.read(HERE / "ground" / "matrix.txt", cli.load)
    more = matrix.read(HERE / "ground" / "rivals.txt", cli.load)
    for each, flow, _, _ in more:
        assert place.obstacle(each.data, flow) is None, (each.id, flow)
    ran = {(each.id, flow) for each, flow, _, _ in rows}
    added = {(each.id, flow) for each, flow, _, _ in more}
    assert not ran & added
    gives_up = {"ours-feedback-lost"}  # exit status 9, in three runs of three
    for each, flow, _, _ in rows:
        if flow == "asmp":
            assert (each.id, "norm") in ran | added, each.id
            late = place.obstacle(each.data, "uftp") or each.id in gives_up
            assert ((each.id, "uftp") in ran | added) is not bool(late), each.id
    assert matrix.seconds(matrix.runs_of(more, [1, 2, 3])) < 3600


def test_several_are_everywhere_that_they_can_be():
    rows = matrix.read(HERE / "ground" / "several.txt", cli.load)
    ran = {(each.id, flow) for each, flow, _, _ in rows}
    for each in cli.load([]):
        protocols = [flow for flow in ("assp", "elm") if place.obstacle(each.data, flow) is None]
        if len(protocols) == 2:  # then it is for all
            protocols += ["asmp", "norm", "rtp=500k"]
        if each.id != "assp-smcc-base":  # is assp-vs-smcc
            assert {(each.id, flow) for flow in protocols} <= ran, each.id
    assert all(place.obstacle(each.data, flow) is None for each, flow, _, _ in rows)
    assert matrix.seconds(matrix.runs_of(rows, [1, 2, 3])) < 5400


def test_what_goes_on_together_is_what_the_machine_carries():
    def run(load, seconds=100.0):
        return types.SimpleNamespace(load=load * matrix.BUSY, seconds=seconds)

    heavy, half, light = run(1.5), run(0.5), run(0.1)
    assert matrix.next_fit([heavy], []) is heavy  # alone, if it must be
    assert matrix.next_fit([heavy, half], [light]) is half
    assert matrix.next_fit([half], [half, half]) is None
    assert matrix.next_fit([light], [light] * matrix.TOGETHER) is None
    one = 100.0 + matrix.OVERHEAD_S
    assert matrix.seconds([half, half]) == one
    assert matrix.seconds([half, half, half]) == 2 * one
    assert matrix.seconds([heavy, half, light]) == 2 * one
    norm, asmp, rtp = (
        matrix.Run(load(), each, "", None, 1).load for each in ("norm", "asmp", "rtp=1M")
    )
    assert 0 < norm < asmp < rtp < 1, (norm, asmp, rtp)


# -- the page --


def test_what_is_apart_from_simulation_is_told():
    own = placed()
    text = SCENARIO + "measures:\n  - {id: x, what: throughput, flow: m, receiver: near}\n"
    real = result_of(own, stream(own)) | {"ground": {"lag_over_1ms": 0, "machine_busy": 0.5}}
    real["ground"] |= {"marked": [], "failed": []}

    def section(factor):
        slower = stream(own)[: int(len(stream(own)) * factor)]
        simulated = result_of(own, slower) | {"ground": None}
        rows = [("asmp", "", 1, real), (page.simulated("asmp"), "", 1, simulated)]
        measured = outcome.measured(load(text), rows)
        return page.section(measured, rows, {"two-links": {"x": "known"}}, None)

    assert "Within 15 %" in section(1.0)
    assert "not told apart" not in section(0.5)
    assert "- x: asmp 72.0 kb/s for" in section(0.5) and "known" in section(0.5), section(0.5)


def test_what_chance_explains_is_not_what_differs():
    def said(*rates):
        """Of three runs at 72 kb/s, two of which are apart, beside simulations at these rates."""
        own = placed()
        text = SCENARIO + "measures:\n  - {id: x, what: throughput, flow: m, receiver: near}\n"
        about = {"lag_over_1ms": 0, "machine_busy": 0.5, "marked": [], "failed": []}
        rows = []
        for number, factor in enumerate((0.9, 1.0, 0.95), 1):
            packets = stream(own)[: int(len(stream(own)) * factor)]
            rows.append(("asmp", "", number, result_of(own, packets) | {"ground": about}))
        for number, factor in enumerate(rates, 1):
            packets = stream(own)[: int(len(stream(own)) * factor)]
            result = result_of(own, packets) | {"ground": None}
            rows.append((page.simulated("asmp"), "", number, result))
        cases = [(outcome.measured(load(text), rows), rows)]
        return page.differences(cases[0][0], {}), page.agreement(cases, {})

    lines, counted = said(1.0, 0.9, 0.95)
    assert not lines and counted.startswith("Of 1 figures 1 are within 15 %"), counted
    lines, counted = said(0.5, 1.0, 0.6)  # as far apart from one another
    assert (
        "not told apart" in lines[0] and "0 are within" in counted and "1 more" in counted
    ), counted
    lines, counted = said(0.7, 0.71, 0.72)  # of ranges that are apart, and of little variance
    assert page.UNEXPLAINED in lines[0] and "0 have their reason" in counted, (lines, counted)
    lines, _ = said(0.7, 0.72, 0.92, 0.7, 0.71, 0.73)  # ranges overlap, means do not
    assert page.UNEXPLAINED in lines[0], lines


def test_runs_of_unlike_length_are_refused():
    """Measures are of the same times: of a shorter run they would count what is not there."""
    own = placed()
    text = SCENARIO + "measures:\n  - {id: x, what: throughput, flow: m, receiver: near}\n"
    rows = [("asmp", "", 1, result_of(own, stream(own)) | {"ground": None})]
    rows.append(("rtp=1M", "reno", 1, dict(rows[0][3], duration=rows[0][3]["duration"] / 2)))
    try:
        outcome.measured(load(text), rows)
    except cli.Usage as why:
        assert "rtp=1M-reno" in str(why) and "again" in str(why), why
    else:
        raise AssertionError("not refused")


def test_partners():
    variants = ["asmp-reno", "simulated-reno", "assp", "elm", "simulated elm", "norm"]
    assert page.partner("asmp-reno", variants) == "simulated-reno"
    assert page.partner("elm", variants) == "simulated elm"
    assert page.partner("assp", variants) is None and page.partner("norm", variants) is None


def test_rivals_are_beside_ours():
    own = placed()
    text = SCENARIO + (
        "measures:\n"
        "  - {id: x, what: share, flow: m, receiver: near, fair: 72 kb/s}\n"
        "  - {id: y, what: loss, flow: m, receiver: near}\n"
    )

    def run_of(flow, part, repeat=1):
        packets = stream(own)[: int(len(stream(own)) * part)]
        return (flow, "", repeat, result_of(own, packets) | {"ground": None})

    rows = [run_of("asmp", 1.0), run_of("norm", 0.5)]
    cases = [(outcome.measured(load(text), rows), rows)]
    said = rivalry.overview(cases)
    assert "nearest to the fair share in 1 of 1" in said, said
    assert "| [two-links](#two-links) | **100** / 50.0 / - %" in said, said
    rows[1] = ("norm", *run_of("asmp", 1.0)[1:])  # as good: nobody is ahead
    said = rivalry.overview([(outcome.measured(load(text), rows), rows)])
    assert "fair share in 0 of 1 (1 more not told apart from another), least loss in 0 of 1" in said
    rows = [run_of("asmp", part, k) for k, part in enumerate((1.0, 0.9, 0.95), 1)]
    rows += [run_of("norm", part, k) for k, part in enumerate((0.94, 0.86, 0.9), 1)]
    said = rivalry.overview([(outcome.measured(load(text), rows), rows)])
    assert "nearest to the fair share in 0 of 1 (1 more" in said, said  # three runs do not tell
    rows += [run_of("uftp", part, k) for k, part in enumerate((0.5, 0.51, 0.52), 1)]
    said = rivalry.overview([(outcome.measured(load(text), rows), rows)])
    assert "| **93.7** / **87.8** / 50.7 % |" in said, said
    assert rivalry.overview([(outcome.measured(load(text), rows[:1]), rows)]).startswith("No rival")


def test_all_together_where_all_ran():
    own = placed()
    text = SCENARIO + (
        "measures:\n"
        "  - {id: rate, what: throughput, flow: m}\n"
        "  - {id: worst, what: throughput, flow: m, over: min}\n"
    )
    loss = "  - {id: loss, what: loss, flow: m, receiver: near}\n"

    def table(text, *flows):
        run = result_of(own, stream(own)) | {"ground": None}
        rows = [(flow, "", 1, run) for flow in (*flows, "simulated")]
        return rivalry.together([(outcome.measured(load(text), rows), rows)])

    lines = table(text + loss, "asmp", "elm", "norm").splitlines()
    assert lines[0] == "|  | asmp | elm | norm |", lines
    assert "/ " in lines[2] and " kb/s, 10.0 % |" in lines[2], lines
    for nothing in (table(text, "asmp", "elm"), table(text + loss, "asmp", "norm")):
        assert nothing.startswith("No scenario"), nothing


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
