# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/results/assp-quality.md from what was evaluated."""

from statistics import mean

from . import plan as plans
from . import score

NAMES = ("low", "medium", "high")  # the papers' names of the streams, slowest first


class Cell:
    """All seeds of one scenario, variant, group and content."""

    def __init__(self, results):
        self.results = results

    def mean(self, *keys):
        """Of the seeds that have the figure; None where none has."""
        values = []
        for value in self.results:
            for key in keys:
                value = value[key]
            values.append(value)
        values = [value for value in values if value is not None]
        return mean(values) if values else None

    def mos(self):
        return score.mos(self.mean("psnr", "mean"))


def percent(value):
    if value == 0:
        return "0"
    return f"{100 * value:.2g}" if value < 0.1 else f"{100 * value:.0f}"


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def kbps(value):
    return f"{value / 1000:.0f}"


def table(columns, lines):
    return "\n".join([row(columns), "|" + "---|" * len(columns), *map(row, lines)])


def goal(reference, cell):
    """MOS >= 4 wherever the reference has it."""
    if reference["mos"] < 4:
        return "-"
    return "ok" if cell.mos() >= 4 else "missed"


def quality_table(found, evaluated, vmaf=False):
    """A line for each group and content."""
    variants = evaluated.variants
    columns = ["stream", "motion", "loss-free at 0.9 x fair"]
    for variant in variants:
        columns += [f"{variant} kb/s", "PSNR (5 %), dB", "SSIM"]
        columns += ["VMAF", "MOS"] if vmaf else ["MOS"]
    columns.append("goal")
    lines = []
    for index, group in enumerate(found.groups):
        for kind in evaluated.contents:
            reference = evaluated.reference(found, group, kind)
            cells = [
                f"{NAMES[index]}, fair {kbps(group.fair_bps)} kb/s",
                kind,
                f"{reference['psnr']['mean']:.1f} dB, MOS {reference['mos']}",
            ]
            for variant in variants:
                cell = evaluated.cell(found, variant, group, kind)
                low = f"{cell.mean('psnr', 'mean'):.1f} ({cell.mean('psnr', 'p5'):.1f})"
                ssim = f"{cell.mean('ssim', 'mean'):.3f}"
                cells += [kbps(cell.mean("rate_bps")), low, ssim]
                cells += [f"{cell.mean('vmaf', 'mean'):.0f}"] if vmaf else []
                cells.append(cell.mos())
            cells.append(goal(reference, cell) if variants[-1] == "enhanced" else "")
            lines.append(cells)
    return table(columns, lines)


def loss_table(found, evaluated):
    """Frame loss beside the paper's; means over the contents."""
    variants = evaluated.variants
    columns = ["stream", "paper: frame loss, %", "goal"]
    for variant in variants:
        columns += [f"{variant}: packet loss, %", "frame loss", "frozen", "damaged", "longest, s"]
    columns += ["SMCC packet loss, %", "TCP packet loss, %"]
    lines = []
    for index, group in enumerate(found.groups):
        cells = [NAMES[index], percent(plans.PAPER[found.id][index])]
        cells.append(f"< {percent(plans.GOALS[found.id][index])}")
        for variant in variants:
            cell = evaluated.cell(found, variant, group)
            cells += [percent(cell.mean("run_loss")), percent(cell.mean("frame_loss"))]
            cells += [percent(cell.mean("frozen")), percent(cell.mean("damaged"))]
            cells.append(f"{cell.mean('longest_damage_s'):.1f}")
        layered = evaluated.layered.get((found.id, index))
        cells.append("" if layered is None else percent(layered))
        tcp = evaluated.tcp.get((found.id, index))
        cells.append("" if tcp is None else percent(tcp))
        lines.append(cells)
    return table(columns, lines)


def live_table(found, evaluated):
    """What comes after 300 ms counts as lost; one content."""
    columns = ["stream"]
    for variant in evaluated.variants:
        columns += [f"{variant}: late packets, %", "frames lost or late, %", "frozen, %"]
        columns += ["PSNR, dB", "MOS"]
    lines = []
    for index, group in enumerate(found.groups):
        cells = [NAMES[index]]
        for variant in evaluated.variants:
            cell = evaluated.live(found, variant, group)
            cells += [percent(cell.mean("run_late")), percent(cell.mean("frame_loss_late"))]
            cells += [percent(cell.mean("frozen")), f"{cell.mean('psnr', 'mean'):.1f}", cell.mos()]
        lines.append(cells)
    return table(columns, lines)


def slashes(values):
    return " / ".join(values)


def scenario_line(found, evaluated):
    """Frame loss of the low, medium and high stream: each variant's and the paper's."""
    parts = []
    for variant in reversed(evaluated.variants):
        losses = [
            percent(evaluated.cell(found, variant, group).mean("frame_loss"))
            for group in found.groups
        ]
        parts.append(f"`{variant}` {slashes(losses)}")
    parts.append(f"the paper {slashes(map(percent, plans.PAPER[found.id]))}")
    return f"- {found.id}: " + ", ".join(parts)


def goals(evaluated, variant):
    """(frame-loss goals reached, missed): names of the groups."""
    reached, missed = [], []
    for found in evaluated.plans:
        for index, group in enumerate(found.groups):
            value = evaluated.cell(found, variant, group).mean("frame_loss")
            name = f"{found.id} {NAMES[index]}"
            (reached if value < plans.GOALS[found.id][index] else missed).append(name)
    return reached, missed


def mos_cases(evaluated, variant):
    """(how many have MOS 4 where the reference has it, those that have not)."""
    reached, missed = 0, []
    for found in evaluated.plans:
        for index, group in enumerate(found.groups):
            for kind in evaluated.contents:
                reference = evaluated.reference(found, group, kind)
                if reference["mos"] < 4:
                    continue
                cell = evaluated.cell(found, variant, group, kind)
                if cell.mos() >= 4:
                    reached += 1
                else:
                    missed.append(
                        [
                            f"{found.id} {NAMES[index]}",
                            kind,
                            f"{cell.mean('psnr', 'mean'):.1f}",
                            kbps(cell.mean("rate_bps")),
                            kbps(reference["rate_bps"]),
                            percent(cell.mean("damaged")),
                        ]
                    )
    return reached, missed


def verdict(evaluated):
    """What came out, in sentences, what is not reached with it."""
    last = evaluated.variants[-1]
    lines = []
    for variant in reversed(evaluated.variants):
        reached, missed = mos_cases(evaluated, variant)
        head = "Where a loss-free encode at 0.9 x the fair rate has MOS 4 or 5, " * (
            variant == last
        )
        text = f"{head}`{variant}` has 4 or 5 in {reached} of {reached + len(missed)} cases"
        lines.append(text + ".")
        if variant == last:
            misses = missed
    reached, missed = goals(evaluated, last)
    lines.append(
        f"`{last}` reaches the goal for frame loss in {len(reached)} of "
        f"{len(reached) + len(missed)} groups"
        + (f"; not in {'; '.join(missed)}." if missed else ".")
    )
    out = " ".join(lines)
    if misses:
        out += (
            f"\n\nWhere `{last}` has less, at which rate of the loss-free encode's, and how many "
        )
        out += "pictures its losses spoilt:\n\n"
        columns = ["stream", "motion", "PSNR, dB", "kb/s", "... of loss-free", "damaged, %"]
        out += table(columns, misses)
    out += "\n\nFrame loss, %, of the low / medium / high stream:\n\n"
    return out + "\n".join(scenario_line(found, evaluated) for found in evaluated.plans)


def sections(evaluated):
    out = []
    for found in evaluated.plans:
        out.append(f"## {found.id}\n")
        end = found.end(evaluated.fps)
        out.append(
            f"{found.data['title']}. {found.begin:g} to {end:g} s; receivers "
            + ", ".join(f"{group.flow}/{group.receiver}" for group in found.groups)
            + f"; pictures {', '.join(evaluated.pictures(found))}.\n"
        )
        told = "; ".join(
            f"`{variant}` {', '.join(evaluated.spread(found, variant))}"
            for variant in evaluated.variants
        )
        names = slashes(NAMES)
        out.append(f"Receivers of each group that are shown {names}, halfway: {told}.\n")
        out.append(quality_table(found, evaluated) + "\n")
        out.append(loss_table(found, evaluated) + "\n")
        out.append(f"A live viewer with 300 ms, {evaluated.shown_kind()} motion:\n")
        out.append(live_table(found, evaluated) + "\n")
        if found.id in evaluated.figures:
            out.append(f"![PSNR over time]({evaluated.figures[found.id]})\n")
        for variant, (name, frames) in evaluated.strips.get(found.id, {}).items():
            told = ", ".join(
                f"{word} {frame['psnr']:.1f} dB"
                for word, frame in zip(("best", "median", "worst"), frames, strict=True)
            )
            out.append(f"![{variant}]({name})\n\n*{variant}: {told}; above the source.*\n")
    return "\n".join(out)


def large(evaluated, found, vmaf):
    """One scenario at 1280x720."""
    end = found.end(evaluated.fps)
    head = f"\n## {found.id} at 1280x720, 30/s\n\n{found.begin:g} to {end:g} s; pictures "
    head += ", ".join(evaluated.pictures(found)) + ".\n\n"
    return head + quality_table(found, evaluated, vmaf) + "\n"


def fill(template, words):
    for name, text in words.items():
        template = template.replace(f"@{name}@", text)
    return template
