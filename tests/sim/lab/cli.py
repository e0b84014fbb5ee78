# SPDX-License-Identifier: LGPL-2.1-or-later
"""What run, check and report share: arguments, loading, running."""

import argparse
import os
import re
import sys
from pathlib import Path

from . import grid
from .document import Errors, NoPlace, choose
from .outcome import Outcome, Plan, known_variant
from .runner import LabError, Runner, Store
from .units import UnitError, parse

TOP = Path(__file__).resolve().parents[3]
SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
GRIDS = SCENARIOS / "grids"  # not among the scenarios that are run by default


class Usage(Exception):
    """Wrong arguments; exit status 2."""


def seed_list(text):
    """'10': seeds 1 to 10; '3,5': these; '4-6': 4, 5 and 6."""
    if re.fullmatch(r"[0-9]{1,4}", text) and int(text) > 0:
        return list(range(1, int(text) + 1))
    out = []
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part)
        if not match or (match[2] and int(match[2]) < int(match[1])):
            raise argparse.ArgumentTypeError(f"'{text}': 10, or 3,5, or 4-6, is allowed")
        out += range(int(match[1]), int(match[2] or match[1]) + 1)
    if not out or 0 in out:
        raise argparse.ArgumentTypeError(f"'{text}': seeds are 1 or more")
    return sorted(set(out))


def duration(text):
    try:
        value = parse(text, "time")
    except UnitError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}': at least 1 s")
    return value


def jobs_number(text):
    if not re.fullmatch(r"[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError(f"'{text}': a number from 1 on")
    return int(text)


def part(text):
    """'2/5': the second of five."""
    match = re.fullmatch(r"([1-9][0-9]{0,2})/([1-9][0-9]{0,2})", text)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}': 1/4 to 4/4, say, is allowed")
    return int(match[1]), int(match[2])


def minutes(text):
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]+)?", text):
        raise argparse.ArgumentTypeError(f"'{text}': a number of minutes, 0 or more")
    return float(text)


def names(text):
    return [name for name in text.split(",") if name]


def parser(doc, files):
    """@files: how many scenario files: '+', or '*' for all of scenarios/."""
    out = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    out.add_argument("files", nargs=files, metavar="FILE", help="scenario, or its id")
    out.add_argument("--seeds", type=seed_list, metavar="N|A,B", help="10: 1 to 10; 3,5: these")
    out.add_argument("--jobs", type=jobs_number, default=os.cpu_count(), metavar="N")
    out.add_argument("--variant", type=names, metavar="A,B", help="default: the file's")
    out.add_argument("--duration", type=duration, metavar="TIME", help="shorter: '60 s'")
    out.add_argument("--builddir", type=Path, default=TOP / "_build", metavar="DIR")
    out.add_argument("--smoke", action="store_true", help="the files' short form")
    out.add_argument("--cells", metavar="PATTERN", help="only ids like that: '*-red-reno'")
    out.add_argument("--part", type=part, metavar="I/N", help="a fixed part of the scenarios")
    out.add_argument(
        "--minutes",
        type=minutes,
        metavar="N",
        help="the cheap runs first, and none begun after that; 0: only what was run before",
    )
    return out


def setting(text):
    """'links/l1/delay=5 ms' -> (place, text)."""
    place, equals, value = text.partition("=")
    if not equals or not place or not value:
        raise argparse.ArgumentTypeError(f"'{text}': links/l1/delay='5 ms', say, is allowed")
    return place, value


def load(paths, settings=()):
    """Scenarios of @paths (files, or ids of scenarios/), every file's errors in one Usage."""
    if not paths:
        paths = sorted(SCENARIOS.glob("*.yaml"))
    out, wrong = [], []
    for path in paths:
        path = Path(path)
        for own in (SCENARIOS / f"{path}.yaml", GRIDS / f"{path}.yaml"):
            if not path.exists() and path.suffix == "" and own.exists():
                path = own
        try:
            out += grid.load(path, settings)
        except Errors as errors:
            wrong.append(str(errors))
        except NoPlace as error:
            wrong.append(f"{path}: --set: {error}")
    ids = {}
    for scenario in out:
        if scenario.id in ids:
            line = scenario.data.at("id")
            wrong.append(f"{scenario.path}:{line}: '{scenario.id}' is {ids[scenario.id]}'s id too")
        ids.setdefault(scenario.id, scenario.path)
    if wrong:
        raise Usage("\n".join(wrong))
    return out


def plans(loaded, arguments):
    """One Plan for each scenario; with --smoke only those that have a short form."""
    out = []
    loaded = grid.chosen(loaded, arguments.cells, arguments.part)
    if not loaded:
        raise Usage("--cells and --part leave none of these scenarios")
    for scenario in loaded:
        for name in arguments.variant or ():
            if not known_variant(scenario, name):
                known = [variant["id"] for variant in scenario.data["variants"]]
                raise Usage(f"{scenario.id} has no variant '{name}'; {choose(name, known)}")
        if arguments.smoke and "smoke" not in scenario.data:
            continue
        out.append(
            Plan(scenario, arguments.variant, arguments.seeds, arguments.duration, arguments.smoke)
        )
    if not out:
        raise Usage("none of these scenarios has a 'smoke'")
    return out


def execute(plan_list, arguments, quiet=False):
    """(outcomes, failures, store) of all plans together."""
    store = Store(arguments.builddir)
    runner = Runner(store, arguments.jobs, minutes=arguments.minutes)
    outcomes = {plan.scenario.id: Outcome(plan) for plan in plan_list}
    jobs = [job for plan in plan_list for job in plan.jobs()]
    failures = runner.run(
        jobs, lambda job, result: outcomes[job.scenario.id].add(job, result), quiet
    )
    return list(outcomes.values()), failures, store


def main(function, *args):
    """Runs a script: what is wrong becomes a line and a status, Ctrl-C 130."""
    try:
        return function(*args)
    except Usage as error:
        print(error, file=sys.stderr)
        return 2
    except LabError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; what has ended is kept", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
