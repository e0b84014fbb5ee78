# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo of ASSP: one camera in three versions to three groups of receivers, each group behind a
bottleneck of its own that changes (see pipelines/demo --assp)."""

import threading
import time

from .record import LinkTrace
from .steps import EmulatedLab
from .table import rate, spark

GROUP, PORT = "239.255.12.50", 5010
STREAMS = [(150_000, 500_000), (500_000, 1_500_000), (1_500_000, 3_500_000)]
PICTURE = (
    "videotestsrc is-live=true pattern=smpte horizontal-speed=4 "
    "! video/x-raw,format=I420,width=854,height=480,framerate=30/1 ! timeoverlay "
)
DECODE = "decodebin ! videoconvert ! video/x-raw,format=I420 ! fakesink name=frames sync=false"
GROUPS = ["fast", "middle", "slow"]
CAPACITY = {"fast": 4_000_000, "middle": 1_200_000, "slow": 400_000}
RECEIVERS = {f"{group}{i}": group for group in GROUPS for i in (1, 2)}
REASONS = {
    "start": "newcomer",
    "up": "its path carries more",
    "down": "its path carries less",
    "trouble": "its path fell short",
    "back": "the other did not come",
    "lock": "locked",
    "ladder": "the streams changed",
}


def story(seconds):
    """Who gets what capacity when: (time, group, bit/s)."""
    unit = seconds / 90
    return [
        (30 * unit, "middle", 3_000_000),
        (55 * unit, "fast", 1_000_000),
        (65 * unit, "slow", 1_000_000),
    ]


class GroupsLab(EmulatedLab):
    """Two receivers behind each of three bottlenecks: RTT 40 ms, 100 ms of queue at first."""

    title = "ASSP live: one picture in three x264 versions, each receiver in the one it can take"
    receivers = len(RECEIVERS)

    def __init__(self, builddir):
        lines = ["option leave-latency=1s", "host sender", "router a", "router b"]
        lines += [f"router at-{group}" for group in GROUPS]
        lines += [f"host {name}" for name in RECEIVERS]
        lines += ["link access sender a", "link core a b delay=8ms"]
        for group in GROUPS:
            bits = CAPACITY[group]
            size = bits // 80  # bytes: 100 ms
            lines.append(f"link {group} b at-{group} rate={bits} delay=10ms queue={size}B")
        lines += [
            f"link to-{name} at-{group} {name} delay=2ms" for name, group in RECEIVERS.items()
        ]
        super().__init__(builddir, 0, "\n".join(lines) + "\n")

    def set_capacity(self, group, bits):
        self.lab.set(group, rate=bits)

    def link_counters(self, group):
        row = self.lab.link_stats(group, f"at-{group}")
        return row["in_bytes"], row["rx_bytes"], row["drops_queue"] + row["drops_loss"]

    def describe(self):
        return "network namespaces, multicast, three bottlenecks, RTT 40 ms, leave latency 1 s"


class SimulcastRun:
    """The sender, the receivers, and what was seen of each."""

    def __init__(self, record, lab, env):
        self.record = record
        self.lab = lab
        self.env = env
        self.capacity = dict(CAPACITY)
        self.steps = {group: [(0.0, bits)] for group, bits in CAPACITY.items()}
        self.traces = {group: LinkTrace() for group in GROUPS}
        self.sampling = True
        self.sampler = threading.Thread(target=self._sample, daemon=True)

    def _sample(self):
        while self.sampling:
            for group, trace in self.traces.items():
                counters = self.lab.link_counters(group)
                trace.sample(self.record.now(), self.capacity[group], *counters)
            time.sleep(0.1)

    def set_capacity(self, group, bits):
        self.lab.set_capacity(group, bits)
        self.capacity[group] = bits
        self.steps[group].append((self.record.now(), bits))
        self.record.event(f"{group}: {rate(bits)}")

    def play(self, seconds, table):
        """The whole story; returns at its end, or on Ctrl-C, with everything stopped."""
        place = f"address={GROUP} port={PORT}"
        bounds = ",".join(f"{low}:{high}" for low, high in STREAMS)
        self.sampler.start()
        try:
            sink = f"asspsimulcastbin name=mcc {place} streams={bounds}"
            self.record.node(
                "sender", self.lab.popen("sender"), f"{PICTURE} ! {sink}", env=self.env
            )
            for name in RECEIVERS:
                source = f"asspsimulcastsrc name=mcc {place}"
                self.record.node(name, self.lab.popen(name), f"{source} ! {DECODE}", env=self.env)
            for time_s, group, bits in story(seconds):
                if not self._wait_until(time_s, table):
                    return
                self.set_capacity(group, bits)
            self._wait_until(seconds, table)
        finally:
            self.sampling = False
            self.sampler.join(1)
            self.record.stop()

    def _wait_until(self, end, table):
        while self.record.now() < end:
            self._show(table)
            if self.record.nodes["sender"].process.poll() is not None:
                return False
            time.sleep(0.2)
        return True

    def switches(self, name):
        """The switches that a receiver told: {time, from, to, reason, duration}."""
        return [
            {"time": line["time"], **line["fields"]}
            for line in self.record.nodes[name].of("message")
            if line["name"] == "adaptive-multicast-switch"
        ]

    def _why(self, name):
        seen = self.switches(name)
        if not seen:
            return ""
        last = seen[-1]
        return f"{REASONS.get(last['reason'], last['reason'])}, since {last['time']:.0f} s"

    def _show(self, table):
        sender = self.record.nodes["sender"].stats
        if not sender:
            return
        parts = []
        for number, stream in enumerate(sender.get("streams", [])):
            text = rate(stream["target-bitrate"]) if stream["running"] else "idle"
            parts.append(f"stream {number} {text} ({stream['num-receivers']})")
        head = f"{self.record.now():5.1f} s   " + "   ".join(parts)
        rows = [["receiver", "capacity", "stream", "rate", "loss, 5 s", "pictures", "why"]]
        for name, group in RECEIVERS.items():
            node = self.record.nodes[name]
            now = self.record.now()
            stream = node.stats.get("stream", -1)
            rows.append(
                [
                    name,
                    rate(self.capacity[group]),
                    "-" if stream < 0 else str(stream),
                    rate(node.stats.get("estimated-bitrate", 0)),
                    f"{100 * self.record.loss_between(name, now - 5, now):.2f} %",
                    str(node.frames.get("frames", 0)),
                    self._why(name),
                ]
            )
        notes = []
        for group, trace in self.traces.items():
            sent = [bits for _, bits in trace.series(0.5)][::10]
            notes.append(f"{group:>7}  " + spark(sent, 1.2 * max(sent, default=1), 60))
        notes += [f"{time_s:5.1f} s  {text}" for time_s, text in self.record.events[-3:]]
        table.show(self.record.now(), head, rows, notes)

    def words(self):
        """What a person wants to know, in sentences."""
        out = []
        for name in RECEIVERS:
            node = self.record.nodes[name]
            seen = self.switches(name)
            way = " -> ".join(str(row["to"]) for row in seen) or "none"
            first = f"{node.first_frame:.1f} s" if node.first_frame is not None else "never"
            lost = self.record.loss_between(name, 5, self.record.now())
            broken = node.frames.get("corrupted", 0)
            out.append(
                f"{name}: first picture {first}, streams {way}, loss {100 * lost:.2f} %, "
                f"{broken} pictures damaged."
            )
        return "\n".join(out)


def draw(run, path, title):
    """Writes a PNG: for each group capacity, what came and the streams' bounds; then where each
    receiver was, and decoded pictures."""
    import logging

    import matplotlib

    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    record = run.record
    end = max(row["time"] for trace in run.traces.values() for row in trace.rows)
    colors = {"fast": "tab:blue", "middle": "tab:green", "slow": "tab:orange"}
    figure, axes = plt.subplots(
        5, 1, figsize=(11, 11), sharex=True, gridspec_kw={"height_ratios": [2, 2, 2, 1.6, 1.2]}
    )
    for axis, group in zip(axes, GROUPS, strict=False):
        steps = run.steps[group] + [(end, run.steps[group][-1][1])]
        axis.fill_between(
            [t for t, _ in steps],
            [bits / 1e6 for _, bits in steps],
            step="post",
            color="0.9",
            label="capacity",
        )
        series = run.traces[group].series()
        axis.plot(
            [t for t, _ in series],
            [bits / 1e6 for _, bits in series],
            color=colors[group],
            lw=2,
            label="sent into the bottleneck (1-s mean)",
        )
        for low, _ in STREAMS[1:]:
            axis.axhline(low / 1e6, color="0.5", lw=0.8, ls=":")
        axis.set_ylim(0, 1.15 * max(bits for _, bits in steps) / 1e6)
        axis.set_ylabel(f"{group}\nMb/s")
        axis.legend(loc="upper right", fontsize=8)
    where, frames = axes[3], axes[4]
    for index, (name, group) in enumerate(RECEIVERS.items()):
        style = "-" if name.endswith("1") else "--"
        lines = [line for line in record.nodes[name].of("stats") if line.get("stream", -1) >= 0]
        where.step(
            [line["time"] for line in lines],
            [line["stream"] + 0.05 * (index - 2.5) for line in lines],
            where="post",
            color=colors[group],
            ls=style,
            lw=1.5,
            label=name,
        )
        count = record.nodes[name].of("frames")
        fps = [
            (b["time"], (b["frames"] - a["frames"]) / (b["time"] - a["time"]))
            for a, b in zip(count, count[4:], strict=False)
            if b["time"] > a["time"]
        ]
        frames.plot([t for t, _ in fps], [f for _, f in fps], color=colors[group], ls=style, lw=1)
    where.set_yticks(range(len(STREAMS)))
    where.set_yticklabels([f"{low / 1e3:.0f}-{high / 1e3:.0f} kb/s" for low, high in STREAMS])
    where.set_ylim(-0.4, len(STREAMS) - 0.6)
    where.set_ylabel("stream")
    where.legend(loc="lower right", fontsize=8, ncols=3)
    frames.set_ylabel("decoded\nframes/s")
    frames.set_ylim(0, 40)
    frames.set_xlabel("seconds")
    frames.set_xlim(0, end)
    axes[0].set_title(title)
    for axis in axes:
        axis.grid(alpha=0.3)
        for time_s, _ in record.events:
            axis.axvline(time_s, color="0.6", lw=0.8, ls="--")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
