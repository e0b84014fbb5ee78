# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs nodes (pipelines/node) and keeps what they say, as rows over time.

Times are seconds since the record's start, rates bit/s of IP bytes.
"""

import json
import subprocess
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NODE = TOP / "pipelines" / "node"


class Node:
    """One running pipeline and its lines."""

    def __init__(self, record, name, popen, pipeline, interval_ms=250, env=None):
        self.record = record
        self.name = name
        self.lines = []
        self.stats = {}
        self.frames = {}
        self.first_frame = None
        self.exited = None
        self.started = record.now()
        argv = [str(NODE), "--name", name, "--interval", str(interval_ms), pipeline]
        self.process = popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(record.directory / f"{name}.log", "w"),
            text=True,
            env=env,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for text in self.process.stdout:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            line["time"] = round(line["time"] - self.record.start, 4)
            self.lines.append(line)
            if line["type"] == "stats":
                self.stats = line
            elif line["type"] == "frames":
                self.frames = line
            elif line["type"] == "first-frame" and self.first_frame is None:
                self.first_frame = line["after"]
            elif line["type"] == "exit":
                self.exited = line["time"]

    def say(self, command):
        """A command for the node: `quit`, `eos`, `set mcc max-bitrate 1000000`."""
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass

    def of(self, kind):
        return [line for line in list(self.lines) if line["type"] == kind]

    def frame_rates(self):
        """(time, pictures a second): of the last second at that time."""
        count = self.of("frames")
        return [
            (b["time"], (b["frames"] - a["frames"]) / (b["time"] - a["time"]))
            for a, b in zip(count, count[4:], strict=False)
            if b["time"] > a["time"]
        ]

    def wait_for(self, check, timeout):
        """True as soon as check(self) is true, False after @timeout seconds."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if check(self):
                return True
            time.sleep(0.02)
        return bool(check(self))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, timeout=5):
        if self.process.poll() is None:
            self.say("quit")
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(1)
        return self.process.returncode


class LinkTrace:
    """What a link did: cumulative counters now and then; rates come from their differences."""

    def __init__(self):
        self.rows = []  # {"time", "capacity", "offered", "delivered", "dropped"}

    def sample(self, time_s, capacity, offered_bytes, delivered_bytes, dropped_packets):
        self.rows.append(
            {
                "time": time_s,
                "capacity": capacity,
                "offered": offered_bytes,
                "delivered": delivered_bytes,
                "dropped": dropped_packets,
            }
        )

    def rate(self, begin, end):
        """Mean rate that was offered between two times, bit/s."""
        rows = [row for row in self.rows if begin <= row["time"] <= end]
        if len(rows) < 2:
            return 0.0
        span = rows[-1]["time"] - rows[0]["time"]
        return 8 * (rows[-1]["offered"] - rows[0]["offered"]) / span if span > 0 else 0.0

    def series(self, window=1.0):
        """(time, bit/s) over a sliding @window that ends at time."""
        out, first = [], 0
        for row in self.rows:
            while row["time"] - self.rows[first]["time"] > window:
                first += 1
            span = row["time"] - self.rows[first]["time"]
            if span > 0.6 * window:
                bits = 8 * (row["offered"] - self.rows[first]["offered"])
                out.append((row["time"], bits / span))
        return out


class Record:
    """All nodes of a run, and rows of what the network did."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.start = time.monotonic()
        self.nodes = {}
        self.events = []  # (time, text)
        self.core = LinkTrace()  # the bottleneck, where there is one

    def now(self):
        return time.monotonic() - self.start

    def node(self, name, popen, pipeline, **kwargs):
        self.nodes[name] = Node(self, name, popen, pipeline, **kwargs)
        return self.nodes[name]

    def event(self, text):
        self.events.append((self.now(), text))

    @property
    def links(self):
        return self.core.rows

    def link_sample(self, capacity, offered_bytes, delivered_bytes, dropped_packets):
        self.core.sample(self.now(), capacity, offered_bytes, delivered_bytes, dropped_packets)

    def offered_rate(self, begin, end):
        return self.core.rate(begin, end)

    def offered_series(self, window=1.0):
        return self.core.series(window)

    def loss_series(self, name, window=1.0):
        """(time, ratio): packets lost of those expected by a receiver within a sliding window."""
        rows = [
            (line["time"], line.get("packets-lost", 0), line.get("packets-received", 0))
            for line in self.nodes[name].of("stats")
        ]
        out, first = [], 0
        for row in rows:
            while row[0] - rows[first][0] > window + 0.01:
                first += 1
            lost = row[1] - rows[first][1]
            received = row[2] - rows[first][2]
            if lost + received > 0:
                out.append((row[0], max(0, lost) / (max(0, lost) + received)))
        return out

    def loss_between(self, name, begin, end):
        rows = [line for line in self.nodes[name].of("stats") if begin <= line["time"] <= end]
        if len(rows) < 2:
            return 0.0
        lost = rows[-1]["packets-lost"] - rows[0]["packets-lost"]
        received = rows[-1]["packets-received"] - rows[0]["packets-received"]
        return max(0, lost) / max(1, lost + received)

    def stop(self):
        """Stops all nodes; what they said stays in the directory as one .jsonl each."""
        threads = []
        for node in self.nodes.values():
            threads.append(threading.Thread(target=node.stop))
            threads[-1].start()
        for thread in threads:
            thread.join()
        for name, node in self.nodes.items():
            with open(self.directory / f"{name}.jsonl", "w", encoding="utf-8") as out:
                out.writelines(json.dumps(line) + "\n" for line in node.lines)
