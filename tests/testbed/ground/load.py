#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""All kernel TCP and UDP of a run in one process, with sockets in many namespaces.

A JSON plan on standard input: a list of {kind, from, to (paths of namespaces), address, port,
segment, congestion, rate, packet_size, times: [[begin, end], ...]}. Says "ready" when all sockets
listen; then a line with the time (CLOCK_MONOTONIC, s) that is the plan's zero, and it runs until
standard input ends. TCP always has data between begin and end, which is a connection of its own, as
in the laboratory.
"""

import ctypes
import heapq
import itertools
import json
import os
import select
import socket
import sys
import time

CLONE_NEWNET = 0x40000000
BURST = 8  # segments a write
READ_AT = 32768  # bytes: we need not be there for each segment
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if LIBC.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {path}")
    finally:
        os.close(descriptor)


def ask_for_ecn():
    """RFC 3168 for the TCP of this namespace: asked for, and given."""
    with open("/proc/sys/net/ipv4/tcp_ecn", "w", encoding="ascii") as file:
        file.write("1")


class Load:
    def __init__(self, plan):
        self.poll = select.epoll()
        self.handlers = {}
        self.due = []
        self.count = itertools.count()
        self.rubbish = bytearray(1 << 18)
        self.zero = None
        self.failed = []
        for flow in plan:
            (self.tcp if flow["kind"] == "tcp" else self.udp)(flow)

    def at(self, when, what, *arguments):
        heapq.heappush(self.due, (when, next(self.count), what, arguments))

    def watch(self, sock, events, handler):
        self.handlers[sock.fileno()] = (sock, handler)
        self.poll.register(sock.fileno(), events)

    # -- TCP --

    def tcp(self, flow):
        enter(flow["to"])
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, flow["segment"] - 40)
        listener.bind(("", flow["port"]))
        listener.listen(8)
        listener.setblocking(False)
        self.watch(listener, select.EPOLLIN, self.accept)
        if flow["ecn"]:
            ask_for_ecn()
            enter(flow["from"])
            ask_for_ecn()
        flow["data"] = os.urandom(BURST * (flow["segment"] - 52))
        for begin, end in flow["times"]:
            self.at(begin, self.connect, flow)
            self.at(end, self.close, flow)

    def accept(self, listener):
        accepted, _ = listener.accept()
        accepted.setblocking(False)
        # Where more than this waits to be read the kernel acknowledges less often than every second
        # segment, and TCP comes in bursts: of how busy the machine is, not of the network.
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, READ_AT)
        self.watch(accepted, select.EPOLLIN, self.drain)

    def drain(self, sock):
        try:
            if sock.recv_into(self.rubbish) == 0:
                self.forget(sock)
        except BlockingIOError:
            pass
        except OSError:
            self.forget(sock)

    def forget(self, sock):
        number = sock.fileno()
        if number in self.handlers:
            self.poll.unregister(number)
            del self.handlers[number]

    def connect(self, flow):
        enter(flow["from"])
        sender = socket.socket()
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow["congestion"].encode())
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, flow["segment"] - 40)
        # What waits unsent is no more than some segments, as in ns-3.
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 16 * flow["segment"])
        sender.setblocking(False)
        flow["socket"] = sender
        try:
            sender.connect((flow["address"], flow["port"]))
        except BlockingIOError:
            pass
        except OSError as error:
            self.failed.append(f"{flow['id']}: {error}")
            return
        self.watch(sender, select.EPOLLOUT, lambda _: self.write(flow))

    def close(self, flow):
        """What was written is still sent."""
        self.forget(flow["socket"])
        flow["socket"].close()

    def write(self, flow):
        try:
            flow["socket"].send(flow["data"])
        except BlockingIOError:
            pass
        except OSError as error:
            self.failed.append(f"{flow['id']}: {error}")
            self.forget(flow["socket"])

    # -- UDP --

    def udp(self, flow):
        enter(flow["to"])
        # Never read: what does not fit is dropped behind the link, where we count.
        flow["sink"] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        flow["sink"].bind(("", flow["port"]))
        enter(flow["from"])
        flow["socket"] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        flow["socket"].setblocking(False)
        flow["data"] = bytes(flow["packet_size"] - 28)
        for begin, end in flow["times"]:
            self.at(begin, self.datagram, flow, begin, end)

    def datagram(self, flow, when, end):
        if when >= end:
            return
        try:
            flow["socket"].sendto(flow["data"], (flow["address"], flow["port"]))
        except OSError:
            pass  # as a full device drops
        when += 8 * flow["packet_size"] / flow["rate"]
        self.at(when, self.datagram, flow, when, end)

    def run(self):
        self.poll.register(0, select.EPOLLIN)
        while True:
            now = time.monotonic() - self.zero
            while self.due and self.due[0][0] <= now:
                _, _, what, arguments = heapq.heappop(self.due)
                what(*arguments)
            wait = max(0.0, self.due[0][0] - now) if self.due else 1.0
            for number, _ in self.poll.poll(min(wait, 1.0)):
                if number == 0:
                    return
                sock, handler = self.handlers.get(number, (None, None))
                if handler:
                    handler(sock)


def main():
    load = Load(json.loads(sys.stdin.readline()))
    print("ready", flush=True)
    zero = sys.stdin.readline()
    if not zero:
        return  # the run does not begin
    load.zero = float(zero)
    load.run()
    print(json.dumps(load.failed), flush=True)


if __name__ == "__main__":
    main()
