# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scenario file's sections: every key, its type, its default. README.md explains them."""

from pathlib import Path

from . import measure
from .document import Scalar
from .schema import (
    BAD,
    REQUIRED,
    Flag,
    Items,
    List,
    Member,
    Name,
    Or,
    Pair,
    Probability,
    Quantity,
    Record,
    Section,
    Spread,
    Table,
    Tagged,
    Text,
    Whole,
    Word,
)
from .units import UnitError, parse, split

LONG = 24 * 3600
TIME = Quantity("time", 0, LONG)
SPAN = Quantity("time", 0, LONG, above=True)
RATE = Quantity("rate", 0, 100e9, above=True)
PACKET = Quantity("size", 64, 9000)
RATIO = Quantity("ratio", 0, 1)
NUMBER = Quantity("number")


class QueueSize(Quantity):
    """(unit, number): packets, bytes or bdp."""

    def __init__(self, bdp=True):
        super().__init__("queue", 0, 10_000_000, above=True)
        self.bdp = bdp

    def parse(self, text):
        value = super().parse(text)
        unit = split(text, "queue")[1]
        if unit == "bdp" and not self.bdp:
            raise UnitError(f"'{text}': packets or bytes are allowed here")
        return (unit if unit == "bdp" else "packets" if unit[0] == "p" else "bytes", value)

    def show(self, value):
        return f"{value:g}"


QUEUE = QueueSize()


class Bounds(Quantity):
    """[low, high] of a stream, written '300 kb/s - 2 Mb/s'."""

    def __init__(self):
        super().__init__("rate", 0, 100e9, above=True)
        self.allowed = "the bounds of a stream such as '300 kb/s - 2 Mb/s'"

    def parse(self, text):
        parts = text.split("-")
        if len(parts) != 2:
            raise UnitError(f"'{text}' is not {self.allowed}")
        low, high = (super(Bounds, self).parse(part.strip()) for part in parts)
        if low > high:
            raise UnitError(f"'{text}': the lower bound comes first")
        return [low, high]


STREAMS_MAX = 8  # MCC_ASSP_STREAMS_MAX
LAYERS_MAX = 7  # MCC_LAYER_ORDER_LAYERS_MAX

# The multicast protocols mccsim knows. A new one: a line here, and its options below.
PROTOCOLS = ("published", "enhanced", "tfmcc", "pgmcc", "tfrc", "smcc", "rlc", "cbr")
CONTROL = "tcp"  # the variant without multicast
LAYERED = ("published", "enhanced", "rlc")  # of flows with layers
# `enhanced` in one of its three forms, for a flow that could have several.
FORMS = ("asmp", "assp", "elm")
WORDS = (*PROTOCOLS, *FORMS)
# protocol -> which of `streams` and `layers` it sends, where it does not take what there is
SENDS = {
    "asmp": None,
    "assp": "streams",
    "elm": "layers",
    "smcc": "streams",
    "rlc": "layers",
    "tfmcc": None,
    "pgmcc": None,
    "tfrc": None,
    "cbr": None,
}


def machine(protocol):
    """What mccsim calls it."""
    return "enhanced" if protocol in FORMS else protocol


ASMP = ("published", "enhanced")
# option -> (type, the protocols that have it); others do not get it.
OPTIONS = {
    "report_interval": (Or("rtcp", SPAN), ("published",)),  # rtcp: RFC 3550 6.2
    "unicast": (Flag(), ("published",)),  # its reports go to the sender, whatever `feedback` says
    "smoothing": (Flag(), ("published",)),  # false: gamma = 1 in ASMP eq. 14
    "loss": (Word("interval", "lip", "lap", "window"), ASMP),
    "history": (Whole(1, 128), ASMP),
    "no_feedback": (Word("minimum", "hold", "stop"), ASMP),
    "session_bandwidth": (RATE, ASMP),
    # Of flows with streams: ASSP eq. 6-10, with the papers' ranges.
    "alpha": (Quantity("number", 0.001, 0.999), ASMP),
    "beta": (Quantity("number", 0.7, 1), ASMP),
    "kappa": (Quantity("number", 0.8, 1), ASMP),
    "lambda": (Quantity("number", 1, 2), ASMP),
    "leave_latency": (Quantity("time", 0, 600), ASMP),  # what receivers take for it (2 s)
    "lock_stream": (Whole(0, STREAMS_MAX - 1), ASMP),
    "max_streams": (Whole(0, STREAMS_MAX), ("enhanced",)),  # 0: the ladder stays as given (0)
    # Of flows with layers: ELM.
    "strategy": (Word("naive", "skeptical", "lazy"), ASMP),
    "smoothed_by": (Word("percentiles", "ewma", "none"), ASMP),  # X, ELM eq. 24, 22 or not at all
    "slow_start_interval": (SPAN, ASMP),  # I (4 s)
    "join_delay": (SPAN, ASMP),  # of the skeptical strategy; the lazy one's longest
    "leave_delay": (SPAN, ASMP),
    "max_level": (Whole(0, LAYERS_MAX - 1), ASMP),
    "t0": (SPAN, ("rlc",)),  # between SPs of the base layer (0.2 s)
    "deaf": (SPAN, ("rlc",)),  # t_D (0.75 s)
    "burst": (Whole(0, 64), ("rlc",)),  # packets (8); 0: none
    "probe_leaves": (Flag(), ("rlc",)),  # a loss in a burst, too, not only forbids the join (off)
    "base_rate": (RATE, ("smcc",)),  # B_0 (1 Mb/s)
    "discounting": (Flag(), ("tfmcc", "tfrc")),  # RFC 4654 5.5 (default: off), RFC 5348 5.5 (on)
    "overhear": (Flag(), ("tfmcc",)),  # reports to the group, rounds of 4 R_max, RFC 4654 3.4 (off)
    "rise": (
        Word("rmax", "report"),
        ("tfmcc", "smcc"),
    ),  # by a packet per R_max in each, RFC 4654 3.3 (rmax)
    "samples": (Word("report", "echo"), ("tfmcc",)),  # of the RTT, each echo's too, RFC 4654 4.3.2
    "rtt": (Word("timestamps", "packets"), ("pgmcc",)),  # the acker is elected by; draft 2.5
    "model": (Word("full", "simple"), ("pgmcc",)),  # draft 2.4; RTT sqrt(p), as in ASMP 2009
    "nak_backoff": (SPAN, ("pgmcc",)),  # a NAK waits up to that (50 ms)
    "rfc_start": (Flag(), ("tfmcc",)),  # RFC 4654 3.1's, not the flow's start_rate (off)
    "reduce_oscillations": (Flag(), ("tfrc",)),  # RFC 5348 4.5 (off)
}


def queue(name, **fields):
    common = {"type": (Word(name), REQUIRED), "bdp_rtt": (SPAN, None)}
    return Section(f"a {name} queue", common | fields)


QUEUES = Tagged(
    "a queue",
    "type",
    {
        "droptail": queue("droptail", size=(QUEUE, REQUIRED)),
        "red": queue(
            "red",
            size=(QUEUE, REQUIRED),
            min=(QUEUE, None),
            max=(QUEUE, None),
            max_p=(Probability(), 0.1),
            weight=(Probability(), 0.002),
            gentle=(Flag(), True),
            ecn=(Flag(), False),
        ),
        "codel": queue(
            "codel",
            size=(QUEUE, REQUIRED),
            target=(SPAN, 0.005),
            interval=(SPAN, 0.1),
            ecn=(Flag(), False),
        ),
    },
)
LOSSES = Tagged(
    "a loss model",
    "type",
    {
        "bernoulli": Section(
            "Bernoulli loss", {"type": (Word("bernoulli"), REQUIRED), "ratio": (RATIO, REQUIRED)}
        ),
        "gilbert": Section(
            "Gilbert-Elliott loss",
            {
                "type": (Word("gilbert"), REQUIRED),
                "good_to_bad": (Probability(), REQUIRED),
                "bad_to_good": (Probability(), REQUIRED),
                "bad_loss": (Probability(), REQUIRED),
                "good_loss": (Probability(), 0.0),
            },
        ),
    },
)
DELAY = Spread("time", 0, 10)
ACCESS = Section(
    "access",
    {
        "rate": (Spread("rate", 0, 100e9, above=True), None),
        "delay": (DELAY, None),
        "jitter": (Quantity("time", 0, 1), None),
        "loss": (LOSSES, None),
        "queue": (QueueSize(bdp=False), None),
    },
)
DEFAULT_ACCESS = {"rate": 100_000_000, "delay": [0.0005, 0.003]}
DEFAULT_QUEUE = {"type": "droptail", "size": ("packets", 1000)}
REVERSE = Section(
    "reverse", {"rate": (RATE, None), "queue": (QUEUES, None), "loss": (LOSSES, None)}
)
LINK = Section(
    "a link",
    {
        "id": (Name(), REQUIRED),
        "from": (Name(), REQUIRED),
        "to": (Name(), REQUIRED),
        "rate": (RATE, REQUIRED),
        "delay": (Quantity("time", 0, 10), REQUIRED),
        "queue": (QUEUES, lambda: dict(DEFAULT_QUEUE)),
        "loss": (LOSSES, None),
        "reverse": (REVERSE, None),
    },
)


def onoff_section(name, **fields):
    common = {"on": (SPAN, REQUIRED), "off": (SPAN, REQUIRED)}
    return Section("onoff", common | {"distribution": (Word(name), REQUIRED)} | fields)


ONOFF = Tagged(
    "onoff",
    "distribution",
    {
        "pareto": onoff_section("pareto", shape=(Quantity("number", 1, 100, above=True), 1.5)),
        "exponential": onoff_section("exponential"),
        "constant": onoff_section("constant"),
    },
)
TRACES = Path(__file__).resolve().parents[1] / "traces"
SOURCES = Tagged(
    "a source",
    "type",
    {
        "cbr": Section("a CBR source", {"type": (Word("cbr"), REQUIRED)}),
        "pictures": Section(
            "whole pictures of layers",
            {
                "type": (Word("pictures"), REQUIRED),
                "fps": (Quantity("number", 1, 240), 25.0),
                "paced": (Word("stream", "layers"), "stream"),
            },
        ),
        "video": Section(
            "a video source",
            {
                "type": (Word("video"), REQUIRED),
                "trace": (Word(*sorted(path.stem for path in TRACES.glob("*.csv"))), REQUIRED),
                "fps": (Quantity("number", 1, 240), 25.0),
            },
        ),
    },
)
AGAIN = List(Pair(TIME))
RECEIVER = Section(
    "a receiver",
    {
        "id": (Name(), REQUIRED),
        "at": (Name(), REQUIRED),
        "count": (Whole(1, 100_000), 1),
        "join": (TIME, 0.0),
        "join_spread": (TIME, 0.0),
        "leave": (TIME, None),
        "crash": (TIME, None),
        "again": (AGAIN, lambda: Items(0)),
        "access": (ACCESS, None),
        "loss": (LOSSES, None),
    },
)
OPTION_SECTION = Section("options", {name: (kind, None) for name, (kind, _) in OPTIONS.items()})
FLOWS = Tagged(
    "a flow",
    "type",
    {
        "multicast": Section(
            "a multicast flow",
            {
                "id": (Name(), REQUIRED),
                "type": (Word("multicast"), REQUIRED),
                "from": (Name(), REQUIRED),
                "start": (Spread("time", 0, LONG), 0.0),
                "stop": (SPAN, None),
                "again": (AGAIN, lambda: Items(0)),
                "start_rate": (RATE, 150_000),
                "min_rate": (RATE, 16_000),
                "max_rate": (RATE, 20_000_000),
                "protocol": (Word(*WORDS), None),
                "streams": (List(Bounds(), 1), lambda: Items(0)),
                "layers": (List(RATE, 1), lambda: Items(0)),
                "packet_size": (PACKET, 1000),
                "source": (SOURCES, lambda: {"type": "cbr"}),
                "ecn": (Flag(), False),
                "feedback": (Word("group", "unicast"), "group"),
                "options": (OPTION_SECTION, lambda: Record(0)),
                "access": (ACCESS, None),
                "receivers": (List(RECEIVER, 1), REQUIRED),
            },
        ),
        "tcp": Section(
            "a TCP flow",
            {
                "id": (Name(), REQUIRED),
                "type": (Word("tcp"), REQUIRED),
                "from": (Name(), REQUIRED),
                "to": (Name(), REQUIRED),
                "count": (Whole(1, 1000), 1),
                "congestion": (Word("reno", "newreno", "cubic", "bbr"), "reno"),
                "start": (Spread("time", 0, LONG), 0.0),
                "stop": (SPAN, None),
                "again": (AGAIN, lambda: Items(0)),
                "segment": (PACKET, 1000),
                "ecn": (Flag(), False),
                "onoff": (ONOFF, None),
                "access": (ACCESS, None),
            },
        ),
        "udp": Section(
            "a UDP flow",
            {
                "id": (Name(), REQUIRED),
                "type": (Word("udp"), REQUIRED),
                "from": (Name(), REQUIRED),
                "to": (Name(), REQUIRED),
                "count": (Whole(1, 1000), 1),
                "rate": (RATE, REQUIRED),
                "packet_size": (PACKET, 1000),
                "start": (Spread("time", 0, LONG), 0.0),
                "stop": (SPAN, None),
                "again": (AGAIN, lambda: Items(0)),
                "onoff": (ONOFF, None),
                "access": (ACCESS, None),
            },
        ),
    },
)
CHANGE = Section(
    "a change",
    {
        "at": (TIME, REQUIRED),
        "link": (Name(), REQUIRED),
        "rate": (RATE, None),
        "delay": (Quantity("time", 0, 10), None),
        "loss": (LOSSES, None),
        "reverse": (Section("reverse", {"rate": (RATE, None), "loss": (LOSSES, None)}), None),
        "ramp": (SPAN, None),
    },
)
PLOT = Section(
    "a plot",
    {
        "what": (Word("rates", "target", "loss", "delay", "level", "queue"), REQUIRED),
        "flows": (List(Member()), None),
        "links": (List(Name()), None),
        "variants": (List(Name()), None),
        "title": (Text(), REQUIRED),
        "figure": (Text(), None),
    },
)


class Goal(Quantity):
    """'>= 95 %', '95 % .. 105 %', '<= 0.5 x NAME' (a variant's value, or another measure's); with
    ', each run' no mean over the seeds makes up for one."""

    def __init__(self, unit):
        super().__init__(unit, None)
        self.allowed = (
            "'>= VALUE', '<= VALUE', 'VALUE .. VALUE' or '<= FACTOR x NAME', "
            "and ', each run' behind it"
        )

    def parse(self, text):
        out = {"text": " ".join(text.split())}
        text, comma, which = text.partition(",")
        if comma:
            if which.split() != ["each", "run"]:
                raise UnitError(f"'{which.strip()}' behind a goal; {self.allowed} is allowed")
            out["each"] = True
        low, dots, high = text.partition("..")
        if dots:
            out |= {"lo": parse(low, self.dimension), "hi": parse(high, self.dimension)}
            if out["lo"] > out["hi"]:
                raise UnitError(f"'{text}': the lower value comes first")
            return out
        side = {">=": "lo", "<=": "hi"}.get(text[:2])
        if side is None:
            raise UnitError(f"'{text}' is no goal; {self.allowed} is allowed")
        factor, times, name = text[2:].partition(" x ")
        if times:
            return out | {side: parse(factor, "number"), "of": Name().parse(name.strip())}
        return out | {side: parse(text[2:], self.dimension)}


class Value(Quantity):
    """A measure's value, in its unit."""

    def __init__(self, unit):
        super().__init__(unit, None)

    def parse(self, text):
        return parse(text, self.dimension)


def measure_section(kind):
    band = Table(Pair(Value(kind.unit), same=True))
    common = {
        "id": (Name(), REQUIRED),
        "what": (Word(kind.name), REQUIRED),
        "title": (Text(), None),
        "published": (Table(Value(kind.unit)), None),
        "differs": (Table(Text()), None),
        "goal": (Goal(kind.unit), None),
        "band": (band, None),
        "smoke": (
            Section(
                "a measure's smoke",
                {
                    name: (measure.Moment(), None)
                    for name in ("from", "to", "event")
                    if name in kind.arguments
                }
                | {"band": (band, None)},
            ),
            None,
        ),
    }
    return Section(f"the measure '{kind.name}'", common | kind.arguments)


MEASURES = Tagged(
    "a measure", "what", {name: measure_section(kind) for name, kind in measure.KINDS.items()}
)
VARIANT = Section(
    "a variant",
    {
        "id": (Name(), REQUIRED),
        "protocol": (Word(*WORDS), REQUIRED),
        "options": (OPTION_SECTION, lambda: Record(0)),
    },
)


class Variant(Word):
    """A protocol, 'tcp', or a protocol with options of its own."""

    def __init__(self):
        super().__init__(*WORDS, CONTROL)
        self.allowed += ", or {id:, protocol:, options:}"

    def read(self, node, errors):
        if not isinstance(node, Scalar):
            return VARIANT.read(node, errors)
        word = super().read(node, errors)
        if word is BAD:
            return BAD
        out = Record(node.line)
        out.update(id=word, protocol=word, options=Record(node.line))
        return out


SCENARIO = Section(
    "a scenario",
    {
        "id": (Name(), REQUIRED),
        "title": (Text(), REQUIRED),
        "source": (Text(), None),
        "chosen": (Text(), None),
        "differs": (Text(), None),
        "duration": (Quantity("time", 1, LONG), REQUIRED),
        "seeds": (Whole(1, 1000), 10),
        "variants": (List(Variant(), 1), REQUIRED),
        "smoke": (
            Section(
                "smoke",
                {
                    "duration": (Quantity("time", 1, LONG), None),
                    "seeds": (Whole(1, 1000), 1),
                    "variants": (List(Name(), 1), None),
                },
            ),
            None,
        ),
        "network": (Word("ns3", "light"), "ns3"),
        "clocks": (Word("random", "synchronised"), None),
        "leave_latency": (Quantity("time", 0, 600), 0.0),
        "access": (ACCESS, None),
        "links": (List(LINK), lambda: Items(0)),
        "flows": (List(FLOWS, 1), REQUIRED),
        "changes": (List(CHANGE), lambda: Items(0)),
        "measures": (List(MEASURES), lambda: Items(0)),
        "plots": (List(PLOT), lambda: Items(0)),
    },
)
