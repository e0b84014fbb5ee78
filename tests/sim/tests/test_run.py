#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run, check and report against a mccsim of our own, whose results are known."""

import contextlib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import tap
from lab import cli, duel, page, stats

SCRIPTS = tap.HERE.parent

# Sends seed x 1000 bytes a bin; tells its calls; fails, hangs or babbles when the title says so.
PROGRAM = """#!/usr/bin/python3
import json, os, sys, time
given = json.load(open(sys.argv[1]))
with open(os.environ["CALLS"], "a") as calls:
    calls.write(f"{given['id']} {given['variant']} {given['seed']}\\n")
what = given["id"]
if what == "fails" and given["seed"] == 2:
    sys.exit("no such thing")
if what == "dies":
    os.kill(os.getpid(), 11)
if what == "babbles":
    print("hello")
    sys.exit()
if what == "hangs":
    time.sleep(60)
bins = round(given["duration"] * 10)
sink = {"bytes": [1000 * given["seed"]] * bins, "packets": [1] * bins, "lost": []}
sink |= {"delay_sum": [], "delay_count": [], "control_bytes": [], "reports": []}
flows = {}
for flow in given["flows"]:
    entry = {"kind": flow["type"], "group": flow["group"]}
    if flow["type"] == "multicast":
        entry["sender"] = {"bytes": sink["bytes"], "packets": [], "control_bytes": [],
                           "reports": [], "target_bps": [[0, 80000.0]], "limiting": []}
        entry["receivers"] = {r["id"]: sink | {"group": r["group"]} for r in flow["receivers"]}
    else:
        entry |= sink
    flows[flow["id"]] = entry
links = {}
for link in given["links"]:
    links[link["id"]] = {"rate_bps": [[0, link["rate"]]], "bytes": sink["bytes"], "packets": [],
                         "queue_drops": [], "random_drops": [], "marks": [], "delay_sum": [],
                         "delay_count": [], "delays": {}}
print(json.dumps({"scenario": what, "variant": given["variant"], "seed": given["seed"],
                  "duration": given["duration"], "bin": 0.1, "flows": flows, "links": links}))
"""

FILE = """
id: NAME
title: A test
duration: 20 s
seeds: 3
variants: [enhanced, tcp]
smoke: {duration: 5 s, seeds: 1, variants: [enhanced]}
links: [{id: l, from: a, to: b, rate: 1 Mb/s, delay: 1 ms}]
flows:
  - {id: m, type: multicast, from: a, receivers: [{id: r, at: b}]}
  - {id: t, type: tcp, from: a, to: b, count: 2}
measures:
  - id: rate
    what: throughput
    flow: m
    goal: ">= 150 kb/s"
    published: {enhanced: 99 kb/s}
    band: {enhanced: [100 kb/s, BOUND kb/s]}
    smoke: {to: 5 s, band: {enhanced: [70 kb/s, 90 kb/s]}}
  - {id: never, what: reach, flow: m, value: 240 kb/s, side: above, within: 0 %}
plots:
  - {what: rates, flows: [m, t], title: Rates}
  - {what: target, flows: [m], title: Target}
  - {what: queue, links: [l], title: Queue}
"""


class Lab:
    """A build directory with that mccsim, and scenario files."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.builddir = self.directory / "build"
        self.calls_file = self.directory / "calls"
        self.calls_file.touch()
        self.env = os.environ | {"CALLS": str(self.calls_file), "MPLCONFIGDIR": directory}
        self.program(PROGRAM)

    def program(self, text):
        path = self.builddir / "tests" / "sim" / "mccsim"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def file(self, name, bound=200):
        path = self.directory / f"{name}.yaml"
        path.write_text(FILE.replace("NAME", name).replace("BOUND", str(bound)))
        return path

    def command(self, script, *arguments):
        words = [SCRIPTS / script, "--builddir", self.builddir, *arguments]
        return ["/usr/bin/python3", "-B", *map(str, words)]

    def run(self, script, *arguments):
        return subprocess.run(
            self.command(script, *arguments),
            capture_output=True,
            text=True,
            env=self.env,
            check=False,
            timeout=120,
        )

    def calls(self):
        """The calls since the last time."""
        lines = sorted(self.calls_file.read_text().splitlines())
        self.calls_file.write_text("")
        return lines


@contextlib.contextmanager
def lab():
    with tempfile.TemporaryDirectory() as directory:
        yield Lab(directory)


def test_a_time_limit_begins_nothing_and_shows_what_there_is():
    with lab() as one:
        file = one.file("a")
        out = one.run("run", file, "--minutes", "0")
        assert out.returncode == 0 and not one.calls(), out.stderr
        assert one.run("run", file, "--seeds", "2", "--minutes", "1").returncode == 0
        assert len(one.calls()) == 4
        out = one.run("run", file, "--minutes", "0")
        row = next(line for line in out.stdout.splitlines() if "rate" in line)
        assert "120 ±" in row and not one.calls(), out.stdout
        for words in (["--minutes", "-1"], ["--part", "3/2"], ["--part", "0/2"]):
            assert one.run("run", file, *words).returncode == 2, words


def test_means_intervals_and_the_cache():
    with lab() as one:
        file = one.file("a")
        out = one.run("run", file, "--json", one.directory / "out.json")
        assert out.returncode == 0, out.stderr
        assert len(one.calls()) == 6
        # 80, 160, 240 kb/s: 160 +- 4.303 x 80 / sqrt 3.
        row = next(line for line in out.stdout.splitlines() if "rate" in line)
        assert "160 ±199 kb/s [99 kb/s] ok" in row and ">= 150 kb/s" in row, out.stdout
        assert "never in 2 of 3" in out.stdout
        (data,) = json.loads((one.directory / "out.json").read_text())
        measured = data["variants"]["enhanced"]["rate"]
        assert measured["mean"] == 160e3 and measured["goal_verdict"] == "ok", measured
        again = one.run("run", file, "--seeds", "4")
        assert one.calls() == ["a enhanced 4", "a tcp 4"] and "4 seeds" in again.stdout
        # Another binary: everything anew.
        one.program(PROGRAM + "# other\n")
        one.run("run", file, "--variant", "enhanced", "--seeds", "3,5")
        assert one.calls() == ["a enhanced 3", "a enhanced 5"]
        # What is only measured and told does not count.
        file.write_text(file.read_text().replace("title: A test", "title: B"))
        one.run("run", file, "--variant", "enhanced", "--seeds", "3,5")
        assert one.calls() == []
        file.write_text(file.read_text().replace("1 Mb/s", "2 Mb/s"))
        one.run("run", file, "--variant", "enhanced", "--seeds", "3,")
        assert one.calls() == ["a enhanced 3"]


def test_a_damaged_cache_is_no_harm():
    with lab() as one:
        file = one.file("a")
        one.run("run", file, "--seeds", "1", "--variant", "tcp")
        (kept,) = (one.builddir / "sim-cache").rglob("*.gz")
        kept.write_bytes(kept.read_bytes()[:-20])
        one.calls()
        out = one.run("run", file, "--seeds", "1", "--variant", "tcp")
        assert out.returncode == 0 and one.calls() == ["a tcp 1"], out.stderr


def test_out_keeps_raw_results():
    with lab() as one:
        one.run("run", one.file("a"), "--seeds", "1", "--out", one.directory / "raw")
        with gzip.open(one.directory / "raw" / "a-enhanced-1.json.gz", "rt") as file:
            assert json.load(file)["seed"] == 1


def test_failures_are_told_with_a_command_that_repeats_them():
    with lab() as one:
        out = one.run("run", one.file("fails"), one.file("a"), "--variant", "enhanced")
        assert out.returncode == 1
        assert "fails enhanced seed 2: exit status 1: no such thing" in out.stderr, out.stderr
        command = re.search(r"to repeat: (.*)", out.stderr).group(1)
        repeated = subprocess.run(
            command, shell=True, env=one.env, capture_output=True, text=True, check=False
        )
        assert repeated.returncode == 1 and "no such thing" in repeated.stderr
        # The others are there: seeds 1 and 3.
        assert "160 ±1016 kb/s" in out.stdout, out.stdout
        assert "killed by signal 11" in one.run("run", one.file("dies"), "--seeds", "1").stderr
        assert "a JSON result" in one.run("run", one.file("babbles"), "--seeds", "1").stderr
        assert one.run("check", one.file("fails")).returncode == 1


def test_no_build_no_program():
    with lab() as one:
        file = one.file("a")
        (one.builddir / "tests" / "sim" / "mccsim").unlink()
        out = one.run("run", file)
        assert out.returncode == 2 and f"run 'ninja -C {one.builddir}'" in out.stderr, out.stderr
        one.builddir = one.directory / "none"
        out = one.run("run", file)
        assert out.returncode == 2 and "--builddir" in out.stderr, out.stderr


def test_wrong_arguments_and_files():
    with lab() as one:
        file = one.file("a")
        for words, message in (
            ((file, "--variant", "tfmc"), "no variant 'tfmc'"),
            ((file, "--seeds", "x"), "10, or 3,5, or 4-6"),
            ((file, "--seeds", "0"), "seeds are 1 or more"),
            ((file, "--duration", "30"), "has no unit"),
            ((file, "--jobs", "0"), "a number from 1 on"),
            ((file, file), "is"),
            ((one.directory / "none.yaml",), "none.yaml:1: cannot be read"),
            ((), "which scenario?"),
        ):
            out = one.run("run", *words)
            assert out.returncode == 2 and message in out.stderr, (words, out.stderr)
            assert "Traceback" not in out.stderr, out.stderr
        assert one.calls() == []
        assert one.run("run", file, "--lint").returncode == 0
        shown = json.loads(one.run("run", file, "--print", "--variant", "tcp").stdout)
        assert shown["variant"] == "tcp" and shown["flows"][0]["type"] == "tcp"


def test_duration_and_smoke():
    with lab() as one:
        file = one.file("a")
        out = one.run("run", file, "--duration", "2 s", "--seeds", "1")
        assert "2 s)" in out.stdout and " ok" not in out.stdout, out.stdout
        one.calls()
        out = one.run("check", file, "--smoke")
        assert out.returncode == 0 and "1 of 1 bands hold" in out.stdout, out.stdout
        assert one.calls() == ["a enhanced 1"]


def test_check_tells_what_is_out():
    with lab() as one:
        out = one.run("check", one.file("a", bound=150), one.file("b"))
        assert out.returncode == 1 and "1 of 2 bands hold" in out.stdout, out.stdout
        row = next(line for line in out.stdout.splitlines() if line.startswith("a "))
        assert re.search(r"enhanced +rate +160 ±199 kb/s +100 kb/s .. 150 kb/s +HIGH", row), row


def test_ctrl_c_ends_at_once_and_leaves_nothing_running():
    with lab() as one:
        process = subprocess.Popen(
            one.command("run", one.file("hangs"), "--jobs", "2"),
            env=one.env,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while len(one.calls_file.read_text().splitlines()) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130 and "Traceback" not in err, (process.returncode, err)
        assert time.monotonic() - begin < 10
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        assert str(one.builddir) not in running.stdout, running.stdout


def test_seeds():
    assert cli.seed_list("3") == [1, 2, 3] and cli.seed_list("3,") == [3]
    assert cli.seed_list("4-6,2") == [2, 4, 5, 6]


def test_report():
    with lab() as one:
        out = one.run("report", one.file("asmp-a", bound=150), one.file("ours-b"), "--jobs", "2")
        assert out.returncode == 0, out.stderr
        directory = one.builddir / "report"
        text = (directory / "asmp.md").read_text()
        assert "**160 ±199 kb/s**" in text and "| ok (open) |" in text, text
        assert "rate, enhanced: 160 kb/s here, 99 kb/s in the paper: not explained yet" in text
        assert "far from the paper's figure" in out.stdout
        assert "12 runs cost" in out.stdout
        assert not re.search(r"@[A-Z]", text) and str(one.builddir) not in text
        for name in ("asmp-a.png", "asmp-ours-b.png", "asmp-overview.png"):
            assert name in text and (directory / name).stat().st_size > 2000, name
        # Again: the same bytes, and no run.
        before = {path.name: path.read_bytes() for path in directory.iterdir()}
        one.calls()
        one.run("report", one.file("asmp-a", bound=150), one.file("ours-b"), "--jobs", "2")
        assert one.calls() == []
        assert before == {path.name: path.read_bytes() for path in directory.iterdir()}


def test_what_a_change_does_not_concern_is_taken_over():
    with lab() as one:
        file = one.file("asmp-a")
        one.run("run", file)
        before = one.builddir
        one.builddir = one.directory / "next"
        one.program(PROGRAM + "\n")  # another program, the same results
        one.calls()
        words = ["carry", file, "--from", before, "--variant", "tcp"]
        out = one.run(*words, "--check", "1")
        assert out.returncode == 0, out.stderr
        assert out.stdout == "1 runs repeated, the same bytes; 2 taken over\n"
        assert len(one.calls()) == 1
        one.run("run", file)
        assert {call.split()[1] for call in one.calls()} == {"enhanced"}

        one.builddir = one.directory / "third"
        one.program(PROGRAM.replace("[1000 *", "[1001 *"))
        out = one.run(*words, "--check", "2")
        assert out.returncode == 1 and "asmp-a tcp seed" in out.stdout, out.stdout
        one.calls()
        one.run("run", file)
        assert len(one.calls()) == 4  # 6 less those repeated


def test_the_report_writes_a_page_for_each_protocol():
    with lab() as one:
        out = one.run("report", one.file("asmp-a"), one.file("assp-b"), "--jobs", "2")
        assert out.returncode == 0, out.stderr
        directory = one.builddir / "report"
        asmp, assp = ((directory / f"{stem}.md").read_text() for stem in ("asmp", "assp"))
        assert not (directory / "elm.md").exists()
        assert (
            "### asmp-a" in asmp
            and "assp-b" not in asmp.replace(str(one.directory), "").split("|", 1)[1]
        )
        assert "### assp-b" in assp and "### asmp-a" not in assp
        assert not re.search(r"@[A-Z]", assp)
        for name in ("assp-b.png", "assp-overview.png", "asmp-a.png"):
            assert (directory / name).exists(), name
        (directory / "asmp.md").unlink()
        one.run("report", one.file("asmp-a"), one.file("assp-b"), "--page", "assp")
        assert not (directory / "asmp.md").exists()


class Duel:
    """An outcome of @values: variant -> a loss a seed."""

    def __init__(self, **values):
        self.values = values
        self.measures = [{"id": "loss", "what": "loss", "flow": "m"}]
        self.plan = types.SimpleNamespace(seeds=[1, 2, 3], variants=list(values))
        data = {"flows": [{"id": "m", "type": "multicast"}]}
        self.plan.scenario = types.SimpleNamespace(id="assp-a", data=data)

    def value(self, entry, variant, seed):
        assert entry["id"] == "loss"
        return self.values[variant][seed - 1]


def test_differences_are_of_the_same_seeds():
    # Apart by much from seed to seed, by little and surely in each.
    sure = Duel(published=[0.01, 0.05, 0.09], enhanced=[0.02, 0.061, 0.099], smcc=[0.5, 0.5, 0.5])
    assert "- loss: assp-a" in duel.behind([sure])
    assert "| loss | **1.00 ±0.25 %** |  |" in duel.differences([sure])
    unsure = Duel(published=[0.01, 0.05, 0.09], enhanced=[0.09, 0.05, 0.02])
    assert "nowhere behind" in duel.behind([unsure])
    assert "| loss | 0.333 ±19 % |  |" in duel.differences([unsure])
    ahead = Duel(published=[0.02, 0.02, 0.02], enhanced=[0.01, 0.01, 0.01])
    assert "in none" in duel.differences([ahead])


def test_another_template():
    with lab() as one:
        words = ["--variant", "published,enhanced", "--template", "asmp-paired"]
        out = one.run("report", one.file("asmp-a"), *words)
        assert out.returncode == 0, out.stderr
        directory = one.builddir / "report"
        assert [path.name for path in directory.iterdir()] == ["asmp-paired.md"]
        text = (directory / "asmp-paired.md").read_text()
        assert "In none of 1 figures" in text and "--template asmp-paired" in text
        assert "tfmcc" not in text.split("All scenarios")[1]


def test_the_templates_ask_for_what_there_is():
    loaded = {scenario.id: scenario.data for scenario in cli.load([])}
    for stem in ("asmp", "assp", "elm"):
        check_template(loaded, (SCRIPTS / f"{stem}.md.in").read_text(encoding="utf-8"))


def test_the_report_lists_the_goals_that_are_missed():
    class One:
        plan = type(
            "Plan", (), {"scenario": type("S", (), {"id": "asmp-a"}), "variants": ["enhanced"]}
        )
        measures = [
            {"id": name, "what": "share", "title": name, "goal": {"text": goal}}
            for name, goal in (("met", ">= 10 %"), ("short", ">= 90 %"), ("free", ""))
        ]

        def goal(self, entry, _variant):
            return {"met": "ok", "short": "low", "free": None}[entry["id"]]

        def is_open(self, entry, _variant):
            return entry["id"] == "short"

        def summary(self, _entry, _variant):
            return stats.summarise([0.5, 0.5])

    text = page.missed([One()])
    assert text.startswith("`enhanced` misses 1 of 2 goals."), text
    assert "| [asmp-a](#asmp-a) | short |" in text and ">= 90 % (open) |" in text, text
    assert "met" not in text.split("misses", 1)[1] and "free" not in text, text


def check_template(loaded, template):
    slots = page.SLOT.findall(template)
    assert len(slots) > 5
    for name, which, variant in slots:
        assert name in loaded, name
        assert which in [entry["id"] for entry in loaded[name]["measures"]], (name, which)
        assert variant in [entry["id"] for entry in loaded[name]["variants"]], (name, variant)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules["__main__"]))
