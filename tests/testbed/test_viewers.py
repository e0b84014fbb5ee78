#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What viewers saw, without a network: records of screens, and the page."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sim"), str(HERE.parent / "sim" / "tests")]

import tap  # noqa: E402
from ground import film, quality, viewers  # noqa: E402
from lab import scenario  # noqa: E402
from test_ground import load, placed, program_of, result_of, stream  # noqa: E402


def shown(numbers, delay=0.3, late=None):
    """Records of pictures that were shown @delay after they were taken."""
    late = late or {}
    return [(n, n / film.FPS + delay + late.get(n, 0.0)) for n in numbers]


def saw(rows, first=0, last=99):
    taken = {n: n / film.FPS for n in range(500)}
    reel = quality.Film.__new__(quality.Film)
    stood = []

    def compare(_name, stands, due):
        stood.extend(stands)
        return {"ssim": [1.0] * len(due), "psnr": [40.0] * len(due)}

    reel.compare = compare
    return reel.figures("r", rows, taken, list(range(first, last + 1))), stood


def test_all_pictures_in_time():
    got, stood = saw(shown(range(100)))
    assert got["lost"] == 0 and got["stops_100ms"] == 0 and stood == list(range(100)), got
    assert abs(got["delay_mean"] - 0.3) < 1e-6 and abs(got["longest_stop"] - 0.04) < 1e-6, got


def test_a_stop_is_seen_and_the_last_picture_stands():
    got, stood = saw(shown([*range(40), *range(50, 100)]))
    assert abs(got["longest_stop"] - 0.44) < 1e-6 and got["stops_200ms"] == 1, got
    assert abs(got["lost"] - 0.1) < 1e-9
    assert stood[39:51] == [39] * 11 + [40], stood[39:51]
    got, _ = saw(shown(range(70)))  # to the end
    assert got["stops_200ms"] == 1 and abs(got["longest_stop"] - 1.24) < 0.05, got
    got, stood = saw([])
    assert got["lost"] == 1 and stood[0] == -1 and got["longest_stop"] > 3.9, got


def test_what_comes_late_is_not_seen_in_time():
    late = {50: 0.15, 51: 0.11, 52: 0.07, 53: 0.03}  # all at once, when it is 53's time
    got, stood = saw(shown(range(100), late=late))
    assert got["stops_100ms"] == 1 and got["stops_200ms"] == 0, got
    assert abs(got["lost"] - 0.04) < 1e-9 and stood[49:55] == [49] * 5 + [54], stood[48:56]
    late = {n: 0.04 * (280 - n) for n in range(240, 280)}  # after a stop of 1.6 s
    got, stood = saw(shown(range(500), late=late), last=499)
    assert abs(got["longest_stop"] - 1.64) < 1e-6 and got["stops_200ms"] == 1, got
    assert abs(got["lost"] - 40 / 500) < 1e-9, got
    assert stood[238:242] == [238, 239, 239, 239] and stood[279:281] == [239, 280], stood[238:282]


def test_a_delay_that_stays_is_no_lateness():
    late = {n: 0.4 for n in range(250, 500)}  # a queue that stands, or a buffer that has grown
    got, stood = saw(shown(range(500), late=late), last=499)
    assert got["lost"] == 0 and stood == list(range(500)), got
    assert abs(got["longest_stop"] - 0.44) < 1e-6, got


def test_copies_and_torn_pictures_do_not_move():
    for number in (39, -1):
        rows = shown(range(100))
        rows[40:80] = [(number, at) for _, at in rows[40:80]]
        got, stood = saw(rows)
        assert abs(got["longest_stop"] - 1.64) < 1e-6 and got["stops_200ms"] == 1, got
        assert abs(got["lost"] - 0.4) < 1e-9 and stood == list(range(100)), got
        assert abs(got["delay_mean"] - 0.3) < 1e-6, got


def test_a_number_that_cannot_be_is_not_read():
    for wrong in (-1, 499, 90, 3):  # not taken yet, or long ago
        rows = shown(range(100))
        rows[50] = (wrong, rows[50][1])
        got, stood = saw(rows)  # what stands is compared, whatever it is
        assert stood == list(range(100)), (wrong, got)
        assert abs(got["lost"] - 0.01) < 1e-9 and abs(got["longest_stop"] - 0.08) < 1e-6, got
        assert abs(got["delay_mean"] - 0.3) < 1e-6, got
    for wrong in (-1, 499):
        got, _ = saw([(wrong, at) for _, at in shown(range(100))])
        assert got["lost"] == 1 and got["longest_stop"] > 3.9 and "delay_mean" not in got, got


# -- the page --


def test_who_shows_more_than_the_best_fixed_rate_is_said():
    own = placed()

    def run_of(flow, *ssim):
        saw = {"psnr": 30.0, "lost": 0.0, "longest_stop": 0.1, "delay_mean": 0.4}
        saw |= {"stops_100ms": 1, "stops_200ms": 0}
        seen = {name: saw | {"ssim": v} for name, v in zip(("near", "far"), ssim, strict=True)}
        about = {"asked": {"film": "high"}, "lag_over_1ms": 0.0, "machine_busy": 0.5}
        about |= {"marked": [], "failed": []}
        return (flow, "", 1, result_of(own, stream(own)) | {"viewers": seen, "ground": about})

    rows = [run_of("asmp", 0.7, 0.7), run_of("assp", 0.7, 0.9), run_of("elm", 0.6, 0.6)]
    rows += [run_of("rtp=500k", 0.68, 0.7), run_of("rtp=3500k", 0.1, 0.9)]
    watched = viewers.Watched(load(), rows)
    assert watched.best_fixed() == "rtp=500k" and watched.above() == ["asmp", "assp"]
    said = viewers.verdict(watched)
    assert "500 kb/s, mean SSIM 0.690" in said and "ASSP 0.800; not above: ELM 0.600" in said, said
    assert viewers.fill("@two-links/ssim/elm@", [watched], [], []) == "0.600"
    watched.flows["elm"][0]["viewers"]["far"]["longest_stop"] = 0.7  # of any viewer, no mean
    assert viewers.fill("@two-links/stop/elm@", [watched], [], []) == "700 ms"
    assert viewers.stops([watched]) == "missed by ELM far in two-links, 700 ms in 1 of 1 runs"
    watched.flows["elm"][0]["viewers"]["far"]["longest_stop"] = 0.2
    assert viewers.stops([watched]) == "reached in every run"
    assert viewers.runs_each(watched) == "1 run each"
    more = [*rows, run_of("asmp", 0.7, 0.7), run_of("asmp", 0.7, 0.7)]
    assert viewers.runs_each(viewers.Watched(load(), more)) == "1 to 3 runs each"
    assert viewers.runs_each(viewers.Watched(load(), more[-2:])) == "2 runs each"
    viewers.FROM_S = 0.0
    row = next(line for line in viewers.table(watched).splitlines() if "| near |" in line)
    assert "72.0 kb/s" in row and "10.0 %" in row, row


# -- the program --


@contextlib.contextmanager
def programs(run, report="exit 0"):
    """A directory with these in the place of `run` and `report`; each notes its calls there."""
    with tempfile.TemporaryDirectory() as name:
        for program, script in (("run", run), ("report", report)):
            path = Path(name) / program
            path.write_text(f'#!/bin/sh\ncd {name}\necho {program} "$@" >>calls\n{script}\n')
            path.chmod(0o755)
        yield Path(name)


def test_one_run_that_fails_does_not_take_the_rest_with_it():
    def calls(run, report="exit 0", *more):
        module = program_of("viewers")
        with programs(run, report) as module.HERE, mock.patch.object(sys, "argv", ["viewers", "D"]):
            sys.argv += more
            before = {each: signal.getsignal(each) for each in module.leftovers.ENDS}
            status = module.main()
            for each, handler in before.items():
                signal.signal(each, handler)
            lines = (module.HERE / "calls").read_text().splitlines()
        return status, [line.split()[0] for line in lines]

    assert calls("exit 0") == (0, ["run", "run", "report"])
    assert calls("exit 3", "exit 4") == (3, ["run", "run", "report"])
    assert calls("exit 0", "exit 4") == (4, ["run", "run", "report"])
    assert calls("exit 3", "exit 0", "--no-report") == (3, ["run", "run"])
    assert calls("exit 77") == (77, ["run", "run"])


def test_runs_of_viewers_have_all_that_their_scenario_changes():
    module = program_of("viewers")
    for name, lengths in module.SCENARIOS.items():
        data = scenario.load(HERE / "ground" / f"{name}.yaml").data
        least = max([quality.FROM_S, *(change["at"] for change in data["changes"])]) + 2
        assert all(least < seconds <= data["duration"] for seconds in lengths), name


def test_who_is_ended_waits_for_what_it_has_started():
    said = (
        "import sys, test_ground; from pathlib import Path; m = test_ground.program_of('viewers')\n"
        "m.HERE = Path(sys.argv.pop()); sys.exit(m.main())"
    )
    slow = "trap 'kill $!; sleep 1; echo ended >>calls; exit 1' TERM\nsleep 60 & echo $$ >pid\nwait"
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with programs(slow) as where:
            words = [sys.executable, "-c", said, "D", where]
            process = subprocess.Popen(words, cwd=HERE, stderr=subprocess.DEVNULL)
            try:
                deadline = time.monotonic() + 20
                while not (where / "pid").exists() and time.monotonic() < deadline:
                    time.sleep(0.02)
                time.sleep(0.1)
                process.send_signal(number)
                time.sleep(0.3)
                process.send_signal(signal.SIGTERM)  # impatience changes nothing
                assert process.wait(20) != 0
            finally:
                process.kill()
            assert (where / "calls").read_text().split()[-1] == "ended", number
            with contextlib.suppress(ProcessLookupError):
                os.kill(int((where / "pid").read_text()), 0)
                raise AssertionError("it goes on")


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
