# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs that a multicast flow can be: asmpsink and asmpsrc, and their rivals.

A new one is a class here: what stands in its way, how its sender and a receiver are started, and
what they say of themselves.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from . import film

TOP = Path(__file__).resolve().parents[3]
NODE = TOP / "pipelines" / "node"
END_S = 5.0  # in which a program ends
EARLY_S = 4.0  # programs start so long before their time, and wait: in NULL, as READY joins
PICTURES = ((0.6e6, 320, 180), (2e6, 640, 360), (1e12, 854, 480))  # up to a rate: width, height
IP_UDP = 28
ENCODER = "x264enc tune=zerolatency speed-preset=superfast"
# Pictures between key ones at most, of a film: who joins a fixed stream, which nobody can ask for
# one, waits for the next; so the others have no more.
KEYS = "key-int-max=60"
FILM = Path(__file__).with_name("film.py")


class Process:
    """A program that waits for a line, with its lines of output."""

    def __init__(self, lab, host, argv, env, log, end=None):
        """@end: the signal that ends it cleanly, and the status it then has; None: that its
        standard input ends."""
        self.name = Path(log).stem
        self.lines = []
        self.end = end
        self.good = ()  # statuses with which it ends as we wanted
        self.until = None  # when it has to have ended
        self.ready = threading.Event()
        self.log = open(log, "a", encoding="utf-8")
        self.popen = lab.run(
            host,
            [str(word) for word in argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=env,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.popen.stdout:
            self.ready.set()
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                self.lines.append(row)
        self.ready.set()

    def say(self, line):
        try:
            self.popen.stdin.write(line + "\n")
            self.popen.stdin.flush()
        except (OSError, ValueError):
            pass

    def finish(self):
        """A clean end, without waiting for it."""
        self.good, self.until = (0,), time.monotonic() + END_S
        if self.end:
            self.good = (0, -self.end[0], self.end[1])
            self.signal(self.end[0])
        self.say("quit")
        try:
            self.popen.stdin.close()
        except OSError:
            pass

    def kill(self):
        if self.popen.poll() is None:
            self.good, self.until = (-signal.SIGKILL,), time.monotonic() + END_S
        self.signal(signal.SIGKILL)

    def signal(self, number):
        try:
            os.killpg(self.popen.pid, number)
        except ProcessLookupError:
            pass

    def wrong(self):
        """How it ended otherwise than as we wanted, or None."""
        if self.until is not None:
            try:
                self.popen.wait(max(0.0, self.until - time.monotonic()))
            except subprocess.TimeoutExpired:
                return f"goes on {END_S:g} s after its end"
        status = self.popen.poll()
        return None if status is None or status in self.good else f"ended with {status}"


class Flow:
    """One multicast flow of a run."""

    control_port = False  # whether media is on `port` alone
    says_ready = True
    end = None  # Process's
    pictures = False  # whether it carries a film
    needs = ()  # programs

    def __init__(self, ground, flow):
        self.ground, self.flow = ground, flow
        self.senders, self.receivers = [], {}

    @classmethod
    def missing(cls, ground):
        """What must be installed or built, or None."""
        for name in cls.needs:
            if ground.program(name) is None:
                return f"{name} is missing: pipelines/setup --with rivals installs and builds it"
        return None

    @classmethod
    def cannot(cls, data):
        """Why it cannot run a scenario, or None."""
        return None

    # -- what each one says --

    def sender(self):
        raise NotImplementedError

    def receiver(self, receiver):
        raise NotImplementedError

    go = "go"

    def camera(self, rest, interval):
        """What sends pictures by @rest: a film's, or a test picture's."""
        words = ["--name", "sender", "--interval", interval, "--state", "null"]
        if self.ground.film:
            own = ["--film", self.ground.film.path, "--times", self.ground.film.times]
            return [FILM, *own, *words, f"{film.SOURCE} ! {rest}"]
        return [NODE, *words, f"{test_picture(self.flow, self.ground.most_bps)} ! {rest}"]

    def viewer(self, source, receiver, interval):
        """What receives by @source: a screen that is recorded, or nothing more."""
        words = ["--name", receiver["id"], "--interval", interval, "--state", "null"]
        if self.ground.film:
            record = self.ground.film.record(receiver["id"])
            return [FILM, "--record", record, *words, f"{source} ! {film.SCREEN}"]
        return [NODE, *words, f"{source} ! fakesink sync=false async=false"]

    # -- life --

    def _start(self, host, argv, what):
        log = self.ground.directory / f"{self.flow['id']}-{what}.log"
        return Process(self.ground.lab, host.name, argv, self.ground.env, log, self.end)

    def actions(self):
        """[(time, function), ...]; times before the start are preparations."""
        out = []
        for begin, end in self.flow["times"]:
            out += self._episode(
                self.senders, self.flow["sender"], self.sender(), "sender", begin, end, False
            )
        for receiver in self.flow["receivers"]:
            for begin, end in receiver["times"]:
                crash = receiver.get("crash") == end
                row = self.receivers.setdefault(receiver["id"], [])
                out += self._episode(
                    row,
                    receiver["host"],
                    self.receiver(receiver),
                    receiver["id"],
                    begin,
                    end,
                    crash,
                )
        return out

    def _episode(self, row, host, argv, what, begin, end, crash):
        made = []

        def start():
            made.append(self._start(host, argv, what))
            row.append(made[0])

        def finish():
            (made[0].kill if crash else made[0].finish)()

        out = [(begin - EARLY_S, start), (begin, lambda: made[0].say(self.go))]
        if end < self.ground.duration:
            out.append((end, finish))
        return out

    def processes(self):
        return self.senders + [each for row in self.receivers.values() for each in row]

    def wait_ready(self, timeout):
        deadline = time.monotonic() + timeout
        for process in self.processes():
            if self.says_ready and not process.ready.wait(max(0.0, deadline - time.monotonic())):
                raise RuntimeError(
                    f"{self.flow['id']}: a program does not start ({process.popen.args[-1]})"
                )

    def told(self, zero):
        return {
            "control_port": self.control_port,
            "target_bps": [],
            "limiting": [],
            "receivers": {},
        }


class Asmp(Flow):
    """asmpsink behind an ideal source (what the scenario's `cbr` means) or an encoder; asmpsrc."""

    control_port = True
    pictures = True
    variant = "enhanced"

    @classmethod
    def missing(cls, ground):
        sources = [row["source"] for row in ground.asked["flows"] if row["type"] == "multicast"]
        ideal = not ground.encoder and any(source["type"] != "video" for source in sources)
        if ideal and ground.program("ground-source") is None:
            return "ground-source is missing: build with gstreamer-app's headers, or --encoder"
        return super().missing(ground)

    def properties(self):
        flow = self.flow
        words = {
            "address": flow["group_address"],
            "port": flow["port"],
            "start-bitrate": int(flow["start_rate"]),
            "min-bitrate": int(flow["min_rate"]),
            "max-bitrate": int(flow["max_rate"]),
            "variant": self.variant,
        }
        if flow["ecn"]:
            words["ecn"] = "true"
        if flow["feedback"] == "unicast":
            words["feedback-address"] = flow["sender"].address
        if "no_feedback" in flow["options"]:
            words["no-feedback"] = flow["options"]["no_feedback"]
        return [f"{key}={value}" for key, value in words.items()]

    def encoded(self):
        return self.ground.encoder or self.flow["source"]["type"] == "video"

    def sending(self):
        """The element that sends, with its properties."""
        return ["asmpsink", "name=mcc", *self.properties()]

    def ideal(self):
        """The ideal source's arguments: the packet's size and its streams."""
        return [int(self.flow["packet_size"])]

    def encoding(self):
        """From raw pictures to what the element takes."""
        return f"{self.encoder()} ! {self.payloading()} ! "

    def encoder(self):
        return f"{ENCODER} {KEYS}" if self.ground.film else ENCODER

    def payloading(self):
        return f"rtph264pay mtu={packet_mtu(self.flow)}"

    def receiving(self):
        """The element that receives."""
        place = f"address={self.flow['group_address']} port={self.flow['port']}"
        return f"asmpsrc name=mcc {place} variant={self.variant}"

    def sender(self):
        if not self.encoded():
            program = self.ground.program("ground-source")
            return [program, *self.ideal(), *self.sending()]
        return self.camera(self.encoding() + " ".join(self.sending()), 250)

    def receiver(self, receiver):
        return self.viewer(self.receiving(), receiver, 500)

    go = "state playing"  # any line will do for ground-source

    def told(self, zero):
        out = super().told(zero)
        names = {each["host"].address: each["id"] for each in self.flow["receivers"]}
        for process in self.senders:
            for row in list(process.lines):
                target = row.get("target", row.get("target-bitrate"))
                at = round(row["time"] - zero, 4)
                if target is None or at < 0:
                    continue
                address = row.get("limiting", row.get("limiting-address")) or ""
                who = names.get(address.rpartition(":")[0])
                append_change(out["target_bps"], at, target)
                append_change(out["limiting"], at, who)
        for name, processes in self.receivers.items():
            own = {"rate_bps": [], "loss_ratio": [], "rtt": []}
            for row in [row for process in processes for row in list(process.lines)]:
                if row.get("type") != "stats" or not row.get("estimated-bitrate"):
                    continue
                at = round(row["time"] - zero, 4)
                own["rate_bps"].append([at, row["estimated-bitrate"]])
                own["loss_ratio"].append([at, row["loss"]])
                own["rtt"].append([at, row["rtt"] * 1e-9])
                own |= {"ecn": row["ecn"], "ecn_marked": row["ecn-marked"]}  # as it was last
            out["receivers"][name] = own
        return out


class Published(Asmp):
    variant = "published"


class Norm(Flow):
    """NORM by the NRL library, NORM-CC."""

    needs = ("norm-peer",)
    HEADERS = 28 + 40  # IP, UDP; NORM_DATA with its extensions, measured

    def sender(self):
        flow = self.flow
        segment = int(flow["packet_size"]) - self.HEADERS
        rates = [int(flow[key]) for key in ("start_rate", "min_rate", "max_rate")]
        head = [self.ground.program("norm-peer"), "send", flow["group_address"], flow["port"]]
        return [*head, segment, *rates]

    def receiver(self, receiver):
        program = self.ground.program("norm-peer")
        return [program, "receive", self.flow["group_address"], self.flow["port"]]


class Uftp(Flow):
    """uftp -C tfmcc and uftpd: the transfer of a file longer than the run."""

    needs = ("uftp", "uftpd")
    says_ready = False
    end = signal.SIGTERM, 6  # it does not read; interrupted, as its manual says
    HEADERS = 28 + 32  # IP, UDP; UFTP with what TFMCC adds, measured

    @classmethod
    def cannot(cls, data):
        for flow in data["flows"]:
            if flow["type"] == "multicast" and flow["again"]:
                return f"'{flow['id']}' pauses, and UFTP's transfer has one beginning and one end"
            for receiver in flow.get("receivers") or ():
                if receiver["join"] or receiver["join_spread"] or receiver["again"]:
                    return "UFTP admits nobody after its announce phase, and somebody joins late"
        return None

    def identity(self, receiver):
        return f"0x{receiver['host'].number + 1:08X}"

    def sender(self):
        flow = self.flow
        path = self.ground.directory / f"{flow['id']}.data"
        size = int(self.ground.duration * max(link["rate"] for link in self.ground.links) / 8)
        with open(path, "wb") as file:
            file.truncate(size)  # a hole: no disk is read
        rates = f"tfmcc:min={flow['min_rate'] / 1e3:.0f}:init={flow['start_rate'] / 1e3:.0f}"
        words = ["uftp", "-C", f"{rates}:max={flow['max_rate'] / 1e3:.0f}"]
        words += ["-M", flow["group_address"], "-P", flow["group_address"], "-p", flow["port"]]
        words += ["-I", "amc0", "-t", "16", "-x", "1"]
        words += ["-b", int(flow["packet_size"]) - self.HEADERS]
        words += ["-H", ",".join(self.identity(each) for each in flow["receivers"]), path]
        # It cannot wait by itself.
        return ["sh", "-c", 'read line; exec "$@"', "sh", *words]

    def receiver(self, receiver):
        place = self.ground.directory / f"{self.flow['id']}-{receiver['id']}"
        for name in ("in", "tmp"):
            (place / name).mkdir(parents=True, exist_ok=True)
        words = ["uftpd", "-d", "-I", "amc0", "-M", self.flow["group_address"], "-x", "1"]
        words += ["-p", self.flow["port"], "-U", self.identity(receiver)]
        words += ["-D", place / "in", "-T", place / "tmp"]
        return ["sh", "-c", 'read line; exec "$@"', "sh", *words]


class Rtp(Flow):
    """rtpsink and rtpsrc at a fixed rate, without any adaptation: `rtp` (1 Mb/s), `rtp=600k`."""

    control_port = True
    pictures = True
    go = "state playing"

    def sender(self):
        flow = self.flow
        text = f"{ENCODER} bitrate={self.ground.rate_bps * 0.96 / 1e3:.0f} "
        text += f"vbv-buf-capacity=200 {KEYS} ! rtph264pay mtu={packet_mtu(flow)} "
        text += f"config-interval=-1 ! rtpsink address={flow['group_address']} "
        return self.camera(text + f"port={flow['port']} ttl-mc=16", 0)

    def receiver(self, receiver):
        text = f"rtpsrc address={self.flow['group_address']} port={self.flow['port']}"
        return self.viewer(f"{text} multicast-iface=amc0 encoding-name=H264", receiver, 0)


def append_change(pairs, at, value):
    if not pairs or pairs[-1][1] != value:
        pairs.append([at, value])


def packet_mtu(flow):
    return int(flow["packet_size"]) - IP_UDP


def test_picture(flow, rate_bps):
    """videotestsrc; how large a picture by the rate that it may have to fill."""
    _, width, height = next(row for row in PICTURES if rate_bps <= row[0])
    fps = int(flow["source"].get("fps", 30))
    return (
        "videotestsrc is-live=true pattern=smpte horizontal-speed=4 ! timeoverlay "
        f"! video/x-raw,format=I420,width={width},height={height},framerate={fps}/1"
    )


def find(name, builddir):
    """A program of the build, or of the system."""
    own = Path(builddir) / "tests" / "testbed" / name
    return str(own) if os.access(own, os.X_OK) else shutil.which(name)
