# SPDX-License-Identifier: LGPL-2.1-or-later
"""The report of all protocols on the same networks: docs/results/which-one-pictures.md."""

import argparse
import re
from pathlib import Path

from . import cli, layers, outcome, page
from . import plan as plans

TEMPLATE = Path(__file__).resolve().parents[1] / "which-one-pictures.md.in"
STEM = "which-one-pictures"
SCENARIOS = [f"which-one-{name}" for name in ("alone", "equal", "lossy", "mixed", "outlier")]
PROTOCOLS = ("asmp", "assp", "elm", "tfmcc", "rlc")
KIND = "medium"
FRAMES = 500
SHARE = 0.9  # of a fair rate: what loss-free references and layers are made for
ROUND = 10_000  # bit/s
REFERENCE = "loss-free"


class Plan(plans.Plan):
    """The scenario with the layers that the encoder makes.

    As an operator would who knows the network: the base layer is for the lowest fair rate, all
    together are for no more than the highest.
    """

    def __init__(self, name, setting, directory, duration=None):
        super().__init__(name, duration, FRAMES)
        lowest, highest = self.groups[0].fair_bps, self.groups[-1].fair_bps
        base = layers.shares(lowest, setting)[0]
        self.layers_bps = SHARE * min(lowest / base, highest)
        self.shares = layers.shares(self.layers_bps, setting)
        below, ladder = 0.0, []
        for share in self.shares:
            below += share
            ladder.append(round(below * self.layers_bps / ROUND) * ROUND)
        self.ladder = ladder
        self.derive(name, ladder, directory)

    def derive(self, name, ladder, directory):
        text = (plans.SCENARIOS / f"{name}.yaml").read_text()
        rates = ", ".join(f"{bps / 1000:g} kb/s" for bps in ladder)
        text, count = re.subn(r"(?m)^( +layers:) \[.*\]$", rf"\1 [{rates}]", text)
        if count != 1:
            raise plans.Wrong(f"{name} has no line of layers")
        directory.mkdir(parents=True, exist_ok=True)
        self.file = directory / f"{name}.yaml"
        if not self.file.exists() or self.file.read_text() != text:
            self.file.write_text(text)
        self.counts = {entry["id"]: entry.get("count", 1) or 1 for entry in self.flow["receivers"]}

    def members(self, group):
        return self.counts[group.receiver.split("-")[0]]


class Seen:
    """One protocol in one scenario: a Cell of all seeds for each group."""

    def __init__(self, plan, cells):
        self.plan, self.cells = plan, cells

    def each(self, *keys):
        return [cell.mean(*keys) for cell in self.cells]

    def overall(self, values):
        """Of groups, by how many receivers they have."""
        counts = [self.plan.members(group) for group in self.plan.groups]
        return sum(v * n for v, n in zip(values, counts, strict=True)) / sum(counts)

    def mean(self, *keys):
        return self.overall(self.each(*keys))

    def mos(self):
        return self.overall([cell.mos() for cell in self.cells])

    def worst(self):
        """The group whose pictures are worst."""
        return min(self.cells, key=lambda cell: cell.mean("psnr", "mean"))

    def spread(self):
        """Lowest and highest mean PSNR of a seed."""
        seeds = range(len(self.cells[0].results))
        values = [
            self.overall([cell.results[seed]["psnr"]["mean"] for cell in self.cells])
            for seed in seeds
        ]
        return min(values), max(values)


class Which:
    def __init__(self, arguments):
        self.arguments = arguments
        self.seeds, self.protocols = arguments.seeds, arguments.protocols
        self.folder = arguments.builddir / "quality"
        self.results = outcome.Results(self.folder / "results")
        self.seen = {}

    def setting(self, plan):
        given = cli.setting(self.arguments, KIND)._replace(vmaf=False, ffmpeg="ffmpeg", apart=False)
        return given._replace(begin=plan.begin, end=plan.end(25)) if plan else given

    def run(self, say):
        arguments = self.arguments
        self.plans = [
            Plan(name, self.setting(None), self.folder / "scenarios", arguments.duration)
            for name in arguments.scenarios or SCENARIOS
        ]
        for plan in self.plans:
            traces = self.folder / f"traces-which-{arguments.duration or 0:g}"
            plans.simulate(plan, self.protocols, self.seeds, arguments.builddir, traces)
            references = [self.reference(plan, group) for group in plan.groups]
            self.seen[plan.id, REFERENCE] = Seen(plan, [page.Cell([one]) for one in references])
            for protocol in self.protocols:
                cells = []
                for group in plan.groups:
                    found = []
                    for seed in self.seeds:
                        path = plans.trace_path(traces, plan, protocol, seed, group)
                        found.append(self.results.file(path, self.setting(plan)))
                        say(cli.line(found[-1]))
                    cells.append(page.Cell(found))
                self.seen[plan.id, protocol] = Seen(plan, cells)

    def reference(self, plan, group):
        bps = min(SHARE * group.fair_bps, plan.flow["max_rate"])
        bounds = [{"low_bps": plan.flow["min_rate"], "high_bps": plan.flow["max_rate"]}]
        return self.results.reference(bounds, 0, bps, FRAMES / 25, self.setting(plan))


def decibel(values):
    return " / ".join("-" if value is None else f"{value:.1f}" for value in values)


def table(which, plan):
    columns = ["", "kb/s", "PSNR of each group, dB", "mean (seeds), dB", "SSIM", "MOS"]
    columns += ["worst: PSNR, dB", "SSIM", "MOS", "pictures/s", "of new pictures, dB"]
    columns += ["frames lost or late, %", "frozen, %"]
    lines = []
    for name in (*which.protocols, REFERENCE):
        seen = which.seen[plan.id, name]
        worst = seen.worst()
        low, high = seen.spread()
        mean_psnr = f"{seen.mean('psnr', 'mean'):.1f}"
        mean_psnr += "" if name == REFERENCE else f" ({low:.1f} to {high:.1f})"
        lines.append(
            [
                "loss-free at 0.9 x fair" if name == REFERENCE else name,
                decibel_rates(seen),
                decibel(seen.each("psnr", "mean")),
                mean_psnr,
                f"{seen.mean('ssim', 'mean'):.3f}",
                f"{seen.mos():.1f}",
                f"{worst.mean('psnr', 'mean'):.1f}",
                f"{worst.mean('ssim', 'mean'):.3f}",
                worst.mos(),
                decibel(seen.each("pictures_per_s")),
                decibel(seen.each("psnr_new")),
                page.percent(seen.mean("frame_loss_late")),
                page.percent(seen.mean("frozen")),
            ]
        )
    return page.table(columns, lines)


def decibel_rates(seen):
    return " / ".join(page.kbps(value) for value in seen.each("rate_bps"))


def section(which, plan):
    fair = " / ".join(page.kbps(group.fair_bps) for group in plan.groups)
    ladder = ", ".join(map(page.kbps, plan.ladder))
    return (
        f"## {plan.id}\n\n{plan.data['title']}. {plan.begin:g} to {plan.end(25):g} s; groups of "
        f"fair rates {fair} kb/s. Layers of ELM and RLC: {ladder} kb/s, cumulative.\n\n"
        f"{table(which, plan)}\n"
    )


def leader(which, plan, value):
    """'ASSP 38.9, ...' from the best on."""
    order = sorted(which.protocols, key=lambda name: -value(which.seen[plan.id, name]))
    return ", ".join(f"{name.upper()} {value(which.seen[plan.id, name]):.1f}" for name in order)


def finding(which):
    lines = []
    for plan in which.plans:
        of_all = leader(which, plan, lambda seen: seen.mean("psnr", "mean"))
        of_worst = leader(which, plan, lambda seen: seen.worst().mean("psnr", "mean"))
        lines.append(f"| {plan.id} | {of_all} | {of_worst} |")
    head = "| scenario | mean receiver, PSNR in dB | worst receiver |\n|---|---|---|\n"
    return head + "\n".join(lines)


def counted(which):
    """How often a protocol has MOS 4 or 5 where the loss-free encode has, over groups."""
    told = []
    for name in which.protocols:
        good = wanted = 0
        for plan in which.plans:
            reference = which.seen[plan.id, REFERENCE].cells
            for cell, ideal in zip(which.seen[plan.id, name].cells, reference, strict=True):
                wanted += ideal.mos() >= 4
                good += ideal.mos() >= 4 and cell.mos() >= 4
        told.append(f"{name} in {good}")
    return f"{', '.join(told)} of {wanted} groups"


def command(arguments):
    words = ["tests/quality/which-one", *arguments.scenarios]
    words += ["--seeds", ",".join(map(str, arguments.seeds))]
    if arguments.protocols != list(PROTOCOLS):
        words += ["--protocols", ",".join(arguments.protocols)]
    words += ["--duration", f"{arguments.duration:g}"] if arguments.duration else []
    return " ".join(words)


def main(doc):
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--seeds", type=cli.seed_list, default=[1, 2, 3], metavar="1,2")
    parser.add_argument(
        "--protocols", type=lambda text: text.split(","), default=list(PROTOCOLS), metavar="A,B"
    )
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="shorter runs")
    parser.add_argument("--out", type=Path, metavar="DIR")
    cli.common(parser)
    arguments = parser.parse_args()
    if arguments.out is None:
        part = arguments.scenarios or arguments.duration
        arguments.out = arguments.builddir / "report" if part else cli.TOP / "docs" / "results"
    which = Which(arguments)
    which.run(lambda text: print(text, flush=True))
    words = {
        "FINDING": finding(which),
        "COUNTED": counted(which),
        "COMMAND": command(arguments),
        "COMMIT": cli.commit(),
        "SEEDS": ", ".join(map(str, arguments.seeds)),
        "SECTIONS": "\n".join(section(which, plan) for plan in which.plans),
        "SECONDS": f"{FRAMES / 25:g}",
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"{STEM}.md").write_text(page.fill(TEMPLATE.read_text(), words))
    print(f"wrote {arguments.out / STEM}.md")
    return 0
