# SPDX-License-Identifier: LGPL-2.1-or-later
"""What viewers saw: the pictures that screens recorded against the film that was sent.

For each picture of the film from FROM_S on, what stands on the screen in its place: it, or, where
it never came, the one before. SSIM and PSNR of light by FFmpeg (tests/quality). Delays and stops
are of the time at which the screen showed each picture, by the number in it.
"""

import bisect
import collections
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
            shown = in_order(read_times(Path(f"{self.record(name)}.txt"), zero), taken)
            begin = opened + FROM_S
            due = [n for n in sorted(taken) if begin <= taken[n] < duration - 1.0]
            if not due:
                continue
            out[name] = self.figures(name, shown, taken, due)
        return out

    def figures(self, name, shown, taken, due):
        order = [number for number, _ in shown]
        times = [at for number, at in shown if due[0] <= number <= due[-1]]
        stands = [bisect.bisect_right(order, number) - 1 for number in due]
        new = set(order)
        # The gap at the end counts, too: a screen that stands still to the end.
        ends = [*times, max([*times[-1:], taken[due[-1]] + self.usual(shown, taken)])]
        begin = taken[due[0]] + self.usual(shown, taken)
        gaps = [
            after - at for at, after in zip([min([begin, *times[:1]]), *ends], ends, strict=False)
        ]
        delays = [at - taken[n] for n, at in shown if due[0] <= n <= due[-1] and n in taken]
        values = self.compare(name, stands, due)
        out = {
            "ssim": statistics.fmean(values["ssim"]),
            "psnr": statistics.fmean(values["psnr"]),
            "pictures": len(due),
            "lost": sum(number not in new for number in due) / len(due),
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

    @staticmethod
    def usual(shown, taken):
        """The usual delay, for where nothing was shown."""
        delays = [at - taken[n] for n, at in shown if n in taken]
        return statistics.median(delays) if delays else DELAY_GUESS_S

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


def in_order(rows, taken):
    """What could not be read, or cannot be, is counted on from what was read beside it, however
    late that was by then; numbers never fall.

    A damaged picture may be read as one that was not taken yet, or long ago."""
    possible = [
        row for row in rows if row[0] in taken and 0 < row[1] - taken[row[0]] < DELAY_MOST_S
    ]
    read = [possible[place] for place in longest_rise([number for number, _ in possible])]
    first = min(taken, default=0)
    last = read[0] if read else (first, taken.get(first, 0.0) + DELAY_GUESS_S)
    left, out = collections.deque(read), []
    for number, at in rows:
        if left and left[0] == (number, at):
            last = left.popleft()
        else:
            number = last[0] + round((at - last[1]) * reel.FPS)
            number = min(number, left[0][0]) if left else number
        out.append((max(number, out[-1][0] if out else first), at))
    return out


def room():
    """Where recordings go: into memory where there is room."""
    if Path(MEMORY).is_dir() and shutil.disk_usage(MEMORY).free > RECORD_ROOM:
        return MEMORY
    return None
