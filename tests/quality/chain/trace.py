# SPDX-License-Identifier: LGPL-2.1-or-later
"""A laboratory run's packets, as one receiver had them: what was sent, shown, lost, when."""

import bisect
import gzip
import json
from pathlib import Path

import numpy

from . import Wrong

KEYS = ("duration_s", "receiver", "packet_bytes", "streams", "targets", "shown", "packets")
ARRIVED, LOST, LATE = 0, 1, 2
NOTHING = -1  # shown: no stream


class Steps:
    """A value that stays until the next one."""

    def __init__(self, pairs, before):
        self.times = [t for t, _ in pairs]
        self.values = [before, *(value for _, value in pairs)]

    def at(self, time):
        return self.values[bisect.bisect_right(self.times, time)]


class Trace:
    def __init__(self, data, name="trace"):
        for key in KEYS:
            if key not in data:
                raise Wrong(f"{name}: no '{key}'")
        self.name = name
        self.duration = float(data["duration_s"])
        self.receiver = data["receiver"]
        self.packet_bytes = int(data["packet_bytes"])
        self.streams = data["streams"]
        self.layered = bool(data.get("layered"))  # what is shown: this layer and those below
        count = len(self.streams)
        if self.duration <= 0 or not count or self.packet_bytes < 200:
            raise Wrong(f"{name}: no duration, no streams, or packets too small")
        shown = sorted(data["shown"], key=lambda pair: pair[0])
        shown = [(t, NOTHING if stream is None else stream) for t, stream in shown]
        if any(not NOTHING <= stream < count for _, stream in shown):
            raise Wrong(f"{name}: 'shown' names a stream that is not there")
        self.first = next((t for t, stream in shown if stream != NOTHING), None)
        if self.first is None:
            raise Wrong(f"{name}: no stream is ever shown")
        self.shown = Steps(shown, NOTHING)
        self.targets = [
            Steps(
                sorted((t, bps) for t, stream, bps in data["targets"] if stream == number),
                self.streams[number]["low_bps"],
            )
            for number in range(count)
        ]
        self.packets = []
        table = numpy.array(data["packets"], dtype=float).reshape(-1, 3)
        for number in range(count):
            mine = table[table[:, 1] == number]
            mine = mine[numpy.argsort(mine[:, 0], kind="stable")]
            self.packets.append((mine[:, 0], mine[:, 2].astype(int)))

    def fate(self, stream, time):
        """Of the packet that the run sent nearest to @time in @stream."""
        times, fates = self.packets[stream]
        if not len(times):
            return ARRIVED
        after = int(numpy.searchsorted(times, time))
        if after == len(times):
            return int(fates[-1])
        if after and time - times[after - 1] <= times[after] - time:
            after -= 1
        return int(fates[after])

    def loss(self, begin, end):
        """(packets, lost, late) of what was shown between these times."""
        counts = [0, 0, 0]
        for number, (times, fates) in enumerate(self.packets):
            inside = fates[(times >= begin) & (times < end)]
            when = times[(times >= begin) & (times < end)]
            mine = numpy.array([self.has(number, t) for t in when], dtype=bool)
            for fate in (ARRIVED, LOST, LATE):
                counts[fate] += int((inside[mine] == fate).sum()) if len(mine) else 0
        return sum(counts), counts[LOST], counts[LATE]

    def has(self, stream, time):
        """Whether the receiver shows this stream, or takes this layer."""
        shown = self.shown.at(time)
        return stream <= shown if self.layered else stream == shown

    def rate(self, time):
        """The target of what is shown."""
        return sum(
            steps.at(time) for number, steps in enumerate(self.targets) if self.has(number, time)
        )

    def switches(self, begin, end):
        return sum(1 for t in self.shown.times if begin < t < end)


def load(path):
    path = Path(path)
    try:
        opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
        with opened as file:
            data = json.load(file)
        return Trace(data, path.name.removesuffix(".gz").removesuffix(".json"))
    except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
        raise Wrong(f"{path}: {error}") from None


def constant(streams, stream, bps, duration, packet_bytes=1000, name="constant"):
    """A run without loss at one rate: the reference."""
    return Trace(
        {
            "duration_s": duration,
            "receiver": "reference",
            "packet_bytes": packet_bytes,
            "streams": streams,
            "targets": [[0, stream, bps]],
            "shown": [[0, stream]],
            "packets": [],
        },
        name,
    )
