#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Begin, pause, end; several elements in a process; players, recordings and the examples."""

import json
import re
import signal
import subprocess
import sys
import time

import harness
from harness import TOP, picture, rows

TOPOLOGY = """
router g
host sa
host ra
link sa sa g delay=5ms
link ra ra g delay=5ms
host sb
host rb
link sb sb g delay=5ms
link rb rb g delay=5ms
host sc
host rc
link sc sc g delay=5ms
link rc rc g delay=5ms
host sf
host rf
link sf sf g delay=5ms
link rf rf g delay=5ms
host sd
host se
host rd
link sd sd g delay=5ms
link se se g delay=5ms
link rd rd g delay=5ms
"""
BYE = 203


def rtp_times(wire):
    return [row["time"] for row in wire.packets(out=True) if "rtp" in row]


def byes(wire, address, begin=0.0):
    return [
        row["time"]
        for row in wire.packets(src=address)
        if row["time"] >= begin and any(kind == BYE for kind, _, _ in row.get("rtcp", []))
    ]


def make_film(play):
    film = play.record.directory / "film.mp4"
    line = f"{picture(live='num-buffers=90')} ! fakesink"
    line = line.replace("rtph264pay ! fakesink", f"h264parse ! mp4mux ! filesink location={film}")
    argv = ["gst-launch-1.0", "-q", *line.split()]
    subprocess.run(argv, check=True, timeout=30, env=play.suite.env)
    return film


def test_eos(play):
    """Sources that end: EOS after the last packet, and BYE; the receivers stay for the next one."""
    film = make_film(play)
    wire = play.capture("sa")
    receiver = play.receiver("ra", "")
    play.until(lambda: receiver.of("state"), 5)
    sender = play.sender("sa", "", picture(live="num-buffers=90"))
    when = play.wait(lambda: sender.of("eos"), 10, "a non-live source ends with EOS")
    if when:
        end, packets = sender.of("eos")[0]["time"], rtp_times(wire)
        took = end - packets[-1]
        play.check(0 <= took <= 0.5, "EOS within 0.5 s of the last packet", f"{took:.2f} s")
        length = packets[-1] - packets[0]
        play.check(2.5 < length < 4, "90 pictures took 3 s", f"{length:.1f} s")
    play.wait(lambda: byes(wire, play.address("sa")), 2, "the sender said BYE")
    play.wait(
        lambda: receiver.frames.get("frames", 0) >= 85,
        3,
        "the receiver shows the pictures up to the end",
        lambda: str(receiver.frames),
    )

    shown, begin = receiver.frames.get("frames", 0), play.now()
    line = f"filesrc location={film} ! decodebin ! videoconvert ! video/x-raw,format=I420"
    line += " ! x264enc tune=zerolatency ! rtph264pay ! asmpsink"
    program = play.program("sa", "film", ["gst-launch-1.0", *line.split()])
    status = program.ended(15)
    took = play.now() - rtp_times(wire)[-1]
    play.check(status == 0, "a film streams to its end with gst-launch", program.text()[-300:])
    play.check(took <= 1.2, "gst-launch ends soon after the last packet", f"{took:.2f} s")
    play.check(bool(byes(wire, play.address("sa"), begin)), "the film's sender said BYE")
    play.wait(
        lambda: receiver.frames.get("frames", 0) - shown >= 80,
        3,
        "the same receiver shows the film",
        lambda: f"{receiver.frames.get('frames', 0) - shown}",
    )
    play.check(receiver.process.poll() is None, "the receiver outlives its senders")
    play.clean(receiver)


def test_states(play):
    """Pause and resume, NULL and PLAYING again, on both sides."""
    wire = play.capture("sb")
    sender = play.sender("sb", "address=239.1.3.2 max-bitrate=400000")
    receiver = play.receiver("rb", "address=239.1.3.2")
    play.pictures(receiver, 30, 10, "there are pictures")
    play.wait(lambda: rows(sender), 5, "the sender knows its receiver")

    for node, who in ((sender, "sender"), (receiver, "receiver")):
        node.say("state paused")
        time.sleep(1)
        before = receiver.frames["frames"]
        time.sleep(1)
        still = receiver.frames["frames"] - before
        play.check(still <= 2, f"the {who} is paused: no pictures", f"{still}")
        node.say("state playing")
        play.pictures(receiver, 45, 6, f"the {who} goes on")

    for turn in (1, 2):
        begin = play.now()
        receiver.say("state null")
        gone = play.until(lambda: not rows(sender), 4)
        took = 99 if gone is None else gone - begin
        play.check(took < 1.3, f"receiver to NULL ({turn}): seen within 1 s", f"{took:.2f} s")
        receiver.say("state playing")
        play.pictures(receiver, 30, 6, f"receiver to PLAYING again ({turn})")
    play.wait(lambda: rows(sender), 4, "the sender knows it again")

    for turn in (1, 2):
        begin = play.now()
        sender.say("state null")
        said = play.until(lambda since=begin: byes(wire, play.address("sb"), since), 2)
        play.check(said is not None, f"sender to NULL ({turn}): BYE")
        time.sleep(0.5)
        sender.say("state playing")
        play.pictures(receiver, 45, 8, f"sender to PLAYING again ({turn})")
        play.wait(lambda: rows(sender), 5, f"and it knows its receiver ({turn})")
    play.clean(sender, receiver)


def last(node, kind, element):
    return next((line for line in reversed(node.of(kind)) if line["element"] == element), {})


def test_process(play):
    """Two senders, a receiver and a local preview in one process."""
    pay = "x264enc tune=zerolatency speed-preset=superfast ! rtph264pay"
    head = picture().partition("! x264enc")[0]
    node = play.node(
        "sc",
        f"{head} ! tee name=t "
        f"t. ! queue ! {pay} ! asmpsink name=mcc1 address=239.1.3.3 max-bitrate=300000 "
        f"t. ! queue ! {pay} ! asmpsink name=mcc2 address=239.1.3.4 max-bitrate=300000 "
        "t. ! queue ! fakesink name=frames_preview sync=true "
        "asmpsrc name=mcc3 address=239.1.3.3 "
        "! rtph264depay ! avdec_h264 ! fakesink name=frames_own",
    )
    other = play.receiver("rc", "address=239.1.3.4")
    shown = lambda element: last(node, "frames", element).get("frames", 0)  # noqa: E731
    play.wait(lambda: shown("frames_preview") > 60, 10, "the preview runs")
    play.wait(lambda: shown("frames_own") > 60, 10, "the own group is received")
    play.pictures(other, 60, 10, "the second group is received elsewhere")
    for element in ("mcc1", "mcc2"):
        count = lambda: last(node, "stats", element).get("num-receivers")  # noqa: E731, B023
        play.wait(lambda: count() == 1, 4, f"{element} has its one receiver")  # noqa: B023
        ssrcs = {row["ssrc"] for row in last(node, "stats", element).get("receivers", [])}
        play.check(len(ssrcs) == 1, f"{element} knows one SSRC", str(ssrcs))
    before, begin = shown("frames_preview"), play.now()
    time.sleep(2)
    rate = (shown("frames_preview") - before) / (play.now() - begin)
    play.check(24 < rate < 36, "the preview is fluent", f"{rate:.1f} pictures a second")
    play.clean(node, other)
    status = node.stop()
    play.check(status == 0, "a clean end", str(status))


def test_codecs(play):
    """VP8, Opus in the same process, and an encoder that cannot follow."""
    video = picture().partition("! x264enc")[0]
    node = play.node(
        "sf",
        f"{video} ! vp8enc deadline=1 ! rtpvp8pay ! asmpsink name=mcc_video address=239.1.3.6 "
        "audiotestsrc is-live=true ! audioconvert ! opusenc ! rtpopuspay "
        "! asmpsink name=mcc_audio address=239.1.3.7",
    )
    tail = "decodebin ! fakesink name=frames sync=false"
    vp8 = play.receiver("rf", "address=239.1.3.6", tail, "vp8")
    opus = play.receiver("rf", "address=239.1.3.7", tail, "opus")
    play.pictures(vp8, 60, 12, "VP8 is announced, received and decoded")
    play.pictures(opus, 60, 12, "and so is Opus")
    line = f"{video} ! avenc_mpeg4 ! rtpmp4vpay ! asmpsink address=239.1.3.8"
    fixed = play.node("sf", line, "avenc")
    heard = lambda: [m["text"] for m in fixed.of("warning") + fixed.of("error")]  # noqa: E731
    said = lambda: [text for text in heard() if "Plain RTP" not in text]  # noqa: E731
    play.wait(said, 6, "an encoder that cannot change its rate is refused")
    play.check("x264enc" in " ".join(said()), "with the names of some that can", str(said()))
    play.clean(node, vp8, opus)


def build_example(play):
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "gstreamer-1.0"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    program = play.record.directory / "sender"
    source = TOP / "pipelines" / "embed" / "sender.c"
    done = subprocess.run(["cc", "-Wall", source, "-o", program, *flags], check=False)
    play.check(done.returncode == 0, "the C example builds")
    return program


def check_recording(play, path):
    argv = ["ffprobe", "-v", "error", "-select_streams", "v", "-count_frames", "-of", "json"]
    argv += ["-show_entries", "stream=codec_name,nb_read_frames,width", str(path)]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=30)
    streams = json.loads(done.stdout or "{}").get("streams") or [{}]
    frames = int(streams[0].get("nb_read_frames", 0))
    good = done.returncode == 0 and streams[0].get("codec_name") == "h264" and frames >= 60
    play.check(good, f"{path.name} plays", f"{streams} {done.stderr[-300:]}")


def check_service_stop(play, program, sender):
    """As systemd does it: SIGTERM to all processes."""
    before = sender.text().count("receiver left")
    program.signal(signal.SIGTERM)
    status = program.ended(5)
    play.check(status == 0, "asmp-receive --record ends with SIGTERM", f"{status}")
    play.wait(lambda: sender.text().count("receiver left") > before, 2, "and says BYE")


def test_players(play):
    """The examples, the scripts, and GStreamer's own programs, as the documentation types them."""
    group = "239.255.12.43"
    uri = f"asmp://{group}:5004"
    example = play.program("sd", "sender-c", [build_example(play), group, 5004, 14])
    pipelines = TOP / "pipelines"
    target = f"asmpsrc address={group} port=5004"
    recorder = [pipelines / "asmp-receive", "--address", group, "--record"]
    film, cut = (play.record.directory / name for name in ("recording.ts", "cut.ts"))
    python = ["/usr/bin/python3", pipelines / "embed" / "receiver.py", uri, 9]
    launch = f"gst-launch-1.0 {target} ! decodebin ! videoconvert ! fakesink"
    programs = {
        "asmp-receive": play.program("rd", "asmp-receive", [*recorder, film]),
        "stopped": play.program("rd", "stopped", [*recorder, play.record.directory / "stopped.ts"]),
        "cut off": play.program("rd", "cut-off", [*recorder, cut]),
        "receiver.py": play.program("rd", "receiver-py", python, {"VIDEO_SINK": "fakesink"}),
        "gst-play-1.0": play.program(
            "rd", "gst-play", ["gst-play-1.0", "--no-interactive", uri, "--videosink=fakesink"]
        ),
        "gst-launch-1.0": play.program("rd", "gst-launch", launch.split()),
    }
    tail = "videoconvert ! fakesink name=frames sync=false"
    by_uri = play.node("rd", f"uridecodebin uri={uri} ! {tail}", "uridecodebin")
    scripted = play.program(
        "se", "asmp-send", [pipelines / "asmp-send", "--address", "239.255.12.44", "ttl-mc=8"]
    )
    by_script = play.receiver("rd", "address=239.255.12.44", f"decodebin ! {tail}", "decodebin")
    play.pictures(by_uri, 60, 12, "uridecodebin plays the asmp:// URI")
    play.pictures(by_script, 60, 12, "asmp-send streams, decodebin decodes")
    status = programs["receiver.py"].ended(15)
    text = programs["receiver.py"].text()
    play.check(status == 0, "the Python example ends after its time", text[-300:])
    rates = [int(rate) for rate in re.findall(r"^(\d+) kb/s, loss 0\.00 %", text, re.M)]
    play.check(max(rates, default=0) > 50, "it prints what it receives", text[-300:])
    for name, program in programs.items():
        if name != "receiver.py":
            play.check(program.process.poll() is None, f"{name} still plays", program.text()[-300:])
    status = programs["asmp-receive"].stop()
    play.check(status == 0, "asmp-receive --record ends with Ctrl-C", str(status))
    check_service_stop(play, programs["stopped"], example)
    check_recording(play, film)
    programs["cut off"].signal(signal.SIGKILL)
    programs["cut off"].ended(5)
    check_recording(play, cut)
    for name in ("gst-play-1.0", "gst-launch-1.0"):
        # Ctrl-C does not end gst-play without a terminal's keys; a kill is no fault of ours.
        status = programs[name].stop() if name != "gst-play-1.0" else programs[name].stop(1)
        text = programs[name].text()
        play.check("ERROR" not in text, f"{name} tells no error", text[-300:])
    status = example.ended(15)
    text = example.text()
    play.check(status == 0, "the C example ends after its time", text[-300:])
    for number in (signal.SIGTERM, signal.SIGHUP):
        argv = [play.record.directory / "sender", group, 5004, 20]
        play.ends_by(number, "sd", f"sender-c-{number}", argv)
        env = {"VIDEO_SINK": "fakesink"}
        play.ends_by(number, "rd", f"receiver-py-{number}", [*python[:-1], 20], env)
    play.check("receiver joined" in text, "it tells of its receivers", text[-300:])
    play.check(bool(re.search(r"allows \d+ kb/s", text)), "and of its target", text[-300:])
    status = scripted.stop()
    play.check(status == 0, "asmp-send ends with Ctrl-C", f"{status} {scripted.text()[-300:]}")
    play.clean(by_uri, by_script)


if __name__ == "__main__":
    tests = [test_eos, test_states, test_process, test_codecs, test_players]
    sys.exit(harness.main("life", TOPOLOGY, tests))
