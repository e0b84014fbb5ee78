#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live ladder in real pipelines: the bounds of the streams follow what receivers report, and
who may stay in its stream notices nothing. Beside it a switch up and down over IPv6 groups."""

import sys

import harness
from test_assp import LADDER, SOURCE, TAIL, check_switches, damaged, gap, stream_of, switches

NARROW, WIDE = 700_000, 3_000_000  # of the bottlenecks
LEAST, MOST = 100_000, 2_000_000  # of two even streams: the higher begins at 447 kb/s
TOPOLOGY = f"""
host s
router a
host r1
host r2
host r3
link access s a delay=5ms
link leaf1 a r1 rate={NARROW} delay=10ms queue=20kB
link leaf2 a r2 rate={WIDE} delay=10ms queue=40kB
link leaf3 a r3 rate={WIDE} delay=10ms queue=40kB
host s6
router b
host r6
link access6 s6 b delay=5ms
link leaf6 b r6 rate={WIDE} delay=10ms queue=30kB
"""
# Half a minute from the first picture: an up, a round of 5 s each for its rate and for what the
# receivers say of it, and three that find another ladder better.
CHANGE_S = 50


def ladder(sender):
    """(low, high, receivers) of each open stream, as the sender tells."""
    return [
        (stream["low-bitrate"], stream["high-bitrate"], stream["num-receivers"])
        for stream in sender.stats.get("streams", [])
        if not stream["closed"]
    ]


def counts(sender):
    return [receivers for _, _, receivers in ladder(sender)]


def target(sender, stream):
    return sender.stats["streams"][stream]["target-bitrate"]


def undisturbed(play, node, begin):
    """Since @begin: the same stream, every picture, none of them damaged."""
    moved = switches(node, begin)
    play.check(not moved, f"{node.name} keeps its stream", str(moved))
    longest = gap(node, begin, play.now())
    play.check(longest <= 0.5, f"{node.name}: no picture stands still", f"{longest:.2f} s")
    bad = damaged(node) - damaged(node, begin)
    play.check(bad == 0, f"{node.name}: no damaged picture", f"{bad}")


def test_ladder(play):
    """One behind a narrow link holds two others back in the higher of two streams: the bounds
    move so that it has the lower one to itself, and the others get what their links carry."""
    group = "address=239.1.4.80 port=6400"
    bounds = f"min-bitrate={LEAST} max-bitrate={MOST} start-bitrate=440000 max-streams=2"
    sender = play.node("s", f"{SOURCE} ! asspsimulcastbin name=mcc {group} {bounds}")
    nodes = [
        play.node(host, f"asspsimulcastsrc name=mcc {group} ! {TAIL}", interval_ms=100)
        for host in ("r1", "r2", "r3")
    ]
    narrow, *wide = nodes
    for node in nodes:
        play.pictures(node, 25, 10, f"{node.name} has pictures")
    play.wait(lambda: counts(sender) == [0, 3], 30, "all come up", lambda: str(ladder(sender)))
    even = ladder(sender)
    play.check(even[0][:1] + even[-1][1:2] == (LEAST, MOST), "the bounds are the user's", str(even))
    begin = play.now() + 2  # the pictures of the switch are behind them
    play.wait(
        lambda: ladder(sender)[-1][0] > even[-1][0] and counts(sender) == [1, 2],
        CHANGE_S - play.now(),
        "the bounds move, and the narrow one goes down",
        lambda: str(ladder(sender)),
    )
    play.wait(lambda: target(sender, 1) >= 2 * NARROW, 6, "the others get more")
    play.pictures(narrow, 50, 6, "the narrow one has pictures of its own stream")
    now = ladder(sender)
    play.suite.tell([f"{even} became {now} after {play.now():.0f} s"])
    play.check((now[0][0], now[-1][1]) == (LEAST, MOST), "the ends stay", str(now))
    # Its stream begins at the least, and fills the queue of its link once on its way up.
    grown = play.wait(lambda: target(sender, 0) >= NARROW / 2, 10, "its stream grows") or play.now()
    play.until(lambda: play.now() > grown + 4, 6)
    seen = []
    play.until(lambda: seen.append(target(sender, 0)) or play.now() > grown + 8, 6)
    mean = sum(seen) / len(seen)
    play.check(0.7 * NARROW <= mean <= NARROW, "the narrow one is served", f"{mean:.0f} bit/s")
    reasons = [fields["reason"] for _, fields in switches(narrow)]
    play.check(reasons == ["start", "up", "ladder"], "it went for the ladder's sake", str(reasons))
    for node in wide:
        undisturbed(play, node, begin)
    play.check(not sender.of("error"), "the sender tells no error")
    play.understood(sender, *nodes)


def test_ipv6(play):
    """Up and down between IPv6 groups; what is left is left."""
    groups = [f"ff15::4:{1 + stream}" for stream in range(2)]
    words = "address=ff15::4:0 port=6500"
    sender = play.node("s6", f"{SOURCE} ! asspsimulcastbin name=mcc {words} streams={LADDER}")
    node = play.node("r6", f"asspsimulcastsrc name=mcc {words} ! {TAIL}", interval_ms=100)

    def belongs(stream):
        member = play.lab.members()["r6"]
        return [group in member for group in groups] == [stream == k for k in range(2)]

    play.pictures(node, 25, 10, "there are pictures")
    play.check(belongs(0), "it begins in the lowest stream's group", str(play.lab.members()["r6"]))
    play.wait(lambda: stream_of(node) == 1, 30, "it comes up")
    play.wait(lambda: belongs(1), 3, "it has changed groups")
    play.pictures(node, 50, 6, "there are pictures of the high stream")
    play.lab.set("leaf6", rate=NARROW)
    play.wait(lambda: stream_of(node) == 0, 8, "it goes down")
    play.wait(lambda: belongs(0), 3, "it has changed groups again")
    play.pictures(node, 50, 6, "there are pictures of the low stream")
    play.check(counts(sender) == [1, 0], "the sender knows where it is", str(ladder(sender)))
    check_switches(play, node, 3)
    errors = [line["text"] for each in (sender, node) for line in each.of("error")]
    play.check(not errors, "no error", str(errors))
    play.understood(sender, node)


if __name__ == "__main__":
    sys.exit(harness.main("ladder", TOPOLOGY, [test_ladder, test_ipv6]))
