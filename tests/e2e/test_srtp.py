#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A session with a key: who has it plays, who has not changes nothing."""

import base64
import os
import sys

import harness
from harness import LAYERS, RAW, picture, rows, values

TOPOLOGY = """
router g
host s
host r1
host r2
host r3
host x
link s s g
link r1 r1 g delay=10ms
link r2 r2 g delay=10ms
link r3 r3 g delay=10ms
link x x g
host s2
host r5
host r6
host x2
link s2 s2 g delay=10ms
link r5 r5 g delay=10ms
link r6 r6 g delay=10ms
link x2 x2 g
"""
SMALL = picture(fps=15)


def keys(play, name, *lines):
    path = play.record.directory / name
    path.write_text("\n".join(lines) + "\n")
    return path


def forge(play, *words, host="x"):
    command = [sys.executable, harness.TOP / "tests" / "e2e" / "attack.py", *words]
    name = f"attack-{host}-{len(play.programs)}"
    return play.program(host, name, [str(word) for word in command])


def test_key(play):
    """Two members, one that comes late, one with another key, and a stranger who forges."""
    key, other = (base64.b64encode(os.urandom(30)).decode() for _ in range(2))
    good, bad = keys(play, "good.key", key), keys(play, "bad.key", other)
    place = "address=239.1.6.1 port=6600"
    # numbers wrap after some seconds: who comes later must be told the round
    source = f"{SMALL[: SMALL.rindex('rtph264pay')]}rtph264pay seqnum-offset=65300"
    sender = play.sender("s", f"{place} srtp-key-file={good} max-bitrate=500000", source)
    first = play.receiver("r1", f"{place} srtp-key-file={good}")
    wrong = play.receiver("r3", f"{place} srtp-key-file={bad}")
    play.pictures(first, 30, 12, "the right key plays")
    play.wait(lambda: len(rows(sender)) == 1, 6, "the sender hears its report")
    play.wait(lambda: sender.stats.get("target-bitrate", 0) >= 500000, 15, "its rate rises")
    play.until(lambda: sender.stats.get("reports", 0) > 10, 5)

    begin = play.now()
    ssrc = next((row["ssrc"] for row in rows(sender).values()), 1)
    words = ("239.1.6.1", 6600, "--ssrc")
    reports = forge(play, "report", *words, 4711, "--rate", 1000, "--count", 30)
    byes = forge(play, "bye", *words, ssrc, "--count", 10)
    late = play.receiver("r2", f"{place} srtp-key-file={good}")
    play.pictures(late, 30, 12, "who comes late plays, too")
    play.wait(lambda: len(rows(sender)) == 2, 6, "and is heard")
    reports.ended(10)
    byes.ended(10)
    play.wait(
        lambda: sender.stats.get("dropped-unauthentic", 0) >= 40, 6, "what was forged is counted"
    )
    low = min(values(sender, "target-bitrate", begin), default=0)
    play.check(low >= 450000, "and has not slowed the stream", f"down to {low} bit/s")
    play.check(len(rows(sender)) == 2, "nor added or removed anybody", str(len(rows(sender))))
    play.check(wrong.frames.get("frames", 0) == 0, "with another key nothing plays")
    play.check(wrong.stats.get("dropped-unauthentic", 0) > 0, "which is counted")
    told = [line["text"] for line in wrong.of("warning")]
    play.check(any("our key" in text for text in told), "and said", str(told))
    play.check(not sender.of("warning"), "the sender warns of nothing", str(sender.of("warning")))
    shown = sender.path.read_text() if hasattr(sender, "path") else ""
    play.check(key not in shown, "the key is in no message")
    play.clean(sender, first, late)


LEVEL = 300000  # what the path bears, and some: only what was forged can lower it


def climbed(node):
    """The stream or level that a receiver has come to; -1 before the first."""
    told = [m["fields"] for m in node.of("message") if m["name"] == "adaptive-multicast-switch"]
    return told[-1]["to"] if told else -1


def several(play, source, receiver, place, forger, name):
    """Who has the key plays and goes up; who has another one sees nothing; who forges is nobody."""
    hosts, (address, port) = {"s": "s", "r": "r1", "w": "r3", "x": "x"}, place
    if forger != "x":
        hosts = {"s": "s2", "r": "r5", "w": "r6", "x": "x2"}
    good, bad = (
        keys(play, kind, base64.b64encode(os.urandom(30)).decode()) for kind in ("good", "bad")
    )
    where = f"address={address} port={port}"
    sender = play.node(hosts["s"], f"{source} {where} srtp-key-file={good}")
    right, wrong = (
        play.node(hosts[who], f"{receiver} name=mcc {where} srtp-key-file={key} ! {harness.DECODE}")
        for who, key in (("r", good), ("w", bad))
    )
    play.pictures(right, 15, 12, "the right key plays")
    play.wait(lambda: climbed(right) >= 1, 25, "and goes up", lambda: str(right.stats)[:300])
    play.wait(lambda: len(rows(sender)) == 1, 6, "the sender hears its report")
    full = lambda: min(values(sender, "target-bitrate", play.now() - 1), default=0)  # noqa: E731
    play.wait(lambda: full() >= LEVEL, 20, "the target is at its bound", lambda: str(full()))
    begin, before = play.now(), rows(sender)
    ssrc = next((row["ssrc"] for row in before.values()), 1)
    words = (address, port, "--name", name, "--ssrc")
    programs = [
        forge(play, "report", *words, ssrc, "--rate", 1000, "--count", 30, host=hosts["x"]),
        forge(play, "report", *words, 4711, "--rate", 1000, "--count", 30, host=hosts["x"]),
        forge(play, "bye", *words, ssrc, "--count", 10, host=hosts["x"]),
    ]
    for program in programs:
        play.check(program.ended(15) == 0, "was forged", program.text()[-300:])
    for node, what in ((sender, "the sender"), (right, "the receiver")):
        play.wait(
            lambda n=node: n.stats.get("dropped-unauthentic", 0) >= 70,
            6,
            f"what was forged is counted by {what}",
            lambda n=node: str(n.stats.get("dropped-unauthentic")),
        )
    low = min(values(sender, "target-bitrate", begin), default=0)
    play.check(low >= 0.9 * LEVEL, "and has not slowed the stream", f"{low} of {LEVEL}")
    play.check(rows(sender).keys() == before.keys(), "nor added or removed anybody")
    play.check(climbed(right) >= 1, "nor sent the receiver down", str(climbed(right)))
    play.check(wrong.frames.get("frames", 0) == 0, "with another key nothing plays")
    play.check(climbed(wrong) < 1, "nor goes up", str(climbed(wrong)))
    play.check(wrong.stats.get("dropped-unauthentic", 0) > 0, "which is counted")
    told = [line["text"] for line in sender.of("warning")]
    play.check(not any("key" in text for text in told), "the sender warns of no key", str(told))
    play.clean(sender, right)


def test_streams(play):
    """ASSP: several streams, several groups, one key."""
    source = f"{RAW} ! asspsimulcastbin name=mcc streams=100000:200000,200000:400000"
    several(play, source, "asspsimulcastsrc", ("239.1.6.10", 6620), "x", "ASSP")


def test_layers(play):
    """ELM: a group for each layer, one key."""
    source = f"{LAYERS} ! elmlayersink name=mcc max-bitrate={LEVEL}"
    several(play, source, "elmlayersrc", ("239.1.6.20", 6640), "x2", "ELM ")


if __name__ == "__main__":
    sys.exit(harness.main("srtp", TOPOLOGY, [test_key], [test_streams, test_layers]))
