# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which runs make an evaluation, and which of them fit on the machine at the same time."""

from lab import cli, document

from . import place

OVERHEAD_S = 12  # to begin and to end a run
BUSY = 0.55  # of the machine, by all runs that go on at the same time; it is rather 0.7 then
# What a run costs of two cores, by `machine_busy` of runs that were alone (asmp-idle, ours-gilbert,
# asmp-tcp-fairness, which-one-alone, assp-vs-smcc, rfc8868-queues): the network for each bit/s that
# receivers get, a program of a flow, an encoder.
NETWORK, PROGRAM, ENCODER = 0.008e-6, 0.006, 0.15
LIGHT, LIGHT_PROGRAM = ("norm", "uftp"), 0.002  # whose programs cost less
TOGETHER = 7  # runs: each has a process a receiver


class Run:
    """One flow in one scenario, one repeat: a call of tests/testbed/run."""

    def __init__(self, scenario, flow, tcp, duration, repeat):
        self.scenario, self.flow, self.tcp, self.repeat = scenario, flow, tcp, repeat
        self.duration = duration  # as it was written; None: whole
        whole = scenario.data["duration"]
        self.seconds = min(whole, cli.duration(duration)) if duration else whole
        self.load = self._load()

    def _load(self):
        own = [each for each in self.scenario.data["flows"] if each["type"] == "multicast"]
        programs = len(own) + sum(end["count"] for each in own for end in each["receivers"])
        films = [each for each in own if each["source"]["type"] == "video"]
        encoders = len(own) if self.flow.startswith("rtp") else len(films)
        each = LIGHT_PROGRAM if self.flow in LIGHT else PROGRAM
        load = NETWORK * place.load_bps(self.scenario.data) + each * programs
        return load + (0 if self.flow in LIGHT else ENCODER * encoders)

    @property
    def name(self):
        tcp = f"-{self.tcp}" if self.tcp else ""
        return f"{self.scenario.id} {self.flow}{tcp} {self.repeat}"

    def words(self):
        """What follows tests/testbed/run."""
        out = [self.scenario.id, "--flow", self.flow, "--repeats", f"{self.repeat},{self.repeat}"]
        if self.tcp:
            out += ["--tcp", self.tcp]
        if self.duration:
            out += ["--duration", self.duration]
        return out


def read(path, load):
    """[(scenario, flow, tcp, duration), ...] of the file; @load: ids to scenarios."""
    errors = document.Errors(str(path))
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 4:
            errors.add(number, "not `scenario flows TCPs length`")
            continue
        rows.append(words)
    if errors.found:
        raise errors
    known = {
        scenario.id: scenario for scenario in load(list(dict.fromkeys(row[0] for row in rows)))
    }
    out = []
    for name, flows, tcps, length in rows:
        duration = None if length == "-" else length
        for tcp in [""] if tcps == "-" else tcps.split(","):
            out += [(known[name], flow, tcp, duration) for flow in flows.split(",")]
    return out


def runs_of(rows, repeats):
    """The repeats of all rows, one after the other, so that a broken-off evaluation has all."""
    out = []
    for repeat in repeats:
        own = [Run(*row, repeat) for row in rows]
        out += sorted(own, key=lambda run: -run.load * run.seconds)
    return out


def next_fit(waiting, active):
    """The first of @waiting that the machine carries beside @active, or None."""
    if len(active) >= TOGETHER:
        return None
    load = sum(run.load for run in active)
    for run in waiting:
        if not active or load + run.load <= BUSY:
            return run
    return None


def seconds(runs):
    """How long they take together, by next_fit()."""
    waiting, active, now = list(runs), [], 0.0
    while waiting or active:
        while (run := next_fit(waiting, [each for _, each in active])) is not None:
            waiting.remove(run)
            active.append((now + run.seconds + OVERHEAD_S, run))
        active.sort(key=lambda row: row[0])
        now, _ = active.pop(0)
    return now
