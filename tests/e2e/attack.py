#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends forged and broken packets to a session, in one of several ways; prints how many.

    attack.py report  GROUP PORT --ssrc S [--rate R] [--count N] [--leaving] [--name N]
    attack.py bye     GROUP PORT --ssrc S [--count N]
    attack.py broken  GROUP PORT --ssrc S
    attack.py flood   GROUP PORT --count N [--media S]
    attack.py garbage GROUP PORT

PORT is that of RTP; RTCP goes to PORT + 1, garbage to both.
"""

import argparse
import random
import socket
import struct
import sys
import time

SR, RR, SDES, BYE, APP = 200, 201, 202, 203, 204


def packet(kind, count, body):
    assert len(body) % 4 == 0
    return struct.pack(">BBH", 0x80 | count, kind, len(body) // 4) + body


def rr(ssrc):
    return packet(RR, 0, struct.pack(">I", ssrc))


def rr_about(ssrc, media):
    """An RR with a block about @media without loss: its sender has heard it."""
    return packet(RR, 1, struct.pack(">IIIIIII", ssrc, media, 0, 1, 0, 0, 0))


def sdes(ssrc, name=b"forged-0123456789"):
    chunk = struct.pack(">IBB", ssrc, 1, len(name)) + name + b"\0"
    return packet(SDES, 1, chunk + b"\0" * (-len(chunk) % 4))


def bye(ssrc):
    return packet(BYE, 1, struct.pack(">I", ssrc))


def report(ssrc, number, rate_bps, flags=0x01, name=b"ASMP", version=1, subtype=1, rtt_us=40000):
    """A report as docs/wire-format.md has it, byte by byte: not by the code under test."""
    body = struct.pack(">I4sBB", ssrc, name, version, flags)
    body += rate_bps.to_bytes(6, "big") + struct.pack(">IH", number & 0xFFFFFFFF, 0)
    body += rate_bps.to_bytes(6, "big")
    body += struct.pack(">6I", 0, rtt_us, 1000, 0, 0, 1000)  # loss rtt jitter queue lost seq
    body += struct.pack(">II", 0, 0)  # echo, hold
    return packet(APP, subtype, body)


def compound(ssrc, app):
    return rr(ssrc) + sdes(ssrc) + app


class Target:
    def __init__(self, group, port):
        family = socket.AF_INET6 if ":" in group else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 32)
        self.group, self.port, self.sent = group, port, 0

    def rtcp(self, data):
        self.to(self.port + 1, data)

    def to(self, port, data):
        self.socket.sendto(data, (self.group, port))
        self.sent += 1


def send_reports(target, args):
    flags = 0x01 | (0x20 if args.leaving else 0)
    for i in range(args.count):
        app = report(args.ssrc, args.number + i, args.rate, flags, args.name.encode())
        target.rtcp(compound(args.ssrc, app))
        time.sleep(0.1)


def send_byes(target, args):
    for _ in range(args.count):
        target.rtcp(rr(args.ssrc) + sdes(args.ssrc) + bye(args.ssrc))
        time.sleep(0.1)


def broken_compounds(ssrc):
    """(reason it is dropped for, compound)"""
    good = report(ssrc, 1, 1000)
    yield "malformed", compound(ssrc, good)[:-4]
    yield "malformed", compound(ssrc, good) + b"\0\0"
    yield "malformed", compound(ssrc, packet(APP, 1, good[4:40]))
    yield "malformed", good  # no RR in front
    yield "malformed", b"\x40" + compound(ssrc, good)[1:]
    yield "unknown-name", compound(ssrc, report(ssrc, 1, 1000, name=b"NONE"))
    yield "unknown-version", compound(ssrc, report(ssrc, 1, 1000, version=9))
    yield "unknown-subtype", compound(ssrc, report(ssrc, 1, 1000, subtype=17))
    yield "ssrc-mismatch", compound(ssrc, report(ssrc + 1, 1, 1000))
    yield "bad-value", compound(ssrc, report(ssrc, 1, 1000, rtt_us=0))


def send_broken(target, args):
    for _, data in broken_compounds(args.ssrc):
        target.rtcp(data)
        time.sleep(0.1)


def send_flood(target, args):
    """Every SSRC twice: the second report ends its probation. They ask for a high rate."""
    for i in range(args.count):
        ssrc = 0x10000000 + i
        for number in (1, 2):
            head = rr_about(ssrc, args.media) + sdes(ssrc)
            target.rtcp(head + report(ssrc, number, 8_000_000))
        if i % 10 == 9:
            time.sleep(0.005)


def send_garbage(target, args):
    """Every length, as noise and as noise that begins like RTP, SR, RR and APP."""
    rng = random.Random(args.seed)
    heads = (b"", b"\x80\x60", b"\x90\xe0", b"\x80\xc8", b"\x81\xc9", b"\x81\xcc")
    for length in range(1501):
        head = heads[length % len(heads)]
        data = (head + rng.randbytes(length))[:length]
        target.to(target.port, data)
        target.to(target.port + 1, data)
        if length % 10 == 9:
            time.sleep(0.01)


WAYS = {
    "report": send_reports,
    "bye": send_byes,
    "broken": send_broken,
    "flood": send_flood,
    "garbage": send_garbage,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("group")
    parser.add_argument("port", type=int)
    parser.add_argument("--ssrc", type=int, default=0x0BADF00D)
    parser.add_argument("--media", type=int, default=0)
    parser.add_argument("--rate", type=int, default=20000)
    parser.add_argument("--number", type=int, default=1 << 20)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--name", default="ASMP")
    parser.add_argument("--leaving", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    target = Target(args.group, args.port)
    WAYS[args.way](target, args)
    print(target.sent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
