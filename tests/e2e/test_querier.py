#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ELM behind a real IGMP querier: the kernel's bridge goes on sending a layer for a while after it
was left (RFC 3376 8.8), beside those that are kept."""

import sys
import time

import harness
from harness import LAYERS

TOPOLOGY = """
host s1
host r1
host b1
host s2
host r2
host b2
host s3
host r3
host b3
"""
MAX = 400000
WIDE, NARROW = "2mbit", "300kbit"  # all layers; the two lower ones


def bridge(play, k, last_member_s):
    """s<k> and r<k> on a bridge in b<k> that snoops and asks."""
    lab, ip = play.lab, "ip"
    own = f"b{k}"
    interval = str(int(100 * last_member_s))
    lab.call(
        own,
        [ip, "link", "add", "br0", "type", "bridge", "mcast_snooping", "1", "mcast_querier", "1"]
        + ["mcast_igmp_version", "3", "mcast_last_member_interval", interval],
    )
    for number, host in enumerate((f"s{k}", f"r{k}"), 1):
        port = f"p{host}"
        lab.call(own, [ip, "link", "add", port, "type", "veth", "peer", "name", "lan0"])
        lab.call(own, [ip, "link", "set", "lan0", "netns", lab.hosts[host].netns])
        lab.call(own, [ip, "link", "set", port, "master", "br0", "up"])
        lab.call(host, [ip, "address", "add", f"10.77.{k}.{number}/24", "dev", "lan0"])
        lab.call(host, [ip, "link", "set", "lan0", "up"])
        lab.call(host, [ip, "route", "replace", "224.0.0.0/4", "dev", "lan0"])
    lab.call(own, [ip, "link", "set", "br0", "up"])


def path(play, k, rate):
    play.lab.call(
        f"b{k}",
        ["tc", "qdisc", "replace", "dev", f"pr{k}", "root", "tbf"]
        + ["rate", rate, "burst", "3kb", "limit", "15kb"],
    )


def levels(node, begin=0.0):
    """Of each change: when it began (a layer is heard from then on, and told of at its first key
    unit), from, to."""
    return [
        (
            line["time"] - line["fields"]["duration"] / 1e9,
            line["fields"]["from"],
            line["fields"]["to"],
        )
        for line in node.of("message")
        if line["name"] == "adaptive-multicast-switch" and line["time"] >= begin
    ]


def leave(play, k, last_member_s):
    bridge(play, k, last_member_s)
    path(play, k, WIDE)
    time.sleep(2)  # the querier's first questions
    group = f"239.4.{k}.1"
    wire = play.capture(f"r{k}", device="lan0")
    where = f"name=mcc address={group} multicast-iface=lan0"
    sender = play.node(f"s{k}", f"{LAYERS} ! elmlayersink max-bitrate={MAX} {where}")
    source = f"elmlayersrc leave-latency={int(2000 * last_member_s)} {where}"
    receiver = play.node(f"r{k}", f"{source} ! {harness.DECODE}")
    play.pictures(receiver, 15, 12, "there are pictures")
    top = lambda: (levels(receiver) or [(0, 0, -1)])[-1][2]  # noqa: E731
    play.wait(lambda: top() == 2, 30, "the receiver has all layers")
    time.sleep(3)
    begin = play.now()
    path(play, k, NARROW)
    play.wait(lambda: levels(receiver, begin), 15, "it leaves a layer")
    left = levels(receiver, begin)[0][0]
    play.pictures(receiver, 15, 2 * last_member_s + 6, "and shows what remains soon after")
    # A join in vain may come by now: looked at is what was before it.
    steps = levels(receiver, begin)
    again = min([t for t, low, high in steps if high > low], default=play.now())
    kept = [high for t, low, high in steps if t < again]
    play.check(kept == [1], "what the path bears is kept, and nothing else", str(steps))
    arrived = [row["time"] for row in wire.packets(dst=f"239.4.{k}.3")]
    lasted = max((t for t in arrived if left < t < again), default=left) - left
    play.check(
        1.0 * last_member_s <= lasted <= 2 * last_member_s + 1.0,
        f"the bridge sent on for about {2 * last_member_s} s",
        f"{lasted:.2f} s",
    )
    for node in (sender, receiver):
        errors = node.of("error")
        play.check(not errors, f"{node.name}: no error", str(errors[:2]))


def test_usual(play):
    """As routers and bridges are by default: a second, twice."""
    leave(play, 1, 1.0)


def test_fast(play):
    leave(play, 2, 0.1)


def test_slow(play):
    leave(play, 3, 5.0)


if __name__ == "__main__":
    sys.exit(harness.main("querier", TOPOLOGY, [test_usual, test_fast, test_slow]))
