#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulcast in real pipelines: receivers behind different bottlenecks end up in the streams that
their paths can carry, and one whose bottleneck changes goes from one to the other and back."""

import subprocess
import sys
import time

import harness

LOW, HIGH = 700_000, 4_000_000  # of the bottlenecks
LADDER = "200000:800000,800000:2500000"
TOPOLOGY = f"""
host s
router a
host r1
host r2
host r3
host rd
link access s a delay=5ms
link leaf1 a r1 rate={LOW} delay=10ms queue=20kB
link leaf2 a r2 rate={HIGH} delay=10ms queue=30kB
link leaf3 a r3 rate={HIGH} delay=10ms queue=30kB
link leafd a rd rate={HIGH} delay=10ms queue=30kB
"""
DOWN = 14.0  # s; later where r3 needs longer to come up
SOURCE = (
    "videotestsrc name=picture is-live=true pattern=smpte horizontal-speed=4 "
    "! video/x-raw,format=I420,width=640,height=360,framerate=25/1"
)
TAIL = "decodebin ! fakesink name=frames sync=false"
BRAKE_S = 8  # from the change of the path to the new picture, with the old queue in between


def switches(node, begin=0.0):
    """(time, fields) of each change of stream."""
    return [
        (line["time"], line["fields"])
        for line in node.of("message")
        if line.get("name") == "adaptive-multicast-switch" and line["time"] >= begin
    ]


def stream_of(node):
    """The stream that a receiver shows; None before the first."""
    told = switches(node)
    return told[-1][1]["to"] if told else None


def where(sender):
    """How many receivers the sender knows in each stream."""
    return [stream["num-receivers"] for stream in sender.stats.get("streams", [])]


def in_streams(play, sender, counts):
    play.wait(
        lambda: where(sender) == counts,
        5,
        f"the sender knows {counts} receivers in its streams",
        lambda: str(where(sender)),
    )


def gap(node, begin, end):
    """The longest time without a new picture; what is sampled is a bit more than what was seen."""
    longest, last = 0.0, (begin, None)
    for line in node.of("frames"):
        if begin <= line["time"] <= end and line["frames"] != last[1]:
            if last[1] is not None:
                longest = max(longest, line["time"] - last[0])
            last = (line["time"], line["frames"])
    return max(longest, end - last[0])


def damaged(node, until=float("inf")):
    return max((row["corrupted"] for row in node.of("frames") if row["time"] <= until), default=0)


def check_switches(play, node, most):
    told = [(round(when, 1), f["from"], f["to"], f["reason"]) for when, f in switches(node)]
    play.check(len(told) <= most, f"{node.name} does not flap", str(told))


def fell_and_rose(play, node):
    """The bottleneck of a receiver in the high stream closes, and opens again."""
    play.lab.set("leaf3", rate=LOW)
    begin = play.now()
    play.wait(lambda: stream_of(node) == 0, BRAKE_S, f"{node.name} goes down")
    down = switches(node, begin)
    told = [(round(when - begin, 2), f["to"], f["reason"], f["duration"]) for when, f in down]
    play.suite.tell([f"{node.name} went down: {told}"])
    if down:
        took = down[-1][1]["duration"] / harness.SECOND
        play.check(took <= 2.0, f"{node.name}: down within 2 s of the decision", f"{took:.2f} s")
    play.pictures(node, 50, 6, f"{node.name} has pictures of the low stream")


def test_assp(play):
    group = "address=239.1.4.1 port=6100"
    pipeline = f"{SOURCE} ! asspsimulcastbin name=mcc {group} streams={LADDER}"
    sender = play.node("s", pipeline)
    nodes = [
        play.node(host, f"asspsimulcastsrc name=mcc {group} ! {TAIL}", interval_ms=100)
        for host in ("r1", "r2", "r3")
    ]
    slow, fast, other = nodes
    for node in nodes:
        play.pictures(node, 25, 10, f"{node.name} has pictures")
        play.check(
            (node.first_frame or 99) <= 3, f"{node.name}: the first soon", f"{node.first_frame} s"
        )
    for node in (fast, other):
        play.wait(lambda n=node: stream_of(n) == 1, 30, f"{node.name} comes up")
    play.wait(
        lambda: where(sender) == [1, 2],
        5,
        "the sender knows who is where",
        lambda: str(where(sender)),
    )
    time.sleep(max(0.0, DOWN - play.now()))
    play.check(stream_of(slow) == 0, f"{slow.name} stays in the low stream")
    fell_and_rose(play, other)
    in_streams(play, sender, [2, 1])
    play.check(stream_of(fast) == 1, f"{fast.name} is not disturbed")
    begin = play.now()
    time.sleep(3)
    for node in nodes:
        longest = gap(node, begin, play.now())
        play.check(longest <= 0.5, f"{node.name}: no picture stands still", f"{longest:.2f} s")
        fresh = damaged(node) - damaged(node, begin)
        play.check(fresh == 0, f"{node.name}: no damaged picture any more", f"{fresh}")
    check_switches(play, slow, 1)
    check_switches(play, fast, 2)
    check_switches(play, other, 3)
    play.clean(sender, slow, fast, lossless=False)
    play.understood(other)


def test_scripts(play):
    """The scripts of pipelines/, as a user starts them."""
    pipelines = harness.TOP / "pipelines"
    words = ["--address", "239.1.4.33", "--port", "6200"]
    ladder = ["--streams", "200000:500000,500000:1200000", "ttl-mc=8"]
    sending = play.program("s", "assp-send", [pipelines / "assp-send", *words, *ladder])
    film = play.record.directory / "film.ts"
    recorder = [pipelines / "assp-receive", *words, "--stream", "0", "--record", film]
    recording = play.program("rd", "assp-receive", recorder)
    showing = play.program("rd", "shown", [pipelines / "assp-receive", *words, "--no-video"])
    play.wait(lambda: film.exists() and film.stat().st_size > 100_000, 25, "a film is recorded")
    play.check(showing.process.poll() is None, "assp-receive shows it", showing.text()[-300:])
    for name, program in (("recording", recording), ("showing", showing), ("sending", sending)):
        status = program.stop()
        told = program.text()
        play.check(status == 0, f"{name} ends with Ctrl-C", f"{status} {told[-300:]}")
        play.check("ERROR" not in told, f"{name} tells no error", told[-300:])
    play.check(pictures_in(film) > 50, "the film can be decoded", str(pictures_in(film)))


def pictures_in(film):
    """How many pictures FFmpeg decodes without an error."""
    command = ["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0"]
    command += ["-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", str(film)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    frames = [line.strip(",") for line in done.stdout.split()]
    return int(frames[0]) if frames and frames[0].isdigit() else 0


if __name__ == "__main__":
    sys.exit(harness.main("assp", TOPOLOGY, [test_assp], [test_scripts]))
