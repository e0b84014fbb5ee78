# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loads a scenario: shape and units (sections), then what must fit together (this file)."""

import math
import os
from dataclasses import dataclass, field

from . import document, measure, sections
from .document import Errors, choose
from .schema import BAD, Items


@dataclass
class Scenario:
    path: str
    data: dict  # SI values, Records with lines
    packets: list = field(default_factory=list)  # FLOW/RECEIVER: traces that are asked for
    cell: object = None  # of a grid (grid.py)

    @property
    def id(self):
        return self.data["id"]

    def variant(self, name):
        for variant in self.data["variants"]:
            if variant["id"] == name:
                return variant
        if name in sections.WORDS or name == sections.CONTROL:
            return {"id": name, "protocol": name, "options": {}}
        raise KeyError(name)


def load(path):
    """The scenario in @path, or raises Errors."""
    errors = Errors(os.fspath(path))
    return check(document.read(path, errors), errors)


def check(root, errors):
    """The scenario of @root, the document of @errors' file, or raises those."""
    data = sections.SCENARIO.read(root, errors)
    if data is not BAD:
        Check(data, errors).all()
    if errors.found:
        raise errors
    return Scenario(errors.path, data)


class Check:
    """What sections cannot see: ids, references, times, the tree. Bad values are absent."""

    def __init__(self, data, errors):
        self.data, self.errors = data, errors
        self.duration = data.get("duration")
        self.links = data.get("links") or []
        self.flows = data.get("flows") or []
        self.measures = data.get("measures") or []
        self.variants = [v for v in data.get("variants") or [] if "id" in v]
        self.holes = set()
        for key, what in (
            ("links", "link"),
            ("links", "router"),
            ("flows", "flow"),
            ("measures", "measure"),
            ("measures", "variant"),
            ("variants", "variant"),
        ):
            entries = data.get(key, BAD if key in data.lines else ())
            bad = entries is BAD or getattr(entries, "holes", False)
            if bad or any("id" not in entry for entry in entries):
                self.holes.add(what)

    def say(self, record, key, what):
        self.errors.add(record.at(key), what)

    def all(self):
        self.variant_ids = self.unique(self.variants, "variant")
        self.link_ids = self.unique(self.links, "link")
        self.measure_ids = self.unique(self.measures, "measure")
        self.flow_ids()
        self.network()
        for link in self.links:
            self.queue(link)
            self.queue(link.get("reverse") or {})
        for flow in self.flows:
            self.flow(flow)
        self.changes()
        for entry in self.measures:
            self.measure(entry)
        for plot in self.data.get("plots") or []:
            self.plot(plot)
        self.smoke()
        self.options(self.variants, lambda v: [v.get("protocol")])

    def unique(self, records, what):
        lines = {}
        for record in records:
            name = record.get("id")
            if name in lines:
                self.say(record, "id", f"the {what} '{name}' exists already (line {lines[name]})")
            elif name is not None:
                lines[name] = record.at("id")
        return lines

    def reference(self, line, name, known, what):
        """Whether @name is known; no word when it may be one that was bad itself."""
        if name is not None and name not in known and what.split()[0] in self.holes:
            return False
        if name is not None and name not in known:
            self.errors.add(line, f"no {what} is called '{name}'; {choose(name, known)}")
            return False
        return name is not None

    # Ids of flows and receivers, with what their counts expand to.
    def flow_ids(self):
        lines, self.by_id, self.receivers = {}, {}, {}

        def claim(record, seen, what):
            name = record.get("id")
            if name is None:
                return
            count = record.get("count", 1)
            names = [name] + [f"{name}-{i + 1}" for i in range(count if count > 1 else 0)]
            taken = next((n for n in names if n in seen), None)
            if taken:
                self.say(record, "id", f"the {what} '{taken}' exists already (line {seen[taken]})")
            for each in names:
                seen.setdefault(each, record.at("id"))

        for flow in self.flows:
            claim(flow, lines, "flow")
            if "id" not in flow:
                continue
            count = flow.get("count", 1)
            for name in [flow["id"]] + [f"{flow['id']}-{i + 1}" for i in range(count)]:
                self.by_id.setdefault(name, flow)
            if count == 1:
                self.by_id.pop(f"{flow['id']}-1", None)
            names = {}
            receivers = flow.get("receivers", BAD if flow["type"] == "multicast" else Items(0))
            if receivers is BAD or receivers.holes or any("id" not in r for r in receivers):
                self.holes.add("receiver")
            for receiver in [] if receivers is BAD else receivers:
                claim(receiver, names, "receiver")
            self.receivers[flow["id"]] = names

    def network(self):
        """Links form one tree; everybody is at a router of it."""
        parent = {}

        def root(name):
            while parent[name] != name:
                name = parent[name]
            return name

        for link in self.links:
            ends = link.get("from"), link.get("to")
            if None in ends:
                continue
            for end in ends:
                parent.setdefault(end, end)
            a, b = (root(end) for end in ends)
            if a == b:
                self.errors.add(
                    link.line,
                    f"the link {ends[0]} - {ends[1]} closes a loop; the links must form a tree",
                )
            parent[a] = b
        groups = {}
        for name in parent:
            groups.setdefault(root(name), []).append(name)
        if len(groups) > 1:
            parts = "; ".join(", ".join(sorted(names)) for names in groups.values())
            self.errors.add(
                self.data.at("links"), f"the links form {len(groups)} trees ({parts}), not one"
            )
        self.places(set(parent))

    def places(self, routers):
        if self.data.get("network") == "light":
            if self.links:
                self.say(self.data, "links", "the light network is a star and has no links")
            return  # any name will do
        if not self.links:
            first = next((f["from"] for f in self.flows if "from" in f), None)
            routers = {first} if first else set()
        if not routers:
            return
        for flow in self.flows:
            for key in ("from", "to"):
                if flow.get(key) is not None:
                    self.reference(flow.at(key), flow[key], routers, "router")
            if flow.get("type") != "multicast" and flow.get("from") is not None:
                if flow.get("from") == flow.get("to") and self.links:
                    self.say(flow, "to", "the flow ends where it starts; another router is allowed")
            for receiver in flow.get("receivers") or []:
                if receiver.get("at") is not None:
                    self.reference(receiver.at("at"), receiver["at"], routers, "router")

    def queue(self, link):
        queue = link.get("queue")
        if queue is None or not hasattr(queue, "at"):
            return
        given = [key for key in ("size", "min", "max") if key in queue]
        bdp = [key for key in given if queue[key][0] == "bdp"]
        if bdp and "bdp_rtt" not in queue:
            self.say(queue, bdp[0], "'bdp' needs 'bdp_rtt', the round-trip time that is meant")
        if "bdp_rtt" in queue and not bdp:
            self.say(queue, "bdp_rtt", "'bdp_rtt' is of use only with a size in bdp")
        kinds = {"packets" if queue[key][0] == "packets" else "bytes" for key in given}
        if len(kinds) > 1:
            self.say(queue, given[-1], "size, min and max are all in packets, or none is")
        elif len({queue[key][0] for key in given}) == 1:
            order = [queue[key][1] for key in ("min", "max", "size") if key in queue]
            if order != sorted(order):
                self.errors.add(queue.line, "min <= max <= size is needed")

    def within(self, record, key, line=None, value=None):
        """A time of the run."""
        value = record.get(key) if value is None else value
        if value is None or self.duration is None:
            return
        late = max(value) if isinstance(value, list) else value
        if late > self.duration:
            self.errors.add(
                line or record.at(key),
                f"'{key}' is after the end; at most {self.duration:g} s (duration) is allowed",
            )

    def order(self, record, first, second):
        a, b = record.get(first), record.get(second)
        if a is None or b is None:
            return
        if (max(a) if isinstance(a, list) else a) >= (min(b) if isinstance(b, list) else b):
            self.say(record, second, f"'{second}' must be later than '{first}'")

    def flow(self, flow):
        for key in ("start", "stop"):
            self.within(flow, key)
        self.order(flow, "start", "stop")
        self.again(flow, "stop")
        network = self.data.get("network")
        if network == "light" and flow.get("type") in ("tcp", "udp"):
            self.say(flow, "type", "the light network has no cross traffic; multicast is allowed")
        if flow.get("type") != "multicast":
            return
        rates = [flow.get(key) for key in ("min_rate", "start_rate", "max_rate")]
        if None not in rates and rates != sorted(rates):
            self.errors.add(flow.line, "min_rate <= start_rate <= max_rate is needed")
        self.streams(flow)
        self.layers(flow)
        self.options([flow], self.protocols)
        for receiver in flow.get("receivers") or []:
            self.receiver(receiver)

    def streams(self, flow):
        """A ladder: in order, without overlaps."""
        ladder = flow.get("streams") or ()
        if len(ladder) > sections.STREAMS_MAX:
            self.say(flow, "streams", f"at most {sections.STREAMS_MAX} streams are allowed")
        for one, other in zip(ladder, ladder[1:], strict=False):
            if other[0] < one[1]:
                self.say(flow, "streams", "streams are in order and do not overlap")

    def protocols(self, flow):
        """What the flow runs: its own protocol, or each variant's."""
        if "protocol" in flow:
            return [flow["protocol"]]
        return [variant.get("protocol") for variant in self.variants]

    def layers(self, flow):
        """Cumulative rates rise, and nothing but ELM and RLC can send them."""
        rates = flow.get("layers") or ()
        if len(rates) > sections.LAYERS_MAX:
            self.say(flow, "layers", f"at most {sections.LAYERS_MAX} layers are allowed")
        if any(one >= other for one, other in zip(rates, rates[1:], strict=False)):
            self.say(flow, "layers", "the rates of layers are cumulative and must rise")
        source = (flow.get("source") or {}).get("type")
        if rates and source == "video":
            self.say(flow, "layers", "layers have a 'cbr' or a 'pictures' source")
        if source == "pictures" and not rates:
            self.say(flow, "source", "'pictures' are of layers, and this flow has none")
        both = bool(rates and flow.get("streams"))
        able = (*sections.LAYERED, "asmp", "elm", sections.CONTROL)
        for name in self.protocols(flow):
            if both and name in ("published", "enhanced"):
                self.say(
                    flow,
                    "layers",
                    f"'streams' or 'layers', not both, for '{name}'; asmp, assp and elm say which",
                )
            elif rates and not both and name is not None and name not in able:
                allowed = ", ".join(able)
                self.say(flow, "layers", f"'{name}' has no layers; {allowed} are allowed")
            needs = sections.SENDS.get(name)
            if needs and name != "smcc" and not flow.get(needs):
                self.say(flow, "id", f"'{name}' needs '{needs}'")

    def receiver(self, receiver):
        for key in ("join", "leave", "crash"):
            self.within(receiver, key)
        if receiver.get("join_spread") and receiver.get("join") is not None:
            end = receiver["join"] + receiver["join_spread"]
            self.within(receiver, "join_spread", None, end)
            first = min(receiver.get(key, math.inf) for key in ("leave", "crash"))
            if end >= first:
                self.say(receiver, "join_spread", f"some would join after {first:g} s")
        self.order(receiver, "join", "leave")
        self.order(receiver, "join", "crash")
        if "leave" in receiver and "crash" in receiver:
            self.say(receiver, "crash", "'leave' or 'crash', not both")
        if receiver.get("again") and "crash" in receiver:
            self.say(receiver, "again", "a receiver that has crashed does not come again")
        if "loss" in receiver and "loss" in (receiver.get("access") or ()):
            self.say(receiver, "loss", "'loss' stands in 'access' already")
        self.again(receiver, "leave")

    def again(self, record, end):
        """Further pairs of times, in order, after @end."""
        again = record.get("again")
        if not again:
            return
        last = record.get(end)
        if end not in record.lines:
            self.say(record, "again", f"'again' needs a '{end}' before it")
        for (begin, until), line in zip(again, again.lines, strict=True):
            if last is not None and begin <= last:
                self.errors.add(line, f"must begin after the '{end}' at {last:g} s")
            self.within(record, "again", line, until)
            last = until

    def options(self, owners, protocols):
        for owner in owners:
            options = owner.get("options")
            known = protocols(owner)
            for name in options or ():
                have = sections.OPTIONS[name][1]
                if not any(sections.machine(protocol) in have for protocol in known):
                    words = ", ".join(have)
                    self.say(options, name, f"only {words} has the option '{name}'; no variant is")

    def changes(self):
        for change in self.data.get("changes") or []:
            self.reference(change.at("link"), change.get("link"), self.link_ids, "link")
            self.within(change, "at")
            if not any(key in change.lines for key in ("rate", "delay", "loss", "reverse")):
                self.errors.add(
                    change.line, "a change changes 'rate', 'delay', 'loss' or 'reverse'"
                )
            if "ramp" in change:
                self.within(change, "ramp", None, change.get("at", 0) + change["ramp"])

    def member(self, line, name):
        flow, slash, receiver = name.partition("/")
        if not self.reference(line, flow, self.by_id, "flow") or not slash:
            return
        self.receiver_of(line, flow, receiver)

    def receiver_of(self, line, flow, receiver):
        if self.by_id[flow].get("type") != "multicast":
            self.errors.add(line, f"'{flow}' is no multicast flow and has no receivers")
        elif flow in self.receivers:
            self.reference(line, receiver, self.receivers[flow], f"receiver of '{flow}'")

    def measure(self, entry):
        kind = measure.KINDS[entry["what"]]
        for name, (type_, _) in kind.arguments.items():
            value, line = entry.get(name), entry.at(name)
            if value is None:
                continue
            if isinstance(type_, measure.Moment):
                self.within(entry, name)
            elif isinstance(type_, measure.Moments):
                for moment in value:
                    self.within(entry, name, line, moment)
            elif isinstance(type_, measure.Flow):
                known = self.reference(line, value, self.by_id, "flow")
                if known and isinstance(type_, measure.MulticastFlow):
                    if self.by_id[value].get("type") != "multicast":
                        self.errors.add(line, f"'{value}' is no multicast flow; {type_.allowed}")
            elif isinstance(type_, measure.Receiver):
                if entry.get("flow") in self.by_id:
                    self.receiver_of(line, entry["flow"], value)
            elif isinstance(type_, measure.Link):
                self.reference(line, value, self.link_ids, "link")
            elif isinstance(type_, measure.Measure):
                self.reference(line, value, self.measure_ids, "measure")
                if value == entry.get("id"):
                    self.errors.add(line, "the measure refers to itself")
            elif isinstance(type_, measure.Variant):
                self.reference(line, value, self.variant_ids, "variant")
            elif isinstance(type_, measure.Member | measure.List):
                self.members(line, value)
        self.order(entry, "from", "to")
        self.order(entry, "event", "to")
        self.bands(entry)

    def members(self, line, value):
        """FLOW/RECEIVER, or a list of them."""
        if isinstance(value, str):
            self.member(line, value)
            return
        lines = value.lines if isinstance(value, Items) else [line] * len(value)
        for name, each in zip(value, lines, strict=True):
            if isinstance(name, str):
                self.member(each, name)

    def bands(self, entry):
        smoke = entry.get("smoke")
        tables = [entry.get(key) for key in ("published", "differs", "band")]
        for table in tables + [(smoke or {}).get("band")]:
            for name in table or ():
                self.reference(table.at(name), name, self.variant_ids, "variant")
        goal = entry.get("goal") or {}
        if "of" in goal:
            known = list(self.variant_ids) + list(self.measure_ids)
            self.reference(entry.at("goal"), goal["of"], known, "variant or measure")
        for key in ("from", "to", "event") if smoke else ():
            self.within(smoke, key)

    def plot(self, plot):
        for key in ("flows", "links", "variants"):
            value = plot.get(key)
            for name, line in zip(value or (), getattr(value, "lines", ()), strict=True):
                if key == "flows":
                    self.member(line, name)
                else:
                    ids = self.link_ids if key == "links" else self.variant_ids
                    self.reference(line, name, ids, key[:-1])
        needs = "links" if plot.get("what") == "queue" else "flows"
        if plot.get("what") and needs not in plot.lines:
            self.errors.add(plot.line, f"a plot of '{plot['what']}' needs '{needs}'")

    def smoke(self):
        smoke = self.data.get("smoke")
        if not smoke:
            return
        self.within(smoke, "duration")
        names = smoke.get("variants")
        for name, line in zip(names or (), getattr(names, "lines", ()), strict=True):
            self.reference(line, name, self.variant_ids, "variant")
