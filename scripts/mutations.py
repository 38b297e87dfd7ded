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
    # pytest = "tests/host"             # where pytest is started
    targets = ["life-test"]             # what has to be built
    tests = ["PublicReports.X", "..."]  # GoogleTest's names, or pytest's node ids below `pytest`
    device = "qce"                      # optional: run in the lab, on this simulated device
    environment = { NAME = "value" }    # optional
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutations"
TREE = WORK / "tree"
BUILD = TREE / "build" / "debug"
SECONDS = 180  # a test that takes longer hangs
PYTEST_FAILED = 1  # its other statuses say that no test was run, or that pytest itself had trouble


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


def configure():
    command = ["cmake", "--preset", "debug", "-DKACCEL_SHARED_FMT=ON"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.run(command, cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def build(targets):
    done = subprocess.run(["ninja", "-C", BUILD, "--quiet", *targets], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Mistake(f"does not compile: {(done.stdout + done.stderr)[-1500:]}")


def command_of(mutation, test):
    if "pytest" in mutation:
        return ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
                str(TREE / mutation["pytest"] / test)]
    return [str(BUILD / mutation["program"]), f"--gtest_filter={test}", "--gtest_brief=1"]


def outcome(mutation, test):
    """'passed', or how it failed: 'failed', 'crashed', 'hung'."""
    command = command_of(mutation, test)
    environment = os.environ | {"KACCEL_BUILD_DIR": str(BUILD)} | mutation.get("environment", {})
    if "device" in mutation:
        command = [str(TREE / "tests" / "lab" / "run.sh"), "--device", mutation["device"], "--timeout", str(SECONDS),
                   "--", *command]
    try:
        done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False,
                              errors="replace", timeout=SECONDS + 60)
    except subprocess.TimeoutExpired:
        return "hung"
    text = done.stdout + done.stderr
    if "device" in mutation and done.returncode == 124:
        return "hung"
    if "device" in mutation and done.returncode == 125:
        raise Mistake(f"{test}: the guest did not run it: {text[-500:]}")
    if "pytest" in mutation:
        if done.returncode not in (0, PYTEST_FAILED):
            raise Mistake(f"{test}: pytest's status is {done.returncode}: {text[-500:]}")
        return "passed" if done.returncode == 0 and " passed" in text else "failed" if done.returncode else "skipped"
    if done.returncode == 0:
        ran = "[  PASSED  ]" in text and "[  PASSED  ] 0 tests" not in text
        return "passed" if ran else "skipped"
    return "failed" if done.returncode == 1 and "[  FAILED  ]" in text else "crashed"


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
    for test in mutation["tests"]:
        key = (mutation.get("program", mutation.get("pytest")), test, mutation.get("device"))
        if key in passed_before:
            continue
        build(mutation["targets"])
        ended = outcome(mutation, test)
        if ended != "passed":
            raise Mistake(f"{test}: {ended} before anything was broken")
        passed_before.add(key)
    restore = replace(mutation)
    try:
        build(mutation["targets"])
        return {test: outcome(mutation, test) for test in mutation["tests"]}
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
    configure()
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
