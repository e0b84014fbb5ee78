#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The mode without namespaces: a path between UDP ports of the loopback interface."""

import json
import os
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import netlab  # noqa: E402

PROBES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes.py")


def free_ports(count):
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return ports


class Udp(unittest.TestCase):
    def setUp(self):
        self.listen, self.target = free_ports(2)
        self.lab = netlab.Lab(
            "host s\nhost r\nrouter g\nlink a s g\n"
            "link core g r rate=1M delay=20ms queue=20p\n"
            f"udp {self.listen} s r {self.target}\n",
            udp=True,
        )
        self.lab.__enter__()
        self.addCleanup(self.lab.close)

    def probe(self, *argv):
        process = self.lab.run(
            "s", [sys.executable, PROBES, *map(str, argv)], stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(process.stdout.close)
        return process

    def wait_bound(self, port):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with open("/proc/net/udp", encoding="ascii") as table:
                if f":{port:04X} " in table.read():
                    return
            time.sleep(0.02)
        self.fail(f"nobody bound port {port}")

    def result(self, process):
        return json.loads(process.communicate(timeout=30)[0])

    def test_rate_and_queue(self):
        receiver = self.probe(
            "receive", "127.0.0.1", self.target, "--seconds", 20, "--until-idle", 1
        )
        self.wait_bound(self.target)
        sent = self.result(
            self.probe("send", "127.0.0.1", self.listen, "--rate-bps", 2e6, "--seconds", 3)
        )["count"]
        got = self.result(receiver)
        link = self.lab.link_stats("core", "r")
        self.assertEqual(link["in_packets"], sent)
        self.assertEqual(link["drops_queue"] + got["count"], sent)
        self.assertAlmostEqual(got["rate_bps"] / 1e6, 1, delta=0.02)

    def test_both_ways_and_two_sources(self):
        echo = self.probe("echo", "127.0.0.1", self.target, "--seconds", 20)
        self.wait_bound(self.target)
        pings = [self.probe("ping", "127.0.0.1", self.listen, "--count", 20) for _ in range(2)]
        for ping in pings:
            result = self.result(ping)
            self.assertEqual(result["count"], 20)
            # 20 ms and 8 ms of serialisation each way
            self.assertGreaterEqual(result["min"], 56)
            self.assertLess(result["median"], 80)
        echo.kill()

    def test_port_taken(self):
        with self.assertRaises(netlab.LabError):
            netlab.Lab(self.lab.topology, udp=True).__enter__()


if __name__ == "__main__":
    unittest.main(verbosity=2)
