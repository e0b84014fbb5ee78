# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures against their source, by FFmpeg: psnr, ssim, and libvmaf where it has that."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from . import Wrong

PSNR_MOST = 60.0  # dB; equal pictures count as that


def has_vmaf(ffmpeg="ffmpeg"):
    out = subprocess.run(
        [ffmpeg, "-hide_banner", "-filters"], capture_output=True, text=True, check=False
    ).stdout
    return bool(re.search(r"\blibvmaf\b", out))


def version(ffmpeg="ffmpeg"):
    out = subprocess.run([ffmpeg, "-version"], capture_output=True, text=True, check=False).stdout
    return " ".join(out.split("\n")[0].split()[:3])


def numbers(text, key):
    return [float(value) for value in re.findall(rf"\b{key}:(\S+)", text)]


class Comparison:
    """Takes pictures one by one; what was shown first is compared with the first of @path.

    @height: only so much from the top is compared."""

    def __init__(self, path, source, ffmpeg="ffmpeg", vmaf=False, height=None):
        self.directory = tempfile.TemporaryDirectory(prefix="quality-")
        self.vmaf = vmaf
        raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p"]
        raw += ["-s", f"{source.width}x{source.height}", "-r", str(source.fps)]
        filters = ["psnr=stats_file=psnr.log", "ssim=stats_file=ssim.log"]
        if vmaf:
            filters.append("libvmaf=log_path=vmaf.json:log_fmt=json:n_threads=1")
        count = len(filters)
        part = f"crop={source.width}:{height or source.height}:0:0,split={count}"
        graph = [f"[1:v]{part}" + "".join(f"[s{n}]" for n in range(count))]
        graph.append(f"[0:v]{part}" + "".join(f"[r{n}]" for n in range(count)))
        words = [ffmpeg, "-nostdin", "-y", "-hide_banner", "-loglevel", "error"]
        words += ["-filter_threads", "1", "-filter_complex_threads", "1"]
        words += ["-stream_loop", "-1", *raw, "-i", str(Path(path).resolve()), *raw, "-i", "pipe:0"]
        for number, text in enumerate(filters):
            graph.append(f"[s{number}][r{number}]{text}:shortest=1[o{number}]")
        words += ["-filter_complex", ";".join(graph)]
        for number in range(count):
            words += ["-map", f"[o{number}]", "-f", "null", "-"]
        self.errors = open(Path(self.directory.name) / "errors", "w+")
        self.process = subprocess.Popen(
            words.copy(),
            stdin=subprocess.PIPE,
            stderr=self.errors,
            cwd=self.directory.name,
        )
        self.frames = 0

    def add(self, picture):
        try:
            self.process.stdin.write(picture)
        except BrokenPipeError:
            self.fail()
        self.frames += 1

    def fail(self):
        self.process.kill()
        self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().strip()
        raise Wrong(f"ffmpeg compared nothing: {said[-400:]}")

    def end(self):
        """{"psnr": [dB], "ssim": [], "vmaf": []} of each picture, of light (Y); vmaf if asked."""
        self.process.stdin.close()
        if self.process.wait():
            self.fail()
        folder = Path(self.directory.name)
        out = {
            "psnr": [
                min(value, PSNR_MOST)
                for value in numbers((folder / "psnr.log").read_text(), "psnr_y")
            ],
            "ssim": numbers((folder / "ssim.log").read_text(), "Y"),
        }
        if self.vmaf:
            frames = json.loads((folder / "vmaf.json").read_text())["frames"]
            out["vmaf"] = [frame["metrics"]["vmaf"] for frame in frames]
        for name, values in out.items():
            if len(values) != self.frames:
                raise Wrong(f"ffmpeg gave {len(values)} values of {name} for {self.frames} frames")
        self.errors.close()
        self.directory.cleanup()
        return out
