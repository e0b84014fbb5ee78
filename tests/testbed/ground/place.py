# SPDX-License-Identifier: LGPL-2.1-or-later
"""A scenario's network as a topology of the emulator, and why some cannot be run here."""

import math
import random

from lab import measure

from . import flows

RECEIVERS_MAX = 12  # a process each
HOSTS_MAX = 72  # namespaces
LOAD_MAX_BPS = 50e6  # what all receivers together get: what a core carries beside the programs
RAMP_STEP_S = 0.25
PORT_TCP, PORT_UDP, PORT_MEDIA = 20000, 30000, 5004


def obstacle(data, flow):
    """Why this scenario cannot be run in real time on two cores with @flow, or None."""
    if data["network"] == "light":
        return "its network is a model without queues, for more receivers than processes fit here"
    if not data["links"]:
        return "it has no links"
    for link in data["links"]:
        for queue in (link["queue"], (link.get("reverse") or {}).get("queue")):
            if queue and queue["type"] not in ("droptail", "red"):
                return f"the emulator has no {queue['type']} queue"
    hosts = receivers = 0
    for entry in data["flows"]:
        hosts += 2 * entry.get("count", 1)
        if entry["type"] != "multicast":
            continue
        if "protocol" in entry:
            return f"'{entry['id']}' runs {entry['protocol']}, of which there is no real program"
        receivers += sum(each["count"] for each in entry["receivers"])
    if receivers > RECEIVERS_MAX:
        return f"{receivers} receivers; {RECEIVERS_MAX} processes fit two cores beside the rest"
    if hosts > HOSTS_MAX:
        return f"{hosts} hosts; {HOSTS_MAX} fit"
    load = load_bps(data)
    if load > LOAD_MAX_BPS:
        return (
            f"its receivers get about {load / 1e6:.0f} Mb/s; {LOAD_MAX_BPS / 1e6:g} fit two cores"
        )
    return flows.obstacle(data, flow)


def route(data, begin, end):
    """The links between two routers, in order, each with whether data's direction is ours."""
    todo, seen = [(begin, [])], {begin}
    while todo:
        here, way = todo.pop()
        if here == end:
            return way
        for link in data["links"]:
            ends = (link["from"], link["to"])
            for forwards, (one, other) in ((True, ends), (False, ends[::-1])):
                if one == here and other not in seen:
                    seen.add(other)
                    todo.append((other, [*way, (link, forwards)]))
    raise ValueError(f"no way from {begin} to {end}")


def load_bps(data):
    """About what all receivers get: shares of the bottlenecks, less where packets are lost."""
    ways, users = [], {}
    for flow in data["flows"]:
        count = flow.get("count", 1)
        ends = [(flow, flow.get("to"), 1)]
        if flow["type"] == "multicast":
            ends = [(end, end["at"], end["count"]) for end in flow["receivers"]]
        own = [(route(data, flow["from"], at), number, end) for end, at, number in ends]
        ways.append((flow, count, own))
        for name in {(link["id"], forwards) for way, _, _ in own for link, forwards in way}:
            users[name] = users.get(name, 0) + count
    total = 0.0
    for flow, count, own in ways:
        rates = [path_bps(flow, way, end, users) for way, _, end in own]
        total += count * min(rates) * sum(number for _, number, _ in own)
    return total


def path_bps(flow, way, end, users):
    """Of one flow on one path."""
    out = min([flow.get("max_rate") or flow.get("rate") or math.inf, 100e6])
    for link, forwards in way:
        out = min(out, link["rate"] / users[link["id"], forwards])
    losses = [link.get("loss") for link, forwards in way if forwards]
    losses += [end.get("loss"), (end.get("access") or {}).get("loss")]
    passed = math.prod(1 - mean_loss(loss) for loss in losses if loss)
    if passed < 1 and flow["type"] != "udp":
        rtt = 2 * sum(link["delay"] for link, _ in way) + 0.01
        out = min(out, measure.tcp_rate(1 - passed, rtt, 1000))
    return out


def mean_loss(loss):
    if loss["type"] == "bernoulli":
        return min(loss["ratio"], 0.99)
    p, r = loss["good_to_bad"], loss["bad_to_good"]
    return min((p * loss["bad_loss"] + r * loss["good_loss"]) / (p + r), 0.99) if p + r else 0.0


class Host:
    """One host: which number, at which router, with which access."""

    def __init__(self, number, owner, router, access):
        self.number, self.owner, self.router, self.access = number, owner, router, access
        self.name = f"h{number + 1}"  # the n-th host is 10.90.0.n

    @property
    def address(self):
        return f"10.90.{(self.number + 1) >> 8}.{(self.number + 1) & 255}"


class Place:
    """The topology of a normalised scenario; pairs of values are drawn with its seed."""

    def __init__(self, given):
        self.given = given
        self.random = random.Random(f"ground {given['seed']}")
        self.hosts = []
        self.flows = []
        self.ports = 0
        for flow in given["flows"]:
            self.flows.append(self._flow(flow))

    def draw(self, value):
        return self.random.uniform(*value) if isinstance(value, list) else value

    def _host(self, owner, router, access):
        own = {key: self.draw(value) for key, value in access.items() if value is not None}
        self.hosts.append(Host(len(self.hosts), owner, router, own))
        return self.hosts[-1]

    def _flow(self, flow):
        out = dict(flow, sender=self._host(flow["id"], flow["from"], flow["access"]))
        out["times"] = self._times(flow, flow["start"], "stop")
        out["number"] = len(self.flows)
        if flow["type"] == "multicast":
            out["group_address"] = f"239.{90 + out['number']}.1.1"
            out["port"] = PORT_MEDIA
            out["receivers"] = []
            for entry in flow["receivers"]:
                host = self._host(f"{flow['id']}/{entry['id']}", entry["at"], entry["access"])
                times = self._times(entry, entry["join"], "leave", "crash")
                out["receivers"].append(dict(entry, host=host, times=times))
            return out
        out["receiver"] = self._host(flow["id"], flow["to"], flow["access"])
        out["port"] = (PORT_TCP if flow["type"] == "tcp" else PORT_UDP) + out["number"]
        out["times"] = self._on_off(flow, out["times"])
        return out

    def _times(self, entry, begin, *ends):
        """[[begin, end], ...] in the run."""
        end = min([entry[key] for key in ends if key in entry] or [self.given["duration"]])
        return [[self.draw(begin), end], *[list(pair) for pair in entry.get("again", ())]]

    def _on_off(self, flow, times):
        """What is left of @times with the flow's pauses."""
        pattern = flow.get("onoff")
        if not pattern:
            return times
        out = []
        for begin, end in times:
            now = begin
            while now < end:
                on = self._period(pattern, "on")
                out.append([now, min(end, now + on)])
                now += on + self._period(pattern, "off")
        return out

    def _period(self, pattern, key):
        mean = pattern[key]
        if pattern["distribution"] == "exponential":
            return self.random.expovariate(1 / mean)
        if pattern["distribution"] == "pareto":
            shape = pattern["shape"]
            return mean * (shape - 1) / shape * self.random.paretovariate(shape)
        return mean

    def text(self):
        """The topology's lines."""
        lines = [f"option seed={self.given['seed']}"]
        lines[0] += f" leave-latency={self.given['leave_latency']:.6f}s"
        lines += [f"host {host.name} # {host.owner}" for host in self.hosts]
        routers = {
            name: None for link in self.given["links"] for name in (link["from"], link["to"])
        }
        lines += [f"router {router(name)}" for name in routers]
        for link in self.given["links"]:
            lines += link_lines(link)
        for host in self.hosts:
            lines += access_lines(host)
        return "\n".join(lines) + "\n"

    def changes(self):
        """(time, LINK>NODE, settings) of the changes in time."""
        links = {
            link["id"]: dict(link, reverse=dict(link["reverse"])) for link in self.given["links"]
        }
        one_rate = {name for name, link in links.items() if "rate" not in link["reverse"]}
        out = []

        def steps(change, link, towards, key, before, after):
            for at, value in ramp(change, before, after):
                settings = loss_settings(value) if key == "loss" else {key: plain(value)}
                out.append((at, link["id"], towards(link), settings))

        for change in self.given["changes"]:
            link, reverse = links[change["link"]], change.get("reverse") or {}
            back = link["reverse"]
            if "rate" in reverse:
                one_rate.discard(link["id"])
                back.setdefault("rate", link["rate"])
            for key in ("rate", "delay", "loss"):
                if key not in change:
                    continue
                both = key == "delay" or (key == "rate" and link["id"] in one_rate)
                for towards in (forward, backward) if both else (forward,):
                    steps(change, link, towards, key, link[key], change[key])
                link[key] = change[key]
            for key, value in reverse.items():
                steps(change, link, backward, key, back[key], value)
                back[key] = value
        return sorted(out, key=lambda row: row[0])

    def rates(self, link):
        """[[t, bit/s], ...] of a link's data direction."""
        out = [[0.0, link["rate"]]]
        for at, name, _, settings in self.changes():
            if name == link["id"] and _ == forward(link) and "rate" in settings:
                out.append([at, float(settings["rate"])])
        return out


def router(name):
    return f"r-{name}"


def forward(link):
    return f"{link['id']}>{router(link['to'])}"


def backward(link):
    return f"{link['id']}>{router(link['from'])}"


def plain(value):
    return f"{value:.9g}"


def ramp(change, before, after):
    """(time, value) of a change that may take a while."""
    if not change.get("ramp"):
        return [(change["at"], after)]
    steps = max(1, math.ceil(change["ramp"] / RAMP_STEP_S))
    return [
        (change["at"] + change["ramp"] * i / steps, between(before, after, i / steps))
        for i in range(1, steps)
    ] + [(change["at"] + change["ramp"], after)]


LOSS_KEYS = ("good_to_bad", "bad_to_good", "bad_loss", "good_loss")


def between(before, after, position):
    """As the laboratory has it; of losses each probability (Loss::Between)."""
    if isinstance(after, int | float):
        return before + (after - before) * position
    ends = [as_gilbert(loss) for loss in (before, after)]
    out = {key: between(ends[0][key], ends[1][key], position) for key in LOSS_KEYS}
    if not out["good_to_bad"]:  # is never left
        return {"type": "bernoulli", "ratio": out["good_loss"]}
    return out | {"type": "gilbert"}


def as_gilbert(loss):
    """Bernoulli's is the good state's."""
    if loss and loss["type"] != "bernoulli":
        return loss
    return dict.fromkeys(LOSS_KEYS, 0.0) | {"good_loss": loss["ratio"] if loss else 0.0}


def loss_settings(loss):
    """One kind takes the other's place."""
    if not loss:
        return {"loss": 0, "gilbert": 0}
    if loss["type"] == "bernoulli":
        return {"loss": plain(loss["ratio"]), "gilbert": 0}
    return {"loss": 0, "gilbert": ",".join(plain(loss[key]) for key in LOSS_KEYS)}


def words(settings):
    return " ".join(f"{key}={value}" for key, value in settings.items())


def queue_words(size):
    return f"{max(1, round(size_of(size)))}{unit_of(size)}"


def size_of(size):
    return next(iter(size.values()))


def unit_of(size):
    return "p" if "packets" in size else "B"


def queue_settings(queue):
    out = {"queue": queue_words(queue["size"])}
    if queue["type"] == "red":
        low, high = (f"{size_of(queue[key]):g}{unit_of(queue[key])}" for key in ("min", "max"))
        out["red"] = f"{low},{high},{queue['max_p']:g},{queue['weight']:g}"
        out |= {"gentle": int(queue["gentle"]), "ecn": int(queue["ecn"])}
    return out


def link_lines(link):
    """A link between routers; the data direction is observed."""
    back = link["reverse"]
    ends = f"{router(link['from'])} {router(link['to'])}"
    there = {"rate": plain(link["rate"]), "trace": 1} | queue_settings(link["queue"])
    here = {"rate": plain(back.get("rate", link["rate"]))} | queue_settings(back["queue"])
    if link["loss"]:
        there |= loss_settings(link["loss"])
    if back["loss"]:
        here |= loss_settings(back["loss"])
    return [
        f"link {link['id']} {ends} delay={plain(link['delay'])}s",
        f"set {forward(link)} {words(there)}",
        f"set {backward(link)} {words(here)}",
    ]


def access_lines(host):
    access, name = host.access, f"access-{host.name}"
    size = queue_words(access["queue"]) if "queue" in access else "1000p"
    lines = [
        f"link {name} {host.name} {router(host.router)} rate={plain(access['rate'])} "
        f"delay={plain(access['delay'])}s queue={size}"
    ]
    if access.get("jitter"):
        lines.append(f"set {name}>{router(host.router)} jitter={plain(access['jitter'])}s")
    if access.get("loss"):
        lines.append(f"set {name}>{host.name} {words(loss_settings(access['loss']))}")
    return lines
