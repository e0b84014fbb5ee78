# SPDX-License-Identifier: LGPL-2.1-or-later
"""A strip of sample frames: best, median and worst, the source above what was seen."""

import subprocess
import tempfile
from pathlib import Path

import numpy

from . import Wrong, content, evaluate

WIDTH = 240  # of each picture in the strip


def chosen(psnr):
    """Frames with the highest, the middle and the lowest PSNR."""
    order = numpy.argsort(numpy.asarray(psnr), kind="stable")
    return [int(order[-1]), int(order[len(order) // 2]), int(order[0])]


def strip(pairs, source, path, ffmpeg="ffmpeg"):
    """@pairs: [(source, seen)] as I420; a column each."""
    pictures = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
    tile = f"scale={WIDTH}:-2:flags=area,tile={len(pairs)}x2:padding=4:color=white"
    graph = f"{tile},split[a][b];[a]palettegen=max_colors=128[p];[b][p]paletteuse=dither=none"
    words = [
        *(ffmpeg, "-y", "-loglevel", "error", "-bitexact", "-f", "rawvideo", "-pix_fmt", "yuv420p"),
        *("-s", f"{source.width}x{source.height}", "-i", "pipe:0"),
        *("-filter_complex", graph),
        *("-frames:v", "1", "-compression_level", "9", str(path)),
    ]
    done = subprocess.run(words, input=b"".join(pictures), capture_output=True, check=False)
    if done.returncode:
        raise Wrong(f"ffmpeg drew no strip: {done.stderr.decode()[-400:]}")


def evaluate_with_strip(trace, setting, path):
    """evaluate(), and the strip in the file @path; the frames chosen in the result."""
    source = content.SIZES[setting.size]
    if setting.frames:
        source = source._replace(frames=setting.frames)
    video = numpy.memmap(
        content.make(setting.kind, source, setting.cache), numpy.uint8, "r"
    ).reshape(-1, source.bytes)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=setting.cache) as keep:
        result = evaluate.evaluate(trace, setting, keep)
        frames = chosen(result["frame_values"]["psnr"])
        pairs = []
        for frame in frames:
            keep.seek(frame * source.bytes)
            pairs.append((video[frame % len(video)].tobytes(), keep.read(source.bytes)))
    strip(pairs, source, path, setting.ffmpeg)
    result["strip"] = [
        {"frame": frame, "psnr": result["frame_values"]["psnr"][frame]} for frame in frames
    ]
    return result
