#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The network settings: SSM, IPv6, interface, TTL, DSCP, unicast feedback, SDP, two senders."""

import re
import sys
import time

import harness
from harness import picture, rows, values

# Every test has a column of hosts; g1 and g2 are two routers apart.
TOPOLOGY = """
router g1
router g2
link core g1 g2 delay=5ms
host sa
host ta
host ra
host sb
host rb
host sc
host rc
host sd
host rd
host se
host re
host sf
host tf
host rf
host sg
host rg
host sh
host rh
host ph
host qh
link sa sa g1
link ta ta g1
link ra ra g2
link sb sb g1
link rb rb g2
link sc sc g1
link rc rc g2
link sd sd g1
link rd rd g2
link se se g1
link re re g2
link sf sf g1
link tf tf g1
link rf rf g2
link sg sg g1
link rg rg g2
link sh sh g1
link rh rh g2
link ph ph g2
link qh qh g2
"""
SMALL = picture(fps=15)
# What a player does that knows nothing of us, with reports that get beyond the first router.
PLAIN = (
    "rtpbin name=b udpsrc address={group} port=5004 caps=application/x-rtp,media=video,"
    "clock-rate=90000,encoding-name=H264,payload=96 ! b.recv_rtp_sink_0 "
    "b. ! rtph264depay ! avdec_h264 ! fakesink name=frames sync=false "
    "udpsrc address={group} port=5005 ! b.recv_rtcp_sink_0 "
    "b.send_rtcp_src_0 ! udpsink host={group} port=5005 ttl-mc=32 loop=false sync=false async=false"
)


def stream(play, sender, receiver, to, at, source=SMALL):
    """A sender and a receiver; waits for pictures and for the sender to know its receiver."""
    first = play.sender(sender, to, source)
    second = play.receiver(receiver, at)
    play.pictures(second, 20, 12, "there are pictures")
    play.wait(lambda: rows(first), 6, "the sender knows its receiver")
    return first, second


def reports(wire, address):
    """RTCP packets of a host: RR first."""
    return [row for row in wire.packets(src=address) if row.get("rtcp", [[0]])[0][0] == 201]


def test_ssm(play):
    """Source-specific: another sender on the group does not exist; reports go by unicast."""
    group, source = "232.1.2.3", play.address("sa")
    properties = f"address={group} source-address={source}"
    wire = play.capture("ra")
    other = play.sender("ta", f"address={group} source-address={play.address('ta')}", SMALL)
    sender, receiver = stream(play, "sa", "ra", properties, properties)
    modes = {item["group"]: item["mode"] for item in play.lab.memberships()["ra"]}
    play.check(modes.get(group) == "include", "the membership is source-specific", str(modes))
    time.sleep(1)
    sources = {row["src"] for row in wire.packets(dst=group)}
    play.check(sources == {source}, "nothing else reaches the receiver", str(sources))
    own = {(row["dst"], row["dport"]) for row in reports(wire, play.address("ra"))}
    play.check(own == {(source, 5005)}, "reports go to the source by unicast", str(own))
    measured = lambda: rows(sender)[play.address("ra")]["rtt-measured"]  # noqa: E731
    play.wait(measured, 5, "the RTT is measured")
    play.clean(sender, receiver, other)


def test_ipv6(play):
    """IPv6, any source and source-specific."""
    sender, receiver = stream(play, "sb", "rb", "address=ff15::42", "address=ff15::42")
    known = list(rows(sender))
    play.check(known == [play.address("rb", 6)], "the receiver's address is IPv6", str(known))
    play.clean(sender, receiver)
    sender.stop()
    receiver.stop()
    source = play.address("sb", 6)
    properties = f"address=ff3e::8000:42 port=5010 source-address={source}"
    sender = play.sender("sb", properties, SMALL, name="sb-ssm")
    receiver = play.receiver("rb", properties, name="rb-ssm")
    play.pictures(receiver, 20, 12, "source-specific: there are pictures")
    play.wait(lambda: rows(sender), 6, "source-specific: the sender knows its receiver")
    play.clean(sender, receiver)


def test_interface(play):
    """multicast-iface decides where routes would not, and a wrong one fails with a clear error."""
    group = "address=239.1.4.3"
    node = play.sender("sc", f"{group} multicast-iface=nosuch0", SMALL, name="wrong")
    play.wait(lambda: node.process.poll() is not None, 10, "a wrong interface ends the sender")
    texts = " ".join(line["text"] for line in node.of("error"))
    clear = "multicast-iface" in texts and "nosuch0" in texts
    play.check(clear, "the error names property and value", texts)
    node = play.receiver("rc", f"{group} multicast-iface=nosuch0", name="wrong-receiver")
    play.wait(lambda: node.process.poll() is not None, 10, "a wrong interface ends the receiver")
    texts = " ".join(line["text"] for line in node.of("error"))
    play.check("multicast-iface" in texts, "the receiver's error names it too", texts)
    for host in ("sc", "rc"):
        for route in ("default", "224.0.0.0/4"):
            play.lab.call(host, ["ip", "route", "replace", route, "dev", "lo"])
    both = f"{group} multicast-iface=amc0"
    play.clean(*stream(play, "sc", "rc", both, both))


def test_ttl_dscp(play):
    """ttl-mc bounds how far packets go; receivers' reports take it; DSCP is on the wire."""
    group = "239.1.4.4"
    wire = play.capture("rd")
    node = play.sender("sd", f"address={group} ttl-mc=2", SMALL, name="near")
    receiver = play.receiver("rd", f"address={group}")
    play.wait(lambda: node.stats.get("sent-bitrate", 0) > 10000, 5, "the near sender sends")
    time.sleep(1)
    came = wire.packets(src=play.address("sd"))
    play.check(not came, "ttl-mc=2 does not cross two routers", f"{len(came)} packets")
    node.stop()
    sender = play.sender("sd", f"address={group} ttl-mc=5 qos-dscp=46", SMALL, name="far")
    play.pictures(receiver, 20, 12, "ttl-mc=5 does")
    time.sleep(1.5)
    came = wire.packets(src=play.address("sd"))
    seen = {("rtp" in row, row["ttl"], row["tos"] >> 2) for row in came}
    play.check(seen == {(True, 3, 46), (False, 3, 46)}, "TTL and DSCP of RTP and RTCP", str(seen))
    ttls = [row["ttl"] for row in reports(wire, play.address("rd"))]
    play.check(ttls[-1:] == [5], "reports adopt the announced TTL", str(ttls[-5:]))
    play.clean(sender, receiver)


def test_feedback(play):
    """feedback-address: reports go by unicast, none to the group."""
    wire = play.capture("re")
    address = play.address("se")
    to = f"address=239.1.4.5 feedback-address={address} feedback-port=6001"
    sender, receiver = stream(play, "se", "re", to, "address=239.1.4.5")
    time.sleep(2)
    own = {(row["dst"], row["dport"]) for row in reports(wire, play.address("re"))}
    play.check((address, 6001) in own, "reports go to feedback-address:feedback-port", str(own))
    known = min(row["time"] for row in reports(wire, play.address("re")) if row["dst"] == address)
    late = [row for row in reports(wire, play.address("re")) if row["time"] > known + 0.2]
    there = {row["dst"] for row in late}
    play.check(there == {address}, "and only there once it is known", str(there))
    play.clean(sender, receiver)


def test_two_senders(play):
    """Two senders on one group: the receiver stays with the first and says so once."""
    group = "address=239.1.4.6"
    sender, receiver = stream(play, "sf", "rf", group, group)
    source = receiver.stats["source-ssrc"]
    begin = play.now()
    slow = f"{group} start-bitrate=110000 max-bitrate=110000"
    second = play.sender("tf", slow, SMALL)
    said = lambda: [w["text"] for w in receiver.of("warning") if "nother sender" in w["text"]]  # noqa: E731
    play.wait(said, 8, "it says that there is another sender")
    play.pictures(receiver, 45, 6, "pictures go on")
    play.check(len(said()) == 1, "it says so once", str(said()))
    play.check(receiver.stats["source-ssrc"] == source, "it stays with the first")
    ignored = receiver.stats.get("dropped-other-sender", 0)
    play.check(ignored > 20, "the other's packets are counted", str(ignored))
    announced = min(values(receiver, "announced-bitrate", begin))
    play.check(announced > 120000, "and hears no announcement of the other", f"{announced}")
    begin = play.now()
    sender.stop()
    other = lambda: receiver.stats["source-ssrc"] not in (0, source)  # noqa: E731
    play.wait(other, 5, "when the first ends it follows the second")
    play.pictures(receiver, 30, 6, "and shows its pictures")
    play.check(play.now() - begin < 6, "soon", f"{play.now() - begin:.1f} s")
    chosen = receiver.stats["source-ssrc"]
    third = play.receiver("rf", f"{group} ssrc={chosen}", name="chooser")
    play.pictures(third, 15, 8, "the property ssrc chooses")
    play.clean(receiver, third)
    play.clean(second, attacked=True)  # it heard reports on the other's packets


def test_unicast(play):
    """A plain unicast address works too."""
    address = f"address={play.address('rg')}"
    sender, receiver = stream(play, "sg", "rg", address, address)
    measured = lambda: rows(sender)[play.address("rg")]["rtt-measured"]  # noqa: E731
    play.wait(measured, 5, "the RTT is measured")
    play.clean(sender, receiver)


def test_plain_player(play):
    """ffmpeg with the SDP file plays; it is counted as a receiver and harms nobody."""
    sdp = play.record.directory / "stream.sdp"
    group = "address=239.1.4.8"
    source = f"{group} max-bitrate=300000 sdp-location={sdp}"
    sender, receiver = stream(play, "sh", "rh", source, group)
    play.wait(sdp.exists, 3, "the SDP file is there")
    at = lambda: min(values(sender, "target-bitrate", play.now() - 1), default=0) >= 300000  # noqa: E731
    play.wait(at, 15, "the target reaches max-bitrate", lambda: str(sender.stats)[:300])
    begin = play.now()
    words = "ffmpeg -nostdin -hide_banner -loglevel info -protocol_whitelist file,udp,rtp"
    words = [*words.split(), "-i", sdp, "-frames:v", "75", "-f", "null", "-"]
    player = play.program("ph", "ffmpeg", words)
    gstreamer = play.node("qh", PLAIN.format(group="239.1.4.8"), "rtpbin")
    status = player.ended(20)
    text = player.text()
    frames = [int(count) for count in re.findall(r"frame= *(\d+)", text)]
    play.check(status == 0, "ffmpeg plays", text[-300:])
    play.check(frames[-1:] == [75], "and decodes 5 s of pictures", text[-300:])
    play.pictures(gstreamer, 15, 10, "a plain rtpbin plays")
    plain = lambda: rows(sender).get(play.address("qh"), {}).get("plain")  # noqa: E731
    play.wait(plain, 8, "receiver reports of plain players count", lambda: str(rows(sender)))
    low = min(values(sender, "target-bitrate", begin))
    play.check(low >= 0.9 * 300000, "the target is unharmed", f"{low}")
    play.clean(sender, receiver)


if __name__ == "__main__":
    first = [test_ssm, test_ipv6, test_interface, test_ttl_dscp]
    second = [test_feedback, test_two_senders, test_unicast, test_plain_player]
    sys.exit(harness.main("net", TOPOLOGY, first, second))
