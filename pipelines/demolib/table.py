# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live table of the demo."""

import io
import os
import shutil
import sys
import textwrap

BAR = " ▁▂▃▄▅▆▇█"
PLAIN_BAR = " .:-=+*#@"  # for terminals of Latin-1 or ASCII


def rate(bits):
    """Three figures with a unit."""
    if bits >= 9_995_000:
        return f"{bits / 1e6:.1f} Mb/s"
    if bits >= 999_500:
        return f"{bits / 1e6:.2f} Mb/s"
    return f"{bits / 1e3:.0f} kb/s"


def spark(values, top, width=40):
    """The last @width values as bars of 0..top."""
    if not values or top <= 0:
        return ""
    bar = BAR if can_show(BAR, sys.stdout) else PLAIN_BAR
    marks = [bar[min(8, max(0, round(8 * value / top)))] for value in values[-width:]]
    return "".join(marks)


def can_show(text, out):
    try:
        text.encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class Table:
    """Redraws in place on a terminal; elsewhere prints a line now and then."""

    def __init__(self, out=sys.stdout):
        self.out = out
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="replace")  # what elements say may hold anything
        self.live = out.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        self.lines = 0
        self.quiet_until = 0.0

    def say(self, text):
        """Above the table, for good."""
        if self.lines:
            self.out.write(f"\x1b[{self.lines}A\x1b[J")
            self.lines = 0
        print(text, file=self.out, flush=True)

    def show(self, now, head, rows, notes):
        """@head: one line; @rows: lists of cells, the first row the titles; @notes: last lines."""
        if not self.live:
            if now >= self.quiet_until:
                self.quiet_until = now + 2
                cells = "; ".join(" ".join(cell for cell in row if cell) for row in rows[1:])
                print(f"{head}; {cells}", file=self.out, flush=True)
            return
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        columns = shutil.get_terminal_size().columns - 1  # the terminal must not wrap a line
        text = [*textwrap.wrap(head, columns), ""]
        for row in rows:
            cells = [cell.ljust(w) for cell, w in zip(row, widths, strict=True)]
            text.append("  ".join(cells).rstrip())
        text += [""] + notes
        up = f"\x1b[{self.lines}A" if self.lines else ""
        body = "".join(f"\x1b[2K{line[:columns]}\n" for line in text)
        self.out.write(up + body + "\x1b[J")
        self.out.flush()
        self.lines = len(text)
