# SPDX-License-Identifier: LGPL-2.1-or-later
"""A scenario file with a `grid:` section: one scenario for each cell of its axes.

What differs between cells stands in the rest of the file as $NAME; the names are those of VALUES.
"""

import fnmatch
import hashlib
import itertools
import math
import os
import re
from dataclasses import dataclass, field

from . import document, scenario, sections
from .document import Errors, Mapping, Scalar, Sequence, choose
from .schema import BAD, REQUIRED, Items, List, Name, Pair, Quantity, Section, Spread, Whole, Word

PACKET = 1000  # IP bytes, of everybody
WARM_UP, LEAST = 30.0, 60.0  # s: before it counts, and what counts, where sawteeth are short
WARM_TEETH = 5
# RFC 9438 eq. 6 against 1.5^0.5 p^-0.5 of Reno: CUBIC's mean window is the smaller one where
# W^2 R^3 < 1.5^3 / (C (3 + b) / (4 (1 - b))), W in packets, R in s.
CUBIC_C, CUBIC_BETA = 0.4, 0.7
REGION = 1.5**3 / (CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA)))
RATIO = Quantity("ratio", 0, 100)

GRID = Section(
    "a grid",
    {
        "capacity": (List(sections.RATE, 1), REQUIRED),
        "rtt": (List(sections.SPAN, 1), REQUIRED),  # without queues
        "flows": (List(Whole(1, 1000), 1), REQUIRED),  # TCP
        "queue": (List(Quantity("number", 0, 100, above=True), 1), REQUIRED),  # BDP
        "discipline": (List(Word("droptail", "red"), 1), REQUIRED),
        "congestion": (List(Word("reno", "cubic", "bbr"), 1), REQUIRED),
        "fair": (Spread("number", 0, 100_000), REQUIRED),  # packets/RTT, else there is no cell
        "least_queue": (Whole(1, 1000), REQUIRED),  # packets, else there is no cell
        "sawteeth": (Whole(1, 1000), REQUIRED),  # that count
        "bounds": (
            Section(
                "bounds",
                {
                    "reno": (Pair(RATIO), REQUIRED),  # of TCP's rate, in most cells
                    "never": (Pair(RATIO), REQUIRED),  # in none beyond
                    "cubic": (Pair(RATIO), REQUIRED),  # beside CUBIC outside of its Reno region
                },
            ),
            REQUIRED,
        ),
        "short": (List(Name()), lambda: Items(0)),  # the cells that have a short form
    },
)
AXES = ("capacity", "rtt", "flows", "queue", "discipline", "congestion")


@dataclass(frozen=True)
class Cell:
    capacity: float  # bit/s
    rtt: float  # s
    flows: int
    queue: float  # BDP
    discipline: str
    congestion: str
    sawteeth: int = field(compare=False, default=20)
    bounds: dict = field(compare=False, default_factory=dict)

    @property
    def id(self):
        speed = f"{self.capacity / 1000:g}k-{1000 * self.rtt:g}ms-{self.flows}tcp"
        kind = f"q{100 * self.queue:g}-{self.discipline}-{self.congestion}"
        return f"grid-{speed}-{kind}".replace(".", "_")

    @property
    def bdp(self):
        """Packets."""
        return self.capacity * self.rtt / (8 * PACKET)

    @property
    def fair(self):
        """Packets/RTT of each flow."""
        return self.bdp / (self.flows + 1)

    @property
    def filled(self):
        """The RTT that a tooth ends with, by that without queues: RED keeps its mean below max,
        half of its size."""
        return 1 + (self.queue if self.discipline == "droptail" else self.queue / 2)

    @property
    def tooth(self):
        """Seconds: from W to W/2 at most, one packet per RTT."""
        return 2 / 3 * self.fair * self.filled * self.rtt * self.filled

    @property
    def warm_up(self):
        return math.ceil(max(WARM_UP, WARM_TEETH * self.tooth))

    @property
    def duration(self):
        return self.warm_up + math.ceil(max(LEAST, self.sawteeth * self.tooth))

    @property
    def packets(self):
        """What the link carries in a run: the cost of a run grows with it."""
        return self.capacity * self.duration / (8 * PACKET)

    @property
    def in_reno_region(self):
        """Whether CUBIC is to be no faster than Reno (RFC 9438 4.3, 5)."""
        return (self.fair * self.filled) ** 2 * (self.rtt * self.filled) ** 3 < REGION

    @property
    def design(self):
        """The fixed half of the cells that designs may be judged by; the others are only told."""
        return share_of(f"half {self.id}", 2) == 0

    def bound(self):
        """[low, high] of the rate by TCP's, or None: only told."""
        if self.congestion == "bbr":
            return None
        if self.congestion == "cubic" and not self.in_reno_region:
            return self.bounds["cubic"]
        return self.bounds["reno"]

    def values(self):
        """$NAME -> text, of a scenario file."""
        micro = 1e6 * self.rtt
        return {
            "id": self.id,
            "capacity": f"{self.capacity:g} b/s",
            "rtt": f"{1000 * self.rtt:g} ms",
            "flows": str(self.flows),
            "queue": f"{self.queue:g} bdp",
            "discipline": self.discipline,
            "congestion": self.congestion,
            "fair": f"{self.capacity / (self.flows + 1):.0f} b/s",
            "duration": f"{self.duration} s",
            "warm_up": f"{self.warm_up} s",
            # Three quarters of the RTT are the link's, the rest the hosts': an eighth for each end,
            # drawn within a fifth of that, so that no two flows are in step and all RTTs alike.
            "delay": f"{0.375 * micro / 1000:.4f} ms",
            "near": f"{0.05 * micro / 1000:.4f} ms",
            "far": f"{0.075 * micro / 1000:.4f} ms",
            # A packet's time at the bottleneck, against phases; at most a tenth of the RTT.
            "jitter": f"{1000 * min(8 * PACKET / self.capacity, 0.1 * self.rtt):.4f} ms",
        }


VALUES = tuple(Cell(1e6, 0.1, 1, 1, "droptail", "reno").values())
PLACE = re.compile(r"\$([A-Za-z_]*)")


def share_of(text, parts):
    """0 .. @parts - 1, by chance but always the same."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % parts


def cells(axes):
    """Of a read `grid:`, where its rules allow one."""
    low, high = axes["fair"]
    out = []
    for point in itertools.product(*(axes[name] for name in AXES)):
        cell = Cell(*point, sawteeth=axes["sawteeth"], bounds=axes["bounds"])
        if low <= cell.fair <= high and cell.queue * cell.bdp >= axes["least_queue"]:
            out.append(cell)
    return out


def placed(node, values, errors):
    """@node with the values of its places."""
    if isinstance(node, Sequence):
        return Sequence(node.line, [placed(item, values, errors) for item in node.items])
    if isinstance(node, Mapping):
        items = {
            key: (line, placed(item, values, errors)) for key, (line, item) in node.items.items()
        }
        return Mapping(node.line, items)

    def value(match):
        if match[1] not in values:
            errors.add(node.line, f"'{match[0]}' is unknown; {choose(match[1], VALUES)}")
        return values.get(match[1], "")

    return Scalar(node.line, PLACE.sub(value, node.text), node.null)


def load(path, settings=()):
    """The scenarios of @path: one, or one for each cell; raises Errors. @settings: (place, text),
    put in before the file is looked at (document.put)."""
    errors = Errors(os.fspath(path))
    root = document.read(path, errors)
    for place, text in settings:
        document.put(root, place, text, errors)
    if not isinstance(root, Mapping) or "grid" not in root.items:
        return [scenario.check(root, errors)]
    line, node = root.items["grid"]
    axes = GRID.read(node, errors)
    if axes is BAD or errors.found:
        raise errors
    found = cells(axes)
    if not found:
        errors.add(line, "the grid has no cell: 'fair' and 'least_queue' leave none")
    ids = [cell.id for cell in found]
    for name, at in zip(axes["short"], getattr(axes["short"], "lines", ()), strict=True):
        if name not in ids:
            errors.add(at, f"no cell is called '{name}'; {choose(name, nearest(name, ids))}")
    if errors.found:
        raise errors
    return [one(path, root, cell, axes, errors) for cell in found]


def nearest(name, ids):
    """Some of them: there are hundreds."""
    words = set(name.split("-"))
    return sorted(ids, key=lambda each: -len(words & set(each.split("-"))))[:4]


def one(path, root, cell, axes, errors):
    """The scenario of @cell."""
    items = {key: value for key, value in root.items.items() if key != "grid"}
    if cell.id not in axes["short"]:
        items.pop("smoke", None)
    out = scenario.check(placed(Mapping(root.line, items), cell.values(), errors), errors)
    out.cell = cell
    return out


def chosen(loaded, pattern=None, part=None):
    """Those whose ids match @pattern (as of files), and of those part (i, n)."""
    out = [each for each in loaded if not pattern or fnmatch.fnmatch(each.id, pattern)]
    if part:
        out = [each for each in out if share_of(f"part {each.id}", part[1]) == part[0] - 1]
    return out
