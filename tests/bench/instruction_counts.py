#!/usr/bin/env python3
"""Instructions of messages that stay in software: kaccel's beside the default provider's, by callgrind.

    instruction_counts.py BUILD_DIR OUT.json [--algorithm NAME]... [--size BYTES]...

Exact, unlike time, and the same whatever else the machine does. kaccel has a route for the algorithm, whose
threshold no message here reaches. The loop around the calls counts for both sides alike: it drops out of the
difference, not out of the counts (a few instructions a call).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ITERATIONS = 50
ALGORITHMS = (
    "AES-128-CBC AES-256-CBC AES-128-CTR AES-256-CTR AES-128-XTS AES-256-XTS AES-128-GCM AES-256-GCM "
    "DES-EDE3-CBC HMAC-SHA256"
).split()
CONFIGURATION = """\
openssl_conf = openssl_init
[openssl_init]
providers = providers
[providers]
default = default_sect
kaccel = kaccel_sect
[default_sect]
activate = 1
[kaccel_sect]
activate = 1
thresholds = kaccel_thresholds
[kaccel_thresholds]
"""


def configuration(algorithm: str) -> str:
    keys = ["threshold"] if algorithm.startswith("HMAC-") else ["encrypt", "decrypt"]
    lines = [f"{algorithm}.{key} = 1000000" for key in keys]
    return CONFIGURATION + "\n".join([*lines, f"{algorithm}.driver = none-such", ""])


def call_of(algorithm: str, manner: str) -> tuple[str, str]:
    """The call and the name as count-calls takes them."""
    call, name = "packet", algorithm
    if algorithm.startswith("HMAC-"):
        call, name = "mac", algorithm.removeprefix("HMAC-")
    elif algorithm.endswith("-GCM"):
        call = "message"
    return (f"new-{call}" if manner == "new-context" else call), name


def instructions(build: Path, config: Path, provider: str, row: dict) -> float:
    """Per message. Raises RuntimeError with what the program said."""
    call, name = call_of(row["algorithm"], row["manner"])
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENSSL_")}
    env |= {"OPENSSL_CONF": str(config), "OPENSSL_MODULES": str(build / "provider")}
    done = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
            *("--toggle-collect=measured_calls", build / "tests/host/count-calls"),
            *(f"provider={provider}", call, name, str(row["size"]), str(ITERATIONS)),
        ],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found.group(1)) == 0:
        raise RuntimeError(f"{row['algorithm']}, provider {provider}: {done.stderr}")
    return int(found.group(1)) / ITERATIONS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--algorithm", nargs="+", default=ALGORITHMS)
    parser.add_argument("--size", nargs="+", type=int, default=[16, 1024])
    asked = parser.parse_args()
    build = asked.build.absolute()
    rows = [
        {"algorithm": algorithm, "manner": manner, "size": size}
        for algorithm in asked.algorithm
        for manner in ("long-lived", "new-context")
        for size in asked.size
    ]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as pool:
        configs = {}
        for algorithm in asked.algorithm:
            configs[algorithm] = Path(directory, f"{algorithm}.cnf")
            configs[algorithm].write_text(configuration(algorithm), encoding="utf-8")
        jobs = [
            (row, provider, pool.submit(instructions, build, configs[row["algorithm"]], provider, row))
            for row in rows
            for provider in ("default", "kaccel")
        ]
        try:
            for row, provider, job in jobs:
                row[provider] = job.result()
        except RuntimeError as error:
            pool.shutdown(cancel_futures=True)
            print(f"instruction_counts.py: {error}", file=sys.stderr)
            return 1
    asked.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
