#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the UDP packets that pass amc0 of its namespace, or the interface it is told, a JSON line
each, until it is killed.

RTP rows have `rtp` {ssrc, seq, pt}, RTCP rows `rtcp` [[packet type, subtype or count, ssrc], ...].
"""

import json
import socket
import struct
import sys
import time

ETH_P_ALL = 3
SO_TIMESTAMPNS = 35


def address(family, data):
    return socket.inet_ntop(family, data)


def rtcp_of(data):
    """The packets of a compound; None when it is not one."""
    out = []
    while len(data) >= 8:
        first, kind, length = struct.unpack(">BBH", data[:4])
        size = 4 * (length + 1)
        if first >> 6 != 2 or not 192 <= kind <= 223 or size > len(data):
            return None
        out.append([kind, first & 31, struct.unpack(">I", data[4:8])[0]])
        data = data[size:]
    return out if out and not data else None


def row_of(data):
    if data[0] >> 4 == 4:
        header = 4 * (data[0] & 15)
        if data[9] != socket.IPPROTO_UDP:
            return None
        row = {"tos": data[1], "ttl": data[8]}
        row["src"] = address(socket.AF_INET, data[12:16])
        row["dst"] = address(socket.AF_INET, data[16:20])
    else:
        header = 40
        if data[6] != socket.IPPROTO_UDP:
            return None
        row = {"tos": (struct.unpack(">H", data[:2])[0] >> 4) & 255, "ttl": data[7]}
        row["src"] = address(socket.AF_INET6, data[8:24])
        row["dst"] = address(socket.AF_INET6, data[24:40])
    row["sport"], row["dport"] = struct.unpack(">HH", data[header : header + 4])
    row["bytes"] = len(data)
    payload = data[header + 8 :]
    rtcp = rtcp_of(payload)
    if rtcp:
        row["rtcp"] = rtcp
    elif len(payload) >= 12 and payload[0] >> 6 == 2:
        seq, _, ssrc = struct.unpack(">HII", payload[2:12])
        row["rtp"] = {"ssrc": ssrc, "seq": seq, "pt": payload[1] & 127}
    return row


def when(ancillary):
    """The kernel's time of a packet, on the monotonic clock: this program may be late."""
    for _, kind, data in ancillary:
        if kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            return seconds + nanoseconds / 1e9 - (time.time() - time.monotonic())
    return time.monotonic()


def main():
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    packets.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    packets.bind((sys.argv[1] if len(sys.argv) > 1 else "amc0", ETH_P_ALL))
    print("ready", flush=True)
    while True:
        data, ancillary, _, (_, _, kind, _, _) = packets.recvmsg(65536, 64)
        now = when(ancillary)
        if len(data) < 28:
            continue
        row = row_of(data)
        if row:
            print(json.dumps({"time": round(now, 4), "out": kind == 4, **row}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
