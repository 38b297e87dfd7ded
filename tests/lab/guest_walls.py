"""Runs in the guest: programs of OpenSSL where something stands between kaccel and the driver.

    guest_walls.py BUILD_DIR qce [TEST]...
                                      a guest with the simulated qce: seccomp filters, Landlock, small socket buffers, a
                                      driver that answers EBUSY, ENOMEM and ENXIO when it is done, or has a backlog
    guest_walls.py BUILD_DIR hidden 7.2
                                      a kernel of that version, which lists virtio_crypto_aes_cbc and does not let it be
                                      bound; 7.3 has crypto.af_alg_restrict as well, and is tried with either value
    guest_walls.py BUILD_DIR missing  a kernel without algif_skcipher and algif_hash, with the simulated qce

Each program must compute what it computes with OpenSSL's default provider, say nothing on standard error, and use
hardware as often as it should; and kaccel-calibrate must name the wall.
"""

import errno
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PARAMETERS = pathlib.Path("/sys/module/kaccel_sim/parameters")
SYSCTL = pathlib.Path("/proc/sys/net/core")
RESTRICT = pathlib.Path("/proc/sys/crypto/af_alg_restrict")
RESTRICTED = "7.3"  # the version that has it
HIDDEN = "hidden: Linux 7.2 and later"
SECONDS = 120  # not a judgement: what takes longer is a hang

# Around pages, small send buffers and the largest request.
LENGTHS = (16, 1024, 4080, 4096, 4112, 8192, 16384, 16400, 65536, 65552, 212992, 213008, 300000)
CALLS = {"AES-128-CBC": LENGTHS, "AES-256-CTR": LENGTHS + (4097, 70001), "AES-128-XTS": LENGTHS,
         "HMAC-SHA256": LENGTHS}
QCE = {"AES-128-CBC": "cbc-aes-qce", "AES-256-CTR": "ctr-aes-qce", "AES-128-XTS": "xts-aes-qce",
       "HMAC-SHA256": "hmac-sha256-qce"}


class Failure(Exception):
    pass


def configuration(directory, drivers, own=""):
    """A file in which every algorithm goes to its driver from the first byte on."""
    groups = []
    for name, driver in drivers.items():
        keys = ("threshold",) if name.startswith("HMAC") else ("encrypt", "decrypt")
        groups += [f"{name}.{key} = 0" for key in keys] + [f"{name}.driver = {driver}"]
    path = directory / "openssl.cnf"
    path.write_text("\n".join([
        "openssl_conf = openssl_init", "[openssl_init]", "providers = provider_sect", "alg_section = algorithm_sect",
        "[provider_sect]", "default = default_sect", "kaccel = kaccel_sect", "[default_sect]", "activate = 1",
        "[kaccel_sect]", "activate = 1", "thresholds = thresholds_sect", own,
        "[algorithm_sect]", "default_properties = ?provider=kaccel", "[thresholds_sect]", *groups, ""]),
        encoding="ascii")
    return str(path)


def run(command, conf=None, text=b"", status=0):
    """Standard output; standard error must be empty where the status is 0."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENSSL_CONF"}
    environment["OPENSSL_CONF"] = conf or "/dev/null"
    done = subprocess.run(command, input=text, capture_output=True, timeout=SECONDS, check=False, env=environment)
    if done.returncode != status or (status == 0 and done.stderr):
        raise Failure(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout


def application(calls, conf=None, before=()):
    """Its answers, and kaccel's counters."""
    asked = [f"{name}={','.join(map(str, lengths))}" for name, lengths in calls.items()]
    lines = run([*before, sys.executable, HERE / "fault_application.py", *asked], conf).decode().splitlines()
    counters = dict(line.split()[1:] for line in lines if line.startswith("counter "))
    return [line for line in lines if not line.startswith("counter ")], \
        {name: int(value) for name, value in counters.items()}


def need(condition, text):
    if not condition:
        raise Failure(text)


def compare(got, expected):
    for line, right in zip(got, expected, strict=True):
        need(line == right, f"{line}, not {right}")


class Walls:
    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        self.expected = {}

    def check(self, calls, drivers, own="", before=()):
        """The application's bytes, compared; kaccel's counters."""
        got, counters = application(calls, configuration(self.directory, drivers, own), before)
        asked = str(calls)
        if asked not in self.expected:
            self.expected[asked] = application(calls)[0]
        compare(got, self.expected[asked])
        return counters

    def check_openssl_enc(self, drivers, own="", before=()):
        text = bytes(range(256)) * 400
        command = ["openssl", "enc", "-aes-128-cbc", "-K", "11" * 16, "-iv", "22" * 16]
        conf = configuration(self.directory, drivers, own)
        need(run([*before, *command], conf, text) == run(command, None, text), "openssl enc gives other bytes")

    def calibrate(self, *arguments, status=0):
        """Everything kaccel-calibrate says."""
        done = subprocess.run([self.build / "calibrate/kaccel-calibrate", *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        need(done.returncode == status, f"kaccel-calibrate {arguments}: status {done.returncode}: {done.stdout}")
        return done.stdout.decode()

    # qce

    def seccomp_denied(self, name):
        """socket(AF_ALG) fails: asked once where the owner wants it, else not at all."""
        before = [sys.executable, HERE / "seccomp_exec.py", name]
        short = {"AES-128-CBC": (4096, 65536), "HMAC-SHA256": (4096,)}
        asked = self.check(short, QCE, "under_seccomp = yes", before)
        need(asked["hardware-calls"] == 0 and asked["fallbacks"] == 2, f"denied by {name}: {asked}")
        kept_off = self.check(short, QCE, "", before)
        need(kept_off["hardware-calls"] == 0 and kept_off["fallbacks"] == 0, f"kept off: {kept_off}")
        self.check_openssl_enc(QCE, "under_seccomp = yes", before)
        self.check_openssl_enc(QCE, "", before)

    def seccomp_of_a_container(self):
        """A filter that lets AF_ALG pass."""
        before = [sys.executable, HERE / "seccomp_exec.py", "NONE"]
        short = {"AES-128-CBC": (4096, 65536), "HMAC-SHA256": (4096,)}
        used = self.check(short, QCE, "under_seccomp = yes", before)
        need(used["hardware-calls"] > 0 and used["fallbacks"] == 0, f"permitted: {used}")
        kept_off = self.check(short, QCE, "", before)
        need(kept_off["hardware-calls"] == 0 and kept_off["requests"] == 0, f"not permitted: {kept_off}")
        told = subprocess.run(
            [*before, self.build / "calibrate/kaccel-calibrate", "explain", "AES-128-CBC", "4096", "--config",
             configuration(self.directory, QCE)], capture_output=True, timeout=SECONDS, check=True).stdout.decode()
        need("under_seccomp = yes" in told, f"explain does not name the filter: {told}")

    def landlock(self, without, used):
        """A Landlock ruleset knows nothing of AF_ALG; one that closes /proc hides whether there is a filter."""
        before = [sys.executable, HERE / "landlock_exec.py", *without]
        counters = self.check({"AES-128-CBC": (4096, 65536), "HMAC-SHA256": (4096,)}, QCE, "", before)
        need((counters["hardware-calls"] > 0) == used and counters["fallbacks"] == 0, f"Landlock: {counters}")

    def small_buffers(self, default):
        """net.core.wmem_default, in bytes; the receive side alike. Data is split, or stays in software."""
        counters = self.with_sysctls({"wmem_default": default, "rmem_default": default})
        need(counters["hardware-calls"] > len(LENGTHS) and counters["fallbacks"] == 0, f"requests fail: {counters}")

    def small_auxiliary_memory(self):
        """net.core.optmem_max, which a cipher's request must fit into: it fails with ENOMEM."""
        counters = self.with_sysctls({"optmem_max": 4608})
        need(counters["fallbacks"] > 0, f"nothing failed: {counters}")

    def with_sysctls(self, names):
        kept = {name: (SYSCTL / name).read_text(encoding="ascii") for name in names}
        try:
            for name, value in names.items():
                (SYSCTL / name).write_text(f"{value}\n", encoding="ascii")
            return self.check(CALLS, QCE)
        finally:
            for name, value in kept.items():
                (SYSCTL / name).write_text(value, encoding="ascii")

    def late_error(self, number):
        """The driver takes each request, and later completes it with an errno."""
        parameters = {"fault_error": number, "fault_error_after": 5}
        set_parameters(parameters)
        try:
            counters = self.check({"AES-128-CBC": LENGTHS, "HMAC-SHA256": (4096, 8192)}, QCE)
        finally:
            set_parameters({"fault_error_after": 0, "fault_error": errno.EIO})
        need(counters["hardware-calls"] > 0 and counters["fallbacks"] > 0, f"no error was met: {counters}")

    def backlog(self):
        set_parameters({"fault_backlog": 1})
        try:
            counters = self.check({"AES-128-CBC": LENGTHS, "AES-256-CTR": LENGTHS}, QCE)
        finally:
            set_parameters({"fault_backlog": 0})
        need(counters["hardware-calls"] > 0 and counters["fallbacks"] == 0, f"backlog: {counters}")

    # other kernels

    def unusable(self, drivers, calls, wall):
        """A driver that cannot be bound: asked for once a process."""
        need(wall in self.calibrate("list"), f"kaccel-calibrate list does not say: {wall}")
        for repeated in (1, 20):
            counters = self.check({name: lengths * repeated for name, lengths in calls.items()}, drivers)
            need(counters["hardware-calls"] == 0 and counters["requests"] == 0, f"hardware: {counters}")
            need(counters["fallbacks"] == len(calls), f"asked more than once for each driver: {counters}")
        self.check_openssl_enc(drivers)

    def hidden(self, version, drivers, calls):
        need_kernel(version)
        self.unusable(drivers, calls, HIDDEN)

    def restricted(self, version, value, drivers, calls):
        need_kernel(version)
        RESTRICT.write_text(f"{value}\n", encoding="ascii")
        self.unusable(drivers, calls, HIDDEN)


def set_parameters(parameters):
    for name, value in parameters.items():
        (PARAMETERS / name).write_text(f"{value}\n", encoding="ascii")


def need_kernel(version):
    """Debian's suites move on: another kernel than the one that is meant must not pass for it."""
    release = platform.release()  # a release candidate of Debian's has the version's name too
    need(re.match(rf"{re.escape(version)}\b", release), f"the kernel is {release}, not {version}: see setup.sh")
    need(RESTRICT.exists() == (version == RESTRICTED),
         f"{release} {'has' if RESTRICT.exists() else 'lacks'} crypto.af_alg_restrict")
    need("virtio_crypto_aes_cbc" in pathlib.Path("/proc/crypto").read_text(encoding="ascii"),
         f"{release} does not list virtio_crypto_aes_cbc, which it should hide")
    print(f"kernel  {release} {platform.version()}", flush=True)


def tests_of(walls, which, version):
    if which == "hidden":
        drivers = {"AES-128-CBC": "virtio_crypto_aes_cbc", "AES-256-CBC": "virtio_crypto_aes_cbc"}
        calls = {"AES-128-CBC": (4096, 16384), "AES-256-CBC": (4096,)}
        if version != RESTRICTED:
            return {"hidden driver": lambda: walls.hidden(version, drivers, calls)}
        return {f"af_alg_restrict {value}": lambda value=value: walls.restricted(version, value, drivers, calls)
                for value in (1, 0)}
    if which == "missing":
        ciphers, hashes = {"AES-128-CBC": (4096, 16384), "AES-256-CTR": (4096,)}, {"HMAC-SHA256": (4096, 16384)}
        return {"no algif_skcipher": lambda: walls.unusable(QCE, ciphers, "algif_skcipher"),
                "no algif_hash": lambda: walls.unusable(QCE, hashes, "algif_hash")}
    tests = {f"socket(AF_ALG) denied by {name}": lambda name=name: walls.seccomp_denied(name)
             for name in ("EPERM", "EACCES", "ENOSYS")}
    tests["a container's filter"] = walls.seccomp_of_a_container
    tests["Landlock"] = lambda: walls.landlock([], True)
    tests["Landlock without /proc"] = lambda: walls.landlock(["--without", "proc"], False)
    for default in (4608, 16384, 65536):
        tests[f"wmem_default {default}"] = lambda default=default: walls.small_buffers(default)
    tests["optmem_max 4608"] = walls.small_auxiliary_memory
    for number in (errno.EBUSY, errno.ENOMEM, errno.ENXIO):  # ENXIO: qce's, of an engine's error
        tests[f"completes with {errno.errorcode[number]}"] = lambda number=number: walls.late_error(number)
    tests["backlog"] = walls.backlog
    return tests


def main():
    build, which, wanted = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    version = wanted.pop(0) if which == "hidden" else None
    os.environ["OPENSSL_MODULES"] = str(build / "provider")
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        for title, test in tests_of(Walls(build, pathlib.Path(name)), which, version).items():
            if wanted and title not in wanted:
                continue
            start, wrong = time.monotonic(), None
            try:
                test()
            except (Failure, subprocess.SubprocessError) as failure:
                wrong = failure
                failed += 1
            print(f"{'FAILED' if wrong else 'right':<7} {title} ({time.monotonic() - start:.0f} s)", flush=True)
            if wrong:
                print(f"        WRONG: {wrong}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
