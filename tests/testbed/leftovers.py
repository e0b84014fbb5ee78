# SPDX-License-Identifier: LGPL-2.1-or-later
"""What programs that are ended must not leave behind."""

import signal
import subprocess
import sys

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_once():
    """Signals end this program as an exception does, so that all it has is given back; those after
    the first change nothing, or they would break into that."""

    def end(number, _frame):
        for each in ENDS:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for each in ENDS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # nohup
            signal.signal(each, end)


def run(words):
    """A program's exit status. Where we are ended it is, too, and waited for: subprocess.run would
    kill it before its lab is gone."""
    process = subprocess.Popen([str(word) for word in words])
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
