#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads meson's testlog.json and prints 'N passed, N failed, N skipped'.

TAP tests count their cases, others count one. Failed tests are named. Exit status 1 when anything
failed or nothing ran.
"""

import json
import re
import sys

CASE = re.compile(r"^(ok|not ok)\b[^#\n]*(#\s*(SKIP|TODO)\b)?", re.I | re.M)


def count(test):
    """(passed, failed, skipped) of one line of the log."""
    result = test["result"]
    cases = CASE.findall(test.get("stdout") or "")
    skipped = sum(1 for _, _, what in cases if what.upper() == "SKIP")
    failed = sum(1 for ok, _, what in cases if ok.lower() == "not ok" and not what)
    passed = len(cases) - skipped - failed
    if result == "SKIP":
        return 0, 0, max(1, skipped)
    if result in ("OK", "EXPECTEDFAIL"):
        return (passed, 0, skipped) if cases else (1, 0, 0)
    return passed, max(1, failed), skipped


def main(paths):
    total = [0, 0, 0]
    for path in paths:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                counts = count(test)
                total = [a + b for a, b in zip(total, counts, strict=True)]
                if counts[1]:
                    print(f"FAILED: {test['name']} ({test['result']}, {test['duration']:.1f} s)")
                    tail = ((test.get("stdout") or "") + (test.get("stderr") or "")).splitlines()
                    print("\n".join("    " + text for text in tail[-40:]))
                elif counts[2]:
                    reason = re.findall(r"(?:SKIP|skipped:?)\s*(.+)", test.get("stdout") or "")
                    print(f"skipped: {test['name']}: {'; '.join(sorted(set(reason))[:3])}")
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
