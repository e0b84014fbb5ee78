# SPDX-License-Identifier: LGPL-2.1-or-later
"""The report's run: laboratory, chain, page."""

import argparse
from pathlib import Path
from statistics import mean

from . import cli, compare, content, outcome, page, plots
from . import plan as plans

TEMPLATE = Path(__file__).resolve().parents[1] / "assp-quality.md.in"
STEM = "assp-quality"
STRIPS = "assp-tcp-fairness"  # the scenario whose pictures are shown: its middle receiver, ...
STRIP_KIND = "medium"
LARGE = "assp-tcp-fairness"  # the scenario that is evaluated at 1280x720 too, for ...
LARGE_FRAMES = 300


class Evaluated:
    """Everything that was evaluated; what page.py reads."""

    def __init__(self, arguments, found):
        self.arguments, self.plans = arguments, found
        self.variants, self.contents = arguments.variant, arguments.content
        self.fps = content.SIZES[arguments.size].fps
        self.folder = arguments.builddir / "quality"
        self.traces = self.folder / (
            f"traces-{arguments.duration:g}" if arguments.duration else "traces"
        )
        self.results = outcome.Results(self.folder / "results")
        self.cells, self.references = {}, {}
        self.layered, self.tcp, self.figures, self.strips = {}, {}, {}, {}

    def setting(self, found, kind, late_lost=False):
        given = cli.setting(self.arguments, kind)._replace(
            begin=found.begin, end=found.end(self.fps), late_lost=late_lost, apart=False
        )
        # Small pictures without VMAF: its model is of large ones.
        return given if self.arguments.size == "hd" else given._replace(vmaf=False, ffmpeg="ffmpeg")

    def run(self, say):
        for found in self.plans:
            seeds = self.arguments.seeds
            plans.simulate(found, self.variants, seeds, self.arguments.builddir, self.traces)
            for group in found.groups:
                for kind in self.contents:
                    self.reference(found, group, kind)
                    for variant in self.variants:
                        self.evaluate(found, variant, group, kind, say)
                        if kind == self.shown_kind() and self.arguments.size == "cif":
                            self.evaluate(found, variant, group, kind, say, live=True)
            if self.arguments.size == "cif":
                self.rivals(found)

    def shown_kind(self):
        """The content of which more is shown."""
        return STRIP_KIND if STRIP_KIND in self.contents else self.contents[0]

    def evaluate(self, found, variant, group, kind, say, live=False):
        """@live: what is late is lost."""
        results, name = [], (kind, "live") if live else kind
        for seed in self.arguments.seeds:
            path = plans.trace_path(self.traces, found, variant, seed, group)
            result = self.results.file(path, self.setting(found, kind))
            if live and result["late"]:  # else the pictures are the same
                result = self.results.file(path, self.setting(found, kind, live))
            results.append(result)
            say(cli.line(results[-1]))
        self.cells[found.id, variant, group.receiver, name] = results

    def reference(self, found, group, kind):
        """Loss-free, at 0.9 x the fair rate, in the stream for it."""
        key = found.id, group.receiver, kind
        if key not in self.references:
            bps = 0.9 * group.fair_bps
            stream = found.stream_of(bps)
            bps = min(bps, found.streams[stream]["high_bps"])
            setting = self.setting(found, kind)
            self.references[key] = self.results.reference(
                found.streams, stream, bps, setting.end - setting.begin, setting
            )
        return self.references[key]

    def live(self, found, variant, group):
        """With what is late lost."""
        key = found.id, variant, group.receiver, (self.shown_kind(), "live")
        return page.Cell(self.cells[key])

    def cell(self, found, variant, group, kind=None):
        """Of one content, or of all."""
        kinds = [kind] if kind else self.contents
        return page.Cell(
            [one for k in kinds for one in self.cells[found.id, variant, group.receiver, k]]
        )

    def rivals(self, found):
        """SMCC's and TCP's packet loss: there is no picture of them."""
        given = [plans.LAYERED] if plans.layered(found) else []
        seeds = self.arguments.seeds
        if given:
            plans.simulate(found, given, seeds, self.arguments.builddir, self.traces, False)
        for index, group in enumerate(found.groups):
            if given:
                self.layered[found.id, index] = mean(
                    plans.packet_loss(self.traces, found, given[0], seed, *group[:2])
                    for seed in seeds
                )
            for flow in plans.tcp_beside(found, group):
                self.tcp[found.id, index] = mean(
                    plans.packet_loss(self.traces, found, self.variants[-1], seed, flow)
                    for seed in seeds
                )

    def pictures(self, found):
        sizes = next(iter(self.cells.values()))
        sizes = self.cells[found.id, self.variants[0], found.groups[0].receiver, self.contents[0]]
        out = []
        for text in sizes[0]["stream_sizes"]:
            size, step = text.split("/")
            out.append(f"{size} at {self.fps / int(step):g}/s")
        return out

    def spread(self, found, variant):
        """In the middle of what is evaluated, first seed."""
        middle = (found.begin + found.end(self.fps)) / 2
        seed = self.arguments.seeds[0]
        return plans.spread(self.traces, found, variant, seed, middle)

    def draw(self, directory):
        kind = self.shown_kind()
        for found in self.plans:
            rows = []
            for index, group in enumerate(found.groups):
                results = {
                    variant: self.cell(found, variant, group, kind).results[0]
                    for variant in self.variants
                }
                name = f"{page.NAMES[index]}: {group.flow}/{group.receiver}"
                rows.append((name, results, self.reference(found, group, kind)))
            name = f"{STEM}-{found.id.removeprefix('assp-')}.png"
            title = f"{found.id}, {kind} motion, means of 1 s, seed {self.arguments.seeds[0]}"
            plots.draw(rows, directory / name, title)
            self.figures[found.id] = name
            if found.id == STRIPS:
                self.strip(found, kind, directory)

    def strip(self, found, kind, directory):
        group = found.groups[len(found.groups) // 2]
        for variant in self.variants:
            path = plans.trace_path(self.traces, found, variant, self.arguments.seeds[0], group)
            name = f"{STEM}-frames-{variant}.png"
            result = self.results.file(path, self.setting(found, kind), directory / name)
            self.strips.setdefault(found.id, {})[variant] = (name, result["strip"])


def command(arguments):
    words = ["tests/quality/report", *arguments.scenarios]
    words += ["--seeds", ",".join(map(str, arguments.seeds))]
    words += ["--duration", f"{arguments.duration:g}"] if arguments.duration else []
    words += ["--large"] if arguments.large else []
    return " ".join(words)


def large_pictures(arguments, vmaf):
    """The section of one scenario at 1280x720."""
    given = argparse.Namespace(**{**vars(arguments), "size": "hd"})
    found = plans.Plan(LARGE, frames=LARGE_FRAMES)
    evaluated = Evaluated(given, [found])
    evaluated.run(lambda text: print(text, flush=True))
    return page.large(evaluated, found, vmaf)


def main(doc):
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--seeds", type=cli.seed_list, default=[1], metavar="1,2")
    parser.add_argument(
        "--variant", type=lambda text: text.split(","), default=list(plans.VARIANTS), metavar="A,B"
    )
    parser.add_argument("--large", action="store_true", help=f"{LARGE} at 1280x720 too")
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="shorter runs")
    parser.add_argument("--out", type=Path, metavar="DIR")
    cli.common(parser)
    arguments = parser.parse_args()
    part = arguments.scenarios or arguments.size != "cif" or arguments.duration
    if arguments.out is None:
        arguments.out = arguments.builddir / "report" if part else cli.TOP / "docs" / "results"
    found = [plans.Plan(name, arguments.duration) for name in arguments.scenarios or plans.PAPER]
    evaluated = Evaluated(arguments, found)
    evaluated.run(lambda text: print(text, flush=True))
    arguments.out.mkdir(parents=True, exist_ok=True)
    evaluated.draw(arguments.out)
    vmaf = compare.has_vmaf(arguments.ffmpeg) and not arguments.no_vmaf
    large = large_pictures(arguments, vmaf) if arguments.large else ""
    words = {
        "FINDING": page.verdict(evaluated),
        "COMMAND": command(arguments),
        "COMMIT": cli.commit(),
        "SECTIONS": page.sections(evaluated) + large,
        "FFMPEG": compare.version(),
        "VMAF": f"; 1280x720 by {compare.version(arguments.ffmpeg)}" * bool(large),
        "SEEDS": f"means over {len(arguments.seeds)} seeds" if arguments.seeds[1:] else "one seed",
    }
    text = page.fill(TEMPLATE.read_text(), words)
    (arguments.out / f"{STEM}.md").write_text(text)
    print(f"wrote {arguments.out / STEM}.md")
    return 0
