# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands' arguments."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from . import Wrong, compare, content, core, evaluate, sample, trace
from .deliver import StreamSize

TOP = Path(__file__).resolve().parents[3]


def stream_size(text):
    match = re.fullmatch(r"([0-9]{2,4})x([0-9]{2,4})(?:/([1-9]))?", text)
    if not match or int(match[1]) % 2 or int(match[2]) % 2:
        raise argparse.ArgumentTypeError(f"'{text}': even WIDTHxHEIGHT, or .../2, is allowed")
    return StreamSize(int(match[1]), int(match[2]), int(match[3] or 1))


def stream_sizes(text):
    return tuple(stream_size(part) for part in text.split(","))


def bounds(text):
    match = re.fullmatch(r"([0-9]+)-([0-9]+)", text)
    if not match or not 0 < int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}': LOW-HIGH in bit/s is allowed")
    return int(match[1]), int(match[2])


def kinds(text):
    out = text.split(",")
    for kind in out:
        if kind not in content.CLASSES:
            raise argparse.ArgumentTypeError(f"'{kind}': low, medium, high are allowed")
    return out


def seed_list(text):
    return [int(part) for part in text.split(",") if part]


def commit():
    """The newest that touched what the laboratory runs, so that old pages can be told."""
    words = ["git", "-C", str(TOP), "log", "-1", "--format=%h, %cs", "--", "gst/core"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no commit"


def common(parser):
    parser.add_argument("--content", type=kinds, default=list(content.CLASSES), metavar="A,B")
    parser.add_argument("--size", choices=sorted(content.SIZES), default="cif")
    parser.add_argument("--content-frames", type=int, metavar="N", help="shorter content")
    parser.add_argument("--stream-sizes", type=stream_sizes, default=(), metavar="WxH,...")
    parser.add_argument("--from", dest="begin", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--to", dest="end", type=float, metavar="SECONDS")
    parser.add_argument("--rtt", type=float, default=0.1, metavar="SECONDS")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="slices of a picture")
    parser.add_argument("--late", choices=("lost", "shown"), default="lost")
    parser.add_argument("--ffmpeg", type=program, default="ffmpeg", metavar="PROGRAM")
    parser.add_argument("--no-vmaf", action="store_true")
    parser.add_argument("--builddir", type=Path, default=TOP / "_build", metavar="DIR")


def program(text):
    """Of a path, where it is: FFmpeg is run in other folders."""
    return str(Path(text).resolve()) if "/" in text else text


def setting(arguments, kind):
    return evaluate.Setting(
        kind,
        arguments.size,
        str(arguments.builddir / "quality"),
        core.Library(arguments.builddir),
        arguments.stream_sizes,
        arguments.begin,
        arguments.end,
        arguments.rtt,
        arguments.late == "lost",
        arguments.ffmpeg,
        not arguments.no_vmaf and compare.has_vmaf(arguments.ffmpeg),
        arguments.content_frames,
        threads=arguments.threads,
    )


def line(result):
    psnr, ssim = result["psnr"], result["ssim"]
    vmaf = f" VMAF {result['vmaf']['mean']:.1f}," if result.get("vmaf") else ""
    kbps = f"{result['rate_bps'] / 1000:.0f} of {result['target_bps'] / 1000:.0f} kb/s"
    shares = ", ".join(
        f"{name} {100 * result[key]:.2f} %"
        for name, key in (
            ("packets lost", "loss"),
            ("late", "late"),
            ("frames hit", "frame_loss"),
            ("frozen", "frozen"),
            ("damaged", "damaged"),
        )
    )
    return (
        f"{result['trace']} {result['content']} {result['size']}: "
        f"PSNR {psnr['mean']:.2f} dB (5 % below {psnr['p5']:.2f}), SSIM {ssim['mean']:.4f},{vmaf} "
        f"MOS {result['mos']}, {kbps}, {shares}, {result['switches']} switches"
    )


def references(arguments):
    """A trace without loss for --reference."""
    low, high = arguments.bounds or (arguments.reference, arguments.reference)
    streams = [{"low_bps": low, "high_bps": high}]
    name = f"reference-{arguments.reference:.0f}"
    return [trace.constant(streams, 0, arguments.reference, arguments.seconds, name=name)]


def measure(doc):
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("traces", nargs="*", metavar="TRACE")
    parser.add_argument("--reference", type=float, metavar="BPS")
    parser.add_argument("--bounds", type=bounds, metavar="LOW-HIGH")
    parser.add_argument("--seconds", type=float, default=80.0)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--strip", type=Path, metavar="FILE.png")
    common(parser)
    arguments = parser.parse_args()
    if bool(arguments.traces) == bool(arguments.reference):
        raise Wrong("give traces, or --reference")
    traces = [trace.load(path) for path in arguments.traces] or references(arguments)
    if arguments.strip and len(traces) * len(arguments.content) > 1:
        raise Wrong("--strip shows one trace with one content")
    if not compare.has_vmaf(arguments.ffmpeg) and not arguments.no_vmaf:
        print("no VMAF: this FFmpeg has no libvmaf (--ffmpeg PROGRAM)", file=sys.stderr)
    results = []
    for one in traces:
        for kind in arguments.content:
            given = setting(arguments, kind)
            if arguments.strip:
                result = sample.evaluate_with_strip(one, given, arguments.strip)
            else:
                result = evaluate.evaluate(one, given)
            results.append(result)
            print(line(result), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results))
    return 0


def main(function, *args):
    try:
        return function(*args)
    except Wrong as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
