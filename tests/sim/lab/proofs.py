# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory's proofs of itself: TCP against its equation and the kernel, phase effects.

Each experiment is a list of runs, as mccsim reads them, and a function from their results to rows.
"""

import concurrent.futures
import json
import math
import subprocess
from dataclasses import dataclass

from .runner import Failure, Progress, Store
from .stats import summarise

GIGABIT = 1_000_000_000
SEGMENT = 1000  # IP bytes


@dataclass
class Step:
    """A run, for people who wait for it."""

    given: dict

    @property
    def weight(self):
        return self.given["duration"] * len(self.given["flows"])


class Bench:
    """Runs of mccsim, several at a time; results are kept as those of tests/sim/run."""

    def __init__(self, builddir, jobs):
        self.store = Store(builddir)
        self.jobs = jobs

    def run(self, given):
        key = self.store.key(given)
        result = self.store.read(key)
        if result is not None:
            return result
        path = self.store.given_path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(given), encoding="utf-8")
        done = subprocess.run([self.store.program, path], capture_output=True, check=False)
        if done.returncode:
            raise Failure(f"{given['id']}: {done.stderr.decode().strip()}")
        self.store.write(key, done.stdout)
        path.unlink()
        return json.loads(done.stdout)

    def each(self, runs, read):
        """[read(run, its result)]: one by one, as all results would not fit into memory; tells how
        far it is."""

        def one(step):
            cached = self.store.path(self.store.key(step.given)).exists()
            return read(step.given, self.run(step.given)), cached

        steps = [Step(run) for run in runs]
        progress = Progress(steps)
        out = []
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for step, (value, cached) in zip(steps, pool.map(one, steps), strict=True):
                out.append(value)
                progress.ended(step, cached)
                progress.show(f"{step.given['id']} seed {step.given['seed']}")
        progress.clear()
        return out

    def all(self, runs):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(self.run, runs))


def tcp_flow(name, congestion="reno", start=0.0, **more):
    flow = {"id": name, "group": name.rsplit("-", 1)[0], "type": "tcp", "from": "a", "to": "b"}
    return flow | {
        "congestion": congestion,
        "segment": SEGMENT,
        "start": start,
        "again": [],
        **more,
    }


def scenario(name, seed, duration, rate, delay, flows, **more):
    """One link a -> b; @more: queue (packets), loss (Bernoulli), access, variant."""
    queue = {"type": "droptail", "size": {"packets": more.get("queue", 100_000)}}
    return {
        "id": name,
        "variant": more.get("variant", "tcp"),
        "seed": seed,
        "duration": duration,
        "network": "ns3",
        "clocks": "synchronised",
        "leave_latency": 0.0,
        "access": more.get("access", {"rate": GIGABIT, "delay": 0.001}),
        "links": [
            {
                "id": "l",
                "from": "a",
                "to": "b",
                "rate": rate,
                "delay": delay,
                "queue": queue,
                "loss": {"type": "bernoulli", "ratio": more.get("loss", 0.0)},
            }
        ],
        "flows": flows,
        "changes": [],
    }


WARM = 5.0  # s; slow start overshoots, and what it loses is not the link's loss


def between(result, bins, start, end):
    return sum(bins[round(start / result["bin"]) : round(end / result["bin"])])


# -- TCP alone against the equation -------------------------------------------------------------


@dataclass
class Case:
    congestion: str
    loss: float
    rtt: float

    @property
    def packets_per_ack(self):
        """b: Linux counts the segments of an ACK, RFC 6582 counts ACKs, every second is sent."""
        return 2 if self.congestion == "newreno" else 1

    @property
    def tolerance(self):
        return 0.1 if self.loss <= 0.02 else 0.2


def pftk(case, loss):
    """Packets/s that a TCP sends (Padhye et al. 1998, eq. 33), t_RTO = RTT + 200 ms (apps/tcp.cc).

    @loss: loss indications (recoveries and first time-outs) per packet sent, which is p there.
    """
    b, rto = case.packets_per_ack, case.rtt + 0.2
    timeout = rto * min(1, 3 * math.sqrt(3 * b * loss / 8)) * loss * (1 + 32 * loss**2)
    return 1 / (case.rtt * math.sqrt(2 * b * loss / 3) + timeout)


def equation_run(case, seed, indications):
    """Long enough for about that many loss indications."""
    duration = round(
        indications * case.rtt * math.sqrt(2 * case.packets_per_ack / 3 / case.loss), 1
    )
    return scenario(
        f"equation-{case.congestion}",
        seed,
        max(duration, 20.0),
        GIGABIT,
        case.rtt / 2 - 0.002,
        [tcp_flow("tcp", case.congestion)],
        loss=case.loss,
    )


@dataclass
class Fit:
    case: Case
    sent: float  # packets/s
    lost: float  # packets lost / sent
    indications: float  # per packet sent
    timeouts: float  # of the indications
    ratio: float  # to the equation with p = indications
    half: float  # of the confidence interval of that ratio
    naive: float  # to the equation with p = packets lost

    @property
    def good(self):
        return abs(self.ratio - 1) <= self.case.tolerance


def fit(case, results):
    ratios, total, seconds = [], dict.fromkeys(("packets", "lost", "recoveries", "timeouts"), 0), 0
    for result in results:
        flow, duration = result["flows"]["tcp"], result["duration"] - WARM
        own = {name: between(result, flow[name], WARM, result["duration"]) for name in total}
        sent = own["packets"] + own["lost"]
        p = (own["recoveries"] + own["timeouts"]) / sent
        ratios.append(sent / duration / pftk(case, p))
        total = {name: value + own[name] for name, value in total.items()}
        seconds += duration
    sent = total["packets"] + total["lost"]
    marks = total["recoveries"] + total["timeouts"]
    summary = summarise(ratios)
    rate, lost = sent / seconds, total["lost"] / sent
    naive = rate / pftk(case, lost)
    return Fit(
        case,
        rate,
        lost,
        marks / sent,
        total["timeouts"] / marks,
        summary.mean,
        summary.half,
        naive,
    )


def equation(bench, cases, seeds, indications):
    runs = [equation_run(case, seed, indications) for case in cases for seed in range(1, seeds + 1)]
    results = bench.all(runs)
    return [
        fit(case, results[number * seeds : (number + 1) * seeds])
        for number, case in enumerate(cases)
    ]


SHORT = [Case("reno", 0.005, 0.2), Case("reno", 0.02, 0.1)]
LOSSES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
LONG = [
    *(Case("reno", loss, rtt) for rtt in (0.04, 0.1) for loss in LOSSES),
    *(Case("reno", loss, 0.2) for loss in LOSSES[2:]),
    *(Case("newreno", loss, 0.1) for loss in LOSSES[2::2]),
]


# -- phase effects ------------------------------------------------------------------------------

PHASE_FAIR = 6_500_000 / 11
PHASE_ACCESS = {
    "all 4.25 ms": {"delay": 0.00425},
    "0.5 to 3 ms": {"delay": [0.0005, 0.003]},
    "0.5 to 8 ms, 1 ms of jitter": {"delay": [0.0005, 0.008], "jitter": 0.001},  # as the scenarios
}


def phase_run(variant, access, seed):
    """Ten TCP flows beside one paced flow, RTT 60 ms on the mean; start times by the seed."""
    access = {"rate": 100_000_000, **access}
    delay = access["delay"] if isinstance(access["delay"], float) else sum(access["delay"]) / 2
    rate = round(PHASE_FAIR)
    multicast = {
        "id": "m",
        "group": "m",
        "type": "multicast",
        "from": "a",
        "start": 0.0,
        "start_rate": 150_000,
        "min_rate": 16_000,
        "max_rate": rate if variant == "cbr" else 20_000_000,
        "packet_size": SEGMENT,
        "source": {"type": "cbr"},
        "options": {} if variant == "cbr" else {"report_interval": 1.0},
        "receivers": [{"id": "r", "group": "r", "at": "b", "join": 0.0, "again": []}],
        "again": [],
        "ecn": False,
        "feedback": "group",
    }
    flows = [multicast] + [tcp_flow(f"tcp-{i}", start=[0.0, 5.0]) for i in range(1, 11)]
    more = {"queue": 50, "access": access, "variant": variant}
    return scenario("phase", seed, 120.0, 6_500_000, 0.03 - 2 * delay, flows, **more)


@dataclass
class Phase:
    variant: str
    delays: str
    share: object  # Summary over seeds: of the fair share
    spread: float  # its standard deviation over the seeds
    loss_to_tcp: object  # its loss ratio / that of the TCP flows
    jain: object  # of the TCP flows


def loss_ratio(result, sinks, start=30.0):
    end = result["duration"]
    lost = sum(between(result, sink["lost"], start, end) for sink in sinks)
    return lost / (lost + sum(between(result, sink["packets"], start, end) for sink in sinks))


def jain(values):
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


def phase_row(variant, delays, results):
    shares, losses, jains = [], [], []
    for result in results:
        receiver = result["flows"]["m"]["receivers"]["r"]
        tcp = [flow for flow in result["flows"].values() if flow["kind"] == "tcp"]
        bits = 8 * between(result, receiver["bytes"], 30, 120)
        shares.append(bits / 90 / PHASE_FAIR)
        losses.append(loss_ratio(result, [receiver]) / loss_ratio(result, tcp))
        jains.append(jain([between(result, flow["bytes"], 30, 120) for flow in tcp]))
    mean = sum(shares) / len(shares)
    deviation = math.sqrt(sum((share - mean) ** 2 for share in shares) / (len(shares) - 1))
    return Phase(variant, delays, summarise(shares), deviation, summarise(losses), summarise(jains))


def phase(bench, seeds):
    kinds = [(variant, name) for variant in ("cbr", "published") for name in PHASE_ACCESS]
    runs = [
        phase_run(variant, PHASE_ACCESS[name], seed)
        for variant, name in kinds
        for seed in range(1, seeds + 1)
    ]
    results = bench.all(runs)
    return [
        phase_row(variant, name, results[number * seeds : (number + 1) * seeds])
        for number, (variant, name) in enumerate(kinds)
    ]


# -- ns-3's TCP beside the kernel's -------------------------------------------------------------


@dataclass
class Road:
    """One link and TCP flows on it, for ns-3 and for the kernel alike."""

    name: str
    rate: int
    queue: int  # packets
    loss: float
    delays: list  # of the flows' access, s one way, in all
    seconds: float
    begin: float  # of what is measured
    link_delay: float = 0.0265
    jitter: float = 0.0  # s at most, per packet that a host sends
    kinds: tuple = ("reno",)  # of the flows, by turns

    def kind(self, number):
        """Of the flow @number, from 0."""
        return self.kinds[number % len(self.kinds)]


TEN = [0.001 + 0.005 * i / 9 for i in range(10)]
ROADS = [
    Road("10 flows on 6.5 Mb/s, queue 50 packets", 6_500_000, 50, 0.0, TEN, 60, 10),
    Road("the same, 1 ms of jitter", 6_500_000, 50, 0.0, TEN, 60, 10, jitter=0.001),
    Road("1 % loss, room for all", 100_000_000, 1000, 0.01, [0.0035] * 8, 60, 5),
    Road("5 % loss, room for all", 100_000_000, 1000, 0.05, [0.0035] * 8, 60, 5),
]

BUSY = {"rate": 6_500_000, "queue": 50, "loss": 0.0, "delays": TEN, "seconds": 50, "begin": 10}
KINDS = [
    Road("1 % loss, room for all", 100_000_000, 1000, 0.01, [0.0035] * 8, 50, 5, kinds=("cubic",)),
    Road("10 flows on 6.5 Mb/s, queue 50 packets", **BUSY, jitter=0.001, kinds=("cubic",)),
    Road("the same", **BUSY, jitter=0.001, kinds=("cubic", "reno")),
    Road("the same", **BUSY, jitter=0.001, kinds=("bbr",)),
    Road("the same", **BUSY, jitter=0.001, kinds=("bbr", "reno")),
    Road("2 flows on 8 Mb/s, 1 % loss", 8_000_000, 50, 0.01, [0.0035] * 2, 50, 5, kinds=("bbr",)),
]


@dataclass
class Travel:
    """What one run on a Road gave."""

    utilisation: float
    jain: float
    loss: float
    mean_bps: float
    first: float  # mean rate of the flows of the first kind / that of all


def first_kind(road, rates):
    own = [rate for number, rate in enumerate(rates) if road.kind(number) == road.kinds[0]]
    return sum(own) / len(own) / (sum(rates) / len(rates))


def road_run(road, seed):
    flows = [
        tcp_flow(
            f"tcp-{number + 1}",
            road.kind(number),
            start=[0.0, 3.0],
            access={"rate": GIGABIT, "delay": delay / 2, "jitter": road.jitter},
        )
        for number, delay in enumerate(road.delays)
    ]
    more = {"queue": road.queue, "loss": road.loss}
    return scenario("road", seed, float(road.seconds), road.rate, road.link_delay, flows, **more)


def travel(road, result):
    span = road.begin, road.seconds
    link = result["links"]["l"]
    rates = [
        8 * between(result, flow["bytes"], *span) / (road.seconds - road.begin)
        for flow in (result["flows"][f"tcp-{i + 1}"] for i in range(len(road.delays)))
    ]
    drops = sum(between(result, link[name], *span) for name in ("queue_drops", "random_drops"))
    packets = between(result, link["packets"], *span)
    sent = 8 * between(result, link["bytes"], *span) / (road.seconds - road.begin)
    return Travel(
        sent / road.rate,
        jain(rates),
        drops / (packets + drops),
        sum(rates) / len(rates),
        first_kind(road, rates),
    )


def roads(bench, seeds, chosen):
    out = []
    for road in chosen:
        runs = [road_run(road, seed) for seed in range(1, seeds + 1)]
        out.append((road, [travel(road, result) for result in bench.all(runs)]))
    return out
