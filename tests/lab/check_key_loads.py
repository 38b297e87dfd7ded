#!/usr/bin/env python3
"""Judges what key-load-bench measured in the lab's virtual time, by counters and ratios only.

    check_key_loads.py FIGURES.json=CELLS...

CELLS is how many cells (size, way) a file must hold at least: an empty table must not pass.

  keys loaded    one for one context, one each for two that alternate, one a request for 1,000 contexts in turn
                 over 64 sessions and where each request has to load its key
  time           one context <= two that alternate <= reloading every time, and no more is paid for 1,000
                 contexts in turn than for reloading every time and searching 64 sessions
  device         where it counts its own key reloads: none for one context, one a request for all others that change
                 keys
"""

import json
import sys

NOISE = 0.005  # virtual time repeats to three digits
MOST_FOR_SEARCHING = 1.15


def ways_by_size(rows: list[dict]) -> dict[int, dict[str, dict]]:
    sizes: dict[int, dict[str, dict]] = {}
    for row in rows:
        sizes.setdefault(row["size"], {})[row["way"]] = row
    return sizes


def rules(way: dict[str, dict]) -> list[tuple[str, bool]]:
    ns = {name: row["ns"] for name, row in way.items()}
    requests = {name: row["requests"] for name, row in way.items()}
    loaded = {name: row["keys_loaded"] for name, row in way.items()}
    total = {name: loaded[name] + row["keys_loaded_before"] for name, row in way.items()}
    found = [(f"{name} loads {total[name]} of {keys}", total[name] == keys)
             for name, keys in (("one", 1), ("two", 2), ("again", 1))]
    found += [(f"{name} loads {loaded[name]} for {requests[name]} requests", loaded[name] == requests[name])
              for name in ("many", "reload", "rekey")]

    def costs(dear: str, cheap: str) -> tuple[str, bool]:
        ratio = ns[dear] / ns[cheap]
        return f"{dear} takes {ratio:.3f} of {cheap}", ratio >= 1 - NOISE

    found += [costs("two", "one"), costs("reload", "two"), costs("rekey", "again")]
    ratio = ns["many"] / ns["reload"]
    found.append((f"many takes {ratio:.3f} of reload", ratio <= MOST_FOR_SEARCHING))
    for name, row in way.items():
        if "device_reloads" not in row:
            continue
        wanted = 0 if name in ("one", "again") else row["requests"]
        reloads = row["device_reloads"]
        found.append((f"{name}: the device reloads {reloads} of {wanted} times", reloads == wanted))
    return found


def main() -> int:
    passed = failed = 0
    for argument in sys.argv[1:]:
        path, _, wanted = argument.partition("=")
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
        if len(rows) < int(wanted):
            print(f"FAILED {path}: only {len(rows)} cells measured, {wanted} wanted")
            failed += 1
            continue
        for size, way in ways_by_size(rows).items():
            for text, holds in rules(way):
                passed, failed = passed + holds, failed + (not holds)
                print(f"{'ok    ' if holds else 'FAILED'} {way['one']['driver']} {size} bytes: {text}")
    print(f"key loads: {passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
