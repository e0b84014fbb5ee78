# SPDX-License-Identifier: LGPL-2.1-or-later
"""The faults, a function each: injects one, and says what came of it.

A case has hosts of its own: sender s<k>, receiver r<k>, attacker x<k>, on one router. What it finds
is an outcome: the fault, the promise, what was measured, whether the promise was kept.
"""

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


class Session:
    """A sender and a receiver of case @k, and an attacker beside them."""

    def __init__(self, play, k, unicast=False, tail=harness.DECODE, source=None):
        self.play, self.k = play, k
        self.group = f"239.3.{k + 1}.1"
        words = f"address={self.group} max-bitrate={MAX}"
        if unicast:
            words += f" feedback-address={play.address(f's{k}')} feedback-port=6001"
        self.sender = play.sender(f"s{k}", words, source or harness.picture(160, 90))
        self.receiver = play.receiver(f"r{k}", f"address={self.group}", tail)
        self.to = (play.address(f"s{k}"), 6000) if unicast else (self.group, 5004)
        self.at_max(20)

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

    def dropped(self):
        return {
            key[8:]: value
            for key, value in self.sender.stats.items()
            if key.startswith("dropped-") and value
        }


def outcome(play, threat, fault, promise, measured, kept):
    play.check(kept, f"{threat}: {promise}", measured)
    play.suite.outcomes.append(
        {"threat": threat, "fault": fault, "promise": promise, "measured": measured, "kept": kept}
    )


def flooded(session, threat, fault, way, *words):
    """A flood of 1000/s: what it does to the target, and what it costs the sender."""
    play, sender = session.play, session.sender
    begin, before = play.now(), cpu_s(sender)
    time.sleep(FLOOD_S)
    quiet_s, control = (cpu_s(sender) - before) / FLOOD_S, session.mean(begin)
    begin, before = play.now(), cpu_s(sender)
    program = session.inject(way, "--seconds", FLOOD_S, *words)
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
        abs(ratio - 1) < 0.01 and cost < 5.0 and sent > 0.5 * 1000 * FLOOD_S,
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
    session.inject("liar", "--per-s", 10, "--seconds", 45, "--rate", 1000)
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
    session.receiver.kill()
    begin = play.now()
    gone = play.until(lambda: not session.row(), 30)
    low = play.until(lambda: session.sender.stats.get("target-bitrate", MAX) <= 100000, 30)
    outcome(
        play,
        "lost leave",
        "kill -9 of the only receiver: no BYE, no IGMP leave",
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
    (case_stopped, case_restarts, case_wraps),
)
SHORT = ((case_forged_reports, case_names, case_loop),)
