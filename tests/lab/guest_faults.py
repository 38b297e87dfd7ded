"""Runs in the guest: calibrates simulated devices that err, and then lets an application use what was calibrated.

    guest_faults.py BUILD_DIR [SCENARIO]...      in a guest with the devices qce and eip93; default: all scenarios

For each scenario: with the fault on, `kaccel-calibrate run` has to end, and to say on standard error what it found and
what it did; then an application (fault_application.py) has to get the bytes that it gets from OpenSSL's default
provider, with the calibrated thresholds, and with a threshold of 0 wherever calibration left hardware on.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PARAMETERS = pathlib.Path("/sys/module/kaccel_sim/parameters")
# Not judgements: what takes longer is a hang.
CALIBRATION_SECONDS = 240
APPLICATION_SECONDS = 60


@dataclasses.dataclass
class Scenario:
    name: str
    faults: dict  # parameters of kaccel_sim, on from before the calibration
    driver: str
    algorithms: dict  # name: lengths in the application
    notes: list  # regular expressions, each for a line that calibration writes
    thresholds: list = dataclasses.field(default_factory=list)  # the same, for lines of the thresholds file
    options: list = dataclasses.field(default_factory=list)  # for calibration
    enabled: bool = True  # whether calibration leaves hardware on
    later: dict = dataclasses.field(default_factory=dict)  # parameters, on from after the calibration
    falls_back: bool = False  # whether requests of the application fail


CBC = {"AES-128-CBC": (1, 15, 16, 17, 1408, 1424, 1440, 4080, 4096, 4112, 8192, 20000)}
XTS = {"AES-128-XTS": (15, 16, 17, 496, 512, 513, 528, 1000, 1024, 1040, 1536, 4080, 4096, 4112)}
CTR = {"AES-128-CTR": (1, 15, 16, 17, 32, 47, 1000, 4095, 4096, 4097)}
GCM = {"AES-128-GCM": (0, 1, 15, 16, 17, 32, 47, 1000, 4095, 4096, 4097)}
HMAC = {"HMAC-SHA256": (0, 1, 63, 64, 65, 4095, 4096, 4097, 20000)}

# The hang of the engine comes last: it takes qce away for good.
SCENARIOS = [
    Scenario("no-fault", {}, "cbc-aes-qce", CBC, []),
    # Faults of no device in particular.
    Scenario("wrong-at", {"fault_wrong_at": 1424}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: taken out .*\b1424 bytes\b"], enabled=False),
    Scenario("wrong-from", {"fault_wrong_from": 4097}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: restricted .*\b4112 bytes\b"], [r"AES-128-CBC\.max_size = 4096"]),
    Scenario("wrong-digest", {"fault_wrong_at": 4096}, "hmac-sha256-qce", HMAC,
             [r"hmac-sha256-qce: HMAC-SHA256: taken out .*\b4096 bytes\b"], enabled=False),
    Scenario("error-at-once", {"fault_error_after": 1}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: taken out .*Input/output error"], enabled=False),
    Scenario("error-during", {"fault_error_after": 200}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: taken out .*Input/output error"], enabled=False),
    Scenario("error-later", {}, "cbc-aes-qce", CBC, [], later={"fault_error_after": 5}, falls_back=True),
    Scenario("error-later-digest", {}, "hmac-sha256-qce", HMAC, [], later={"fault_error_after": 3}, falls_back=True),
    Scenario("late-later", {}, "cbc-aes-qce", CBC, [], later={"fault_delay_ms": 200}),
    Scenario("late", {"fault_delay_ms": 1500}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: taken out .*: takes \d+ ms for a request of \d+ bytes"], enabled=False),
    Scenario("hang-at", {"fault_hang_at": 4096}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: taken out .*\b4096 bytes\b.*answer"], enabled=False),
    Scenario("hang-from", {"fault_hang_from": 4097}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: restricted .*\b4112 bytes\b.*answer"], [r"AES-128-CBC\.max_size = 4096"]),
    # Documented faults: known, so not tried; and tried all the same.
    Scenario("qce-xts-known", {"qce_fault_xts": 1}, "xts-aes-qce", XTS,
             [r"xts-aes-qce: .*known: .*multiple of 512"]),
    Scenario("qce-xts-tried", {"qce_fault_xts": 1}, "xts-aes-qce", XTS,
             [r"xts-aes-qce: AES-128-XTS: restricted .*\b(528|1008|1040) bytes\b.*answer"],
             [r"AES-128-XTS\.size_multiple = 512"], ["--test-known-faults"]),
    Scenario("qce-single-block-known", {"qce_fault_single_block": 1}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: .*known: .*single block"]),
    Scenario("qce-single-block-tried", {"qce_fault_single_block": 1}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: restricted .*\b16 bytes\b"], [r"AES-128-CBC\.min_size = 32"],
             ["--test-known-faults"]),
    Scenario("qce-single-block-gcm", {"qce_fault_single_block": 1}, "ctr-aes-qce", GCM,
             [r"ctr-aes-qce: .*known: .*single block"]),
    Scenario("qce-ctr-partial", {"qce_fault_ctr_partial": 1}, "ctr-aes-qce", CTR | GCM,
             [r"ctr-aes-qce: does no harm: a partial last block goes wrong, but kaccel sends whole blocks only"]),
    Scenario("qce-empty-hmac", {"qce_fault_empty_hmac": 1}, "hmac-sha256-qce", HMAC,
             [r"hmac-sha256-qce: does no harm: an empty message goes wrong, but kaccel keeps these in software"]),
    Scenario("eip93-direction", {"eip93_fault_direction": 1}, "cbc(aes-eip93)", CBC,
             [r"cbc\(aes-eip93\): does no harm: encryption after decryption .*, but kaccel keeps a session for each"]),
    Scenario("hang-engine", {"fault_hang_at": 4096, "fault_hang_engine": 1}, "cbc-aes-qce", CBC,
             [r"cbc-aes-qce: AES-128-CBC: taken out .*\b4096 bytes\b.*answers nothing since"], enabled=False),
]


class Failure(Exception):
    pass


def set_parameters(parameters):
    for name, value in parameters.items():
        (PARAMETERS / name).write_text(f"{value}\n", encoding="ascii")


def run(command, seconds, environment=None):
    """(standard output, standard error). Never waits for a process that does not die."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env=os.environ | (environment or {}), start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            status = f"none after {seconds} s"
        out.seek(0)
        err.seek(0)
        text, errors = out.read().decode(), err.read().decode()
        if status != 0:
            raise Failure(f"{' '.join(map(str, command))}: status {status}: {text[-300:]} {errors}")
        return text, errors


def write_configurations(directory):
    """default.cnf and dispatch.cnf, and forced.cnf: at once to hardware where calibration left it on."""
    run(["bash", "-c", '. "$1" && write_configurations "$2"', "bash",
         HERE.parent.parent / "scripts/guest/configuration.sh", directory], APPLICATION_SECONDS)
    groups = (directory / "kaccel-thresholds.cnf").read_text(encoding="ascii").split("\n\n")
    forced = [group if "failed its self-test" in group else
              re.sub(r"(?m)^(\S+\.(?:encrypt|decrypt|threshold) = ).*", r"\g<1>0", group) for group in groups]
    (directory / "forced-thresholds.cnf").write_text("\n\n".join(forced), encoding="ascii")
    configuration = (directory / "dispatch.cnf").read_text(encoding="ascii")
    (directory / "forced.cnf").write_text(configuration.replace("kaccel-thresholds.cnf", "forced-thresholds.cnf"),
                                          encoding="ascii")


def ask_application(directory, configuration, scenario):
    """What the application computed, and kaccel's counters (of the default provider: none)."""
    asked = [f"{name}={','.join(map(str, lengths))}" for name, lengths in scenario.algorithms.items()]
    out, _ = run([sys.executable, HERE / "fault_application.py", *asked], APPLICATION_SECONDS,
                 {"OPENSSL_CONF": str(directory / configuration)})
    lines = out.splitlines()
    counters = dict(line.split()[1:] for line in lines if line.startswith("counter "))
    return [line for line in lines if not line.startswith("counter ")], counters


def missing_lines(expressions, text, where):
    return [f"{where} does not say /{expression}/" for expression in expressions
            if not any(re.search(expression, line) for line in text.splitlines())]


def calibrate(build, directory, scenario):
    """What it said, and what is wrong with that."""
    file = directory / "kaccel-thresholds.cnf"
    command = [build / "calibrate/kaccel-calibrate", "run", "--quiet", "--output", file, "--driver", scenario.driver,
               "--sizes", "512,4096", *scenario.options]
    for name in scenario.algorithms:
        command += ["--algorithm", name]
    _, notes = run(command, CALIBRATION_SECONDS)
    wrong = missing_lines(scenario.notes, notes, "calibration")
    if not scenario.notes and any(": known: " not in line for line in notes.splitlines()):
        wrong.append("calibration finds fault without one")
    wrong += missing_lines(scenario.thresholds, file.read_text(encoding="ascii"), "the thresholds file")
    return notes.splitlines(), wrong


def check_application(directory, scenario):
    """What is wrong with the application's answers and kaccel's counters."""
    wrong = []
    expected, _ = ask_application(directory, "default.cnf", scenario)
    for configuration in ("dispatch.cnf", "forced.cnf"):
        set_parameters(scenario.later)  # anew, since they may count
        got, counters = ask_application(directory, configuration, scenario)
        for right, line in zip(expected, got, strict=True):
            if right != line:
                wrong.append(f"{configuration}: {line}, not {right}")
    used = int(counters["hardware-calls"]) > 0
    if used != scenario.enabled:
        wrong.append(f"hardware is {'used' if used else 'not used'} at a threshold of 0: {counters}")
    if (int(counters["fallbacks"]) > 0) != scenario.falls_back:
        wrong.append(f"fallbacks: {counters['fallbacks']}")
    return wrong


def play(build, scenario):
    """Runs one. What calibration said, and what is wrong."""
    notes, wrong = [], []
    set_parameters({"fault_driver": scenario.driver} | scenario.faults)
    try:
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            notes, wrong = calibrate(build, directory, scenario)
            write_configurations(directory)
            wrong += check_application(directory, scenario)
    except Failure as failure:
        wrong.append(str(failure))
    finally:
        set_parameters(dict.fromkeys(scenario.faults | scenario.later, 0))
    return notes, wrong


def main():
    build, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    unknown = set(wanted) - {scenario.name for scenario in SCENARIOS}
    if unknown:
        sys.exit(f"guest_faults.py: no scenario {', '.join(sorted(unknown))}")
    os.environ["OPENSSL_MODULES"] = str(build / "provider")
    failed = 0
    for scenario in SCENARIOS:
        if wanted and scenario.name not in wanted:
            continue
        start = time.monotonic()
        notes, wrong = play(build, scenario)
        failed += bool(wrong)
        result = "FAILED" if wrong else "right"
        print(f"{result:<7} {scenario.name} ({time.monotonic() - start:.0f} s)", flush=True)
        for line in notes:
            print(f"        {line}", flush=True)
        for line in wrong[:3]:
            print(f"        WRONG: {line}", flush=True)
        if wrong[3:]:
            print(f"        WRONG: and {len(wrong) - 3} more", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
