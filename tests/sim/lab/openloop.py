# SPDX-License-Identifier: LGPL-2.1-or-later
"""The open-loop study of the ELM thesis (sections 4 and 5): what loss measures say to a receiver
whose sender does not listen, over every cell of its grid, beside a closed-loop TFRC and TCP.

Rates are packets per RTT of 100 ms, of 1000 IP bytes; each is also the calculated rate's unit.
"""

import math
from dataclasses import dataclass, field

from . import proofs
from .stats import summarise

RTT = 0.1  # s, without queues (thesis 4.1.1)
PACKET = 1000  # IP bytes
SMALL = 100  # of figure 16
ACCESS, TRUNK = 0.005, 0.04  # s, one way
TCP_ACCESS = [0.005, 0.006]
TCP_START = [0.0, 20.0]
RATES = (1, 2, 4, 8, 16, 32, 64, 128)  # packets/RTT
LOSSES = (0.001, 0.005, 0.01, 0.03, 0.05, 0.1)
TCPS = (1, 2, 4, 8, 16, 32)
FAIR = 16  # packets/RTT of each flow on the shared link
QUEUE_BDP = 1.5
VIRTUAL_LOSS = 0.05
SLOW = (1, 2, 4, 8)  # packets/RTT: these need long runs, which are cheap

# id -> (title, what of the core). LIP as the thesis' CBR had it (footnote 5), LAP by eq. 15.
MEASURES = {
    "lip": ("LIP", {"loss": "lip", "discounting": True}),
    "lap": ("LAP, eq. 15", {"loss": "lap", "weighted_impact": False}),
    "weighted": ("LAP, eq. 16", {"loss": "lap", "weighted_impact": True}),
    "window": ("LIP/LAP window", {"loss": "window", "weighted_impact": True}),
}
CLOSED = ("tfrc", "tcp")


def bps(packets):
    return round(packets * 8 * PACKET / RTT)


def packets(rate_bps):
    return rate_bps * RTT / (8 * PACKET)


def pftk(loss):
    """Packets/RTT by the equation, t_RTO = 4 R."""
    timeout = 4 * min(1, 3 * math.sqrt(3 * loss / 8)) * loss * (1 + 32 * loss**2)
    return 1 / (math.sqrt(2 * loss / 3) + timeout)


def lip_expected(loss, rate):
    """Thesis eq. 12: an interval is the packets of one RTT and what it takes to the next loss."""
    return 1 / (rate - 1 + 1 / loss)


def closed_expected(loss):
    """The loss event rate by eq. 12 of a flow that sends what the equation then gives it."""
    rate = pftk(loss)
    for _ in range(100):
        rate = pftk(lip_expected(loss, max(rate, 1)))
    return lip_expected(loss, max(rate, 1))


def window_expected(loss, rate, window=3):
    """Of an event's losses the first counts, and those with @window - 1 packets before them that
    came (6.2.2); the interval is as in eq. 12."""
    later = loss * (1 - loss) ** (window - 1) * max(0, rate - window)
    return (1 + later) * lip_expected(loss, rate)


# -- runs ---------------------------------------------------------------------------------------


def cast(name, protocol, rate, options, **more):
    return {
        "id": name,
        "group": name,
        "type": "multicast",
        "protocol": protocol,
        "from": "a",
        "start": [0.0, 1.0],
        "start_rate": bps(1),
        "min_rate": 0,
        "max_rate": rate,
        "packet_size": PACKET,
        "source": {"type": "cbr"},
        "options": options,
        "receivers": [{"id": "r", "group": "r", "at": "b", "join": 0.0, "again": []}],
        "again": [],
        "ecn": False,
        "feedback": "unicast",
    } | more


def constant(rate, begin, kinds=MEASURES, **more):
    """A flow of @rate packets/RTT, by all the measures."""
    measures = [{"id": name, **kinds[name][1]} for name in kinds]
    options = {"from": begin, "measures": measures}
    return cast(f"cbr-{rate}", "openloop", bps(rate), options, **more)


def tfrc(count=1):
    names = ["tfrc", *(f"tfrc-{i + 2}" for i in range(count - 1))]
    return [cast(name, "tfrc", proofs.GIGABIT, {}) for name in names]


def tcp(count, start, **more):
    access = {"rate": proofs.GIGABIT, "delay": TCP_ACCESS, **more}
    return [proofs.tcp_flow(f"tcp-{i + 1}", start=start, access=access) for i in range(count)]


def dumbbell(name, seed, duration, rate, flows, **more):
    access = {"rate": proofs.GIGABIT, "delay": ACCESS} | more.pop("access", {})
    return proofs.scenario(name, seed, duration, rate, TRUNK, flows, access=access, **more)


@dataclass(frozen=True)
class Span:
    """What is run, and from when it counts, s."""

    duration: float
    begin: float


def lossy_span(loss, slowest, long):
    """Eight events of the slowest flow, for its history, then @long times that; 60 s at least."""
    history = 8 * RTT / (loss * slowest)
    return Span(round(max(60.0, (1 + long) * history) + 20), round(history + 20))


def lossy_runs(loss, seed, long, rates=RATES):
    """On a link with room for all flows are alone: several rates are in one run, the slow ones,
    which have fewer losses, in a longer one."""
    runs = []
    for slow in (True, False):
        own = [rate for rate in rates if (rate in SLOW) == slow]
        if not own and slow:
            continue
        span = lossy_span(loss, min(own) if slow else FAIR, long)
        flows = [constant(rate, span.begin) for rate in own]
        if not slow:
            # Several where one would be slow: its mean would be the least certain of all.
            closed = 4 if loss >= 0.01 else 1
            flows += [*tfrc(closed), *tcp(closed, [0.0, 1.0])]
        name = f"openloop-lossy-{loss:g}"
        runs.append(dumbbell(name, seed, span.duration, proofs.GIGABIT, flows, loss=loss))
    return runs


def shared_rates(count):
    """Up to half of the bottleneck (4.1.4)."""
    return [rate for rate in RATES if rate <= (count + 2) * FAIR / 2]


GOAL_RATES = (8, 16, 32)  # 0.5 to 2 of the fair rate: cells with a goal, from 4 TCP flows on


def shared_span(count, rate):
    """Eight loss events of TFRC before it counts, about a minute, and as many after, where many
    flows do not make that dear; there only in cells with a goal."""
    if count <= 8:
        return Span(200.0, 60.0) if count == 8 else Span(300.0, 100.0)
    return Span(250.0, 100.0) if rate in GOAL_RATES else Span(60.0, 30.0)


def shared_run(count, rate, seed, span, jitter=1.0):
    """@jitter: of each packet that a host sends, at most, in packets' times at the bottleneck.
    Without, a CBR whose interval is a whole number of those, as all of these are, always finds the
    queue at the same phase: nearly lossless in one run, with TCP's loss in another."""
    link = bps((count + 2) * FAIR)
    own = {"jitter": jitter * 8 * PACKET / link}
    flows = [constant(rate, span.begin), *tfrc(), *tcp(count, TCP_START, **own)]
    name = f"openloop-shared-{count}"
    run = dumbbell(name, seed, span.duration, link, flows, access=own)
    queue = {"bytes": math.ceil(QUEUE_BDP * link * RTT / 8)}
    run["links"][0]["queue"] = {"type": "droptail", "size": queue}
    return run


VIRTUAL = {
    "real": ("100-byte packets", {"loss": "lip", "discounting": True}),
    "virtual": (
        "virtual packets of 1000",
        {"loss": "lip", "discounting": True, "virtual_bytes": PACKET},
    ),
}


def byte_loss():
    """Of a small packet, when a byte is lost as often as with large ones."""
    return 1 - (1 - VIRTUAL_LOSS) ** (SMALL / PACKET)


def virtual_runs(loss, seed):
    """As lossy_runs()."""
    name = f"openloop-virtual-{loss:g}"
    runs = []
    for slow, span in ((True, Span(80.0, 30.0)), (False, Span(20.0, 8.0))):
        rates = [rate for rate in RATES if (rate in SLOW) == slow]
        flows = [constant(rate, span.begin, VIRTUAL, packet_size=SMALL) for rate in rates]
        runs.append(dumbbell(name, seed, span.duration, proofs.GIGABIT, flows, loss=loss))
    return runs


# -- results ------------------------------------------------------------------------------------


@dataclass
class Sample:
    """One flow of one run by one measure: loss (event) ratio, and packets/RTT that it may have;
    None before its first loss."""

    loss: float | None
    rate: float | None


def time_mean(pairs, begin, end):
    """Of a value that changes at times, from @begin on."""
    total = seconds = 0.0
    for (at, value), (until, _) in zip(pairs, [*pairs[1:], (end, None)], strict=True):
        span = min(until, end) - max(at, begin)
        if span > 0:
            total += value * span
            seconds += span
    return total / seconds


def measured(flow):
    """measure -> Sample of an open-loop flow."""
    out = {}
    for name, means in flow["receivers"]["r"]["loss_means"].items():
        rate = means["rate_bps"]
        out[name] = Sample(means["loss_ratio"], None if rate is None else packets(rate))
    return out


def of_tfrc(flow, begin, end):
    """Loss event rate and allowed rate; without a loss it has no calculated rate."""
    losses = flow["receivers"]["r"]["loss_ratio"]
    first = max(begin, next((at for at, value in losses if value > 0), end))
    if first >= end:
        return Sample(None, None)
    rate = time_mean(flow["sender"]["target_bps"], first, end)
    return Sample(time_mean(losses, first, end), packets(rate))


def of_tcp(flows, begin, result):
    """Packets lost of those sent, and packets sent by each."""
    end = result["duration"]
    lost, came = (
        sum(proofs.between(result, flow[name], begin, end) for flow in flows)
        for name in ("lost", "packets")
    )
    return Sample(lost / (lost + came), (lost + came) / len(flows) / (end - begin) * RTT)


def read(run, result):
    """({rate: {measure: Sample}}, {tfrc, tcp: Sample}) of a run."""
    begin = run["flows"][0]["options"]["from"]
    opened, beside, tcps = {}, {}, []
    for name, flow in sorted(result["flows"].items()):
        if name.startswith("cbr-"):
            opened[int(name.removeprefix("cbr-"))] = measured(flow)
        elif name.startswith("tfrc"):
            beside.setdefault("tfrc", []).append(of_tfrc(flow, begin, result["duration"]))
        else:
            tcps.append(flow)
    if tcps:
        beside["tcp"] = [of_tcp(tcps, begin, result)]
    return opened, beside


@dataclass
class Cell:
    """All seeds of a cell: measure, tfrc or tcp -> [Sample]."""

    samples: dict = field(default_factory=dict)

    def add(self, name, samples):
        self.samples.setdefault(name, []).extend(samples)

    def loss(self, name):
        return summarise([sample.loss for sample in self.samples[name]])

    def rate(self, name):
        return summarise([sample.rate for sample in self.samples[name]])

    def ratio(self, name, other="tfrc"):
        """Of the mean calculated rates."""
        return self.rate(name).mean / self.rate(other).mean


def fill(bench, groups, together):
    """Runs @groups, [(row, runs)]: (row, rate) -> Cell. @together: the TFRC and TCP of a run are
    beside all cells of the row so far, not of that run's."""
    flat = [(row, run) for row, runs in groups for run in runs]
    outcomes = bench.each([run for _, run in flat], read)
    cells = {}
    for (row, _), (opened, beside) in zip(flat, outcomes, strict=True):
        for rate, samples in opened.items():
            cell = cells.setdefault((row, rate), Cell())
            for name, sample in samples.items():
                cell.add(name, [sample])
        for rate in [rate for at, rate in cells if at == row] if together else opened:
            for name, several in beside.items():
                cells[row, rate].add(name, several)
    return cells


def lossy(bench, seeds, long=6, losses=LOSSES, rates=RATES):
    """(loss, rate) -> Cell."""
    every = range(1, seeds + 1)
    groups = [(p, lossy_runs(p, seed, long, rates)) for p in losses for seed in every]
    return fill(bench, groups, True)


def shared(bench, seeds, cells=None, jitter=1.0):
    """(TCP flows, rate) -> Cell."""
    if cells is None:
        cells = [(count, rate) for count in TCPS for rate in shared_rates(count)]
    every = range(1, seeds + 1)
    groups = [
        (count, [shared_run(count, rate, seed, shared_span(count, rate), jitter) for seed in every])
        for count, rate in cells
    ]
    return fill(bench, groups, False)


def virtual(bench, seeds):
    """(loss, rate) -> Cell of figure 16."""
    losses = (VIRTUAL_LOSS, byte_loss())
    every = range(1, seeds + 1)
    groups = [(loss, virtual_runs(loss, seed)) for loss in losses for seed in every]
    return fill(bench, groups, True)
