#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The proving ground in short: real programs across the emulator, for each kind of flow.

test_run.py [own | rivals]
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sim")]

import netlab  # noqa: E402
from ground import outcome, quality, runner  # noqa: E402
from lab import scenario  # noqa: E402
from lab.series import Run, parse  # noqa: E402

FAILED = []
COUNT = 0


def check(good, text, detail=""):
    global COUNT
    COUNT += 1
    print(f"{'ok' if good else 'not ok'} {COUNT} - {text}", flush=True)
    if not good:
        FAILED.append(text)
        print(f"# {detail}", flush=True)


def skip(text, why):
    global COUNT
    COUNT += 1
    print(f"ok {COUNT} - {text} # SKIP {why}", flush=True)


def run(flow, tcp="", duration=None, name="short", film=None):
    """The result, or None where the machine was too busy, also the second time, to say anything."""
    for _ in range(2):
        own = runner.Ground(
            scenario.load(HERE / "ground" / f"{name}.yaml"),
            flow,
            tcp,
            1,
            builddir(),
            duration,
            film=film,
        )
        result = own.run()
        about = result["ground"]
        print(f"# {flow}: {json.dumps(about)}")
        if about["failed"] or not about["marked"]:
            break
    check(not about["failed"], f"{flow}: all programs ran", about)
    if about["marked"]:
        skip(f"{flow}, {name}: measures", "busy: " + "; ".join(about["marked"]))
        return None
    return parse(json.dumps(result))


def builddir():
    return Path(netlab.find_emulator()).resolve().parents[2]


def everything(tcp):
    """asmp with all that a scenario can have."""
    if (result := run("asmp", tcp)) is None:
        return
    data = Run(result)
    stays, comes, dies = (data.sinks("m", name)[0] for name in ("stays", "comes", "dies"))
    check(data.total(comes["bytes"], 0, 4.9) == 0, "nothing comes before a join")
    check(data.total(comes["bytes"], 6, 10) > 30e3, "it comes after the join", comes["bytes"])
    check(data.total(comes["bytes"], 11, 15) == 0, "nothing comes after a leave")
    check(data.total(dies["bytes"], 1, 8) > 50e3, "the one that dies heard something")
    check(
        data.total(stays["bytes"], 1, 15) > data.total(comes["bytes"], 1, 15), "who stays has more"
    )
    rate = 8 * data.total(stays["bytes"], 5, 11) / 6
    check(200e3 < rate < 1.6e6, "a rate beside two TCP flows", f"{rate:.0f} bit/s")
    (cbr,) = data.sinks("cbr")
    got = data.total(cbr["bytes"], 0, 15) + 1000 * data.total(cbr["lost"], 0, 15)
    want = 160e3 / 8 * 7  # 2-4, 6-8, 10-12, 14-15 s
    check(abs(got / want - 1) < 0.05, "UDP as asked, with its pauses", f"{got} of {want} bytes")
    check(data.total(cbr["bytes"], 4.5, 5.9) == 0, "UDP is silent in its pauses")
    tcps = data.sinks("tcp")
    check(all(data.total(each["bytes"], 3, 11) > 100e3 for each in tcps), "both TCP flows move")
    link = result["links"]["l1"]
    for begin, end, bps in ((5, 11, 2e6), (12, 15, 1e6)):
        used = 8 * data.total(link["bytes"], begin, end) / (end - begin) / bps
        check(0.9 < used < 1.01, f"the link is used at {bps / 1e6:g} Mb/s", f"{used:.3f}")
    over = sum(data.total(each["bytes"], 5, 11) for each in (stays, *tcps, cbr))
    ratio = over / data.total(link["bytes"], 5, 11)
    check(0.95 < ratio < 1.03, "flows add up to the link's bytes", f"{ratio:.3f}")
    told = result["flows"]["m"]["sender"]
    check(len(told["target_bps"]) > 3, "the sender tells its target", told["target_bps"])
    check(bool(data.sinks("m", "stays")[0]["rate_bps"]), "receivers tell their estimates")
    measured = outcome.measured(
        scenario.load(HERE / "ground" / "short.yaml"), [("asmp", tcp, 1, result)]
    )
    used = measured.summary(measured.measures[1], measured.plan.variants[0]).mean
    check(0.9 < used < 1.01, "the laboratory's measure says so", f"{used}")


def marked():
    """A queue that marks: nothing of ours is dropped, and who receives it says that marks count."""
    if (result := run("asmp", name="short-ecn")) is None:
        return
    data = Run(result)
    (sink,) = data.sinks("m")
    (tcp,) = data.sinks("tcp")
    link = result["links"]["l1"]
    check(data.total(link["marks"], 0, 13) > 5, "the queue marks", link["marks"])
    check(data.total(tcp["bytes"], 2, 13) > 100e3, "TCP moves beside it")
    check(sink.get("ecn") == "good", "the receiver finds its path good", sink.get("ecn"))
    check(sink.get("ecn_marked", 0) > 0, "our packets are among the marked", sink.get("ecn_marked"))
    lost, came = (data.total(sink[key], 6, 13) for key in ("lost", "packets"))
    check(lost <= 0.005 * came, "marks in the place of losses", f"{lost} lost of {came}")


def layers():
    """elmlayersink with an ideal source: everybody has what his path carries."""
    if (result := run("elm", name="short-several")) is None:
        return
    data = Run(result)
    wide, narrow = (data.sinks("m", name)[0] for name in ("wide", "narrow"))
    check(wide["stream"][-1][1] == 2, "the wide path gets all layers", wide["switches"])
    check(narrow["stream"][-1][1] == 0, "the narrow one the base layer", narrow["switches"])
    rate = 8 * data.total(narrow["bytes"], 4, 14) / 10
    check(130e3 < rate < 300e3, "... at its rate", f"{rate:.0f} bit/s")
    rate = 8 * data.total(wide["bytes"], 12, 14) / 2
    check(0.8e6 < rate < 1.1e6, "all layers are counted", f"{rate:.0f} bit/s")


def streams_of_a_film():
    """asspsimulcastbin encodes a film: screens show it, and it is compared with what was sent."""
    quality.SIZE = quality.SIZE._replace(frames=75)
    if (result := run("assp", name="short-several", film="low")) is None:
        return
    for name in ("wide", "narrow"):
        (sink,) = Run(result).sinks("m", name)
        check(sink["stream"][:1] and sink["stream"][0][1] == 0, f"{name} begins in the lowest")
        saw = result["viewers"].get(name, {})
        brief = {key: value for key, value in saw.items() if not isinstance(value, list)}
        check(saw.get("lost", 1) < 0.3, f"{name}: most pictures are shown", brief)
        check(saw.get("ssim", 0) > 0.6, f"{name}: they are the film's", brief)
        check(0.1 < saw.get("delay_mean", 0) < 3, f"{name}: after the receiver's latency", brief)


def rival(flow, seconds):
    try:
        result = run(flow, duration=seconds)
    except runner.CannotRun as why:
        skip(flow, str(why))
        return
    if result is None:
        return
    data = Run(result)
    (sink,) = data.sinks("m", "stays")
    got = data.total(sink["bytes"], seconds - 4, seconds)
    check(got > 10e3, f"{flow}: what it sends arrives", f"{got} bytes in the last 4 s")


def main():
    try:
        netlab.ensure_privileges(sudo="quiet")
        with runner.priority():
            if sys.argv[1:] != ["rivals"]:
                everything("cubic")
                marked()
                layers()
                streams_of_a_film()
            if sys.argv[1:] != ["own"]:
                rival("norm", 9)
                rival("rtp=300k", 7)
    except netlab.Unavailable as reason:
        print(f"1..0 # SKIP {reason}")
        return 77
    print(f"1..{COUNT}")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
