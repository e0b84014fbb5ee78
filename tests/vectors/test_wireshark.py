#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/wireshark/adaptivemulticast.lua in tshark: it reads the golden packets (.hex, see
test_vectors.c) as they say that they are to be read, and says so where one is too short."""

import ipaddress
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPT = ROOT / "docs/wireshark/adaptivemulticast.lua"
PORT = 5005
sys.path[:0] = [str(HERE.parent / "sim" / "tests")]

import tap  # noqa: E402

# A vector's name of a field: ours there, and how many of its units are one of a packet's.
FIELDS = {
    "subtype": [("subtype", 1)],
    "number": [("number", 1)],
    "flags": [("flags", 1)],
    "count": [("count", 1)],
    "rate_bps": [("report.rate", 1)],
    "received_bps": [("report.received", 1)],
    "loss_ratio": [("report.loss", 1)],
    "rtt": [("report.rtt", 1000)],
    "jitter": [("report.jitter", 1000)],
    "queue_delay": [("report.queue_delay", 1000)],
    "packets_lost": [("report.packets_lost", 1)],
    "highest_seq": [("report.highest_seq", 1)],
    "echo": [("report.echo", 1)],
    "hold": [("report.hold", 1000)],
    "ecn": [("report.ecn", 1)],
    "marked": [("report.marked", 1)],
    "potential_bps": [("report.potential", 1)],
    "level": [("report.level", 1)],
    "wanted": [("report.wanted", 1)],
    "layer_flags": [("report.layer_flags", 1)],
    "entry": [("rtt.ssrc", 1), ("rtt.number", 1), ("rtt.rtt", 1000)],
    "send_time": [("session.send_time", 1)],
    "target_bps": [("session.target", 1)],
    "min_bps": [("session.min", 1)],
    "max_bps": [("session.max", 1)],
    "start_bps": [("session.start", 1)],
    "session_bandwidth_bps": [("session.bandwidth", 1)],
    "receivers": [("session.receivers", 1)],
    "limiting_ssrc": [("session.limiting", 1)],
    "rtt_max": [("session.rtt_max", 1000)],
    "suppress_bps": [("session.suppress", 1)],
    "media_ssrc": [("session.media_ssrc", 1)],
    "ttl": [("session.ttl", 1)],
    "payload_type": [("session.payload_type", 1)],
    "send_time_id": [("session.send_time_id", 1)],
    "clock_rate": [("session.clock_rate", 1)],
    "ladder": [("streams.ladder", 1)],
    "streams": [
        ("streams.low", 1),
        ("streams.high", 1),
        ("streams.average", 1),
        ("streams.address_offset", 1),
        ("streams.port_offset", 1),
        ("streams.flags", 1),
        ("streams.ssrc", 1),
    ],
    "stream": [("stream", 1)],
    "set": [("layers.set", 1)],
    "round_interval": [("layers.round_interval", 1_000_000)],
    "round_time": [("layers.round_time", 1)],
    "feedback_interval": [("layers.feedback_interval", 1_000_000)],
    "layer": [
        ("layers.cumulative", 1),
        ("layers.address_offset", 1),
        ("layers.port_offset", 1),
        ("layers.depends", 1),
        ("layers.ssrc", 1),
        ("layers.frame_rate", 1),
    ],
}
STRINGS = {
    "media": "session.media",
    "encoding_name": "session.encoding",
    "parameters": "session.parameters",
}
OTHERS = ["name", "short", "session.family", "session.port", "session.address", "session.address6"]
OTHERS += ["session.round", "streams.round", "layers.round", "session.leave"]
OTHERS += ["index.ssrc", "index.roc", "index.seq"]
NAMES = [name for fields in FIELDS.values() for name, _ in fields] + [*STRINGS.values(), *OTHERS]


class Vector:
    def __init__(self, path):
        self.name = path.stem
        self.expect, self.protocol, self.values, data = "none", "asmp", [], ""
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("= "):
                self.values.append(line[2:].split(" ", 1))
            elif line.startswith("expect: "):
                self.expect = line[len("expect: ") :]
            elif line.startswith("protocol: "):
                self.protocol = line[len("protocol: ") :]
            elif not line.startswith("canonical: "):
                data += line.partition("#")[0]
        self.data = bytes.fromhex(data)


def capture(packets):
    """A file of these RTCP packets, each behind a receiver report without blocks."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 228)  # LINKTYPE_IPV4
    for packet in packets:
        rtcp = struct.pack("!BBHI", 0x80, 201, 1, 1) + packet
        udp = struct.pack("!HHHH", PORT, PORT, 8 + len(rtcp), 0) + rtcp
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 1, 17, 0,
            bytes([192, 0, 2, 1]), bytes([239, 0, 0, 1]))  # fmt: skip
        out += struct.pack("<IIII", 0, 0, 20 + len(udp), 20 + len(udp)) + head + udp
    return out


def read(packets):
    """What tshark shows of each: {name without "amcast.": [values as text]}."""
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(capture(packets))
        file.flush()
        words = ["tshark", "-r", file.name, "-X", f"lua_script:{SCRIPT}"]
        words += ["-d", f"udp.port=={PORT},rtcp", "-T", "fields", "-E", "aggregator=|"]
        for name in NAMES:
            words += ["-e", f"amcast.{name}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "lua" not in done.stderr.lower().replace(str(SCRIPT).lower(), ""), done.stderr
    lines = done.stdout.split("\n")[: len(packets)]
    assert len(lines) == len(packets), done.stdout
    return [
        {
            name: text.split("|") if text else []
            for name, text in zip(NAMES, line.split("\t"), strict=False)
        }
        for line in lines
    ]


def number(text):
    return float(int(text, 0)) if re.fullmatch(r"0x[0-9a-f]+|\d+", text) else float(text)


def same(wanted, unit, shown):
    return abs(number(wanted) / unit - number(shown)) <= 1e-6 * abs(number(shown))


def round_name(protocol, seen):
    if seen["subtype"] == ["3"]:
        return "session.round"
    return {"assp": "streams.round", "elm": "layers.round"}[protocol]


def check_feedback(vector, text, seen):
    kind, *rest = text.split(" ")
    if kind == "none":
        assert seen["session.family"] == ["0"], (vector.name, seen["session.family"])
        return
    assert seen["session.family"] == [kind] and seen["session.port"] == [rest[1]], vector.name
    [shown] = seen["session.address" if kind == "4" else "session.address6"]
    assert ipaddress.ip_address(shown).packed.hex() == rest[0], (vector.name, shown)


def check(vector, seen):
    places = {}
    for name, *rest in vector.values:
        text = rest[0] if rest else ""
        words = text.split(" ")
        if name == "ssrc":
            continue
        if name in STRINGS:
            assert seen[STRINGS[name]] == ([text] if text else []), (vector.name, name, seen)
        elif name == "feedback":
            check_feedback(vector, text, seen)
        elif name == "round":
            assert seen[round_name(vector.protocol, seen)] == [text], (vector.name, name)
        elif name == "potential_bps" and not seen["report.potential"]:
            assert text == "0", vector.name
        else:
            place = 0
            if len(words) > 1:
                name = "streams" if name == "stream" else name
                place, words = int(words[0]), words[1:]
                places[name] = place + 1
            assert len(words) == len(FIELDS[name]), (vector.name, name)
            for (field, unit), word in zip(FIELDS[name], words, strict=False):
                shown = seen[field]
                assert len(shown) > place, f"{vector.name}: no {field}"
                assert same(word, unit, shown[place]), (vector.name, field, word, shown)
    for name, entries in places.items():
        field = FIELDS[name][0][0]
        assert len(seen[field]) == entries, (vector.name, field, seen[field])


def vectors():
    out = [Vector(path) for path in sorted(HERE.glob("*.hex"))]
    assert len(out) >= 40
    return out


def test_good_packets():
    good = [vector for vector in vectors() if vector.expect == "none"]
    for vector, seen in zip(good, read([vector.data for vector in good]), strict=False):
        assert seen["name"] == [vector.data[8:12].decode()], (vector.name, seen["name"])
        assert not seen["short"], vector.name
        check(vector, seen)


def test_too_short():
    short = [
        vector
        for vector in vectors()
        if vector.expect == "malformed" and re.search("truncated|-end|count|only", vector.name)
    ]
    assert len(short) >= 8
    for vector, seen in zip(short, read([vector.data for vector in short]), strict=False):
        assert seen["short"], vector.name


def test_srtp_indices():
    entries = struct.pack("!IIHHIIHH", 0x11111111, 7, 40000, 0, 0x22222222, 0, 3, 0)
    packet = struct.pack("!BBHI4s", 0x82, 204, 8, 1, b"SIDX") + entries
    seen, cut = read([packet, struct.pack("!BB", 0x83, 204) + packet[2:]])
    assert seen["index.ssrc"] == ["0x11111111", "0x22222222"], seen
    assert seen["index.roc"] == ["7", "0"] and seen["index.seq"] == ["40000", "3"], seen
    assert not seen["short"] and cut["short"]


def test_every_flag_has_a_name():
    script = SCRIPT.read_text("utf-8")
    for header, name, prefix in [
        ("mccapp.h", "MCC_REPORT_", "report"),
        ("mccapp.h", "MCC_SESSION_", "session"),
        ("mccasspapp.h", "MCC_ASSP_", "streams"),
        ("mccelmapp.h", "MCC_ELM_", "report"),
    ]:
        text = (ROOT / "gst/core" / header).read_text("utf-8")
        flags = re.findall(rf"#define {name}(\w+)[\s\\]+(0x\w\w)u", text)
        assert flags, header
        for flag, mask in flags:
            field = re.escape(f"{prefix}.") + r"(?:has_)?" + flag.lower()
            assert re.search(rf'flag \("{field}", "[^"]+", {mask}\)', script), (name, flag, mask)


def test_fields_of_the_documents():
    """tshark refuses a command with a field that it does not know."""
    text = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    fields = re.findall(r" -[eY] ([a-z.0-9_]+)", text)
    assert len(fields) >= 8, fields
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(capture([]))
        file.flush()
        words = ["tshark", "-r", file.name, "-X", f"lua_script:{SCRIPT}", "-T", "fields"]
        for field in fields:
            words += ["-e", field]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
