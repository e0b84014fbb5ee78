# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run of layers upon real video: one encoder whose pictures are of several temporal layers."""

from . import content, core, deliver, gst
from .trace import NOTHING, Trace

EXTENSION = 16  # abs-send-time and the order of three layers (docs/wire-format.md)
WAIT = core.SECOND // 5  # for what is missing; elmlayersrc's, which plays 400 ms behind
ONE_WAY = core.SECOND // 20


class Layered:
    """Encoder, payloader and the pacer that all layers share, as elmlayersink has them."""

    def __init__(self, trace, source, library):
        self.trace = trace
        self.pacer = core.Pacer(library)
        self.layers = core.Layers(library, len(trace.streams))
        self.encoder = gst.LayeredEncoder(
            source, deliver.PACKET_BYTES - deliver.HEADERS - EXTENSION
        )

    def encode(self, data, frame, time, now):
        target = sum(steps.at(time) for steps in self.trace.targets)
        bps = self.pacer.ask(target, now)
        if bps:
            self.encoder.set_bitrate(bps)
        self.queue(self.encoder.encode(data, frame), now)

    def queue(self, units, now):
        for frame, data in units:
            layer, unit = self.layers.unit([one[gst.payload_at(one) :] for one in data])
            for number, one in enumerate(data):
                packet = Packet(one, frame, layer, now)
                packet.unit, packet.first = unit, not number
                self.pacer.enqueue(packet, packet.wire_bytes(), len(one) - deliver.RTP_HEADER, now)


class Packet(deliver.Packet):
    __slots__ = ("unit", "first")

    def wire_bytes(self):
        return len(self.data) + EXTENSION + deliver.HEADERS


class LayeredRun(deliver.Run):
    def __init__(self, trace, video, source, sizes, library, *rest):
        super().__init__(trace, video, source, sizes, library, *rest)  # one thread, whatever
        self.all = []  # in the order of sending

    def frame(self, frame, time, keys, expected):
        now = self.now(time)
        self.release(now, keys)
        if not self.streams:
            self.streams[0] = Layered(self.trace, self.source, self.library)
        stream = self.streams[0]
        if keys.make(now, False):
            stream.encoder.force_key_unit()
        stream.encode(self.video[frame % len(self.video)].tobytes(), frame, time, now)

    def left(self, packet, sent, keys):
        timestamp = packet.frame * gst.CLOCK_RATE // self.source.fps
        marker = bool(packet.data[1] & 0x80)
        self.streams[0].layers.packet(
            packet.unit, packet.first, marker, len(packet.data), timestamp
        )
        self.all.append((packet, sent))
        if self.trace.has(packet.stream, packet.sent):
            self.packets.append(packet)
        if not packet.stream:  # what is missing above needs no key unit
            keys.sent(sent, packet.lost, packet.key)

    def drain(self, keys):
        last = self.now(self.begin + self.frames / self.source.fps)
        self.streams[0].queue(self.streams[0].encoder.rest(), last)
        super().drain(keys)

    def delivery(self, expected, keys):
        expected = sorted({packet.frame for packet in self.packets})
        return deliver.Delivery(
            self.begin,
            self.frames,
            expected,
            self.packets,
            keys.made,
            self.merged(lambda packet: not packet.lost),
            self.merged(lambda packet: True),
        )

    def merged(self, comes):
        """What leaves the receiver of the packets for which @comes."""
        begin = self.now(self.begin)
        merge = core.Merge(self.library, self.streams[0].layers, WAIT, begin)
        events = [(begin, self.trace.shown.at(self.begin))]
        for time in self.trace.shown.times:
            if time > self.begin:
                events.append((self.now(time), self.trace.shown.at(time)))
        level = NOTHING
        for number, (packet, sent) in enumerate(self.all):
            while events and events[0][0] <= sent:
                time, new = events.pop(0)
                for layer in range(level + 1, new + 1):
                    merge.join(layer, time + ONE_WAY)
                for layer in range(level, new, -1):
                    merge.leave(layer, time + ONE_WAY)
                level = new
            if packet.stream <= level and comes(packet):
                merge.packet(number, sent + ONE_WAY)
        merge.until(merge.now + core.SECOND)
        return [self.all[number][0] for number in merge.out]


def shares(bps, setting, seconds=20):
    """Of each layer in the bytes on the wire, where nothing is lost."""
    source = content.SIZES[setting.size]
    if setting.frames:
        source = source._replace(frames=setting.frames)
    path = content.make(setting.kind, source, setting.cache)
    each = bps / gst.LAYERS
    data = {
        "duration_s": seconds,
        "receiver": "none",
        "packet_bytes": deliver.PACKET_BYTES,
        "streams": [{"low_bps": each, "high_bps": each}] * gst.LAYERS,
        "layered": True,
        "targets": [[0, layer, each] for layer in range(gst.LAYERS)],
        "shown": [[0, gst.LAYERS - 1]],
        "packets": [],
    }
    video = deliver.video_of(path, source)
    run = LayeredRun(Trace(data), video, source, (), setting.library)
    packets = run.deliver().packets
    total = sum(packet.wire_bytes() for packet in packets)
    mine = [[p.wire_bytes() for p in packets if p.stream == k] for k in range(gst.LAYERS)]
    return [sum(each) / total for each in mine]
