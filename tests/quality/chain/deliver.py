# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run's rates and losses upon real video: frames in, packets with their fate out."""

import struct
from typing import NamedTuple

import numpy

from . import core, gst
from .trace import ARRIVED, LATE, NOTHING

PACKET_BYTES = 1000  # IP bytes of a full one, as in the papers
HEADERS = 28  # IPv4 and UDP
EXTENSION = 8  # abs-send-time, which the pacer adds
RTP_HEADER = 12
WARM = 2.0  # s; a stream is encoded that long before it is shown, so that its encoder is settled


class StreamSize(NamedTuple):
    width: int
    height: int
    step: int = 1  # every step-th frame of the source


class Packet:
    __slots__ = ("data", "frame", "stream", "queued", "sent", "fate", "lost", "key")

    def __init__(self, data, frame, stream, queued):
        self.data, self.frame, self.stream, self.queued = data, frame, stream, queued
        self.sent, self.fate, self.lost = None, ARRIVED, False
        self.key = gst.is_key_unit(data)

    def wire_bytes(self):
        return len(self.data) + EXTENSION + HEADERS


class Stream:
    """One encoder, payloader, and pacer of the run; begun when it is first needed."""

    def __init__(self, number, trace, size, source, library, threads=1):
        self.number = number
        self.size = size
        self.pacer = core.Pacer(library)
        self.target = trace.targets[number]
        self.encoder = gst.Encoder(
            source,
            size.width,
            size.height,
            size.step,
            PACKET_BYTES - HEADERS - EXTENSION,
            threads=threads,
        )

    def encode(self, data, frame, time, now):
        bps = self.pacer.ask(self.target.at(time), now)
        if bps:
            self.encoder.set_bitrate(bps)
        for packet in self.encoder.encode(data, frame):
            packet = Packet(packet, frame, self.number, now)
            payload = len(packet.data) - RTP_HEADER
            self.pacer.enqueue(packet, packet.wire_bytes(), payload, now)


class Delivery(NamedTuple):
    begin: float
    frames: int  # of the source
    expected: list  # numbers of the frames that were to be shown anew
    packets: list  # sent of what is shown
    keys: int  # key units on request
    seen: list  # in the order of the receiver's one stream; gaps where they are lost
    clean: list  # the same, nothing being lost


class Run:
    """@video: the source's frames, begun again at their end."""

    def __init__(
        self,
        trace,
        video,
        source,
        sizes,
        library,
        begin=0.0,
        end=None,
        rtt=0.1,
        late_lost=True,
        threads=1,
    ):
        self.threads = threads
        self.late_lost = late_lost
        self.trace, self.video, self.source, self.sizes = trace, video, source, sizes
        self.library = library
        self.begin = max(begin, trace.first)
        self.frames = int((min(end or trace.duration, trace.duration) - self.begin) * source.fps)
        self.streams = {}
        self.rtt = int(rtt * core.SECOND)
        self.packets = []

    def now(self, time):
        """The pacer's and encoder's clock: does not begin at zero."""
        return int((time + 1000) * core.SECOND)

    def active(self, time):
        """The streams that are to be encoded: shown, or soon."""
        soon = [self.trace.shown.at(t) for t in self.trace.shown.times if time < t <= time + WARM]
        return {self.trace.shown.at(time), *soon} - {NOTHING}

    def stream(self, number):
        if number not in self.streams:
            self.streams[number] = Stream(
                number, self.trace, self.sizes[number], self.source, self.library, self.threads
            )
        return self.streams[number]

    def release(self, until, keys):
        for stream in self.streams.values():
            for packet, sent in stream.pacer.pump(until):
                packet.sent = sent / core.SECOND - 1000
                packet.fate = self.trace.fate(packet.stream, packet.sent)
                packet.lost = packet.fate != ARRIVED and (self.late_lost or packet.fate != LATE)
                self.left(packet, sent, keys)

    def left(self, packet, sent, keys):
        if packet.stream == self.shown:
            keys.sent(sent, packet.lost, packet.key)

    def deliver(self):
        keys = core.Keys(self.library, self.rtt, self.now(self.begin))
        self.shown, expected = NOTHING, []
        try:
            for frame in range(self.frames):
                time = self.begin + frame / self.source.fps
                self.frame(frame, time, keys, expected)
            self.drain(keys)
        finally:
            for stream in self.streams.values():
                stream.encoder.stop()
        return self.delivery(expected, keys)

    def drain(self, keys):
        self.release(core.NONE, keys)

    def delivery(self, expected, keys):
        packets = self.packets
        return Delivery(self.begin, self.frames, expected, packets, keys.made, packets, packets)

    def frame(self, frame, time, keys, expected):
        now = self.now(time)
        self.release(now, keys)
        shown = self.trace.shown.at(time)
        cut, self.shown = shown != self.shown, shown
        wanted = keys.make(now, cut and shown != NOTHING)
        data = self.video[frame % len(self.video)].tobytes()
        for number in sorted(self.active(time)):
            stream = self.stream(number)
            if number == shown and wanted:
                stream.encoder.force_key_unit()
            # The cut is at a key unit, whatever the rate of the frames.
            if frame % stream.size.step and not (number == shown and cut):
                continue
            stream.encode(data, frame, time, now)
            if number == shown:
                expected.append(frame)
                self.packets += stream.pacer.queue[-self.count(stream, frame) :]

    @staticmethod
    def count(stream, frame):
        return sum(1 for packet in stream.pacer.queue if packet.frame == frame)


def spliced(packets, fps):
    """[(RTP packet, frame)] as a receiver's splice gives them: one SSRC, one count; gaps stay."""
    out = []
    for sequence, packet in enumerate(packets):
        timestamp = packet.frame * gst.CLOCK_RATE // fps
        data = bytearray(packet.data)
        struct.pack_into(
            "!HII", data, 2, sequence + 1000 & 0xFFFF, timestamp + 77777 & 0xFFFFFFFF, 0x51A11
        )
        out.append((bytes(data), packet.frame))
    return out


def decode(packets, source, losses=True):
    """(number of the frame, I420) of each picture that a viewer gets, in time."""
    with gst.Decoder(source, source.fps) as decoder:
        for (data, frame), packet in zip(spliced(packets, source.fps), packets, strict=True):
            if not packet.lost or not losses:
                decoder.push(data, frame * decoder.step)
        decoder.end()
        yield from decoder.pictures()


def show(pictures, frames, source):
    """Yields (picture, whether it is new) of each of @frames: what is missing stays as it was."""
    last = bytes(source.width * source.height) + b"\x80" * (source.width * source.height // 2)
    pictures = iter(pictures)
    coming = next(pictures, None)
    for frame in range(frames):
        new = False
        while coming and coming[0] <= frame:
            last, new = coming[1], coming[0] == frame
            coming = next(pictures, None)
        yield last, new


def video_of(path, source):
    """The content's frames, an array of bytes each; not read before they are needed."""
    return numpy.memmap(path, dtype=numpy.uint8, mode="r").reshape(-1, source.bytes)
