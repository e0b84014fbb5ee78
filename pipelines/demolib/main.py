# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo: one sender, three receivers, and a bottleneck that changes (see pipelines/demo)."""

import contextlib
import os
import re
import signal
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "pipelines"), str(TOP / "tests" / "testbed")]

import netlab  # noqa: E402

from demolib import arguments, layers, measure, plot, simulcast, steps  # noqa: E402
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


def log_directory(args, word):
    """Where the logs go; what is made for them is theirs who called sudo."""
    if args.record and Path(args.record).exists():
        return args.record
    directory = args.record or tempfile.mkdtemp(prefix=f"adaptive-multicast-{word}-")
    Path(directory).mkdir(parents=True, exist_ok=True)
    hand_over(directory)
    return directory


def hand_over(path):
    """To the user behind sudo: what a demo leaves is theirs."""
    if os.geteuid() == 0 and os.environ.get("SUDO_UID") and Path(path).exists():
        os.chown(path, int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"]))


def hand_over_build(builddir):
    """To the user behind sudo: what root made in a build folder that stands in one of theirs."""
    top, uid = Path(builddir).absolute(), int(os.environ.get("SUDO_UID", 0))
    with contextlib.suppress(OSError):  # something went meanwhile
        if os.geteuid() or not uid or top.parent.stat().st_uid != uid:
            return
        for directory, folders, files in os.walk(top):
            for path in [directory, *(os.path.join(directory, name) for name in folders + files)]:
                if os.lstat(path).st_uid == 0:
                    os.lchown(path, uid, int(os.environ["SUDO_GID"]))


def sender_failed(record, directory, whole=True):
    """Whether the sender did not run (to the end: @whole); says why."""
    sender = record.nodes.get("sender")
    if sender and sender.stats and whole:
        return False
    log = Path(directory) / "sender.log"
    why = [line["text"] for line in sender.of("error")] if sender else []
    why += log.read_text(errors="replace").splitlines()[-3:] if log.exists() else []
    how = "ended before the demo did" if sender and sender.stats else "did not start"
    print("\n".join([f"demo: the sender {how}; its log: {log}", *why]), file=sys.stderr)
    return True


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
    directory = log_directory(args, "demo")
    with lab:
        record = Record(directory)
        print(f"Network: {lab.describe()}. Logs: {directory}\n")
        receivers = RECEIVERS[: lab.receivers]
        run = steps.Run(record, lab, env, receivers)
        whole = run.play(when, HIGH, LOW, table)
    if sender_failed(record, directory, whole):
        return 1
    capacity = [(0, HIGH), (when["down"], LOW), (when["up"], HIGH)]
    plot.draw(record, receivers, args.plot, lab.title, capacity)
    hand_over(args.plot)
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
    directory = log_directory(args, "demo")
    with demo.make_lab(args.builddir) as lab:
        record = Record(directory)
        print(f"Network: {lab.describe()}. Logs: {directory}\n")
        run = make_run(record, lab, environment(args.builddir))
        whole = run.play(demo.story(args.seconds), args.seconds, Table())
    if sender_failed(record, directory, whole):
        return 1
    demo.draw(run, args.plot)
    hand_over(args.plot)
    print()
    print(run.words())
    print(f"Plot: {args.plot}")
    return 0


def uri(args):
    """For receivers; of a group that is valid on one link only it names the interface, too."""
    group = f"[{args.address}]" if ":" in args.address else args.address
    one_link = re.match(r"ff.[0-2]:", args.address, re.IGNORECASE)
    query = f"?multicast-iface={args.iface}" if one_link and args.iface else ""
    return f"asmp://{group}:{args.port}{query}"


def run_camera(args):
    """A camera to a real group, with the table."""
    sink = f"asmpsink name=mcc address={args.address} port={args.port}"
    if args.iface:
        sink += f" multicast-iface={args.iface}"
    pipeline = (
        f'v4l2src device="{args.camera}" ! videoconvert ! video/x-raw,format=I420 '
        f"! x264enc tune=zerolatency speed-preset=superfast ! rtph264pay ! {sink}"
    )
    directory = log_directory(args, "camera")
    record = Record(directory)
    run = steps.Run(record, steps.Here(), environment(args.builddir), [])
    print(f"Receive with: gst-play-1.0 '{uri(args)}'     (Ctrl-C ends)\n" f"Logs: {directory}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the camera, too
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, lambda *_: sys.exit(128 + signal.SIGHUP))
    status = run.stream(pipeline, Table())
    if status:
        sender_failed(record, directory, False)
    return status


def explained(error, builddir):
    """What the network or the emulator did not do, and the mend."""
    emulator = steps.emulator_of(builddir)
    if not emulator.exists():
        return (
            f"there is no {emulator}, which is built with the tests.\n"
            f"meson configure {builddir} -Dtests=enabled && ninja -C {builddir}"
        )
    if isinstance(error, netlab.LabError):
        return f"{error}.\nDoes another demo run here, on the same ports? Let it end first."
    return f"{error}"


def main():
    args = arguments.parse()
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
    except (netlab.LabError, netlab.Unavailable, OSError) as error:
        print(f"demo: {explained(error, args.builddir)}", file=sys.stderr)
        return 1
    finally:
        hand_over_build(args.builddir)


if __name__ == "__main__":
    sys.exit(main())
