#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the scripts of pipelines/ do around GStreamer, with stand-ins for its programs: signals,
exit status, the hint how to receive."""

import argparse
import configparser
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PIPELINES = ROOT / "pipelines"
sys.path[:0] = [str(HERE.parent / "sim" / "tests"), str(PIPELINES)]

import tap  # noqa: E402

SCRIPTS = [f"{name}-{verb}" for name in ("asmp", "assp", "elm") for verb in ("send", "receive")]
STATUS = 3
# As gst-launch-1.0 -e: the first SIGINT is EOS, which takes its time; a second one is not caught.
LAUNCH = f"""#!/usr/bin/python3 -SE
import os, signal, sys, time
told = open(os.environ["TOLD"], "a", buffering=1)
def interrupt(number, frame):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    told.write("interrupted\\n")
    time.sleep(0.8)
    told.write("ended\\n")
    sys.exit({STATUS})
signal.signal(signal.SIGINT, interrupt)
told.write("started " + " ".join(sys.argv[1:]) + "\\n")
time.sleep(0 if os.environ.get("AT_ONCE") else 20)
sys.exit({STATUS})
"""


@contextlib.contextmanager
def stand_ins(**env):
    """(environment, what gst-launch-1.0 tells)."""
    with tempfile.TemporaryDirectory(prefix="adaptive-multicast-scripts-") as directory:
        programs, told = Path(directory) / "bin", Path(directory) / "told"
        programs.mkdir()
        for name, text in (("gst-launch-1.0", LAUNCH), ("gst-inspect-1.0", "#!/bin/sh\n")):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        told.touch()
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        yield {**os.environ, "PATH": path, "TOLD": str(told), **env}, told


def ended_by(script, end):
    """(exit status, what gst-launch-1.0 told) of @script that runs until @end (process)."""
    with stand_ins() as (env, told):
        process = subprocess.Popen(
            [PIPELINES / script], env=env, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            until = time.monotonic() + 10
            while "started" not in told.read_text() and time.monotonic() < until:
                time.sleep(0.02)
            end(process)
            status = process.wait(10)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return status, told.read_text().splitlines()[1:]


def test_signals_end_it_cleanly():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        ways = {
            "the script alone": lambda process, n=number: process.send_signal(n),
            "all processes": lambda process, n=number: os.killpg(process.pid, n),
        }
        for name, end in ways.items():
            status, told = ended_by("asmp-send", end)
            what = (number.name, name, status, told)
            assert status == STATUS and told == ["interrupted", "ended"], what


def test_all_scripts_do():
    for script in SCRIPTS:
        status, told = ended_by(script, lambda process: os.killpg(process.pid, signal.SIGTERM))
        assert status == STATUS and told == ["interrupted", "ended"], (script, status, told)


def test_second_signal_is_not_waited_out():
    def twice(process):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.4)
        process.send_signal(signal.SIGTERM)

    status, told = ended_by("asmp-receive", twice)
    assert status == 128 + signal.SIGINT and told == ["interrupted"], (status, told)


def test_exit_status():
    for script in SCRIPTS:
        with stand_ins(AT_ONCE="1") as (env, told):
            done = subprocess.run([PIPELINES / script], env=env, capture_output=True, timeout=10)
            assert done.returncode == STATUS, (script, done)
            assert told.read_text().startswith("started -e "), told.read_text()


def load(path):
    """A program as a module."""
    loader = importlib.machinery.SourceFileLoader(path.stem, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.stem, loader))
    loader.exec_module(module)
    return module


def test_latency_is_distributed_anew():
    """What decoders tell of theirs reaches the sinks."""
    for path, kind in (
        (PIPELINES / "embed" / "receiver.py", "Player"),
        (PIPELINES / "node", "Node"),
    ):
        module = load(path)
        module.Gst.init(None)
        program = getattr(module, kind).__new__(getattr(module, kind))
        program.pipeline = mock.Mock()
        program.on_message(None, module.Gst.Message.new_latency(None))
        program.pipeline.recalculate_latency.assert_called_once_with()


def hint(script, *words):
    with stand_ins(AT_ONCE="1") as (env, _):
        argv = [PIPELINES / script, *words]
        return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=10).stdout


def test_hint():
    table = (
        ([], "asmp://239.255.12.42:5004"),
        (["--iface", "eth0"], "asmp://239.255.12.42:5004"),
        (["source-address=192.0.2.1", "--address", "232.1.2.3"], "asmp://192.0.2.1@232.1.2.3:5004"),
        (["--address", "ff15::42", "--iface", "eth0"], "asmp://[ff15::42]:5004"),
        # valid on one link only: a receiver must name its interface
        (
            ["--address", "ff02::42", "--iface", "eth0"],
            "asmp://[ff02::42]:5004?multicast-iface=eth0",
        ),
        (
            ["address=FF11::42", "multicast-iface=a b"],
            "asmp://[FF11::42]:5004?multicast-iface=a%20b",
        ),
        (
            ["--address", "ff02::42", "srtp-key-file=k", "--iface", "eth0"],
            "asmp://[ff02::42]:5004?srtp-key-file=k&multicast-iface=eth0",
        ),
    )
    for words, uri in table:
        told = hint("asmp-send", *words)
        assert f"gst-play-1.0 '{uri}'" in told, (words, told)
    assert "'elm://[ff02::1]:5020?multicast-iface=lo'" in hint(
        "elm-send", "--address", "ff02::1", "--iface", "lo"
    )
    main = demolib("main")
    for address, iface, there in (
        ("ff02::42", "eth0", "asmp://[ff02::42]:5004?multicast-iface=eth0"),
        ("ff15::42", "eth0", "asmp://[ff15::42]:5004"),
        ("239.1.2.3", "eth0", "asmp://239.1.2.3:5004"),
    ):
        args = argparse.Namespace(address=address, port=5004, iface=iface)
        assert main.uri(args) == there, main.uri(args)


def demolib(name):
    """A module of the demo."""
    return importlib.import_module(f"demolib.{name}")


def refused(*words):
    """What the demo says of arguments that it refuses."""
    error = io.StringIO()
    try:
        with contextlib.redirect_stderr(error):
            demolib("arguments").parse(words)
    except SystemExit as end:
        assert end.code == 2, end.code
        return error.getvalue()
    raise AssertionError(f"taken: {words}")


def test_demo_does_what_it_is_told():
    assert "choose one" in refused("--assp", "--elm")
    assert "pipelines/assp-send --camera /dev/null" in refused("--camera", "/dev/null", "--assp")
    assert "pipelines/elm-send --camera /dev/null" in refused("--elm", "--camera", "/dev/null")


def test_each_demo_has_a_picture_of_its_own():
    parse = demolib("arguments").parse
    pictures = [parse(words).plot for words in ([], ["--assp"], ["--elm"])]
    assert pictures == ["demo.png", "demo-assp.png", "demo-elm.png"], pictures
    ignored = (ROOT / ".gitignore").read_text().split()
    assert all(f"/{picture}" in ignored for picture in pictures), ignored
    with tempfile.TemporaryDirectory() as directory:
        mine = f"{directory}/mine.png"
        assert parse(["--assp", "--plot", mine]).plot == mine


# An emulator whose ports another one has.
BUSY = """#!/bin/sh
[ "$1" != --describe ] || exec echo '{"links": [], "flows": [], "hosts": []}'
echo "mcc-emulator: udp 55014: Address already in use" >&2
exit 1
"""


def unlucky_demo(directory, *words):
    """(exit status, what it says) of a demo with its build in @directory, without namespaces."""
    main, error = demolib("main"), io.StringIO()
    argv = ["demo", "--builddir", directory, "--record", directory, "--plot", f"{directory}/p.png"]
    none = mock.Mock(side_effect=main.netlab.Unavailable("not here"))
    with (
        mock.patch.object(main.netlab, "ensure_privileges", none),
        mock.patch.object(sys, "argv", [*argv, *words]),
        contextlib.redirect_stderr(error),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        return main.main(), error.getvalue()


def test_demo_says_what_is_missing():
    """Nothing of these is a traceback."""
    with tempfile.TemporaryDirectory() as directory:
        status, told = unlucky_demo(directory)
        assert status == 1 and told.startswith("demo: there is no "), (status, told)
        assert "-Dtests=enabled" in told, told
        emulator = Path(directory) / "tests" / "testbed" / "mcc-emulator"
        emulator.parent.mkdir(parents=True)
        emulator.write_text(BUSY)
        emulator.chmod(0o755)
        status, told = unlucky_demo(directory)
        assert status == 1 and told.startswith("demo: the emulator did not start"), (status, told)
        assert "another demo" in told, told
        status, told = unlucky_demo(directory, "--assp")
        assert status == 2 and "needs network namespaces" in told, (status, told)


def test_cdpath_leads_nowhere():
    """With it cd goes elsewhere, or prints where it went."""
    env = {**os.environ, "CDPATH": str(ROOT)}
    argv = ["pipelines/demo", "--assp", "--elm"]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=10)
    assert "choose one" in done.stderr, done
    for script in [*PIPELINES.iterdir(), *(ROOT / "tests").rglob("*"), ROOT / ".ci" / "run"]:
        if script.is_file() and script.read_bytes()[:30].startswith(
            (b"#!/usr/bin/env bash", b"#!/bin/sh")
        ):
            text = script.read_text("utf-8")
            assert not re.search(r'(?<!CDPATH= )\bcd (-- )?["$]', text), script


def test_demo_builds_where_it_is_told():
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory) / "top"
        (top / "pipelines" / "demolib").mkdir(parents=True)
        for name, text in (
            ("demo", (PIPELINES / "demo").read_text()),
            ("setup", "#!/bin/sh\necho setup $*\n"),
            ("demolib/arguments.py", ""),
            ("demolib/main.py", "import sys\nprint('main', *sys.argv[1:])\n"),
        ):
            (top / "pipelines" / name).write_text(text)
            (top / "pipelines" / name).chmod(0o755)
        link = Path(directory) / "demo"
        link.symlink_to(top / "pipelines" / "demo")
        for words, there in (
            ([], top / "_build"),
            (["--builddir", "b c"], Path(directory) / "b c"),
            (["--builddir=b"], Path(directory) / "b"),
        ):
            done = subprocess.run(
                [link, "--elm", *words, "--yes"],
                cwd=directory,
                capture_output=True,
                text=True,
                timeout=10,
            )
            there = there.resolve()
            wanted = f"setup --builddir {there} --yes\nmain --builddir {there} --elm\n"
            assert done.stdout == wanted, (words, done)


def test_table_on_any_terminal():
    table = demolib("table")
    for encoding, bars in (("latin-1", " -@"), ("ascii", " -@"), ("utf-8", " ▃█")):
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        with contextlib.redirect_stdout(out):
            shown = table.Table(out)
            shown.live = True
            assert table.spark([0, 3, 8], 8) == bars, (encoding, table.spark([0, 3, 8], 8))
            shown.show(1.0, "head", [["receiver"], ["a"]], [table.spark([0, 8], 8)])
            shown.say("→")
        out.flush()
        assert b"head" in out.buffer.getvalue(), encoding


def test_terminals_that_rewrite_nothing():
    table = demolib("table")
    out = mock.Mock(**{"isatty.return_value": True})
    for name, live in (("xterm", True), ("dumb", False), ("", False), (None, False)):
        with mock.patch.dict(os.environ, {"TERM": name or ""}):
            if name is None:
                del os.environ["TERM"]
            assert table.Table(out).live == live, name


def test_setup_wants_its_python():
    """Before it installs or builds anything."""
    with tempfile.TemporaryDirectory() as directory:
        for old, there in ((True, "Python 3.9"), (False, "Missing packages: nothing")):
            top = Path(directory) / str(old)
            (top / "pipelines").mkdir(parents=True)
            python = top / "python3"
            python.write_text(f"#!/bin/sh\n[ $1 != -V ] || exec echo Python 3.9.2\nexit {old:d}\n")
            setup = top / "pipelines" / "setup"
            text = (PIPELINES / "setup").read_text().replace("/usr/bin/python3", str(python))
            setup.write_text(text)
            (top / "pipelines" / "packages.txt").write_text("run nothing file:/nowhere\n")
            for program in (python, setup):
                program.chmod(0o755)
            done = subprocess.run(
                [setup, "--no-build"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=10,
            )
            assert done.returncode == 1 and there in done.stdout + done.stderr, done


def test_source_as_gst_launch_writes_it():
    for script in SCRIPTS[::2]:
        with stand_ins(AT_ONCE="1") as (env, told):
            argv = [PIPELINES / script, "--source", "fakesrc tags='title=\"a  b\"' ! identity"]
            subprocess.run(argv, env=env, capture_output=True, timeout=10)
            there = 'started -e fakesrc tags=title="a  b" ! identity ! videoconvert '
            assert told.read_text().startswith(there), told.read_text()


def test_source_with_a_bad_quote_is_refused():
    for script in SCRIPTS[::2]:
        with stand_ins(AT_ONCE="1") as (env, told):
            argv = [PIPELINES / script, "--source", "v4l2src device='/dev/video1"]
            done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=10)
            assert done.returncode == 2 and "quotes do not match" in done.stderr, done
            assert told.read_text() == "", told.read_text()


def test_bitrate_of_layers_is_their_bound():
    for words, there, bounds in (
        ([], "bitrate=1500 ", []),
        (["--bitrate", "900"], "bitrate=900 ", ["max-bitrate=900000"]),
        (["max-bitrate=2000000", "--bitrate", "900"], "bitrate=900 ", ["max-bitrate=2000000"]),
    ):
        with stand_ins(AT_ONCE="1") as (env, told):
            argv = [PIPELINES / "elm-send", *words]
            subprocess.run(argv, env=env, capture_output=True, timeout=10)
            text = told.read_text()
            assert there in text and re.findall(r"max-bitrate=\S+", text) == bounds, (words, text)


def test_service_names_what_there_is():
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read(PIPELINES / "sender.service")
    argv = unit["Service"]["ExecStart"].split()
    assert Path(argv[0]).parent.name == "pipelines" and Path(argv[0]).name in SCRIPTS, argv
    known = subprocess.run(
        [PIPELINES / Path(argv[0]).name, "--help"], capture_output=True, text=True, timeout=10
    ).stdout
    assert all(word in known for word in argv if word.startswith("--")), argv
    assert unit["Service"]["Restart"] == "on-failure"


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
