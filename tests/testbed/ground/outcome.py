# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory's measures of what was run here, and how the machine did."""

from lab import cli, measure, outcome
from lab.series import Run

from .runner import variant_name


class Measured(outcome.Outcome):
    """As the laboratory's, with flows (asmp-reno, norm, ...) as variants."""

    def add(self, job, result):
        values = {}
        for entry in self.measures:
            arguments, _ = self.arguments[entry["id"]]
            if arguments is not None and entry["what"] != outcome.CROSS:
                values[entry["id"]] = measure.evaluate(Run(result), entry["what"], arguments)
        with self.lock:
            self.values[job.variant, job.seed] = values


def length_of(name, rows):
    """The seconds of a scenario's runs: measures are of the same times of all."""
    flows = {}
    for flow, tcp, _, result in rows:
        flows.setdefault(result["duration"], set()).add(variant_name(flow, tcp))
    if len(flows) > 1:
        told = (f"{seconds:g} s ({', '.join(sorted(flows[seconds]))})" for seconds in sorted(flows))
        raise cli.Usage(f"{name}: runs of {' and '.join(told)}; measure them again, alike")
    return next(iter(flows))


def measured(scenario, rows):
    """@rows: (flow, tcp, repeat, result) of this scenario."""
    variants = list(dict.fromkeys(variant_name(flow, tcp) for flow, tcp, _, _ in rows))
    repeats = sorted({repeat for _, _, repeat, _ in rows})
    plan = outcome.Plan(scenario, variants, repeats, length_of(scenario.id, rows))
    out = Measured(plan)
    for flow, tcp, repeat, result in rows:
        variant = variant_name(flow, tcp)
        out.add(outcome.Job(scenario, variant, repeat, result["duration"]), result)
    return out


def accounts(rows):
    """A line for each run: lag, load, and '!' where they are too much."""
    out = []
    for flow, tcp, repeat, result in rows:
        about = result["ground"]
        wrong = about["marked"] + about["failed"]
        line = f"  {variant_name(flow, tcp)} {repeat}: "
        line += f"{100 * about['lag_over_1ms']:.2f} % of packets over 1 ms late, "
        line += f"machine {100 * about['machine_busy']:.0f} % busy, "
        line += f"emulator {100 * about['emulator_cpu']:.0f} % of a core"
        out.append(line + ("  ! " + "; ".join(wrong) if wrong else ""))
    return out


def viewers(rows):
    """A line for each viewer of each run that had a film."""
    out = []
    for flow, tcp, repeat, result in rows:
        for name, saw in result.get("viewers", {}).items():
            line = f"  {variant_name(flow, tcp)} {repeat} {name}: SSIM {saw['ssim']:.3f}, "
            line += f"PSNR {saw['psnr']:.1f} dB, {100 * saw['lost']:.1f} % not in time, "
            line += f"longest stop {1000 * saw['longest_stop']:.0f} ms "
            line += f"({saw['stops_100ms']} > 100 ms, {saw['stops_200ms']} > 200 ms), "
            if "delay_mean" in saw:
                line += f"delay {1000 * saw['delay_mean']:.0f} ms"
            out.append(line)
    return out
