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

# A vector's name of a field, or of the entries of a list: ours.
FIELDS = {
    "subtype": "subtype",
    "number": "number",
    "flags": "flags",
    "count": "count",
    "stream": "stream",
    "rate_bps": "report.rate",
    "received_bps": "report.received",
    "loss_ratio": "report.loss",
    "rtt": "report.rtt",
    "jitter": "report.jitter",
    "queue_delay": "report.queue_delay",
    "packets_lost": "report.packets_lost",
    "highest_seq": "report.highest_seq",
    "echo": "report.echo",
    "hold": "report.hold",
    "ecn": "report.ecn",
    "marked": "report.marked",
    "potential_bps": "report.potential",
    "level": "report.level",
    "wanted": "report.wanted",
    "layer_flags": "report.layer_flags",
    "more_flags": "report.more_flags",
    "entry": "rtt.ssrc rtt.number rtt.rtt",
    "send_time": "session.send_time",
    "target_bps": "session.target",
    "min_bps": "session.min",
    "max_bps": "session.max",
    "start_bps": "session.start",
    "session_bandwidth_bps": "session.bandwidth",
    "receivers": "session.receivers",
    "limiting_ssrc": "session.limiting",
    "rtt_max": "session.rtt_max",
    "suppress_bps": "session.suppress",
    "media_ssrc": "session.media_ssrc",
    "ttl": "session.ttl",
    "payload_type": "session.payload_type",
    "send_time_id": "session.send_time_id",
    "clock_rate": "session.clock_rate",
    "ladder": "streams.ladder",
    "streams": "streams.low streams.high streams.average streams.address_offset "
    "streams.port_offset streams.flags streams.ssrc",
    "set": "layers.set",
    "round_interval": "layers.round_interval",
    "round_time": "layers.round_time",
    "feedback_interval": "layers.feedback_interval",
    "layer": "layers.cumulative layers.address_offset layers.port_offset layers.depends "
    "layers.ssrc layers.frame_rate",
}
FIELDS = {name: fields.split() for name, fields in FIELDS.items()}
# Vectors have ns.
UNITS = dict.fromkeys(["report.rtt", "report.jitter", "report.queue_delay", "report.hold"], 1000)
UNITS |= dict.fromkeys(["rtt.rtt", "session.rtt_max"], 1000)
UNITS |= dict.fromkeys(["layers.round_interval", "layers.feedback_interval"], 1_000_000)
STRINGS = {
    "media": "session.media",
    "encoding_name": "session.encoding",
    "parameters": "session.parameters",
}
OTHERS = ["name", "short", "session.family", "session.port", "session.address", "session.address6"]
OTHERS += ["session.round", "streams.round", "layers.round"]
OTHERS += ["index.ssrc", "index.roc", "index.seq"]
NAMES = [*sum(FIELDS.values(), []), *STRINGS.values(), *OTHERS]


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
            for name, text in zip(NAMES, line.split("\t"), strict=True)
        }
        for line in lines
    ]


def number(text):
    return float(int(text, 0)) if re.fullmatch(r"0x[0-9a-f]+|\d+", text) else float(text)


def same(wanted, field, shown):
    value = number(wanted) / UNITS.get(field, 1)
    return abs(value - number(shown)) <= 1e-6 * abs(number(shown))


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
            for field, word in zip(FIELDS[name], words, strict=True):
                shown = seen[field]
                assert len(shown) > place, f"{vector.name}: no {field}"
                assert same(word, field, shown[place]), (vector.name, field, word, shown)
    for name, entries in places.items():
        field = FIELDS[name][0]
        assert len(seen[field]) == entries, (vector.name, field, seen[field])


def vectors():
    out = [Vector(path) for path in sorted(HERE.glob("*.hex"))]
    assert len(out) >= 40
    return out


def test_good_packets():
    good = [vector for vector in vectors() if vector.expect == "none"]
    for vector, seen in zip(good, read([vector.data for vector in good]), strict=True):
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
    for vector, seen in zip(short, read([vector.data for vector in short]), strict=True):
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
