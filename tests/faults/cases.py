# SPDX-License-Identifier: LGPL-2.1-or-later
"""The faults, a function each: injects one, and says what came of it.

A case has hosts of its own: sender s<k>, receiver r<k>, attacker x<k>, on one router. What it finds
is an outcome: the fault, the promise, what was measured, whether the promise was kept.
"""

import base64
import os
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import harness  # noqa: E402
from harness import rows, values  # noqa: E402

MAX = 400000
FLOOD_S = 10
TICKS = os.sysconf("SC_CLK_TCK")


def topology(count):
    lines = ["router g"]
    for k in range(count):
        for kind in "srx":
            lines += [f"host {kind}{k}", f"link {kind}{k} {kind}{k} g delay=10ms"]
    return "\n".join(lines) + "\n"


def cpu_s(node):
    with open(f"/proc/{node.process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Pair:
    """A sender and a receiver of case @k, and an attacker beside them."""

    def __init__(self, play, k, sender, receiver, envs=None):
        """Both pipelines up to where their address goes; @envs: environments by "s" and "r"."""
        self.play, self.k, self.envs = play, k, envs or {}
        self.group = f"239.3.{k + 1}.1"
        where = f"name=mcc address={self.group}"
        self.sender = self.node("s", f"{sender} {where}")
        self.receiver_line = f"{receiver} {where} ! {harness.DECODE}"
        self.receiver = self.node("r", self.receiver_line)
        self.to = (self.group, 5004)

    def node(self, kind, line, name=None):
        return self.play.node(f"{kind}{self.k}", line, name, env=self.envs.get(kind))

    def at_max(self, seconds):
        full = lambda: min(values(self.sender, "target-bitrate", self.play.now() - 1), default=0)  # noqa: E731
        self.play.wait(lambda: full() >= MAX, seconds, "the target reaches max-bitrate")

    def row(self):
        return rows(self.sender).get(self.play.address(f"r{self.k}"), {})

    def ssrc(self):
        return self.row().get("ssrc", 0)

    def media(self):
        return self.receiver.stats.get("source-ssrc", 0)

    def inject(self, way, *words, wait=True, name=""):
        argv = [sys.executable, HERE / "inject.py", way, *self.to, *words]
        program = self.play.program(f"x{self.k}", f"inject-{self.k}-{way}{name}", argv)
        if wait:
            status = program.ended(120)
            self.play.check(status == 0, f"{way}: was injected", program.text()[-300:])
        return program

    def mean(self, begin, end=float("inf")):
        got = values(self.sender, "target-bitrate", begin, end)
        return sum(got) / max(1, len(got))

    def dropped(self, node=None):
        return {
            key[8:]: value
            for key, value in (node or self.sender).stats.items()
            if key.startswith("dropped-") and value
        }


class Session(Pair):
    """The same of ASMP, once it is at max-bitrate."""

    def __init__(self, play, k, unicast=False, source=None, minimum=100000, envs=None, key=None):
        words = f"max-bitrate={MAX} min-bitrate={minimum}"
        if unicast:
            words += f" feedback-address={play.address(f's{k}')} feedback-port=6001"
        source = source or harness.picture(160, 90)
        self.locked = f" srtp-key-file={key}" if key else ""
        ends = f"{source} ! asmpsink {words}{self.locked}", f"asmpsrc{self.locked}"
        super().__init__(play, k, *ends, envs)
        if unicast:
            self.to = (play.address(f"s{k}"), 6000)
        self.at_max(20)


def outcome(play, threat, fault, promise, measured, kept):
    play.check(kept, f"{threat}: {promise}", measured)
    play.suite.outcomes.append(
        {"threat": threat, "fault": fault, "promise": promise, "measured": measured, "kept": kept}
    )


def flooded(session, threat, fault, way, *words, per_s=1000):
    """A flood: what it does to the target, and what it costs the sender."""
    play, sender = session.play, session.sender
    begin, before = play.now(), cpu_s(sender)
    time.sleep(FLOOD_S)
    quiet_s, control = (cpu_s(sender) - before) / FLOOD_S, session.mean(begin)
    begin, before = play.now(), cpu_s(sender)
    program = session.inject(way, "--seconds", FLOOD_S, "--per-s", per_s, *words)
    flood_s = (cpu_s(sender) - before) / max(0.1, play.now() - begin)
    time.sleep(0.6)
    sent = int(program.text().split()[-1] or 0)
    ratio = session.mean(begin) / max(1, control)
    cost = 100 * (flood_s - quiet_s)
    most = ", ".join(f"{k} {v}" for k, v in sorted(session.dropped().items(), key=lambda p: -p[1]))
    outcome(
        play,
        threat,
        fault,
        "the rate is that of the control run within 1 %, at less than 5 % of a core",
        f"{sent} packets: {100 * (ratio - 1):+.2f} %, {cost:.1f} % of a core; dropped: {most}",
        abs(ratio - 1) < 0.01 and cost < 5.0 and sent > 0.5 * per_s * FLOOD_S,
    )
    play.check(session.row().get("state") == "active", f"{way}: the receiver stays known")


def case_forged_reports(play, k):
    session = Session(play, k, unicast=True)
    words = ("--ssrc", session.ssrc())
    flooded(session, "forged report", "1000/s of 1 kb/s in the receiver's name", "reports", *words)


def case_forged_rr(play, k):
    session = Session(play, k, unicast=True)
    words = ("--ssrc", session.ssrc(), "--media", session.media())
    flooded(session, "forged RR", "1000/s: all lost, in the receiver's name", "rr", *words)


def case_forged_byes(play, k):
    session = Session(play, k, unicast=True)
    flooded(
        session, "forged BYE", "1000/s in the receiver's name", "byes", "--ssrc", session.ssrc()
    )


def case_names(play, k):
    session = Session(play, k)
    flooded(session, "SSRC flood", "1000/s, each report of 1 kb/s in a new name", "names")


def case_sdes(play, k):
    session = Session(play, k)
    begin = session.receiver.stats.get("reports-sent", 0)
    flooded(session, "fake members", "1000 SDES/s of 200 bytes in 1000 names", "sdes")
    sent = session.receiver.stats.get("reports-sent", 0) - begin
    play.check(sent >= 4, "the receiver goes on reporting", f"{sent} reports")


def case_garbage(play, k):
    session = Session(play, k)
    flooded(session, "malformed", "1000/s of noise to RTP and RTCP", "garbage")
    play.pictures(session.receiver, 30, 5, "pictures go on")


def case_fir(play, k):
    session = Session(play, k)
    flooded(session, "FIR storm", "1000/s in 500 names", "fir", "--media", session.media())


def case_replay(play, k):
    session = Session(play, k)
    flooded(session, "replay", "a receiver's reports, 1 s later, 1000/s", "replay", "--wait", 1)


def case_stranger(play, k):
    session = Session(play, k)
    begin, before = play.now(), session.sender.stats.get("num-receivers", 0)
    session.inject("stranger", "--per-s", 10, "--seconds", 10, "--rate", 1000)
    time.sleep(0.6)
    ratio = session.mean(begin) / MAX
    outcome(
        play,
        "stranger",
        "1 kb/s in a name and from an address of its own, ten a second, without hearing the media",
        "the rate stays within 1 %",
        f"{100 * (ratio - 1):+.2f} %; {before} member(s) before; dropped: {session.dropped()}",
        abs(ratio - 1) < 0.01,
    )


def new_key(play, k):
    key = play.record.directory / f"key-{k}"
    key.write_text(base64.b64encode(os.urandom(30)).decode() + "\n")
    return key


def case_replay_keyed(play, k):
    session = Session(play, k, key=new_key(play, k))
    words = ("replay with a key", "a receiver's reports, 1 s later, 1000/s", "replay", "--wait", 1)
    flooded(session, *words)


def case_replay_restart(play, k, key=None):
    """What receivers said to a sender, said again to the next one on its place."""
    session = Session(play, k, key=key)
    program = session.inject("replay", "--wait", 16, "--seconds", 6, wait=False)
    time.sleep(4)
    session.sender.kill()
    words = f"address={session.group} max-bitrate={MAX}{session.locked}"
    session.sender = play.sender(f"s{k}", words, harness.picture(160, 90), name=f"s{k}-new")
    session.at_max(12)
    begin = play.now()
    status = program.ended(60)
    time.sleep(0.6)
    sent = int(program.text().split()[-1] or 0)
    ratio = session.mean(begin) / MAX
    outcome(
        play,
        f"replay after a restart{', with a key' if key else ''}",
        "a receiver's reports to the sender before, 16 s later, 1000/s",
        "the rate stays within 1 %",
        f"{sent} packets: {100 * (ratio - 1):+.2f} %; dropped: {session.dropped()}",
        status == 0 and sent > 1000 and abs(ratio - 1) < 0.01,
    )


def case_replay_restart_keyed(play, k):
    case_replay_restart(play, k, new_key(play, k))


def case_replay_receiver(play, k, key=None):
    """What a receiver said before it was restarted, said again after that."""
    session = Session(play, k, key=key)
    program = session.inject("replay", "--wait", 12, "--seconds", 6, wait=False)
    time.sleep(4)
    before = session.ssrc()
    session.receiver.kill()
    session.receiver = session.node("r", session.receiver_line, f"r{k}-new")
    known = lambda: session.ssrc() not in (0, before)  # noqa: E731
    play.wait(known, 20, "the restarted receiver is known")
    session.at_max(12)
    begin = play.now()
    status = program.ended(60)
    time.sleep(0.6)
    sent = int(program.text().split()[-1] or 0)
    ratio = session.mean(begin) / MAX
    outcome(
        play,
        f"replay after a receiver's restart{', with a key' if key else ''}",
        "what it had reported before, 12 s later, 1000/s",
        "the rate stays within 1 %, and the restarted receiver known",
        f"{sent} packets: {100 * (ratio - 1):+.2f} %; dropped: {session.dropped()}",
        status == 0 and sent > 1000 and abs(ratio - 1) < 0.01 and known(),
    )


def case_replay_receiver_keyed(play, k):
    case_replay_receiver(play, k, new_key(play, k))


def case_joins(play, k):
    """Hosts that want the group and never say a word."""
    session = Session(play, k)
    begin = play.now()
    session.inject("joins", "--count", 100, "--seconds", 10)
    ratio, known = session.mean(begin) / MAX, session.sender.stats.get("num-receivers", 0)
    outcome(
        play,
        "silent joins",
        "a hundred sockets of a host join the group and say nothing for 10 s",
        "they change nothing",
        f"{100 * (ratio - 1):+.2f} %; {known} receiver(s)",
        abs(ratio - 1) < 0.01 and known == 1,
    )


def case_inflated(play, k):
    """One that takes all layers at once, whatever its path bears, and reports nothing."""
    session = Pair(play, k, f"{harness.LAYERS} ! elmlayersink max-bitrate={MAX}", "elmlayersrc")
    climb(play, session, 2)
    begin, shown = play.now(), session.receiver.frames.get("frames", 0)
    control = session.mean(begin - 2)
    play.lab.set(f"x{k}>x{k}", rate="60k", queue="6kB")
    session.inject("joins", "--count", 1, "--groups", 3, "--seconds", 12)
    took = play.now() - begin
    ratio = session.mean(begin) / max(1, control)
    shown = session.receiver.frames.get("frames", 0) - shown
    loss = session.receiver.stats.get("loss", 0.0)
    outcome(
        play,
        "receiver that takes more than it should",
        "behind 60 kb/s, one joins all three layers of ELM for 12 s and reports nothing",
        "on a path of its own it harms itself alone: the others' rate within 2 %, no loss",
        f"{100 * (ratio - 1):+.2f} %; {shown} pictures in {took:.0f} s, loss {100 * loss:.2f} %",
        abs(ratio - 1) < 0.02 and loss < 0.001 and shown >= 0.9 * session.fps * took,
    )


def case_mtu(play, k):
    """A path of 1280 bytes (IPv6's least) whose ICMP is lost."""
    source = "videotestsrc is-live=true pattern=snow ! video/x-raw,format=I420,width=320,height=180"
    source += ",framerate=30/1 ! x264enc tune=zerolatency speed-preset=superfast ! rtph264pay"
    for kind in "sr":
        play.lab.call(f"{kind}{k}", ["ip", "link", "set", "amc0", "mtu", "1280"])
    session = Session(play, k, source=source)
    time.sleep(5)
    stats = session.receiver.stats
    fragments = play.lab.call(f"s{k}", ["cat", "/proc/net/snmp"]).stdout.splitlines()
    names, counts = (line.split() for line in fragments if line.startswith("Ip:"))
    made = int(dict(zip(names, counts, strict=False))["FragCreates"])
    received = stats.get("packets-received", 0)
    outcome(
        play,
        "packets too large",
        "interfaces of 1280 bytes at both ends, frames of several kB",
        "no fragments, no loss, the payloader's default of 1200 bytes",
        f"{received} packets, {made} fragments, {stats.get('packets-lost', 0)} lost",
        made == 0 and stats.get("packets-lost", 0) == 0 and received > 200,
    )


def case_unauthentic(play, k):
    """With a key: replayed and random SRTCP, ten thousand a second."""
    session = Session(play, k, unicast=True, key=new_key(play, k))
    words = ("--ssrc", session.ssrc())
    flooded(
        session, "failed authentication", "10 000/s in its name", "reports", *words, per_s=10000
    )


def impostor(play, session, threat, *words):
    """RTP in the sender's name: twice as many packets as the sender's, of noise."""
    shown, begin = session.receiver.frames.get("frames", 0), play.now()
    program = session.inject("impostor", "--seconds", 12, *words)
    time.sleep(0.6)
    took = play.now() - begin
    sent = int(program.text().split()[-1] or 0)
    shown = session.receiver.frames.get("frames", 0) - shown
    stats = session.receiver.stats
    counted, loss = session.dropped(session.receiver), stats.get("loss", 0.0)
    harm = [line["text"] for line in session.receiver.of("error") + session.receiver.of("warning")]
    outcome(
        play,
        threat,
        "noise in the sender's SSRC with its next numbers, from another host, for 12 s",
        "dropped and counted; no loss, no broken picture",
        f"{sent} packets; {shown} pictures in {took:.0f} s, loss {100 * loss:.2f} %; "
        f"the receiver dropped: {counted}; {len(harm)} warnings",
        sent > 300
        and counted.get("other-sender", 0) + counted.get("address", 0) > 0.2 * sent
        and shown >= 0.9 * session.fps * took
        and loss < 0.001
        and not harm,
    )


def case_impostor(play, k):
    session = Session(play, k)
    session.fps = 30
    impostor(play, session, "RTP of another host: ASMP")


def climb(play, session, top):
    """To the highest stream or layer."""
    session.fps = 15
    play.pictures(session.receiver, 15, 15, "there are pictures")
    told = lambda: [  # noqa: E731
        line["fields"]["to"]
        for line in session.receiver.of("message")
        if line["name"] == "adaptive-multicast-switch"
    ]
    play.wait(lambda: (told() or [-1])[-1] >= top, 30, "the receiver goes up")


def case_impostor_assp(play, k):
    sender = f"{harness.RAW} ! asspsimulcastbin streams=100000:200000,200000:400000"
    session = Pair(play, k, sender, "asspsimulcastsrc")
    climb(play, session, 1)
    impostor(play, session, "RTP of another host: ASSP", "--groups", 2, "--first", 1)


def case_impostor_elm(play, k):
    session = Pair(play, k, f"{harness.LAYERS} ! elmlayersink max-bitrate={MAX}", "elmlayersrc")
    climb(play, session, 2)
    impostor(play, session, "RTP of another host: ELM", "--groups", 3)


SECOND_OF_CLOCKS = """
import time
begin = time.monotonic(), time.time()
time.sleep(1)
print((time.monotonic() - begin[0]) / (time.time() - begin[1]))
"""


def drift(play, k, kind, ppm):
    library = harness.builddir() / "tests" / "lib" / "drift.so"
    env = {"LD_PRELOAD": str(library), "DRIFT_PPM": str(ppm)}
    session = Session(play, k, envs={kind: env})
    told = play.program(f"{kind}{k}", "clock", [sys.executable, "-c", SECOND_OF_CLOCKS], env=env)
    told.ended(10)
    off = 1e6 * (float(told.text().split()[-1] or 1) - 1)
    play.check(abs(off - ppm) < 100, "that clock drifts", f"{off:.0f} ppm")
    begin = play.now()
    shown = session.receiver.frames.get("frames", 0)
    time.sleep(30)
    took = play.now() - begin
    shown = session.receiver.frames.get("frames", 0) - shown
    ratio, stats = session.mean(begin) / MAX, session.receiver.stats
    rtt = max(values(session.receiver, "rtt", begin), default=0) / 1e6
    who = "sender" if kind == "s" else "receiver"
    outcome(
        play,
        f"clock that drifts: {who}'s",
        f"its monotonic clock is {ppm:+d} ppm off for 30 s",
        "no loss, no change of rate above 1 %, the RTT (40 ms) within 10 ms",
        f"{100 * (ratio - 1):+.2f} %; loss {100 * stats.get('loss', 0.0):.2f} %, "
        f"{stats.get('packets-lost', 0)} packets; RTT at most {rtt:.0f} ms; "
        f"{shown} pictures in {took:.0f} s",
        abs(ratio - 1) < 0.01
        and stats.get("packets-lost", 0) == 0
        and 30 < rtt < 50
        and shown >= 0.97 * 30 * took,
    )


def case_drift_receiver(play, k):
    drift(play, k, "r", 1000)


def case_drift_slow(play, k):
    drift(play, k, "r", -1000)


def case_drift_sender(play, k):
    drift(play, k, "s", 1000)


def case_leave(play, k):
    """A second receiver's path bears a quarter of the minimum: asked to leave, it does."""
    session = Session(play, k, minimum=200000)
    play.lab.set(f"x{k}>x{k}", rate="60k", queue="6kB")
    begin = play.now()
    slow = play.receiver(f"x{k}", f"address={session.group}")
    low = play.until(lambda: session.sender.stats.get("target-bitrate", MAX) < 0.9 * MAX, 30)
    gone = play.until(
        lambda: low and play.address(f"x{k}") not in rows(session.sender), 60 if low else 0.1
    )
    back = play.until(lambda: session.sender.stats.get("target-bitrate", 0) >= MAX, 40)
    said = ([line["text"] for line in slow.of("error") + slow.of("warning")] or ["nothing"])[-1]
    outcome(
        play,
        "path below the minimum",
        "a second receiver's path bears 60 kb/s, min-bitrate is 200000",
        "asked to leave, it leaves within 60 s, and the rate comes back",
        f"slowed after {(low or 0) - begin:.1f} s, left after {(gone or 0) - begin:.1f} s, "
        f"max-bitrate again after {(back or 0) - begin:.1f} s; it said: {said}",
        None not in (low, gone, back) and gone - begin <= 60,
    )


def case_flap(play, k):
    """The receiver's interface goes and comes, five times."""
    session = Session(play, k)
    time.sleep(3)
    usual = session.sender.stats["sent-bitrate"]
    for _ in range(5):
        play.lab.call(f"r{k}", ["ip", "link", "set", "amc0", "down"])
        time.sleep(1)
        play.lab.call(f"r{k}", ["ip", "link", "set", "amc0", "up"])
        for route in ("default", "224.0.0.0/4"):
            play.lab.call(f"r{k}", ["ip", "route", "replace", route, "dev", "amc0"])
        time.sleep(1)
    end = play.now()
    play.pictures(session.receiver, 30, 15, "pictures again")
    # After losses a receiver allows what it has seen arrive, and some more.
    enough = play.until(lambda: session.sender.stats["sent-bitrate"] > 0.9 * usual, 40)
    now = session.sender.stats
    errors = session.receiver.of("error") + session.sender.of("error")
    outcome(
        play,
        "interface flaps",
        "the receiver's interface is down for 1 s of 2, five times",
        "within 40 s pictures, and at least 90 % of what was sent before; no error",
        f"after {(enough or 0) - end:.1f} s: {now['sent-bitrate']} bit/s of {usual} sent, "
        f"the target {now['target-bitrate']}; {len(errors)} errors",
        enough is not None and not errors,
    )


def case_loop(play, k):
    session = Session(play, k)
    begin = play.now()
    before = session.ssrc()
    session.inject("loop", "--seconds", 12)
    time.sleep(0.6)
    ratio = session.mean(begin) / MAX
    ssrcs = {row for row in values(session.receiver, "source-ssrc", begin) if row}
    outcome(
        play,
        "loop",
        "a bridge sends all RTP and RTCP again for 12 s",
        "one change of SSRC at most, rate within 1 %, pictures go on",
        f"{100 * (ratio - 1):+.2f} %; {len(ssrcs)} media SSRC(s); "
        f"the receiver's {'stayed' if session.ssrc() == before else 'changed'}",
        abs(ratio - 1) < 0.01 and len(ssrcs) <= 2,
    )
    play.pictures(session.receiver, 30, 5, "pictures go on")


def case_liar(play, k):
    session = Session(play, k)
    begin = play.now()
    words = ("--media", session.media(), "--per-s", 10, "--seconds", 45)
    session.inject("liar", *words, "--rate", 1000)
    held = [t for t, v in harness.series(session.sender, "target-bitrate", begin) if v < 0.95 * MAX]
    seconds = max(held, default=begin) - begin
    told = [
        line["fields"].get("reason")
        for line in session.sender.of("message")
        if line["fields"].get("state") == "quarantined"
    ]
    outcome(
        play,
        "member that lies low",
        "1 kb/s without loss, ten reports a second",
        "holds the rate down for 30 s at most, then is told of as quarantined",
        f"held down for {seconds:.1f} s; quarantined: {', '.join(told) or 'nobody'}",
        seconds <= 30 and "contradicted" in told,
    )


def case_mute(play, k):
    """What it receives is well, what it sends is lost: the sender cannot know of it."""
    session = Session(play, k)
    play.lab.set(f"r{k}>r{k}", loss=0)
    begin = play.now()
    play.lab.set(f"r{k}>g", up=0)
    lost = play.until(lambda: session.sender.stats.get("reason") == "no-feedback", 20)
    low = play.until(lambda: session.sender.stats.get("target-bitrate", MAX) <= 100000, 20)
    play.pictures(session.receiver, 10, 10, "pictures go on")
    play.lab.set(f"r{k}>g", up=1)
    back = play.now()
    session.at_max(30)
    outcome(
        play,
        "mute receiver",
        "all that the only receiver sends is lost",
        "halves per period down to min-bitrate within 15 s, and comes back",
        f"no feedback after {(lost or 0) - begin:.1f} s, at min-bitrate after "
        f"{(low or 0) - begin:.1f} s; at max-bitrate again {play.now() - back:.1f} s after its end",
        lost is not None and low is not None and low - begin < 15,
    )


def case_stopped(play, k):
    """SIGSTOP, and SIGCONT: what waited in its sockets is old."""
    session = Session(play, k)
    os.kill(session.receiver.process.pid, signal.SIGSTOP)
    begin = play.now()
    gone = play.until(lambda: not session.row(), 30)
    os.kill(session.receiver.process.pid, signal.SIGCONT)
    back = play.now()
    session.at_max(30)
    took = play.now() - back
    loss = session.receiver.stats.get("loss", 0.0)
    outcome(
        play,
        "crashed receiver",
        "SIGSTOP, SIGCONT once it has expired",
        "expires within 25 s; after SIGCONT no loss is taken for the network's",
        f"expired after {(gone or 0) - begin:.1f} s; at max-bitrate {took:.1f} s after SIGCONT, "
        f"loss {100 * loss:.2f} %",
        gone is not None and gone - begin <= 25 and loss < 0.001,
    )


def case_restarts(play, k):
    """The sender is killed and begins anew, four times."""
    session = Session(play, k)
    gaps = []
    words = f"address={session.group} max-bitrate={MAX}"
    for i in range(4):
        session.sender.kill()
        enough = session.receiver.frames.get("frames", 0) + 5
        begin = play.now()
        session.sender = play.sender(f"s{k}", words, harness.picture(160, 90), name=f"s{k}-{i}")
        seen = play.until(lambda n=enough: session.receiver.frames.get("frames", 0) > n, 15)
        gaps.append((seen or begin + 99) - begin)
        time.sleep(2)
    loss = session.receiver.stats.get("loss", 0.0)
    errors = session.receiver.of("error")
    outcome(
        play,
        "sender's restarts",
        "kill -9 and a new sender, four times",
        "pictures again each time, no loss event from it",
        f"pictures after {max(gaps):.1f} s at most; loss {100 * loss:.2f} %; {len(errors)} errors",
        max(gaps) < 10 and loss < 0.001 and not errors,
    )


def case_wraps(play, k):
    """RTP numbers and timestamps wrap right after the start, and the media numbers again."""
    source = harness.picture(160, 90) + " seqnum-offset=65500 timestamp-offset=4294000000"
    session = Session(play, k, source=source)
    begin = play.now()
    time.sleep(12)
    lost = session.receiver.stats.get("packets-lost", 0)
    ratio = session.mean(begin) / MAX
    outcome(
        play,
        "wraps",
        "RTP number 65500 and timestamp 4294000000 at the start",
        "no loss and no change of rate across them",
        f"{lost} packets lost; {100 * (ratio - 1):+.2f} %",
        lost == 0 and abs(ratio - 1) < 0.01,
    )


def case_leave_lost(play, k):
    """kill -9: neither BYE nor IGMP leave."""
    session = Session(play, k)
    # The kernel leaves for a process that dies, so the network has to be gone by then.
    play.lab.interface(f"r{k}", up=False)
    session.receiver.kill()
    begin = play.now()
    gone = play.until(lambda: not session.row(), 30)
    low = play.until(lambda: session.sender.stats.get("target-bitrate", MAX) <= 100000, 30)
    outcome(
        play,
        "lost leave",
        "the only receiver's interface goes down, then kill -9: no BYE, no IGMP leave",
        "expires within 25 s, and the rate falls to min-bitrate",
        f"expired after {(gone or 0) - begin:.1f} s, at min-bitrate after "
        f"{(low or 0) - begin:.1f} s",
        gone is not None and gone - begin <= 25 and low is not None,
    )


# Phases: what runs at the same time.
PHASES = (
    (case_forged_reports, case_names, case_replay, case_loop),
    (case_forged_rr, case_forged_byes, case_sdes, case_garbage),
    (case_fir, case_liar, case_mute, case_leave_lost),
    (case_stopped, case_restarts, case_wraps, case_stranger),
    (case_replay_restart, case_leave, case_flap),
    (case_replay_receiver, case_joins, case_impostor),
    (case_replay_keyed, case_replay_restart_keyed, case_replay_receiver_keyed),
    (case_impostor_assp, case_impostor_elm),
    (case_inflated, case_mtu, case_unauthentic),
    (case_drift_receiver, case_drift_slow, case_drift_sender),
)
SHORT = ((case_forged_reports, case_names, case_loop),)
