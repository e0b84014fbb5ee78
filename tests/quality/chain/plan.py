# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the report evaluates: scenarios, receivers, their fair rates; runs of the laboratory."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from . import Wrong

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests" / "sim"))
SCENARIOS = TOP / "tests" / "sim" / "scenarios"

from lab import scenario as scenarios  # noqa: E402

FRAMES = {"assp-subscription": 2000}  # as in the paper: the whole run, 80 s
FRAMES_ELSE = 750
VARIANTS = ("published", "enhanced")
LAYERED = "smcc"
# begin of what is evaluated: from the start where receivers find their streams, else settled
BEGIN = {"assp-subscription": 0.0}
SETTLED = 50.0
# ASSP 2010, 6.1 to 6.3: frame loss of the low, medium and high quality stream; PSNR and MOS
PAPER = {
    "assp-subscription": (0.016, 0.010, 0.020),
    "assp-tcp-fairness": (0.013, 0.016, 0.09),
    "assp-intra-fairness": (0.0045, 0.0005, 0.0015),
    "assp-onoff-udp": (0.02, 0.006, 0.007),
}
# shared scenarios' goal column: frame loss, by receiver from the slowest
GOALS = {
    "assp-subscription": (0.003, 0.003, 0.003),
    "assp-tcp-fairness": (0.0065, 0.008, 0.045),
    "assp-intra-fairness": (0.0045, 0.0005, 0.0015),
    "assp-onoff-udp": (0.01, 0.003, 0.0035),
}


class Group(NamedTuple):
    flow: str
    receiver: str  # one of the group
    fair_bps: float


class Plan:
    def __init__(self, name, duration=None, frames=None):
        self.file = path = SCENARIOS / f"{name}.yaml"
        try:
            self.data = scenarios.load(path).data
        except OSError as error:
            raise Wrong(str(error)) from None
        self.id = name
        self.frames = frames or FRAMES.get(name, FRAMES_ELSE)
        self.shorter = duration  # the laboratory's, or None
        self.duration = duration or self.data["duration"]
        self.begin = min(BEGIN.get(name, SETTLED), self.duration / 2)
        flow = next((flow for flow in self.data["flows"] if flow.get("streams")), None)
        if not flow:
            raise Wrong(f"{name} has no flow with streams")
        self.flow = flow
        self.streams = [
            {"low_bps": stream["low"], "high_bps": stream["high"]}
            if isinstance(stream, dict)
            else {"low_bps": stream[0], "high_bps": stream[1]}
            for stream in flow["streams"]
        ]
        groups = []
        for entry in flow["receivers"]:
            member = entry["id"] + ("-1" if entry.get("count", 1) > 1 else "")
            groups.append(Group(flow["id"], member, self.fair(flow["from"], entry["at"])))
        self.groups = sorted(groups, key=lambda group: group.fair_bps)

    def path(self, begin, end):
        """Links from one router to another; the network is a tree."""
        neighbours = {}
        for link in self.data["links"]:
            neighbours.setdefault(link["from"], []).append((link["to"], link))
            neighbours.setdefault(link["to"], []).append((link["from"], link))
        ways, queue = {begin: []}, [begin]
        while queue:
            here = queue.pop(0)
            for there, link in neighbours.get(here, ()):
                if there not in ways:
                    ways[there] = [*ways[here], link]
                    queue.append(there)
        return ways[end]

    def crosses(self, flow, link):
        ends = [entry["at"] for entry in flow.get("receivers") or ()] or [flow["to"]]
        return any(link in self.path(flow["from"], end) for end in ends)

    def fair(self, begin, end):
        """The smallest share on the way: what CBR leaves, by the flows that adapt."""
        least = float("inf")
        for link in self.path(begin, end):
            rate, flows = link["rate"], 0
            for flow in self.data["flows"]:
                if not self.crosses(flow, link):
                    continue
                count = flow.get("count") or 1
                if flow["type"] != "udp":
                    flows += count if flow["type"] == "tcp" else 1
                    continue
                times = flow.get("onoff")
                share = times["on"] / (times["on"] + times["off"]) if times else 1.0
                rate -= count * share * flow["rate"]
            least = min(least, rate / max(flows, 1))
        return least

    def stream_of(self, bps):
        """The stream that a rate is for: the highest whose lower bound it reaches."""
        fit = [n for n, stream in enumerate(self.streams) if bps >= stream["low_bps"]]
        return fit[-1] if fit else 0

    def end(self, fps):
        return min(self.begin + self.frames / fps, self.duration)


def layered(plan):
    """Whether the scenario has the layered baseline."""
    return any(variant["id"] == LAYERED for variant in plan.data["variants"])


def tcp_beside(plan, group):
    """The TCP flow that shares the group's bottleneck, if any (in a list)."""
    entry = next(
        entry for entry in plan.flow["receivers"] if group.receiver.split("-")[0] == entry["id"]
    )
    out = []
    for flow in plan.data["flows"]:
        if flow["type"] == "tcp" and flow["to"] == entry["at"]:
            out.append(flow["id"] + ("-1" if (flow.get("count") or 1) > 1 else ""))
    return out[:1]


def there(plan, variants, seeds, builddir, directory, packets):
    """Whether all of it is in @directory already, no older than the laboratory and the scenario."""
    made = []
    for variant in variants:
        for seed in seeds:
            made.append(Path(directory) / f"{plan.id}-{variant}-{seed}.json.gz")
            if packets:
                made += [trace_path(directory, plan, variant, seed, one) for one in plan.groups]
    lab = TOP / "tests" / "sim" / "lab"
    from_ = [Path(builddir) / "tests/sim/mccsim", plan.file, *lab.glob("*.py")]
    if not all(path.exists() for path in (*made, *from_)):
        return False
    oldest = min(path.stat().st_mtime for path in made)
    return oldest >= max(path.stat().st_mtime for path in from_)


def simulate(plan, variants, seeds, builddir, directory, packets=True):
    """Results, and traces, in @directory, by the laboratory; runs done before are not repeated."""
    if there(plan, variants, seeds, builddir, directory, packets):
        return
    members = ",".join(f"{group.flow}/{group.receiver}" for group in plan.groups)
    words = [sys.executable, str(TOP / "tests" / "sim" / "run"), str(plan.file)]
    words += ["--variant", ",".join(variants), "--seeds", ",".join(map(str, seeds)) + ","]
    words += ["--packets", members] if packets else []
    words += ["--duration", f"{plan.shorter:g} s"] if plan.shorter else []
    words += ["--out", str(directory), "--builddir", str(builddir)]
    done = subprocess.run([*words, "--jobs", "1"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Wrong(f"the laboratory failed on {plan.id}: {done.stdout[-400:]}")


def trace_path(directory, plan, variant, seed, group):
    name = f"{plan.id}-{variant}-{seed}-{group.flow}-{group.receiver}.packets.json"
    return Path(directory) / name


def result_of(directory, plan, variant, seed):
    """The laboratory's result of a run."""
    with gzip.open(Path(directory) / f"{plan.id}-{variant}-{seed}.json.gz", "rt") as file:
        return json.load(file)


def spread(directory, plan, variant, seed, time):
    """For each group, how many of its receivers are shown each stream at @time: '38/4/3'."""
    receivers = result_of(directory, plan, variant, seed)["flows"][plan.flow["id"]]["receivers"]
    out = []
    for group in plan.groups:
        counts = [0] * len(plan.streams)
        for sink in receivers.values():
            if sink["group"] != receivers[group.receiver]["group"]:
                continue
            shown = [stream for t, stream in sink["stream"] if t <= time]
            if shown and shown[-1] >= 0:
                counts[int(shown[-1])] += 1
        out.append("/".join(map(str, counts)))
    return out


def packet_loss(directory, plan, variant, seed, flow, receiver=None):
    """Lost / all packets of a flow (or of its receiver) in what is evaluated, by its result."""
    result = result_of(directory, plan, variant, seed)
    sink = result["flows"][flow]
    if receiver:
        sink = sink["receivers"][receiver]
    begin, end = (int(t / result["bin"]) for t in (plan.begin, plan.end(25)))
    lost, came = (sum(sink[key][begin:end]) for key in ("lost", "packets"))
    return lost / (lost + came) if lost + came else 0.0
