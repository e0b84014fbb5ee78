# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network of several hosts on one machine: namespaces joined by mcc-emulator.

    import netlab

    netlab.ensure_privileges()            # first thing in the program; may start it again
    with netlab.Lab(TOPOLOGY) as lab:
        lab.run("r1", ["gst-launch-1.0", ...])
        lab.at(10, "core", rate="600k")
        sampler = lab.sample(1.0)
        time.sleep(20)
    sampler.write_csv("links.csv")

TOPOLOGY is the text that README.md describes. Python 3.10 or newer, standard library only.
"""

import atexit
import contextlib
import csv
import fcntl
import glob
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import leftovers

DEVICE = "amc0"
RUN_NETNS = "/run/netns"
PREFIX = "amc-"
HOW = "NETLAB_PRIVILEGE"  # set in the program that ensure_privileges started again
STALE = re.compile(r"amc-.+?-(\d+)-(\d+)-\d+-")

KEPT = re.compile(
    r"(GST|MCC|NETLAB|PYTHON|XDG|LC|MESON)_\w+$|PATH$|LD_LIBRARY_PATH$|LANG$|TERM$|TMPDIR$"
    r"|DISPLAY$|WAYLAND_DISPLAY$|XAUTHORITY$"
)

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001


# Where the kernel shares CPUs out among sessions (autogroup), nice and SCHED_IDLE count within one
# only, and each program of ours is one: the spinner's gets a hundredth of theirs.
SPINNER = """
import os
import time
parent = os.getppid()
os.setsid()
try:
    with open("/proc/self/autogroup", "w") as file:
        file.write("19")
except OSError:
    pass
os.nice(19)
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    until = time.monotonic() + 0.004
    while time.monotonic() < until:
        pass
    time.sleep(0.001)
"""

AWAKE = "MCC_AWAKE"

_found = []  # "root", once that is known


class Unavailable(RuntimeError):
    """This machine does not let us make namespaces with TUN devices; the text says why."""


class LabError(RuntimeError):
    """The emulator refused a command or a topology, or ended."""


@contextlib.contextmanager
def awake():
    """Keeps every CPU busy with what gives way to all else: one that sleeps, of a virtual machine
    above all, wakes late. In /proc/stat this is `nice`. For four fifths of the time: a machine all
    of whose CPUs never rest may be stopped by its host, 100 ms at once."""
    if AWAKE in os.environ:  # whoever has started us does that
        yield
        return
    count = len(os.sched_getaffinity(0))
    spinners = [subprocess.Popen([sys.executable, "-c", SPINNER]) for _ in range(count)]
    os.environ[AWAKE] = "1"
    try:
        yield
    finally:
        del os.environ[AWAKE]
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


# -- privileges ---------------------------------------------------------------------------------


def _tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Unavailable(f"{name} is missing (packages iproute2 and util-linux)")
    return path


def _probe():
    """Makes a TUN device in a namespace of its own, as capabilities may be there in name only."""
    with open("/dev/net/tun", "r+b", buffering=0) as tun:
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"amcprobe", IFF_TUN_NO_PI))


def _probe_with(prefix):
    """None when a TUN device can be made by `prefix command`, else the reason."""
    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); "
        "import netlab; netlab._probe()"
    )
    try:
        done = subprocess.run(
            [*prefix, _tool("unshare"), "-n", "--", sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"


def find_privilege(sudo=True):
    """How namespaces can be made here: "root", "unshare" or "sudo"; else raises Unavailable."""
    if os.environ.get(HOW):
        return os.environ[HOW]
    if _found:
        return _found[0]
    if not os.path.exists("/dev/net/tun"):
        raise Unavailable(
            "there is no /dev/net/tun (modprobe tun; in a container: "
            "--device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN)"
        )
    _tool("ip")
    _tool("nsenter")
    reasons = []
    if os.geteuid() == 0:
        reason = _probe_with([])
        if not reason:
            _found.append("root")
            return "root"
        reasons.append(f"as root: {reason}")
    reason = _probe_with([_tool("unshare"), "-Urnm", "--"])
    if not reason:
        return "unshare"
    reasons.append(f"by unshare -Urnm: {reason}")
    if sudo and os.geteuid() != 0 and shutil.which("sudo"):
        interactive = sys.stdin.isatty() and sudo != "quiet"
        if interactive:
            print(
                "netlab: network namespaces need root on this machine: asking sudo", file=sys.stderr
            )
            subprocess.run(["sudo", "-v"], check=False)
        reason = _probe_with(["sudo", "-n", "--"])
        if not reason:
            return "sudo"
        reasons.append(f"by sudo: {reason}")
    raise Unavailable(
        "network namespaces with TUN devices cannot be made here; " + "; ".join(reasons)
    )


def ensure_privileges(argv=None, sudo=True):
    """Makes sure that this program may make namespaces, or raises Unavailable.

    Returns "root", "unshare" or "sudo". In the last two cases the program is started again, so
    call this before anything that must happen once only. sudo: True (may ask for a password on a
    terminal), "quiet" (never asks) or False. Programs that a Lab starts under sudo run as the user.
    """
    how = find_privilege(sudo)
    if os.environ.get(HOW) or how == "root":
        return how
    command = [sys.executable, *(sys.orig_argv[1:] if argv is None else argv)]
    environment = dict(os.environ, **{HOW: how})
    sys.stdout.flush()
    if how == "unshare":
        os.execve(_tool("unshare"), ["unshare", "-Urnm", "--", *command], environment)
    # Arguments are for all to see, so only what programs here need.
    environment["NETLAB_HOME"] = os.environ.get("HOME", "")
    kept = [f"{key}={value}" for key, value in environment.items() if KEPT.match(key)]
    os.execvp("sudo", ["sudo", "-n", "--", "env", *kept, *command])


# -- the machine --------------------------------------------------------------------------------


def remove_stale():
    """Removes the namespaces, and ends the programs in them, of labs whose process is dead."""
    removed = []
    if not os.path.isdir(RUN_NETNS) or os.geteuid() != 0:
        return removed
    for name in os.listdir(RUN_NETNS):
        match = STALE.match(name)
        if not match or leftovers.start_time(match[1]) == match[2]:
            continue
        pids = subprocess.run(
            [_tool("ip"), "netns", "pids", name], capture_output=True, text=True, check=False
        ).stdout.split()
        for pid in pids:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        if (
            subprocess.run(
                [_tool("ip"), "netns", "delete", name], capture_output=True, check=False
            ).returncode
            == 0
        ):
            removed.append(name)
    return removed


def find_emulator():
    """MCC_EMULATOR, the source tree's newest build, or the search path."""
    if os.environ.get("MCC_EMULATOR"):
        return os.environ["MCC_EMULATOR"]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    builds = glob.glob(os.path.join(root, "*", "tests", "testbed", "mcc-emulator"))
    if builds:
        return max(builds, key=os.path.getmtime)
    path = shutil.which("mcc-emulator")
    if path:
        return path
    raise LabError(
        "mcc-emulator is not built: meson setup build && meson compile -C build; "
        "or say where it is in MCC_EMULATOR"
    )


def _settings(params):
    """rate=600e3, drop_next=3 -> "rate=600000.0 drop-next=3"; True and False are 1 and 0."""
    words = []
    for key, value in params.items():
        if isinstance(value, bool):
            value = int(value)
        words.append(f"{key.replace('_', '-')}={value}")
    return " ".join(words)


class Host:
    """name, address (IPv4), address6, device, and netns: the namespace's path, None in UDP mode."""

    def __init__(self, name, address, address6):
        self.name = name
        self.address = address
        self.address6 = address6
        self.device = DEVICE
        self.netns = None
        self.label = None
        self.holder = None

    def __repr__(self):
        return f"<Host {self.name} {self.address}>"


class Sampler:
    """What each direction of each link did, a row per interval; stop() or the lab's end ends it."""

    FIELDS = (
        "time",
        "link",
        "from",
        "to",
        "rate_bps",
        "throughput_bps",
        "goodput_bps",
        "packets",
        "drops_queue",
        "drops_loss",
        "drops_down",
        "queue_packets",
        "queue_bytes",
        "lag_over_1ms",
        "lag_max_us",
    )

    def __init__(self, lab, interval):
        self.rows = []
        self._lab = lab
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="netlab-sampler")
        self._thread.start()

    def _run(self):
        last = self._lab.stats()
        due = time.monotonic()
        while True:
            due += self._interval
            if self._stop.wait(max(0.0, due - time.monotonic())):
                return
            try:
                stats = self._lab.stats()
            except LabError:
                return
            self.rows.extend(self._difference(last, stats))
            last = stats

    def _difference(self, last, stats):
        seconds = stats["time"] - last["time"]
        for old, new in zip(last["links"], stats["links"], strict=False):
            delta = {
                key: new[key] - old[key]
                for key in (
                    "tx_bytes",
                    "rx_bytes",
                    "tx_packets",
                    "drops_queue",
                    "drops_loss",
                    "drops_down",
                )
            }
            yield {
                "time": stats["time"],
                "link": new["link"],
                "from": new["from"],
                "to": new["to"],
                "rate_bps": new["rate_bps"],
                "throughput_bps": 8 * delta["tx_bytes"] / seconds,
                "goodput_bps": 8 * delta["rx_bytes"] / seconds,
                "packets": delta["tx_packets"],
                "drops_queue": delta["drops_queue"],
                "drops_loss": delta["drops_loss"],
                "drops_down": delta["drops_down"],
                "queue_packets": new["queue_packets"],
                "queue_bytes": new["queue_bytes"],
                "lag_over_1ms": stats["lag"]["over_1ms"] - last["lag"]["over_1ms"],
                "lag_max_us": stats["lag"]["max_us"],
            }

    def stop(self):
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        return self.rows

    def select(self, link, to=None):
        """The rows of one link, or of its direction towards a node."""
        return [row for row in self.rows if row["link"] == link and to in (None, row["to"])]

    def write_csv(self, path):
        with open(path, "w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, self.FIELDS)
            writer.writeheader()
            writer.writerows(self.rows)


class Lab:
    """The network, from `with` to the end of its block.

    topology: the text, see README.md. udp: no namespaces and no privileges; only the topology's
    `udp` lines work, and programs run as they are. name: for the namespaces' names. tcp: TCP's
    congestion control in the namespaces (a program's own choice comes first). realtime: let the
    emulator ask for SCHED_RR. trace: a file that gets what became of every packet. verbose: say on
    stderr what was set up.
    """

    _count = 0

    def __init__(
        self,
        topology,
        *,
        udp=False,
        name="lab",
        emulator=None,
        tcp=None,
        realtime=True,
        trace=None,
        verbose=False,
    ):
        self.topology = topology
        self.udp = udp
        self.name = re.sub(r"[^A-Za-z0-9_]", "_", name)[:24]
        self.tcp = tcp
        self.realtime = realtime
        self.trace = trace
        self.verbose = verbose
        self.privilege = None
        self.hosts = {}
        self.links = []
        self.flows = []
        self.processes = []
        self.started = None  # time.monotonic() when the emulator began: the zero of at()
        self.emulator = emulator or find_emulator()
        self._emulator = None
        self._file = None
        self._lock = threading.Lock()  # guards the emulator's pipes: one command at a time
        self._reply = b""
        self._samplers = []
        self._handlers = {}
        self._closed = False
        self._late = []  # signals that came while we closed

    # -- life --

    def __enter__(self):
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind, *_):
        self.close()
        if self._late and kind is None:
            signal.raise_signal(self._late[0])

    def _say(self, text):
        if self.verbose:
            print(f"netlab: {text}", file=sys.stderr)

    def _open(self):
        leftovers.remove_dead("netlab", tempfile.gettempdir())
        prefix = leftovers.own_prefix("netlab")
        self._file = tempfile.NamedTemporaryFile("w", prefix=prefix, suffix=".topology")
        self._file.write(self.topology)
        self._file.flush()
        done = subprocess.run(
            [self.emulator, "--describe", self._file.name],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            text = done.stderr.replace(self._file.name, "topology").strip()
            raise LabError(text.replace("mcc-emulator: ", ""))
        description = json.loads(done.stdout)
        self.links = description["links"]
        self.flows = description["flows"]
        self.hosts = {host["name"]: Host(**host) for host in description["hosts"]}
        self._catch_signals()
        atexit.register(self.close)
        if not self.udp:
            self.privilege = find_privilege(sudo=False)
            for stale in remove_stale():
                self._say(f"removed {stale} of a dead process")
            self._make_namespaces()
        self._start_emulator()
        if not self.udp:
            for host in self.hosts.values():
                self._configure(host)
        self._say(
            f"{len(self.hosts)} hosts, "
            + (
                "UDP ports of the loopback interface"
                if self.udp
                else f"namespaces {self.label('HOST')} by {self.privilege}"
            )
        )

    def label(self, host):
        return self._label + host

    def _make_namespaces(self):
        Lab._count += 1
        self._label = f"{leftovers.own_prefix(PREFIX + self.name)}{Lab._count}-"
        for host in self.hosts.values():
            if self.privilege == "unshare":
                # /run/netns is not ours: a process holds the namespace, and ends when we do.
                host.holder = subprocess.Popen(
                    [_tool("unshare"), "-n", "--", "sh", "-c", "echo; exec cat >/dev/null"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )
                if not host.holder.stdout.readline():
                    raise Unavailable("unshare -n failed")
                host.netns = f"/proc/{host.holder.pid}/ns/net"
            else:
                host.label = self.label(host.name)
                done = subprocess.run(
                    [_tool("ip"), "netns", "add", host.label],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode != 0:
                    host.label = None
                    raise Unavailable(f"ip netns add: {done.stderr.strip()}")
                host.netns = f"{RUN_NETNS}/{host.label}"

    def _start_emulator(self):
        command = [self.emulator, "--until-eof"]
        if not self.realtime:
            command.append("--no-realtime")
        if self.trace:
            command += ["--trace", os.fspath(self.trace)]
        for host in self.hosts.values():
            if host.netns:
                command += ["--tun", f"{host.name}={host.netns}"]
        # A session of its own: Ctrl-C is for us, the network goes last.
        self._emulator = subprocess.Popen(
            [*command, self._file.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        if self._read_line(10) != b"ready":
            self._emulator.wait(5)
            raise LabError("the emulator did not start (see its message above)")
        self._file.close()  # it has been read
        self.started = time.monotonic() - self.stats()["time"]

    def _configure(self, host):
        ipv4 = f"{host.address}/16"
        batch = "\n".join(
            (
                "link set lo up",
                f"link set {DEVICE} up mtu 1500 txqueuelen 1000",
                f"addr add {ipv4} dev {DEVICE}",
                f"addr add {host.address6}/64 dev {DEVICE} nodad",
                f"route add default dev {DEVICE}",
                f"route add 224.0.0.0/4 dev {DEVICE}",
                f"route add ::/0 dev {DEVICE}",
                "",
            )
        )
        # Sysctls before the device is up. A read-only /proc/sys (containers) is not fatal.
        sysctls = [
            ("ipv4/conf/all/rp_filter", 0),
            (f"ipv4/conf/{DEVICE}/rp_filter", 0),
            (f"ipv6/conf/{DEVICE}/accept_ra", 0),
            (f"ipv6/conf/{DEVICE}/accept_dad", 0),
            (f"ipv6/conf/{DEVICE}/disable_ipv6", 0),
            (f"ipv6/conf/{DEVICE}/keep_addr_on_down", 1),
            ("ipv4/tcp_no_metrics_save", 1),  # a connection knows nothing of those before it
        ]
        if self.tcp:
            sysctls.append(("ipv4/tcp_congestion_control", self.tcp))
        script = "".join(f"echo {value} > /proc/sys/net/{key}\n" for key, value in sysctls)
        enter = [_tool("nsenter"), f"--net={host.netns}", "--"]
        subprocess.run([*enter, "sh", "-c", script], stderr=subprocess.DEVNULL, check=False)
        done = subprocess.run(
            [*enter, _tool("ip"), "-batch", "-"],
            input=batch,
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise LabError(f"setting up {host.name}: {done.stderr.strip()}")

    def _catch_signals(self):
        if threading.current_thread() is not threading.main_thread():
            return

        def stop(number, _frame):
            raise SystemExit(128 + number)

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                self._handlers[number] = signal.signal(number, stop)

    def close(self):
        """Ends the programs, the emulator and the namespaces. May be called twice."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        # A signal must not leave half of it behind: it waits.
        held = {}
        if threading.current_thread() is threading.main_thread():
            for number in leftovers.ENDS:
                held[number] = signal.signal(number, lambda late, _: self._late.append(late))
        for sampler in self._samplers:
            sampler.stop()
        self._end_processes()
        self._end_emulator()
        for host in self.hosts.values():
            if host.holder:
                host.holder.stdin.close()
                host.holder.stdout.close()
                host.holder.wait()
            elif host.label:
                subprocess.run(
                    [_tool("ip"), "netns", "delete", host.label],
                    check=False,
                    capture_output=True,
                    start_new_session=True,  # Ctrl-C is not for it
                )
        if self._file:
            self._file.close()
        for number, handler in {**held, **self._handlers}.items():
            signal.signal(number, handler)

    def _end_processes(self):
        for number, seconds in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
            for process in self.processes:
                # The group, also when its leader has ended: children may be left.
                try:
                    os.killpg(process.pid, number)
                except (ProcessLookupError, PermissionError):
                    pass
            deadline = time.monotonic() + seconds
            for process in self.processes:
                try:
                    process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    pass

    def _end_emulator(self):
        if not self._emulator:
            return
        self._emulator.stdin.close()
        try:
            self._emulator.wait(3)
        except subprocess.TimeoutExpired:
            self._emulator.kill()
            self._emulator.wait()
        self._emulator.stdout.close()

    def interface(self, host, up):
        """Takes the device of a host down, or up again, with the routes that the kernel forgot."""
        if not up:
            self.call(host, [_tool("ip"), "link", "set", DEVICE, "down"])
            return
        routes = "".join(
            f"route replace {prefix} dev {DEVICE}\n"
            for prefix in ("default", "224.0.0.0/4", "::/0")
        )
        self.call(host, [_tool("ip"), "link", "set", DEVICE, "up"])
        self.call(host, ["sh", "-c", f"printf '{routes}' | {_tool('ip')} -batch -"])

    # -- programs --

    def command(self, host, argv):
        """The argument list that runs argv in the namespace of a host."""
        host = self.hosts[host] if isinstance(host, str) else host
        if not host.netns:
            return list(argv)
        command = [_tool("nsenter"), f"--net={host.netns}"]
        if self.privilege == "sudo" or (os.geteuid() == 0 and os.environ.get("SUDO_UID")):
            command += ["-S", os.environ["SUDO_UID"], "-G", os.environ["SUDO_GID"]]
            home = os.environ.get("NETLAB_HOME") or os.path.expanduser(
                "~" + os.environ.get("SUDO_USER", "")
            )
            command += ["--", "env", f"HOME={home}", f"USER={os.environ.get('SUDO_USER', '')}"]
        else:
            command.append("--")
        return [*command, *argv]

    def run(self, host, argv, **kwargs):
        """subprocess.Popen in the namespace of a host; the lab ends it (and its group) at last."""
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        kwargs.setdefault("start_new_session", True)
        process = subprocess.Popen(self.command(host, argv), **kwargs)
        if kwargs["start_new_session"]:
            self.processes.append(process)
        return process

    def call(self, host, argv, timeout=30, check=True, **kwargs):
        """Runs a program to its end; returns subprocess.CompletedProcess with text output."""
        return subprocess.run(
            self.command(host, argv),
            timeout=timeout,
            check=check,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            **kwargs,
        )

    # -- the network --

    def _read_line(self, seconds):
        """A line of the emulator, without its end; "" at its end of file or after `seconds`."""
        deadline = time.monotonic() + seconds
        descriptor = self._emulator.stdout.fileno()
        while b"\n" not in self._reply:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                return b""
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                return b""
            self._reply += chunk
        line, self._reply = self._reply.split(b"\n", 1)
        return line

    def ask(self, line):
        """One command line to the emulator; its answer. LabError when it refuses or has ended."""
        with self._lock:
            try:
                self._emulator.stdin.write(line.encode() + b"\n")
                self._emulator.stdin.flush()
                answer = self._read_line(10).decode()
            except (OSError, ValueError) as error:
                raise LabError(f"the emulator has ended ({error})") from error
        if not answer:
            raise LabError("the emulator does not answer")
        if answer.startswith("error: "):
            raise LabError(answer[7:])
        return answer

    def set(self, link, **params):
        """Changes a link now: set("core", rate="600k", loss=0.01); "core>b": towards b only."""
        self.ask(f"set {link} {_settings(params)}")

    def at(self, seconds, link, **params):
        """The same, later: seconds after `started`."""
        self.ask(f"at {seconds:.6f} set {link} {_settings(params)}")

    def after(self, seconds, link, **params):
        """The same, `seconds` from now."""
        self.at(self.now() + seconds, link, **params)

    def now(self):
        """Seconds since the emulator began."""
        return time.monotonic() - self.started

    def set_leave_latency(self, latency, host=""):
        self.ask(f"leave-latency {latency} {host}")

    def stats(self):
        """All counters of all links (see README.md), as a dict."""
        return json.loads(self.ask("stats"))

    def link_stats(self, link, to):
        """The counters of the direction of a link that goes towards the node `to`."""
        for row in self.stats()["links"]:
            if row["link"] == link and row["to"] == to:
                return row
        raise KeyError(f"{link}>{to}")

    def members(self):
        """{host: [group, ...]}: the groups the hosts are members of, in the network's eyes."""
        return {
            host: [group["group"] for group in groups if group["joined"]]
            for host, groups in self.memberships().items()
        }

    def memberships(self):
        """{host: [{"group", "mode", "joined", "sources"}, ...]}"""
        return json.loads(self.ask("members"))

    def wait_member(self, host, group, seconds=5.0, joined=True):
        """Waits until a host is (or is not) a member; returns whether it came to pass."""
        deadline = time.monotonic() + seconds
        while (group in self.members()[host]) != joined:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def lag(self):
        """How late packets left: count, mean_us, max_us, over_1ms, over_5ms, over_1ms_ratio."""
        lag = self.stats()["lag"]
        lag["over_1ms_ratio"] = lag["over_1ms"] / lag["count"] if lag["count"] else 0.0
        return lag

    def reset_lag(self):
        self.ask("reset-lag")

    def sample(self, interval=1.0):
        """Starts to sample all links; returns the Sampler."""
        sampler = Sampler(self, interval)
        self._samplers.append(sampler)
        return sampler
