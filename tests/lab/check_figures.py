#!/usr/bin/env python3
"""Judges what evp-bench measured in the lab's virtual time.

    check_figures.py FIGURES.json=CELLS...

CELLS is how many cells (algorithm, direction, size) a file must hold at least: an empty table must not pass.

The sides "default" (OpenSSL's software), "hardware" (kaccel, every call to hardware that the driver may see),
"dispatch" (kaccel by its calibrated thresholds) and, in some files, "raw" (a bare socket loop). The rules (ratios
only, no absolute time):

  dispatch at least 0.98 of the better of default and hardware, at every size; where the faster side changes more
  than once, no single threshold has that: between the first and the last change at least 0.98 of default
  hardware at most 3% above raw, from 1 KiB on
"""

import json
import sys

LEAST_OF_BEST = 0.98
MOST_ABOVE_RAW = 1.03
RAW_FROM = 1024  # bytes


def curves(rows: list[dict]) -> list[list[dict]]:
    """The rows of each algorithm and direction, by size."""
    grouped: dict[tuple, list[dict]] = {}
    for row in rows:
        grouped.setdefault((row["algorithm"], row["direction"]), []).append(row)
    return [sorted(curve, key=lambda row: row["size"]) for curve in grouped.values()]


def between_changes(curve: list[dict]) -> range:
    """The sizes from hardware's first win to software's last, which is nothing where the faster side changes once."""
    hardware_wins = [row["size"] for row in curve if row["ns"]["hardware"] < row["ns"]["default"]]
    software_wins = [row["size"] for row in curve if row["ns"]["hardware"] >= row["ns"]["default"]]
    if not hardware_wins or not software_wins:
        return range(0)
    return range(min(hardware_wins), max(software_wins) + 1)


def judge_cell(row: dict, between: range) -> list[tuple[str, bool]]:
    ns = row["ns"]
    # Virtual time repeats to three digits.
    best = round(min(ns["default"], ns["hardware"]) / ns["dispatch"], 3)
    rules = [(f"dispatch reaches {best:.3f} of the better side", best >= LEAST_OF_BEST)]
    if row["size"] in between:
        default = round(ns["default"] / ns["dispatch"], 3)
        text = f"between two crossovers; dispatch reaches {default:.3f} of default, {best:.3f} of the better side"
        rules = [(text, default >= LEAST_OF_BEST)]
    if "raw" in ns and row["size"] >= RAW_FROM:
        above = round(ns["hardware"] / ns["raw"], 3)
        rules.append((f"hardware costs {above:.3f} of a bare socket loop", above <= MOST_ABOVE_RAW))
    return rules


def judge(rows: list[dict]) -> tuple[int, int]:
    passed = failed = 0
    for curve in curves(rows):
        between = between_changes(curve)
        for row in curve:
            direction = "" if row["algorithm"].startswith("HMAC-") else f" {row['direction']}"
            cell = f"{row['algorithm']}{direction} {row['size']} bytes"
            for text, holds in judge_cell(row, between):
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
