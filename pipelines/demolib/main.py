# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo: one sender, three receivers, and a bottleneck that changes (see pipelines/demo)."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "pipelines"), str(TOP / "tests" / "testbed")]

import netlab  # noqa: E402

from demolib import layers, measure, plot, simulcast, steps  # noqa: E402
from demolib.record import Record  # noqa: E402
from demolib.table import Table  # noqa: E402

HIGH, LOW = 2_000_000, 600_000
RECEIVERS = ["receiver1", "receiver2", "receiver3"]


def environment(builddir):
    """As meson devenv: the plugin from the build tree, a registry of its own."""
    env = dict(os.environ)
    env["GST_PLUGIN_PATH"] = os.pathsep.join(
        filter(None, [str(Path(builddir) / "gst"), env.get("GST_PLUGIN_PATH")])
    )
    env["GST_REGISTRY"] = str(Path(builddir) / "registry.bin")
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return env


def story(seconds):
    """What happens when: (time, what, ...)."""
    unit = seconds / 60
    return {
        "late": 10 * unit,
        "down": 20 * unit,
        "crash": 32 * unit,
        "up": 40 * unit,
        "end": float(seconds),
    }


def started(record, directory):
    """Whether the sender ran; says why not."""
    if "sender" in record.nodes and record.nodes["sender"].stats:
        return True
    log = Path(directory) / "sender.log"
    why = log.read_text(errors="replace").splitlines()[-3:] if log.exists() else []
    print("\n".join([f"demo: the sender did not start; its log: {log}", *why]), file=sys.stderr)
    return False


def run_demo(args):
    when = story(args.seconds)
    table = Table()
    env = environment(args.builddir)
    try:
        netlab.ensure_privileges()  # may start this program again
        lab = steps.MulticastLab(args.builddir, HIGH)
    except netlab.Unavailable as reason:
        print(f"No network namespaces here: {reason}.")
        print("This run is unicast to one receiver through an emulated path: it is NOT multicast.")
        if os.geteuid():
            print("As root, or with sudo, it can be: sudo pipelines/demo")
        lab = steps.UnicastLab(args.builddir, HIGH)
    directory = args.record or tempfile.mkdtemp(prefix="adaptive-multicast-demo-")
    with lab:
        record = Record(directory)
        print(f"Network: {lab.describe()}. Logs: {directory}\n")
        receivers = RECEIVERS[: lab.receivers]
        run = steps.Run(record, lab, env, receivers)
        run.play(when, HIGH, LOW, table)
    if not started(record, directory):
        return 1
    capacity = [(0, HIGH), (when["down"], LOW), (when["up"], HIGH)]
    plot.draw(record, receivers, args.plot, lab.title, capacity)
    figures = measure.step_figures(
        record, receivers, when["down"], when["up"], record.now(), LOW, HIGH
    )
    print()
    print(measure.words(figures, LOW, HIGH))
    print(run.words(when))
    print(f"Plot: {args.plot}")
    return 0


def run_branches(args, word, demo, make_run):
    """A demo with a bottleneck for each group of receivers: @demo is its module."""
    try:
        netlab.ensure_privileges()  # may start this program again
    except netlab.Unavailable as reason:
        print(
            f"demo: {word} needs network namespaces, and there are none here: {reason}.\n"
            f"As root, or with sudo, it can be: sudo pipelines/demo {word}",
            file=sys.stderr,
        )
        return 2
    directory = args.record or tempfile.mkdtemp(prefix="adaptive-multicast-demo-")
    with demo.make_lab(args.builddir) as lab:
        record = Record(directory)
        print(f"Network: {lab.describe()}. Logs: {directory}\n")
        run = make_run(record, lab, environment(args.builddir))
        run.play(demo.story(args.seconds), args.seconds, Table())
    if not started(record, directory):
        return 1
    demo.draw(run, args.plot)
    print()
    print(run.words())
    print(f"Plot: {args.plot}")
    return 0


def run_camera(args):
    """A camera to a real group, with the table."""
    sink = f"asmpsink name=mcc address={args.address} port={args.port}"
    if args.iface:
        sink += f" multicast-iface={args.iface}"
    pipeline = (
        f"v4l2src device={args.camera} ! videoconvert ! video/x-raw,format=I420 "
        f"! x264enc tune=zerolatency speed-preset=superfast ! rtph264pay ! {sink}"
    )
    record = Record(tempfile.mkdtemp(prefix="adaptive-multicast-camera-"))
    run = steps.Run(record, steps.Here(), environment(args.builddir), [])
    group = f"[{args.address}]" if ":" in args.address else args.address
    print(f"Receive with: gst-play-1.0 'asmp://{group}:{args.port}'     (Ctrl-C ends)")
    return run.stream(pipeline, Table())


def main():
    parser = argparse.ArgumentParser(prog="pipelines/demo", description=__doc__)
    parser.add_argument("--builddir", default=str(TOP / "_build"), help=argparse.SUPPRESS)
    parser.add_argument("--assp", action="store_true", help="simulcast: three groups of receivers")
    parser.add_argument(
        "--elm", action="store_true", help="layers: each receiver takes what it can"
    )
    parser.add_argument("--seconds", type=int, help="length of the run (60; --assp, --elm: 90)")
    parser.add_argument("--plot", default="demo.png", help="where the picture goes")
    parser.add_argument("--record", help="directory for the logs")
    parser.add_argument("--camera", help="stream this device to a real group instead")
    parser.add_argument("--address", default="239.255.12.42")
    parser.add_argument("--port", type=int, default=5004)
    parser.add_argument("--iface", help="network interface for --camera")
    args = parser.parse_args()
    if args.seconds is None:
        args.seconds = 90 if args.assp or args.elm else 60
    least = 15 if args.elm else 30
    if args.seconds < least:
        parser.error(f"--seconds must be {least} or more: the rate needs time to come back")
    if not args.camera and not os.access(Path(args.plot).absolute().parent, os.W_OK):
        print(f"demo: cannot write {args.plot}; give another place by --plot.", file=sys.stderr)
        return 2
    try:
        if args.camera:
            return run_camera(args)
        if args.assp:
            return run_branches(args, "--assp", simulcast, simulcast.SimulcastRun)
        if args.elm:
            return run_branches(args, "--elm", layers, layers.LayersRun)
        return run_demo(args)
    except KeyboardInterrupt:
        print("\nStopped.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
