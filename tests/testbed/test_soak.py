#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The verdict of the soak, without a network."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import statistics
import subprocess
import sys
import tempfile
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sim"), str(HERE.parent / "sim" / "tests")]

import tap  # noqa: E402


def program():
    loader = importlib.machinery.SourceFileLoader("soak", str(HERE / "soak"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("soak", loader))
    loader.exec_module(module)
    return module


def verdict(seconds=120, late=0.0, **changed):
    """What a soak says of rows in which one thing changes over the run, from (first) to (last)."""
    module = program()
    soak = module.Soak.__new__(module.Soak)
    soak.kept, soak.problems, soak.longest_stall = dict.fromkeys(("s1", "k1", "k2")), [], 0.0
    soak.pictures = {"k1": 100, "k2": 100}
    soak.rows, soak.timing = [], []
    for i in range(seconds):
        row = {"time": i}
        for name in soak.kept:
            own = {"kb": 40000, "descriptors": 16, "threads": 12, "pacer_delay": 0.01}
            own["queue_delay"] = 0.02
            for field, (first, last) in changed.items():
                own[field] = first + (last - first) * i / seconds
            row[name] = own
        soak.rows.append(row)
    soak.judge(seconds)
    return soak.verdict(late)[0].removeprefix("clean")


def test_a_soak_sees_what_grows():
    assert verdict() == ""
    assert "memory grew" in verdict(kb=(40000, 60000))
    assert verdict(kb=(40000, 44000)) == ""
    assert verdict(20, kb=(40000, 60000)) == ""  # too short to tell
    assert "descriptors" in verdict(descriptors=(16, 40))
    assert "threads" in verdict(threads=(12, 30))
    assert "NOT CLEAN: packets wait" in verdict(pacer_delay=(0.5, 0.5))
    assert "NOT CLEAN: s1's delay grew by 0.12 s" in verdict(pacer_delay=(0.0, 0.24))
    assert "k1's delay grew by 0.50 s" in verdict(queue_delay=(0.0, 1.0))
    assert verdict(pacer_delay=(0.2, 0.1), queue_delay=(0.0, 0.1)) == ""
    assert "NOT JUDGED" in verdict(late=0.02, pacer_delay=(0.0, 1.0))
    assert "NOT CLEAN" in verdict(late=0.02, pacer_delay=(0.0, 1.0), threads=(12, 30))


def test_days_of_looks_are_few_rows():
    module = program()
    soak = module.Soak.__new__(module.Soak)
    soak.rows, soak.looks, soak.every, last = [], 0, 1, 72 * 3600
    for i in range(1, last + 1):
        soak.keep({"time": i, "k1": {"kb": i}})
    assert module.ROWS_MOST / 2 <= len(soak.rows) < module.ROWS_MOST and soak.last["time"] == last
    for part in (1, 3):
        middle = statistics.median(soak.values("k1", "kb", part))
        assert abs(middle / last - (0.25 * part + 0.125)) < 0.001, (part, middle)


def test_a_stop_between_two_looks_is_seen():
    loader = importlib.machinery.SourceFileLoader("node", str(HERE.parents[1] / "pipelines/node"))
    node = importlib.util.module_from_spec(importlib.util.spec_from_loader("node", loader))
    loader.exec_module(node)
    gaps = node.Gaps()
    assert gaps.longest(5.0) == 0.0  # before the first
    for at in (10.0, 10.1, 11.0, 11.1):  # 0.9 s, and a picture in each second
        gaps.picture(at)
    assert abs(gaps.longest(11.2) - 0.9) < 1e-9 and abs(gaps.longest(13.1) - 2.0) < 1e-9
    module = program()
    with tempfile.TemporaryDirectory() as name:
        soak = module.Soak(None, name, {}, 1)
        one = types.SimpleNamespace(lines=[], stats={}, frames={"frames": 15, "longest": 0.9})
        soak.kept, soak.lives = {"k1": one}, lambda _: True
        one.process = types.SimpleNamespace(pid=os.getpid())
        soak.restarted = one
        for now in range(1, 9):
            one.frames["frames"] += 15
            row = soak.look(now)
        assert soak.longest_stall == 0.9 and "longest stall 0.9 s" in soak.story(), soak.story()
        assert row["k1"]["longest"] == 0.9


class Program:
    """A node of the soak that does @script."""

    def __init__(self, directory, name, script):
        self.name, self.lines, self.stats, self.frames = name, [{"type": "state"}], {}, {}
        with open(directory / f"{name}.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(["sh", "-c", script], stderr=log)

    def wait_for(self, check, timeout):
        return bool(check(self))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return 0 if self.process.wait() == -15 else 1


def test_a_soak_sees_who_crashed():
    crash, live = "echo so long >&2; kill -SEGV $$", "exec sleep 60"
    module = program()

    class Lab:
        processes = []

    def problems(who, happening):
        with (
            tempfile.TemporaryDirectory() as name,
            contextlib.redirect_stdout(io.StringIO()) as out,
        ):
            soak = module.Soak(Lab, name, {}, 1)
            nodes = {each: Program(Path(name), each, live) for each in ("s1", "s2", "c1")}
            nodes[who].kill()
            nodes[who] = Program(Path(name), who, crash)
            os.waitid(os.P_PID, nodes[who].process.pid, os.WEXITED | os.WNOWAIT)  # a zombie
            soak.kept, soak.restarted = {"s1": nodes["s1"]}, nodes["s2"]
            soak.comers = {"c1": nodes["c1"]}
            soak.sender = lambda host: Program(Path(name), "s2-new", live)
            happening(soak)
            soak.end()
        assert "so long" in out.getvalue(), out.getvalue()
        return soak.problems

    for who in ("s1", "s2", "c1"):
        assert problems(who, lambda soak: soak.look(1)) == [f"{who} ended by itself with -11"]
        assert len(problems(who, lambda soak: None)) == 1
    for way in (module.Soak.kill, module.Soak.leave):
        assert len(problems("c1", way)) == 1
    for first in range(4):  # killed or stopped, whichever

        def restart(soak, seed=first):
            soak.random.seed(seed)
            soak.restart()

        assert len(problems("s2", restart)) == 1


def test_each_protocol_has_its_programs():
    module = program()
    for protocol, sender in (
        ("asmp", "asmpsink"),
        ("assp", "asspsimulcastbin"),
        ("elm", "elmlayersink"),
    ):
        soak = module.Soak.__new__(module.Soak)
        soak.protocol, said = protocol, []
        soak.node = lambda host, pipeline, name, said=said: said.append(pipeline)
        soak.sender("s1")
        soak.receiver("k1", "s1")
        assert (
            f"! {sender} " in said[0] and "name=mcc address=239.80.1.1 port=5004" in said[0]
        ), said
        assert said[1].startswith(module.RECEIVERS[protocol]), said


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
