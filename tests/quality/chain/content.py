# SPDX-License-Identifier: LGPL-2.1-or-later
"""Test content: three classes of motion, made by FFmpeg's sources, the same bits every time.

A world of 1/f texture (octaves of noise, as natural pictures have), seen by a camera that rests,
drives or races, with things that move in it. Raw I420, cached in the build directory.
"""

import hashlib
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from . import Wrong


class Size(NamedTuple):
    width: int
    height: int
    fps: int
    frames: int  # then it begins again

    @property
    def bytes(self):
        return self.width * self.height * 3 // 2


SIZES = {
    "cif": Size(352, 288, 25, 2000),
    "nhd": Size(640, 360, 25, 500),
    "hd": Size(1280, 720, 30, 600),
}
CLASSES = ("low", "medium", "high")
OCTAVES = 7
WORLD = 2  # times the picture, each way


def texture(width, height, fps, seed):
    """A graph that ends in [world]: octaves of noise from coarse to fine, each half as strong."""
    chains, last = [], ""
    for octave in range(OCTAVES):
        small = 2 ** (OCTAVES - 1 - octave)
        # light falls off as 1/f; colour is coarser and weaker
        light, colour = int(100 * 0.62**octave), int(40 * 0.4**octave)
        noise = f"noise=c0s={light}:c1s={colour}:c2s={colour}:c0_seed={seed + 3 * octave}"
        noise += f":c1_seed={seed + 3 * octave + 1}:c2_seed={seed + 3 * octave + 2}"
        size = f"{max(width // small, 2)}x{max(height // small, 2)}"
        chains.append(
            f"color=gray:s={size}:r={fps},trim=end_frame=1,format=yuv444p,{noise},"
            f"scale={width}:{height}:flags=bicubic[o{octave}]"
        )
        if last:
            chains.append(f"{last}[o{octave}]blend=all_mode=grainmerge[m{octave}]")
        last = f"[m{octave}]" if last else f"[o{octave}]"
    return ";".join(chains) + f";{last}eq=contrast=1.2,format=yuv444p[world]"


def camera(kind, width, height):
    """The picture out of [world]: where the camera looks, frame by frame."""
    if kind == "low":
        return f"crop={width}:{height}"
    seconds, angle = ((23, 17), "0.03*sin(2*PI*t/7)")
    flips = ""
    if kind == "high":
        seconds, angle = ((4.7, 3.1), "0.2*sin(2*PI*t/5)")
        # A cut every four seconds: the world mirrored, one way and the other.
        flips = "hflip=enable='gte(mod(t,8),4)',vflip=enable='gte(mod(t,16),8)',"
    # With a margin for the corners that the camera's roll brings in.
    wide, tall = int(width * 1.18) // 2 * 2, int(height * 1.4) // 2 * 2
    x = f"(in_w-{wide})/2*(1+sin(2*PI*t/{seconds[0]}))"
    y = f"(in_h-{tall})/2*(1+cos(2*PI*t/{seconds[1]}))"
    move = f"crop={wide}:{tall}:x='{x}':y='{y}'"
    return f"{move},{flips}rotate=a='{angle}':bilinear=1,crop={width}:{height}"


def things(kind, size):
    """[(source, its width, x, y)] of what moves in front, in fractions of the picture."""
    rate = f"r={size.fps}"
    head = f"mandelbrot=s=192x192:{rate}:start_scale=0.6:end_scale=0.05:end_pts=6000"
    board = f"testsrc2=s=192x144:{rate}"
    swarm = f"life=s=96x96:{rate}:ratio=0.3:seed=5:mold=12:mold_color=#304050:life_color=#f0e0a0"
    if kind == "low":
        return [(head, 0.3, "0.35+0.012*sin(2*PI*t/2.3)", "0.35+0.008*sin(2*PI*t/1.7)")]
    if kind == "medium":
        return [
            (head, 0.25, "0.1+0.3*(1+sin(2*PI*t/9))", "0.5+0.1*sin(2*PI*t/4)"),
            (board, 0.2, "0.75-0.6*mod(t/8\\,1)", "0.1"),
        ]
    return [
        (head, 0.3, "0.35+0.35*sin(2*PI*t/1.9)", "0.3+0.3*sin(2*PI*t/1.3)"),
        (board, 0.25, "0.4+0.35*cos(2*PI*t/2.1)", "0.35+0.3*cos(2*PI*t/1.1)"),
        (swarm, 0.25, "0.35-0.3*sin(2*PI*t/2.9)", "0.35-0.3*cos(2*PI*t/1.6)"),
    ]


def graph(kind, size):
    width, height = size.width, size.height
    seed = 100 * (1 + CLASSES.index(kind))
    parts = [
        texture(WORLD * width, WORLD * height, size.fps, seed),
        f"[world]loop=loop=-1:size=1,settb=1/{size.fps},setpts=N,{camera(kind, width, height)}[b0]",
    ]
    for number, (source, share, x, y) in enumerate(things(kind, size)):
        side = int(width * share) // 2 * 2
        parts.append(f"{source},format=yuv444p,scale={side}:-2:flags=bicubic[t{number}]")
        parts.append(
            f"[b{number}][t{number}]overlay=x='W*({x})':y='H*({y})':format=yuv444[b{number + 1}]"
        )
    # a camera's grain, little
    last = f"[b{len(things(kind, size))}]"
    parts.append(f"{last}format=yuv420p,noise=c0s=2:c0f=t:c0_seed={seed + 50}[out]")
    return ";".join(parts)


def arguments(kind, size):
    """FFmpeg's, for raw I420 on its standard output; one thread: the same bits on any machine."""
    return [
        *("ffmpeg", "-nostdin", "-loglevel", "error", "-bitexact"),
        *("-filter_complex_threads", "1", "-filter_complex", graph(kind, size)),
        *("-map", "[out]", "-frames:v", str(size.frames), "-fps_mode", "passthrough"),
        *("-f", "rawvideo", "-pix_fmt", "yuv420p", "-"),
    ]


def make(kind, size, cache):
    """The file, made where it is not there yet."""
    words = arguments(kind, size)
    name = hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]
    path = Path(cache) / f"{kind}-{size.width}x{size.height}-{size.fps}-{name}.yuv"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    with part.open("wb") as out:
        done = subprocess.run(words, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode or part.stat().st_size != size.frames * size.bytes:
        part.unlink()
        raise Wrong(f"ffmpeg made no {kind} content: {done.stderr.strip()[-400:]}")
    part.replace(path)  # whole, or not there
    return path


def motion(path, size, ffmpeg="ffmpeg"):
    """(SI, TI, VMAF's motion) of a content, means (ITU-T P.910; FFmpeg's siti, vmafmotion)."""
    words = [
        *(ffmpeg, "-nostdin", "-hide_banner", "-f", "rawvideo", "-pix_fmt", "yuv420p"),
        *("-s", f"{size.width}x{size.height}", "-r", str(size.fps), "-i", str(path)),
        *("-filter_complex", "split[a][b];[a]siti=print_summary=1[c];[b]vmafmotion[d]"),
        *("-map", "[c]", "-f", "null", "-", "-map", "[d]", "-f", "null", "-"),
    ]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stderr.splitlines()
    means = [float(line.split()[1]) for line in said if line.strip().startswith("Average:")]
    moved = [float(line.split()[-1]) for line in said if "VMAF Motion avg" in line]
    means = [value for value in means if value == value]
    if len(means) < 2 or not moved:
        raise Wrong("ffmpeg measured no motion: " + " ".join(said[-3:]))
    return means[-2], means[-1], moved[-1]
