#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Embedding asmpsrc in an application: plays a group and prints its loss and rate each second.

    ./receiver.py asmp://239.255.12.42:5004 [seconds]

A headless machine: VIDEO_SINK=fakesink ./receiver.py ...
"""

import os
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    Gst.init(None)
    video_sink = os.environ.get("VIDEO_SINK", "autovideosink")
    pipeline = Gst.parse_launch(f"asmpsrc name=source ! decodebin ! videoconvert ! {video_sink}")
    source = pipeline.get_by_name("source")
    source.set_property("uri", sys.argv[1])
    loop = GLib.MainLoop()

    def on_tick():
        stats = source.get_property("stats")
        print(
            f"{stats.get_value('received-bitrate') // 1000} kb/s, "
            f"loss {stats.get_value('loss') * 100:.2f} %, "
            f"RTT {stats.get_value('rtt') / 1e6:.0f} ms",
            flush=True,
        )
        return True

    def on_message(bus, message):
        if message.type == Gst.MessageType.ERROR:
            print(message.parse_error()[0].message, file=sys.stderr)
            loop.quit()
        elif message.type == Gst.MessageType.EOS:
            loop.quit()

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", on_message)
    GLib.timeout_add_seconds(1, on_tick)
    if len(sys.argv) > 2:
        GLib.timeout_add_seconds(int(sys.argv[2]), loop.quit)
    pipeline.set_state(Gst.State.PLAYING)
    try:
        loop.run()
    finally:
        # The way down through PAUSED and READY says BYE: the sender knows at once.
        pipeline.set_state(Gst.State.NULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
