# SPDX-License-Identifier: LGPL-2.1-or-later
"""What viewers saw: the pictures that screens recorded against the film that was sent.

For each picture of the film from FROM_S on, what stands on the screen at the time when it should:
when it was taken, and the viewer's delay later, the median of what was shown around it. SSIM and
PSNR of light by FFmpeg (tests/quality). Stops are times without a picture that is further in the
film and whose number could be read: copies and torn pictures, which decoders show where they have
nothing, do not move.
"""

import bisect
import shutil
import statistics
import sys
from pathlib import Path

from . import film as reel

QUALITY = Path(__file__).resolve().parents[2] / "quality"
sys.path.append(str(QUALITY))

from chain import compare, content  # noqa: E402

FROM_S = 10.0  # who looks on has come and found its rate
STOPS_S = (0.1, 0.2)
CAMERA_LATE_S = 0.1  # between two pictures, above which a run is marked
SIZE = content.SIZES["nhd"]
GREY = bytes([128]) * (reel.LIGHT // 2)  # colour is not compared
DELAY_MOST_S, DELAY_GUESS_S = 5.0, 0.5  # of a picture whose number was read well; of none
DELAY_AROUND_S = 5.0  # a burst of late pictures after a stop is less than half of that
LATE_S = 0.5 / reel.FPS  # what is on the screen by then is in time
MEMORY = "/dev/shm"
RECORD_ROOM = 4 << 30  # bytes, to record in memory


class Film:
    """One that runs through a network, with its screens."""

    def __init__(self, kind, builddir, directory):
        self.size = SIZE
        self.path = content.make(kind, self.size, Path(builddir) / "quality")
        self.directory = Path(directory)
        self.times = self.directory / "film.txt"

    def record(self, name):
        return self.directory / name

    def held_up(self):
        """What the camera was late by, s."""
        times = [at for _, at in read_times(self.times)]
        return max((after - at for at, after in zip(times, times[1:], strict=False)), default=0.0)

    def judge(self, screens, zero, duration):
        """{name: figures} of @screens, {name: when it was opened, s since @zero}."""
        taken = dict(read_times(self.times, zero))
        out = {}
        for name, opened in screens.items():
            shown = read_times(Path(f"{self.record(name)}.txt"), zero)
            begin = opened + FROM_S
            due = [n for n in sorted(taken) if begin <= taken[n] < duration - 1.0]
            if not due:
                continue
            out[name] = self.figures(name, shown, taken, due)
        return out

    def figures(self, name, shown, taken, due):
        read = well_read(shown, taken)
        delay = Delay([shown[place] for place in read], taken)
        times = [at for _, at in shown]
        seen = [taken[number] + delay.at(taken[number]) for number in due]
        stands = [bisect.bisect_right(times, at + LATE_S) - 1 for at in seen]
        numbers = {place: shown[place][0] for place in read}
        absent = sum(numbers.get(stand) != n for n, stand in zip(due, stands, strict=True))
        new = [row for row in advancing(shown, read) if due[0] <= row[0] <= due[-1]]
        moved = [at for _, at in new]
        # The gaps at both ends count, too: a screen that stands still to the end.
        begin, ends = min([seen[0], *moved[:1]]), [*moved, max([*moved[-1:], seen[-1]])]
        gaps = [after - at for at, after in zip([begin, *ends], ends, strict=False)]
        delays = [at - taken[number] for number, at in new]
        values = self.compare(name, stands, due)
        out = {
            "ssim": statistics.fmean(values["ssim"]),
            "psnr": statistics.fmean(values["psnr"]),
            "pictures": len(due),
            "lost": absent / len(due),
            "longest_stop": max(gaps),
            "ssim_values": [round(value, 4) for value in values["ssim"]],
            "times": [round(taken[n], 3) for n in due],
        }
        for limit in STOPS_S:
            out[f"stops_{round(1000 * limit)}ms"] = sum(gap > limit for gap in gaps)
        if delays:
            out["delay_mean"] = statistics.fmean(delays)
            out["delay_p95"] = sorted(delays)[int(0.95 * (len(delays) - 1))]
        return out

    def compare(self, name, stands, due):
        """Values of each picture that is due: what @stands, by its place in the record."""
        first = due[0] - due[0] % self.size.frames  # the film's beginning
        comparison = compare.Comparison(
            self.path, self.size, height=self.size.height - reel.MARK_HEIGHT
        )
        with open(f"{self.record(name)}.yuv", "rb") as pictures:
            at, picture = None, GREY + GREY + GREY
            for stand in [stands[0]] * (due[0] - first) + stands:
                if stand != at and stand >= 0:
                    pictures.seek(stand * reel.LIGHT)
                    at, picture = stand, pictures.read(reel.LIGHT) + GREY
                comparison.add(picture)
        values = comparison.end()
        return {key: each[due[0] - first :] for key, each in values.items()}


def read_times(path, zero=0.0):
    """[(number, time since @zero), ...] of film.py's file; a last line cut short is left out."""
    out = []
    for line in path.read_text(encoding="ascii").split("\n")[:-1]:
        number, at = line.split()
        out.append((int(number), float(at) - zero))
    return out


def longest_rise(numbers):
    """Places of a longest part of @numbers that does not fall."""
    ends, places, before = [], [], [None] * len(numbers)
    for place, number in enumerate(numbers):
        at = bisect.bisect_right(ends, number)
        before[place] = places[at - 1] if at else None
        ends[at : at + 1], places[at : at + 1] = [number], [place]
    out, place = [], places[-1] if places else None
    while place is not None:
        out.append(place)
        place = before[place]
    return out[::-1]


def well_read(rows, taken):
    """Places of @rows whose number could be read, and can be. A damaged picture may be read as one
    that was not taken yet, or long ago."""
    possible = [
        place
        for place, (number, at) in enumerate(rows)
        if number in taken and 0 < at - taken[number] < DELAY_MOST_S
    ]
    return [possible[k] for k in longest_rise([rows[place][0] for place in possible])]


def advancing(rows, read):
    """Those of @rows at the places @read that are further in the film than all before."""
    out = []
    for row in (rows[place] for place in read):
        if not out or row[0] > out[-1][0]:
            out.append(row)
    return out


class Delay:
    """From the camera to the screen, as it was around a time: a path or a buffer may lengthen it
    for good, and a viewer does not see that; what comes late for a while he does."""

    def __init__(self, read, taken):
        first = advancing(read, range(len(read)))
        self.times = [taken[number] for number, _ in first]
        self.delays = [at - taken[number] for number, at in first]
        self.usual = statistics.median(self.delays) if self.delays else DELAY_GUESS_S

    def at(self, time):
        begin = bisect.bisect_left(self.times, time - DELAY_AROUND_S)
        end = bisect.bisect_right(self.times, time + DELAY_AROUND_S)
        return statistics.median(self.delays[begin:end]) if begin < end else self.usual


def room():
    """Where recordings go: into memory where there is room."""
    if Path(MEMORY).is_dir() and shutil.disk_usage(MEMORY).free > RECORD_ROOM:
        return MEMORY
    return None
