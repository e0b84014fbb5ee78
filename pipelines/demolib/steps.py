# SPDX-License-Identifier: LGPL-2.1-or-later
"""The networks a run can play on, and the run itself."""

import functools
import subprocess
import threading
import time
from pathlib import Path

import netlab

from .table import rate, spark

GROUP, PORT = "239.255.12.42", 5004
PICTURE = (
    "videotestsrc is-live=true pattern=smpte horizontal-speed=4 "
    "! video/x-raw,format=I420,width=854,height=480,framerate=30/1 ! timeoverlay "
    "! x264enc tune=zerolatency speed-preset=superfast ! rtph264pay "
)
DECODE = "decodebin ! videoconvert ! video/x-raw,format=I420 ! fakesink name=frames sync=false"


class Here:
    """No lab: this host's own network."""

    receivers = 0

    def popen(self, host):
        return subprocess.Popen

    def name_of(self, address):
        return address


class Run:
    """Sender and receivers on a lab, with the table and the story's events."""

    def __init__(self, record, lab, env, receivers, variant="enhanced"):
        self.record = record
        self.lab = lab
        self.env = env
        self.receivers = receivers
        self.variant = f"variant={variant}"
        self.capacity = 0
        self.sampling = False
        self.crashed = None
        self.crash_time = self.limit_gone = None
        self.was_limiting = False

    # One thread samples the bottleneck every 100 ms, so that every rate comes from the wire.
    def _sample(self):
        while self.sampling:
            counters = self.lab.counters()
            if counters:
                self.record.link_sample(self.capacity, *counters)
            time.sleep(0.1)

    def start_receiver(self, name):
        source = f"asmpsrc name=mcc {self.variant} {self.lab.receiver_properties(name)}"
        self.record.node(name, self.lab.popen(name), f"{source} ! {DECODE}", env=self.env)

    def set_capacity(self, bits):
        self.lab.set_rate(bits)
        self.capacity = bits
        self.record.event(f"capacity {rate(bits)}")

    def start_sampling(self, capacity):
        self.capacity = capacity
        self.sampling = True
        self.sampler = threading.Thread(target=self._sample, daemon=True)
        self.sampler.start()

    def start_sender(self, picture=PICTURE):
        sink = f"asmpsink name=mcc {self.variant} {self.lab.sender_properties()}"
        sink += " max-bitrate=4000000"
        self.record.node("sender", self.lab.popen("sender"), f"{picture} ! {sink}", env=self.env)

    def stop(self):
        self.sampling = False
        self.sampler.join(1)
        self.record.stop()

    def wait_until(self, end, table=None):
        """Until the record's time is @end, or the sender has ended (False)."""
        while self.record.now() < end:
            self._watch_crash()
            if table:
                self._show(table)
            if self.record.nodes["sender"].process.poll() is not None:
                return False
            time.sleep(0.2)
        return True

    def play(self, when, high, low, table):
        """The demo's whole story, everything stopped at its end; whether the sender ran for all of
        it."""
        late = self.receivers[-1] if len(self.receivers) > 2 else None
        todo = [(when["down"], self.set_capacity, low), (when["up"], self.set_capacity, high)]
        if late:
            todo.append((when["late"], self.join, late))
            todo.append((when["crash"], self.crash, self.receivers[1]))
        self.start_sampling(high)
        try:
            self.start_sender()
            for name in self.receivers:
                if name != late:
                    self.start_receiver(name)
            for time_s, what, arg in sorted(todo, key=lambda row: row[0]):
                if not self.wait_until(time_s, table):
                    return False
                what(arg)
            return self.wait_until(when["end"], table)
        finally:
            self.stop()

    def stream(self, pipeline, table):
        """One sender until Ctrl-C, and what it warns of."""
        node = self.record.node("sender", self.lab.popen("sender"), pipeline, env=self.env)
        told = 0
        try:
            while node.process.poll() is None:
                for line in node.of("warning")[told:]:
                    told += 1
                    table.say(line["text"])
                self._show(table)
                time.sleep(0.25)
        finally:
            self.record.stop()
        return node.process.returncode or 0

    def join(self, name):
        self.record.event(f"{name} joins")
        self.start_receiver(name)

    def crash(self, name):
        self.record.event(f"{name} crashes")
        stats = self.record.nodes["sender"].stats
        self.was_limiting = self.lab.name_of(stats.get("limiting-address", "")) == name
        self.crashed, self.crash_time = name, self.record.now()
        self.record.nodes[name].kill()

    def _watch_crash(self):
        if self.crashed is None or self.limit_gone is not None:
            return
        rows = self.record.nodes["sender"].stats.get("receivers", [])
        known = {self.lab.name_of(row["address"]) for row in rows}
        if known and self.crashed not in known:
            self.limit_gone = self.record.now() - self.crash_time

    def _who(self, stats):
        if stats.get("reason") in ("receiver", "pacer") and stats.get("limiting-ssrc"):
            return self.lab.name_of(stats.get("limiting-address", ""))
        return stats.get("reason", "?")

    def _show(self, table):
        sender = self.record.nodes["sender"].stats
        if not sender:
            return
        limiting = sender.get("limiting-ssrc", 0)
        capacity = f"capacity {rate(self.capacity)}   " if self.capacity else ""
        head = (
            f"{self.record.now():5.1f} s   {capacity}"
            f"target {rate(sender['target-bitrate'])}   sent {rate(sender['sent-bitrate'])}   "
            f"limited by {self._who(sender)}"
        )
        rows = [["receiver", "rate", "loss", "RTT", "queue", "pictures", ""]]
        for row in sender.get("receivers", []):
            name = self.lab.name_of(row["address"])
            node = self.record.nodes.get(name)
            frames = str(node.frames.get("frames", 0)) if node else ""
            queue = f"{node.stats.get('queue-delay', 0) / 1e6:.0f} ms" if node else ""
            mark = "<- limits" if row["ssrc"] == limiting else ""
            if node and node.process.poll() is not None:
                mark = "crashed " + mark
            rtt = f"{row['rtt'] / 1e6:.0f} ms" if row.get("rtt-measured") else "?"
            cells = [name, rate(row["rate"]), f"{100 * row['loss']:.2f} %", rtt, queue]
            rows.append(cells + [frames, mark])
        sent = [bits for _, bits in self.record.offered_series(0.5)][::5]
        notes = ["sent  " + spark(sent, 1.2 * max(sent, default=1), 60)]
        notes += [f"{time:5.1f} s  {text}" for time, text in self.record.events[-3:]]
        table.show(self.record.now(), head, rows, notes)

    def words(self, when):
        out = []
        late = self.record.nodes.get(self.receivers[-1])
        if late and late.first_frame is not None:
            out.append(
                f"{late.name} joined at {late.started:.0f} s and had a picture after "
                f"{late.first_frame:.1f} s."
            )
        if self.crash_time is not None:
            gone = "never" if self.limit_gone is None else f"after {self.limit_gone:.1f} s"
            limiting = ", which limited the stream then," if self.was_limiting else ""
            out.append(f"{self.crashed}{limiting} crashed and was forgotten {gone}.")
        return " ".join(out)


def emulator_of(builddir):
    return Path(builddir) / "tests" / "testbed" / "mcc-emulator"


class EmulatedLab:
    """A netlab.Lab whose link `core` is the bottleneck."""

    topology = ""
    title = "ASMP live: one x264 stream to a multicast group, the slowest receiver decides"
    udp = False
    receivers = 0

    def __init__(self, builddir, capacity, topology=None, **words):
        text = (topology or self.topology).format(rate=capacity, **words)
        self.lab = netlab.Lab(text, udp=self.udp, name="demo", emulator=str(emulator_of(builddir)))

    def __enter__(self):
        self.lab.__enter__()
        return self

    def __exit__(self, *reason):
        self.lab.__exit__(*reason)

    def popen(self, host):
        return functools.partial(self.lab.run, host)

    def set_rate(self, bits):
        self.lab.set("core", rate=bits)

    def name_of(self, address):
        """The host behind an "address:port" of the sender's stats."""
        host = address.rsplit(":", 1)[0]
        for name, known in self.lab.hosts.items():
            if host in (known.address, f"[{known.address6}]"):
                return name
        return address

    def counters(self):
        """(offered bytes, delivered bytes, dropped packets) of the bottleneck towards receivers."""
        try:
            row = self.lab.link_stats("core", "b")
        except netlab.LabError:
            return None
        return row["in_bytes"], row["rx_bytes"], row["drops_queue"] + row["drops_loss"]


class MulticastLab(EmulatedLab):
    """Sender and three receivers in namespaces behind one bottleneck: RTT 40 ms, 100 ms of queue
    at the full rate."""

    receivers = 3
    topology = """
host sender
router a
router b
host receiver1
host receiver2
host receiver3
link access sender a
link core a b rate={rate} delay=18ms queue=25kB
link leaf1 b receiver1 delay=2ms
link leaf2 b receiver2 delay=2ms
link leaf3 b receiver3 delay=2ms
"""

    def describe(self):
        return "network namespaces, multicast, one bottleneck, RTT 40 ms"

    def sender_properties(self):
        return f"address={GROUP} port={PORT}"

    def receiver_properties(self, name):
        return f"address={GROUP} port={PORT}"


class UnicastLab(EmulatedLab):
    """One receiver on loopback behind the emulator's plain UDP mode: no privileges needed."""

    receivers = 1
    title = "ASMP live: one x264 stream by unicast (no namespaces here, so no multicast)"
    udp = True
    topology = """
host sender
router a
router b
host receiver1
link access sender a
link core a b rate={rate} delay=18ms queue=25kB
link leaf1 b receiver1 delay=2ms
udp 55014 sender receiver1 55004
udp 55015 sender receiver1 55005
"""

    def describe(self):
        return "unicast over loopback, one bottleneck, RTT 40 ms"

    def name_of(self, address):
        return "receiver1"  # the only one; the address is the emulator's

    def sender_properties(self):
        return "address=127.0.0.1 port=55014"

    def receiver_properties(self, name):
        return "address=127.0.0.1 port=55004"
