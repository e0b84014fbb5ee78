#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The picture-quality chain, by known answers."""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "sim" / "tests"), str(HERE), str(HERE.parent)]

import made  # noqa: E402
import tap  # noqa: E402
from chain import (  # noqa: E402
    Wrong,
    compare,
    content,
    core,
    deliver,
    evaluate,
    sample,
    score,
    trace,
)

FOLDER = tempfile.TemporaryDirectory(prefix="quality-test-")
CIF = content.SIZES["cif"]
FPS = CIF.fps
LADDER = made.streams((60_000, 300_000), (300_000, 900_000))
RATE = 600_000


def setting(**given):
    library = core.Library(HERE.parents[2] / "_build")
    # A second of the content, again and again.
    return evaluate.Setting("medium", "cif", FOLDER.name, library, frames=25, **given)


def outage(*spans):
    """Whoever is sent within is lost."""
    return lambda time, stream: int(any(begin <= time < end for begin, end in spans))


def steady(duration, lost=made.nothing):
    data = made.run(duration, LADDER, [[0, 1, RATE]], [[0, 1]], lost)
    return trace.Trace(data)


def flat(light, source):
    plane = source.width * source.height
    return bytes([light]) * plane + b"\x80" * (plane // 2)


def test_psnr_of_a_known_pair():
    source = content.Size(64, 64, 25, 2)
    with tempfile.NamedTemporaryFile() as file:
        file.write(flat(100, source) * 2)
        file.flush()
        comparison = compare.Comparison(file.name, source)
        for light in (100, 110, 101):  # the third is compared with the first again
            comparison.add(flat(light, source))
        got = comparison.end()
    # 10 log10 (255^2 / 100), 10 log10 (255^2 / 1)
    for value, expected in zip(got["psnr"], (compare.PSNR_MOST, 28.13, 48.13), strict=True):
        assert abs(value - expected) < 0.01, got
    assert got["ssim"][0] == 1.0 and 0.9 < got["ssim"][1] < 1.0, got


def test_vmaf_where_ffmpeg_has_it():
    ffmpeg = os.environ.get("QUALITY_FFMPEG", "ffmpeg")
    if not compare.has_vmaf(ffmpeg):
        print(f"# {ffmpeg} has no libvmaf")
        return
    source = CIF._replace(frames=10)
    path = content.make("low", source, FOLDER.name)
    comparison = compare.Comparison(path, source, ffmpeg, vmaf=True)
    video = deliver.video_of(path, source)
    for frame in range(10):
        comparison.add(video[frame].tobytes() if frame < 5 else flat(128, source))
    got = comparison.end()["vmaf"]
    assert min(got[:5]) > 90 and max(got[5:]) < 30, got


def test_mos_by_the_papers_table():
    table = {19.99: 1, 20: 2, 24.9: 2, 25: 3, 30.9: 3, 31: 4, 37: 4, 37.01: 5}
    for psnr, expected in table.items():
        assert score.mos(psnr) == expected, psnr


def test_content_is_the_same_bits_and_in_order_of_motion():
    size = CIF._replace(frames=50)
    measured = []
    for kind in content.CLASSES:
        one = content.make(kind, size, Path(FOLDER.name) / "one")
        measured.append(content.motion(one, size))
        if kind != "high":
            two = content.make(kind, size, Path(FOLDER.name) / "two")
            assert one.read_bytes() == two.read_bytes(), kind
    for (_, ti, moved), (_, next_ti, next_moved) in zip(measured, measured[1:], strict=False):
        assert next_ti > 2 * ti and next_moved > 2 * moved, measured


def test_fate_is_that_of_the_packet_sent_nearest_in_its_stream():
    data = made.run(1, LADDER, [], [[0, 0], [0.6, None]])
    data["packets"] = [[0.1, 0, 0], [0.2, 0, 1], [0.4, 0, 2], [0.21, 1, 0], [0.9, 0, 1]]
    one = trace.Trace(data)
    fates = [one.fate(0, t) for t in (0, 0.149, 0.151, 0.29, 0.31, 0.6, 0.7, 2)]
    assert fates == [0, 0, 1, 1, 2, 2, 1, 1], fates
    assert one.fate(1, 0.4) == 0
    # 0.9 s is not shown, stream 1 neither
    assert one.loss(0, 1) == (3, 1, 1)


def test_wrong_traces_are_told():
    for change in ({"shown": []}, {"shown": [[0, 7]]}, {"streams": []}, {"duration_s": 0}):
        data = made.run(1, LADDER, [], [[0, 0]]) | change
        try:
            trace.Trace(data)
        except Wrong:
            continue
        raise AssertionError(change)


def test_no_loss_and_a_high_rate_give_every_frame_well():
    got = evaluate.evaluate(steady(3), setting())
    assert got["frame_loss"] == got["frozen"] == got["damaged"] == got["loss"] == 0, got
    assert got["frames"] == got["expected"] == 3 * FPS
    assert got["psnr"]["p5"] > 37 and got["mos"] == 5, got["psnr"]
    assert got["rate_bps"] < 1.1 * RATE, got["rate_bps"]


def test_a_loss_in_the_last_frame_costs_that_frame():
    got = evaluate.evaluate(steady(3, outage((2.95, 9))), setting())
    assert got["frame_loss"] == got["frozen"] == got["damaged"] == 1 / (3 * FPS), got
    assert got["frame_values"]["psnr"][-1] < got["frame_values"]["psnr"][-2] - 1


def test_a_loss_in_between_costs_until_the_key_unit_that_was_asked_for():
    lost = 4.2
    got = evaluate.evaluate(steady(5, outage((lost, lost + 0.03))), setting(rtt=0.1))
    assert 0 < got["frame_loss"] <= 3 / (5 * FPS), got["frame_loss"]
    assert got["keys_on_request"] == 1
    # detected after RTT / 2, asked for RTT / 2, at the next frame
    assert 0.1 < got["longest_damage_s"] <= 0.1 + 3 / FPS, got["longest_damage_s"]


def test_a_loss_in_the_key_unit_shows_nothing_until_the_next():
    got = evaluate.evaluate(steady(3, outage((-1, 0.03))), setting(rtt=0.1))
    # asked again a second after the first time
    assert 1.0 <= got["longest_freeze_s"] <= 1.0 + 0.1 + 2 / FPS, got["longest_freeze_s"]
    assert got["frame_values"]["psnr"][0] < 20
    assert got["keys_on_request"] == 1


def test_frames_that_do_not_come_stay_as_they_were():
    source = content.Size(16, 16, 25, 10)
    pictures = [(1, b"a"), (4, b"b"), (5, b"c")]
    shown = list(deliver.show(pictures, 8, source))
    assert [picture for picture, _ in shown[1:]] == [b"a", b"a", b"a", b"b", b"c", b"c", b"c"]
    new = [is_new for _, is_new in shown]
    assert new == [False, True, False, False, True, True, False, False]
    assert evaluate.freeze(set(range(8)), new, 8) == 2
    # every second frame only is due: between them nothing freezes
    assert evaluate.freeze({1, 3, 5}, [False, True, False, True, False, True], 6) == 0


def test_a_switch_between_sizes_loses_no_frame():
    targets = [[0, 0, 250_000], [0, 1, RATE]]
    data = made.run(4, LADDER, targets, [[0.5, 0], [2, 1], [3, 0]])
    sizes = (deliver.StreamSize(176, 144, 2), deliver.StreamSize(352, 288))
    got = evaluate.evaluate(trace.Trace(data), setting(sizes=sizes))
    assert got["begin_s"] == 0.5 and got["switches"] == 2
    assert got["frozen"] == got["damaged"] == 0, got
    psnr = got["frame_values"]["psnr"]
    small, large = psnr[5:35], psnr[40:60]
    assert min(large) > max(small), (min(large), max(small))


def test_a_run_that_loses_everything_is_frozen():
    got = evaluate.evaluate(steady(2, outage((0.9, 9))), setting())
    assert abs(got["frozen"] - 1.1 / 2) < 0.05, got["frozen"]
    assert abs(got["run_loss"] - 1.1 / 2) < 0.02, got["run_loss"]


def test_the_strip_shows_best_median_worst():
    path = Path(FOLDER.name) / "strip.png"
    got = sample.evaluate_with_strip(steady(2, outage((1.0, 1.2))), setting(), path)
    psnr = [frame["psnr"] for frame in got["strip"]]
    assert psnr[0] == max(got["frame_values"]["psnr"]) and psnr[2] == got["psnr"]["min"]
    assert psnr[0] > psnr[1] > psnr[2]
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size < 300_000


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
