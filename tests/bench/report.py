#!/usr/bin/env python3
"""Judges and shows what peer-bench measured in the lab.

    report.py FIGURES.json [--instructions COUNTS.json] [--device NAME] [--json OUT.json] [--every-side]

Adds to each row the ratio of each side to the row's best, and which that is. Exit status 1 where a side gave a
wrong result or a cell is missing, each named in a line on standard error; a side that could not be had on the
machine is only told of, unless --every-side.
"""

import argparse
import json
import sys
from pathlib import Path

TITLES = {
    "default": "default",
    "afalg-engine": "afalg engine",
    "libkcapi": "libkcapi",
    "raw": "raw socket",
    "kaccel": "kaccel",
    "kaccel-hardware": "kaccel, hw only",
}
MANNERS = {"long-lived": "one long-lived context", "new-context": "a new context for each message"}
LEGEND = """\
Microseconds a message, and how many times the best of the row that is (best = 1.00).
"-": the side does not have it: OpenSSL's afalg engine has AES-CBC only; no driver has GCM, and AF_ALG no AEAD here
(kaccel does it as CTR by the driver and GHASH in software); libkcapi and the raw socket need a driver.
"kaccel" decides by its calibrated thresholds; "hw only" is kaccel with every call to hardware that the driver may
see, for reference: what a driver must not see (one block, XTS units it hangs on) it leaves to software."""


def chaining_of(algorithm: str) -> str:
    """The kernel's name of what the driver is asked for."""
    if algorithm.startswith("HMAC-"):
        return f"hmac({algorithm.removeprefix('HMAC-').lower()})"
    mode = algorithm.rsplit("-", 1)[1].lower().replace("gcm", "ctr")
    cipher = {"AES": "aes", "DES": "des"}[algorithm.split("-")[0]]
    return f"{mode}({'des3_ede' if algorithm.startswith('DES-EDE') else cipher})"


def expected_sides(algorithm: str, figures: dict) -> list[str]:
    sides = ["default", "kaccel"]
    has_driver = chaining_of(algorithm) in figures["drivers"]
    if has_driver:
        sides.append("kaccel-hardware")
        if not algorithm.endswith("-GCM"):
            sides += ["libkcapi", "raw"]
    if algorithm.startswith("AES-") and algorithm.endswith("-CBC"):
        sides.append("afalg-engine")
    return sides


def expected_rows(figures: dict) -> set[tuple[str, str, str]]:
    """(algorithm, direction, manner); which sizes there must be is counted, since they are rounded up."""
    asked = figures["asked"]
    return {
        (algorithm, direction, manner)
        for algorithm in asked["algorithms"]
        for direction in asked["directions"]
        for manner in asked["manners"]
        if not algorithm.startswith("HMAC-") or direction == asked["directions"][0]
    }


def group_of(row: dict) -> tuple[str, str, str]:
    return row["algorithm"], row["direction"], row["manner"]


def complaints(figures: dict, every_side: bool = False) -> list[str]:
    found = [f"{side} is left out: {why}" for side, why in figures["left_out"].items() if every_side]
    sizes = len(set(figures["asked"]["sizes"]))
    for group in sorted(expected_rows(figures)):
        have = sum(group_of(row) == group for row in figures["rows"])
        if have < sizes:
            found.append(f"{' '.join(group)}: {have} of {sizes} sizes")
    if not figures["rows"]:
        found.append("no row at all")
    if not figures["drivers"]:
        found.append("the kernel has no hardware driver: nothing was compared with hardware")
    engine_gets, driver = figures["kernel_prefers"]["cbc(aes)"], figures["drivers"].get("cbc(aes)")
    if driver and engine_gets != driver:
        found.append(f"the afalg engine gets {engine_gets}, not the device's {driver}")
    for row in figures["rows"]:
        cell = f"{' '.join(group_of(row))}, {row['size']} bytes"
        found += [f"{cell}: {side} is wrong: {why}" for side, why in row["wrong"].items()]
        found += [
            f"{cell}: {side} is missing"
            for side in expected_sides(row["algorithm"], figures)
            if side not in row["ns"] and side not in row["wrong"] and side not in figures["left_out"]
        ]
    return found


def add_ratios(figures: dict) -> None:
    for row in figures["rows"]:
        best = min(row["ns"], key=row["ns"].get, default=None)
        row["best"] = best
        row["ratio"] = {side: round(ns / row["ns"][best], 3) for side, ns in row["ns"].items()}


def cell_text(row: dict, side: str) -> str:
    if side in row["wrong"]:
        return f"{'wrong':>17}"
    if side not in row["ns"]:
        return f"{'-':>17}"
    microseconds, ratio = row["ns"][side] / 1000, row["ratio"][side]
    digits = 2 if ratio < 100 else 0
    return f"{microseconds:>10.{digits}f}{ratio:>7.{digits}f}"


def head(figures: dict, device: str) -> str:
    used = {chaining_of(algorithm) for algorithm in figures["asked"]["algorithms"]}
    drivers = ", ".join(driver for name, driver in figures["drivers"].items() if name in used)
    return "\n".join(
        [
            f"SIMULATED device: {device}. Virtual time: a router's in-order CPU of 500 MHz, without AES instructions.",
            f"Kernel {figures['kernel']}, {figures['openssl']}, {figures['libkcapi'] or 'no libkcapi'}.",
            f"Drivers: {drivers or 'none'}.",
            f"The afalg engine gets {figures['kernel_prefers']['cbc(aes)']}.",
            *(f"Left out: {side}: {why}" for side, why in figures["left_out"].items()),
        ]
    )


def tables(figures: dict) -> str:
    sides = [side for side in TITLES if side in figures["sides"]]
    sides += [side for side in figures["sides"] if side not in TITLES]
    lines, group = [], None
    for row in figures["rows"]:
        if group_of(row) != group:
            group = algorithm, direction, manner = group_of(row)
            way = "" if algorithm.startswith("HMAC-") else f", {direction}"
            lines += ["", f"{algorithm}{way}, {MANNERS[manner]}"]
            lines.append(f"{'bytes':>6}" + "".join(f"{TITLES.get(side, side):>17}" for side in sides))
        lines.append(f"{row['size']:>6}" + "".join(cell_text(row, side) for side in sides))
    return "\n".join(lines)


def summary(figures: dict) -> str:
    """Where kaccel is not the best: of each algorithm, direction and manner the row it loses most in."""
    lines = [f"{'Where kaccel loses most (more than 2%)':58}{'bytes':>6}{'of best':>9}  best"]
    groups: dict[tuple[str, str, str], list[dict]] = {}
    for row in figures["rows"]:
        groups.setdefault(group_of(row), []).append(row)
    for (algorithm, direction, manner), rows in groups.items():
        worst = max(rows, key=lambda row: row["ratio"].get("kaccel", 0))
        ratio = worst["ratio"].get("kaccel", 0)
        if ratio <= 1.02:
            continue
        way = "" if algorithm.startswith("HMAC-") else f", {direction}"
        name = f"{algorithm}{way}, {MANNERS[manner]}"
        lines.append(f"{name:58}{worst['size']:>6}{ratio:>9.2f}  {TITLES.get(worst['best'], worst['best'])}")
    behind = sum(row["ratio"].get("kaccel", 0) > 1.02 for row in figures["rows"])
    return "\n".join([*lines, f"kaccel is within 2% of the best in {len(figures['rows']) - behind} of {len(figures['rows'])} rows."])


def instruction_table(counts: list[dict]) -> str:
    lines = [
        "Instructions of a message that stays in software, on the host, by callgrind",
        "(long: one long-lived context; new: a new context for each message)",
        f"{'':22}{'bytes':>6}{'default':>12}{'kaccel':>12}{'more':>9}",
    ]
    for row in counts:
        more = row["kaccel"] - row["default"]
        name = f"{row['algorithm']}, {'new' if row['manner'] == 'new-context' else 'long'}"
        lines.append(
            f"{name:22}{row['size']:>6}{row['default']:>12.0f}{row['kaccel']:>12.0f}"
            f"{more:>+9.0f}{more / row['default']:>+9.1%}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=Path)
    parser.add_argument("--instructions", type=Path)
    parser.add_argument("--device", default="qce")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--every-side", action="store_true")
    asked = parser.parse_args()
    figures = json.loads(asked.figures.read_text(encoding="utf-8"))
    figures = {"device": f"SIMULATED {asked.device}", "time": "virtual"} | figures
    add_ratios(figures)
    print(head(figures, asked.device), LEGEND, tables(figures), "", summary(figures), sep="\n")
    if asked.instructions:
        figures["instructions"] = json.loads(asked.instructions.read_text(encoding="utf-8"))
        print("", instruction_table(figures["instructions"]), sep="\n")
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    wrong = complaints(figures, asked.every_side)
    for complaint in wrong:
        print(f"report.py: {complaint}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
