#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adaptation in a real pipeline, the short form of tests/bench: 2 Mb/s -> 600 kb/s -> 2 Mb/s, RTT
40 ms, three receivers; the figures that the project has promised."""

import sys
import threading
import time

import harness
from demolib import measure

HIGH, LOW = 2_000_000, 600_000
DOWN, UP, END = 14.0, 25.0, 50.0
TOPOLOGY = f"""
host s
router a
router b
host r1
host r2
host r3
link access s a
link core a b rate={HIGH} delay=18ms queue=25kB
link leaf1 b r1 delay=2ms
link leaf2 b r2 delay=2ms
link leaf3 b r3 delay=2ms
"""


class Bottleneck:
    """Changes the core link and samples what enters it, so that rates come from the wire."""

    def __init__(self, play):
        self.play = play
        self.capacity = HIGH
        self.running = True
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()

    def sample(self):
        while self.running:
            row = self.play.lab.link_stats("core", "b")
            drops = row["drops_queue"] + row["drops_loss"]
            self.play.record.link_sample(self.capacity, row["in_bytes"], row["rx_bytes"], drops)
            time.sleep(0.1)

    def set(self, capacity):
        self.play.lab.set("core", rate=capacity)
        self.capacity = capacity

    def stop(self):
        self.running = False
        self.thread.join()


def sleep_until(play, when):
    time.sleep(max(0.0, when - play.now()))


def check_figures(play, figures):
    for name, (low, high) in measure.STEP_GOALS.items():
        value = figures[name]
        good = value is not None and (low is None or value >= low)
        good = good and (high is None or value <= high)
        bound = f">= {low}" if high is None else f"<= {high}"
        shown = "never" if value is None else f"{value:.4g}"
        play.check(good, f"{name.replace('_', ' ')} {bound}", f"{shown}: {figures}")
    corrupted = figures["corrupted"]
    play.check(not any(corrupted.values()), "no damaged picture", str(corrupted))


def test_adapt(play):
    bottleneck = Bottleneck(play)
    sender = play.sender("s", "max-bitrate=4000000", harness.picture(854, 480))
    tail = "decodebin ! fakesink name=frames sync=false"
    receivers = [play.receiver(host, "", tail) for host in ("r1", "r2", "r3")]
    for node in receivers:
        play.pictures(node, 30, 10, f"{node.name} has pictures")
    sleep_until(play, DOWN)
    bottleneck.set(LOW)
    sleep_until(play, UP)
    bottleneck.set(HIGH)
    sleep_until(play, END)
    bottleneck.stop()
    play.need_network()
    names = [node.name for node in receivers]
    figures = measure.step_figures(play.record, names, DOWN, UP, END, LOW, HIGH)
    check_figures(play, figures)
    play.suite.tell([measure.words(figures, LOW, HIGH)])
    before = play.record.offered_rate(10, DOWN)
    play.check(before >= 0.7 * HIGH, "the path was used before the fall", f"{before:.0f}")
    play.clean(sender, *receivers, lossless=False)


def test_low_rate(play):
    """A picture far too large for its rate: most packets are headers when the encoder saves."""
    target = 150_000
    sender = play.sender("s", f"max-bitrate={target}", harness.picture(854, 480))
    receiver = play.receiver("r1", "", "decodebin ! fakesink name=frames sync=false")
    play.pictures(receiver, 30, 10, "r1 has pictures")
    sleep_until(play, 12.0)
    sent = [bps for _, bps in harness.series(sender, "sent-bitrate", 4.0)]
    mean = sum(sent) / max(len(sent), 1)
    play.check(0.7 * target <= mean <= 1.03 * target, "the low rate is used", f"{mean:.0f} b/s")
    play.clean(sender, receiver, lossless=False)


if __name__ == "__main__":
    sys.exit(harness.main("adapt", TOPOLOGY, [test_adapt], [test_low_rate]))
