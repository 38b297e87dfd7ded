"""tests/bench/report.py: what it lets pass, and what it makes of figures."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

REPORT = ROOT / "tests" / "bench" / "report.py"
SIDES = ["default", "afalg-engine", "libkcapi", "raw", "kaccel", "kaccel-hardware"]


def row(algorithm: str, size: int, **ns: float) -> dict:
    return {
        "algorithm": algorithm,
        "direction": "encrypt",
        "manner": "long-lived",
        "size": size,
        "ns": {side.replace("_", "-"): value for side, value in ns.items()},
        "wrong": {},
    }


def cbc_row(size: int) -> dict:
    return row(
        "AES-128-CBC",
        size,
        **{"default": 2000, "afalg_engine": 9000, "libkcapi": 8000},
        **{"raw": 4000, "kaccel": 2020, "kaccel_hardware": 4040},
    )


@pytest.fixture
def figures() -> dict:
    return {
        "kernel": "6.1.0",
        "openssl": "OpenSSL 3.0.19",
        "libkcapi": "libkcapi 1.4.0",
        "kernel_prefers": {"cbc(aes)": "cbc-aes-qce"},
        "drivers": {"cbc(aes)": "cbc-aes-qce", "ctr(aes)": "ctr-aes-qce"},
        "asked": {
            "algorithms": ["AES-128-CBC", "AES-128-GCM", "HMAC-SHA256"],
            "sizes": [16, 1024],
            "directions": ["encrypt"],
            "manners": ["long-lived"],
        },
        "left_out": {},
        "sides": SIDES,
        "rows": [
            *(cbc_row(size) for size in (16, 1024)),
            *(row("AES-128-GCM", size, default=9, kaccel=9, kaccel_hardware=8) for size in (16, 1024)),
            *(row("HMAC-SHA256", size, default=9, kaccel=9) for size in (16, 1024)),
        ],
    }


def report(directory: Path, figures: dict, *options: str) -> subprocess.CompletedProcess[str]:
    path = directory / "figures.json"
    path.write_text(json.dumps(figures))
    return subprocess.run(
        [sys.executable, REPORT, path, *options], capture_output=True, text=True, check=False
    )


def test_complete_and_right_figures_pass_with_ratios(tmp_path: Path, figures: dict):
    done = report(tmp_path, figures, "--json", str(tmp_path / "out.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "SIMULATED" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 130
    first = json.loads((tmp_path / "out.json").read_text())["rows"][0]
    assert first["best"] == "default"
    assert first["ratio"] == {
        **{"default": 1.0, "afalg-engine": 4.5, "libkcapi": 4.0},
        **{"raw": 2.0, "kaccel": 1.01, "kaccel-hardware": 2.02},
    }
    assert "kaccel is within 2% of the best in 4 of 6 rows." in done.stdout  # GCM: 9 for 8
    table = done.stdout.split("AES-128-CBC, encrypt")[1].splitlines()
    assert table[2].split() == "16 2.00 1.00 9.00 4.50 8.00 4.00 4.00 2.00 2.02 1.01 4.04 2.02".split()


def test_a_wrong_side_fails_and_is_shown(tmp_path: Path, figures: dict):
    del figures["rows"][1]["ns"]["raw"]
    figures["rows"][1]["wrong"]["raw"] = "differs from the default provider"
    done = report(tmp_path, figures)
    assert done.returncode == 1
    assert "wrong" in done.stdout.split("AES-128-CBC, encrypt")[1].splitlines()[3].split()
    assert "1024 bytes: raw is wrong: differs" in done.stderr


@pytest.mark.parametrize("side", SIDES)
def test_a_missing_cell_fails(tmp_path: Path, figures: dict, side: str):
    del figures["rows"][0]["ns"][side]
    done = report(tmp_path, figures)
    assert done.returncode == 1
    assert f"16 bytes: {side} is missing" in done.stderr


@pytest.mark.parametrize("index", range(6))
def test_a_missing_row_fails(tmp_path: Path, figures: dict, index: int):
    del figures["rows"][index]
    done = report(tmp_path, figures)
    assert done.returncode == 1
    assert "1 of 2 sizes" in done.stderr


def test_figures_of_no_device_fail(tmp_path: Path, figures: dict):
    figures["drivers"] = {}
    done = report(tmp_path, figures)
    assert done.returncode == 1
    assert "no hardware driver" in done.stderr


def test_an_engine_that_gets_software_fails(tmp_path: Path, figures: dict):
    figures["kernel_prefers"]["cbc(aes)"] = "cbc-aes-aesni"
    done = report(tmp_path, figures)
    assert done.returncode == 1
    assert "afalg engine gets cbc-aes-aesni" in done.stderr


def test_a_direction_that_was_asked_for_must_be_there(tmp_path: Path, figures: dict):
    figures["asked"]["directions"] = ["encrypt", "decrypt"]
    done = report(tmp_path, figures)
    assert done.returncode == 1
    assert "AES-128-CBC decrypt" in done.stderr
    assert "HMAC-SHA256" not in done.stderr


def test_a_peer_that_is_not_installed_is_told_of_and_fails_only_when_asked(
    tmp_path: Path, figures: dict
):
    without = copy.deepcopy(figures)
    without["left_out"]["libkcapi"] = "not built in"
    without["sides"].remove("libkcapi")
    for each in without["rows"]:
        each["ns"].pop("libkcapi", None)
    done = report(tmp_path, without)
    assert done.returncode == 0
    assert "Left out: libkcapi: not built in" in done.stdout
    assert report(tmp_path, without, "--every-side").returncode == 1
