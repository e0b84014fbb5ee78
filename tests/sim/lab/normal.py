# SPDX-License-Identifier: LGPL-2.1-or-later
"""A scenario as mccsim reads it: one variant, one seed, SI units, nothing left to choose."""

import math

from . import measure, sections
from .units import plain


def bytes_of(size, rate_bps, queue):
    """{"packets": n} or {"bytes": n} of a queue's size."""
    unit, value = size
    if unit == "packets":
        return {"packets": plain(float(value))}
    if unit == "bdp":
        value *= rate_bps * queue["bdp_rtt"] / 8
    return {"bytes": int(math.ceil(value - 1e-9))}


def queue(link, rate_bps):
    given = link["queue"]
    out = {key: value for key, value in given.items() if key != "bdp_rtt"}
    for key in ("size", "min", "max"):
        if key in out:
            out[key] = bytes_of(given[key], rate_bps, given)
    if out["type"] == "red":
        # Floyd's max = 3 min; with gentle everything is dropped from 2 max on.
        unit, size = next(iter(out["size"].items()))
        out.setdefault("min", {unit: size / 6})
        out.setdefault("max", {unit: size / 2})
    return out


def link(entry):
    out = dict(entry, queue=queue(entry, entry["rate"]), loss=entry.get("loss"))
    back = dict(entry.get("reverse") or {})
    if back.get("rate") is None:
        back.pop("rate", None)  # it follows the link's
    back.setdefault("queue", sections.DEFAULT_QUEUE)
    rate = back.get("rate", entry["rate"])
    out["reverse"] = dict(back, queue=queue(back, rate), loss=back.get("loss"))
    return out


def access(data, owner=None):
    """The scenario's, with what the host has of its own."""
    out = sections.DEFAULT_ACCESS | {"loss": None} | dict(data.get("access") or {})
    out |= dict((owner or {}).get("access") or {})
    if (owner or {}).get("loss"):
        out["loss"] = owner["loss"]
    if "queue" in out:
        out["queue"] = bytes_of(out["queue"], 0, {})
    return out


def expand(entry):
    """One entry for each of its count, with `group`."""
    count = entry.pop("count", 1)
    ids = [entry["id"]] if count == 1 else [f"{entry['id']}-{i + 1}" for i in range(count)]
    return [dict(plain_types(entry), id=name, group=entry["id"]) for name in ids]


def receiver(entry, data):
    out = dict(entry, access=access(data, entry))
    out.pop("loss", None)
    spread = out.pop("join_spread", 0.0)
    if spread:
        out["join"] = [out["join"], out["join"] + spread]
    return expand(out)


def options_of(flow, variant):
    """The protocol's own: the flow's, then the variant's."""
    own = flow.get("protocol")
    both = dict(flow["options"]) | ({} if own else dict(variant["options"]))
    protocol = sections.machine(own or variant["protocol"])
    out = {key: value for key, value in both.items() if protocol in sections.OPTIONS[key][1]}
    if out.get("report_interval") == "rtcp":
        out["report_interval"] = "rfc3550"
    return out


def form(flow, protocol):
    """The flow with only what @protocol sends of its streams and layers."""
    out = dict(flow)
    both = flow["streams"] and flow["layers"]
    if protocol in sections.FORMS or (both and protocol in sections.SENDS):
        for kind in ("streams", "layers"):
            if kind != sections.SENDS[protocol]:
                out[kind] = []
    if "protocol" in out:
        out["protocol"] = sections.machine(protocol)
    return out


def multicast(flow, variant, data):
    out = form(flow, flow.get("protocol", variant["protocol"]))
    out["options"] = options_of(flow, variant)
    out["group"] = out["id"]
    receivers = [receiver(entry, data) for entry in flow["receivers"]]
    out["receivers"] = [entry for group in receivers for entry in group]
    return [out]


def represented(flow):
    """The receivers that have a control flow each: the first one, or with streams, where each has
    a rate of its own, the first of each entry."""
    return flow["receivers"] if several(flow) else flow["receivers"][:1]


def several(flow):
    return bool(flow["streams"] or flow["layers"])


def control(flow, first, congestion):
    """The TCP flow in place of a multicast one, to a receiver of it."""
    start = flow["start"]
    join = first["join"]
    late = [max(t, join) for t in start] if isinstance(start, list) else max(start, join)
    out = {
        "id": control_id(flow, first),
        "group": flow["id"],
        "type": "tcp",
        "from": flow["from"],
        "to": first["at"],
        "congestion": congestion,
        "start": late,
        "segment": flow["packet_size"],
        "ecn": flow["ecn"],
        "access": flow["access"],
        "again": flow["again"],
    }
    stops = [flow[key] for key in ("stop",) if key in flow]
    stops += [first[key] for key in ("leave", "crash") if key in first and not first["again"]]
    if stops:
        out["stop"] = min(stops)
    return out


def under_test(flow):
    """Whether the variant is the flow's protocol."""
    return flow["type"] == "multicast" and "protocol" not in flow


def control_id(flow, receiver):
    return f"{flow['id']}-{receiver['id']}" if several(flow) else flow["id"]


def stands_for(scenario, variant):
    """control flow -> the receivers that it stands for."""
    if variant["protocol"] != sections.CONTROL:
        return {}
    out = {}
    for flow in scenario.data["flows"]:
        for entry in represented(flow) if under_test(flow) else ():
            names = {entry["id"], *(each["id"] for each in expand(dict(entry)))}
            out[control_id(flow, entry)] = names
    return out


def flows(data, variant):
    kinds = [flow["congestion"] for flow in data["flows"] if flow["type"] == "tcp"]
    out = []
    for entry in data["flows"]:
        flow = dict(entry, access=access(data, entry))
        if flow["type"] != "multicast":
            out += expand(flow)
        elif variant["protocol"] == sections.CONTROL and under_test(entry):
            congestion = kinds[0] if kinds else "reno"
            out += [control(flow, entry, congestion) for entry in represented(flow)]
        else:
            out += multicast(flow, variant, data)
    return out


def shorten(out, duration):
    """Ends at @duration: what begins later is left out, what ends later ends with the run."""

    def early(value):
        return (max(value) if isinstance(value, list) else value) < duration

    out["flows"] = [flow for flow in out["flows"] if early(flow["start"])]
    for flow in out["flows"]:
        if flow.get("stop", 0) > duration:
            del flow["stop"]
        flow["again"] = [pair for pair in flow["again"] if early(pair[0])]
        receivers = [entry for entry in flow.get("receivers", ()) if early(entry["join"])]
        for entry in receivers:
            entry["again"] = [pair for pair in entry["again"] if early(pair[0])]
        if "receivers" in flow:
            flow["receivers"] = receivers
    out["changes"] = [change for change in out["changes"] if change["at"] < duration]
    out["duration"] = duration


def normalise(scenario, variant_name, seed, duration=None):
    """What mccsim reads, as a dict."""
    data = scenario.data
    variant = scenario.variant(variant_name)
    synchronised = variant["protocol"] == "published"
    out = {
        "id": data["id"],
        "variant": sections.machine(variant["protocol"]),
        "seed": seed,
        "duration": data["duration"],
        "network": data["network"],
        "clocks": data.get("clocks", "synchronised" if synchronised else "random"),
        "leave_latency": data["leave_latency"],
        "access": access(data),
        "links": [link(entry) for entry in data["links"]],
        "flows": flows(data, variant),
        "changes": sorted((dict(c) for c in data["changes"]), key=lambda c: c["at"]),
    }
    if scenario.packets:
        out["packets"] = scenario.packets
    out = plain_types(out)
    if duration is not None and duration < data["duration"]:
        shorten(out, duration)
    return out


def plain_types(value):
    """A copy, with Records and Items as dicts and lists."""
    if isinstance(value, dict):
        return {key: plain_types(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_types(item) for item in value]
    return value


def arguments(scenario, entry, duration, smoke=False):
    """A measure's arguments for a run of @duration, and whether they are as the file has them; None
    when the run does not hold them. @smoke: with the measure's own smoke times."""
    kind = measure.KINDS[entry["what"]]
    whole = scenario.data["duration"]
    special = (entry.get("smoke") or {}) if smoke else {}
    out = {name: special.get(name, entry.get(name)) for name in kind.arguments}
    if "to" in out:
        wanted = out["to"] if out["to"] is not None else whole
        out["to"] = min(wanted, duration)
        begin = out["event"] if "event" in out else out["from"]
        if out["to"] <= begin:
            return None, False
        return out, wanted <= duration
    if out.get("event", 0) + out.get("after", 0) > duration:
        return None, False
    return out, max(out.get("events") or [0]) <= duration
