#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs to run on a host of a lab: send and receive UDP, and say what happened (JSON).

    probes.py receive ADDRESS PORT --seconds 3 [--source S] [--until-idle 0.5]
    probes.py send ADDRESS PORT --rate-bps 2e6 --bytes 1000 --seconds 3
    probes.py echo ADDRESS PORT --seconds 3
    probes.py ping ADDRESS PORT --count 100 --interval 0.01 [--burst 40]
    probes.py watch CPU                     until its standard input ends

--bytes is the size of the IP packet. Sequence numbers are in the first 8 bytes of the payload.
"""

import argparse
import itertools
import json
import os
import select
import socket
import struct
import sys
import time

SO_RCVBUFFORCE = 33
MCAST_JOIN_GROUP = 42
MCAST_JOIN_SOURCE_GROUP = 46


def overhead(address):
    return 48 if ":" in address else 28


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def is_multicast(address):
    return (
        address.lower().startswith("ff")
        if ":" in address
        else 224 <= int(address.split(".")[0]) < 240
    )


def sockaddr(address):
    """struct sockaddr_storage, as the protocol-independent multicast options want it."""
    packed = socket.inet_pton(family(address), address)
    if ":" in address:
        return struct.pack("=HHI", socket.AF_INET6, 0, 0) + packed + bytes(128 - 24)
    return struct.pack("=HH", socket.AF_INET, 0) + packed + bytes(128 - 8)


def join(sock, address, source, device):
    level = socket.IPPROTO_IPV6 if ":" in address else socket.IPPROTO_IP
    request = struct.pack("@L", socket.if_nametoindex(device)) + sockaddr(address)
    if source:
        sock.setsockopt(level, MCAST_JOIN_SOURCE_GROUP, request + sockaddr(source))
    else:
        sock.setsockopt(level, MCAST_JOIN_GROUP, request)


def open_receiver(arguments):
    sock = socket.socket(family(arguments.address), socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sock.bind((arguments.address, arguments.port))
    if is_multicast(arguments.address):
        join(sock, arguments.address, arguments.source, arguments.device)
    return sock


def overflows(text=None):
    """Packets that this host had and its sockets did not take (IPv4); or another's, by its
    /proc/net/snmp."""
    if text is None:
        with open("/proc/net/snmp", encoding="ascii") as table:
            text = table.read()
    names, values = (line.split() for line in text.splitlines() if line.startswith("Udp:"))
    return int(values[names.index("RcvbufErrors")])


def receive(arguments):
    sock = open_receiver(arguments)
    head = overhead(arguments.address)
    sock.settimeout(0.05)
    end = time.monotonic() + arguments.seconds
    times, numbers, payload_bytes = [], [], 0
    while time.monotonic() < end:
        try:
            data = sock.recv(65536)
        except TimeoutError:
            if (
                times
                and arguments.until_idle
                and time.monotonic() > times[-1] + arguments.until_idle
            ):
                break
            continue
        times.append(time.monotonic())
        payload_bytes += len(data) + head
        numbers.append(struct.unpack_from("!Q", data)[0])
    result = {
        "count": len(times),
        "distinct": len(set(numbers)),
        "bytes": payload_bytes,
        "overflows": overflows(),
        "out_of_order": sum(a > b for a, b in itertools.pairwise(numbers)),
    }
    if len(times) > 1:
        # The first packet starts the clock, so its bytes do not count.
        seconds = times[-1] - times[0]
        result.update(
            first=times[0],
            last=times[-1],
            largest_gap=max(b - a for a, b in itertools.pairwise(times)),
            rate_bps=8 * payload_bytes * (len(times) - 1) / len(times) / seconds if seconds else 0,
        )
    return result


def send(arguments):
    """late: how long a packet had to wait for this program, at most, ms."""
    sock = socket.socket(family(arguments.address), socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, arguments.ttl)
    if ":" in arguments.address:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, arguments.ttl)
    target = (arguments.address, arguments.port)
    payload = arguments.bytes - overhead(arguments.address)
    interval = 8 * arguments.bytes / arguments.rate_bps
    start = time.monotonic()
    count, late = 0, 0.0
    while (now := time.monotonic() - start) < arguments.seconds:
        late = max(late, now - count * interval)
        while count * interval <= now:
            sock.sendto(struct.pack("!Q", count) + bytes(payload - 8), target)
            count += 1
        time.sleep(min(max(interval / 2, 0.0005), 0.01))
    return {"count": count, "first": start, "late": 1e3 * late}


def echo(arguments):
    sock = open_receiver(arguments)
    sock.settimeout(0.1)
    end = time.monotonic() + arguments.seconds
    count = 0
    while time.monotonic() < end:
        try:
            data, peer = sock.recvfrom(65536)
        except TimeoutError:
            continue
        sock.sendto(data, peer)
        count += 1
    return {"count": count}


def ping(arguments):
    """Round-trip times in ms, each behind a burst of 1000-byte packets to the discard port; late:
    how much longer than asked this program slept, on the mean."""
    sock = socket.socket(family(arguments.address), socket.SOCK_DGRAM)
    sock.settimeout(2)
    burst = socket.socket(family(arguments.address), socket.SOCK_DGRAM)
    sock.connect((arguments.address, arguments.port))
    rtts, late = [], 0.0
    for number in range(arguments.count):
        sent = time.monotonic()
        for _ in range(arguments.burst):
            burst.sendto(bytes(1000 - overhead(arguments.address)), (arguments.address, 9))
        sock.send(
            struct.pack("!Q", number) + bytes(arguments.bytes - overhead(arguments.address) - 8)
        )
        try:
            while struct.unpack_from("!Q", sock.recv(65536))[0] != number:
                pass
        except (TimeoutError, ConnectionRefusedError):
            continue
        rtts.append(1e3 * (time.monotonic() - sent))
        woken = time.monotonic() + arguments.interval
        time.sleep(arguments.interval)
        late += 1e3 * (time.monotonic() - woken)
    rtts.sort()
    if not rtts:
        return {"count": 0}
    return {
        "count": len(rtts),
        "mean": sum(rtts) / len(rtts),
        "late": late / len(rtts),
        "median": rtts[len(rtts) // 2],
        "p99": rtts[int(len(rtts) * 0.99)],
        "min": rtts[0],
        "max": rtts[-1],
    }


def watch(arguments):
    """How long this CPU did not let a program wake that sleeps a millisecond at a time: the sum of
    what was more than a millisecond too long, ms."""
    os.sched_setaffinity(0, {int(arguments.address)})
    stood = 0.0
    asleep = time.monotonic()
    while not select.select([sys.stdin], [], [], 0.001)[0]:
        woken = time.monotonic()
        late = 1e3 * (woken - asleep) - 1
        if late > 1:
            stood += late
        asleep = woken
    return {"stood": stood}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("receive", "send", "echo", "ping", "watch"))
    parser.add_argument("address", metavar="ADDRESS|CPU")
    parser.add_argument("port", type=int, nargs="?")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--source")
    parser.add_argument("--device", default="amc0")
    parser.add_argument("--until-idle", type=float, default=0)
    parser.add_argument("--rate-bps", type=float, default=1e6)
    parser.add_argument("--bytes", type=int, default=1000)
    parser.add_argument("--ttl", type=int, default=16)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--realtime", action="store_true", help="below the emulator's priority")
    parser.add_argument("--burst", type=int, default=0)
    parser.add_argument("--interval", type=float, default=0.01)
    arguments = parser.parse_args()
    if arguments.realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(5))
        except PermissionError:
            pass
    print(json.dumps(globals()[arguments.verb](arguments)), flush=True)


if __name__ == "__main__":
    main()
