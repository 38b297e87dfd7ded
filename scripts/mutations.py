#!/usr/bin/env python3
"""Breaks kaccel on purpose, one thing at a time, and sees that the tests which should notice do.

    mutations.py [--list] [NAME]...     default: all of tests/mutations/*.toml

A mutation replaces a piece of text in one file. It is done in a copy of the tree (build/mutations/tree, preset debug),
what it needs is built again, and each test that it names must fail: by a failed check, a crash or a hang. All those
tests must pass before. A piece of text that is not there any more, or not only once, is an error: the mutation has to
follow the code. Long: about half a minute for each, so it is run by hand and not in CI (docs/mutations.md has the last
result). Ends with 0 where every test failed as it should, with 1 otherwise.

In the files:

    [[mutation]]
    name = "words-with-hyphens"
    breaks = "what is wrong now, in a sentence"
    file = "kernel-bridge/session_pool.cpp"
    old = "the text"
    new = "what stands there instead"
    program = "tests/life/life-test"    # a GoogleTest program below the build directory; or:
    # pytest = "tests/host"             # where pytest is started; or:
    # guest = "guest_walls.py qce"      # a script of tests/lab and its arguments before the test's name, with `device`
    targets = ["life-test"]             # what has to be built
    tests = ["PublicReports.X", "..."]  # GoogleTest's names, pytest's node ids below `pytest`, or the guest script's
    device = "qce"                      # optional: run in the lab, on this simulated device
    kernel = "7.2"                      # optional, with a device: one of tests/lab/setup.sh's --suite-kernel
    setup = "echo 1 >/proc/..."         # optional, with a device: what the guest's shell does first
    preset = "asan"                     # optional: another than debug, in a build directory of its own
    environment = { NAME = "value" }    # optional
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutations"
TREE = WORK / "tree"
SECONDS = 180  # a test that takes longer hangs
PYTEST_FAILED = 1  # its other statuses say that no test was run, or that pytest itself had trouble
TIMED_OUT = 124  # of timeout(1) and tests/lab/run.sh
NOT_RUN = 125  # of run.sh
# What the lab's guest does without, by `guest`.
WITHOUT = {"guest_walls.py missing": ["--without", "algif_skcipher", "--without", "algif_hash"]}
STATUS_OF = "mutations.py: "  # what a guest says after each test: this, the status, the test

# What a test needs to know of a device in the lab (as tests/lab/tests.sh tells it).
DRIVERS = {
    "qce": ["ecb(aes)=ecb-aes-qce", "cbc(aes)=cbc-aes-qce", "ctr(aes)=ctr-aes-qce", "xts(aes)=xts-aes-qce",
            "cbc(des3_ede)=cbc-3des-qce", "hmac(sha1)=hmac-sha1-qce", "hmac(sha256)=hmac-sha256-qce"],
    "eip93": ["ecb(aes)=ecb(aes-eip93)", "cbc(aes)=cbc(aes-eip93)", "ctr(aes)=ctr(aes-eip93)",
              "cbc(des3_ede)=cbc(des3_ede-eip93)"],
}


class Mistake(Exception):
    """A mutation that cannot be tried as it stands."""


def read_mutations(names):
    """The mutations of these names (all where there is none), in the order of the files."""
    known = []
    for path in sorted((ROOT / "tests" / "mutations").glob("*.toml")):
        known += tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]
    duplicates = {one["name"] for one in known if sum(one["name"] == other["name"] for other in known) > 1}
    if duplicates:
        raise Mistake(f"more than one mutation is called {', '.join(sorted(duplicates))}")
    unknown = set(names) - {one["name"] for one in known}
    if unknown:
        raise Mistake(f"no mutation is called {', '.join(sorted(unknown))}; --list has them")
    return [one for one in known if not names or one["name"] in names]


def copy_tree():
    """What git knows, as it is in the working tree; unchanged files keep their times, so little is built again."""
    TREE.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, TREE / name
        if not source.exists():
            target.unlink(missing_ok=True)
        elif not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    shared = WORK / "shared"
    if (ROOT.parent / "shared").exists() and not shared.exists():
        shared.symlink_to(ROOT.parent / "shared")


def build_directory(mutation):
    return TREE / "build" / mutation.get("preset", "debug")


def configure(preset):
    command = ["cmake", "--preset", preset, "-DKACCEL_SHARED_FMT=ON"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.run(command, cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def build(mutation):
    done = subprocess.run(["ninja", "-C", build_directory(mutation), "--quiet", *mutation["targets"]],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Mistake(f"does not compile: {(done.stdout + done.stderr)[-1500:]}")


def command_of(mutation, test):
    if "pytest" in mutation:
        return ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
                str(TREE / mutation["pytest"] / test)]
    if "guest" in mutation:
        script, *arguments = mutation["guest"].split()
        script = str(TREE / "tests" / "lab" / script)
        return ["/usr/bin/python3", script, str(build_directory(mutation)), *arguments, test]
    return [str(build_directory(mutation) / mutation["program"]), f"--gtest_filter={test}", "--gtest_brief=1"]


def environment_of(mutation):
    own = {"KACCEL_BUILD_DIR": str(build_directory(mutation))}
    if "device" in mutation:
        own["KACCEL_TEST_TRANSPORT"] = "afalg"
        own["KACCEL_TEST_DRIVERS"] = ",".join(DRIVERS.get(mutation["device"], []))
    return os.environ | own | mutation.get("environment", {})


def judged(mutation, test, status, text):
    """'passed', or how it failed: 'failed', 'crashed', 'hung'; or 'skipped'."""
    if status == TIMED_OUT:
        return "hung"
    if "pytest" in mutation:
        if status not in (0, PYTEST_FAILED):
            raise Mistake(f"{test}: pytest's status is {status}: {text[-500:]}")
        return "passed" if status == 0 and " passed" in text else "failed" if status else "skipped"
    if "guest" in mutation:
        if f" {test} (" not in text:
            raise Mistake(f"{test}: {mutation['guest']} has not run it: {text[-500:]}")
        return "failed" if status else "passed"
    if status == 0:
        ran = "[  PASSED  ]" in text and "[  PASSED  ] 0 tests" not in text
        return "passed" if ran else "skipped"
    return "failed" if status == 1 and "[  FAILED  ]" in text else "crashed"


def outcome(mutation, test):
    """On the host."""
    try:
        done = subprocess.run(command_of(mutation, test), cwd=TREE, env=environment_of(mutation), capture_output=True,
                              text=True, check=False, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "hung"
    return judged(mutation, test, done.returncode, done.stdout + done.stderr)


def kernel_options(mutation):
    """For run.sh; one CPU as tests/lab/tests.sh does."""
    if "kernel" not in mutation:
        return []
    fetched = subprocess.run([TREE / "tests" / "lab" / "setup.sh", "--suite-kernel", mutation["kernel"]],
                             capture_output=True, text=True, check=True).stdout
    return ["--kernel", fetched.strip(), "--one-cpu"]


def outcomes_in_a_guest(mutation, tests):
    """Of as many of the tests as one guest gets through: one that hangs in the kernel stops it."""
    script = [mutation.get("setup", ":")]
    for test in tests:
        script.append(f"timeout -k 5 {SECONDS} {shlex.join(command_of(mutation, test))} 2>&1 </dev/null")
        script.append(f"status=$?; echo; echo {STATUS_OF}$status {shlex.quote(test)}")
    seconds = SECONDS + 60 * len(tests)
    command = [str(TREE / "tests" / "lab" / "run.sh"), "--device", mutation["device"], *kernel_options(mutation),
               *WITHOUT.get(mutation.get("guest"), []), "--timeout", str(seconds), "--", "sh", "-c", "\n".join(script)]
    done = subprocess.run(command, cwd=TREE, env=environment_of(mutation), capture_output=True, text=True, check=False,
                          errors="replace")
    if done.returncode == NOT_RUN:
        raise Mistake(f"the guest did not run it: {done.stderr[-500:]}")
    ended, text = {}, ""
    for line in done.stdout.splitlines():
        if line.startswith(STATUS_OF):
            status, test = line[len(STATUS_OF):].split(" ", 1)
            ended[test] = judged(mutation, test, int(status), text)
            text = ""
        else:
            text += line + "\n"
    if len(ended) < len(tests):
        ended[tests[len(ended)]] = "hung"
    return ended


def outcomes(mutation, tests):
    """How each ended: {test: outcome}."""
    if "device" not in mutation:
        return {test: outcome(mutation, test) for test in tests}
    ended = {}
    while len(ended) < len(tests):
        ended |= outcomes_in_a_guest(mutation, [test for test in tests if test not in ended])
    return ended


def replace(mutation):
    """Puts the new text in; returns what brings the old one back."""
    path = TREE / mutation["file"]
    before = path.read_text(encoding="utf-8")
    found = before.count(mutation["old"])
    if found != 1:
        raise Mistake(f"{mutation['file']} has {found} times the text to replace, not once")
    path.write_text(before.replace(mutation["old"], mutation["new"]), encoding="utf-8")
    return lambda: path.write_text(before, encoding="utf-8")


def try_one(mutation, passed_before):
    """How each of its tests ended: {test: outcome}."""
    def key(test):
        where = [mutation.get(name) for name in ("program", "pytest", "guest", "device", "kernel", "setup", "preset")]
        return (*where, tuple(sorted(mutation.get("environment", {}).items())), test)

    new = [test for test in mutation["tests"] if key(test) not in passed_before]
    if new:
        build(mutation)
        for test, ended in outcomes(mutation, new).items():
            if ended != "passed":
                raise Mistake(f"{test}: {ended} before anything was broken")
            passed_before.add(key(test))
    restore = replace(mutation)
    try:
        build(mutation)
        return outcomes(mutation, mutation["tests"])
    finally:
        restore()


def main():
    parser = argparse.ArgumentParser(description="Breaks kaccel one thing at a time and sees the tests notice.")
    parser.add_argument("--list", action="store_true", help="say what there is and do nothing")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    mutations = read_mutations(arguments.names)
    if arguments.list:
        for mutation in mutations:
            print(f"{mutation['name']}: {mutation['breaks']}")
        return 0
    copy_tree()
    for preset in sorted({mutation.get("preset", "debug") for mutation in mutations}):
        configure(preset)
    passed_before, noticed, missed = set(), 0, 0
    for mutation in mutations:
        print(f"{mutation['name']}: {mutation['breaks']} ({mutation['file']})", flush=True)
        try:
            ends = try_one(mutation, passed_before)
        except Mistake as mistake:
            print(f"  MISTAKE  {mistake}", flush=True)
            missed += 1
            continue
        for test, ended in ends.items():
            good = ended in ("failed", "crashed", "hung")
            noticed, missed = noticed + good, missed + (not good)
            print(f"  {'noticed' if good else 'MISSED '}  {test} {ended}", flush=True)
    print(f"{noticed} noticed, {missed} missed")
    return 1 if missed or not noticed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Mistake as error:
        sys.exit(f"mutations.py: {error}")
