#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers in real pipelines: the scripts and the program of pipelines/, as a user starts them."""

import signal
import subprocess
import sys

import harness

TOPOLOGY = """
host s
router a
host r1
host r2
link access s a delay=5ms
link leaf1 a r1 rate=4000000 delay=10ms queue=30kB
link leaf2 a r2 rate=4000000 delay=10ms queue=30kB
"""


def pictures_in(film):
    """How many pictures FFmpeg decodes, and what it complains of."""
    command = ["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0"]
    command += ["-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", str(film)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    frames = [line.strip(",") for line in done.stdout.split()]
    return int(frames[0]) if frames and frames[0].isdigit() else 0


def stop_all(play, programs):
    for name, program in programs:
        status = program.stop()
        told = program.text()
        play.check(status == 0, f"{name} ends with Ctrl-C", f"{status} {told[-300:]}")
        play.check("ERROR" not in told, f"{name} tells no error", told[-300:])


def test_scripts(play):
    """elm-send and elm-receive."""
    pipelines = harness.TOP / "pipelines"
    words = ["--address", "239.1.4.60", "--port", "6300"]
    sending = play.program(
        "s", "elm-send", [pipelines / "elm-send", *words, "--bitrate", "800", "ttl-mc=8"]
    )
    film = play.record.directory / "film.ts"
    recorder = [pipelines / "elm-receive", *words, "--max-level", "0", "--record", film]
    recording = play.program("r1", "elm-receive", recorder)
    showing = play.program("r2", "shown", [pipelines / "elm-receive", *words, "--no-video"])
    play.wait(lambda: film.exists() and film.stat().st_size > 150_000, 25, "a film is recorded")
    play.check(showing.process.poll() is None, "elm-receive shows it", showing.text()[-300:])
    stop_all(play, (("recording", recording), ("showing", showing), ("sending", sending)))
    play.check(pictures_in(film) > 15, "the film can be decoded", str(pictures_in(film)))


def test_program(play):
    """The program for vp8enc's layers."""
    words = ["pkg-config", "--cflags", "--libs", "gstreamer-1.0"]
    flags = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    program = play.record.directory / "layers"
    source = harness.TOP / "pipelines" / "embed" / "layers.c"
    done = subprocess.run(["cc", "-Wall", source, "-o", program, *flags], check=False)
    play.check(done.returncode == 0, "the program builds")
    sending = play.program("s", "layers", [program, "239.1.4.61", 6310, 20])
    receiver = "elmlayersrc address=239.1.4.61 port=6310 ! rtpvp8depay ! vp8dec ! fakesink".split()
    words = ["gst-launch-1.0", "-m", *receiver]
    receiving = play.program("r1", "receiver", words)
    play.wait(lambda: "to=(int)1" in receiving.text(), 15, "a second layer is taken")
    stop_all(play, (("receiving", receiving), ("sending", sending)))
    for number in (signal.SIGTERM, signal.SIGHUP):
        play.ends_by(number, "s", f"layers-{number}", [program, "239.1.4.61", 6310, 20])


if __name__ == "__main__":
    sys.exit(harness.main("elm", TOPOLOGY, [test_scripts], [test_program]))
