# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo's arguments. pipelines/demo runs this file alone first, before it installs or builds
anything: it needs nothing but Python."""

import argparse
import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PICTURES = (".png", ".svg", ".pdf", ".jpg")


def plot_problem(path):
    """Why no picture can be written to @path; None: it can."""
    if path.suffix.lower() not in PICTURES:
        return f"--plot: a picture's name ends with {', '.join(PICTURES)}; {path} does not"
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        return f"cannot write {path}; give another place by --plot"
    return None


def parse(argv=None):
    """The arguments; ends the program with status 2 and a word where they are wrong."""
    parser = argparse.ArgumentParser(
        prog="pipelines/demo",
        description="Streams live through a bottleneck that changes, and shows what happens.",
        allow_abbrev=False,  # pipelines/demo takes --builddir for itself
    )
    parser.add_argument(
        "--builddir", default=str(TOP / "_build"), help="where it is built (_build)"
    )
    parser.add_argument("--assp", action="store_true", help="simulcast: three groups of receivers")
    parser.add_argument(
        "--elm", action="store_true", help="layers: each receiver takes what it can"
    )
    parser.add_argument("--seconds", type=int, help="length of the run (60; --assp, --elm: 90)")
    parser.add_argument(
        "--plot", help="where the picture goes (demo.png, demo-assp.png, demo-elm.png)"
    )
    parser.add_argument("--record", help="directory for the logs")
    parser.add_argument("--camera", help="stream this device to a real group instead")
    parser.add_argument("--address", default="239.255.12.42")
    parser.add_argument("--port", type=int, default=5004)
    parser.add_argument("--iface", help="network interface for --camera")
    args = parser.parse_args(argv)
    if args.assp and args.elm:
        parser.error("--assp and --elm: choose one; each is a demo of its own")
    if args.camera and (args.assp or args.elm):
        word = "assp" if args.assp else "elm"
        parser.error(
            f"--camera streams one rate here; pipelines/{word}-send --camera {args.camera}"
        )
    if args.plot is None:
        args.plot = "demo-assp.png" if args.assp else "demo-elm.png" if args.elm else "demo.png"
    if args.seconds is None:
        args.seconds = 90 if args.assp or args.elm else 60
    least = 15 if args.elm else 30
    if args.seconds < least:
        parser.error(f"--seconds must be {least} or more: the rate needs time to come back")
    if args.camera and not os.access(args.camera, os.R_OK | os.W_OK):
        parser.error(f"--camera: {args.camera} is not there, or not yours to use")
    if not args.camera and (why := plot_problem(Path(args.plot))):
        parser.error(why)
    return args


if __name__ == "__main__":
    parse()
