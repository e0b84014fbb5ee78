# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the end-to-end tests share: a lab, pipelines on its hosts, checks that print TAP.

    import harness

    def test_picture(play):
        sender = play.sender("s", "address=239.1.1.1")
        receiver = play.receiver("r", "address=239.1.1.1")
        play.wait(lambda: receiver.frames.get("frames", 0) > 50, 10, "50 pictures")

    harness.main("stream", TOPOLOGY, [test_picture, ...], [...])

Each list of main() is a phase: its tests run at the same time, each on hosts and groups of its
own. A wait is bounded, so every test ends. Exit status 0, 1, or 77 where namespaces cannot be made.
Words on the command line choose tests by name; --logs DIR keeps the nodes' logs.
"""

import argparse
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "pipelines"), str(TOP / "tests" / "testbed")]

import netlab  # noqa: E402
from demolib.record import Record  # noqa: E402
from understood import not_understood  # noqa: E402

HERE = Path(__file__).resolve().parent
SECOND = 1_000_000_000  # of the times in `stats`
STOOD_STILL_MS = 100  # how late a packet may leave the emulated network


def picture(width=320, height=180, fps=30, source="", live="is-live=true"):
    """A moving picture, encoded: about 650 kb/s at 320x180 when nothing limits it, 2.2 Mb/s at
    640x360, 3.8 Mb/s at 854x480."""
    return (
        f"videotestsrc name=picture {live} pattern=smpte horizontal-speed=4 {source} "
        f"! video/x-raw,format=I420,width={width},height={height},framerate={fps}/1 "
        "! x264enc tune=zerolatency speed-preset=superfast ! rtph264pay"
    )


# A raw picture, and three layers of it from one encoder.
RAW = (
    "videotestsrc is-live=true pattern=smpte horizontal-speed=4 "
    "! video/x-raw,format=I420,width=320,height=180,framerate=15/1"
)
LAYERS = (
    f"{RAW} ! x264enc bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 "
    "mb-tree=false threads=1 vbv-buf-capacity=400 option-string=scenecut=0 speed-preset=superfast "
    "bitrate=400 ! video/x-h264,profile=main ! rtph264pay config-interval=-1"
)
DECODE = "rtph264depay ! avdec_h264 ! fakesink name=frames sync=false"


def rows(sender):
    """The receivers that a sender knows, by the address without its port."""
    return {
        row["address"].rpartition(":")[0].strip("[]"): row
        for row in sender.stats.get("receivers", [])
    }


def series(node, field, begin=0.0, end=float("inf")):
    """(time, value) of a field of `stats` between two times of the record."""
    return [
        (line["time"], line[field])
        for line in node.of("stats")
        if field in line and begin <= line["time"] <= end
    ]


def values(node, field, begin=0.0, end=float("inf")):
    return [value for _, value in series(node, field, begin, end)]


def worth_telling(line):
    return (
        line["type"] not in ("stats", "frames")
        and line.get("name") != "adaptive-multicast-target"
        and line.get("source") != "rtpsession0"
    )


class StoodStill(Exception):
    """The emulated network did: what it dropped or delayed then says nothing of the project."""


class Program:
    """A program that is not a node: gst-launch, ffmpeg, an example."""

    def __init__(self, play, host, name, argv, env=None):
        self.name = name
        self.log = play.record.directory / f"{name}.log"
        self.started = play.record.now()
        with open(self.log, "w", encoding="utf-8") as out:
            self.process = play.lab.run(
                host,
                [str(word) for word in argv],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**play.suite.env, **(env or {})},
            )

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ended(self, timeout):
        """The exit status within @timeout seconds, or None."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def stop(self, timeout=5):
        """Ctrl-C; the exit status, None if it had to be killed."""
        if self.process.poll() is None:
            self.signal(signal.SIGINT)
        status = self.ended(timeout)
        if status is None:
            self.signal(signal.SIGKILL)
            self.process.wait()
        return status


class Capture(Program):
    """What passes a host's interface, packet by packet (wire.py)."""

    def __init__(self, play, host, name=None, device=None):
        name = name or f"wire-{host}"
        words = [sys.executable, HERE / "wire.py"] + ([device] if device else [])
        super().__init__(play, host, name, words)
        self.record = play.record
        self.address = play.lab.hosts[host].address
        self.address6 = play.lab.hosts[host].address6
        end = time.monotonic() + 10
        while "ready" not in self.text():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"no capture on {host}: {self.text().strip()}")
            time.sleep(0.02)

    def packets(self, **wanted):
        """Rows {time, src, sport, dst, dport, ttl, tos, bytes, out, rtp or rtcp}; keyword
        arguments select by equal fields."""
        found = []
        for line in self.text().splitlines():
            if not line.startswith("{"):
                continue
            try:
                row = json.loads(line)
            except ValueError:
                continue  # the last line is being written
            row["time"] -= self.record.start
            if all(row.get(key) == value for key, value in wanted.items()):
                found.append(row)
        return found


class Play:
    """One test: its record, its checks."""

    def __init__(self, suite, lab, title):
        self.suite = suite
        self.lab = lab
        self.title = title
        self.failed = False
        self.record = Record(suite.directory / title)
        self.programs = []

    def now(self):
        return self.record.now()

    def address(self, host, family=4):
        host = self.lab.hosts[host]
        return host.address if family == 4 else host.address6

    # -- programs --

    def node(self, host, pipeline, name=None, interval_ms=250, env=None):
        self.suite.claim(host, self)
        popen = functools.partial(self.lab.run, host)
        return self.record.node(
            name or host,
            popen,
            pipeline,
            interval_ms=interval_ms,
            env={**self.suite.env, **(env or {})},
        )

    def sender(self, host, properties, source=None, name=None, **kwargs):
        pipeline = f"{source or picture()} ! asmpsink name=mcc {properties}"
        return self.node(host, pipeline, name, **kwargs)

    def receiver(self, host, properties, tail=DECODE, name=None, **kwargs):
        return self.node(host, f"asmpsrc name=mcc {properties} ! {tail}", name, **kwargs)

    def program(self, host, name, argv, env=None):
        self.suite.claim(host, self)
        self.programs.append(Program(self, host, name, argv, env))
        return self.programs[-1]

    def capture(self, host, name=None, device=None):
        self.suite.claim(host, self)
        self.programs.append(Capture(self, host, name, device))
        return self.programs[-1]

    # -- checks --

    def check(self, good, text, detail=""):
        self.failed |= not good
        self.suite.result(good, f"{self.title}: {text}", detail)
        return good

    def ends_by(self, number, host, name, argv, env=None):
        """A check: a program that has run for a second ends by this signal as by Ctrl-C."""
        program = self.program(host, name, argv, env)
        self.until(lambda: program.ended(0.05) is not None, 1)
        program.signal(number)
        status = program.ended(5)
        self.check(status == 0, f"{name} ends by {number.name}", f"{status}")

    def skip(self, text, reason):
        self.suite.result(True, f"{self.title}: {text}", skip=reason)

    def until(self, condition, timeout):
        """The time at which @condition came true, None after @timeout seconds."""
        end = time.monotonic() + timeout
        while True:
            if condition():
                return self.now()
            if time.monotonic() > end:
                return None
            time.sleep(0.02)

    def wait(self, condition, timeout, text, detail=None):
        """As until(), and a check that it did; @detail is called when it did not."""
        when = self.until(condition, timeout)
        more = f"not within {timeout} s" + (f": {detail()}" if detail else "")
        self.check(when is not None, text, more if when is None else "")
        return when

    def pictures(self, node, count, timeout, text):
        before = node.frames.get("frames", 0)
        return self.wait(
            lambda: node.frames.get("frames", 0) - before >= count,
            timeout,
            text,
            lambda: f"{node.frames.get('frames', 0) - before} of {count}",
        )

    def clean(self, *nodes, lossless=True, attacked=False):
        """No error, once there was a whole picture no damaged one, and with @lossless no loss,
        which the decoder would hide; without @attacked nothing of RTCP that was not understood."""
        if not attacked:
            self.understood(*nodes)
        for node in nodes:
            lost = node.stats.get("packets-lost", 0)
            if lossless and "packets-received" in node.stats:
                self.check(lost == 0, f"{node.name}: lost nothing", f"{lost} packets")
            errors = [line["text"] for line in node.of("error")]
            self.check(not errors, f"{node.name}: no error", "; ".join(errors[:3]))
            bad = node.frames.get("corrupted", 0)
            self.check(bad == 0, f"{node.name}: no damaged picture", f"{bad}")

    def understood(self, *nodes):
        """What our own elements say to each other none of them drops as not understood."""
        for node in nodes:
            counts = not_understood(node.stats)
            self.check(not counts, f"{node.name}: understood what was said", str(counts))

    # -- end --

    def need_network(self):
        """Before figures of loss or time are judged: raises StoodStill if the machine kept the
        emulator from its work since the phase, or the second try, began. It drops in one go what
        came meanwhile."""
        late = self.lab.lag()["max_us"] / 1000
        self.suite.tell([f"{self.title}: packets left the network at most {late:.1f} ms late"])
        if late > STOOD_STILL_MS:
            raise StoodStill(f"the emulated network stood still for {late:.0f} ms")

    def finish(self):
        for node in self.record.nodes.values():
            if node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)
        self.record.stop()
        for program in self.programs:
            program.stop()
        for node in self.record.nodes.values():
            with open(self.record.directory / f"{node.name}.jsonl", "w", encoding="utf-8") as out:
                out.writelines(json.dumps(line) + "\n" for line in list(node.lines))
        if self.failed:
            self.suite.tell(self.story())

    def story(self):
        """What a person needs who was not there."""
        lines = [f"---- {self.title}: {self.record.directory}"]
        for node in self.record.nodes.values():
            lines.append(f"---- {node.name}: exit status {node.process.poll()}")
            told = [line for line in node.lines if worth_telling(line)]
            lines += [f"{line['time']:8.2f} {json.dumps(line)[:300]}" for line in told[-30:]]
            lines.append(
                f"frames {node.frames.get('frames')}, last {json.dumps(node.stats)[:1500]}"
            )
            log = self.record.directory / f"{node.name}.log"
            lines += log.read_text(errors="replace").splitlines()[-15:]
        for program in self.programs:
            lines.append(f"---- {program.name}: exit status {program.process.poll()}")
            lines += [text[:200] for text in program.text().splitlines()[-10:]]
        return lines


class Suite:
    """All checks of one file, as TAP on standard output."""

    def __init__(self, name, directory):
        self.name = name
        self.directory = Path(directory)
        self.lock = threading.Lock()  # guards the count and standard output
        self.count = 0
        self.failures = []
        self.owners = {}  # of each host of the phase: the test that uses it
        self.env = environment()

    def result(self, good, text, detail="", skip=""):
        with self.lock:
            self.count += 1
            text = text.replace("#", "")
            line = f"{'ok' if good else 'not ok'} {self.count} - {text}"
            line += f" # SKIP {skip}" if skip else ""
            print(line, flush=True)
            if not good:
                self.failures.append(f"{text}: {detail}")
                print(f"# {detail}", flush=True)

    def tell(self, lines):
        with self.lock:
            for line in lines:
                print(f"# {line}")
            sys.stdout.flush()

    def claim(self, host, play):
        """Two senders on one group is a test of its own, and never the one that was meant."""
        with self.lock:
            owner = self.owners.setdefault(host, play)
        if owner is not play:
            raise RuntimeError(
                f"{play.title} uses host {host} of {owner.title}, which runs at the same time: "
                "give it hosts of its own or a phase of its own"
            )

    def release(self, play):
        with self.lock:
            self.owners = {host: owner for host, owner in self.owners.items() if owner is not play}

    def run(self, lab, tests):
        self.owners = {}
        threads = [
            threading.Thread(target=self._one, args=(lab, test), daemon=True) for test in tests
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _one(self, lab, test):
        """Once more where the network stood still, on hosts that are free again by then."""
        for last in (False, True):
            reason = self._once(lab, test)
            if not reason:
                return
            if last:
                text = f"{test.__name__.removeprefix('test_')}: the machine keeps up"
                self.result(False, text, f"{reason}, twice; stop what else runs")
            else:
                self.tell([f"{reason}; once more"])
                lab.reset_lag()

    def _once(self, lab, test):
        """Returns why the test could not be judged, None if it could."""
        play = Play(self, lab, test.__name__.removeprefix("test_"))
        begin = time.monotonic()
        reason = None
        try:
            test(play)
        except StoodStill as error:
            reason = error
        except Exception:  # a test that breaks is a failed check; the others go on
            play.check(False, "ran to its end", traceback.format_exc().replace("\n", "\n# "))
        finally:
            play.finish()
        if reason:
            self.release(play)
        self.tell([f"{play.title}: {time.monotonic() - begin:.1f} s"])
        return reason


def builddir():
    """Where the plugin is: beside the emulator."""
    return Path(netlab.find_emulator()).resolve().parents[2]


def environment():
    """As meson devenv: the plugin of the build tree."""
    env = dict(os.environ)
    top = builddir()
    env["GST_PLUGIN_PATH"] = str(top / "gst")
    env["GST_REGISTRY"] = str(top / "registry-e2e.bin")
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env.setdefault("GST_DEBUG", "2,adaptive*:3")
    env["GST_DEBUG_NO_COLOR"] = "1"
    return env


def need_elements(suite):
    """Also fills the registry once, before many programs start at the same time."""
    for element in ("asmpsink", "asmpsrc", "x264enc", "avdec_h264"):
        argv = ["gst-inspect-1.0", element]  # --exists asks for a version >= GStreamer's
        done = subprocess.run(
            argv, env=suite.env, check=False, timeout=60, stdout=subprocess.DEVNULL
        )
        if done.returncode != 0:
            suite.result(False, f"there is an element {element}", "gst-inspect-1.0 finds none")
            return False
    return True


def main(name, topology, *phases):
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("tests", nargs="*", help="parts of the names of the tests to run")
    parser.add_argument("--logs", help="directory for the nodes' logs")
    args = parser.parse_args()
    try:
        netlab.ensure_privileges(sudo="quiet")
        with tempfile.TemporaryDirectory(prefix="adaptive-multicast-e2e-") as directory:
            suite = Suite(name, args.logs or directory)
            if need_elements(suite):
                for phase in phases:
                    tests = [
                        test
                        for test in phase
                        if not args.tests or any(word in test.__name__ for word in args.tests)
                    ]
                    if tests:
                        with netlab.Lab(topology, name=f"e2e_{name}") as lab:
                            suite.run(lab, tests)
                            if suite.failures:
                                late = lab.lag()["max_us"] / 1000
                                suite.tell([f"packets left the network at most {late:.1f} ms late"])
    except netlab.Unavailable as reason:
        print(f"1..0 # SKIP {reason}")
        return 77
    print(f"1..{suite.count}")
    for failure in suite.failures:
        print(f"# FAILED {failure}")
    return 1 if suite.failures else 0
