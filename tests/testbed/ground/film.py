#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A film into a pipeline, or what a screen shows of it into a file.

    film.py --film FILE.yuv --times FILE ARGUMENT...   appsrc `camera`: I420, in real time, for ever
    film.py --record FILE ARGUMENT...                  appsink `screen`, in time with its clock;
                                                       what is late, too: quality.py judges that

Otherwise pipelines/node, which gets the other arguments. Each picture bears its number as a bar
code (simplevideomark), which the screen reads (simplevideomarkdetect): so it is known which
picture was shown when, whatever the way did to timestamps. FILE.yuv, the light of what was shown,
and FILE.txt, a line `number time` each (CLOCK_MONOTONIC, s; -1: the number could not be read),
are the record; of the camera there are such lines of when each picture was taken in --times.
"""

import argparse
import importlib.machinery
import importlib.util
import sys
import threading
import time
from pathlib import Path

WIDTH, HEIGHT, FPS = 640, 360, 25
MARK_HEIGHT = 16  # of the bar code, at the bottom: no part of what is compared
BITS = 16
MARK = (
    f"pattern-width=16 pattern-height={MARK_HEIGHT} pattern-count=4 pattern-data-count={BITS} "
    "name=mark"
)
RAW = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={FPS}/1"
SOURCE = f"appsrc name=camera is-live=true format=time caps={RAW} ! simplevideomark {MARK}"
SCREEN = (
    "decodebin ! videoconvert ! videoscale method=lanczos "
    f"! video/x-raw,format=I420,width={WIDTH},height={HEIGHT} "
    f"! simplevideomarkdetect {MARK} ! appsink name=screen sync=true emit-signals=true"
)
NODE = Path(__file__).resolve().parents[3] / "pipelines" / "node"
PICTURE = WIDTH * HEIGHT * 3 // 2
LIGHT = WIDTH * HEIGHT


def node_module():
    loader = importlib.machinery.SourceFileLoader("node", str(NODE))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("node", loader))
    loader.exec_module(module)
    return module


class Camera:
    """Pictures of the film, each at its time, from the first to the last and again."""

    def __init__(self, module, node, path, times):
        self.gst, self.pipeline = module.Gst, node.pipeline
        self.source = node.pipeline.get_by_name("camera")
        self.mark = node.pipeline.get_by_name("mark")
        self.film, self.times = open(path, "rb"), open(times, "w", encoding="ascii")
        self.mark.get_static_pad("sink").add_probe(module.Gst.PadProbeType.BUFFER, self.number)
        threading.Thread(target=self.run, daemon=True).start()

    def number(self, _pad, info):
        self.mark.set_property("pattern-data", info.get_buffer().offset % 2**BITS)
        return self.gst.PadProbeReturn.OK

    def run(self):
        # Not the pipeline's state: a sink may wait for the first picture.
        while self.source.get_state(0)[1] != self.gst.State.PLAYING:
            time.sleep(0.005)
        clock, base = self.pipeline.get_clock(), self.pipeline.get_base_time()
        begin = clock.get_time() - base
        number = 0
        while True:
            due = begin + number * self.gst.SECOND // FPS
            time.sleep(max(0.0, (due - (clock.get_time() - base)) * 1e-9))
            buffer = self.gst.Buffer.new_wrapped(self.picture())
            buffer.pts, buffer.duration = due, self.gst.SECOND // FPS
            buffer.offset = number
            self.times.write(f"{number} {time.monotonic():.4f}\n")
            self.times.flush()
            if self.source.emit("push-buffer", buffer) != self.gst.FlowReturn.OK:
                return
            number += 1

    def picture(self):
        data = self.film.read(PICTURE)
        if len(data) < PICTURE:
            self.film.seek(0)
            data = self.film.read(PICTURE)
        return data


class Screen:
    """What is shown, and when."""

    def __init__(self, module, node, path):
        self.gst = module.Gst
        self.pictures = open(f"{path}.yuv", "wb", buffering=0)
        self.times = open(f"{path}.txt", "w", encoding="ascii")
        self.numbers = {}  # time in the stream -> number, from the detector
        node.pipeline.get_by_name("screen").connect("new-sample", self.show)
        node.pipeline.get_bus().set_sync_handler(self.on_message)

    def on_message(self, _bus, message):
        structure = message.get_structure()
        if structure is None or structure.get_name() != "GstSimpleVideoMarkDetect":
            return self.gst.BusSyncReply.PASS
        found = structure.get_boolean("have-pattern")[1]
        at = structure.get_uint64("timestamp")[1]
        self.numbers[at] = structure.get_uint64("data")[1] if found else -1
        return self.gst.BusSyncReply.DROP

    def show(self, sink):
        now = time.monotonic()
        buffer = sink.emit("pull-sample").get_buffer()
        number = self.numbers.pop(buffer.pts, -1)
        self.pictures.write(buffer.extract_dup(0, LIGHT))
        self.times.write(f"{number} {now:.4f}\n")
        self.times.flush()
        return self.gst.FlowReturn.OK


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--film")
    parser.add_argument("--times")
    parser.add_argument("--record")
    own, rest = parser.parse_known_args()
    module = node_module()

    class Node(module.Node):
        def __init__(self, *words):
            super().__init__(*words)
            if own.film:
                Camera(module, self, own.film, own.times)
            else:
                Screen(module, self, own.record)

    module.Node = Node
    sys.argv[1:] = rest
    return module.main()


if __name__ == "__main__":
    sys.exit(main())
