"""A wrong configuration is one clear error, and every program keeps working in software.

Where the error can be seen: OpenSSL drops what is raised while it reads openssl.cnf unless the
reading itself fails. So the error queue shows it to an application that loads kaccel by
OSSL_PROVIDER_load (here: a section without `activate`); for everybody else the provider's build
info carries the same text (`openssl list -providers -verbose`).
"""

import json
import os
from pathlib import Path

import pytest

from conftest import ALGORITHMS, Host, need_program, thresholds

GROUP = "AES-128-CBC.encrypt = 512\nAES-128-CBC.decrypt = 768\nAES-128-CBC.driver = cbc(aes-eip93)"
OWN = "thresholds = kaccel_thresholds"


def look(host: Host, mode: str, *configs: Path) -> list[dict]:
    program = need_program("tests/host/load-errors")
    done = host.run(program, mode, *configs, timeout=300)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_one_error(
    host: Host, *parts: str, own: str = OWN, section: str | None = GROUP, tail: str = ""
) -> None:
    """Exactly one kaccel error with `parts` in its text; software in every way of loading."""
    loaded = host.config(own=own, section=section, tail=tail, name="loaded.cnf")
    [seen] = look(host, "load", loaded)
    errors = seen["errors_of_load"]
    assert len(errors) == 1, errors
    assert errors[0]["library"] == "kaccel"
    assert errors[0]["reason"] == "bad configuration, kaccel stays in software"
    text = errors[0]["text"]
    assert "\n" not in text
    for part in parts:
        assert part in text
    assert seen["errors_of_config"] == seen["errors_of_use"] == []
    assert seen["active"] and seen["ciphers_right"]
    assert text in seen["build_info"].replace("activated.cnf", "loaded.cnf")

    activated = host.config(
        own=own + "\nactivate = 1", section=section, tail=tail, name="activated.cnf"
    )
    [seen] = look(host, "config", activated)
    assert text.replace("loaded.cnf", "activated.cnf") in seen["build_info"]
    assert "software only" in seen["build_info"]
    assert seen["errors_of_config"] == seen["errors_of_use"] == []
    assert seen["active"] and seen["default_active"] and seen["ciphers_right"]
    data = b"data" * 999
    words = ("-propquery", "?provider=kaccel")
    expected = host.cipher("AES-128-CBC", data, None)
    assert host.cipher("AES-128-CBC", data, activated, *words) == expected
    assert host.openssl("dgst", "-sha256", config=activated, input=data).stderr == b""


def test_an_unknown_key_in_the_providers_section_is_one_clear_error(host: Host):
    check_one_error(host, "max_session", "unknown key", own=OWN + "\nmax_session = 64")


@pytest.mark.parametrize(
    "key",
    ["AES-128-CBC.encrpyt", "AES-128-CCM.encrypt", "AES128CBC.driver", "encrypt", "AES-128-CBC"],
)
def test_an_unknown_key_in_the_thresholds_section_is_one_clear_error(host: Host, key: str):
    check_one_error(host, f"thresholds.{key}", "unknown key", section=f"{GROUP}\n{key} = 512")


@pytest.mark.parametrize("key", ["encrypt", "decrypt"])
@pytest.mark.parametrize(
    "value",
    ["many", "-2", "2147483648", "9" * 20, "", "512 bytes", "512k", "0x200", "1.5", "+1"],
)
def test_a_threshold_that_is_not_a_number_is_one_clear_error(host: Host, key: str, value: str):
    lines = [line for line in GROUP.splitlines() if f".{key} " not in line]
    section = "\n".join([f"AES-128-CBC.{key} = {value}", *lines])
    check_one_error(host, f"thresholds.AES-128-CBC.{key} = {value}", section=section)


@pytest.mark.parametrize("key", ["min_size", "max_size", "size_multiple"])
@pytest.mark.parametrize("value", ["0", "-1", "", "all"])
def test_a_size_limit_that_is_not_a_size_is_one_clear_error(host: Host, key: str, value: str):
    section = f"AES-128-CBC.{key} = {value}\n{GROUP}"
    check_one_error(host, f"thresholds.AES-128-CBC.{key} = {value}", section=section)


@pytest.mark.parametrize("key", ["encrypt", "decrypt", "driver"])
def test_a_group_without_one_of_its_keys_is_one_clear_error(host: Host, key: str):
    section = "\n".join(line for line in GROUP.splitlines() if f".{key} " not in line)
    check_one_error(host, f"thresholds.AES-128-CBC.{key}", "missing", section=section)


@pytest.mark.parametrize("value", ["0", "1025", "-1", "", "sixty-four", "64 x"])
def test_a_number_of_sessions_out_of_range_is_one_clear_error(host: Host, value: str):
    line = f"max_sessions = {value}"
    check_one_error(host, line, "1 to 1024", own=f"{OWN}\n{line}")


@pytest.mark.parametrize("value", ["maybe", "", "2", "yess"])
def test_load_default_that_is_neither_yes_nor_no_is_one_clear_error(host: Host, value: str):
    line = f"load_default = {value}"
    check_one_error(host, line, "yes or no", own=f"{OWN}\n{line}")


@pytest.mark.parametrize("value", ["always", "-2", ""])
def test_a_forced_threshold_that_is_not_a_number_is_one_clear_error(host: Host, value: str):
    line = f"force_threshold = {value}"
    check_one_error(host, line, own=f"{OWN}\n{line}")


@pytest.mark.parametrize("name", ["x" * 64, "y" * 70, "cbc aes", ""])
def test_a_driver_name_that_no_kernel_can_have_is_one_clear_error(host: Host, name: str):
    section = GROUP.replace("cbc(aes-eip93)", name)
    check_one_error(host, f"thresholds.AES-128-CBC.driver = {name}", section=section)


def test_a_driver_name_of_63_characters_is_accepted(host: Host):
    section = GROUP.replace("cbc(aes-eip93)", "z" * 63)
    [seen] = look(host, "load", host.config(own=OWN, section=section))
    assert seen["errors_of_load"] == [] and seen["ciphers_right"]


def test_of_several_faults_only_one_is_raised(host: Host):
    check_one_error(
        host,
        own=f"{OWN}\nmax_sessions = none\nload_default = maybe\nunknown = 1",
        section=GROUP.replace("512", "many").replace("768", "none"),
    )


def test_an_included_file_that_cannot_be_read_is_one_clear_error(host: Host):
    # A link to itself cannot be read by anybody, root included.
    loop = host.directory / "kaccel-thresholds.cnf"
    loop.symlink_to(loop)
    check_one_error(host, str(loop), section=None, tail=f"\n.include {loop}\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_included_file_without_permission_is_one_clear_error(host: Host):
    secret = host.file("kaccel-thresholds.cnf", f"[kaccel_thresholds]\n{GROUP}\n")
    secret.chmod(0)
    check_one_error(host, str(secret), section=None, tail=f"\n.include {secret}\n")


@pytest.mark.parametrize("state", ["is_a_directory", "is_not_there", "is_empty"])
def test_a_thresholds_file_without_thresholds_means_software(host: Host, state: str):
    path = host.directory / "kaccel-thresholds.cnf"
    if state == "is_a_directory":
        path.mkdir()
    elif state == "is_empty":
        path.touch()
    own = OWN + "\nactivate = 1"
    [seen] = look(host, "config", host.config(own=own, tail=f"\n.include {path}\n"))
    assert seen["active"] and seen["default_active"] and seen["ciphers_right"]
    assert "software only" in seen["build_info"]
    assert not seen["errors_of_config"] + seen["errors_of_use"]


def test_a_section_name_that_no_file_brings_is_told(host: Host):
    """Not yet calibrated, or misspelt: either way the build info says which section is missing."""
    own = "activate = 1\nthresholds = kacel_thresholds"
    [seen] = look(host, "config", host.config(own=own, section=GROUP))
    assert seen["ciphers_right"]
    assert "kacel_thresholds" in seen["build_info"]


def test_the_default_library_context_shows_the_error_too(host: Host):
    config = host.config(own=OWN, section=GROUP.replace("512", "many"))
    done = host.run(need_program("tests/host/load-errors"), "default", config=config)
    seen = json.loads(done.stdout)
    [error] = seen["errors_of_load"]
    assert "thresholds.AES-128-CBC.encrypt = many" in error["text"]
    assert seen["ciphers_right"] and seen["default_active"]


THRESHOLDS_FILE = (
    "# kaccel thresholds, measured by kaccel-calibrate.\n#   [kaccel_sect]\n"
    "#   thresholds = kaccel_thresholds\n\n[kaccel_thresholds]\n"
    "\n# AES-128-CBC on cbc(aes-eip93)\nAES-128-CBC.encrypt = 512\nAES-128-CBC.decrypt = 1024\n"
    "AES-128-CBC.min_size = 32\nAES-128-CBC.max_size = 65536\nAES-128-CBC.size_multiple = 512\n"
    "AES-128-CBC.driver = cbc(aes-eip93)\n"
    "\n# AES-256-CTR on ctr(aes-eip93)\nAES-256-CTR.encrypt = 768\nAES-256-CTR.decrypt = -1\n"
    "AES-256-CTR.driver = ctr(aes-eip93)\n"
)
FULL = {
    "AES-128-CBC": {
        "driver": "cbc(aes-eip93)",
        "encrypt": 512,
        "decrypt": 1024,
        "min_size": 32,
        "max_size": 65536,
        "size_multiple": 512,
    },
    "AES-256-CTR": {"driver": "ctr(aes-eip93)", "encrypt": 768, "decrypt": -1},
}


def cut_files(host: Host, own: str) -> list[Path]:
    """A configuration for each length to which the thresholds file may have been cut."""
    configs = []
    for size in range(len(THRESHOLDS_FILE) + 1):
        cut = host.file(f"thresholds-{size}.cnf", THRESHOLDS_FILE[:size])
        configs.append(
            host.config(own=own, name=f"openssl-{size}.cnf", tail=f"\n.include {cut}\n")
        )
    return configs


def test_a_thresholds_file_cut_at_any_byte_never_gives_a_wrong_threshold(host: Host):
    program = need_program("tests/host/read-settings")
    configs = cut_files(host, OWN + "\nactivate = 1")
    done = host.run(program, *configs, timeout=300)
    readings = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(readings) == len(THRESHOLDS_FILE) + 1
    outcomes = {"full": 0, "part": 0, "software": 0, "error": 0, "not a configuration": 0}
    for size, reading in enumerate(readings):
        if "error" in reading:
            outcomes["error"] += 1
            continue
        if "algorithms" not in reading:
            assert not reading["configured"], size  # OpenSSL refused the file
            outcomes["not a configuration"] += 1
            continue
        algorithms = reading["algorithms"]
        for name, found in algorithms.items():
            # A driver's name may be cut, too; no driver has such a name, so that means software.
            assert FULL[name]["driver"].startswith(found["driver"]), size
            assert {**found, "driver": ""} == {**FULL[name], "driver": ""}, size
        kind = "full" if algorithms == FULL else "part" if algorithms else "software"
        outcomes[kind] += 1
    print(f"\nthresholds file of {len(THRESHOLDS_FILE)} bytes, cut at each: {outcomes}")
    assert readings[-1]["algorithms"] == FULL and readings[-1]["calibrated"]
    assert outcomes["error"] > 0 and outcomes["part"] > 0


def test_a_thresholds_file_cut_at_any_byte_leaves_programs_working(host: Host):
    for size, seen in enumerate(look(host, "config", *cut_files(host, OWN + "\nactivate = 1"))):
        if seen["configured"]:
            assert seen["active"] and seen["default_active"] and seen["ciphers_right"], size
        else:
            assert not seen["active"] and seen["errors_of_config"], size


def test_a_thresholds_file_cut_at_any_byte_raises_at_most_one_error(host: Host):
    for size, seen in enumerate(look(host, "load", *cut_files(host, OWN))):
        if seen["configured"]:
            assert len(seen["errors_of_load"]) <= 1, size
            assert ("bad configuration" in seen["build_info"]) == bool(seen["errors_of_load"]), size
