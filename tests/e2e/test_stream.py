#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stream, its receivers, and what they tell: joins, leaves, crashes, restarts."""

import signal
import sys
import time

import harness
from harness import SECOND, rows, series, values

# All share one router; each test has a sender, a group and receivers of its own. RTT 40 ms.
TOPOLOGY = """
router g
host sa
host ra1
host ra2
host ra3
link sa sa g delay=10ms
link ra1 ra1 g delay=10ms
link ra2 ra2 g delay=10ms
link ra3 ra3 g delay=10ms
host sb
host rb1
host rb2
link sb sb g delay=10ms
link rb1 rb1 g delay=90ms
link rb2 rb2 g delay=10ms
set rb2>rb2 rate=300k queue=6kB
host sd
host rd1
link sd sd g delay=10ms
link rd1 rd1 g delay=10ms
host sc
host rc1
link sc sc g delay=10ms
link rc1 rc1 g delay=10ms
"""

SENDER_FIELDS = (
    "target-bitrate applied-bitrate sent-bitrate reason limiting-ssrc limiting-address "
    "num-receivers receivers pacer-delay pacer-overruns"
).split()
ROW_FIELDS = "ssrc address rate loss rtt rtt-measured jitter age state".split()
RECEIVER_FIELDS = (
    "received-bitrate estimated-bitrate loss packets-lost host-dropped rtt rtt-measured jitter "
    "queue-delay congested reports-sent reports-suppressed switches joins leaves late-joins gaps"
).split()


def check_stats(play, sender, receivers):
    missing = [name for name in SENDER_FIELDS if name not in sender.stats]
    play.check(not missing, "all fields of the sender's stats", f"missing: {missing}")
    for host in ("ra1", "ra2"):
        row = rows(sender).get(play.address(host), {})
        missing = [name for name in ROW_FIELDS if name not in row]
        play.check(not missing, f"all fields of {host} in receivers", f"missing: {missing}")
        if missing:
            continue
        play.check(row["state"] == "active", f"{host} is active", row["state"])
        good = row["rtt-measured"] and 0.038 < row["rtt"] / SECOND < 0.07
        play.check(good, f"the sender knows the RTT of {host}", f"{row['rtt'] / 1e6} ms")
        play.check(row["loss"] == 0, f"no loss at {host}", f"{row['loss']}")
    for node in receivers:
        stats = node.stats
        missing = [name for name in RECEIVER_FIELDS if name not in stats]
        play.check(not missing, f"all fields of the stats of {node.name}", f"missing: {missing}")
        if missing:
            continue
        good = stats["rtt-measured"] and 0.038 < stats["rtt"] / SECOND < 0.07
        play.check(good, f"{node.name} knows its RTT", f"{stats['rtt'] / 1e6} ms")
        play.check(stats["packets-lost"] == 0, f"{node.name} lost nothing")
        sent = sender.stats["sent-bitrate"]
        ratio = stats["received-bitrate"] / max(1, sent)
        play.check(0.7 < ratio < 1.3, f"{node.name} receives what is sent", f"{ratio:.2f}")


def check_rates(play, sender, limit):
    """The wire follows the target, and the target what the network allows."""
    now = play.now()
    sent = values(sender, "sent-bitrate", now - 3)
    target = values(sender, "target-bitrate", now - 3)
    play.check(max(target) <= limit, "the target keeps to max-bitrate", f"{max(target)}")
    mean = sum(sent) / len(sent) / (sum(target) / len(target))
    play.check(0.75 < mean < 1.1, "the wire rate follows the target", f"{mean:.2f} of it")
    applied = sender.stats.get("applied-bitrate", 0)
    play.check(0 < applied <= limit, "the encoder was told", f"{applied}")


def check_join(play, sender, begin):
    node = play.receiver("ra3", "address=239.1.1.1")
    play.wait(lambda: node.first_frame is not None, 6, "a late joiner has a picture")
    after = node.first_frame or 99
    play.check(after <= 2, "its first picture within 2 s", f"{after:.2f} s")
    play.until(lambda: play.now() > begin + 4, 5)
    before = min(values(sender, "target-bitrate", begin - 1, begin))
    during = min(values(sender, "target-bitrate", begin))
    play.check(during >= 0.9 * before, "it does not dent the target", f"{before} -> {during}")
    return node


def test_receivers(play):
    """Receivers that are there before, during and after others."""
    first = play.receiver("ra1", "address=239.1.1.1")
    play.until(lambda: first.of("state"), 5)
    time.sleep(0.5)
    sender = play.sender("sa", "address=239.1.1.1 max-bitrate=400000")
    second = play.receiver("ra2", "address=239.1.1.1")
    play.pictures(first, 10, 8, "a receiver that was there first has pictures")
    play.pictures(second, 10, 8, "a receiver that came with the sender has pictures")
    play.wait(lambda: sender.stats.get("num-receivers") == 2, 5, "the sender counts two")
    steady = lambda: min(values(sender, "target-bitrate", play.now() - 1), default=0) >= 400000  # noqa: E731
    play.wait(steady, 12, "the target reaches max-bitrate", lambda: str(sender.stats))
    time.sleep(3)
    check_stats(play, sender, [first, second])
    check_rates(play, sender, 400000)
    play.check(sender.stats.get("reason") == "max", "and says so", str(sender.stats.get("reason")))
    third = check_join(play, sender, play.now())

    second.stop()
    told = lambda: [m for m in sender.of("message") if m["fields"].get("state") == "left"]  # noqa: E731
    play.until(told, 4)
    left = told()
    reasons = [line["fields"]["reason"] for line in left]
    play.check(reasons == ["bye"], "a clean leave is told once on the bus, as BYE", str(reasons))
    took = left[0]["time"] - second.exited if left else 99
    play.check(took <= 1, "within 1 s", f"{took:.2f} s")
    gone = play.until(lambda: play.address("ra2") not in rows(sender), 1)
    play.check(gone is not None, "and shows in the stats")

    first.process.send_signal(signal.SIGSTOP)
    time.sleep(5)
    begin = play.now()
    first.process.send_signal(signal.SIGCONT)
    play.pictures(first, 60, 6, "a receiver that stood still for 5 s goes on")
    back = lambda: rows(sender).get(play.address("ra1"), {}).get("state") == "active"  # noqa: E731
    play.wait(back, 6, "and is active again")
    play.until(lambda: play.now() > begin + 4, 4)
    low = min(values(sender, "target-bitrate", begin))
    play.check(low >= 0.8 * 400000, "what it slept through is no queue", f"{low}")
    lost = third.stats.get("packets-lost", 99)
    play.check(lost == 0, "the others lost nothing meanwhile", f"{lost}")
    play.clean(sender, first, second, third)


def rise_per_second(sender, begin, end):
    """The steepest rise of the target over about a second."""
    points = series(sender, "target-bitrate", begin, end)
    return max((b[1] - a[1] for a in points for b in points if 0.9 < b[0] - a[0] < 1.2), default=0)


def test_crash(play):
    """The receiver that limits is killed."""
    sender = play.sender("sb", "address=239.1.1.2 max-bitrate=1200000", harness.picture(640, 360))
    wide = play.receiver("rb1", "address=239.1.1.2")
    narrow = play.receiver("rb2", "address=239.1.1.2")
    address = play.address("rb2")
    limits = lambda: sender.stats.get("limiting-address", "").startswith(address + ":")  # noqa: E731
    play.wait(limits, 15, "the receiver behind the narrow link limits", lambda: str(sender.stats))
    play.pictures(wide, 30, 10, "the other one has pictures")
    play.until(lambda: play.now() > 14, 14)
    play.check(limits(), "it still limits")
    begin = play.now()
    # It swings about the link's rate: what must fit is the mean, and each value nearly.
    seen = values(sender, "target-bitrate", begin - 6)
    target = sum(seen) / len(seen)
    told = f"{target:.0f} on average, at most {max(seen)}"
    play.check(target <= 300000, "the target fits the narrow link", told)
    play.check(max(seen) <= 400000, "at any time within what its queue takes", told)
    narrow.kill()
    when = play.wait(lambda: not limits(), 12, "the dead receiver limits no more") or begin + 12
    play.check(when - begin <= 10.25, "within 10 s", f"{when - begin:.1f} s")
    play.wait(
        lambda: sender.stats["target-bitrate"] > 1.5 * target,
        8,
        "and the target rises",
        lambda: str(sender.stats["target-bitrate"]),
    )
    time.sleep(2)
    # One packet of at most 1300 bytes per RTT each RTT: 8 x 1300 / 0.2 s per 0.2 s.
    steepest = rise_per_second(sender, begin, play.now())
    bound = 8 * 1300 / 0.2**2 * 1.25
    play.check(steepest <= bound, "at most a packet per RTT each RTT", f"{steepest} b/s in 1 s")
    play.clean(sender, wide)


def test_alone(play):
    """Nobody reports: down to min-bitrate step by step, and up again without a jump."""
    properties = "address=239.1.1.4 start-bitrate=800000 max-bitrate=800000 min-bitrate=100000"
    sender = play.sender("sd", properties, harness.picture(640, 360))
    down = play.wait(
        lambda: sender.stats.get("target-bitrate") == 100000, 16, "alone it falls to min-bitrate"
    )
    steps = sorted({value for value in values(sender, "target-bitrate", 1)}, reverse=True)
    play.check(steps == [800000, 400000, 200000, 100000], "by halves", str(steps))
    play.check((down or 0) > 6, "a step takes 2 s", f"{down} s in all")
    reason = sender.stats.get("reason")
    play.check(reason == "no-feedback", "it names the reason", str(reason))
    told = [line["text"] for line in sender.of("warning") if "Plain RTP" not in line["text"]]
    play.check(len(told) == 1 and "no-feedback" in told[0], "and warns once", str(told))
    begin = play.now()
    receiver = play.receiver("rd1", "address=239.1.1.4")
    play.wait(
        lambda: sender.stats.get("target-bitrate", 0) >= 600000,
        15,
        "feedback brings the rate back",
        lambda: str(sender.stats)[:300],
    )
    # At most a doubling per 250 ms: three of them are at least 0.5 s.
    lowest = [when for when, value in series(sender, "target-bitrate", begin) if value == 100000]
    back = [when for when, value in series(sender, "target-bitrate", begin) if value >= 600000]
    took = back[0] - lowest[-1] if back and lowest else 0
    play.check(took >= 0.45, "without a jump", f"{took:.2f} s")
    play.clean(sender, receiver)


def test_restart(play):
    """A sender that restarts every few seconds, cleanly or not, with a new SSRC."""
    receiver = play.receiver("rc1", "address=239.1.1.3")
    ssrcs = set()
    for turn in range(4):
        sender = play.sender("sc", "address=239.1.1.3 max-bitrate=400000", name=f"sender{turn}")
        play.pictures(receiver, 45, 8, f"pictures from sender {turn + 1}")
        ssrcs.add(receiver.stats.get("source-ssrc"))
        play.wait(lambda node=sender: rows(node), 4, f"sender {turn + 1} hears the receiver")
        sender.kill() if turn % 2 else sender.stop()
    play.check(len(ssrcs) == 4, "four SSRCs were followed", f"{ssrcs}")
    play.check(receiver.process.poll() is None, "the receiver still runs")
    told = [line["text"] for line in receiver.of("warning")]
    play.check(not told, "nobody is warned of another sender", str(told))
    play.clean(receiver)


if __name__ == "__main__":
    sys.exit(
        harness.main("stream", TOPOLOGY, [test_receivers, test_crash, test_alone, test_restart])
    )
