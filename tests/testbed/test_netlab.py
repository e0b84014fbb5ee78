#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The lab in real namespaces: multicast, changes at run time, clean-up. Exit 77: not possible."""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import netlab  # noqa: E402

PROBES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes.py")
# s - g1 - g2 - (r1, r2), and r3 on g1
TREE = """
option leave-latency=1s
host s
host t
host r1
host r2
host r3
router g1
router g2
link as s g1
link at t g1
link core g1 g2 rate=4M delay=20ms queue=50p
link a1 g2 r1
link a2 g2 r2
link a3 g1 r3
"""
GROUP, GROUP6, SSM, SSM6 = "239.10.1.1", "ff1e::10:1", "232.10.1.1", "ff3e::8000:1"


class Case(unittest.TestCase):
    topology = TREE

    def setUp(self):
        self.lab = netlab.Lab(self.topology, name="test")
        self.lab.__enter__()
        self.addCleanup(self.lab.close)

    def probe(self, host, *argv):
        process = self.lab.run(
            host, [sys.executable, PROBES, *map(str, argv)], stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(process.stdout.close)
        return process

    def result(self, process):
        output = process.communicate(timeout=30)[0]
        self.assertEqual(process.returncode, 0)
        return json.loads(output)

    def receive(self, host, group, *argv, seconds=30):
        process = self.probe(
            host, "receive", group, 5004, "--seconds", seconds, "--until-idle", 1, *argv
        )
        self.assertTrue(self.lab.wait_member(host, group, 10), f"{host} did not join {group}")
        return process

    def send(self, host, group, seconds=1, rate_bps=400e3, *argv):
        return self.result(
            self.probe(
                host, "send", group, 5004, "--rate-bps", rate_bps, "--seconds", seconds, *argv
            )
        )["count"]

    def crossed(self, link, to):
        return self.lab.link_stats(link, to)["rx_multicast_packets"]


class Multicast(Case):
    def one_copy_per_link(self, group):
        receivers = [self.receive(host, group) for host in ("r1", "r2")]
        before = {host: self.crossed(*host) for host in (("core", "g2"), ("a3", "r3"))}
        count = self.send("s", group)
        for receiver in receivers:
            result = self.result(receiver)
            self.assertEqual(result["count"], count)
            self.assertEqual(result["distinct"], count)
            self.assertEqual(result["out_of_order"], 0)
        self.assertEqual(self.crossed("core", "g2") - before["core", "g2"], count)
        self.assertEqual(self.crossed("a3", "r3") - before["a3", "r3"], 0)

    def test_ipv4_one_copy_per_link(self):
        self.one_copy_per_link(GROUP)

    def test_ipv6_one_copy_per_link(self):
        self.one_copy_per_link(GROUP6)

    def ssm(self, group, source):
        wanted = self.lab.hosts["s"]
        wanted = wanted.address if source == 4 else wanted.address6
        receiver = self.receive("r1", group, "--source", wanted)
        self.assertEqual(self.lab.memberships()["r1"][0]["mode"], "include")
        self.assertGreater(self.send("t", group), 40)
        self.assertEqual(self.crossed("core", "g2"), 0)  # another source does not even cross
        count = self.send("s", group)
        self.assertEqual(self.result(receiver)["count"], count)
        self.assertEqual(self.crossed("core", "g2"), count)

    def test_ipv4_source_specific(self):
        self.ssm(SSM, 4)

    def test_ipv6_source_specific(self):
        self.ssm(SSM6, 6)

    def test_leave_latency(self):
        receiver = self.receive("r1", GROUP)
        sender = self.probe("s", "send", GROUP, 5004, "--rate-bps", 800e3, "--seconds", 4)
        time.sleep(1)
        receiver.kill()
        self.assertTrue(self.lab.wait_member("r1", GROUP, joined=False))
        left = self.lab.now()
        last, last_time = self.crossed("a1", "r1"), left
        while self.lab.now() < left + 2:
            time.sleep(0.02)
            count = self.crossed("a1", "r1")
            if count > last:
                last, last_time = count, self.lab.now()
        self.result(sender)
        self.assertGreater(last_time - left, 0.8)
        self.assertLess(last_time - left, 1.3)

    def test_ttl_1_ends_at_the_first_router(self):
        self.receive("r3", GROUP)
        self.send("s", GROUP, 0.3, 400e3, "--ttl", 1)
        self.assertEqual(self.crossed("a3", "r3"), 0)
        self.assertGreater(self.lab.stats()["drops"]["ttl"], 10)


class Queries(Case):
    # Old queriers: the kernel answers with IGMPv2 and MLDv1; state must survive many intervals.
    topology = "option igmp=2 mld=1 query-interval=400ms query-response=100ms\n" + TREE

    def test_state_survives_and_old_versions_work(self):
        receivers = [self.receive("r1", group) for group in (GROUP, GROUP6)]
        time.sleep(3)
        for group, receiver in zip((GROUP, GROUP6), receivers, strict=True):
            self.assertIn(group, self.lab.members()["r1"])
            count = self.send("s", group, 0.5)
            self.assertEqual(self.result(receiver)["count"], count)
            self.assertTrue(self.lab.wait_member("r1", group, joined=False))


class Network(Case):
    def test_unicast_both_families(self):
        for address in (self.lab.hosts["r1"].address, self.lab.hosts["r1"].address6):
            echo = self.probe("r1", "echo", address, 7000, "--seconds", 5)
            for _ in range(50):
                result = self.result(self.probe("s", "ping", address, 7000, "--count", 1))
                if result["count"]:
                    break
            self.assertGreater(result["min"], 40)
            self.assertLess(result["min"], 60)
            echo.kill()

    def test_interface_down_and_up(self):
        receiver = self.receive("r1", GROUP)
        self.lab.interface("r1", up=False)
        self.send("s", GROUP, 0.3)
        self.lab.interface("r1", up=True)
        self.assertTrue(self.lab.wait_member("r1", GROUP, 30))
        count = self.send("s", GROUP, 0.5)
        self.assertGreaterEqual(self.result(receiver)["count"], count)
        for address in (self.lab.hosts["s"].address, self.lab.hosts["s"].address6):
            self.assertIn("amc0", self.lab.call("r1", ["ip", "route", "get", address]).stdout)

    def test_changes_and_samples(self):
        # Offered 2 Mb/s; 4 Mb/s carries it, then 1 Mb/s, then nothing at all.
        sampler = self.lab.sample(0.5)
        self.receive("r1", GROUP)
        self.lab.after(2, "core>g2", rate="1M")
        self.lab.after(4, "core", up=False)
        changed = self.lab.now() + 2
        self.send("s", GROUP, 6, 2e6)
        self.lab.set("core", up=True, rate="4M", drop_next=0)
        sampler.stop()
        rows = sampler.select("core", "g2")

        def mean(start, end):
            chosen = [
                row["throughput_bps"]
                for row in rows
                if row["time"] - 0.5 >= start and row["time"] <= end
            ]
            self.assertGreater(len(chosen), 0)
            return sum(chosen) / len(chosen)

        self.assertAlmostEqual(mean(changed - 1.3, changed) / 2e6, 1, delta=0.1)
        self.assertAlmostEqual(mean(changed + 0.1, changed + 2) / 1e6, 1, delta=0.03)
        self.assertLess(mean(changed + 2.6, changed + 3.8), 1)
        with tempfile.NamedTemporaryFile("r", suffix=".csv") as out:
            sampler.write_csv(out.name)
            self.assertEqual(len(out.read().splitlines()), len(sampler.rows) + 1)

    def test_refusals(self):
        for line in ("set core rate=fast", "set nowhere rate=1M", "fly", "at x set core rate=1"):
            with self.assertRaises(netlab.LabError):
                self.lab.ask(line)
        with self.assertRaises(netlab.LabError) as caught:
            netlab.Lab("host a\nhost a\n").__enter__()
        self.assertIn("line 2", str(caught.exception))


class CleanUp(unittest.TestCase):
    CODE = (
        "import sys, time; sys.path.insert(0, {path!r}); import netlab\n"
        "netlab.ensure_privileges()\n"
        "with netlab.Lab('host a\\nhost b\\nlink l a b\\n', name={name!r}) as lab:\n"
        "    p = lab.run('a', {argv!r})\n"
        "    print(lab._emulator.pid, p.pid, flush=True)\n"
        # A signal that comes just before a sleep is handled after it.
        "    for _ in range(10000): time.sleep(0.1)\n"
    )

    def start(self, name, *argv):
        code = self.CODE.format(
            path=os.path.dirname(PROBES), name=name, argv=argv or ("sleep", "1000")
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self.addCleanup(process.stdout.close)
        return process, [int(pid) for pid in process.stdout.readline().split()]

    def names(self, name):
        return (
            [
                entry
                for entry in os.listdir(netlab.RUN_NETNS)
                if entry.startswith(f"{netlab.PREFIX}{name}-")
            ]
            if os.path.isdir(netlab.RUN_NETNS)
            else []
        )

    def wait_gone(self, pids):
        deadline = time.monotonic() + 5
        while any(netlab.leftovers.start_time(pid) and not self.is_zombie(pid) for pid in pids):
            self.assertLess(time.monotonic(), deadline, f"still there: {pids}")
            time.sleep(0.05)

    @staticmethod
    def is_zombie(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = f"sig{os.getpid()}x{int(number)}"
            process, pids = self.start(name)
            process.send_signal(number)
            process.wait(20)
            self.wait_gone(pids)
            self.assertEqual(self.names(name), [])

    def test_a_second_signal_breaks_nothing_off(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = f"two{os.getpid()}x{int(number)}"
            process, pids = self.start(name, "sh", "-c", "trap : TERM; while :; do sleep 1; done")
            process.send_signal(signal.SIGTERM)
            time.sleep(0.5)  # its program does not end: the lab waits
            process.send_signal(number)
            process.wait(20)
            self.wait_gone(pids)
            self.assertEqual(self.names(name), [])

    def test_a_signal_while_a_lab_closes_is_not_lost(self):
        lab = netlab.Lab("host a\nhost b\nlink l a b\n", name=f"late{os.getpid()}")
        before = signal.signal(signal.SIGTERM, lambda *_: self.fail("in the middle"))
        try:
            with self.assertRaises(SystemExit), lab:
                lab._end_emulator = lambda end=lab._end_emulator: (
                    signal.raise_signal(signal.SIGTERM),
                    end(),
                    lab._handlers.update({signal.SIGTERM: lambda *_: sys.exit(1)}),
                )
        finally:
            signal.signal(signal.SIGTERM, before)
        self.assertEqual(self.names(lab.name), [])

    def test_killed_leaves_nothing_for_the_next(self):
        name = f"kill{os.getpid()}"
        process, pids = self.start(name)
        process.kill()
        process.wait()
        self.assertEqual(glob.glob(f"{tempfile.gettempdir()}/netlab-{process.pid}-*"), [])
        self.wait_gone(pids[:1])  # the emulator ends by itself
        netlab.remove_stale()
        self.assertEqual(self.names(name), [])
        if netlab.find_privilege() == "root":
            self.wait_gone(pids)
        else:
            try:
                os.kill(pids[1], signal.SIGKILL)
            except ProcessLookupError:
                pass

    def test_living_labs_are_left_alone(self):
        with netlab.Lab("host a\nhost b\nlink l a b\n", name=f"live{os.getpid()}") as lab:
            netlab.remove_stale()
            self.assertEqual(lab.call("a", ["true"]).returncode, 0)


if __name__ == "__main__":
    try:
        print("namespaces by", netlab.ensure_privileges(sudo="quiet"))
    except netlab.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(verbosity=2)
