#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TCP flows of the kernel that always have data, for programs that measure.

tcpload.py receive PORT MSS FLOWS BEGIN END     counts what each flow brings from BEGIN to END,
                                                seconds after it said "ready"; a JSON list of
                                                bytes of data
tcpload.py send ADDRESS PORT MSS CONGESTION START END
"""

import json
import os
import select
import socket
import sys
import time


def listen(port, mss):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
    listener.bind(("", port))
    listener.listen(64)
    listener.setblocking(False)
    return listener


def receive(port, mss, flows, begin, end):
    listener = listen(port, mss)
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    print("ready", flush=True)
    start = time.monotonic()
    sockets, counts = {}, {}
    while (now := time.monotonic() - start) < end:
        for number, _ in poll.poll(min(0.1, max(0.0, end - now))):
            if number == listener.fileno():
                accepted, _ = listener.accept()
                accepted.setblocking(False)
                sockets[accepted.fileno()] = accepted
                counts[accepted.fileno()] = 0
                poll.register(accepted, select.EPOLLIN)
                continue
            try:
                got = len(sockets[number].recv(1 << 20))
            except BlockingIOError:
                continue
            if got == 0:
                poll.unregister(number)
            elif begin <= time.monotonic() - start < end:
                counts[number] += got
    if len(counts) != flows:
        raise SystemExit(f"{len(counts)} of {flows} flows came")
    print(json.dumps(list(counts.values())), flush=True)


def send(address, port, mss, congestion, start, end):
    ends = time.monotonic() + end
    time.sleep(start)
    sender = socket.socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
    # What waits unsent is no more than some segments, as in ns-3.
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 16 * mss)
    sender.connect((address, port))
    sender.settimeout(0.5)
    data = os.urandom(8 * mss)
    while time.monotonic() < ends:
        try:
            sender.send(data)
        except TimeoutError:
            pass
        except ConnectionError:
            return


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "receive":
        port, mss, flows = map(int, arguments[:3])
        receive(port, mss, flows, *map(float, arguments[3:]))
    else:
        address, port, mss, congestion = arguments[:4]
        send(address, int(port), int(mss), congestion, *map(float, arguments[4:]))


if __name__ == "__main__":
    main()
