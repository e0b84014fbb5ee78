# SPDX-License-Identifier: LGPL-2.1-or-later
"""The core's laws (law.c, layerlaw.c): encoder's bitrate, pacer, key units on request, layers."""

import ctypes
import os
from pathlib import Path

from . import Wrong

NONE = 2**64 - 1
SECOND = 1_000_000_000

SIGNATURES = {
    "picture": ("", "IIIQQa"),
    "sender_new": ("p", ""),
    "sender_free": ("", "p"),
    "sender_ask": ("Q", "pQQ"),
    "sender_packet": ("", "pIIQ"),
    "sender_next": ("Q", "p"),
    "sender_release": ("I", "pQ"),
    "keys_new": ("p", "QQ"),
    "keys_free": ("", "p"),
    "keys_lost": ("", "pQ"),
    "keys_got": ("", "p"),
    "keys_request": ("i", "pQ"),
    "keys_requested": ("", "pQ"),
    "keys_made": ("", "pQ"),
    "keys_make": ("i", "pQ"),
    "layers_new": ("p", "I"),
    "layers_free": ("", "p"),
    "layers_payload": ("", "psI"),
    "layers_unit": ("I", "p"),
    "layers_packet": ("", "pIiiII"),
    "merge_new": ("p", "IQQ"),
    "merge_free": ("", "pQ"),
    "merge_join": ("", "pIQ"),
    "merge_leave": ("", "pIQ"),
    "merge_handle": ("", "ppIQ"),
    "merge_next": ("Q", "p"),
    "merge_timeout": ("", "pQ"),
    "merge_poll": ("q", "p"),
}
TYPES = {
    "": None,
    "p": ctypes.c_void_p,
    "s": ctypes.c_char_p,
    "Q": ctypes.c_uint64,
    "q": ctypes.c_int64,
    "I": ctypes.c_uint32,
    "i": ctypes.c_int,
    "a": ctypes.POINTER(ctypes.c_uint32),
}


class Library:
    def __init__(self, builddir):
        path = os.environ.get("MCC_QUALITY") or Path(builddir) / "tests/quality/libmccquality.so"
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise Wrong(f"{error}; build it by pipelines/setup --with test") from None
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, "quality_" + name)
            function.restype = TYPES[result]
            function.argtypes = [TYPES[letter] for letter in arguments]
            setattr(self, name, function)

    def picture_of(self, source, stream):
        """(width, height, every) that asspsimulcastbin gives a stream of these bounds."""
        out = (ctypes.c_uint32 * 3)()
        self.picture(
            *(source.width, source.height, source.fps),
            *(int(stream["low_bps"]), int(stream["high_bps"]), out),
        )
        return tuple(out)


class Pacer:
    """A stream's sender: what the encoder is asked for, and when packets leave."""

    def __init__(self, library):
        self.library = library
        self.handle = library.sender_new()
        self.queue = []

    def __del__(self):
        self.library.sender_free(self.handle)

    def ask(self, target_bps, now):
        """bit/s for the encoder, or 0: as before."""
        return self.library.sender_ask(self.handle, int(target_bps), now)

    def enqueue(self, packet, wire_bytes, payload_bytes, now):
        self.library.sender_packet(self.handle, wire_bytes, payload_bytes, now)
        self.queue.append(packet)

    def pump(self, until):
        """Yields (packet, when it left), all that leave before @until."""
        while self.queue:
            now = self.library.sender_next(self.handle)
            if now >= until:
                return
            now = max(now, self.queue[0].queued)
            for _ in range(self.library.sender_release(self.handle, now)):
                yield self.queue.pop(0), now


class Keys:
    """Key units on request: a receiver that misses packets asks, the sender answers."""

    def __init__(self, library, rtt, now):
        self.library = library
        self.half = rtt // 2
        self.handle = library.keys_new(rtt, now)
        self.events = []  # (time at the receiver, lost or key unit)
        self.requests = []  # (time at the sender)
        self.made = 0

    def __del__(self):
        self.library.keys_free(self.handle)

    def sent(self, now, lost, key_begins):
        if lost or key_begins:
            self.events.append((now + self.half, lost))

    def make(self, now, cut):
        """Whether the frame of @now is to be a key unit, as it is at a @cut; frame by frame."""
        self.events.sort(key=lambda event: event[0])
        while self.events and self.events[0][0] <= now:
            time, lost = self.events.pop(0)
            if lost:
                self.library.keys_lost(self.handle, time)
            else:
                self.library.keys_got(self.handle)
        if self.library.keys_request(self.handle, now):
            self.requests.append(now + self.half)
        while self.requests and self.requests[0] <= now:
            self.library.keys_requested(self.handle, self.requests.pop(0))
        if cut:
            self.library.keys_made(self.handle, now)
            return True
        if not self.library.keys_make(self.handle, now):
            return False
        self.made += 1
        return True


class Layers:
    """The sender's side of layers: which layer a picture is of, the order its packets carry."""

    def __init__(self, library, count):
        self.library, self.count = library, count
        self.handle = library.layers_new(count)

    def __del__(self):
        self.library.layers_free(self.handle)

    def unit(self, payloads):
        """(layer, what packet() takes) of a whole picture."""
        for payload in payloads:
            self.library.layers_payload(self.handle, payload, len(payload))
        unit = self.library.layers_unit(self.handle)
        if unit == 2**32 - 1:
            raise Wrong("a picture whose layer cannot be read")
        return unit & 0xFF, unit

    def packet(self, unit, first, marker, size, timestamp):
        """The next in the order of sending; they are numbered from 0."""
        self.library.layers_packet(self.handle, unit, first, marker, size, timestamp & 0xFFFFFFFF)


class Merge:
    """The receiver's side: packets of layers in, those that can be decoded out, in their order."""

    def __init__(self, library, layers, wait, now):
        self.library, self.layers, self.now = library, layers, now
        self.handle = library.merge_new(layers.count, wait, now)
        self.out = []

    def __del__(self):
        self.library.merge_free(self.handle, self.now)

    def until(self, now):
        while (due := self.library.merge_next(self.handle)) <= now:
            self.now = max(self.now, due)
            self.library.merge_timeout(self.handle, self.now)
            self.drain()
        self.now = max(self.now, now)

    def drain(self):
        while (number := self.library.merge_poll(self.handle)) >= 0:
            self.out.append(number)

    def join(self, layer, now):
        self.until(now)
        self.library.merge_join(self.handle, layer, self.now)
        self.drain()

    def leave(self, layer, now):
        self.until(now)
        self.library.merge_leave(self.handle, layer, self.now)
        self.drain()

    def packet(self, number, now):
        self.until(now)
        self.library.merge_handle(self.handle, self.layers.handle, number, self.now)
        self.drain()
