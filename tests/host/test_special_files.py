"""A FIFO or a device where a configuration has a file, and configurations without an end.

OpenSSL reads a FIFO once. kaccel does not wait for a second text, and doctor opens none.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from conftest import Host, need_program, thresholds

MEASURED = "[kaccel_thresholds]\n" + thresholds(512, ["AES-256-CBC"])


@pytest.fixture
def fifo(host: Host) -> Path:
    path = host.directory / "fifo.cnf"
    os.mkfifo(path)
    return path


def doctor(host: Host, config: Path | str) -> list[dict]:
    """What is to mend. host.run() ends what hangs."""
    program = need_program("calibrate/kaccel-calibrate")
    done = host.run(program, "doctor", "--json", "--config", config, check=False)
    assert done.stderr == b"" and done.returncode in (0, 1)
    return [one for one in json.loads(done.stdout)["checks"] if one["state"] == "problem"]


def including(host: Host, path: Path | str) -> Path:
    return host.config(others=("default",), tail=f"\n.include {path}\n")


@pytest.mark.parametrize("kind", ["FIFO", "device"])
@pytest.mark.parametrize("way", ["file", "link", "directory"])
def test_doctor_opens_no_such_include_and_takes_it_out(host: Host, fifo: Path, kind: str, way: str):
    special = fifo if kind == "FIFO" else Path("/dev/zero")
    path = host.directory / "conf.d" if way == "directory" else host.directory / "link.cnf"
    if way == "directory":
        path.mkdir()
        (path / "a.cnf").symlink_to(special)
    elif way == "link":
        path.symlink_to(special)
    config = including(host, special if way == "file" else path)
    [named] = [one for one in doctor(host, config) if one["check"] == "included file"]
    assert f"is a {kind} and no file" in named["what"]
    line = len(config.read_text().splitlines())
    assert named["where"] == f"{config}, line {line}, .include" and "hangs" in named["means"]
    for command in named["commands"]:
        subprocess.run(["sh", "-ec", command], check=True)
    assert not [one for one in doctor(host, config) if one["check"] == "included file"]
    assert b"\n  kaccel\n" in host.openssl("list", "-providers", config=config).stdout


@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_doctor_opens_no_such_configuration(host: Host, fifo: Path, kind: str):
    config = fifo if kind == "FIFO" else "/dev/zero"
    [named] = doctor(host, config)
    assert f"is a {kind} and no file" in named["what"] and named["where"] == str(config)
    assert "OPENSSL_CONF" in named["remark"]


def test_kaccel_does_not_read_a_fifo_a_second_time(host: Host, fifo: Path):
    config = including(host, fifo)
    text = host.file("text", MEASURED)
    with subprocess.Popen(["sh", "-c", f"cat {text} > {fifo}"]) as writer:
        try:
            done = host.openssl("list", "-providers", "-verbose", config=config, timeout=30)
        finally:
            writer.kill()
    assert b"\n  kaccel\n" in done.stdout and done.stderr == b""
    assert b"1 algorithm with a driver configured, thresholds calibrated" in done.stdout


def test_a_configuration_that_includes_itself_is_told(host: Host):
    config = including(host, host.directory / "openssl.cnf")
    [named] = [one for one in doctor(host, config) if one["check"] == "included file"]
    assert "included within itself" in named["what"]


def test_sections_that_name_themselves_and_each_other_are_told(host: Host):
    """Ten keys that each go round in a circle are 10^8 keys eight rounds later."""
    keys = "".join(f"key{i} = kaccel_thresholds\n" for i in range(20_000))
    config = host.config(
        own="activate = 1\nthresholds = kaccel_thresholds", section=keys, others=("default",)
    )
    [named] = [one for one in doctor(host, config) if one["check"] == "keys"]
    assert "leads back to a section that it comes from" in named["what"]
    assert "[kaccel_thresholds], key0 = kaccel_thresholds" in named["where"]
    for command in named["commands"]:
        subprocess.run(["sh", "-ec", command], check=True)
    assert "keys" not in [one["check"] for one in doctor(host, config)]


@pytest.mark.parametrize("measured", [False, True], ids=["own", "thresholds"])
def test_forty_thousand_unknown_keys_are_told_and_taken_out(host: Host, measured: bool):
    keys = "".join(f"key{i} = {i}\n" for i in range(40_000))
    config = host.config(
        own="activate = 1\n" + ("thresholds = kaccel_thresholds" if measured else keys),
        section=keys if measured else None,
        others=("default",),
    )
    named = [one for one in doctor(host, config) if one["check"] == "keys"]
    assert len(named) == 21 and named[-1]["what"].startswith("39980 more")
    for one in named:
        for command in one["commands"]:
            subprocess.run(["sh", "-ec", command], check=True)
    assert "keys" not in [one["check"] for one in doctor(host, config)]
