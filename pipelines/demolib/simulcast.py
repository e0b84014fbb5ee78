# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo of ASSP: one camera in three versions to three groups of receivers, each group behind a
bottleneck of its own that changes (see pipelines/demo --assp)."""

from .branches import BranchesLab, BranchesRun, Picture
from .table import rate

PLACE = "address=239.255.12.50 port=5010"
STREAMS = [(150_000, 500_000), (500_000, 1_500_000), (1_500_000, 3_500_000)]
PICTURE = (
    "videotestsrc is-live=true pattern=smpte horizontal-speed=4 "
    "! video/x-raw,format=I420,width=854,height=480,framerate=30/1 ! timeoverlay "
)
DECODE = "decodebin ! videoconvert ! video/x-raw,format=I420 ! fakesink name=frames sync=false"
CAPACITY = {"fast": 4_000_000, "middle": 1_200_000, "slow": 400_000}
RECEIVERS = {f"{group}{i}": group for group in CAPACITY for i in (1, 2)}
TITLE = "ASSP live: one picture in three x264 versions, each receiver in the one it can take"
COLORS = {"fast": "tab:blue", "middle": "tab:green", "slow": "tab:orange"}
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


def make_lab(builddir):
    return BranchesLab(builddir, CAPACITY, RECEIVERS)


class SimulcastRun(BranchesRun):
    def __init__(self, record, lab, env):
        super().__init__(record, lab, env, CAPACITY, RECEIVERS)

    def sender_pipeline(self):
        bounds = ",".join(f"{low}:{high}" for low, high in STREAMS)
        return f"{PICTURE} ! asspsimulcastbin name=mcc {PLACE} streams={bounds}"

    def receiver_pipeline(self, name):
        return f"asspsimulcastsrc name=mcc {PLACE} ! {DECODE}"

    def head(self):
        parts = []
        for number, stream in enumerate(self.record.nodes["sender"].stats.get("streams", [])):
            text = rate(stream["target-bitrate"]) if stream["running"] else "idle"
            parts.append(f"stream {number} {text} ({stream['num-receivers']})")
        return "   ".join(parts)

    def rows(self):
        rows = [["receiver", "capacity", "stream", "rate", "loss, 5 s", "pictures", "why"]]
        for name, group in RECEIVERS.items():
            node = self.record.nodes[name]
            stream = node.stats.get("stream", -1)
            rows.append(
                [
                    name,
                    rate(self.capacity[group]),
                    "-" if stream < 0 else str(stream),
                    rate(node.stats.get("estimated-bitrate", 0)),
                    self.loss_5s(name),
                    str(node.frames.get("frames", 0)),
                    self.why(name, REASONS),
                ]
            )
        return rows

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


def draw(run, path):
    """Writes a PNG: for each group capacity, what came and the streams' bounds; then where each
    receiver was, and decoded pictures."""
    picture = Picture(run, TITLE, (1.6, 1.2), (11, 11))
    where, frames = picture.axes
    for group in CAPACITY:
        top = max(bits for _, bits in run.steps[group])
        axis = picture.draw_link(group, COLORS[group], top)
        for low, _ in STREAMS[1:]:
            axis.axhline(low / 1e6, color="0.5", lw=0.8, ls=":")
    for index, (name, group) in enumerate(RECEIVERS.items()):
        style = {"color": COLORS[group], "ls": "-" if name.endswith("1") else "--"}
        lines = run.record.nodes[name].of("stats")
        lines = [line for line in lines if line.get("stream", -1) >= 0]
        where.step(
            [line["time"] for line in lines],
            [line["stream"] + 0.05 * (index - 2.5) for line in lines],
            where="post",
            lw=1.5,
            label=name,
            **style,
        )
        picture.draw_frames(frames, name, **style)
    where.set_yticks(range(len(STREAMS)))
    where.set_yticklabels([f"{low / 1e3:.0f}-{high / 1e3:.0f} kb/s" for low, high in STREAMS])
    where.set_ylim(-0.4, len(STREAMS) - 0.6)
    where.set_ylabel("stream")
    where.legend(loc="lower right", fontsize=8, ncols=3)
    picture.save(path)
