# SPDX-License-Identifier: LGPL-2.1-or-later
"""One run: a network, its programs in time, what the emulator saw of them."""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import leftovers
import netlab
import probes
from lab import normal
from lab.sections import FORMS
from understood import not_understood

from . import flows, quality, rivals, trace
from .environment import environment
from .place import Place, obstacle

LAG_MAX = 0.01  # share of packets handed over more than 1 ms late, above which a run is marked
WAITED_MAX = 0.1  # of the time, by a thread of a program
BUSY_MAX = 0.97  # of the machine: the emulator comes first, so that programs wait unseen
ACTION_LATE_MAX_S = 0.3
HOST_LOST_MAX = 0.001  # of a receiver's packets, by its own host: no congestion of the network
TICK_S = 0.05
SAID_SHOWN, SAID_KEPT = 600, 20000  # characters of each program


class CannotRun(Exception):
    """This scenario, with this flow, here; says why."""


def processor_times():
    """(busy, all) of the machine, in ticks; what is nice (netlab.awake) is not busy."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:9]]
    nice, idle, waits = fields[1], fields[3], fields[4]
    return sum(fields) - nice - idle - waits, sum(fields)


def variant_name(flow, tcp):
    return f"{flow}-{tcp}" if tcp else flow


class Ground:
    """One run of @scenario with @flow in the place of its multicast flows."""

    def __init__(
        self, scenario, flow, tcp, seed, builddir, duration=None, encoder=False, film=None
    ):
        why = obstacle(scenario.data, flow)
        self.kind, _, rate = flow.partition("=")
        self.rate_bps = rate_of(rate or "1M")
        self.builddir, self.encoder = builddir, encoder or film is not None
        self.variant = variant_name(flow, tcp)
        self.film, self.film_kind = None, film
        self.asked = scenario.data
        why = why or flows.FLOWS[self.kind].missing(self)
        if film and not why:
            why = self.no_film()
        if why:
            raise CannotRun(why)
        form = self.kind if self.kind in FORMS else "enhanced"
        given = normal.normalise(scenario, form, seed, duration)
        given["seed"] = seed
        for each in given["flows"]:
            if each["type"] == "tcp":
                each["congestion"] = tcp or each["congestion"].replace("newreno", "reno")
        self.given, self.place = given, Place(given)
        self.duration, self.links = given["duration"], given["links"]
        self.most_bps = max(link["rate"] for link in given["links"])
        self.env = environment(builddir)
        self.programs = {}
        self.said = {}  # by them, once run() has ended, however it did
        self.late = 0.0

    def program(self, name):
        return rivals.find(name, self.builddir)

    def run(self, say=lambda text: None):
        """The result, as the laboratory's runs have it, and `ground`: how it went."""
        where = quality.room() if self.film_kind else None
        for each in (tempfile.gettempdir(), quality.MEMORY):
            leftovers.remove_dead("ground", each)
        prefix = leftovers.own_prefix("ground")
        with tempfile.TemporaryDirectory(prefix=prefix, dir=where) as directory:
            self.directory = Path(directory)
            try:
                return self._run(say)
            finally:  # the directory goes
                self.said = self._said(SAID_KEPT)

    def _run(self, say):
        if self.film_kind:
            self.film = quality.Film(self.film_kind, self.builddir, self.directory)
        path = self.directory / "trace"
        with netlab.Lab(self.place.text(), name="ground", trace=path) as self.lab:
            load = self._start_load()
            self._prepare()
            with netlab.awake():
                zero, about = self._play(load, say)
            told = {name: each.told(zero) for name, each in self.programs.items()}
            about["failed"] += self._end_load(load) + self._dead()
            about["marked"] += self._not_understood()
            start = zero - self.lab.started
        seen = trace.Trace(path, start, self.duration)
        out = trace.result(seen, self.place, told, self.variant)
        about["log"] = self._said(SAID_SHOWN)
        if self.film:
            out["viewers"] = self._judge(zero)
            if (late := self.film.held_up()) > quality.CAMERA_LATE_S:
                about["marked"].append(f"the camera stood for {late:.2f} s")
        out["ground"] = about
        return out

    def no_film(self):
        """Why no film can be sent, or None."""
        if not flows.FLOWS[self.kind].pictures:
            return f"{self.kind} carries no pictures"
        own = [flow for flow in self.asked["flows"] if flow["type"] == "multicast"]
        if len(own) != 1 or any(each["again"] for each in own[0]["receivers"]):
            return "a film is for one flow whose receivers come once"
        return None

    def _judge(self, zero):
        """What each viewer saw."""
        (flow,) = (flow for flow in self.place.flows if flow["type"] == "multicast")
        screens = {each["id"]: each["times"][0][0] for each in flow["receivers"]}
        return self.film.judge(screens, zero, self.duration)

    # -- programs --

    def _start_load(self):
        hosts = self.lab.hosts
        plan = []
        for flow in self.place.flows:
            if flow["type"] == "multicast":
                continue
            entry = {
                "id": flow["id"],
                "kind": flow["type"],
                "from": hosts[flow["sender"].name].netns,
                "to": hosts[flow["receiver"].name].netns,
                "address": flow["receiver"].address,
                "port": flow["port"],
                "times": flow["times"],
            }
            for key in ("segment", "congestion", "ecn", "rate", "packet_size"):
                if key in flow:
                    entry[key] = flow[key]
            plan.append(entry)
        load = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("load.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # the lab ends groups
        )
        self.lab.processes.append(load)
        self.load = load
        load.stdin.write(json.dumps(plan) + "\n")
        load.stdin.flush()
        if load.stdout.readline() != "ready\n":
            raise RuntimeError("the TCP and UDP flows do not start (see above)")
        return load

    def _end_load(self, load):
        load.stdin.close()
        try:
            return json.loads(load.stdout.readline() or '["the TCP and UDP flows broke off"]')
        finally:
            load.stdout.close()
            try:
                load.wait(5)
            except subprocess.TimeoutExpired:
                load.kill()
                load.wait()

    def _prepare(self):
        self.actions = []
        for flow in self.place.flows:
            if flow["type"] == "multicast":
                own = flows.FLOWS[self.kind](self, flow)
                self.programs[flow["id"]] = own
                self.actions += own.actions()
        self.actions.sort(key=lambda row: row[0])
        while self.actions and self.actions[0][0] < 0:
            self.actions.pop(0)[1]()
        for each in self.programs.values():
            each.wait_ready(20)

    def _dead(self):
        """Programs that ended before their time, or not at it."""
        out = []
        for name, own in self.programs.items():
            for process in own.processes():
                if wrong := process.wrong():
                    out.append(f"{name}: {process.name} {wrong}")
        return out

    def _not_understood(self):
        """What elements of one flow said to each other in vain."""
        out = set()
        for name, own in self.programs.items():
            for process in own.processes():
                reasons = not_understood(last_stats(process))
                out |= {f"{name}: drops for {reason}" for reason in reasons}
        return sorted(out)

    def _said(self, most):
        """{program: the errors of its pipeline, and the end of what it said on standard error}."""
        out = {}
        for process in [each for own in self.programs.values() for each in own.processes()]:
            for row in [row for row in list(process.lines) if row.get("type") == "error"]:
                text = f"{row.get('source')}: {row.get('text')} ({row.get('debug')})"
                out.setdefault(process.name, []).append(text)
        for path in sorted(self.directory.glob("*.log")):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            if text:
                out.setdefault(path.stem, []).append(text)
        return {name: "\n".join(texts)[-most:] for name, texts in out.items()}

    # -- time --

    def _play(self, load, say):
        zero = time.monotonic() + 0.5
        for at, _, target, settings in self.place.changes():
            self.lab.at(zero - self.lab.started + at, target, **settings)
        load.stdin.write(f"{zero}\n")
        load.stdin.flush()
        time.sleep(max(0.0, zero - time.monotonic()))
        self.lab.reset_lag()
        cpu, before = processor_times(), self.lab.stats()
        shown = 0
        while (now := time.monotonic() - zero) < self.duration:
            while self.actions and self.actions[0][0] <= now:
                at, action = self.actions.pop(0)
                self.late = max(self.late, now - at)
                action()
            if now >= shown + 10:
                shown = now
                say(f"{now:.0f} of {self.duration:g} s")
            due = self.actions[0][0] - now if self.actions else 1.0
            time.sleep(max(0.0, min(TICK_S, due, self.duration - now)))
        return zero, self._account(cpu, before)

    def _waited(self):
        """Seconds that a thread of the programs was kept from a CPU, of the one kept longest."""
        processes = [each.popen for own in self.programs.values() for each in own.processes()]
        waits = [0.0]
        for process in [*processes, self.load]:
            for path in Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
                with contextlib.suppress(OSError, ValueError):
                    waits.append(int(path.read_text(encoding="ascii").split()[1]) * 1e-9)
        return max(waits)

    def _account(self, cpu, before):
        """How the machine did."""
        lag, stats = self.lab.lag(), self.lab.stats()
        busy, total = (b - a for a, b in zip(cpu, processor_times(), strict=True))
        out = {
            "flow": self.kind,
            "lag_over_1ms": round(lag["over_1ms_ratio"], 6),
            "lag_mean_ms": round(lag["mean_us"] / 1e3, 4),
            "lag_max_ms": round(lag["max_us"] / 1e3, 3),
            "machine_busy": round(busy / max(1, total), 4),
            "emulator_cpu": round((stats["cpu_s"] - before["cpu_s"]) / self.duration, 4),
            "host_drops": stats["drops"]["host"] - before["drops"]["host"],
            "action_late_s": round(self.late, 3),
            "waited": round(self._waited() / self.duration, 4),
            "cores": os.cpu_count(),
            "kernel": platform.release(),
            "realtime": stats["realtime"],
            "failed": [],
            "marked": [],
        }
        if out["lag_over_1ms"] > LAG_MAX:
            out["marked"].append(f"{100 * out['lag_over_1ms']:.1f} % of packets over 1 ms late")
        if out["machine_busy"] > BUSY_MAX:
            out["marked"].append(f"the machine was {100 * out['machine_busy']:.0f} % busy")
        if out["waited"] > WAITED_MAX:
            out["marked"].append(f"a program was kept from a CPU {100 * out['waited']:.0f} % of it")
        if self.late > ACTION_LATE_MAX_S:
            out["marked"].append(f"a program was {self.late:.1f} s late")
        if out["host_drops"]:
            out["marked"].append(f"{out['host_drops']} packets refused by hosts")
        out["lost_in_hosts"] = lost = self._lost_in_hosts(before, stats)
        for name, row in lost.items():
            most = max(row["socket"], row["told"]) / max(1, row["packets"])
            if most > HOST_LOST_MAX:
                out["marked"].append(f"{name} lost {100 * most:.2f} % of its packets in its host")
        return out

    def _lost_in_hosts(self, before, stats):
        """{receiver: packets that the network brought, that sockets had no room for, and that the
        program says its host dropped}: behind the links, where the emulator sees nothing."""
        came = {}
        for rows, sign in ((before, -1), (stats, 1)):
            for row in rows["links"]:
                came[row["to"]] = came.get(row["to"], 0) + sign * row["rx_packets"]
        out = {}
        for flow in self.place.flows:
            if flow["type"] != "multicast":
                continue
            for receiver in flow["receivers"]:
                host = receiver["host"].name
                table = self.lab.call(host, ["cat", "/proc/net/snmp"]).stdout
                processes = self.programs[flow["id"]].receivers.get(receiver["id"], ())
                out[f"{flow['id']}/{receiver['id']}"] = {
                    "packets": came.get(host, 0),
                    "socket": probes.overflows(table),
                    "told": sum(last_stats(each).get("host-dropped", 0) for each in processes),
                }
        return out


def last_stats(process):
    return next((row for row in reversed(process.lines) if row.get("type") == "stats"), {})


def rate_of(text):
    factor = {"k": 1e3, "M": 1e6}.get(text[-1:], 1.0)
    return float(text.rstrip("kM")) * factor


@contextlib.contextmanager
def priority():
    """Ahead of other work on the machine, where that is allowed."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(before, -5))
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)
