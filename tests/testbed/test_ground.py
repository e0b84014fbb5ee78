#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The proving ground without a network: scenarios as topologies, traces as results."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sim"), str(HERE.parent / "sim" / "tests")]

import leftovers  # noqa: E402
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
    rivals,
    runner,
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
    assert rows[-1] == (6.0, "up", "up>r-a", {"loss": "1"})
    given = SCENARIO.replace("delay: 10 ms,", "delay: 10 ms, reverse: {rate: 1 Mb/s},")
    assert [row[2] for row in placed(text=given).changes() if "rate" in row[3]] == ["up>r-b"] * 4


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


# -- programs --


def test_who_ends_otherwise_than_asked_is_told():
    class Lab:
        @staticmethod
        def run(_host, argv, **kwargs):
            return subprocess.Popen(argv, start_new_session=True, **kwargs)

    def ended(script, happening):
        process = rivals.Process(Lab, "h", ["sh", "-c", script], dict(os.environ), os.devnull)
        happening(process)
        process.popen.wait()
        process.log.close()
        return process.wrong()

    def nothing(_process):
        pass

    def shot(process):
        os.kill(process.popen.pid, signal.SIGKILL)

    assert ended("read line", rivals.Process.finish) is None
    assert ended("exec sleep 60", rivals.Process.kill) is None
    assert ended("exec sleep 60", shot) == -9
    assert ended("true", nothing) == 0  # before its time
    assert ended("read line; exit 3", rivals.Process.finish) == 3
    process = rivals.Process(Lab, "h", ["sleep", "60"], dict(os.environ), os.devnull)
    assert process.wrong() is None
    process.kill()


def test_what_is_missing_is_told():
    class Bare:
        encoder, asked = False, load().data

        @staticmethod
        def program(_name):
            return None

    assert "ground-source" in rivals.Asmp.missing(Bare)
    Bare.encoder = True
    assert rivals.Asmp.missing(Bare) is None
    assert "norm-peer" in rivals.Norm.missing(Bare)


def test_priority_is_given_back():
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with runner.priority():
        pass
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_who_is_kept_from_a_cpu_is_told():
    spin = "import os; os.sched_setaffinity(0, {0})\nwhile True: pass"
    both = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(2)]
    try:
        time.sleep(1.0)
        ground = runner.Ground.__new__(runner.Ground)
        own = types.SimpleNamespace(processes=lambda: [types.SimpleNamespace(popen=both[0])])
        ground.programs, ground.load = {"m": own}, both[1]
        assert 0.1 < ground._waited() < 1.2, ground._waited()
    finally:
        for each in both:
            each.kill()
            each.wait()


# -- what is kept --


def program_of(name):
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


@contextlib.contextmanager
def child(code, *arguments):
    """Python in a process of its own, once it has said something."""
    words = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(words, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_what_programs_said_is_kept():
    row = {"type": "error", "source": "mcc", "text": "no device", "debug": "line 3"}
    process = types.SimpleNamespace(name="m-r1", lines=[{"type": "state"}, row])
    ground = runner.Ground.__new__(runner.Ground)
    ground.programs = {"m": types.SimpleNamespace(processes=lambda: [process])}
    with tempfile.TemporaryDirectory() as name:
        ground.directory = Path(name)
        for stem, text in (("m-r1", "warned\n"), ("m-r2", "0123456789"), ("m-r3", "\n")):
            (Path(name) / f"{stem}.log").write_text(text)
        said = ground._said(20)
        assert said == {"m-r1": "vice (line 3)\nwarned", "m-r2": "0123456789"}, said


def test_a_lab_ends_the_load_of_a_run_that_broke_off():
    ground, lab = runner.Ground.__new__(runner.Ground), netlab.Lab.__new__(netlab.Lab)
    lab.hosts, lab.processes = {}, []
    ground.lab, ground.place = lab, types.SimpleNamespace(flows=[])
    load = ground._start_load()
    try:
        begin = time.monotonic()
        lab._end_processes()
        assert load.poll() is not None and time.monotonic() < begin + 2.5
    finally:
        load.kill()
        load.wait()
        load.stdin.close()
        load.stdout.close()


HOLDS = """
import sys, tempfile, time, test_ground
run = test_ground.program_of("run")
directory = sys.argv.pop()
def work(*_):
    with tempfile.TemporaryDirectory(prefix=run.leftovers.own_prefix("ground"), dir=directory):
        print("there", flush=True)
        time.sleep(60)
run.run_all, run.netlab.ensure_privileges = work, lambda: None
run.use_emulator = lambda _: None
sys.exit(run.main())
"""


def test_who_is_ended_leaves_nothing_behind():
    with tempfile.TemporaryDirectory() as name:
        for number in leftovers.ENDS:  # wherever it is
            with child(HOLDS, "asmp-idle", name) as process:
                assert len(os.listdir(name)) == 1
                process.send_signal(number)
                assert process.wait(20) != 0 and not os.listdir(name), number


def test_what_the_dead_left_is_removed():
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "ground-1x").mkdir()
        with child(HOLDS, "asmp-idle", name):
            with child(HOLDS, "asmp-idle", name) as process:
                process.kill()
                process.wait()
            assert len(os.listdir(name)) == 3
            (removed,) = leftovers.remove_dead("ground", name)
            assert removed.startswith(f"ground-{process.pid}-"), removed
            assert len(os.listdir(name)) == 2 and not leftovers.remove_dead("ground", name)
    assert leftovers.remove_dead("ground", name) == []


def test_what_is_not_understood_marks_a_run():
    def program(*lines):
        return types.SimpleNamespace(lines=list(lines))

    before = {"type": "stats", "dropped-ssrc-mismatch": 0, "dropped-own": 2}
    after = before | {"dropped-ssrc-mismatch": 3, "dropped-rate-limited": 4}
    ground = runner.Ground.__new__(runner.Ground)
    for last, marks in ((before, []), (after, ["m: drops for ssrc-mismatch"])):
        programs = [program(before, last, {"type": "frames"}), program({"type": "state"})]
        ground.programs = {"m": types.SimpleNamespace(processes=lambda own=programs: own)}
        assert ground._not_understood() == marks


def test_kept_results_are_of_what_is_asked():
    own, made = placed(), []
    module = program_of("run")
    failed = []

    class Ground:
        def __init__(self, *given):
            self.given, self.said = given, {"m-r1": "mcc: no such device (here)"}

        def run(self, _say):
            made.append(self.given)
            if failed == ["breaks"]:
                raise subprocess.TimeoutExpired("load", 5)
            about = {"failed": list(failed), "marked": []}
            return result_of(own, stream(own)) | {"ground": about}

    module.runner = types.SimpleNamespace(
        Ground=Ground,
        SAID_SHOWN=20,
        CannotRun=module.runner.CannotRun,
        priority=contextlib.nullcontext,
        variant_name=module.runner.variant_name,
    )
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stderr(io.StringIO()) as said:
        build = Path(name) / "build"
        (build / "gst").mkdir(parents=True)
        (build / "gst" / "plugin.so").write_bytes(b"1")

        def go(duration=None, encoder=False, again=False):
            made.clear()
            module.build_of.cache_clear()
            args = types.SimpleNamespace(json=Path(name) / "kept", builddir=build, flow=["asmp"])
            args.tcp, args.repeats = [""], [1]
            args.duration, args.encoder, args.film = duration, encoder, None
            results, failures = module.run_all([load()], args)
            assert len(made) == again, (made, failures)
            return results, failures

        failed[:] = ["asmpsrc: a program ended with -11"]
        for _ in range(2):  # is not kept
            results, failures = go(again=True)
            assert failures and results
            assert said.getvalue().endswith("m-r1 said:\no such device (here)\n"), said.getvalue()
            kept = (Path(name) / "kept" / "two-links-asmp-1.said").read_text()
            assert kept == "m-r1:\nmcc: no such device (here)\n", kept
        failed.clear()
        assert not go(again=True)[1]
        assert [path.suffix for path in (Path(name) / "kept").iterdir()] == [".gz"]
        assert not go()[1]
        for words, what in (({"duration": 5.0}, "duration"), ({"encoder": True}, "encoder")):
            results, (failure,) = go(**words)
            assert what in failure and "remove it" in failure and not results, failure
        (build / "gst" / "plugin.so").write_bytes(b"2")
        results, (failure,) = go()
        assert "another build" in failure and not results, failure
        # Whatever happens in one case, the others go on.
        failed[:] = ["breaks"]
        said.truncate(0)
        (Path(name) / "kept" / "two-links-asmp-1.json.gz").unlink()
        results, (failure,) = go(again=True)
        assert "TimeoutExpired" in failure and "TimeoutExpired" in said.getvalue(), failure
        assert "it broke off" in said.getvalue() and "such device" in said.getvalue()


# -- the evaluation --


def test_the_matrix_is_what_can_be_run():
    rows = matrix.read(HERE / "ground" / "matrix.txt", cli.load)
    for each, flow, _, _ in rows:
        assert place.obstacle(each.data, flow) is None, (each.id, flow)
    own = {each.id for each, flow, _, _ in rows if flow == "asmp"}
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
    gives_up = {"ours-feedback-lost", "rfc8867-5-8"}  # exit status 9, in three runs of three
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
    assert "by chance" not in section(0.5)
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
    assert "by chance" in lines[0] and "0 are within" in counted and "1 more" in counted, counted
    lines, counted = said(0.7, 0.71, 0.72)  # of ranges that are apart, and of little variance
    assert page.UNEXPLAINED in lines[0] and "0 have their reason" in counted, (lines, counted)
    lines, _ = said(0.7, 0.72, 0.92, 0.7, 0.71, 0.73)  # ranges overlap, means do not
    assert page.UNEXPLAINED in lines[0], lines


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

    def run_of(flow, part):
        packets = stream(own)[: int(len(stream(own)) * part)]
        return (flow, "", 1, result_of(own, packets) | {"ground": None})

    rows = [run_of("asmp", 1.0), run_of("norm", 0.5)]
    cases = [(outcome.measured(load(text), rows), rows)]
    said = rivalry.overview(cases)
    assert "nearest to the fair share in 1 of 1" in said, said
    assert "| [two-links](#two-links) | **100** / 50.0 / - %" in said, said
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


def test_each_period_of_a_tcp_flow_is_a_connection():
    """In our own namespace, over loopback: it ends with the third that is accepted."""
    said = (
        "import os, sys; from ground import load; load.enter = lambda path: None; got = []\n"
        "old = load.Load.accept\n"
        "def accept(self, listener):\n"
        "    old(self, listener); got.append(listener)\n"
        "    if len(got) == 3: sys.exit(len(self.failed))\n"
        "load.Load.accept = accept; load.main()"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flow = {"id": "t", "kind": "tcp", "from": "", "to": "", "address": "127.0.0.1", "port": port}
    flow |= {"segment": 1000, "congestion": "reno", "ecn": False}
    flow["times"] = [[0.0, 0.1], [0.15, 0.25], [0.3, 0.4]]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", said], cwd=HERE, text=True, **pipes) as process:
        try:
            process.stdin.write(json.dumps([flow]) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == "ready\n"
            process.stdin.write(f"{time.monotonic()}\n")
            process.stdin.flush()
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
