# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run's result as series: sums per bin become sums and rates between any two times."""

import json
import math

import numpy

BINNED = ("bytes", "packets", "lost", "control_bytes", "reports", "delay_sum", "delay_count")
BINNED += ("other_bytes", "frames", "frames_damaged")


def parse(data):
    """A result from JSON; bins as arrays, since lists of 10 000 receivers would take gigabytes."""

    def compact(entry):
        for key in BINNED:
            if isinstance(entry.get(key), list):
                entry[key] = numpy.array(entry[key], dtype=float)
        return entry

    return json.loads(data, object_hook=compact)


class NoValue(Exception):
    """The measure has no value in this run; says why."""


class Run:
    """One result of mccsim. @stands_for: TCP flow in the place of a multicast one -> the receivers
    that it stands for."""

    def __init__(self, result, stands_for=None):
        self.result = result
        self.bin = result["bin"]
        self.duration = result["duration"]
        self.flows = result["flows"]
        self.links = result["links"]
        self.stands_for = stands_for or {}

    def total(self, values, begin, end):
        """Sum of @values (per bin) between two times; a bin cut in two counts by its share."""
        return float(numpy.diff(self.at(values, numpy.array([begin, end])))[0])

    def at(self, values, times):
        """Sum of @values up to each of @times."""
        edges = self.bin * numpy.arange(len(values) + 1)
        sums = numpy.concatenate([[0.0], numpy.cumsum(values)])
        return numpy.interp(times, edges, sums)

    def slots(self, values, begin, end, every):
        """Sums of the whole slots of @every seconds in [begin, end]."""
        count = int(round((end - begin) / every, 6))
        if count < 1:
            raise NoValue(f"no whole {every:g} s between {begin:g} and {end:g} s")
        return numpy.diff(self.at(values, begin + every * numpy.arange(count + 1)))

    def trailing(self, values, begin, end, every):
        """Bin by bin (ends, sums) of the windows of @every seconds within [begin, end]."""
        count = int(math.floor((end - begin - every) / self.bin + 1e-6)) + 1
        times = begin + every + self.bin * numpy.arange(max(0, count))
        return times, self.at(values, times) - self.at(values, times - every)

    def senders(self, flow):
        """The flow itself, or all flows of a group."""
        if flow in self.flows:
            return [self.flows[flow]]
        found = [entry for entry in self.flows.values() if entry["group"] == flow]
        if not found:
            raise NoValue(f"no flow '{flow}' in this variant")
        return found

    def sender(self, flow):
        """The sender's record of a multicast flow."""
        entry = self.senders(flow)[0]
        if entry["kind"] != "multicast":
            raise NoValue(f"'{flow}' is no multicast flow in this variant")
        return entry["sender"]

    def sinks(self, flow, receiver=None):
        """What arrived: of each receiver (or of a group's), of each unicast flow."""
        out = []
        controls = {id(self.flows[name]): ids for name, ids in self.stands_for.items()}
        for entry in self.senders(flow):
            if entry["kind"] == "multicast":
                receivers = entry["receivers"]
                if receiver is None:
                    out += receivers.values()
                elif receiver in receivers:
                    out.append(receivers[receiver])
                else:
                    out += [sink for sink in receivers.values() if sink["group"] == receiver]
                continue
            if receiver is None or receiver in controls.get(id(entry), ()):
                out.append(entry)
        if not out:
            raise NoValue(f"no receiver '{receiver}' of '{flow}' in this variant")
        return out

    def sent(self, flow):
        """Bytes per bin that the flow sends; of a unicast flow those that arrive."""
        entry = self.senders(flow)[0]
        return entry["sender"]["bytes"] if entry["kind"] == "multicast" else entry["bytes"]

    def link(self, link):
        return self.links[link]

    def steps(self, pairs, begin, end):
        """Integral of a step function [[t, v], ...] over [begin, end], and the time it covers."""
        area = covered = 0.0
        ends = [t for t, _ in pairs[1:]] + [self.duration]
        for (start, value), stop in zip(pairs, ends[: len(pairs)], strict=True):
            length = min(stop, end) - max(start, begin)
            if length > 0:
                area += value * length
                covered += length
        return area, covered


def weighted_quantile(values, weights, quantile):
    """The smallest value that at least @quantile of the weight does not exceed."""
    order = numpy.argsort(values)
    sums = numpy.cumsum(numpy.asarray(weights)[order])
    index = numpy.searchsorted(sums, quantile * sums[-1] * (1 - 1e-12))
    return float(numpy.asarray(values)[order][min(index, len(order) - 1)])
