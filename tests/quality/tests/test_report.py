#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The report in short: from the laboratory's runs to the page."""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "sim" / "tests"), str(HERE.parent)]

import tap  # noqa: E402
from chain import page, plan, which  # noqa: E402


def test_fair_rates_are_what_the_flows_leave():
    table = {
        "assp-subscription": [120_000, 300_000, 500_000],  # alone
        "assp-tcp-fairness": [400_000, 800_000, 1_600_000],  # beside one TCP
        "assp-intra-fairness": [400_000, 800_000, 1_600_000],  # beside another source
        "assp-onoff-udp": [300_000, 1_100_000, 2_700_000],  # beside 500 kb/s of UDP
    }
    for name, expected in table.items():
        found = plan.Plan(name)
        assert [group.fair_bps for group in found.groups] == expected, name
        streams = [found.stream_of(0.9 * group.fair_bps) for group in found.groups]
        assert streams == [0, 1, 2], (name, streams)


def test_what_is_there_is_not_run_again():
    found = plan.Plan("assp-subscription")
    with tempfile.TemporaryDirectory(prefix="quality-there-") as folder:
        given = (found, ["enhanced"], [1], folder, folder, True)
        program = Path(folder) / "tests" / "sim" / "mccsim"
        program.parent.mkdir(parents=True)
        program.touch()
        (Path(folder) / "assp-subscription-enhanced-1.json.gz").touch()
        assert not plan.there(*given)  # no traces yet
        for group in found.groups:
            plan.trace_path(folder, found, "enhanced", 1, group).touch()
        assert plan.there(*given)
        assert not plan.there(found, ["enhanced"], [1, 2], folder, folder, True)
        later = time.time() + 5
        os.utime(program, (later, later))  # built anew
        assert not plan.there(*given)


def test_a_group_that_saw_nothing_has_no_figure():
    none, some = {"psnr_new": None}, {"psnr_new": 31.5}
    cells = [page.Cell([none, none]), page.Cell([none, some]), page.Cell([some, some])]
    assert which.decibel(cell.mean("psnr_new") for cell in cells) == "- / 31.5 / 31.5"


def test_the_report_in_short():
    with tempfile.TemporaryDirectory(prefix="quality-report-") as out:
        words = [sys.executable, str(HERE.parent / "report"), "assp-subscription"]
        words += ["--seeds", "1", "--duration", "8", "--content", "low", "--content-frames", "25"]
        words += ["--no-vmaf", "--out", out, "--builddir", os.environ["BUILD_ROOT"]]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-600:]
        text = (Path(out) / "assp-quality.md").read_text()
        for name in re.findall(r"!\[.*?\]\((.*?)\)", text):
            assert (Path(out) / name).stat().st_size > 1000, name
    assert "@" not in text
    # a line for each stream in each of the three tables
    for stream in ("low", "medium", "high"):
        assert len(re.findall(rf"^\| {stream}\b", text, re.M)) == 3, stream


def test_all_protocols_in_short():
    with tempfile.TemporaryDirectory(prefix="quality-which-") as out:
        words = [sys.executable, str(HERE.parent / "which-one"), "which-one-mixed", "--seeds", "1"]
        words += ["--duration", "8", "--protocols", "asmp,assp,elm,tfmcc,rlc"]
        words += ["--content-frames", "25", "--out", out, "--builddir", os.environ["BUILD_ROOT"]]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-600:]
        text = (Path(out) / "which-one-pictures.md").read_text()
    assert "@" not in text
    # three groups' rates: ASMP's are the same for all but for key units
    rates = re.search(r"^\| asmp \| (\d+) / (\d+) / (\d+) ", text, re.M)
    rates = sorted(map(int, rates.groups()))
    assert rates[2] < 1.1 * rates[0], rates
    # a line for each protocol and the reference
    assert len(re.findall(r"^\| (?:asmp|assp|elm|tfmcc|rlc|loss-free[^|]*) \|", text, re.M)) == 6


if __name__ == "__main__":
    if "BUILD_ROOT" not in os.environ:
        os.environ["BUILD_ROOT"] = str(HERE.parents[2] / "_build")
    sys.exit(tap.main(sys.modules[__name__]))
