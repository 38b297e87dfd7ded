#!/usr/bin/env python3
"""Judges what evp-bench measured in the lab's virtual time.

    check_figures.py FIGURES.json

The sides "default" (OpenSSL's software), "hardware" (kaccel, every call to hardware), "dispatch" (kaccel by
its calibrated thresholds) and "raw" (a bare socket loop). Two rules (ratios only, no absolute time):

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
        cell = f"{row['algorithm']} {row['direction']} {row['size']} bytes"
        best = min(ns["default"], ns["hardware"])
        rules = [(f"dispatch reaches {best / ns['dispatch']:.3f} of the better side", best / ns["dispatch"] >= LEAST_OF_BEST)]
        if row["size"] >= RAW_FROM:
            above = ns["hardware"] / ns["raw"]
            rules.append((f"hardware costs {above:.4f} of a bare socket loop", above <= MOST_ABOVE_RAW))
        for text, holds in rules:
            passed, failed = passed + holds, failed + (not holds)
            print(f"{'ok    ' if holds else 'FAILED'} {cell}: {text}")
    return passed, failed


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    wanted = 11 * 2 * 2  # sizes, directions, key sizes: an empty table must not pass
    if len(rows) < wanted:
        print(f"FAILED only {len(rows)} cells measured, {wanted} wanted")
        return 1
    passed, failed = judge(rows)
    print(f"figures: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
