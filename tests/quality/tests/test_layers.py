#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers through the picture-quality chain, by known answers."""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "sim" / "tests"), str(HERE), str(HERE.parent)]

import made  # noqa: E402
import tap  # noqa: E402
from chain import content, core, evaluate, gst, layers, trace  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="quality-test-")
FPS = content.SIZES["cif"].fps
RATES = (240_000, 120_000, 120_000)


def setting(**given):
    library = core.Library(HERE.parents[2] / "_build")
    return evaluate.Setting("medium", "cif", FOLDER.name, library, frames=25, **given)


def run(duration, shown, lost=made.nothing):
    targets = [[0, layer, bps] for layer, bps in enumerate(RATES)]
    data = made.run(duration, made.streams(*zip(RATES, RATES, strict=True)), targets, shown, lost)
    return trace.Trace(data | {"layered": True})


def outage(layer, begin, end):
    return lambda time, stream: int(stream == layer and begin <= time < end)


def new_pictures(result, begin, end):
    """A second; the last picture shown again is the worse the more moves."""
    psnr = result["frame_values"]["psnr"][int(begin * FPS) : int(end * FPS)]
    return sum(value > 30 for value in psnr) / (end - begin)


def test_each_layer_doubles_the_pictures():
    got = evaluate.evaluate(run(6, [[0, 0], [2, 1], [4, 2]]), setting())
    assert got["frozen"] == got["damaged"] == got["loss"] == 0, got
    # around the changes: up to a group of four pictures
    for begin, end, rate in ((0.2, 1.8, 6.25), (2.2, 3.8, 12.5), (4.3, 5.8, 25)):
        assert abs(new_pictures(got, begin, end) - rate) < 1.5, (
            begin,
            new_pictures(got, begin, end),
        )
    assert got["psnr_new"] > 36, got["psnr_new"]
    assert abs(got["pictures_per_s"] - (6.25 + 12.5 + 25) / 3) < 1
    assert got["keys_on_request"] <= 1  # the first


def test_leaving_a_layer_breaks_nothing():
    got = evaluate.evaluate(run(4, [[0, 2], [2, 0]]), setting())
    assert got["frozen"] == got["damaged"] == 0, got
    assert abs(new_pictures(got, 2.3, 3.9) - 6.25) < 1.5


def test_a_loss_above_costs_its_picture_only():
    got = evaluate.evaluate(run(4, [[0, 2]], outage(2, 2.0, 2.2)), setting())
    assert 0 < got["frozen"] <= 4 / (4 * FPS), got["frozen"]
    assert got["damaged"] <= 4 / (4 * FPS), got["damaged"]
    assert got["keys_on_request"] <= 1
    base = evaluate.evaluate(run(4, [[0, 2]], outage(0, 2.0, 2.2)), setting())
    assert base["frozen"] > got["frozen"] and base["keys_on_request"] > got["keys_on_request"]


def test_what_is_not_taken_is_not_lost():
    got = evaluate.evaluate(run(3, [[0, 0]], outage(2, 0, 9)), setting())
    assert got["loss"] == got["run_loss"] == got["frozen"] == 0, got


def test_shares_are_of_the_whole():
    found = layers.shares(480_000, setting(), 4)
    assert len(found) == 3 and abs(sum(found) - 1) < 1e-9 and min(found) > 0.1, found


def bits(delay_us):
    """What the layers' encoder makes of two rates and a key unit; @delay_us: a busy machine."""
    source = content.SIZES["cif"]
    frame = bytes(range(256)) * (source.width * source.height * 3 // 2 // 256)
    out = []
    with gst.LayeredEncoder(source, 1000) as encoder:
        encoder.source.set_property("sleep-time", delay_us)
        for number in range(12):
            encoder.set_bitrate(2_000_000 if number % 2 else 100_000)
            if number == 2:
                encoder.force_key_unit()
            turned = frame[number * 999 :] + frame[: number * 999]
            out += encoder.encode(turned, number)
        out += encoder.rest()
    return [packet[12:] for _, packets in out for packet in packets]  # but for the SSRC


def test_bits_are_the_same_however_busy_the_machine_is():
    calm = bits(0)
    assert len(calm) > 12
    assert calm == bits(30_000)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
