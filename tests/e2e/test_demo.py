#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demos, in their shortest form, all at the same time: each tells what happens while it runs,
says it in words at the end, and leaves a picture; and what it says is that it adapted."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "testbed"))

import netlab  # noqa: E402

MAIN = TOP / "pipelines" / "demolib" / "main.py"
PNG = b"\x89PNG\r\n\x1a\n"
LONGEST = 30
REACTION = 10.0  # s; all three run at once on whatever machine it is


def followed(text):
    """What is wrong with one rate: it is below the bottleneck's soon after that has fallen."""
    found = re.search(r"the sent rate was below it after ([0-9.]+) s", text)
    return [] if found and float(found[1]) <= REACTION else ["the sender did not follow the fall"]


def highest(text, name, what):
    """Of the streams or levels that a receiver was in; -1: none."""
    found = re.search(rf"^{name}: first picture .*, {what} ([0-9 >-]+),", text, re.MULTILINE)
    return max(map(int, found[1].split(" -> ")), default=-1) if found else -1


def went_up(name, other, what):
    """... with several streams or layers: who has room goes up, and not below who has not."""

    def check(text):
        top, low = (highest(text, each, what) for each in (name, other))
        wrong = [] if top >= 1 else [f"{name} did not go up"]
        return wrong + ([f"{other} is above {name}"] if low > top else [])

    return check


DEMOS = {  # what the table has lines of, and a check of what is said at the end
    "demo --seconds 30": (["target", "receiver1", "receiver2", "receiver3"], followed),
    "demo --assp --seconds 30": (
        ["fast1", "middle1", "slow1"],
        went_up("fast1", "slow1", "streams"),
    ),
    "demo --elm --seconds 15": (
        ["level 0", "wide 1.60 Mb/s", "middle 800 kb/s", "narrow 400 kb/s"],
        went_up("wide", "narrow", "levels"),
    ),
}


def run(builddir, words, directory):
    """(exit status, None when it had to be ended; what it said)."""
    argv = [sys.executable, MAIN, "--builddir", builddir]
    argv += ["--plot", directory / "demo.png", "--record", directory, *words]
    process = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=LONGEST + 30)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)  # it takes its namespaces down
        try:
            return None, process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]


def problems(status, text, wanted, picture):
    """What is wrong with a run, in words."""
    names, adapted = wanted
    found = []
    if status != 0:
        found.append(f"exit status {status}")
    found += [f"the table has no line of {name}" for name in names if name not in text]
    last = text.rstrip().splitlines()[-1:]
    if last != [f"Plot: {picture}"]:
        found.append(f"it does not end with where the picture is: {last}")
    found += adapted(text)
    if "Traceback" in text:
        found.append("a traceback")
    if not picture.exists() or picture.read_bytes()[: len(PNG)] != PNG:
        found.append("no picture")
    return found


def check(builddir, words, wanted):
    """(what is wrong, what was said)."""
    with tempfile.TemporaryDirectory() as directory:
        status, text = run(builddir, words, Path(directory))
        return problems(status, text, wanted, Path(directory) / "demo.png"), text


def main():
    try:
        netlab.ensure_privileges()
    except netlab.Unavailable as reason:
        print(f"1..0 # SKIP no network namespaces: {reason}")
        return 77
    failed = 0
    print(f"1..{len(DEMOS)}")
    with ThreadPoolExecutor() as pool:
        words = [name.split()[1:] for name in DEMOS]
        runs = pool.map(check, [sys.argv[1]] * len(DEMOS), words, DEMOS.values())
        for number, (name, (wrong, text)) in enumerate(zip(DEMOS, runs, strict=True), 1):
            failed += bool(wrong)
            print(f"{'not ' if wrong else ''}ok {number} - {name}", flush=True)
            for line in [*wrong, *(text.splitlines()[-20:] if wrong else [])]:
                print(f"# {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
