#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The proving ground's programs: how they begin and end, what they say, what is kept of it."""

import contextlib
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
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sim"), str(HERE.parent / "sim" / "tests")]

import leftovers  # noqa: E402
import netlab  # noqa: E402
import tap  # noqa: E402
from ground import flows, rivals, runner  # noqa: E402
from test_ground import load, placed, program_of, result_of, stream  # noqa: E402


def test_who_ends_otherwise_than_asked_is_told():
    class Lab:
        @staticmethod
        def run(_host, argv, **kwargs):
            return subprocess.Popen(argv, start_new_session=True, **kwargs)

    def ended(script, happening, end=None, trap=":"):
        words = ["sh", "-c", f"{trap}\necho there\n{script}"]
        process = rivals.Process(Lab, "h", words, dict(os.environ), os.devnull, end)
        try:
            assert process.ready.wait(10)
            happening(process)
            wrong = process.wrong()
            if process.until is None:
                process.popen.wait()
                wrong = process.wrong()
            return wrong
        finally:
            process.signal(signal.SIGKILL)
            process.popen.wait()
            process.log.close()

    def nothing(_process):
        pass

    def shot(process):
        os.kill(process.popen.pid, signal.SIGKILL)

    waits = "while :; do sleep 0.1; done"
    finish, term = rivals.Process.finish, (signal.SIGTERM, 6)
    assert ended("read line", finish) is None
    assert ended("exec sleep 60", rivals.Process.kill) is None
    assert ended("exec sleep 60", shot) == "ended with -9"
    assert ended("true", nothing) == "ended with 0"  # before its time
    assert ended("read line; exit 3", finish) == "ended with 3"
    assert ended("exec sleep 60", finish, term) is None
    assert ended(waits, finish, term, "trap 'exit 6' TERM") is None
    assert ended(waits, finish, term, "trap 'exit 0' TERM") is None
    assert ended(waits, finish, term, "trap 'exit 3' TERM") == "ended with 3"
    with mock.patch.object(rivals, "END_S", 0.5):
        assert ended("exec sleep 60", finish) == "goes on 0.5 s after its end"
    process = rivals.Process(Lab, "h", ["sleep", "60"], dict(os.environ), os.devnull)
    assert process.wrong() is None
    process.kill()


def test_uftp_is_ended_by_a_signal():
    own = types.SimpleNamespace(directory=Path("/"), lab=None, env=None)
    with mock.patch.object(rivals, "Process") as process:
        for kind, end in (("uftp", rivals.Uftp.end), ("norm", None), ("asmp", None)):
            flow = flows.FLOWS[kind](own, {"id": "m"})
            flow._start(types.SimpleNamespace(name="h1"), ["true"], "r")
            assert process.call_args.args[-1] == end, kind


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


def test_a_film_has_key_pictures_as_often_with_all():
    flow = dict(placed().flows[0], streams=[(1e5, 2e5)], layers=[1e5, 2e5, 3e5])
    for kind in ("asmp", "assp", "elm", "rtp"):
        ground = types.SimpleNamespace(
            film=types.SimpleNamespace(path="x", times="y"), encoder=True, rate_bps=1e6
        )
        (text,) = (word for word in flows.FLOWS[kind](ground, flow).sender() if "!" in str(word))
        assert text.count("key-int-max=60") == 1 and "x264enc" in text, (kind, text)


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


def test_what_hosts_lose_marks_a_run():
    own = placed()
    (near, far) = (each["host"].name for each in own.flows[0]["receivers"])

    def marks(errors, *told):
        def counts(packets):
            return {"links": [{"to": host, "rx_packets": packets} for host in (near, far)]}

        def call(host, argv):
            assert argv == ["cat", "/proc/net/snmp"]
            table = f"Ip: A\nIp: 1\nUdp: InDatagrams RcvbufErrors X\nUdp: 5 {errors[host]} 9\n"
            return types.SimpleNamespace(stdout=table)

        rows = [[{"type": "stats", "host-dropped": n}, {"type": "frames"}] for n in told]
        processes = [types.SimpleNamespace(lines=lines, popen=load) for lines in rows]
        before = {"cpu_s": 0.0, "drops": {"host": 0}} | counts(500)
        after = before | counts(10500) | {"realtime": True}
        ground = runner.Ground.__new__(runner.Ground)
        ground.lab = types.SimpleNamespace(call=call, stats=lambda: after, lag=lambda: lag)
        program = types.SimpleNamespace(receivers={"near": processes}, processes=lambda: processes)
        ground.programs, ground.load, ground.place = {"m": program}, load, own
        ground.kind, ground.duration, ground.late = "asmp", 1e9, 0.0
        about = ground._account((0, -1_000_000_000), before)
        assert about["lost_in_hosts"]["m/near"]["packets"] == 10000
        return about["marked"]

    load = types.SimpleNamespace(pid=os.getpid())
    lag = {"over_1ms_ratio": 0.0, "mean_us": 0.0, "max_us": 0.0}
    assert marks({near: 10, far: 0}) == []
    assert marks({near: 10, far: 11}) == ["m/far lost 0.11 % of its packets in its host"]
    assert marks({near: 0, far: 0}, 9, 8) == ["m/near lost 0.17 % of its packets in its host"]


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
