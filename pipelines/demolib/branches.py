# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the demos with several bottlenecks share: receivers in groups, each group behind a link of
its own that changes."""

import threading
import time

from .record import LinkTrace
from .steps import EmulatedLab
from .table import rate, spark


class BranchesLab(EmulatedLab):
    """A link for each group of receivers: RTT 40 ms, 100 ms of queue at first if none is given."""

    def __init__(self, builddir, capacity, receivers, queue_bytes=0):
        """@capacity: {group: bit/s}; @receivers: {name: group}."""
        self.receivers = len(receivers)
        lines = ["option leave-latency=1s", "host sender", "router a", "router b"]
        lines += [f"router at-{group}" for group in capacity]
        lines += [f"host {name}" for name in receivers]
        lines += ["link access sender a", "link core a b delay=8ms"]
        for group, bits in capacity.items():
            size = queue_bytes or bits // 80  # 100 ms
            lines.append(f"link {group} b at-{group} rate={bits} delay=10ms queue={size}B")
        lines += [
            f"link to-{name} at-{group} {name} delay=2ms" for name, group in receivers.items()
        ]
        super().__init__(builddir, 0, "\n".join(lines) + "\n")

    def set_capacity(self, group, bits):
        self.lab.set(group, rate=bits)

    def link_counters(self, group):
        row = self.lab.link_stats(group, f"at-{group}")
        return row["in_bytes"], row["rx_bytes"], row["drops_queue"] + row["drops_loss"]

    def describe(self):
        return "network namespaces, multicast, three bottlenecks, RTT 40 ms, leave latency 1 s"


class BranchesRun:
    """The sender, the receivers, and what was seen of each."""

    def __init__(self, record, lab, env, capacity, receivers):
        self.record = record
        self.lab = lab
        self.env = env
        self.receivers = receivers
        self.capacity = dict(capacity)
        self.steps = {group: [(0.0, bits)] for group, bits in capacity.items()}
        self.traces = {group: LinkTrace() for group in capacity}
        self.sampling = True
        self.sampler = threading.Thread(target=self._sample, daemon=True)

    # For the demo of a protocol: what runs where, and what there is to tell of it.

    def sender_pipeline(self):
        raise NotImplementedError

    def receiver_pipeline(self, name):
        raise NotImplementedError

    def head(self):
        """One line of the sender's stats."""
        raise NotImplementedError

    def rows(self):
        """The table, titles first."""
        raise NotImplementedError

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

    def play(self, story, seconds, table):
        """All of @story, (time, group, bit/s), in @seconds, everything stopped at its end; whether
        the sender ran for all of it."""
        self.sampler.start()
        try:
            popen = self.lab.popen("sender")
            self.record.node("sender", popen, self.sender_pipeline(), env=self.env)
            for name in self.receivers:
                pipeline = self.receiver_pipeline(name)
                self.record.node(name, self.lab.popen(name), pipeline, env=self.env)
            for time_s, group, bits in story:
                if not self._wait_until(time_s, table):
                    return False
                self.set_capacity(group, bits)
            return self._wait_until(seconds, table)
        finally:
            self.sampling = False
            self.sampler.join(1)
            self.record.stop()

    def _wait_until(self, end, table):
        while self.record.now() < end:
            if self.record.nodes["sender"].stats:
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

    def why(self, name, reasons):
        seen = self.switches(name)
        if not seen:
            return ""
        last = seen[-1]
        return f"{reasons.get(last['reason'], last['reason'])}, since {last['time']:.0f} s"

    def loss_5s(self, name):
        now = self.record.now()
        return f"{100 * self.record.loss_between(name, now - 5, now):.2f} %"

    def _show(self, table):
        notes = []
        for group, trace in self.traces.items():
            sent = [bits for _, bits in trace.series(0.5)][::10]
            notes.append(f"{group:>7}  " + spark(sent, 1.2 * max(sent, default=1), 60))
        notes += [f"{time_s:5.1f} s  {text}" for time_s, text in self.record.events[-3:]]
        head = f"{self.record.now():5.1f} s   {self.head()}"
        table.show(self.record.now(), head, self.rows(), notes)

    def end(self):
        """When the links were looked at last."""
        return max((row["time"] for trace in self.traces.values() for row in trace.rows), default=1)


class Picture:
    """A figure over time: first what went into each bottleneck, then what the demo draws."""

    def __init__(self, run, title, heights, size):
        """@heights: of the demo's own axes, which are in `axes`."""
        import logging

        import matplotlib

        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no word on its cache's place
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        self.run = run
        groups = list(run.steps)
        ratios = [2] * len(groups) + list(heights)
        self.figure, axes = plt.subplots(
            len(ratios), 1, figsize=size, sharex=True, gridspec_kw={"height_ratios": ratios}
        )
        axes[0].set_title(title)
        self.links = dict(zip(groups, axes, strict=False))
        self.axes = axes[len(groups) :]
        self.all = axes
        self.close = plt.close

    def draw_link(self, group, color, top_bps):
        axis, end = self.links[group], self.run.end()
        steps = self.run.steps[group] + [(end, self.run.steps[group][-1][1])]
        axis.fill_between(
            [t for t, _ in steps],
            [bits / 1e6 for _, bits in steps],
            step="post",
            color="0.9",
            label="capacity",
        )
        series = self.run.traces[group].series()
        axis.plot(
            [t for t, _ in series],
            [bits / 1e6 for _, bits in series],
            color=color,
            lw=2,
            label="sent into the bottleneck (1-s mean)",
        )
        axis.set_ylim(0, 1.15 * max([top_bps, *(bits for _, bits in series)]) / 1e6)
        axis.set_ylabel(f"{group}\nMb/s")
        axis.legend(loc="upper right", fontsize=8)
        return axis

    def draw_frames(self, axis, name, **style):
        fps = self.run.record.nodes[name].frame_rates()
        axis.plot([t for t, _ in fps], [f for _, f in fps], lw=1, **style)

    def save(self, path):
        last = self.all[-1]
        last.set_ylabel("decoded\nframes/s")
        last.set_ylim(0, 40)
        last.set_xlabel("seconds")
        last.set_xlim(0, self.run.end())
        for axis in self.all:
            axis.grid(alpha=0.3)
            for time_s, _ in self.run.record.events:
                axis.axvline(time_s, color="0.6", lw=0.8, ls="--")
        self.figure.tight_layout()
        self.figure.savefig(path, dpi=110)
        self.close(self.figure)
