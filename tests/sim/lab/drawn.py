# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenarios drawn by chance: what nobody had in mind when a design was made.

Number N of a family is always the same scenario, and no design, constant or band is chosen by any
of them: what is found here is mended by other scenarios, and the next page is of other numbers.

one   one rate: 1 to 3 bottlenecks with TCP, receivers behind each; half with a change midway
many  receivers behind 2 to 5 links that differ, with TCP or without: one rate, simulcast and layers
"""

import math
import random
from dataclasses import dataclass

from . import grid

FAMILIES = ("one", "many")
PACKET = grid.PACKET
FAIR = (2, 200)  # packets/RTT of each flow, as the grid's
LEAST_QUEUE = 4  # packets
TOOTH_MAX = 8.0  # s, so that twenty are some minutes
SETTLE = 20.0  # s after a change, before it counts
CHANGES = (None, None, None, "flows", "capacity", "loss")
HOST = 0.0625  # of the RTT: an end's access link, one way, where both ends are alike
LADDER = (100e3, 8e6)  # of streams and layers
BOUNDS = {"reno": [0.8, 1.25], "never": [0.5, 2], "cubic": [0.35, 1.5]}


class Draw:
    """Numbers by chance, of random() alone: the same in every version of Python."""

    def __init__(self, name):
        self.source = random.Random(grid.share_of(name, 2**32))

    def uniform(self, low, high):
        return low + (high - low) * self.source.random()

    def log(self, low, high):
        return low * (high / low) ** self.source.random()

    def whole(self, low, high):
        """Small ones more often."""
        return min(high, math.floor(self.log(low, high + 1)))

    def of(self, items):
        return items[min(len(items) - 1, int(self.source.random() * len(items)))]

    def chance(self, probability):
        return self.source.random() < probability


@dataclass
class Place:
    """A bottleneck, and who is behind it."""

    capacity: float  # bit/s
    rtt: float  # s, without queues
    flows: int  # TCP
    queue: float  # BDP
    discipline: str
    ecn: bool
    congestion: str
    loss: dict | None
    receivers: int

    @property
    def cell(self):
        """As one of the grid: what is fair there, how long a tooth is, which bound holds."""
        kind = "droptail" if self.discipline == "droptail" else "red"
        return grid.Cell(
            self.capacity, self.rtt, self.flows, self.queue, kind, self.congestion, 20, BOUNDS
        )

    @property
    def fair(self):
        """bit/s, where nothing is lost but by the queue."""
        return self.capacity / (self.flows + 1)

    @property
    def packets(self):
        return max(LEAST_QUEUE, round(self.queue * self.cell.bdp))

    def queue_section(self):
        out = {"type": self.discipline, "size": f"{self.packets} packets"}
        if self.discipline != "droptail":
            out["ecn"] = self.ecn
        if self.discipline == "codel":  # RFC 8289 4.4: no less than a packet, an RTT
            target = max(5.0, 1.5e3 * 8 * PACKET / self.capacity)
            out |= {
                "target": f"{target:.1f} ms",
                "interval": f"{max(100.0, 1e3 * self.rtt):.0f} ms",
            }
            out["size"] = f"{max(self.packets, 1000)} packets"
        return out


def gilbert(draw):
    """0.1 to 1 % of the packets, 2 to 6 in a row."""
    ratio, burst = draw.log(0.001, 0.01), draw.uniform(2, 6)
    return {
        "type": "gilbert",
        "good_to_bad": f"{100 * ratio / burst / (1 - ratio):.4f} %",
        "bad_to_good": f"{100 / burst:.2f} %",
        "bad_loss": "100 %",
    }


def bernoulli(draw):
    return {"type": "bernoulli", "ratio": f"{100 * draw.log(0.0005, 0.01):.3f} %"}


def place_of_one(draw):
    while True:
        discipline = draw.of(("droptail", "droptail", "droptail", "red", "codel"))
        lost = draw.of((None, None, None, None, bernoulli, gilbert))
        place = Place(
            capacity=draw.log(0.5e6, 20e6),
            rtt=draw.log(0.01, 0.3),
            flows=draw.whole(1, 12),
            queue=draw.log(0.5, 4),
            discipline=discipline,
            ecn=discipline != "droptail" and draw.chance(0.5),
            congestion=draw.of(("reno", "reno", "cubic")),
            loss=lost and lost(draw),
            receivers=draw.whole(1, 10),
        )
        if (
            FAIR[0] <= place.cell.fair <= FAIR[1]
            and place.queue * place.cell.bdp >= LEAST_QUEUE
            and place.cell.tooth <= TOOTH_MAX
        ):
            return place


def place_of_many(draw):
    while True:
        place = Place(
            capacity=draw.log(0.4e6, 8e6),
            rtt=draw.log(0.02, 0.15),
            flows=draw.of((0, 1, 1, 2, 3)),
            queue=draw.log(0.75, 3),
            discipline="droptail",
            ecn=False,
            congestion="reno",
            loss=None,
            receivers=draw.whole(1, 6),
        )
        if place.fair >= 1.25 * LADDER[0] and place.queue * place.cell.bdp >= LEAST_QUEUE:
            return place


def places(family, number):
    """(draw, [Place]) of a scenario, slowest fair rate first."""
    draw = Draw(f"drawn {family} {number}")
    if family == "one":
        count = draw.of((1, 1, 2, 2, 3))
        found = [place_of_one(draw) for _ in range(count)]
    else:
        count = draw.of((2, 3, 4, 5))
        found = [place_of_many(draw) for _ in range(count)]
    return draw, sorted(found, key=lambda place: place.fair)


def ms(seconds):
    return f"{1e3 * seconds:.3f} ms"


def access(place, middle):
    """Drawn around @middle s, as the grid's: by a fifth of what each end of TCP has."""
    spread = 0.0125 * place.rtt
    return {"rate": "1 Gb/s", "delay": [ms(middle - spread), ms(middle + spread)]}


def access_of(place):
    """Of TCP's two ends, each: together a quarter of the RTT."""
    return access(place, HOST * place.rtt)


def sender_delay(found):
    """One sender for all links, so as near as where the RTT is shortest; not drawn, for it would
    be every receiver's."""
    return HOST * min(place.rtt for place in found)


def receiver_access(place, found):
    """As far as makes the RTT that of TCP beside it: nobody is favoured for being near."""
    return access(place, 2 * HOST * place.rtt - sender_delay(found))


def links(found):
    out = []
    for k, place in enumerate(found, 1):
        link = {
            "id": f"l{k}",
            "from": "g",
            "to": f"g{k}",
            "rate": f"{place.capacity:.0f} b/s",
            "delay": ms(0.375 * place.rtt),
            "queue": place.queue_section(),
        }
        if place.loss:
            link["loss"] = place.loss
        out.append(link)
    return out


def jitter(found):
    """A packet's time at the slowest link, against drop-tail phases; a tenth of the RTT at most."""
    return ms(min(min(8 * PACKET / p.capacity, 0.1 * p.rtt) for p in found))


def tcp_flows(found):
    return [
        {
            "id": f"t{k}",
            "type": "tcp",
            "from": "g",
            "to": f"g{k}",
            "count": place.flows,
            "congestion": place.congestion,
            "start": ["0 s", "5 s"],
            "ecn": place.ecn,
            "access": access_of(place),
        }
        for k, place in enumerate(found, 1)
        if place.flows
    ]


def multicast(found, **more):
    receivers = [
        {
            "id": f"r{k}",
            "at": f"g{k}",
            "count": place.receivers,
            "join": "0 s",
            "join_spread": "2 s",
        }
        | {"access": receiver_access(place, found)}
        for k, place in enumerate(found, 1)
    ]
    head = {"id": "m", "type": "multicast", "from": "g", "start": "0 s"}
    head["access"] = {"rate": "1 Gb/s", "delay": ms(sender_delay(found))}
    return head | more | {"receivers": receivers}


def measured(found, begin):
    """Of each link: m by TCP there, by the fair rate, rates and losses."""
    out = []
    for k, place in enumerate(found, 1):
        own = {"flow": "m", "receiver": f"r{k}", "from": f"{begin:g} s"}
        of_tcp = {"flow": f"t{k}", "from": f"{begin:g} s"}
        out.append({"id": f"rate-{k}", "what": "throughput", **own})
        out.append({"id": f"loss-{k}", "what": "loss", **own})
        if place.flows:
            out.append({"id": f"by-tcp-{k}", "what": "relative", "other": f"t{k}", **own})
            out.append({"id": f"loss-tcp-{k}", "what": "loss", **of_tcp})
        out.append(
            {"id": f"use-{k}", "what": "utilisation", "link": f"l{k}", "from": f"{begin:g} s"}
        )
    return out


def change(draw, found, at):
    """(extra flows, changes, what it is) midway, at the link that is likely to limit."""
    kind, k = draw.of(CHANGES), 1 + int(draw.uniform(0, len(found)))
    place = found[k - 1]
    if kind == "flows":
        more = draw.whole(1, place.flows)
        place.flows += more
        extra = {
            "id": f"more{k}",
            "type": "tcp",
            "from": "g",
            "to": f"g{k}",
            "count": more,
            "congestion": place.congestion,
            "start": [f"{at:g} s", f"{at + 2:g} s"],
            "ecn": place.ecn,
            "access": access_of(place),
        }
        return [extra], [], f"{more} more TCP at link {k}"
    if kind == "capacity":
        place.capacity *= draw.log(0.5, 2)
        rate = f"{place.capacity:.0f} b/s"
        return [], [{"at": f"{at:g} s", "link": f"l{k}", "rate": rate}], f"link {k} becomes {rate}"
    if kind == "loss":
        place.loss = bernoulli(draw)
        text = f"{place.loss['ratio']} of random loss at link {k}"
        return [], [{"at": f"{at:g} s", "link": f"l{k}", "loss": place.loss}], text
    return [], [], ""


def one(number):
    draw, found = places("one", number)
    title = describe(found)  # before the change
    at = float(max(place.cell.warm_up for place in found))
    parts = links(found), tcp_flows(found)
    extra, changes, said = change(draw, found, at)
    begin = at + SETTLE if said else at
    length = max(60.0, *(math.ceil(20 * place.cell.tooth) for place in found))
    video = {"source": {"type": "video", "trace": "news"}} if draw.chance(0.25) else {}
    ecn = {"ecn": True} if any(place.ecn for place in found) else {}
    flow = multicast(
        found,
        min_rate="16 kb/s",
        max_rate="40 Mb/s",
        options={"report_interval": "1 s"},
        **ecn,
        **video,
    )
    data = {
        "id": f"drawn-one-{number}",
        "title": title + (f"; then {said}" if said else "") + ("; video" if video else ""),
        "duration": f"{begin + length:g} s",
        "seeds": 1,
        "variants": ["enhanced", "published", "tfmcc", "pgmcc"],
        "access": {"jitter": jitter(found)},
        "links": parts[0],
        "flows": [flow, *parts[1], *extra],
        "measures": [
            *measured(found, begin),
            {"id": "cov", "what": "cov", "flow": "m", "from": f"{begin:g} s"},
        ],
    }
    return (data | {"changes": changes} if changes else data), found


def ladder(count):
    low, high = LADDER
    step = (high / low) ** (1 / count)
    edges = [low * step**k for k in range(count + 1)]
    return [
        f"{a / 1e3:.0f} kb/s - {b / 1e3:.0f} kb/s" for a, b in zip(edges, edges[1:], strict=False)
    ]


def many(number):
    draw, found = places("many", number)
    begin, length = 60.0, 120.0
    flow = multicast(
        found,
        min_rate="100 kb/s",
        max_rate="8 Mb/s",
        streams=ladder(3),
        layers=[f"{125 * 2**k} kb/s" for k in range(7)],
        options={"max_streams": 3, "base_rate": "250 kb/s"},
    )
    data = {
        "id": f"drawn-many-{number}",
        "title": describe(found),
        "duration": f"{begin + length:g} s",
        "seeds": 1,
        "variants": ["asmp", "assp", "elm", "tfmcc", "smcc", "rlc"],
        "leave_latency": draw.of(("0 s", "0.5 s", "2 s")),
        "access": {"jitter": jitter(found)},
        "links": links(found),
        "flows": [flow, *tcp_flows(found)],
        "measures": [
            *measured(found, begin),
            {"id": "cov", "what": "cov", "flow": "m", "from": f"{begin:g} s"},
            {"id": "changes", "what": "switch_rate", "flow": "m", "from": f"{begin:g} s"},
        ],
    }
    return data, found


def describe(found):
    parts = []
    for place in found:
        lossy = f", {place.loss['type']} loss" if place.loss else ""
        tcp = f"{place.flows} {place.congestion}" if place.flows else "no TCP"
        kind = place.discipline + (" with ECN" if place.ecn else "")
        parts.append(
            f"{place.capacity / 1e6:.3g} Mb/s, {1e3 * place.rtt:.0f} ms, {kind} of "
            f"{place.queue:.2g} BDP{lossy}, {tcp}, {place.receivers} receivers"
        )
    return "; ".join(parts)


def scenario(family, number):
    """(what its file says, its places as they are when it is measured)."""
    return {"one": one, "many": many}[family](number)
