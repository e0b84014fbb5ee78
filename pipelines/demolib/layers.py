# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo of ELM: one x264 stream in three layers to three receivers behind one, two and four
times what the base layer needs; the widest path changes (see pipelines/demo --elm)."""

from .branches import BranchesLab, BranchesRun, Picture
from .table import rate

PLACE = "address=239.255.12.60 port=5020"
UNIT = 400_000  # bit/s; what the base layer needs, and a quarter of it for its large pictures
# As pipelines/elm-send has it.
PICTURE = (
    "videotestsrc is-live=true pattern=smpte horizontal-speed=4 "
    "! video/x-raw,format=I420,width=640,height=360,framerate=30/1 ! timeoverlay "
    "! x264enc bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 "
    "mb-tree=false threads=1 vbv-buf-capacity=400 option-string=scenecut=0 "
    "speed-preset=superfast bitrate=950 "
    "! video/x-h264,profile=main ! rtph264pay config-interval=-1"
)
DECODE = "decodebin ! videoconvert ! video/x-raw,format=I420 ! fakesink name=frames sync=true"
CAPACITY = {"wide": 4 * UNIT, "middle": 2 * UNIT, "narrow": UNIT}
QUEUE = 25_000  # bytes, as in the demo of one rate: a key picture of the base layer fits
RECEIVERS = {name: name for name in CAPACITY}
TITLE = "ELM live: one x264 stream in three layers, each receiver takes those that its path carries"
COLORS = {"wide": "tab:blue", "middle": "tab:green", "narrow": "tab:orange"}
REASONS = {
    "start": "newcomer",
    "slow-start": "on its way up",
    "rate": "by its rate",
    "probe": "its path seems free",
    "loss": "the layer cost losses",
    "overload": "too much for its path",
    "absent": "the layer did not come",
    "layers": "the layers changed",
}


def story(seconds):
    """Who gets what capacity when: (time, group, bit/s)."""
    unit = seconds / 90
    return [(30 * unit, "wide", UNIT), (50 * unit, "wide", 4 * UNIT)]


def make_lab(builddir):
    return BranchesLab(builddir, CAPACITY, RECEIVERS, QUEUE)


def spoken(seconds):
    return "never" if seconds is None else f"after {seconds:.1f} s"


class LayersRun(BranchesRun):
    def __init__(self, record, lab, env):
        super().__init__(record, lab, env, CAPACITY, RECEIVERS)

    def sender_pipeline(self):
        return f"{PICTURE} ! elmlayersink name=mcc {PLACE}"

    def receiver_pipeline(self, name):
        return f"elmlayersrc name=mcc {PLACE} ! {DECODE}"

    def layers(self):
        """As the sender describes them, once it has measured."""
        return self.record.nodes["sender"].stats.get("layers", [])

    def head(self):
        return "   ".join(
            f"level {number} {rate(layer['cumulative-bitrate'])} {layer['frame-rate']:.1f}/s "
            f"({layer['members']})"
            for number, layer in enumerate(self.layers())
        )

    def rows(self):
        titles = ["receiver", "capacity", "level", "received", "pictures/s", "loss, 5 s", "RTT"]
        rows = [[*titles, "why"]]
        for name in RECEIVERS:
            node = self.record.nodes[name]
            stats, fps = node.stats, node.frame_rates()
            level = stats.get("level", -1)
            rows.append(
                [
                    name,
                    rate(self.capacity[name]),
                    "-" if level < 0 else str(level),
                    rate(stats.get("received-bitrate", 0)),
                    f"{fps[-1][1]:.1f}" if fps else "-",
                    self.loss_5s(name),
                    f"{stats['rtt'] / 1e6:.0f} ms" if stats.get("rtt-measured") else "?",
                    self.why(name, REASONS),
                ]
            )
        return rows

    def levels(self, name):
        """[(time, level)] of a receiver, as it told."""
        return [(row["time"], row["to"]) for row in self.switches(name)]

    def reached(self, name, begin, good, end=float("inf")):
        """Seconds from @begin until its level is @good; None: not before @end."""
        before = [level for time, level in self.levels(name) if time <= begin]
        if before and good(before[-1]):
            return 0.0
        for time, level in self.levels(name):
            if begin < time <= end and good(level):
                return time - begin
        return None

    def dropped(self, group, begin, end):
        rows = [row for row in self.traces[group].rows if begin <= row["time"] <= end]
        return rows[-1]["dropped"] - rows[0]["dropped"] if rows else 0

    def stood(self, name):
        """The longest time without a new picture, s, after the first one."""
        since, longest = None, 0.0
        count = 0
        for line in self.record.nodes[name].of("frames"):
            if line["frames"] > count:
                since, count = line["time"], line["frames"]
            elif since is not None:
                longest = max(longest, line["time"] - since)
        return longest

    def words(self):
        """What a person wants to know, in sentences."""
        out = []
        for name in RECEIVERS:
            node = self.record.nodes[name]
            way = " -> ".join(str(level) for _, level in self.levels(name)) or "none"
            first = f"{node.first_frame:.1f} s" if node.first_frame is not None else "never"
            lost = self.record.loss_between(name, 5, self.record.now())
            broken = node.frames.get("corrupted", 0)
            out.append(
                f"{name}: first picture {first}, levels {way}, loss {100 * lost:.2f} %, "
                f"{self.dropped(name, 0, self.end())} packets dropped, {broken} pictures damaged, "
                f"at most {self.stood(name):.1f} s without a new one."
            )
        out += self.change_words()
        return "\n".join(out)

    def change_words(self):
        changes = self.steps["wide"][1:]
        if len(changes) < 2 or not self.layers():
            return []
        (down, low), (up, high) = changes[:2]
        end, top = self.end(), len(self.layers()) - 1
        left = self.reached("wide", down, lambda level: level == 0, up)
        back = self.reached("wide", up, lambda level: level == top)
        tail = self.dropped("wide", down + 5, up)
        return [
            f"When wide's bottleneck fell to {rate(low)} it was down to the base layer "
            f"{spoken(left)}, and the queue dropped {tail} packets from 5 s after the fall on; "
            f"when {rate(high)} came back it had all layers {spoken(back)}. "
            f"In the last 5 s: {self.last_words(end)}."
        ]

    def last_words(self, end):
        said = []
        for name in RECEIVERS:
            fps = [value for time, value in self.record.nodes[name].frame_rates() if time > end - 5]
            mean = sum(fps) / len(fps) if fps else 0.0
            said.append(f"{name} {mean:.1f} pictures/s")
        return ", ".join(said)


def draw(run, path):
    """Writes a PNG: capacity and what was sent into each bottleneck, with what each level needs;
    then levels, and decoded pictures."""
    picture = Picture(run, TITLE, (1.4, 1.6), (11, 10))
    where, frames = picture.axes
    levels = run.layers()
    for group in CAPACITY:
        axis = picture.draw_link(group, COLORS[group], max(bits for _, bits in run.steps[group]))
        for layer in levels:
            axis.axhline(layer["cumulative-bitrate"] / 1e6, color="0.5", lw=0.8, ls=":")
    for index, name in enumerate(RECEIVERS):
        told = run.levels(name)
        if told:
            told.append((run.end(), told[-1][1]))
        where.step(
            [time for time, _ in told],
            [level + 0.06 * (1 - index) for _, level in told],
            where="post",
            lw=2,
            color=COLORS[name],
            label=name,
        )
        picture.draw_frames(frames, name, color=COLORS[name])
    where.set_yticks(range(len(levels)))
    where.set_yticklabels(
        f"{number}: {layer['cumulative-bitrate'] / 1e3:.0f} kb/s"
        for number, layer in enumerate(levels)
    )
    where.set_ylim(-0.4, max(1, len(levels)) - 0.6)
    where.set_ylabel("level")
    where.legend(loc="center right", fontsize=8)
    picture.save(path)
