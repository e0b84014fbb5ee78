#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bad input and faults: forgers, floods, garbage, bad paths, a dead interface, a sudden scene."""

import glob
import sys
import time

import harness
from harness import rows, values

TOPOLOGY = """
router g
host sa
host ra
host xa
link sa sa g delay=10ms
link ra ra g delay=10ms
link xa xa g delay=10ms
host sb
host rb
link sb sb g delay=10ms
link rb rb g delay=10ms
set rb>rb reorder=5% reorder-delay=15ms duplicate=5%
host sc
host rc
link sc sc g delay=10ms
link rc rc g delay=10ms
host se
host re
host xe
link se se g delay=10ms
link re re g delay=10ms
link xe xe g delay=10ms
host sf
host rf
link sf sf g delay=10ms
link rf rf g delay=10ms
host sd
link sd sd g delay=10ms
host sg
link sg sg g delay=10ms
host rg0
host rg1
host rg2
link rg0 rg0 g delay=10ms
link rg1 rg1 g delay=10ms
link rg2 rg2 g delay=10ms
"""
SCENES = (1, 2, 3)
TOPOLOGY += "".join(
    f"host rd{i}\nlink rd{i} rd{i} g delay=10ms\nset rd{i}>rd{i} rate=800k queue=15kB\n"
    for i in SCENES
)
GROUP = "239.1.2.1"


def attack(play, way, address, port, *words, host="xa", seconds=20):
    """Runs attack.py on the attacker's host to its end."""
    name = f"attack-{len(play.programs)}-{way}"
    argv = [sys.executable, harness.HERE / "attack.py", way, address, port, *words]
    program = play.program(host, name, argv)
    status = program.ended(seconds)
    play.check(status == 0, f"{way}: the attack was sent", program.text()[-200:])


def dropped(node, reason):
    return node.stats.get(f"dropped-{reason}", 0)


def settled(node):
    """Waits for stats that are newer than now."""
    last = len(node.of("stats"))
    end = time.monotonic() + 3
    while len(node.of("stats")) < last + 2 and time.monotonic() < end:
        time.sleep(0.02)


def unharmed(play, sender, begin, what, limit=400000):
    settled(sender)
    low = min(values(sender, "target-bitrate", begin), default=0)
    play.check(low >= 0.95 * limit, f"{what}: the target is unharmed", f"{low}")
    row = rows(sender).get(play.address("ra"), {})
    play.check(row.get("state") == "active", f"{what}: the receiver is still known", str(row))


def forged(play, sender, victim):
    """In the name of a live receiver, from another address (issue: counts for itself alone)."""
    address = play.address("sa")
    begin, before = play.now(), dropped(sender, "address")
    attack(play, "report", address, 6000, "--ssrc", victim, "--rate", 20000, "--count", 12)
    attack(play, "report", address, 6000, "--ssrc", victim, "--count", 3, "--leaving")
    settled(sender)
    rise = dropped(sender, "address") - before
    play.check(rise >= 12, "forged reports are counted", f"dropped-address + {rise}")
    unharmed(play, sender, begin, "forged reports")
    begin = play.now()
    attack(play, "bye", address, 6000, "--ssrc", victim, "--count", 4)
    unharmed(play, sender, begin, "forged BYE")
    told = [line["fields"] for line in sender.of("message") if line["fields"].get("ssrc") == victim]
    states = [fields["state"] for fields in told]
    play.check(states == ["joined"], "nobody left by it", str(states))


def broken(play, sender):
    reasons = {
        "malformed": 5,
        "unknown-name": 1,
        "unknown-version": 1,
        "unknown-subtype": 1,
        "ssrc-mismatch": 1,
        "bad-value": 1,
    }
    begin = play.now()
    before = {reason: dropped(sender, reason) for reason in reasons}
    attack(play, "broken", play.address("sa"), 6000)
    settled(sender)
    for reason, count in reasons.items():
        rise = dropped(sender, reason) - before[reason]
        play.check(rise >= count, f"broken compounds: {reason} is counted", f"{rise} of {count}")
    unharmed(play, sender, begin, "broken compounds")


def flood(play, sender, media):
    begin = play.now()
    # Of one host's newcomers most are over its rate; the others find the table full.
    counted = lambda: dropped(sender, "table-full") + dropped(sender, "rate-limited")  # noqa: E731
    before = counted()
    attack(play, "flood", play.address("sa"), 6000, "--count", 5000, "--media", media)
    settled(sender)
    most = max(values(sender, "num-receivers", begin))
    play.check(32 < most <= 64, "a flood of SSRCs: max-receivers holds", f"{most}")
    rise = counted() - before
    play.check(rise > 1000, "a flood of SSRCs is counted", f"{rise}")
    unharmed(play, sender, begin, "a flood of SSRCs")


def at_max(play, sender):
    at = lambda: min(values(sender, "target-bitrate", play.now() - 1), default=0) >= 400000  # noqa: E731
    play.wait(at, 20, "the target reaches max-bitrate", lambda: str(sender.stats)[:300])


def test_attacks(play):
    """Forged, broken and random packets, and a flood of SSRCs, while the stream runs.

    Reports go by unicast, so that what is forged reaches the sender alone and not its victim,
    which would have to answer a collision of SSRCs.
    """
    feedback = f"feedback-address={play.address('sa')} feedback-port=6001"
    sender = play.sender("sa", f"address={GROUP} max-bitrate=400000 max-receivers=64 {feedback}")
    receiver = play.receiver("ra", f"address={GROUP}")
    at_max(play, sender)
    play.pictures(receiver, 10, 5, "there are pictures")
    victim = rows(sender)[play.address("ra")]["ssrc"]
    forged(play, sender, victim)
    broken(play, sender)
    for address, port in ((GROUP, 5004), (play.address("sa"), 6000)):
        begin = play.now()
        attack(play, "garbage", address, port)
        unharmed(play, sender, begin, f"garbage to port {port}")
    play.pictures(receiver, 30, 3, "garbage: pictures go on")
    flood(play, sender, receiver.stats["source-ssrc"])
    play.pictures(receiver, 30, 3, "a flood of SSRCs: pictures go on")
    play.clean(sender, receiver, attacked=True)


def test_collision(play):
    """The same on the group: victim, and sender, take a new SSRC (RFC 3550 8.2) and go on."""
    group = "239.1.2.5"
    sender = play.sender("se", f"address={group} max-bitrate=400000")
    receiver = play.receiver("re", f"address={group}")
    at_max(play, sender)
    row = rows(sender)[play.address("re")]
    forge = (group, 5004, "--ssrc", row["ssrc"], "--count", 5)
    attack(play, "report", *forge, "--rate", 20000, host="xe")
    attack(play, "bye", *forge[:-1], 20, host="xe")
    media = receiver.stats["source-ssrc"]
    attack(play, "bye", group, 5004, "--ssrc", media, "--count", 25, host="xe")
    time.sleep(2)
    at_max(play, sender)
    now = rows(sender).get(play.address("re"), {})
    play.check(now.get("state") == "active", "the victim is known", str(now))
    play.check(now.get("address") == row["address"], "by the same address", str(now))
    play.check(len(rows(sender)) == 1, "and the forger is forgotten", str(rows(sender)))
    play.pictures(receiver, 30, 3, "pictures go on")
    # 25 claims to each SSRC in 3 s: the second change would be due after 10 s (gstmccscreen.h)
    joined = [line["fields"] for line in sender.of("message") if "state" in line["fields"]]
    own = row["address"]
    ssrcs = {fields["ssrc"] for fields in joined if fields["address"] == own}
    play.check(len(ssrcs) <= 2, "the victim changed its SSRC once", str(ssrcs))
    media = set(values(receiver, "source-ssrc")) - {0}
    play.check(len(media) <= 2, "and the sender at most once", str(media))
    play.clean(sender, receiver)


def test_reordering(play):
    """Packets overtake each other and come twice."""
    sender = play.sender("sb", "address=239.1.2.2 max-bitrate=400000")
    receiver = play.receiver("rb", "address=239.1.2.2")
    play.pictures(receiver, 300, 18, "pictures from a path that reorders and duplicates")
    play.check(receiver.stats.get("duplicates", 0) > 5, "there were duplicates")
    play.check(receiver.stats.get("reordered", 0) > 5, "there was reordering")
    lost = receiver.stats.get("packets-lost", 99)
    play.check(lost == 0, "none of it is loss in the end", f"{lost}")
    play.clean(sender, receiver)


def interface(play, host, state):
    play.lab.call(host, ["ip", "link", "set", "amc0", state])
    if state == "up":
        for route in ("default", "224.0.0.0/4"):
            play.lab.call(host, ["ip", "route", "replace", route, "dev", "amc0"])


def test_interface(play):
    """The sender's interface goes down and comes back, then the receiver's."""
    sender = play.sender("sc", "address=239.1.2.3 max-bitrate=400000")
    receiver = play.receiver("rc", "address=239.1.2.3")
    play.pictures(receiver, 30, 10, "there are pictures")
    play.wait(lambda: rows(sender), 5, "the sender knows its receiver")
    for host, node in (("sc", sender), ("rc", receiver)):
        before = len(node.of("warning"))
        interface(play, host, "down")
        time.sleep(3)
        interface(play, host, "up")
        play.pictures(receiver, 60, 12, f"{host}: pictures again after 3 s without interface")
        play.wait(lambda: rows(sender), 6, f"{host}: and the sender knows its receiver")
        texts = [line["text"] for line in node.of("warning")[before:]]
        play.check(len(texts) <= 3, f"{host}: warnings are few", f"{len(texts)}: {texts[:4]}")
        if node is sender:
            routes = [text for text in texts if "cannot be sent" in text or "sent again" in text]
            play.check(
                len(routes) == 2, f"{host}: one when it fails, one when it is back", str(routes)
            )
        errors = node.of("error")
        play.check(not errors, f"{host}: no error", str(errors[:2]))
    alive = sender.process.poll() is None and receiver.process.poll() is None
    play.check(alive, "both still run")


def made_anew(play, host, seconds):
    """The host's device is gone for @seconds and comes back under another index, as one that is
    unplugged and plugged in (the emulator holds it, so it cannot be deleted: it goes to another
    namespace meanwhile): what was a member of groups by it is none."""
    script = f"""
        unshare -n sleep {seconds + 10} & other=$!
        sleep 0.2
        index=$(ip -o link show amc0 | cut -d: -f1)
        ip link set amc0 netns $other || exit 1
        ip link add amcspare index $index type veth peer name amcspare-p
        sleep {seconds}
        nsenter -t $other -n ip link set amc0 netns $$ || exit 1
        kill $other
        ip link del amcspare
        ip addr add {play.address(host)}/16 dev amc0
        [ "$(ip -o link show amc0 | cut -d: -f1)" != "$index" ]
    """
    done = play.lab.call(host, ["sh", "-c", script], check=False)
    play.check(done.returncode == 0, f"{host}: the device came back as another one")
    interface(play, host, "up")


def hears(play, sender, what):
    """The sender gets reports, from now on."""
    begin = play.now()

    def fed():
        ages = [row["age"] for row in rows(sender).values()]
        return play.now() > begin + 2 and min(ages, default=harness.SECOND) < harness.SECOND

    play.wait(fed, 20, f"{what}: the sender hears its receiver", lambda: str(rows(sender)))


def test_made_anew(play):
    """The receiver's interface goes and comes back as another one, by name, by the routes and of
    one source; then the sender's."""
    ways = ("multicast-iface=amc0", "", f"source-address={play.address('sg')}")
    pairs = []
    for i, how in enumerate(ways):
        group = f"address=239.1.2.{70 + i}"
        sender = play.sender("sg", f"{group} max-bitrate=400000 {how}", name=f"sg{i}")
        pairs.append((sender, play.receiver(f"rg{i}", f"{group} {how}")))
    for i, (sender, receiver) in enumerate(pairs):
        what = ways[i] or "by the routes"
        play.pictures(receiver, 30, 12, f"{what}: there are pictures")
        hears(play, sender, what)
        made_anew(play, f"rg{i}", 9)
        play.pictures(receiver, 60, 20, f"{what}: pictures again")
        hears(play, sender, what)
        texts = [line["text"] for line in receiver.of("warning")]
        told = [text for text in texts if "not heard any more" in text]
        play.check(len(told) == 1, f"{what}: the receiver says so once", str(texts))
    made_anew(play, "sg", 2)
    for i, (sender, receiver) in enumerate(pairs):
        what = f"the sender, {ways[i] or 'by the routes'}"
        play.pictures(receiver, 60, 20, f"{what}: pictures again")
        hears(play, sender, what)
        for node in (sender, receiver):
            play.check(not node.of("error"), f"{node.name}: no error", str(node.of("error")[:2]))


def set_clock(path, offset):
    path.with_suffix(".new").write_text(offset + "\n", encoding="utf-8")
    path.with_suffix(".new").replace(path)  # whoever reads it sees the old or the new


def test_clock(play):
    """The clock on the wall jumps, at the receiver and at the sender: nobody measures by it."""
    library = sorted(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1"))
    if not library:
        play.skip("clock jumps", "no libfaketime (Debian: faketime)")
        return
    clocks = {}
    envs = {}
    for host in ("sf", "rf"):
        clocks[host] = play.record.directory / f"clock-{host}"
        set_clock(clocks[host], "+0")
        envs[host] = {
            "LD_PRELOAD": library[0],
            "FAKETIME_TIMESTAMP_FILE": str(clocks[host]),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }
    sender = play.sender("sf", "address=239.1.2.6 max-bitrate=400000", env=envs["sf"])
    receiver = play.receiver("rf", "address=239.1.2.6", env=envs["rf"])
    at_max(play, sender)
    for host in ("rf", "sf"):
        for offset in ("+3600", "-86400"):
            begin = play.now()
            set_clock(clocks[host], offset)
            told = play.program(host, f"date{begin:.0f}", ["date", "+%s"], env=envs[host])
            told.ended(5)
            jump = int(told.text() or 0) - time.time()
            play.check(abs(jump - int(offset)) < 60, f"{host}'s clock jumps", f"by {jump:.0f} s")
            what = f"{host}'s clock at {offset} s"
            time.sleep(2.5)
            settled(sender)
            low = min(values(sender, "target-bitrate", begin), default=0)
            play.check(low >= 0.9 * 400000, f"{what}: the target stays", f"{low}")
            used = values(receiver, "received-bitrate", begin)
            mean = sum(used) / max(1, len(used))
            play.check(mean >= 0.9 * 400000, f"{what}: so does the rate", str(used))
            rtt = max(values(receiver, "rtt", begin), default=0)
            play.check(0 < rtt < harness.SECOND / 5, f"{what}: and the RTT", f"{rtt} ns")
            play.pictures(receiver, 30, 3, f"{what}: pictures go on")
    for node in (sender, receiver):
        with open(f"/proc/{node.process.pid}/maps", encoding="utf-8") as maps:
            play.check(library[0] in maps.read(), f"{node.name} lived by that clock")
    play.clean(sender, receiver)


def test_scene(play):
    """An easy scene proves nothing about the path: a hard one after it must not flood it. What one
    slow start loses is chance, from nothing to twice the mean: the mean of three counts, each on a
    path of its own, one after the other."""
    pattern = harness.picture(640, 360).replace("pattern=smpte horizontal-speed=4", "pattern=black")
    begins, losses = [], []
    senders, receivers = [], []
    for i in SCENES:
        group = f"address=239.1.2.{40 + i}"
        senders.append(play.sender("sd", f"{group} max-bitrate=4000000", pattern, name=f"sd{i}"))
        receivers.append(play.receiver(f"rd{i}", group))
    for receiver in receivers:
        play.pictures(receiver, 10, 8, "there are pictures")
    play.until(lambda: play.now() > 12, 12)
    for sender in senders:
        most = max(values(sender, "target-bitrate", play.now() - 2))
        play.check(most <= 400000, "the target stays near what is sent", f"{most}")
        begins.append(play.now())
        sender.say("set picture pattern snow")
        time.sleep(4)
    time.sleep(6)
    for i, begin in zip(SCENES, begins, strict=True):
        losses.append(play.record.loss_between(f"rd{i}", begin - 0.5, begin + 10))
    play.need_network()
    told = ", ".join(f"{100 * loss:.2f} %" for loss in losses)
    play.suite.tell([f"scene: lost {told}"])
    play.check(sum(losses) / len(losses) < 0.02, "less than 2 % are lost", told)
    for receiver, begin in zip(receivers, begins, strict=True):
        used = values(receiver, "received-bitrate", begin + 7)
        rate = sum(used) / max(1, len(used))
        play.check(rate > 400000, "and the path is used", f"{rate:.0f} of 800000")
    for sender, receiver in zip(senders, receivers, strict=True):
        play.clean(sender, receiver, lossless=False)


if __name__ == "__main__":
    tests = [
        test_attacks,
        test_collision,
        test_reordering,
        test_interface,
        test_made_anew,
        test_scene,
        test_clock,
    ]
    sys.exit(harness.main("faults", TOPOLOGY, tests))
