#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Embedding a receiver in an application: plays a group, prints its loss and rate each second, and
which stream or layer it is in.

    ./receiver.py asmp://239.255.12.42:5004 [seconds]
    ./receiver.py assp://239.255.12.50:5010         simulcast
    ./receiver.py elm://239.255.12.60:5020          layers

A headless machine: VIDEO_SINK=fakesink ./receiver.py ...
"""

import os
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


class Player:
    def __init__(self, uri):
        video_sink = os.environ.get("VIDEO_SINK", "autovideosink")
        self.loop = GLib.MainLoop()
        self.status = 0
        # The scheme says which element it is: asmpsrc, asspsimulcastsrc or elmlayersrc.
        self.source = Gst.Element.make_from_uri(Gst.URIType.SRC, uri, None)
        self.pipeline = Gst.parse_launch(f"decodebin name=decoder ! videoconvert ! {video_sink}")
        self.pipeline.add(self.source)
        self.source.link(self.pipeline.get_by_name("decoder"))
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)

    def on_tick(self):
        stats = self.source.get_property("stats")
        print(
            f"{stats.get_value('received-bitrate') // 1000} kb/s, "
            f"loss {stats.get_value('loss') * 100:.2f} %, "
            f"RTT {stats.get_value('rtt') / 1e6:.0f} ms",
            flush=True,
        )
        return True

    def on_message(self, bus, message):
        if message.type == Gst.MessageType.WARNING:
            print(message.parse_warning()[0].message, file=sys.stderr)
        elif message.type == Gst.MessageType.ERROR:
            # Where the path does not carry the least: to try again later is the application's.
            print(message.parse_error()[0].message, file=sys.stderr)
            self.status = 1
            self.loop.quit()
        elif message.type == Gst.MessageType.EOS:
            self.loop.quit()
        elif message.type == Gst.MessageType.LATENCY:
            # Decoders tell theirs late; sinks would else drop what they find too old.
            self.pipeline.recalculate_latency()
        elif message.has_name("adaptive-multicast-switch"):
            change = message.get_structure()
            print(f"now in {change.get_value('to')}: {change.get_value('reason')}", flush=True)

    def stop(self):
        self.loop.quit()
        return False

    def play(self, seconds):
        GLib.timeout_add_seconds(1, self.on_tick)
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup
            numbers.append(signal.SIGHUP)
        for number in numbers:
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self.stop)
        if seconds:
            GLib.timeout_add_seconds(seconds, self.stop)
        self.pipeline.set_state(Gst.State.PLAYING)
        self.loop.run()
        # The way down through PAUSED and READY says BYE: the sender knows at once.
        self.pipeline.set_state(Gst.State.NULL)
        return self.status


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    Gst.init(None)
    try:
        player = Player(sys.argv[1])
    except GLib.Error as error:
        print(error.message, file=sys.stderr)
        return 2
    return player.play(int(sys.argv[2]) if len(sys.argv) > 2 else 0)


if __name__ == "__main__":
    sys.exit(main())
