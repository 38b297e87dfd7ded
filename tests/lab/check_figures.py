#!/usr/bin/env python3
"""Judges what evp-bench measured in the lab's virtual time.

    check_figures.py FIGURES.json=CELLS...

CELLS is how many cells (algorithm, direction, size) a file must hold at least: an empty table must not pass.

The sides "default" (OpenSSL's software), "hardware" (kaccel, every call to hardware that the driver may see),
"dispatch" (kaccel by its calibrated thresholds) and, in some files, "raw" (a bare socket loop). Two rules (ratios
only, no absolute time):

  dispatch at least 0.98 of the better of default and hardware, at every size
  hardware at most 3% above raw, from 1 KiB on
"""

import json
import sys

LEAST_OF_BEST = 0.98
MOST_ABOVE_RAW = 1.03
RAW_FROM = 1024  # bytes


def judge(rows: list[dict]) -> tuple[int, int]:
    passed = failed = 0
    for row in rows:
        ns = row["ns"]
        direction = "" if row["algorithm"].startswith("HMAC-") else f" {row['direction']}"
        cell = f"{row['algorithm']}{direction} {row['size']} bytes"
        # Virtual time repeats to three digits.
        reached = round(min(ns["default"], ns["hardware"]) / ns["dispatch"], 3)
        rules = [(f"dispatch reaches {reached:.3f} of the better side", reached >= LEAST_OF_BEST)]
        if "raw" in ns and row["size"] >= RAW_FROM:
            above = round(ns["hardware"] / ns["raw"], 3)
            rules.append((f"hardware costs {above:.3f} of a bare socket loop", above <= MOST_ABOVE_RAW))
        for text, holds in rules:
            passed, failed = passed + holds, failed + (not holds)
            print(f"{'ok    ' if holds else 'FAILED'} {cell}: {text}")
    return passed, failed


def main() -> int:
    passed = failed = 0
    for argument in sys.argv[1:]:
        path, _, wanted = argument.partition("=")
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
        if len(rows) < int(wanted):
            print(f"FAILED {path}: only {len(rows)} cells measured, {wanted} wanted")
            failed += 1
        more = judge(rows)
        passed, failed = passed + more[0], failed + more[1]
    print(f"figures: {passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
