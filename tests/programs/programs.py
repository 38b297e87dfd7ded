"""Programs that know nothing of kaccel, run with OPENSSL_CONF and nothing else; their counts.

KACCEL_BUILD_DIR names the build to test (default: build/release). KACCEL_TEST_DEVICE=qce says that
the machine has that device (tests/lab/tests.sh says it): then every program must have used it.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KACCEL_BUILD_DIR", ROOT / "build" / "release")).absolute()
MODULE = BUILD / "provider" / "kaccel.so"
CALIBRATE = BUILD / "calibrate" / "kaccel-calibrate"
DEVICE = os.environ.get("KACCEL_TEST_DEVICE", "")
# What goes through one connection each way; fewer in the lab, whose machine is emulated.
MEGABYTES = int(os.environ.get("KACCEL_TEST_MEGABYTES", 4 if DEVICE else 100))

# Beyond every test's own length: a program that hangs, not one that is slow in an emulated machine.
HANGS_AFTER = 300

# Drivers of the simulated qce by OpenSSL's name: what a thresholds file of that device names. The
# thresholds are such as a router has; 16 bytes of a TLS record's padding stay in software.
CIPHERS = {
    "AES-{bits}-ECB": "ecb-aes-qce",
    "AES-{bits}-CBC": "cbc-aes-qce",
    "AES-{bits}-CTR": "ctr-aes-qce",
    "AES-{bits}-GCM": "ctr-aes-qce",
    "AES-{bits}-XTS": "xts-aes-qce",
}
MACS = {"HMAC-SHA1": "hmac-sha1-qce", "HMAC-SHA256": "hmac-sha256-qce"}
CIPHER_THRESHOLD = 512
SLOW_THRESHOLD = 1024


def thresholds() -> str:
    """The thresholds section, as `kaccel-calibrate run` would write it on a router with a qce."""

    def group(name: str, keys: dict[str, int], driver: str) -> str:
        lines = [f"{name}.{key} = {value}" for key, value in keys.items()]
        return "\n".join([*lines, f"{name}.driver = {driver}\n"])

    both = {"encrypt": CIPHER_THRESHOLD, "decrypt": CIPHER_THRESHOLD}
    groups = [
        group(name.format(bits=bits), both, driver)
        for name, driver in CIPHERS.items()
        for bits in (128, 256)
    ]
    slow = {"encrypt": SLOW_THRESHOLD, "decrypt": SLOW_THRESHOLD}
    groups.append(group("DES-EDE3-CBC", slow, "cbc-3des-qce"))
    groups += [group(name, {"threshold": SLOW_THRESHOLD}, driver) for name, driver in MACS.items()]
    return "calibrated = yes\n\n" + "\n".join(groups)


def configuration(statistics: Path) -> str:
    """openssl.cnf as openssl.cnf.example has it, for a module that is not installed."""
    return f"""openssl_conf = openssl_init

[openssl_init]
providers = provider_sect
alg_section = algorithm_sect
random = random_sect

[provider_sect]
default = default_sect
kaccel = kaccel_sect

[default_sect]
activate = 1

[kaccel_sect]
module = {MODULE}
activate = 1
thresholds = kaccel_thresholds
statistics = {statistics}

[algorithm_sect]
default_properties = ?provider=kaccel

[random_sect]
properties = provider=default

[kaccel_thresholds]
{thresholds()}"""


@dataclass
class Counts:
    """What one program counted, in all its processes and under all its users."""

    hardware_calls: int = 0
    fallbacks: int = 0
    requests: int = 0
    hardware_bytes: dict[str, int] = field(default_factory=dict)  # by algorithm
    users: set[int] = field(default_factory=set)


@dataclass
class Programs:
    """One test's directory, the configurations, and programs run with them.

    directory: readable by every user, as a daemon that drops its privileges needs it.
    kaccel:    an openssl.cnf that turns kaccel on.
    software:  one that turns nothing on: OpenSSL's default provider.
    """

    directory: Path
    stack: contextlib.ExitStack

    def __post_init__(self) -> None:
        self.directory.chmod(0o755)
        self.statistics = self.directory / "statistics"
        self.statistics.mkdir()
        self.statistics.chmod(0o1777)
        self.kaccel = self.file("kaccel.cnf", configuration(self.statistics))
        self.software = self.file("software.cnf", "")

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.directory / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def called(self, name: str, tool: str) -> Path:
        """A program of the machine under another name, by which it counts for itself."""
        link = self.directory / name
        if not link.is_symlink():
            link.symlink_to(need_tool(tool))
        return link

    def environment(self, config: Path | None = None) -> dict[str, str]:
        """The caller's, less all that is OpenSSL's or kaccel's, plus OPENSSL_CONF."""
        ours = ("OPENSSL_", "KACCEL_", "LD_", "SSL_")
        env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        env["PATH"] = env.get("PATH", "") + ":/usr/sbin:/sbin"
        return env | {"OPENSSL_CONF": str(config or self.kaccel)}

    def run(
        self,
        *command: object,
        config: Path | None = None,
        input: bytes = b"",
        check: bool = True,
        timeout: float = HANGS_AFTER,
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs a program to its end in the test's directory, with kaccel if there is no `config`."""
        words = [str(word) for word in command]
        done = subprocess.run(
            words,
            input=input,
            capture_output=True,
            cwd=self.directory,
            env=self.environment(config),
            timeout=timeout,
        )
        if check and done.returncode != 0:
            pytest.fail(
                f"{' '.join(words)}: exit status {done.returncode}\n"
                f"{done.stderr.decode(errors='replace')}"
            )
        return done

    def start(
        self, *command: object, config: Path | None = None, port: int = 0, **options
    ) -> subprocess.Popen[bytes]:
        """Starts a server; returns as soon as something listens on `port` of 127.0.0.1, if one is
        given. What it says goes to NAME.log in the test's directory. Ends with the test."""
        words = [str(word) for word in command]
        log = self.directory / (Path(words[0]).name + ".log")
        options = {"stdin": subprocess.DEVNULL} | options
        with log.open("ab") as output:
            server = subprocess.Popen(
                words,
                stdout=output,
                stderr=output,
                cwd=self.directory,
                env=self.environment(config),
                **options,
            )
        self.stack.callback(stop, server)
        if port:
            wait_for(lambda: listens(port), f"{words[0]} on port {port}", server, log)
        return server

    def counts(self, program: str) -> Counts:
        """What `program` counted so far; fails where it never loaded kaccel."""
        done = subprocess.run(
            [str(CALIBRATE), "statistics", str(self.statistics), "--json"],
            capture_output=True,
            env=self.environment(self.software),
            timeout=HANGS_AFTER,
        )
        assert done.returncode == 0, done.stderr.decode()
        everybody = json.loads(done.stdout)["programs"]
        entries = [entry for entry in everybody if entry["program"] == program]
        if not entries:
            others = ", ".join(sorted(entry["program"] for entry in everybody)) or "no program"
            pytest.fail(f"{program} has not loaded kaccel: {others} has")
        counts = Counts()
        for entry in entries:
            counts.hardware_calls += entry["hardware_calls"]
            counts.fallbacks += entry["fallbacks"]
            counts.requests += entry["requests"]
            counts.users.add(entry["uid"])
            for algorithm, of_it in entry["algorithms"].items():
                so_far = counts.hardware_bytes.get(algorithm, 0)
                counts.hardware_bytes[algorithm] = so_far + of_it["hardware_bytes"]
        return counts

    def expect_hardware(self, program: str, least: dict[str, int]) -> Counts:
        """With a device: `program` sent at least so many bytes to it, by algorithm (OpenSSL's name,
        for an HMAC HMAC-SHA256), and nothing failed. Without one: it loaded kaccel and all stayed
        in software."""
        counts = self.counts(program)
        if DEVICE:
            for algorithm, size in least.items():
                sent = counts.hardware_bytes.get(algorithm, 0)
                assert sent >= size, f"{program} sent {sent} bytes of {algorithm}: {counts}"
            assert counts.fallbacks == 0, f"{program}: {counts}"
        else:
            assert counts.hardware_calls == 0, f"{program}: {counts}"
        record(program, counts)
        return counts


def record(program: str, counts: Counts) -> None:
    """Appends the counts to the file named in KACCEL_TEST_COUNTS, for docs/programs.md."""
    path = os.environ.get("KACCEL_TEST_COUNTS")
    if path:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0].split("::")[-1]
        sent = {name: size for name, size in counts.hardware_bytes.items() if size}
        with open(path, "a") as file:
            json.dump({"test": test, "program": program, "requests": counts.requests} | sent, file)
            file.write("\n")


def missing(reason: str) -> None:
    """What a test needs is not there: skipped on a host; in the lab everything must be."""
    if DEVICE:
        pytest.fail(reason)
    pytest.skip(reason)


def need_tool(tool: str, package: str = "") -> str:
    """The path of a program, or the end of the test."""
    path = shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        missing(f"{tool} is not there: install the package {package or tool}")
    return str(path)


def need_program(path: str) -> Path:
    """A program of the build."""
    program = BUILD / path
    if not program.exists():
        missing(f"{program} has not been built")
    return program


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port: int) -> bool:
    """Asks the kernel: a connection would be one more for the server to be surprised by."""
    wanted = f"0100007F:{port:04X}"
    anybody = f"00000000:{port:04X}"
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return any(row[1] in (wanted, anybody) and row[3] == "0A" for row in rows)


def wait_for(condition, what: str, process: subprocess.Popen, log: Path | None = None) -> None:
    """Until `condition()` holds; fails if `process` ends before, or after HANGS_AFTER seconds."""
    deadline = time.monotonic() + HANGS_AFTER
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_text(errors="replace") if log else ""
            pytest.fail(f"waited for {what}, in vain\n{said}")
        time.sleep(0.05)


def stop(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
