# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is measured: every kind with its arguments, its unit, and its definition.

`from`, `to`: when; default the whole run. `receiver`: a receiver or its group (count > 1); without
it all receivers. Of several receivers or flows the mean counts, or what `over` says. A time that
never comes is infinite; the mean over seeds takes `to` - `event` for it and says how often.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy

from .document import Sequence
from .schema import (
    BAD,
    REQUIRED,
    Flag,
    List,
    Member,
    Name,
    Quantity,
    Word,
)
from .series import NoValue, weighted_quantile


class Flow(Name):
    allowed = "the id of a flow, or of flows with a count"


class MulticastFlow(Flow):
    allowed = "the id of a multicast flow"


class Receiver(Name):
    allowed = "the id of a receiver of the measure's flow"


class Link(Name):
    allowed = "the id of a link"


class Measure(Name):
    allowed = "the id of another measure"


class Variant(Name):
    allowed = "a variant"


class Moment(Quantity):
    """A time of the run."""

    def __init__(self):
        super().__init__("time")


class Moments(List):
    def __init__(self):
        super().__init__(Moment(), 1)


class OneOrMore(List):
    """A list of references, or one."""

    def read(self, node, errors):
        if isinstance(node, Sequence):
            return super().read(node, errors)
        value = self.item.read(node, errors)
        return BAD if value is BAD else [value]


@dataclass
class Kind:
    name: str
    unit: str
    arguments: dict
    function: Callable
    doc: str


KINDS = {}
RATE, TIME, RATIO = (Quantity(dimension, above=True) for dimension in ("rate", "time", "ratio"))
SLOT = {"every": (Quantity("time", 0.1, 3600), 1.0)}
SPAN = {"from": (Moment(), 0.0), "to": (Moment(), None)}
SINK = {
    "flow": (Flow(), REQUIRED),
    "receiver": (Receiver(), None),
    "over": (Word("mean", "min", "max"), "mean"),
}
MULTICAST = {"flow": (MulticastFlow(), REQUIRED)}
STAT = {"stat": (Word("mean", "p50", "p95", "p99", "max"), "p95")}


def kind(unit, **arguments):
    """Registers a function(run, arguments) as a kind; its docstring is the definition."""

    def register(function):
        name = function.__name__.strip("_")
        fields = {}
        for group in arguments.pop("groups", ()):
            fields |= group
        fields |= arguments
        KINDS[name] = Kind(name, unit, fields, function, inspect.cleandoc(function.__doc__))
        return function

    return register


def over(values, how):
    values = [value for value in values if value is not None]
    if not values:
        raise NoValue("nothing arrived")
    return float({"mean": numpy.mean, "min": numpy.min, "max": numpy.max}[how](values))


def rate(run, sink, a):
    return 8 * run.total(sink["bytes"], a["from"], a["to"]) / (a["to"] - a["from"])


def mean_rate(run, a, flow="flow", receiver="receiver"):
    sinks = run.sinks(a[flow], a.get(receiver))
    return over([rate(run, sink, a) for sink in sinks], a.get("over", "mean"))


@kind("rate", groups=(SINK, SPAN))
def throughput(run, a):
    """IP bytes that arrive, in bit/s."""
    return mean_rate(run, a)


@kind("ratio", groups=(SINK, SPAN), fair=(RATE, REQUIRED))
def share(run, a):
    """Throughput / fair."""
    return mean_rate(run, a) / a["fair"]


@kind("ratio", flows=(OneOrMore(Member(), 1), REQUIRED), fair=(RATE, REQUIRED), groups=(SPAN,))
def tcp_share(run, a):
    """Mean throughput of all these flows / fair."""
    rates = [rate(run, sink, a) for member in a["flows"] for sink in sinks_of(run, member)]
    return over(rates, "mean") / a["fair"]


def sinks_of(run, member):
    flow, _, receiver = member.partition("/")
    return run.sinks(flow, receiver or None)


@kind("ratio", groups=(SINK, SPAN), other=(Member(), REQUIRED))
def relative(run, a):
    """Throughput / throughput of `other` (a flow, a group's mean, or FLOW/RECEIVER)."""
    base = over([rate(run, sink, a) for sink in sinks_of(run, a["other"])], "mean")
    if base == 0:
        raise NoValue(f"'{a['other']}' received nothing")
    return mean_rate(run, a) / base


@kind(
    "number",
    flows=(List(Member(), 1), REQUIRED),
    means=(Flag(), False),
    groups=(SPAN,),
)
def jain(run, a):
    """Jain's index (sum x)^2 / (n sum x^2) of the throughputs of all these flows; with `means` a
    group counts as one flow, with its mean."""
    rates = []
    for member in a["flows"]:
        each = [rate(run, sink, a) for sink in sinks_of(run, member)]
        rates += [float(numpy.mean(each))] if a["means"] else each
    x = numpy.array(rates)
    if not x.any():
        raise NoValue("nothing arrived")
    return float(x.sum() ** 2 / (len(x) * (x**2).sum()))


@kind(
    "number", flow=(MulticastFlow(), REQUIRED), flows=(List(Member(), 1), REQUIRED), groups=(SPAN,)
)
def layer_jain(run, a):
    """The highest Jain's index that a fixed level of the flow's layers would have had with the mean
    throughputs of the other flows as they were in this run."""
    targets = [stream["target_bps"][-1][1] for stream in run.sender(a["flow"]).get("streams") or []]
    others = []
    for member in a["flows"]:
        others.append(float(numpy.mean([rate(run, sink, a) for sink in sinks_of(run, member)])))
    if not targets or not any(others):
        raise NoValue("no layers, or nothing arrived")
    sets = [numpy.array([level, *others]) for level in numpy.cumsum(targets)]
    return max(float(x.sum() ** 2 / (len(x) * (x**2).sum())) for x in sets)


@kind("number", groups=(SINK, SPAN, SLOT))
def cov(run, a):
    """Coefficient of variation: standard deviation / mean of the throughput in slots of `every`."""

    def one(sink):
        slots = run.slots(sink["bytes"], a["from"], a["to"], a["every"])
        return float(slots.std() / slots.mean()) if slots.mean() > 0 else None

    return over([one(sink) for sink in run.sinks(a["flow"], a.get("receiver"))], a["over"])


@kind("ratio", groups=(SINK, SPAN))
def loss(run, a):
    """Packets lost / (arrived + lost): a multicast receiver's by its sender's numbers, of TCP and
    UDP those dropped on the way."""

    def one(sink):
        lost = run.total(sink["lost"], a["from"], a["to"])
        packets = run.total(sink["packets"], a["from"], a["to"])
        return lost / (lost + packets) if lost + packets else None

    return over([one(sink) for sink in run.sinks(a["flow"], a.get("receiver"))], a["over"])


@kind("ratio", link=(Link(), REQUIRED), groups=(SPAN,))
def utilisation(run, a):
    """Bytes that left the link / what it could carry, changes of its rate included."""
    link = run.link(a["link"])
    bits, covered = run.steps(link["rate_bps"], a["from"], a["to"])
    if covered == 0 or bits == 0:
        raise NoValue("the link had no rate")
    return 8 * run.total(link["bytes"], a["from"], a["to"]) / bits


def bin_means(run, entry, a):
    """Mean delay of each bin that had packets, and how many it had."""
    first, last = round(a["from"] / run.bin), round(a["to"] / run.bin)
    count = numpy.array(entry["delay_count"][first:last], dtype=float)
    total = numpy.array(entry["delay_sum"][first:last], dtype=float)
    length = min(len(count), len(total))
    count, total = count[:length], total[:length]
    if not count.any():
        raise NoValue("nothing arrived")
    return total[count > 0] / count[count > 0], count[count > 0]


def statistic(run, entry, a):
    """Of the packets' delays; each counts with the mean of its bin."""
    means, count = bin_means(run, entry, a)
    if a["stat"] == "mean":
        return float((means * count).sum() / count.sum())
    if a["stat"] == "max":
        return float(means.max())
    return weighted_quantile(means, count, int(a["stat"][1:]) / 100)


@kind("time", link=(Link(), REQUIRED), groups=(STAT, SPAN))
def queue_delay(run, a):
    """Queueing delay at the link, of its packets. Over the whole run p50, p95, p99 and max are
    exact; else each packet counts with the mean of its 0.1 s."""
    link = run.link(a["link"])
    whole = a["from"] == 0 and a["to"] >= run.duration
    exact = link.get("delays") or {}
    if whole and a["stat"] in exact and any(link["delay_count"]):
        return exact[a["stat"]]
    return statistic(run, link, a)


@kind("time", groups=(SINK, STAT, SPAN))
def delay(run, a):
    """One-way delay of the packets, each with the mean of its 0.1 s."""
    sinks = run.sinks(a["flow"], a.get("receiver"))
    return over([statistic(run, sink, a) for sink in sinks], a["over"])


@kind("time", groups=(SINK, SPAN))
def jitter(run, a):
    """Mean difference between the mean delays of successive 0.1 s (RFC 3550's looks at successive
    packets: smaller)."""

    def one(sink):
        means, _ = bin_means(run, sink, a)
        return float(numpy.abs(numpy.diff(means)).mean()) if len(means) > 1 else None

    return over([one(sink) for sink in run.sinks(a["flow"], a.get("receiver"))], a["over"])


def extreme(run, a, pick):
    sinks = run.sinks(a["flow"], a.get("receiver"))
    slots = [run.slots(sink["bytes"], a["from"], a["to"], a["every"]) for sink in sinks]
    return 8 * over([float(pick(each)) for each in slots], a["over"]) / a["every"]


@kind("rate", groups=(SINK, SPAN, SLOT))
def min_rate(run, a):
    """Lowest throughput of a slot of `every` seconds."""
    return extreme(run, a, numpy.min)


@kind("rate", groups=(SINK, SPAN, SLOT))
def max_rate(run, a):
    """Highest throughput of a slot of `every` seconds."""
    return extreme(run, a, numpy.max)


@kind("rate", groups=(MULTICAST, SPAN))
def sent(run, a):
    """IP bytes that the sender sends, in bit/s."""
    return 8 * run.total(run.sent(a["flow"]), a["from"], a["to"]) / (a["to"] - a["from"])


RANGE = {
    "value": (RATE, REQUIRED),
    "within": (Quantity("ratio", 0, 1), 0.1),
    "side": (Word("both", "above", "below"), "both"),
}
EVENT = {"event": (Moment(), 0.0), "to": (Moment(), None)}


ROUNDING = 1e-9


def inside(run, values, a):
    """Ends of the windows of `every` seconds that begin at the event or later, as times from the
    event, and whether each is as wanted."""
    times, sums = run.trailing(values, a["event"], a["to"], a["every"])
    if not len(times):
        raise NoValue(f"no whole {a['every']:g} s from {a['event']:g} s on")
    rates = 8 * sums / a["every"]
    good = numpy.ones(len(times), dtype=bool)
    if a["side"] != "below":
        good &= rates >= a["value"] * (1 - a["within"]) * (1 - ROUNDING)
    if a["side"] != "above":
        good &= rates <= a["value"] * (1 + a["within"]) * (1 + ROUNDING)
    return times - a["event"], good


def first_time(run, values, a):
    if a.get("crossing") and a["event"] >= a["every"]:
        before = {"event": a["event"] - a["every"], "to": a["event"]}
        if inside(run, values, a | before)[1].any():
            return None
    times, good = inside(run, values, a)
    return float(times[good.argmax()]) if good.any() else math.inf


@kind("time", groups=(SINK, EVENT, RANGE, SLOT), crossing=(Flag(), False))
def reach(run, a):
    """Time from `event` (0 s) to the end of the first window of `every` seconds in which the
    throughput is `within` x % of `value`; `side: above`: that or more, `below`: that or less;
    `crossing`: of those only for which the window before the event was not so."""
    sinks = run.sinks(a["flow"], a.get("receiver"))
    return over([first_time(run, sink["bytes"], a) for sink in sinks], a["over"])


@kind("time", groups=(SINK, EVENT, RANGE, SLOT))
def settle(run, a):
    """As reach, of the first window from which on it stays so until `to`."""

    def one(sink):
        times, good = inside(run, sink["bytes"], a)
        if not good[-1]:
            return math.inf
        wrong = numpy.flatnonzero(~good)
        return float(times[wrong[-1] + 1 if len(wrong) else 0])

    return over([one(sink) for sink in run.sinks(a["flow"], a.get("receiver"))], a["over"])


@kind(
    "time",
    groups=(MULTICAST, EVENT),
    below=(RATE, REQUIRED),
    every=(Quantity("time", 0.1, 3600), 0.5),
)
def reaction(run, a):
    """Time from `event` to the end of the first window of `every` seconds in which at most `below`
    is sent."""
    limits = {"value": a["below"], "within": 0.0, "side": "below"}
    return first_time(run, run.sent(a["flow"]), a | limits)


@kind(
    "ratio",
    groups=(MULTICAST, SLOT),
    event=(Moment(), REQUIRED),
    before=(TIME, 5.0),
    after=(TIME, 10.0),
)
def dent(run, a):
    """1 - lowest slot of `every` sent in the `after` seconds from `event` / mean of the `before`
    seconds before it; 0 when nothing fell."""
    begin, end = a["event"] - a["before"], a["event"] + a["after"]
    if begin < 0 or end > run.duration + 1e-9:
        raise NoValue("the run does not hold the time around the event")
    base = run.total(run.sent(a["flow"]), begin, a["event"]) / a["before"]
    if base == 0:
        raise NoValue("nothing was sent before the event")
    slots = run.slots(run.sent(a["flow"]), a["event"], end, a["every"]) / a["every"]
    return max(0.0, 1 - float(slots.min()) / base)


@kind("ratio", groups=(MULTICAST, SPAN))
def control_share(run, a):
    """Control bytes of the sender and of all receivers / (those + media bytes sent)."""
    window = a["from"], a["to"]
    sender = run.sender(a["flow"])
    media = run.total(sender["bytes"], *window)
    told = run.total(sender["control_bytes"], *window)
    others = run.senders(a["flow"])[0].get("others")  # of large groups
    for sink in [*run.sinks(a["flow"]), *([others] if others else [])]:
        told += run.total(sink["control_bytes"], *window)
    if media + told == 0:
        raise NoValue("nothing was sent")
    return told / (media + told)


@kind("number", groups=(MULTICAST, SPAN))
def report_rate(run, a):
    """Feedback packets that reach the sender, a second."""
    arrived = run.sender(a["flow"])["reports"]
    return run.total(arrived, a["from"], a["to"]) / (a["to"] - a["from"])


@kind(
    "number",
    groups=(MULTICAST,),
    events=(Moments(), REQUIRED),
    within=(TIME, 1.0),
    before=(TIME, 10.0),
)
def reports_per_event(run, a):
    """Feedback packets that reach the sender `within` so long after an event, above what came in
    as long a time `before` it; mean over the events."""
    arrived = run.sender(a["flow"])["reports"]
    counts = []
    for event in a["events"]:
        if event + a["within"] > run.duration + 1e-9:
            continue
        before = min(a["before"], event)
        usual = run.total(arrived, event - before, event) / before if before else 0.0
        after = run.total(arrived, event, event + a["within"])
        counts.append(max(0.0, after - usual * a["within"]))
    return over(counts, "mean")


def tcp_rate(p, rtt, segment):
    """PFTK with t_RTO = 4 RTT and b = 1 (ASMP eq. 12, RFC 5348 3.1), bit/s."""
    root = rtt * math.sqrt(2 * p / 3)
    timeout = 4 * rtt * min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
    return 8 * segment / (root + timeout)


@kind(
    "ratio",
    groups=(SINK, SPAN),
    p=(Quantity("ratio", 0, 1, above=True), REQUIRED),
    rtt=(TIME, REQUIRED),
    segment=(Quantity("size", above=True), 1000),
)
def model_ratio(run, a):
    """Throughput / the TCP equation's rate for this loss, RTT and segment (b = 1)."""
    return mean_rate(run, a) / tcp_rate(a["p"], a["rtt"], a["segment"])


@kind("ratio", groups=(MULTICAST, SPAN), receiver=(Receiver(), REQUIRED))
def limiting(run, a):
    """Share of the window in which this receiver (or one of its group) limits the sender."""
    sinks = run.flows[a["flow"]].get("receivers", {})
    names = {name for name, sink in sinks.items() if a["receiver"] in (name, sink["group"])}
    pairs = run.sender(a["flow"])["limiting"]
    area, _ = run.steps([(t, float(who in names)) for t, who in pairs], a["from"], a["to"])
    return area / (a["to"] - a["from"])


def estimate(run, a, field):
    def one(sink):
        area, covered = run.steps(sink.get(field, []), a["from"], a["to"])
        return area / covered if covered else None

    return over([one(sink) for sink in run.sinks(a["flow"], a.get("receiver"))], a["over"])


@kind("rate", groups=(SINK, SPAN))
def estimated_rate(run, a):
    """The receiver's own estimate of its rate, mean over time."""
    return estimate(run, a, "rate_bps")


@kind("ratio", groups=(SINK, SPAN))
def estimated_loss(run, a):
    """The receiver's own loss (event) rate, mean over time."""
    return estimate(run, a, "loss_ratio")


@kind("time", groups=(SINK, SPAN))
def estimated_rtt(run, a):
    """The receiver's own estimate of its RTT, mean over time."""
    return estimate(run, a, "rtt")


@kind("ratio", link=(Link(), REQUIRED), groups=(SPAN,))
def marks(run, a):
    """Packets marked (ECN) / packets that left the link."""
    link = run.link(a["link"])
    packets = run.total(link["packets"], a["from"], a["to"])
    return run.total(link["marks"], a["from"], a["to"]) / packets if packets else None


@kind("ratio", link=(Link(), REQUIRED), groups=(SPAN,))
def drops(run, a):
    """Packets dropped by the link's queue / (those + packets that left)."""
    link, window = run.link(a["link"]), (a["from"], a["to"])
    lost = run.total(link["queue_drops"], *window)
    packets = lost + run.total(link["packets"], *window)
    return lost / packets if packets else None


def carried_bytes(run, a):
    """Per bin, the media of a flow's streams or layers that left a link: all groups but RTCP's."""
    number = run.senders(a["flow"])[0].get("number")
    groups = run.link(a["link"]).get("multicast") or {}
    out = numpy.zeros(0)
    for name, values in groups.items():
        flow, group = (int(part) for part in name.split("/"))
        if flow != number or group == 0:
            continue
        out = numpy.pad(out, (0, max(0, len(values) - len(out))))
        out[: len(values)] += values
    if number is None or not out.any():
        raise NoValue("the link has carried no streams")
    return out


@kind("rate", link=(Link(), REQUIRED), groups=(MULTICAST, SPAN))
def carried(run, a):
    """Media of the flow's streams or layers that leaves the link, in bit/s."""
    return 8 * run.total(carried_bytes(run, a), a["from"], a["to"]) / (a["to"] - a["from"])


def bins_in(run, pairs, level, count):
    """Of @count bins, whether the step function has the value @level at their middle."""
    if not pairs:
        return numpy.zeros(count, dtype=bool)
    middles = run.bin * (numpy.arange(count) + 0.5)
    index = numpy.searchsorted([t for t, _ in pairs], middles) - 1
    values = numpy.array([value for _, value in pairs])
    return (index >= 0) & (values[numpy.maximum(index, 0)] == level)


@kind("ratio", link=(Link(), REQUIRED), groups=(MULTICAST, SPAN))
def trunk(run, a):
    """Media of the flow's streams that leaves the link / what is sent of the streams that have a
    receiver: somebody who shows it (simulcast; with layers, of those up to the highest one's)."""
    entry = run.senders(a["flow"])[0]
    streams = run.sender(a["flow"]).get("streams") or []
    wanted = 0.0
    layered = run.result["variant"] == "smcc"
    for number, stream in enumerate(streams):
        values = stream["bytes"]
        shown = numpy.zeros(len(values), dtype=bool)
        for sink in entry["receivers"].values():
            levels = range(number, len(streams)) if layered else (number,)
            for level in levels:
                shown |= bins_in(run, sink.get("stream"), level, len(values))
        wanted += run.total(values * shown, a["from"], a["to"])
    if wanted == 0:
        raise NoValue("nobody shows a stream")
    return run.total(carried_bytes(run, a), a["from"], a["to"]) / wanted


def of_streams(run, a, function):
    """@function of each receiver that is in one of several streams."""
    sinks = [sink for sink in run.sinks(a["flow"], a.get("receiver")) if sink.get("stream")]
    return over([function(sink) for sink in sinks], a["over"])


def changes_of(sink, a):
    """Changes of stream, attempts that failed included, after the first."""
    inside_ = [change for change in sink["switches"] if a["from"] <= change[0] < a["to"]]
    return [change for change in inside_ if change[3] != "start"]


@kind("number", groups=(SINK, SPAN))
def switches(run, a):
    """Changes of stream or layer of a receiver, attempts that failed included."""
    return of_streams(run, a, lambda sink: float(len(changes_of(sink, a))))


@kind("number", groups=(SINK, SPAN))
def switch_rate(run, a):
    """... a minute."""
    minutes = (a["to"] - a["from"]) / 60
    return of_streams(run, a, lambda sink: len(changes_of(sink, a)) / minutes)


@kind("time", groups=(SINK, SPAN))
def switch_time(run, a):
    """From the decision to change the stream to the cut; mean over a receiver's changes."""

    def one(sink):
        times = [change[4] for change in changes_of(sink, a) if change[3] != "failed"]
        return float(numpy.mean(times)) if times else None

    return of_streams(run, a, one)


@kind("time", groups=(SINK, EVENT))
def moved(run, a):
    """Time from `event` to a receiver's first decision to change the stream or layer that it went
    through with."""

    def one(sink):
        made = [change for change in sink["switches"] if change[3] not in ("start", "failed")]
        later = [t - took for t, *_, took in made if a["event"] <= t - took < a["to"]]
        return min(later) - a["event"] if later else math.inf

    return of_streams(run, a, one)


@kind("number", groups=(SINK, SPAN))
def level(run, a):
    """The stream that is shown, or the highest layer, from 1 on; mean over time. Numbers of a live
    ladder are in no order."""

    def one(sink):
        shown = [(t, float(value + 1) if value >= 0 else 0.0) for t, value in sink["stream"]]
        any_ = [(t, float(value >= 0)) for t, value in sink["stream"]]
        area, _ = run.steps(shown, a["from"], a["to"])
        time, _ = run.steps(any_, a["from"], a["to"])
        return area / time if time else None

    return of_streams(run, a, one)


@kind("ratio", groups=(SINK, SPAN))
def unshown(run, a):
    """Share of the time in which nothing new is shown, as the old stream is left and the new one
    not cut over to."""

    def one(sink):
        missing = [(t, float(value < 0)) for t, value in sink["stream"]]
        area, covered = run.steps(missing, a["from"], a["to"])
        return area / covered if covered else None

    return of_streams(run, a, one)


@kind("ratio", groups=(SINK, SPAN))
def frame_loss(run, a):
    """Frames (25 a second) of which a packet was lost / all frames; without what a decoder makes
    of it."""

    def one(sink):
        frames = run.total(sink["frames"], a["from"], a["to"])
        damaged = run.total(sink["frames_damaged"], a["from"], a["to"])
        return damaged / frames if frames else None

    return of_streams(run, a, one)


@kind("number", measure=(Measure(), REQUIRED), variant=(Variant(), REQUIRED))
def versus(_run, _a):
    """Another measure's value / its value in `variant`, seed by seed: smoothness of two variants,
    say."""
    raise NoValue("needs the runs of two variants")


def evaluate(run, what, arguments):
    """The value of one measure in one run; None where there is none (the reason is lost)."""
    try:
        return KINDS[what].function(run, arguments)
    except NoValue:
        return None


__all__ = ["KINDS", "Kind", "evaluate", "tcp_rate"]
