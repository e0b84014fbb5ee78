# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a page of results says of the programs that it measured."""

import datetime
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def built():
    """'1aed868, 2026-11-20': the commit of this tree and today; with what gst/ has beyond it."""

    def git(*words):
        done = subprocess.run(
            ["git", "-C", TOP, *words], capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    commit = git("rev-parse", "--short", "HEAD") or "a tree without git"
    changed = " and changes" if git("status", "--porcelain", "gst") else ""
    return f"{commit}{changed}, {datetime.date.today()}"
