#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/summary.py reads the lists of older and of newer mesons."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "sim" / "tests")]

import summary  # noqa: E402
import tap  # noqa: E402


def test_labels():
    for label, short in (
        ("adaptivemulticast:core / seq", "core/seq"),
        ("adaptivemulticast:core+long / asmpgroup", "core+long/asmpgroup"),
        ("core - adaptivemulticast:seq", "core/seq"),
        ("core+long - adaptivemulticast:asmpgroup", "core+long/asmpgroup"),
    ):
        assert summary.LABEL.match(label), label
        assert summary.short(label) == short, label


def test_what_is_no_label():
    for line in ("ninja: Entering directory `/work - old/_build'", "ninja: no work to do.", ""):
        assert not summary.LABEL.match(line), line


def test_ended():
    for line in (
        " 1/206 adaptivemulticast:core / seq             OK    0.14s   9 subtests passed",
        "1/2 core - adaptivemulticast:seq OK              0.14s   10 subtests passed",
    ):
        label, result, seconds = summary.ENDED.match(line).groups()
        assert (summary.short(label), result, seconds) == ("core/seq", "OK", "0.14"), line


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
