# SPDX-License-Identifier: LGPL-2.1-or-later
"""The emulator's trace of every packet as a result of the laboratory (tests/sim/README.md)."""

import itertools
import math

import numpy

BIN = 0.1
RECORD = numpy.dtype(
    [
        ("time_ns", "=u8"),
        ("value_us", "=u4"),
        ("source", "=u4"),
        ("destination", "=u4"),
        ("source_port", "=u2"),
        ("destination_port", "=u2"),
        ("bytes", "=u2"),
        ("where", "=u2"),
        ("what", "u1"),
        ("protocol", "u1"),
        ("tos", "u1"),
        ("version", "u1"),
    ]
)
# EmuSeen of emulink.h
ENTERED, DELIVERED, LEFT, DROP_QUEUE, DROP_LOSS, DROP_DOWN, MARKED = range(7)
DROPS = (DROP_QUEUE, DROP_LOSS, DROP_DOWN)
UDP = 17


def number(address):
    """10.90.0.1 as the record has it."""
    out = 0
    for part in address.split("."):
        out = out << 8 | int(part)
    return out


class Trace:
    """The records of a run. @start: the scenario's zero on the emulator's clock, s."""

    def __init__(self, path, start, duration):
        rows = numpy.fromfile(path, dtype=RECORD)
        self.time = rows["time_ns"] * 1e-9 - start
        inside = (self.time >= 0) & (self.time < duration) & (rows["version"] == 4)
        self.rows, self.time = rows[inside], self.time[inside]
        self.duration = duration
        self.bins = int(round(duration / BIN))

    def pick(self, what, **equal):
        """Which records are of the kind(s) @what with these fields, as indices."""
        kinds = what if isinstance(what, tuple) else (what,)
        chosen = numpy.isin(self.rows["what"], kinds)
        for key, value in equal.items():
            chosen &= self.rows[key] == value
        return numpy.flatnonzero(chosen)

    def sums(self, chosen, values=None):
        """Per bin, of @values (1 each)."""
        bins = numpy.minimum((self.time[chosen] / BIN).astype(int), self.bins - 1)
        weights = None if values is None else numpy.asarray(values, dtype=float)
        return trimmed(numpy.bincount(bins, weights=weights, minlength=self.bins))

    def arrivals(self, chosen):
        """The arrays that every receiver of a result has."""
        delays = self.rows["value_us"][chosen] * 1e-6
        return {
            "bytes": self.sums(chosen, self.rows["bytes"][chosen]),
            "packets": self.sums(chosen),
            "delay_sum": self.sums(chosen, delays),
            "delay_count": self.sums(chosen),
        }


def trimmed(values):
    """As a list without the zeros at its end; whole numbers without their point."""
    last = numpy.flatnonzero(values)
    out = values[: last[-1] + 1 if len(last) else 0]
    return [int(v) if v == int(v) else round(float(v), 7) for v in out]


def awaited(steps):
    """[time, stream or -1] with the next stream in the place of each -1."""
    out = []
    for at, stream in reversed(steps):
        if out and stream < 0:
            out[-1][0] = at
            continue
        out.append([at, stream])
    return out[::-1]


def paths(place):
    """receiver's host number -> the directed links from anywhere to it: for drops on the way."""
    links = place.given["links"]
    neighbours = {}
    for index, link in enumerate(links):
        neighbours.setdefault(link["from"], []).append((link["to"], 2 * index))
        neighbours.setdefault(link["to"], []).append((link["from"], 2 * index + 1))
    towards = {}  # router -> directed links that lead to it
    for target in neighbours:
        found, todo, seen = set(), [target], {target}
        while todo:
            here = todo.pop()
            for other, direction in neighbours[here]:
                if other not in seen:
                    found.add(direction ^ 1)  # from the other one to here
                    seen.add(other)
                    todo.append(other)
        towards[target] = found
    out = {}
    for host in place.hosts:
        own = 2 * (len(links) + host.number) + 1  # its access, from the router
        out[host.number] = {*towards[host.router], own}
    return out


class Media:
    """The media packets of a multicast flow: of one group, or of one for each stream or layer."""

    def __init__(self, trace, flow, told):
        self.trace, self.cumulative = trace, told.get("cumulative", False)
        port = flow["port"] if told["control_port"] else None
        groups = told.get("media") or [(flow["group_address"], port)]
        self.groups = [(number(address), port) for address, port in groups]
        self.same = {"source": number(flow["sender"].address), "protocol": UDP}

    def pick(self, what, **equal):
        """Which records, as indices, and of which group each."""
        chosen = self.trace.pick(what, **self.same, **equal)
        rows = self.trace.rows[chosen]
        of = numpy.full(len(chosen), -1)
        for index, (address, port) in enumerate(self.groups):
            fits = rows["destination"] == address
            of[fits & (port is None or rows["destination_port"] == port)] = index
        return chosen[of >= 0], of[of >= 0]

    def apart(self, what, host):
        """... of each group."""
        chosen, of = self.pick(what, where=host.number)
        return [chosen[of == index] for index in range(len(self.groups))]

    def after_the_first(self, dropped, got, own):
        """Which of these drops came after the first packet of the stream that was waited for.

        What is lost before may be before the join took effect, as at the beginning.
        """
        keep = numpy.ones(len(dropped), dtype=bool)
        if len(self.groups) == 1 or self.cumulative:
            return keep
        when, ends = self.trace.time[dropped], [t for t, _ in awaited(own.get("stream") or [])]
        sent = self.trace.time[got] - self.trace.rows["value_us"][got] * 1e-6
        for begin, end in itertools.pairwise([*ends, math.inf]):
            first = sent[sent >= begin].min(initial=math.inf)
            keep &= (when < begin) | (when >= min(first, end))
        return keep

    def taken(self, chosen, of, own):
        """Which of these the receiver had at that time: the stream shown, or layers up to its.

        While none is shown it is the one that is waited for, as in the laboratory.
        """
        if len(self.groups) == 1:
            return numpy.ones(len(chosen), dtype=bool)
        steps = awaited(own.get("stream") or [[0.0, -1]])
        index = numpy.searchsorted([t for t, _ in steps], self.trace.time[chosen], "right") - 1
        level = numpy.where(index >= 0, numpy.array([v for _, v in steps])[index], -1)
        return of <= level if self.cumulative else of == level


def flow_result(trace, place, flow, ways, told):
    sender = number(flow["sender"].address)
    if flow["type"] != "multicast":
        protocol = 6 if flow["type"] == "tcp" else UDP
        same = {"source": sender, "destination_port": flow["port"], "protocol": protocol}
        out = {"kind": flow["type"], "group": flow["group"]}
        got = trace.pick(DELIVERED, where=flow["receiver"].number, **same)
        out |= trace.arrivals(got)
        out["lost"] = trace.sums(trace.pick(DROPS, **same))
        return out
    media = Media(trace, flow, told)
    sent, _ = media.pick(ENTERED, where=flow["sender"].number)
    all_sent = trace.pick(ENTERED, where=flow["sender"].number, protocol=UDP)
    answers = trace.pick(DELIVERED, where=flow["sender"].number, protocol=UDP)
    everything = trace.sums(all_sent, trace.rows["bytes"][all_sent])
    media_bytes = trace.sums(sent, trace.rows["bytes"][sent])
    control = numpy.zeros(trace.bins)
    control[: len(everything)] += everything
    control[: len(media_bytes)] -= media_bytes
    out = {
        "kind": "multicast",
        "group": flow["id"],
        "number": flow["number"],
        "sender": {
            "bytes": media_bytes,
            "packets": trace.sums(sent),
            "control_bytes": trimmed(control),
            "reports": trace.sums(answers),
            "target_bps": told["target_bps"],
            "limiting": told["limiting"],
        },
        "receivers": {},
    }
    if told.get("streams"):
        out["sender"]["streams"] = told["streams"]
        for entry, chosen in zip(
            told["streams"], media.apart(ENTERED, flow["sender"]), strict=True
        ):
            entry["bytes"] = trace.sums(chosen, trace.rows["bytes"][chosen])
    dropped, of = media.pick(DROPS)
    for receiver in flow["receivers"]:
        host = receiver["host"]
        own = told["receivers"].get(receiver["id"], {})
        got, got_of = media.pick(DELIVERED, where=host.number)
        got = got[media.taken(got, got_of, own)]
        on_the_way = numpy.isin(trace.rows["where"][dropped], list(ways[host.number]))
        on_the_way = dropped[on_the_way & media.taken(dropped, of, own)]
        on_the_way = on_the_way[media.after_the_first(on_the_way, got, own)]
        member = numpy.zeros(len(on_the_way), dtype=bool)
        for begin, end in receiver["times"]:
            # What is lost before the first packet that came may be before the join took effect.
            inside = (trace.time[got] >= begin) & (trace.time[got] < end)
            first = trace.time[got][inside].min() if inside.any() else begin
            when = trace.time[on_the_way]
            member |= (when >= first) & (when < end)
        spoke = trace.pick(ENTERED, where=host.number, protocol=UDP)
        sink = {"group": receiver["group"]} | trace.arrivals(got)
        sink["lost"] = trace.sums(on_the_way[member])
        sink["control_bytes"] = trace.sums(spoke, trace.rows["bytes"][spoke])
        sink["reports"] = trace.sums(spoke)
        sink |= {"rate_bps": [], "loss_ratio": [], "rtt": []}
        sink["member"] = [
            [t, on] for pair in receiver["times"] for t, on in zip(pair, (1, 0), strict=True)
        ]
        sink |= own
        out["receivers"][receiver["id"]] = sink
    return out


def link_result(trace, place, index, link, media):
    """@media: flow number -> its Media."""
    direction = 2 * index
    left = trace.pick(LEFT, where=direction)
    waited = trace.rows["value_us"][left] * 1e-6
    out = {
        "rate_bps": place.rates(link),
        "bytes": trace.sums(left, trace.rows["bytes"][left]),
        "packets": trace.sums(left),
        "queue_drops": trace.sums(trace.pick(DROP_QUEUE, where=direction)),
        "random_drops": trace.sums(trace.pick(DROP_LOSS, where=direction)),
        "marks": trace.sums(trace.pick(MARKED, where=direction)),
        "delay_sum": trace.sums(left, waited),
        "delay_count": trace.sums(left),
        "delays": {},
        "multicast": {},
    }
    for flow, own in media.items():
        if len(own.groups) > 1:
            chosen, of = own.pick(LEFT, where=direction)
            for group in numpy.unique(of):
                ours = chosen[of == group]
                values = trace.sums(ours, trace.rows["bytes"][ours])
                out["multicast"][f"{flow}/{group + 1}"] = values  # 0 is RTCP's
    if len(waited):
        for name, quantile in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
            out["delays"][name] = round(float(numpy.quantile(waited, quantile)), 6)
    return out


def result(trace, place, told, variant):
    """@told: flow -> what its programs said of themselves (rivals.Program.told())."""
    given, ways = place.given, paths(place)
    out = {"scenario": given["id"], "variant": variant, "seed": given["seed"]}
    out |= {"duration": float(given["duration"]), "bin": BIN, "flows": {}, "links": {}}
    media = {}
    for flow in place.flows:
        own = told.get(flow["id"])
        if flow["type"] == "multicast":
            media[flow["number"]] = Media(trace, flow, own)
        out["flows"][flow["id"]] = flow_result(trace, place, flow, ways, own)
    for index, link in enumerate(given["links"]):
        out["links"][link["id"]] = link_result(trace, place, index, link, media)
    return out
