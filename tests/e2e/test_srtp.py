#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A session with a key: who has it plays, who has not changes nothing."""

import base64
import os
import sys

import harness
from harness import picture, rows, values

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
"""
SMALL = picture(fps=15)


def keys(play, name, *lines):
    path = play.record.directory / name
    path.write_text("\n".join(lines) + "\n")
    return path


def forge(play, *words):
    command = [sys.executable, harness.TOP / "tests" / "e2e" / "attack.py", *words]
    return play.program("x", f"attack-{words[0]}", [str(word) for word in command])


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


if __name__ == "__main__":
    sys.exit(harness.main("srtp", TOPOLOGY, [test_key]))
