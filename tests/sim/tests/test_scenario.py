#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenario files: what is good, what is wrong and where, and what mccsim gets."""

import json
import random
import re
import sys
import tempfile

import tap
import yaml
from lab import cli, normal, scenario, sections, units
from lab.document import Errors

GOOD = (tap.HERE / "rich.yaml").read_text(encoding="utf-8")
FILES = sorted((tap.HERE.parent / "scenarios").glob("*.yaml"))
SEED = random.randrange(10**6)
PROSE = {"title", "source", "chosen", "differs", "figure"}  # any text will do


def load(text):
    """The scenario of @text, or the list of (line, message)."""
    with tempfile.NamedTemporaryFile("wb", suffix=".yaml") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
        file.flush()
        try:
            return scenario.load(file.name)
        except Errors as errors:
            prefix = re.escape(file.name)
            for line in str(errors).splitlines():
                assert re.match(rf"{prefix}:[0-9]+: \S", line), line
            return sorted(errors.found)


def normalise_all(loaded):
    """Every variant, whole and short, is JSON without NaN."""
    for variant in loaded.data["variants"]:
        for duration in (None, 5.0):
            given = normal.normalise(loaded, variant["id"], 1, duration)
            json.dumps(given, allow_nan=False)


def edit(old, new):
    """(GOOD with one place changed, the line of that place)."""
    assert GOOD.count(old) == 1, (old, GOOD.count(old))
    return GOOD.replace(old, new), GOOD[: GOOD.index(old)].count("\n") + 1


def test_the_rich_file_is_good():
    loaded = load(GOOD)
    assert not isinstance(loaded, list), loaded
    normalise_all(loaded)


def test_all_scenarios_are_good():
    assert len(FILES) >= 10, "no scenarios found"
    for path in FILES:
        loaded = load(path.read_text(encoding="utf-8"))
        assert not isinstance(loaded, list), f"{path.name}: {loaded}"
        assert loaded.id == path.stem, f"{path.name} has the id {loaded.id}"
        normalise_all(loaded)


# (what is changed, into what, what the message says, line below that of the change)
WRONG = [
    ("duration: 120 s\n", "duration: 120\n", "has no unit", 0),
    ("duration: 120 s\n", "duration: 120 kb/s\n", "has the unit 'kb/s'", 0),
    ("duration: 120 s\n", "duration: 0 s\n", "out of range", 0),
    ("duration: 120 s\n", "duration:\n", "a value is missing", 0),
    ("duration: 120 s\n", "duration: [1 s, 2 s]\n", "a list stands here", 0),
    ("duration: 120 s\n", "duration: 1e400 s\n", "too large", 0),
    ("duration: 120 s\n", "duraton: 120 s\n", "did you mean 'duration'?", 0),
    ("seeds: 3\n", "seeds: 3.5\n", "a whole number from 1 to 1000", 0),
    ("seeds: 3\n", "seeds: 3\nseeds: 4\n", "stands here twice", 1),
    ("  - tfmcc\n", "  - tfmc\n", "did you mean 'tfmcc'?", 0),
    ("  - tfmcc\n", "  - enhanced\n", "the variant 'enhanced' exists already", 0),
    ("options: {report_interval: rtcp", "options: {fps: rtcp", "'fps' is unknown in options", 0),
    ("smoke: {duration: 40 s", "smoke: {duration: 400 s", "is after the end", 0),
    ("variants: [enhanced]}\nnetwork", "variants: [x]}\nnetwork", "no variant is called 'x'", 0),
    (
        "delay: [0.5 ms, 3 ms]}\nlinks",
        "delay: [3 ms, 0.5 ms]}\nlinks",
        "lower bound comes first",
        0,
    ),
    ("  - id: l2\n", "  - id: l1\n", "the link 'l1' exists already (line 21)", 0),
    ("    to: c\n", "    to: b\n", "closes a loop", -2),
    ("from: c, to: d", "from: x, to: d", "the links form 2 trees", -16),
    ("size: 50 packets}\n    loss", "size: 50}\n    loss", "'50 packets', '60 kB' or '1 bdp'", 0),
    (", bdp_rtt: 60 ms}", "}", "'bdp' needs 'bdp_rtt'", 0),
    ("min: 0.2 bdp", "min: 20 packets", "size, min and max are all in packets", 0),
    ("min: 0.2 bdp", "min: 1.2 bdp", "min <= max <= size", 0),
    ("max_p: 0.1", "max_p: 1.1", "a probability", 0),
    ("gentle: true", "gentle: yes", "true or false", 0),
    ("{type: bernoulli, ratio: 1 %}", "{type: bernoulli, ratio: 0.01}", "has no unit", 0),
    ("{type: bernoulli, ratio: 1 %}", "{type: bernoulli}", "lacks 'ratio'", 0),
    ("{type: bernoulli, ratio: 1 %}", "{ratio: 1 %}", "lacks 'type'", 0),
    ("{type: codel, size: 100", "{type: pie, size: 100", "'pie' is unknown", 0),
    (
        "    start: 0 s\n    stop: 100 s",
        "    start: 101 s\n    stop: 100 s",
        "later than 'start'",
        1,
    ),
    ("[[105 s, 110 s]]", "[[99 s, 110 s]]", "must begin after the 'stop' at 100 s", 0),
    ("[[105 s, 110 s]]", "[[105 s, 130 s]]", "is after the end", 0),
    ("[[105 s, 110 s]]", "[[110 s, 105 s]]", "second value must be larger", 0),
    ("start_rate: 150 kb/s", "start_rate: 15 kb/s", "min_rate <= start_rate", -6),
    *(
        ("    max_rate: 20 Mb/s\n", f"    max_rate: 20 Mb/s\n    streams: {text}\n", says, 1)
        for text, says in (
            ("[300 kb/s - 2 Mb/s, 1 Mb/s - 3 Mb/s]", "in order and do not overlap"),
            ("[2 Mb/s - 3 Mb/s, 300 kb/s - 1 Mb/s]", "in order and do not overlap"),
            ("[2 Mb/s - 300 kb/s]", "the lower bound comes first"),
            ("[2 Mb/s]", "is not the bounds of a stream"),
            ("[2 - 3 Mb/s]", "has no unit"),
            ("[0 kb/s - 3 Mb/s]", "more than 0"),
            ("[]", "at least 1"),
            (str([f"{i} Mb/s - {i + 1} Mb/s" for i in range(1, 10)]), "at most 8 streams"),
        )
    ),
    *(
        ("    max_rate: 20 Mb/s\n", f"    max_rate: 20 Mb/s\n    layers: {text}\n", says, 1)
        for text, says in (
            ("[256 kb/s, 128 kb/s]", "are cumulative and must rise"),
            ("[128 kb/s, 128 kb/s]", "are cumulative and must rise"),
            ("[128]", "has no unit"),
            ("[0 kb/s, 1 Mb/s]", "more than 0"),
            ("[]", "at least 1"),
            (
                "[128 kb/s, 256 kb/s]",
                "has no layers; published, enhanced, rlc, asmp, elm, tcp are allowed",
            ),
            (str([f"{i} Mb/s" for i in range(1, 9)]), "at most 7 layers"),
            (
                "[128 kb/s]\n    streams: [300 kb/s - 2 Mb/s]\n    protocol: enhanced",
                "'streams' or 'layers', not both",
            ),
        )
    ),
    ("at: b, join: 0 s", "at: x, join: 0 s", "no router is called 'x'", 0),
    ("join: 0 s, leave: 50 s", "join: 50 s, leave: 50 s", "'leave' must be later than 'join'", 0),
    ("join: 0 s, leave: 50 s", "join: 0 s", "'again' needs a 'leave'", 0),
    ("crash: 60 s, loss", "leave: 70 s, crash: 60 s, loss", "not both", 0),
    ("join_spread: 5 s", "join_spread: 50 s", "some would join after 60 s", 0),
    ("{id: r3, at: c", "{id: r2-2, at: c", "the receiver 'r2-2' exists already", 0),
    ("queue: 50 packets, loss", "queue: 1 bdp, loss", "packets or bytes are allowed", 0),
    ("  - id: u1\n", "  - id: tcp-l1-4\n", "the flow 'tcp-l1-4' exists already", 0),
    ("congestion: cubic", "congestion: vegas", "allowed: reno, newreno", 0),
    ("segment: 1000 B\n", "segment: 20 B\n", "at least 64", 0),
    ("shape: 1.5", "shape: 0.9", "more than 1", 0),
    ("{at: 60 s, link: l1, delay: 50 ms}", "{at: 60 s, link: l1}", "a change changes", 0),
    ("{at: 60 s, link: l1, delay: 50 ms}", "{at: 60 s, link: l9, delay: 1 s}", "no link is", 0),
    ("rate: 300 kb/s, ramp: 10 s", "rate: 300 kb/s, ramp: 100 s", "is after the end", 0),
    ("    what: share\n", "    what: shar\n", "did you mean 'share'?", 0),
    ("    flow: m1\n    receiver: r1\n", "    flow: tcp-l1\n    receiver: r1\n", "no multicast", 1),
    (
        "    flow: m1\n    receiver: r1\n",
        "    flow: m\n    receiver: r1\n",
        "no flow is called 'm'",
        0,
    ),
    ("    receiver: r1\n    fair", "    receiver: r9\n    fair", "no receiver of 'm1'", 0),
    ("    from: 30 s\n    to: 120 s\n", "    from: 30 s\n    to: 20 s\n", "later than 'from'", 1),
    ("    from: 30 s\n    to: 120 s\n", "    from: 30 s\n    to: 121 s\n", "after the end", 1),
    ("    fair: 590.9 kb/s\n", "", "lacks 'fair'", -4),
    ("published: 83.05 %", "publish: 83.05 %", "no variant is called 'publish'", 0),
    ("published: 83.05 %", "published: 83.05", "has no unit", 0),
    ("published: [60 %, 100 %]", "published: [100 %, 60 %]", "second value must be larger", 0),
    ("published: [60 %, 100 %]", "published: 60 %", "a pair is allowed", 0),
    ('goal: "95 % .. 105 %"', 'goal: "about 95 %"', "is no goal", 0),
    ('goal: "95 % .. 105 %"', 'goal: ">= 95 %, in each"', "'in each' behind a goal", 0),
    ("0.5 x tfmcc", "0.5 x tfmc", "no variant or measure is called 'tfmc'", 0),
    ("measure: cov, variant", "measure: smooth, variant", "refers to itself", 0),
    ("measure: cov, variant", "measure: covv, variant", "did you mean 'cov'?", 0),
    ("m1/r1]", "m1/r9]", "no receiver of 'm1' is called 'r9'", 0),
    ("tcp-l1-3}", "tcp-l1-30}", "no flow is called 'tcp-l1-30'", 0),
    ("events: [50 s, 70 s]", "events: [50 s, 170 s]", "is after the end", 0),
    ("link: l1, stat: p99", "link: l1, stat: p98", "'p98' is unknown", 0),
    ("trace: news", "trace: new", "did you mean 'news'?", 0),
    ("{what: queue, links: [l1]", "{what: queue, flows: [m1]", "needs 'links'", 0),
    ("    type: udp\n", "    type: sctp\n", "'sctp' is unknown", 0),
    ("id: rich\n", "id: a b\n", "is not a name", 0),
    ("id: rich\n", "", "lacks 'id'", 0),
    ("id: rich\n", "id: 'rich\n", "is not YAML", None),
    ("id: rich\n", "id: \x07rich\n", "is not YAML", 0),
    ("id: rich\n", "id: *rich\n", "is not YAML", 0),
    ("id: rich\n", "id: rich\n? [a]\n: b\n", "a key must be a word", 1),
    ("seeds: 3\n", "seeds: &x [*x]\n", "contains itself", 0),
]


def test_each_mistake_is_told_with_its_line():
    for old, new, message, below in WRONG:
        text, line = edit(old, new)
        found = load(text)
        assert isinstance(found, list), f"{new!r} is accepted"
        right = [what for at, what in found if below is None or at == line + below]
        assert any(message in what for what in right), f"{new!r} (line {line}): {found}"


def test_an_error_names_what_is_allowed():
    for old, new in (("congestion: cubic", "congestion: x"), ("feedback: unicast", "feedback: x")):
        (_, what), *rest = load(edit(old, new)[0])
        assert not rest and "allowed:" in what, what


def test_several_errors_at_once():
    text, first = edit("seeds: 3\n", "seeds: many\n")
    text = text.replace("rate: 11 Mb/s", "rate: 11 Mbps").replace("what: dent", "what: bump")
    lines = [line for line, _ in load(text)]
    assert lines == sorted(lines) and len(lines) == 3 and lines[0] == first, lines


def test_unreadable_files():
    assert "not UTF-8" in load(b"id: a\ntitle: \xff\n")[0][1]
    assert load(b"id: a\ntitle: \xff\n")[0][0] == 2
    assert "is empty" in load("")[0][1]
    assert "is empty" in load("# nothing\n")[0][1]
    assert "a mapping of" in load("- a\n- b\n")[0][1]
    assert "not YAML" in load("id: a\n---\nid: b\n")[0][1]
    assert "not YAML" in load('id: "\\UFFFFFFFF"\n')[0][1]
    assert "nested" in load("a: " + "[" * 3000)[0][1]
    assert "nested" in load("a:\n" + "- " * 40_000)[0][1]  # libyaml would run out of its stack
    bombs = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for name, old in zip("bcdefgh", "abcdefg", strict=True):
        bombs += f"{name}: &{name} [{', '.join(['*' + old] * 9)}]\n"
    assert "grows without end" in load(bombs)[0][1]
    try:
        scenario.load("/nonexistent.yaml")
    except Errors as errors:
        assert str(errors) == "/nonexistent.yaml:1: cannot be read: No such file or directory"


# Places of a file that can be changed: scalars that are values, and keys.
def places(text):
    values, keys = [], []

    def walk(node, path):
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                keys.append((key, (*path, key.value)))
                walk(value, (*path, key.value))
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                walk(item, path)
        elif node.start_mark.line == node.end_mark.line:
            values.append((node, path))

    walk(yaml.compose(text), ())
    return values, keys


def replaced(text, node, new):
    return text[: node.start_mark.index] + new + text[node.end_mark.index :]


def test_a_wrong_value_anywhere_is_told_at_its_line():
    rng = random.Random(SEED)
    for node, path in places(GOOD)[0]:
        if path[-1] in PROSE or path[-2:-1] == ("differs",):
            continue
        junk = rng.choice(["12 parsecs", "''", "{a: b}", "[1, 2, 3]"])
        found = load(replaced(GOOD, node, junk))
        line = node.start_mark.line + 1
        assert isinstance(found, list), f"{path} = {junk} in line {line} is accepted"
        assert line in [at for at, _ in found], f"{path}, line {line}: {found}"


def test_a_wrong_key_anywhere_is_told_at_its_line():
    for node, path in places(GOOD)[1]:
        found = load(replaced(GOOD, node, node.value + "x"))
        line = node.start_mark.line + 1
        assert isinstance(found, list), f"{path} in line {line} is accepted"
        assert line in [at for at, _ in found], f"{path}, line {line}: {found}"


def mutant(rng, text):
    """@text with one to three random changes."""
    junk = ["-1 s", "0", "1e9 Mb/s", "~", "[]", "{}", "- x", "'", '"', "*a", "&a", "\t", "%", ":"]
    junk += ["nan", "inf s", "1_000 s", "０ s", "999999999999 s", "0x10", "null", "!!binary x"]
    for _ in range(rng.randint(1, 3)):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif kind == 2:
            lines[at] = " " * rng.randint(0, 6) + lines[at].lstrip()
        elif kind == 3:
            where = rng.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:where] + rng.choice(junk) + lines[at][where:]
        elif kind == 4:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 5:
            lines[at] = re.sub(r"[0-9]+", lambda _: str(rng.randint(0, 10**9)), lines[at], count=1)
        elif kind == 6:
            lines[at] = re.sub(r": .*", ": " + rng.choice(junk), lines[at])
        else:
            lines = lines[: at + 1]
        text = "\n".join(lines) or "x"
    return text


def test_mutants_are_accepted_or_told_never_a_traceback():
    rng = random.Random(SEED)
    accepted = 0
    texts = [GOOD, *(path.read_text(encoding="utf-8") for path in FILES)]
    for number in range(150):
        text = mutant(rng, rng.choice(texts))
        try:
            found = load(text)
            if isinstance(found, list):
                most = text.count("\n") + 1
                assert found and all(1 <= line <= most for line, _ in found), found
            else:
                accepted += 1
                normalise_all(found)
        except Exception:
            print(f"# seed {SEED}, mutant {number}:\n# " + text.replace("\n", "\n# "))
            raise
    assert 0 < accepted < 140, accepted


def test_units():
    table = [
        ("25 ms", "time", 0.025),
        ("2 min", "time", 120.0),
        ("1.5e2 s", "time", 150.0),
        ("590.9 kb/s", "rate", 590900.0),
        ("6.5Mb/s", "rate", 6.5e6),
        ("1 kB", "size", 1000.0),
        ("83.05 %", "ratio", 0.8305),
        (".5", "number", 0.5),
    ]
    for text, dimension, value in table:
        assert units.parse(text, dimension) == value, (text, units.parse(text, dimension))
    for text in ("1 S", "s", "1", "1 s s", "--1 s", "1,5 s", "١ s", "1e s"):
        try:
            units.parse(text, "time")
        except units.UnitError:
            continue
        raise AssertionError(f"{text!r} is accepted")
    shown = [(0.0123, "time", "12.3 ms"), (12.34, "time", "12.3 s"), (1234567, "rate", "1.23 Mb/s")]
    shown += [
        (0.8361, "ratio", "83.6 %"),
        (0, "ratio", "0 %"),
        (1e-5, "number", "0"),
        (0.00123, "number", "0.0012"),
    ]
    shown += [(123456, "number", "123456"), (0.5, "number", "0.500"), (590900, "rate", "591 kb/s")]
    for value, dimension, text in shown:
        assert units.show(value, dimension) == text, (units.show(value, dimension), text)
    assert units.given(0.5, "ratio") == "50 %" and units.given(1432.5, "rate") == "1.433 kb/s"


def given(variant, duration=None):
    return normal.normalise(load(GOOD), variant, 7, duration)


def test_normalised_values():
    out = given("enhanced")
    assert out["variant"] == "enhanced" and out["seed"] == 7 and out["duration"] == 120
    l1, l2, l3 = out["links"]
    assert (
        l1["rate"] == 6_500_000 and l1["delay"] == 0.025 and l1["queue"]["size"] == {"packets": 50}
    )
    assert l1["loss"] == {"type": "bernoulli", "ratio": 0.01}
    assert l1["reverse"]["rate"] == 1_000_000
    assert l1["reverse"]["queue"] == {"type": "droptail", "size": {"bytes": 60000}}
    # 11 Mb/s x 60 ms = 82500 bytes.
    assert l2["queue"]["size"] == {"bytes": 165000} and l2["queue"]["min"] == {"bytes": 16500}
    assert "bdp_rtt" not in l2["queue"] and "rate" not in l2["reverse"]
    assert l2["reverse"]["queue"] == {"type": "droptail", "size": {"packets": 1000}}
    assert l3["loss"] is None and l3["reverse"]["loss"] is None
    ids = [flow["id"] for flow in out["flows"]]
    assert ids == ["m1", *(f"tcp-l1-{i}" for i in range(1, 11)), "u1"], ids
    assert {flow["group"] for flow in out["flows"]} == {"m1", "tcp-l1", "u1"}
    m1 = out["flows"][0]
    assert [r["id"] for r in m1["receivers"]] == ["r1", "r2-1", "r2-2", "r2-3", "r3"]
    r1, r2, r3 = m1["receivers"][0], m1["receivers"][1], m1["receivers"][4]
    assert r2["join"] == [10, 15] and r2["group"] == "r2" and "count" not in r2
    assert r2["access"] == {
        "rate": 100_000_000,
        "delay": [0.0005, 0.003],
        "loss": {"type": "bernoulli", "ratio": 0.001},
    }
    assert r3["access"]["rate"] == 1_000_000 and r3["access"]["queue"] == {"packets": 50}
    assert r1["access"]["loss"] is None and r1["again"] == [[60, 70], [80, 90]]
    assert m1["access"]["delay"] == 0.001 and m1["access"]["rate"] == 100_000_000
    assert out["flows"][1]["start"] == [0, 5]
    for key in ("measures", "plots", "title", "variants", "smoke"):
        assert key not in out, key


def test_options_go_to_the_protocols_that_have_them():
    def options(variant):
        return given(variant)["flows"][0]["options"]

    assert options("published")["report_interval"] == 1.0
    assert options("published-rtcp")["report_interval"] == "rfc3550"
    assert options("published-rtcp")["smoothing"] is False
    assert given("published-rtcp")["variant"] == "published"
    assert "report_interval" not in options("enhanced") and options("enhanced")["history"] == 32
    assert options("tfmcc") == {}


def test_clocks_default():
    plain = GOOD.replace("clocks: random\n", "")
    loaded = load(plain)
    clocks = {v: normal.normalise(loaded, v, 1)["clocks"] for v in ("published", "enhanced", "tcp")}
    assert clocks == {"published": "synchronised", "enhanced": "random", "tcp": "random"}, clocks
    assert given("published")["clocks"] == "random"


def test_the_control_is_one_tcp_flow_to_the_first_receiver():
    out = given("tcp")
    m1 = out["flows"][0]
    assert m1["type"] == "tcp" and m1["id"] == "m1" and m1["to"] == "b" and "receivers" not in m1
    assert m1["congestion"] == "cubic" and m1["segment"] == 1000 and m1["stop"] == 100
    assert out["variant"] == "tcp"
    late = load(
        edit("at: b, join: 0 s", "at: b, join: 20 s")[0].replace("stop: 100 s", "stop: 90 s")
    )
    m1 = normal.normalise(late, "tcp", 1)["flows"][0]
    assert m1["start"] == 20 and m1["stop"] == 90, m1
    loaded = load(GOOD)
    assert normal.stands_for(loaded, loaded.variant("tcp")) == {"m1": {"r1"}}
    assert normal.stands_for(loaded, loaded.variant("enhanced")) == {}


LAYERS = """
id: layers
title: Layers, and a flow that has its protocol
duration: 60 s
variants: [published, {id: naive, protocol: published, options: {strategy: naive}}, rlc, tcp]
links: [{id: l, from: a, to: b, rate: 1 Mb/s, delay: 10 ms}]
flows:
  - {id: m, type: multicast, from: a, layers: [128 kb/s, 256 kb/s], receivers: [{id: r, at: b}]}
  - id: n
    type: multicast
    from: a
    protocol: rlc
    layers: [1 Mb/s]
    options: {deaf: 1 s}
    receivers: [{id: r, at: b}]
"""


def test_layers():
    loaded = load(LAYERS)
    assert not isinstance(loaded, list), loaded
    m, n = normal.normalise(loaded, "naive", 1)["flows"]
    assert m["layers"] == [128_000, 256_000] and m["options"] == {"strategy": "naive"}
    assert n["protocol"] == "rlc" and n["options"] == {"deaf": 1.0}
    # What has a protocol of its own is there beside the control, too.
    flows = normal.normalise(loaded, "tcp", 1)["flows"]
    assert [(flow["id"], flow["type"]) for flow in flows] == [("m-r", "tcp"), ("n", "multicast")]
    assert normal.stands_for(loaded, loaded.variant("tcp")) == {"m-r": {"r"}}
    # Layers are for those who have them, and the other way round.
    found = load(LAYERS.replace("protocol: rlc", "protocol: tfmcc"))
    assert any("'tfmcc' has no layers" in message for _, message in found), found
    found = load(LAYERS.replace("    layers: [1 Mb/s]\n", ""))
    assert any("'rlc' needs 'layers'" in message for _, message in found), found
    # Pictures are of layers, and layers have no trace.
    layers = "layers: [128 kb/s, 256 kb/s]"
    pictures = "source: {type: pictures, paced: layers}"
    flow = normal.normalise(load(LAYERS.replace(layers, f"{layers}, {pictures}")), "naive", 1)
    assert flow["flows"][0]["source"] == {"type": "pictures", "fps": 25.0, "paced": "layers"}
    found = load(LAYERS.replace(layers, pictures))
    assert any("'pictures' are of layers" in message for _, message in found), found
    found = load(LAYERS.replace(layers, f"{layers}, source: {{type: video, trace: news}}"))
    assert any("have a 'cbr' or a 'pictures' source" in message for _, message in found), found


FORMS = """
id: forms
title: One flow that every protocol can send
duration: 60 s
variants: [asmp, assp, elm, tfmcc, smcc, rlc, tcp]
links: [{id: l, from: a, to: b, rate: 1 Mb/s, delay: 10 ms}]
flows:
  - id: m
    type: multicast
    from: a
    streams: [300 kb/s - 2 Mb/s]
    layers: [128 kb/s]
    options: {max_streams: 2}
    receivers: [{id: r, at: b}]
"""


def test_forms():
    """Each protocol sends what is its own of streams and layers."""
    loaded = load(FORMS)
    assert not isinstance(loaded, list), loaded
    sent = {
        "asmp": ("enhanced", False, False),
        "assp": ("enhanced", True, False),
        "elm": ("enhanced", False, True),
        "tfmcc": ("tfmcc", False, False),
        "smcc": ("smcc", True, False),
        "rlc": ("rlc", False, True),
    }
    for name, (machine, streams, layers) in sent.items():
        out = normal.normalise(loaded, name, 1)
        m = out["flows"][0]
        assert (out["variant"], bool(m["streams"]), bool(m["layers"])) == (machine, streams, layers)
        assert ("max_streams" in m["options"]) == (machine == "enhanced"), name
    assert [flow["type"] for flow in normal.normalise(loaded, "tcp", 1)["flows"]] == ["tcp"]
    found = load(FORMS.replace("asmp, assp", "enhanced, assp"))
    assert any("asmp, assp and elm say which" in message for _, message in found), found
    found = load(FORMS.replace("    layers: [128 kb/s]\n", ""))
    assert any("'elm' needs 'layers'" in message for _, message in found), found
    found = load(FORMS.replace("    streams: [300 kb/s - 2 Mb/s]\n", ""))
    assert any("'assp' needs 'streams'" in message for _, message in found), found


def test_a_simulcast():
    text = edit("    max_rate: 20 Mb/s\n", "    streams: [300 kb/s - 2 Mb/s, 2 Mb/s - 5 Mb/s]\n")[0]
    loaded = load(text)
    m1 = normal.normalise(loaded, "enhanced", 1)["flows"][0]
    assert m1["streams"] == [[300_000, 2_000_000], [2_000_000, 5_000_000]]
    assert given("enhanced")["flows"][0]["streams"] == []
    # Its control: a flow to the first receiver of each entry.
    flows = normal.normalise(loaded, "tcp", 1)["flows"][:3]
    assert [flow["id"] for flow in flows] == ["m1-r1", "m1-r2", "m1-r3"]
    assert [flow["to"] for flow in flows] == ["b", "d", "c"]
    assert {flow["group"] for flow in flows} == {"m1"}
    known = normal.stands_for(loaded, loaded.variant("tcp"))
    assert known["m1-r2"] == {"r2", "r2-1", "r2-2", "r2-3"} and known["m1-r1"] == {"r1"}
    assert "packets" not in normal.normalise(loaded, "enhanced", 1)
    loaded.packets = ["m1/r1"]
    assert normal.normalise(loaded, "enhanced", 1)["packets"] == ["m1/r1"]


def test_a_short_run_ends_early():
    out = given("enhanced", 65.0)
    assert out["duration"] == 65 and [c["at"] for c in out["changes"]] == [50, 60]
    assert "u1" not in [flow["id"] for flow in out["flows"]]
    assert out["flows"][0]["receivers"][0]["again"] == [[60, 70]]
    assert "stop" not in out["flows"][0] and out["flows"][0]["again"] == []


def test_same_input_same_json_whatever_the_order_of_keys():
    swapped = GOOD.replace(
        "    from: a\n    to: b\n    rate: 6.5 Mb/s\n",
        "    rate: 6.5 Mb/s\n    to: b\n    from: a\n",
    )
    assert swapped != GOOD
    one, two = (normal.normalise(load(text), "enhanced", 1) for text in (GOOD, swapped))
    assert json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


def test_arguments_of_measures_in_short_runs():
    loaded = load(GOOD)
    by_id = {entry["id"]: entry for entry in loaded.data["measures"]}

    def arguments(name, duration, smoke=False):
        return normal.arguments(loaded, by_id[name], duration, smoke)

    assert arguments("share", 120.0)[0]["to"] == 120 and arguments("share", 120.0)[1]
    cut, whole = arguments("share", 60.0)
    assert cut["to"] == 60 and not whole
    assert arguments("share", 30.0) == (None, False)
    own, whole = arguments("share", 40.0, smoke=True)
    assert (own["from"], own["to"], whole) == (20, 40, True)
    assert arguments("dent", 59.0) == (None, False) and arguments("dent", 60.0)[1]
    assert arguments("fall", 120.0)[0]["event"] == 50


def test_the_light_network():
    text = """
id: star
title: A star
duration: 10 s
variants: [enhanced]
network: light
flows:
  - {id: m1, type: multicast, from: a, receivers: [{id: r, at: b, count: 1000}]}
"""
    loaded = load(text)
    assert not isinstance(loaded, list), loaded
    out = normal.normalise(loaded, "enhanced", 1)
    assert len(out["flows"][0]["receivers"]) == 1000 and out["links"] == []
    wrong = text + "  - {id: t, type: tcp, from: a, to: b}\n"
    assert "no cross traffic" in load(wrong)[0][1]
    wrong = text + "links: [{id: l, from: a, to: b, rate: 1 Mb/s, delay: 1 ms}]\n"
    assert "has no links" in load(wrong)[0][1]


def changed(*settings):
    """The normalised rich file with @settings, or why it cannot have them."""
    try:
        return normal.normalise(cli.load([tap.HERE / "rich.yaml"], settings)[0], "enhanced", 1)
    except cli.Usage as error:
        return str(error)


def test_settings_stand_in_for_what_the_file_says():
    """A figure of a page with other delays must be had without another file."""
    plain = changed()
    ids = [link["id"] for link in plain["links"]]
    out = changed((f"links/{ids[0]}/delay", "7 ms"))
    assert [link["delay"] for link in out["links"]][0] == 0.007
    assert out["links"][1:] == plain["links"][1:]
    out = changed(("links/*/queue", "{type: droptail, size: 9 packets}"))
    assert {link["queue"]["size"]["packets"] for link in out["links"]} == {9}, out["links"]
    assert changed(("duration", "8 s"), ("access/jitter", "2 ms")) != plain


def test_settings_without_a_place_or_sense_are_told():
    assert "there is no 'links/nowhere'; " in changed(("links/nowhere/delay", "7 ms"))
    assert "there is no 'nets'" in changed(("nets/l1/delay", "7 ms"))
    assert "a key of it is needed" in changed(("links/*", "7 ms"))
    assert "is no value for" in changed(("access/jitter", "[1 ms"))
    assert "'7 apples'" in changed(("access/jitter", "7 apples"))
    assert "'colour' is unknown" in changed(("access/colour", "red"))


def test_the_readme_lists_every_kind_of_measure_and_protocol():
    readme = (tap.HERE.parent / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index("## Measures") : readme.index("## A normalised scenario")]
    names = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"^\| ([a-z_, ]+) \|", table, re.M))))
    assert names - {"what"} == set(sections.MEASURES.sections), names ^ set(
        sections.MEASURES.sections
    )
    for protocol in sections.WORDS:
        assert protocol in readme, protocol


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules["__main__"]))
