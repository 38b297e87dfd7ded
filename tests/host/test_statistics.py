"""`statistics = DIRECTORY` in whole processes, and what `kaccel-calibrate statistics` makes of it."""

import json
import os
from pathlib import Path

from conftest import Host, need_program, thresholds

OWN = "activate = 1\nthresholds = kaccel_thresholds\n"


def config(host: Host, directory: Path) -> Path:
    return host.config(
        OWN + f"statistics = {directory}", thresholds(16), properties="?provider=kaccel"
    )


def statistics(host: Host, *arguments: object, **options):
    return host.run(need_program("calibrate/kaccel-calibrate"), "statistics", *arguments, **options)


def test_a_program_has_its_file_and_hardware_did_nothing_here(host: Host, plaintext: bytes) -> None:
    directory = host.directory / "counts"
    directory.mkdir()
    expected = host.cipher("AES-128-CBC", plaintext, None)
    assert host.cipher("AES-128-CBC", plaintext, config(host, directory)) == expected
    assert [file.name for file in directory.iterdir()] == [f"openssl.{os.geteuid()}"]
    told = json.loads(statistics(host, directory, "--json").stdout)
    assert [program["program"] for program in told["programs"]] == ["openssl"]
    assert told["programs"][0]["hardware_bytes"] == 0
    # Asked for once, and not there: no AF_ALG here, or not this driver. In a container with a
    # seccomp filter it is not asked for.
    asked = "\nSeccomp:\t0\n" in Path("/proc/self/status").read_text()
    assert told["programs"][0]["fallbacks"] == (1 if asked else 0)
    assert told["unreadable"] == []
    # Without an argument the directory is the configuration's.
    text = statistics(host, config=config(host, directory)).stdout.decode()
    assert text.splitlines()[0].split() == (
        ["PROGRAM", "UID", "ALGORITHM", "HARDWARE", "CALLS", "HARDWARE", "BYTES", "FALLBACKS"]
    )
    assert text.splitlines()[1].split()[0] == "openssl"


def test_a_missing_directory_changes_nothing_but_the_build_info(host: Host, plaintext: bytes) -> None:
    directory = host.directory / "nowhere"
    expected = host.cipher("AES-128-CBC", plaintext, None)
    assert host.cipher("AES-128-CBC", plaintext, config(host, directory)) == expected
    shown = host.openssl("list", "-providers", "-verbose", config=config(host, directory)).stdout
    assert f"no statistics: {directory}/openssl." in shown.decode()
    done = statistics(host, directory, check=False)
    assert done.returncode == 1
    assert str(directory) in done.stderr.decode() and "mkdir" in done.stderr.decode()


def test_a_relative_directory_is_refused(host: Host) -> None:
    shown = host.openssl(
        "list", "-providers", "-verbose", config=config(host, Path("counts"))
    ).stdout.decode()
    assert "bad configuration: statistics = counts: must be a path from the root" in shown


def test_without_a_directory_the_command_says_what_to_set(host: Host) -> None:
    done = statistics(host, config=host.config(OWN, thresholds(16)), check=False)
    assert done.returncode == 1
    assert "statistics = /run/kaccel" in done.stderr.decode()


def test_what_is_no_statistics_file_is_named(host: Host) -> None:
    directory = host.directory / "counts"
    directory.mkdir()
    (directory / "stranger.0").write_bytes(b"not counts" * 500)
    (directory / "README").write_text("not looked at")
    text = statistics(host, directory).stdout.decode()
    assert "stranger.0: is no statistics file" in text
    assert "README" not in text
