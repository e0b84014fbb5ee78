#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of a build, or reads the log of a run; both end 'N passed, N failed, N skipped'.

    tests/summary.py testlog.json...          what meson's logs say
    tests/summary.py --run BUILDDIR ARG...    meson test with these arguments, telling how far it is

Tests that compute run at lower priority beside those that wait, of which more run at once than
there are CPUs. What measures in real time follows, alone where meson is told so, and then what
streams in real time, three at once but for the dearest, which meson is told to run alone.

TAP tests count their cases, others count one; a test that was killed, ran out of time or never ran
counts one failed. Failed tests are named with the end of their output, skipped ones with the
reason, and the slowest five. Exit status 0; 1 when anything failed or there was no test; 77 when
all were skipped.
"""

import argparse
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

LABEL = re.compile(r"\S+:\S+ / \S|\S+ - \S+:\S")
CASE = re.compile(r"^(ok|not ok)\b[^#\n]*(#\s*(SKIP|TODO)\b)?", re.I | re.M)
REASON = re.compile(r"(?:# SKIP\b|^skipped:?)\s*(\S.*)", re.I | re.M)
# A line of `meson test` about a test that has ended.
ENDED = re.compile(r"^\s*\d+/\d+ (.+?)\s+([A-Z]+)\s+([\d.]+)s")
PLAIN_SECONDS = 15  # between two lines where there is no terminal
CPUS = len(os.sched_getaffinity(0))
# Suites that run together: name, suites, processes, nice. What stands nowhere computes.
WAITING = ("waiting", ("elements",), 3 * CPUS, 0)
MEASURING = ("measuring", ("testbed", "bench"), CPUS, 0)
STREAMING = ("streaming", ("e2e", "faults"), min(3, CPUS + 1), 0)
COMPUTING = ("computing", None, CPUS, 19)
# Meson starts each test in a session of its own. Where the kernel shares the CPUs out among
# sessions (autogroup), nice counts within one only: the session has its own.
NICE_SESSION = 'sh -c \'{ echo %d >/proc/self/autogroup; } 2>/dev/null; exec "$0" "$@"\''
ROUNDS = ((WAITING, COMPUTING), (MEASURING,), (STREAMING,))


def count(test):
    """(passed, failed, skipped) of one line of the log."""
    result = test["result"]
    cases = CASE.findall(test.get("stdout") or "")
    skipped = sum(1 for _, _, what in cases if what.upper() == "SKIP")
    failed = sum(1 for ok, _, what in cases if ok.lower() == "not ok" and not what)
    passed = len(cases) - skipped - failed
    if result == "SKIP":
        return 0, 0, max(1, skipped)
    if result in ("OK", "EXPECTEDFAIL"):
        return (passed, 0, skipped) if cases else (1, 0, 0)
    return passed, max(1, failed), skipped


def short(label):
    """core/seq of 'adaptivemulticast:core / seq', and of newer meson's 'core - project:seq'."""
    suites, newer, name = label.partition(" - ")
    if newer:
        return f"{suites}/{name.split(':', 1)[-1]}"
    return label.split(":", 1)[-1].replace(" / ", "/")


def read(path):
    """The tests of a log; a run that was killed leaves half a line at its end, or no log."""
    tests = []
    try:
        with open(path, encoding="utf-8") as log:
            for line in log:
                try:
                    tests.append(json.loads(line))
                except ValueError:
                    print(f"{path}: ends in the midst of a test")
    except FileNotFoundError:
        print(f"{path}: no test has run")
    return tests


def tell_failed(test):
    print(f"FAILED: {short(test['name'])} ({test['result']}, {test['duration']:.1f} s)")
    out = (test.get("stdout") or "").splitlines()
    errors = (test.get("stderr") or "").splitlines()
    # What failed first: it may stand far from the end, and whoever prints this may cut it short.
    first = [text for text in out if re.match(r"not ok|Bail out", text, re.I)]
    code = test.get("returncode") or 0
    if code < 0:
        first.append(f"killed by signal {-code}")
    for text in [*first[:10], *(["..."] if first or out[:-30] else []), *out[-30:], *errors[-10:]]:
        print("    " + text[:200])


def report(tests, expected=()):
    """Prints everything; @expected: labels of the tests that were to run. Returns the status."""
    total = [0, 0, 0]
    slow = sorted(tests, key=lambda test: -test["duration"])[:5]
    if len(tests) > 5:
        print("slowest: " + ", ".join(f"{short(t['name'])} {t['duration']:.1f} s" for t in slow))
    for test in tests:
        counts = count(test)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        if counts[1]:
            tell_failed(test)
        elif counts[2]:
            reasons = sorted(set(REASON.findall(test.get("stdout") or "")))
            print(f"skipped: {short(test['name'])}: {'; '.join(reasons[:3]) or 'gave no reason'}")
    ran = {test["name"] for test in tests}
    absent = [short(label) for label in expected if label not in ran]
    if absent:
        more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        print(f"FAILED: {', '.join(absent[:5])}{more} did not run")
        total[1] += len(absent)
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped", flush=True)
    if total[1] or not sum(total):
        return 1
    return 0 if total[0] else 77


class Progress:
    """Which test is running: one line, rewritten on a terminal, else one every now and then."""

    def __init__(self, lanes):
        self.left = {lane.name: list(lane.labels) for lane in lanes}
        self.number = sum(map(len, self.left.values()))
        self.start = self.shown = time.monotonic()
        able = os.environ.get("TERM", "") not in ("", "dumb")
        self.terminal = sys.stdout.isatty() and able  # to rewrite a line

    def line(self, text):
        erase = "\r\x1b[K" if self.terminal else ""
        print(erase + text, flush=True)

    def ended(self, lane, label, result, seconds):
        if label in self.left[lane.name]:
            self.left[lane.name].remove(label)
        if result not in ("OK", "SKIP", "EXPECTEDFAIL"):
            self.line(f"FAILED: {short(label)} ({result}, {seconds} s); more below")

    def show(self, lanes):
        """Tests start in the order of the list: the first that has not ended is running."""
        now = time.monotonic()
        running = [short(self.left[lane.name][0]) for lane in lanes if self.left[lane.name]]
        if not running or (not self.terminal and now < self.shown + PLAIN_SECONDS):
            return
        self.shown = now
        done = self.number - sum(map(len, self.left.values()))
        text = f"{done}/{self.number} tests, {now - self.start:.0f} s: {', '.join(running)}"
        if self.terminal:
            width = shutil.get_terminal_size().columns
            print("\r\x1b[K" + text[: width - 1], end="", flush=True)
        else:
            print(text, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\x1b[K", end="", flush=True)


class Lane:
    """A run of meson over some of the suites."""

    def __init__(self, builddir, kind, suites, arguments):
        self.name, own, processes, self.nice = kind
        others = [suite for _, named, *_ in sum(ROUNDS, ()) for suite in named or ()]
        wanted = [suite for suite in suites if (suite in own if own else suite not in others)]
        if not suites:
            words = [f"--suite={s}" for s in own] if own else [f"--no-suite={s}" for s in others]
        else:
            words = [f"--suite={s}" for s in wanted]
        self.log = os.path.join(builddir, "meson-logs", f"testlog-{self.name}.json")
        self.command = ["meson", "test", "-C", builddir, "--no-rebuild", *arguments, *words]
        self.command += [f"--num-processes={processes}", f"--logbase=testlog-{self.name}"]
        if self.nice:
            self.command += ["--wrapper", NICE_SESSION % self.nice]
            self.log = self.log.replace(".json", "-sh.json")  # so meson calls it then
        self.rest = []
        self.meson = None
        self.labels = []
        if words:
            listed = subprocess.run(
                [*self.command, "--list"], capture_output=True, text=True, check=False
            )
            self.labels = [line for line in listed.stdout.splitlines() if LABEL.match(line)]
            self.rest = [] if self.labels else (listed.stdout + listed.stderr).splitlines()[-5:]

    def start(self, lines):
        """Its output goes to @lines, as (self, line); None at its end."""
        if os.path.exists(self.log):
            os.remove(self.log)
        self.meson = subprocess.Popen(
            ["nice", "-n", str(self.nice), *self.command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is ours: meson would end one test and go on
        )

        def reader():
            for line in self.meson.stdout:
                lines.put((self, line))
            lines.put((self, None))

        threading.Thread(target=reader, daemon=True).start()

    def finish(self):
        """Its tests, and what else there is to say."""
        status = self.meson.wait()
        tests = read(self.log)
        if status and not tests:
            print("\n".join(self.rest[-20:]))
        elif status < 0:
            print(f"meson was killed by signal {-status}")
        return tests


def follow(lanes, progress):
    """Runs lanes at the same time, to their ends."""
    lines = queue.Queue()
    for lane in lanes:
        lane.start(lines)
    running = list(lanes)
    while running:
        try:
            lane, line = lines.get(timeout=0.5)
        except queue.Empty:
            progress.show(running)
            continue
        if line is None:
            running.remove(lane)
            continue
        ended = ENDED.match(line)
        if ended:
            progress.ended(lane, *ended.groups())
        else:
            lane.rest.append(line.rstrip())
        progress.show(running)


def run(builddir, arguments):
    """Runs meson's tests and reports."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--suite", action="append", default=[])
    known, others = parser.parse_known_args(arguments)
    rounds = [[Lane(builddir, kind, known.suite, others) for kind in kinds] for kinds in ROUNDS]
    lanes = [lane for kinds in rounds for lane in kinds if lane.labels]
    if not lanes:
        print("\n".join(next((lane.rest for lane in sum(rounds, []) if lane.rest), [])))
        return report([])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    progress = Progress(lanes)
    print(f"Running {progress.number} tests", flush=True)
    try:
        for kinds in rounds:
            follow([lane for lane in kinds if lane.labels], progress)
    except KeyboardInterrupt:
        for lane in lanes:
            if lane.meson:
                lane.meson.terminate()  # it ends its tests and writes its log
        progress.line("Stopping the tests...")
    tests = [test for lane in lanes if lane.meson for test in lane.finish()]
    progress.clear()
    return report(tests, [label for lane in lanes for label in lane.labels])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"] and len(sys.argv) > 2:
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(2)
    sys.exit(report([test for path in sys.argv[1:] for test in read(path)]))
