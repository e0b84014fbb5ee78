# SPDX-License-Identifier: LGPL-2.1-or-later
"""ASSP and ELM as multicast flows: several groups, of which a receiver takes one, or the lowest."""

import ipaddress

from . import rivals

# What makes three layers of x264enc (docs/elmlayersink.md).
LAYERED = (
    "x264enc bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 "
    "mb-tree=false threads=1 vbv-buf-capacity=400 option-string=scenecut=0 speed-preset=superfast "
    "pb-factor=1"
)
LAYERED_CAPS = "video/x-h264,profile=main"
X264_LAYERS = 3
# An old stream is left at the decision, not at the new one's first picture (mccasspreceiver).
LEAVE_FIRST = ("trouble", "back")
HEADERS = 0.94  # of a layered stream's bits on the wire that are the encoder's


class Several(rivals.Asmp):
    """What both have in common: groups, and receivers that tell what they take."""

    cumulative = False
    kind = ""  # of what the scenario has to have

    @classmethod
    def cannot(cls, data):
        for flow in data["flows"]:
            if flow["type"] == "multicast" and not flow[cls.kind]:
                return f"'{flow['id']}' has no {cls.kind}"
        return None

    def count(self):
        return len(self.flow[self.kind])

    def media(self):
        """The group and port of each stream or layer."""
        base = ipaddress.ip_address(self.flow["group_address"]) + self.first
        return [(str(base + k), self.flow["port"] + 2 * k) for k in range(self.count())]

    def receiving(self):
        """What receivers take for the network's leave latency is the scenario's, or the default."""
        text = super().receiving().replace("asmpsrc", self.source)
        seconds = self.flow["options"].get("leave_latency")
        return text if seconds is None else f"{text} leave-latency={round(1000 * seconds)}"

    def streams(self, zero):
        """Of each stream, what the sender says of it."""
        out = [{"target_bps": [], "limiting": []} for _ in range(self.count())]
        for row in [row for process in self.senders for row in list(process.lines)]:
            at = round(row["time"] - zero, 4)
            targets = row.get("targets")  # ground-source
            if targets is None and row.get("type") == "stats":
                targets = [each["target-bitrate"] for each in row.get("streams", ())]
            for entry, target in zip(out, targets or (), strict=False):
                if at >= 0:
                    rivals.append_change(entry["target_bps"], at, target)
        return out

    def told(self, zero):
        out = super().told(zero)
        out |= {"media": self.media(), "cumulative": self.cumulative, "streams": self.streams(zero)}
        for name, processes in self.receivers.items():
            out["receivers"][name] |= switches([row for p in processes for row in p.lines], zero)
        return out


def switches(lines, zero):
    """What a receiver says of its changes, as the laboratory has them."""
    steps, changes = [], []
    for row in lines:
        if row.get("name") != "adaptive-multicast-switch":
            continue
        fields, at = row["fields"], round(max(0.0, row["time"] - zero), 4)
        change = [at, fields["from"], fields["to"], fields["reason"], fields["duration"] * 1e-9]
        changes.append(change)
        if fields["reason"] in LEAVE_FIRST:
            rivals.append_change(steps, round(max(0.0, at - change[-1]), 4), -1)
        rivals.append_change(steps, at, fields["to"])
    return {"stream": steps, "switches": changes, "frames": [], "frames_damaged": []}


class Assp(Several):
    """asspsimulcastbin and asspsimulcastsrc."""

    kind = "streams"
    source = "asspsimulcastsrc"
    first = 1

    def bounds(self):
        return [(int(low), int(high)) for low, high in self.flow["streams"]]

    def live(self):
        """Whether the sender chooses the bounds itself."""
        return self.flow["options"].get("max_streams", 0) > 0

    def properties(self):
        words = [each for each in super().properties() if not each.startswith("start-bitrate")]
        words.append("streams=" + ",".join(f"{low}:{high}" for low, high in self.bounds()))
        if self.live():
            words.append(f"max-streams={self.flow['options']['max_streams']}")
        if self.ground.film:
            words.append(f'encoder-description="{self.encoder()}"')
        return words

    def sending(self):
        return ["asspsimulcastbin", "name=mcc", *self.properties()]

    def encoding(self):
        return ""  # is the element's

    def ideal(self):
        return [*super().ideal(), "--streams", self.count()]


class Elm(Several):
    """elmlayersink and elmlayersrc."""

    kind = "layers"
    source = "elmlayersrc"
    first = 0
    cumulative = True

    @classmethod
    def cannot(cls, data):
        for flow in data["flows"]:
            if flow["type"] == "multicast" and flow["source"]["type"] == "pictures":
                return f"'{flow['id']}' sends whole pictures, as all layers are sent here"
        return super().cannot(data)

    @classmethod
    def missing(cls, ground):
        for flow in ground.asked["flows"]:
            if (
                flow["type"] == "multicast"
                and ground.encoder
                and len(flow["layers"]) != X264_LAYERS
            ):
                return f"x264enc makes {X264_LAYERS} layers, '{flow['id']}' has others"
        return super().missing(ground)

    def properties(self):
        known = ("address", "port", "variant", "feedback-address", "no-feedback")
        words = [each for each in super().properties() if each.partition("=")[0] in known]
        return [*words, f"max-bitrate={int(self.flow['layers'][-1])}"]

    def sending(self):
        return ["elmlayersink", "name=mcc", *self.properties()]

    def encoding(self):
        kbps = HEADERS * self.flow["layers"][-1] / 1e3
        text = f"{LAYERED} bitrate={kbps:.0f} {rivals.KEYS} ! {LAYERED_CAPS}"
        return f"{text} ! {self.payloading()} config-interval=-1 ! "

    def streams(self, zero):
        """Each layer's rate is the scenario's."""
        rates = self.flow["layers"]
        below = [0, *rates]
        return [
            {"target_bps": [[0.0, rate - less]], "limiting": []}
            for rate, less in zip(rates, below, strict=False)
        ]

    def ideal(self):
        rates = ",".join(str(int(rate)) for rate in self.flow["layers"])
        return [*super().ideal(), "--layers", rates]

    def receiving(self):
        strategy = self.flow["options"].get("strategy")
        return super().receiving() + (f" strategy={strategy}" if strategy else "")
