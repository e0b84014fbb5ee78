# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs mccsim for each seed and variant, several at a time; keeps every result.

A result is kept under BUILDDIR/sim-cache by the hash of what mccsim was given and of mccsim itself,
so a run is repeated only when either has changed.
"""

import gzip
import hashlib
import json
import os
import queue
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from . import normal
from .series import parse

PLAIN_SECONDS = 15  # between two progress lines where there is no terminal
PROGRAM = Path("tests") / "sim" / "mccsim"


class LabError(Exception):
    """Nothing can be run; says what to do."""


@dataclass
class Job:
    scenario: object
    variant: str
    seed: int
    duration: float
    weight: float = 1.0

    def name(self):
        return f"{self.scenario.id} {self.variant} seed {self.seed}"


def find_program(builddir):
    program = Path(builddir) / PROGRAM
    if os.access(program, os.X_OK):
        return program
    if not Path(builddir).is_dir():
        raise LabError(
            f"there is no build in {builddir}: run 'pipelines/setup --with test', or "
            "'meson setup' and 'ninja', or say --builddir DIR"
        )
    raise LabError(
        f"{program} is missing: run 'ninja -C {builddir}'; if meson has said that ns-3 or "
        "nlohmann-json is missing, 'pipelines/setup --with test' installs them"
    )


class Store:
    """Results by key, gzip'd JSON."""

    def __init__(self, builddir):
        self.program = find_program(builddir).resolve()
        self.directory = Path(builddir).resolve() / "sim-cache"
        digest = hashlib.sha256(self.program.read_bytes())
        # Traces are read when it runs.
        for trace in sorted(Path(__file__).resolve().parents[1].glob("traces/*.csv")):
            digest.update(trace.name.encode() + trace.read_bytes())
        self.digest = digest.digest()

    def key(self, given):
        text = json.dumps(given, sort_keys=True).encode()
        return hashlib.sha256(self.digest + text).hexdigest()[:32]

    def path(self, key):
        return self.directory / key[:2] / f"{key}.json.gz"

    def read(self, key):
        """The result, or None."""
        try:
            with gzip.open(self.path(key), "rb") as file:
                return parse(file.read())
        except (OSError, EOFError, ValueError):
            return None

    def write(self, key, data):
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        with gzip.open(part, "wb", compresslevel=4) as file:
            file.write(data)
        os.replace(part, path)

    def seconds(self, job):
        """CPU seconds that the run took when it was done, or None."""
        given = normal.normalise(job.scenario, job.variant, job.seed, job.duration)
        try:
            return float(self.path(self.key(given)).with_suffix(".seconds").read_text())
        except (OSError, ValueError):
            return None

    def cost(self, jobs, workers):
        """What all these runs cost, for people."""
        seconds = [self.seconds(job) for job in jobs]
        known = [value for value in seconds if value is not None]
        total = sum(known)
        by_id = {}
        for job, value in zip(jobs, seconds, strict=True):
            by_id[job.scenario.id] = by_id.get(job.scenario.id, 0) + (value or 0)
        most = sorted(by_id.items(), key=lambda item: -item[1])[:5]
        dear = ", ".join(f"{name} {value / 60:.1f}" for name, value in most)
        text = f"{len(known)} runs cost {total / 60:.1f} min of CPU, {total / 60 / workers:.1f} min"
        return f"{text} with --jobs {workers} on as many cores; the dearest: {dear}"

    def given_path(self, key):
        return self.path(key).with_name(f"{key}.scenario.json")


class Failure(Exception):
    """A run of mccsim failed."""


class NoTime(Exception):
    """A run is not begun: the time for all of them is over."""


class Progress:
    """How far, and how long still: one line, rewritten on a terminal."""

    def __init__(self, jobs, out=sys.stderr):
        self.total = len(jobs)
        self.weight = sum(job.weight for job in jobs)
        self.done = self.done_weight = self.cached = self.cached_weight = 0
        self.start = self.shown = time.monotonic()
        self.out = out
        self.terminal = out.isatty()

    def ended(self, job, cached):
        self.done += 1
        self.done_weight += job.weight
        if cached:
            self.cached += 1
            self.cached_weight += job.weight

    def left(self):
        """Seconds, by what the runs so far took."""
        ran = self.done_weight - self.cached_weight
        if ran <= 0:
            return None
        return (time.monotonic() - self.start) * (self.weight - self.done_weight) / ran

    def show(self, what):
        now = time.monotonic()
        if not self.terminal and now < self.shown + PLAIN_SECONDS:
            return
        self.shown = now
        left = self.left()
        text = f"{self.done}/{self.total} runs, {now - self.start:.0f} s"
        text += f", about {left:.0f} s left" if left is not None else ""
        self.line(f"{text}: {what}")

    def line(self, text):
        if self.terminal:
            width = shutil.get_terminal_size().columns
            print("\r\x1b[K" + text[: width - 1], end="", file=self.out, flush=True)
        else:
            print(text, file=self.out, flush=True)

    def say(self, text):
        erase = "\r\x1b[K" if self.terminal else ""
        print(erase + text, file=self.out, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\x1b[K", end="", file=self.out, flush=True)


class Runner:
    """Runs jobs; @each (job, result) is called for every one, in the order they end."""

    def __init__(self, store, workers, timeout=3600, minutes=None):
        """@minutes: after that no run is begun, and the cheap ones come first."""
        self.store, self.workers, self.timeout = store, max(1, workers), timeout
        self.end = None if minutes is None else time.monotonic() + 60 * minutes
        self.children = set()
        self.lock = threading.Lock()
        self.stopping = False

    def run(self, jobs, each, quiet=False):
        """The failures, as texts."""
        progress = Progress(jobs)
        # The long ones first, so that no long one runs alone at the end.
        todo, done = queue.Queue(), queue.Queue()
        first = -1 if self.end is None else 1
        for job in sorted(jobs, key=lambda job: first * job.weight):
            todo.put(job)
        threads = [
            threading.Thread(target=self.work, args=(todo, done, each), daemon=True)
            for _ in range(min(self.workers, max(1, len(jobs))))
        ]
        for thread in threads:
            thread.start()
        failures = []
        try:
            while progress.done < len(jobs):
                try:
                    job, cached, error = done.get(timeout=0.5)
                except queue.Empty:
                    continue
                progress.ended(job, cached)
                if error:
                    failures.append(f"{job.name()}: {error}")
                    progress.say(f"FAILED: {failures[-1]}")
                if not quiet:
                    progress.show(job.name())
        finally:
            self.stop()
            for thread in threads:
                thread.join(5)
            progress.clear()
        return failures

    def work(self, todo, done, each):
        while not self.stopping:
            try:
                job = todo.get_nowait()
            except queue.Empty:
                return
            cached, error = False, None
            try:
                result, cached = self.result(job)
                each(job, result)
            except NoTime:
                cached = True
            except Failure as failure:
                error = str(failure)
            except Exception as failure:  # of our own code: told, not lost in a thread
                error = f"{type(failure).__name__}: {failure}"
            done.put((job, cached, error))

    def result(self, job):
        """(result, whether it was kept from before)."""
        given = normal.normalise(job.scenario, job.variant, job.seed, job.duration)
        key = self.store.key(given)
        result = self.store.read(key)
        if result is not None:
            return result, True
        if self.end is not None and time.monotonic() >= self.end:
            raise NoTime
        path = self.store.given_path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(given, indent=1), encoding="utf-8")
        command = [str(self.store.program), str(path)]
        data, seconds = self.call(command)
        try:
            result = parse(data)
            missing = {"flows", "links", "bin", "duration"} - result.keys()
        except ValueError:
            missing = {"a JSON result"}
        if missing:
            raise Failure(f"mccsim wrote no {', '.join(sorted(missing))}; {repeat(command)}")
        self.store.write(key, data)
        self.store.path(key).with_suffix(".seconds").write_text(f"{seconds:.2f}\n")
        path.unlink()
        return result, False

    def call(self, command):
        """(standard output, CPU seconds) of @command."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with self.lock:
                if self.stopping:
                    raise Failure("stopped")
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,  # Ctrl-C is ours
                )
                self.children.add(process)
            usage = self.wait(process)
            if usage is None:
                raise Failure(f"took more than {self.timeout} s; {repeat(command)}")
            out.seek(0)
            err.seek(0)
            if process.returncode:
                how = f"exit status {process.returncode}"
                if process.returncode < 0:
                    how = f"killed by signal {-process.returncode}"
                last = " / ".join(err.read().decode(errors="replace").strip().splitlines()[-3:])
                raise Failure(f"{how}: {last[:500] or 'no message'}; {repeat(command)}")
            return out.read(), usage.ru_utime + usage.ru_stime

    def wait(self, process):
        """What the process used, or None when it had to be killed for the time it took."""
        end = time.monotonic() + self.timeout
        try:
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    process.returncode = os.waitstatus_to_exitcode(status)
                    return usage
                if time.monotonic() > end:
                    process.kill()
                    process.wait()
                    return None
                time.sleep(0.02)
        except ChildProcessError:  # killed and reaped by stop()
            return None
        finally:
            with self.lock:
                self.children.discard(process)

    def stop(self):
        with self.lock:
            self.stopping = True
            for process in self.children:
                process.kill()


def repeat(command):
    return f"to repeat: {shlex.join(command)}"
