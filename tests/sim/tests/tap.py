# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a module's test_* functions and prints TAP."""

import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


def main(module):
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        name = test.__name__[5:].replace("_", "-")
        try:
            test()
            print(f"ok {number} {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"not ok {number} {name}", flush=True)
            text = traceback.format_exc() if not isinstance(error, AssertionError) else ""
            frame = traceback.extract_tb(error.__traceback__)[-1]
            for line in (text or f"{frame.filename}:{frame.lineno}: {error}").splitlines():
                print(f"# {line}", flush=True)
    return 1 if failed else 0
