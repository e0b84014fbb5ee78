# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel's TCP on the roads of proofs.py, across the testbed's emulator, in real time."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from .proofs import SEGMENT, Travel, first_kind, jain

TESTBED = Path(__file__).resolve().parents[2] / "testbed"
LOAD = TESTBED / "tcpload.py"
MSS = SEGMENT - 40  # IP and TCP; time stamps take 12 of it
DATA = MSS - 12

sys.path.insert(0, str(TESTBED))
import netlab  # noqa: E402


def topology(road, seed):
    loss = f" loss={100 * road.loss:g}%" if road.loss else ""
    lines = [f"option seed={seed}", "host r", "router g1", "router g2", "link ar g2 r"]
    jitter = f"{1e6 * road.jitter:.0f}us"
    lines += [f"set ar>g2 jitter={jitter}"]
    core = f"rate={road.rate} delay={1000 * road.link_delay:g}ms"
    lines += [f"link core g1 g2 {core}", f"set core>g2 queue={road.queue}p{loss}"]
    for number, delay in enumerate(road.delays, 1):
        lines += [f"host s{number}", f"link as{number} s{number} g1 delay={1e6 * delay:.0f}us"]
        lines += [f"set as{number}>g1 jitter={jitter}"]
    return "\n".join(lines) + "\n"


def early(argv):
    """Before the builds and whatever else runs here, if it may."""
    return ["nice", "-n", "-10", *argv] if os.geteuid() == 0 else argv


def start_tcp(lab, road, seed):
    """(the receiver, when it started, the flows' numbers in the order in which they start)"""
    draw = random.Random(seed)
    base = [sys.executable, str(LOAD)]
    span = f"{road.begin}", f"{road.seconds}"
    command = [*base, "receive", "5001", f"{MSS}", f"{len(road.delays)}", *span]
    receiver = lab.run("r", early(command), stdout=subprocess.PIPE, text=True)
    if receiver.stdout.readline().strip() != "ready":
        raise netlab.LabError("the receiver did not start")
    start = time.monotonic()
    starts = [draw.uniform(0, 3) for _ in road.delays]
    for number, when in enumerate(starts):
        to = [lab.hosts["r"].address, "5001", f"{MSS}", road.kind(number)]
        span = [f"{when:.3f}", f"{road.seconds + 1}"]
        lab.run(f"s{number + 1}", early([*base, "send", *to, *span]))
    return receiver, start, sorted(range(len(starts)), key=lambda number: starts[number])


def sleep_until(moment):
    time.sleep(max(0.0, moment - time.monotonic()))


def difference(before, after):
    return {name: after[name] - before[name] for name in after if name.startswith(("tx", "drops"))}


def journey(road, seed):
    """(Travel, part of the packets that were handed over more than 1 ms late)"""
    with netlab.Lab(topology(road, seed), name="tcp", tcp="reno") as lab:
        receiver, start, order = start_tcp(lab, road, seed)
        sleep_until(start + road.begin)
        before, began = lab.link_stats("core", "g2"), time.monotonic()
        lab.reset_lag()
        sleep_until(start + road.seconds)
        delta, ended = difference(before, lab.link_stats("core", "g2")), time.monotonic()
        lag = lab.lag()
        # It counts in the order of their coming.
        came = dict(zip(order, json.loads(receiver.stdout.readline()), strict=True))
    drops = delta["drops_queue"] + delta["drops_loss"]
    seconds = road.seconds - road.begin
    rates = [8 * count * SEGMENT / DATA / seconds for _, count in sorted(came.items())]
    result = Travel(
        8 * delta["tx_bytes"] / (ended - began) / road.rate,
        jain(rates),
        drops / (delta["tx_packets"] + delta["drops_queue"]),
        sum(rates) / len(rates),
        first_kind(road, rates),
    )
    return result, lag["over_1ms"] / max(1, lag["count"])


def paced_loss(road, seed):
    """A paced UDP flow of the fair rate beside the TCP flows: (its loss ratio, theirs)"""
    jitter = f"{1e6 * road.jitter:.0f}us"
    own = f"host u\nlink au u g1 delay=3500us\nset au>g1 jitter={jitter}\n"
    rate = road.rate / (len(road.delays) + 1)
    seconds = road.seconds - road.begin - 5
    with netlab.Lab(topology(road, seed) + own, name="paced", tcp="reno") as lab:
        _, start, _ = start_tcp(lab, road, seed)
        sleep_until(start + road.begin)
        address, probes = lab.hosts["r"].address, [sys.executable, str(TESTBED / "probes.py")]
        command = [*probes, "receive", address, "6000", "--seconds", f"{seconds + 3}", "--realtime"]
        receiver = lab.run("r", early(command), stdout=subprocess.PIPE, text=True)
        time.sleep(0.5)
        before = lab.link_stats("core", "g2")
        command = [*probes, "send", address, "6000", "--rate-bps", f"{rate}", "--bytes", "1000"]
        command += ["--seconds", f"{seconds}", "--realtime"]
        sender = lab.run("u", early(command), stdout=subprocess.PIPE, text=True)
        sent = json.loads(sender.communicate()[0])["count"]
        delta = difference(before, lab.link_stats("core", "g2"))
        lost = sent - json.loads(receiver.communicate()[0])["count"]
    others = delta["tx_packets"] + delta["drops_queue"] - sent
    return lost / sent, (delta["drops_queue"] - lost) / others
