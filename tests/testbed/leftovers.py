# SPDX-License-Identifier: LGPL-2.1-or-later
"""What programs that are ended must not leave behind."""

import os
import re
import shutil
import signal
import subprocess
import sys

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start_time(pid):
    """Tells a process from a later one with the same number; None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return None


def own_prefix(kind):
    """Of a file or directory that is to go when we are dead."""
    return f"{kind}-{os.getpid()}-{start_time(os.getpid())}-"


def remove_dead(kind, directory):
    """Removes what own_prefix(@kind) named there, of processes that are dead, as their labs'
    namespaces are; the names."""
    removed = []
    for name in os.listdir(directory) if os.path.isdir(directory) else ():
        match = re.match(rf"{kind}-(\d+)-(\d+)-", name)
        path = os.path.join(directory, name)
        if not match or start_time(match[1]) == match[2]:
            continue
        try:
            if os.lstat(path).st_uid != os.geteuid():
                continue
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            removed.append(name)
        except OSError:  # somebody else was first
            pass
    return removed


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
