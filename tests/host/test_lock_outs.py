"""Configurations that lock programs out of OpenSSL, or kaccel out of programs.

For each: programs go on wherever OpenSSL lets them, `kaccel-calibrate doctor` names what is wrong,
and what it prints mends it. A case that locks programs out is one in which OpenSSL 3.0 never gets
as far as kaccel, or was told to use nothing else; those are marked.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, Host, kernel_has_af_alg, need_program, need_tool, thresholds

GOOD = """openssl_conf = openssl_init
.include {directory}/kaccel-thresholds.cnf

[openssl_init]
providers = provider_sect
alg_section = algorithm_sect
random = random_sect

[provider_sect]
default = default_sect
kaccel = kaccel_sect

[default_sect]
activate = 1

[kaccel_sect]
activate = 1
thresholds = kaccel_thresholds

[algorithm_sect]
default_properties = ?provider=kaccel

[random_sect]
properties = provider=default
"""
MEASURED = "[kaccel_thresholds]\ncalibrated = yes\n"
OF_ANOTHER_MACHINE = MEASURED + thresholds(512, ["AES-256-CBC", "AES-128-CTR"])


def change(before: str, after: str) -> Callable[[Host], None]:
    """Edits the good configuration."""

    def apply(host: Host) -> None:
        path = host.directory / "openssl.cnf"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after, 1))

    return apply


def measured(text: str | bytes) -> Callable[[Host], None]:
    """Another file of thresholds."""
    return lambda host: host.file("kaccel-thresholds.cnf", text) and None


def thresholds_file(host: Host) -> Path:
    return host.directory / "kaccel-thresholds.cnf"


def directory_in_its_place(host: Host) -> None:
    thresholds_file(host).unlink()
    thresholds_file(host).mkdir()


def loop_in_its_place(host: Host) -> None:
    thresholds_file(host).unlink()
    thresholds_file(host).symlink_to(thresholds_file(host))


def nobody_but_the_owner_reads_it(host: Host) -> None:
    thresholds_file(host).chmod(0o600)


def base_in_place_of_default(host: Host) -> None:
    change("default = default_sect", "base = default_sect")(host)
    change("thresholds = ", "load_default = no\nthresholds = ")(host)


def include_before_everything(host: Host) -> None:
    path = host.directory / "openssl.cnf"
    first, second, rest = path.read_text().split("\n", 2)
    path.write_text("\n".join((second, first, rest)))


def module_of_another_machine(host: Host) -> None:
    """The same file with the ELF header of a 32-bit MIPS machine."""
    other = bytearray((BUILD / "provider" / "kaccel.so").read_bytes())
    other[4] = 1
    other[18:20] = b"\x08\x00"
    host.file("other.so", bytes(other))
    module = f"module = {host.directory}/other.so\n"
    change("activate = 1\nthresholds", module + "activate = 1\nthresholds")(host)


def include_within(line: str) -> Callable[[Host], None]:
    """Moves the line with .include behind another one."""

    def apply(host: Host) -> None:
        path = host.directory / "openssl.cnf"
        first, include, rest = path.read_text().split("\n", 2)
        assert line in rest
        path.write_text(f"{first}\n{rest.replace(line, f'{line}{include}' + chr(10), 1)}")

    return apply


def module_cut_off(host: Host) -> None:
    """Loading it is a bus error: what its header speaks of is beyond the file's end."""
    whole = (BUILD / "provider" / "kaccel.so").read_bytes()
    host.file("cut.so", whole[:100_000])
    module = f"module = {host.directory}/cut.so\n"
    change("activate = 1\nthresholds", module + "activate = 1\nthresholds")(host)


@dataclass
class Case:
    spoil: Callable[[Host], None]
    check: str  # doctor's finding
    says: str  # is in its text
    programs: bool = True  # they work before it is mended
    kaccel: bool = True  # is active before it is mended
    state: str = "problem"
    alone: bool = False  # nothing else is to mend
    means: str = ""  # is in what doctor says it means


CASES = {
    "kaccel_without_default": Case(
        change("default = default_sect\n", ""), "default provider", "brings it along", state="warning"
    ),
    "default_that_is_not_activated": Case(
        change("[default_sect]\nactivate = 1", "[default_sect]\n# activate = 1"),
        "default provider",
        "brings it along",
        state="warning",
    ),
    "default_section_misspelt": Case(
        change("[default_sect]", "[defualt_sect]"), "default provider", "not there", kaccel=False
    ),
    # Told to: base has encoders only.
    "load_default_no_beside_base": Case(
        base_in_place_of_default, "default provider", "load_default = no", programs=False
    ),
    "load_default_no_alone": Case(
        lambda host: (
            change("default = default_sect\n", "")(host),
            change("thresholds = ", "load_default = no\nthresholds = ")(host),
        )
        and None,
        "default provider",
        "load_default = no",
        programs=False,
    ),
    # Told to use nothing else.
    "no_question_mark": Case(
        change("?provider=kaccel", "provider=kaccel"),
        "default_properties",
        "question mark",
        programs=False,
    ),
    "no_question_mark_beside_others": Case(
        change("?provider=kaccel", "?fips=yes, provider=kaccel"),
        "default_properties",
        "question mark",
        programs=False,
    ),
    "properties_that_openssl_cannot_read": Case(
        change("?provider=kaccel", "?provider=kaccel ?"), "default_properties", "cannot read"
    ),
    "properties_that_prefer_nobody": Case(
        change("?provider=kaccel", "?provider=kacel"),
        "default_properties",
        "does not prefer kaccel",
        state="warning",
    ),
    "properties_under_another_name": Case(
        change("default_properties", "default_property"), "keys", "has default_property"
    ),
    "random_misspelt": Case(
        change("random = ", "randon = "), "keys", "[openssl_init] has randon", alone=True
    ),
    "nothing_prefers_kaccel": Case(
        change("alg_section = algorithm_sect\n", ""),
        "default_properties",
        "nothing prefers kaccel",
        state="warning",
    ),
    "random_numbers_from_kaccel": Case(
        change("properties = provider=default", "properties = provider=kaccel"),
        "random numbers",
        "no random number generator",
        programs=False,
    ),
    "thresholds_of_another_machine": Case(
        measured(OF_ANOTHER_MACHINE), "drivers", "/proc/crypto does not list", state="warning"
    ),
    "thresholds_file_missing": Case(
        lambda host: thresholds_file(host).unlink(), "included file", "not there", state="warning"
    ),
    "include_misspelt_beside_the_right_file": Case(
        change("kaccel-thresholds.cnf", "kaccel-threshold.cnf"),
        "included file",
        "kaccel-thresholds.cnf is",
        state="warning",
        alone=True,
    ),
    "thresholds_beyond_every_size": Case(
        measured("[kaccel_thresholds]\n" + thresholds(99999999999999, ["AES-256-CBC"])),
        "keys",
        "99999999999999",
        alone=True,
    ),
    "thresholds_file_unreadable": Case(loop_in_its_place, "included file", "cannot be read"),
    "thresholds_file_private": Case(nobody_but_the_owner_reads_it, "permissions", "kaccel-thresholds"),
    "thresholds_file_a_directory": Case(
        directory_in_its_place, "included file", "directory", state="warning"
    ),
    "thresholds_file_cut_in_a_name": Case(
        measured(MEASURED + "AES-256-CBC.enc"), "syntax", "cannot read", kaccel=False
    ),
    "thresholds_file_cut_in_a_number": Case(
        measured(MEASURED + "AES-256-CBC.encrypt = 5"), "keys", "cut off"
    ),
    "thresholds_section_misspelt": Case(
        change("= kaccel_thresholds", "= kacel_thresholds"),
        "thresholds",
        "kacel_thresholds",
        state="warning",
    ),
    "unknown_key": Case(
        change("activate = 1\nthresholds", "activate = 1\nmax_session = 9\nthresholds"),
        "keys",
        "max_session: unknown key",
    ),
    "wrong_value": Case(
        change("activate = 1\nthresholds", "activate = 1\nmax_sessions = many\nthresholds"),
        "keys",
        "max_sessions = many",
    ),
    "several_wrong_keys": Case(
        lambda host: (
            measured(MEASURED + OF_ANOTHER_MACHINE.replace("512", "lots", 1))(host),
            change("activate = 1\nthresholds", "activate = 1\nmax_session = 9\nthresholds")(host),
        )
        and None,
        "keys",
        "lots",
    ),
    "statistics_directory_missing": Case(
        lambda host: change(
            "activate = 1\nthresholds",
            f"activate = 1\nstatistics = {host.directory}/run/kaccel/counts\nthresholds",
        )(host),
        "statistics",
        "is no directory",
        state="warning",
    ),
    "statistics_in_a_file": Case(
        lambda host: change(
            "activate = 1\nthresholds",
            f"activate = 1\nstatistics = {thresholds_file(host)}\nthresholds",
        )(host),
        "statistics",
        "is no directory",
        state="warning",
    ),
    "activate_0": Case(
        change("activate = 1\nthresholds", "activate = 0\nthresholds"), "activate", "activate = 0",
        state="warning",
    ),
    "activate_no": Case(
        change("activate = 1\nthresholds", "activate = no\nthresholds"), "activate", "activate = no",
        state="warning",
    ),
    "activate_missing": Case(
        change("activate = 1\nthresholds", "thresholds"), "activate", "no line", kaccel=False
    ),
    "module_missing": Case(
        change("activate = 1\nthresholds", "module = /nonexistent/k.so\nactivate = 1\nthresholds"),
        "module",
        "is not there",
        kaccel=False,
    ),
    "module_of_another_machine": Case(
        module_of_another_machine, "module", "does not load", kaccel=False
    ),
    "module_cut_off": Case(
        module_cut_off,
        "module",
        "does not load",
        programs=False,
        kaccel=False,
        means="ends every program",
    ),
    # OpenSSL refuses the configuration, and was told to say so.
    "refused_with_diagnostics": Case(
        lambda host: (
            change("openssl_conf =", "config_diagnostics = 1\nopenssl_conf =")(host),
            change("[default_sect]", "[defualt_sect]")(host),
        )
        and None,
        "default provider",
        "not there",
        programs=False,
        kaccel=False,
        means="with config_diagnostics = 1 the command openssl ends with an error",
    ),
    # Without a default provider in the file OpenSSL has none: only kaccel would have brought it.
    "module_missing_and_no_default": Case(
        lambda host: (
            change("default = default_sect\n", "")(host),
            change("activate = 1\nthres", "module = /nonexistent/k.so\nactivate = 1\nthres")(host),
        )
        and None,
        "module",
        "is not there",
        programs=False,
        kaccel=False,
    ),
    "module_missing_with_diagnostics": Case(
        lambda host: (
            change("openssl_conf =", "config_diagnostics = 1\nopenssl_conf =")(host),
            change("activate = 1\nthres", "module = /nonexistent/k.so\nactivate = 1\nthres")(host),
        )
        and None,
        "module",
        "is not there",
        kaccel=False,
    ),
    "openssl_conf_missing": Case(
        change("openssl_conf = openssl_init\n", ""), "sections", "no openssl_conf", kaccel=False
    ),
    "openssl_conf_after_the_include": Case(
        include_before_everything, "included file", "ends in section", kaccel=False
    ),
    # An included file of thresholds ends in a section of its own, which takes what follows along.
    "include_within_kaccels_section": Case(
        include_within("activate = 1\n\n[kaccel_sect]\nactivate = 1\n"),
        "included file",
        "(thresholds = kaccel_thresholds)",
    ),
    # What `run` writes ends in the default section.
    "include_of_what_run_writes_within_a_section": Case(
        lambda host: (
            measured(MEASURED + "[default]\n")(host),
            include_within("activate = 1\n\n[kaccel_sect]\nactivate = 1\n")(host),
        )
        and None,
        "included file",
        "ends in section [default]: line",
        alone=True,
    ),
    "include_first_in_a_section": Case(
        include_within("[openssl_init]\n"), "included file", "ends in section", kaccel=False
    ),
    "keys_of_the_default_section_after_the_include": Case(
        change("\n\n[openssl_init]", "\nconfig_diagnostics = 1\nHOME = .\n\n[openssl_init]"),
        "included file",
        "lines 3 to 4 are read as part of it (config_diagnostics = 1, ...)",
    ),
    "openssl_conf_twice": Case(
        change("openssl_init\n", "openssl_init\nopenssl_conf = other\n"),
        "sections",
        "openssl_conf = other",
        kaccel=False,
    ),
    "providers_missing": Case(
        change("providers = provider_sect\n", ""), "sections", "providers", kaccel=False
    ),
    "providers_misspelt": Case(
        change("providers = provider_sect", "providers = provider_sec"),
        "sections",
        "provider_sec",
        kaccel=False,
    ),
    "kaccel_not_named": Case(
        change("kaccel = kaccel_sect\n", ""), "sections", "no line kaccel", kaccel=False
    ),
    "kaccel_section_misspelt": Case(
        change("[kaccel_sect]", "[kacel_sect]"), "sections", "kaccel_sect", kaccel=False
    ),
    "of_another_systems_editor": Case(
        lambda host: host.file(
            "openssl.cnf", (host.directory / "openssl.cnf").read_text().encode("utf-16")
        )
        and None,
        "configuration file",
        "UTF-16",
        kaccel=False,
    ),
    "syntax": Case(
        change("[random_sect]", "[random_sect"), "syntax", "cannot read", kaccel=False
    ),
}


@pytest.fixture
def tmp_path():
    """A directory that every user may enter, which pytest's own is not."""
    path = Path(tempfile.mkdtemp(prefix="kaccel-lock-outs-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def modules():
    """kaccel.so where every user may load it, wherever the build lies."""
    path = Path(tempfile.mkdtemp(prefix="kaccel-modules-"))
    path.chmod(0o755)
    if (BUILD / "provider" / "kaccel.so").exists():
        shutil.copy(BUILD / "provider" / "kaccel.so", path)
        (path / "kaccel.so").chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def host(host: Host, modules: Path) -> Host:
    host.module_directory = modules
    return host


@pytest.fixture
def healthy(host: Host) -> Path:
    host.file("kaccel-thresholds.cnf", MEASURED)
    return host.file("openssl.cnf", GOOD.format(directory=host.directory))


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request, host: Host, healthy: Path) -> Case:
    request.param.spoil(host)
    return request.param


def doctor(host: Host, config: Path, status: int | None = None) -> dict:
    program = need_program("calibrate/kaccel-calibrate")
    done = host.run(program, "doctor", "--json", "--config", config, check=False)
    assert done.stderr == b""
    if status is not None:
        assert done.returncode == status, done.stdout.decode()
    shown = json.loads(done.stdout)
    assert done.returncode == (1 if shown["to_mend"] else 0)
    return shown


def findings(shown: dict) -> list[dict]:
    return [one for one in shown["checks"] if one["state"] != "ok"]


def apply(host: Host, shown: dict) -> None:
    """What doctor printed: each command in a shell, then the lines at the end of the file."""
    environment = host.env(None) | {"PATH": f"{BUILD}/calibrate:/usr/sbin:/usr/bin:/sbin:/bin"}
    for one in shown["checks"]:
        for command in one.get("commands", []):
            subprocess.run(["sh", "-ec", command], check=True, env=environment, timeout=300)
    for one in shown["checks"]:
        if "lines" in one:
            with open(one["file"], "a") as file:
                file.write("\n" + "\n".join(one["lines"]) + "\n")


software: dict[tuple[str, ...], bytes] = {}  # by the command's arguments: what it is without kaccel


def in_software(host: Host, arguments: tuple[str, ...], data: bytes) -> bytes:
    if arguments not in software:
        software[arguments] = host.openssl(*arguments, input=data).stdout
    return software[arguments]


PYTHON = "import hashlib, ssl; ssl.create_default_context(); hashlib.sha256(b'x')"


def programs_work(host: Host, config: Path) -> bool:
    """Digests, random numbers, a cipher and TLS, as programs use them."""
    data = b"text" * 4096
    cipher = ("enc", "-aes-256-cbc", "-K", "11" * 32, "-iv", "22" * 16)
    works = True
    for arguments in (("dgst", "-r", "-sha256"), cipher):
        done = host.openssl(*arguments, config=config, input=data, check=False)
        if done.returncode == 0:
            assert done.stdout == in_software(host, arguments, data)
        works = works and done.returncode == 0
    works = works and host.openssl("rand", "16", config=config, check=False).returncode == 0
    # Python's hashlib has code of its own for when OpenSSL has none; ssl has not.
    python = host.run("/usr/bin/python3", "-c", PYTHON, config=config, check=False)
    return works and python.returncode == 0


def kaccel_is_active(host: Host, config: Path) -> bool:
    return b"\n  kaccel\n" in host.openssl("list", "-providers", config=config, check=False).stdout


def test_a_good_configuration_is_all_well(host: Host, healthy: Path):
    shown = doctor(host, healthy, 0)
    assert [one["check"] for one in findings(shown)] in (["kernel"], [])
    assert programs_work(host, healthy) and kaccel_is_active(host, healthy)
    done = host.run(need_program("calibrate/kaccel-calibrate"), "doctor", config=healthy)
    assert done.stdout.endswith(b"\nNothing to mend.\n")
    assert b"AES-256-CBC: kaccel" in done.stdout


def test_programs_work_wherever_openssl_lets_them(host: Host, healthy: Path, case: Case):
    assert programs_work(host, healthy) == case.programs
    assert kaccel_is_active(host, healthy) == case.kaccel


def test_doctor_names_it_and_what_it_prints_mends_it(host: Host, healthy: Path, case: Case):
    shown = doctor(host, healthy, 1)
    named = [one for one in findings(shown) if one["check"] == case.check]
    named = [one for one in named if case.says in one["what"]]
    assert named, shown
    assert named[0]["state"] == case.state and named[0]["where"] and named[0]["means"]
    assert case.means in named[0]["means"]
    if case.alone:
        assert [one for one in findings(shown) if "commands" in one or "lines" in one] == named
    assert named[0].get("commands") or named[0].get("lines")
    # A fault can hide others, as a file that cannot be read does.
    for _ in range(2):
        apply(host, shown)
        shown = doctor(host, healthy)
        if not shown["to_mend"]:
            break
    assert not shown["to_mend"], shown
    assert programs_work(host, healthy) and kaccel_is_active(host, healthy)


def test_the_text_has_the_same_lines_ready_to_paste(host: Host, healthy: Path):
    change("?provider=kaccel", "provider=kaccel")(host)
    done = host.run(need_program("calibrate/kaccel-calibrate"), "doctor", check=False, config=healthy)
    assert done.returncode == 1
    [pasted] = re.findall(r"mend:  put at the end of .*\n((?: {8}.*\n)+)", done.stdout.decode())
    assert pasted.split("\n")[0] == " " * 8 + "[algorithm_sect]"
    with open(healthy, "a") as file:
        file.write(pasted)
    assert programs_work(host, healthy)
    doctor(host, healthy, 0)


def test_without_a_section_for_random_numbers_all_is_well(host: Host, healthy: Path):
    change("random = random_sect\n", "")(host)
    assert programs_work(host, healthy)
    assert "random numbers" not in [one["check"] for one in findings(doctor(host, healthy, 0))]


DEBIANS = (  # with what matters here: keys behind openssl_conf, and a section with a dollar
    "HOME = .\nopenssl_conf = openssl_init\nconfig_diagnostics = 1\noid_section = new_oids\n"
    "[ new_oids ]\ntsa_policy1 = 1.2.3.4.1\n[openssl_init]\nproviders = provider_sect\n"
    "[provider_sect]\ndefault = default_sect\n[default_sect]\n# activate = 1\n"
    "[insta]\ncertout = insta.cert.pem\n[pbm]\nsecret = pass:insta\n"
    "[rr]\ncmd = rr\noldcert = $insta::certout\n"
)


def mend_until_well(host: Host, config: Path, rounds: int) -> None:
    """What worked before a round of doctor's lines works after it."""
    worked = programs_work(host, config)
    for _ in range(rounds):
        shown = doctor(host, config)
        if not shown["to_mend"]:
            break
        apply(host, shown)
        works = programs_work(host, config)
        assert works or not worked, shown
        worked = works
    doctor(host, config, 0)
    assert programs_work(host, config)


def without_headers(host: Host) -> str:
    """The example's lines marked with (*), without the headers of their sections."""
    text = (ROOT / "openssl.cnf.example").read_text().replace("/etc/ssl", str(host.directory))
    return "\n".join(re.findall(r"(?m)^[^#\[\n].*\(\*\)", text)) + "\n"


def test_lines_that_were_pasted_without_their_headers_do_no_harm_in_the_end(host: Host):
    host.file("kaccel-thresholds.cnf", MEASURED)
    config = host.file("openssl.cnf", DEBIANS + without_headers(host))
    assert programs_work(host, config)
    mend_until_well(host, config, 2)
    assert kaccel_is_active(host, config)


def test_the_include_above_debians_own_lines_is_moved(host: Host):
    host.file("kaccel-thresholds.cnf", MEASURED)
    own = "openssl_conf = openssl_init\n.include {}/kaccel-thresholds.cnf\n"
    config = host.file("openssl.cnf", own.format(host.directory) + DEBIANS)
    assert not kaccel_is_active(host, config)
    [named] = [one for one in findings(doctor(host, config, 1)) if "lines" in one]
    assert named["check"] == "included file" and "lines 3 to 6" in named["what"]
    mend_until_well(host, config, 2)
    assert kaccel_is_active(host, config)


def test_what_landed_behind_the_last_section_is_moved(host: Host, healthy: Path):
    config = host.file("openssl.cnf", healthy.read_text() + DEBIANS)
    [named] = [one for one in findings(doctor(host, config, 1)) if "lines" in one]
    assert named["lines"] == [
        "[default]",
        "HOME = .",
        "config_diagnostics = 1",
        "oid_section = new_oids",
    ]
    mend_until_well(host, config, 2)
    assert kaccel_is_active(host, config)


def test_an_include_of_what_run_writes_may_stand_above_other_keys(host: Host, healthy: Path):
    measured(MEASURED + "[default]\n")(host)
    include_before_everything(host)
    doctor(host, healthy, 0)
    assert programs_work(host, healthy) and kaccel_is_active(host, healthy)


def test_line_ends_of_another_system_do_no_harm(host: Host, healthy: Path):
    text = MEASURED + thresholds(512, ["AES-256-CBC"])
    for path, content in ((thresholds_file(host), text), (healthy, healthy.read_text())):
        path.write_bytes(content.replace("\n", "\r\n").encode())
    shown = host.openssl("list", "-providers", "-verbose", config=healthy).stdout.decode()
    assert "1 algorithm with a driver configured, thresholds calibrated" in shown
    assert programs_work(host, healthy)
    apply(host, doctor(host, healthy))  # the driver is another machine's
    doctor(host, healthy, 0)


@pytest.mark.parametrize(
    "value", ["?provider=kaccel ?", "\u201c?provider=kaccel\u201d", "?provider=kacel", "provider=kacel"]
)
def test_properties_that_say_nothing_are_replaced(host: Host, healthy: Path, value: str):
    change("?provider=kaccel", value)(host)
    lines = [one["lines"] for one in findings(doctor(host, healthy, 1)) if "lines" in one]
    assert lines == [["[algorithm_sect]", "default_properties = ?provider=kaccel"]]


def test_properties_have_no_capitals(host: Host, healthy: Path):
    change("?provider=kaccel", "?provider=Kaccel")(host)
    doctor(host, healthy, 0)


def test_a_misspelt_section_keeps_its_keys(host: Host, healthy: Path):
    change("[kaccel_sect]", "[kacel_sect]\nmax_sessions = 7")(host)
    lines = [one["lines"] for one in findings(doctor(host, healthy, 1)) if "lines" in one]
    assert lines == [["[provider_sect]", "kaccel = kacel_sect"]]


def test_one_threshold_for_all_is_remarked(host: Host, healthy: Path):
    change("thresholds =", "force_threshold = 0\nthresholds =")(host)
    [named] = [one for one in findings(doctor(host, healthy, 0)) if one["check"] != "kernel"]
    assert named["check"] == "force_threshold" and "experiment" in named["remark"]


def test_a_directory_in_the_configurations_place_is_named(host: Host):
    [named, *_] = findings(doctor(host, host.directory, 1))
    assert "is a directory" in named["what"] and "commands" not in named


def test_no_configuration_at_all_is_given_a_whole_one(host: Host):
    missing = host.directory / "none.cnf"
    assert programs_work(host, missing)
    apply(host, doctor(host, missing, 1))
    doctor(host, missing, 0)
    assert programs_work(host, missing) and kaccel_is_active(host, missing)


def test_debians_own_configuration_is_given_what_it_lacks(host: Host):
    config = host.file(
        "openssl.cnf",
        "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\n"
        "[provider_sect]\ndefault = default_sect\n[default_sect]\n# activate = 1\n",
    )
    apply(host, doctor(host, config, 1))
    doctor(host, config, 0)
    assert programs_work(host, config) and kaccel_is_active(host, config)


@pytest.mark.skipif(kernel_has_af_alg(), reason="there may be a driver to measure")
def test_the_example_is_all_well_but_for_the_thresholds(host: Host):
    text = (ROOT / "openssl.cnf.example").read_text()
    config = host.file("openssl.cnf", text.replace("/etc/ssl", str(host.directory)))
    shown = doctor(host, config, 1)
    checks = [one["check"] for one in findings(shown)]
    assert checks == ["included file", "thresholds", "kernel"]
    apply(host, shown)
    doctor(host, config, 0)


def test_a_module_that_is_nowhere_is_taken_out_and_programs_work(host: Host, healthy: Path):
    change("default = default_sect\n", "")(host)
    host.module_directory = host.directory
    assert not programs_work(host, healthy)
    shown = doctor(host, healthy, 1)
    assert "right path in module =" in str(findings(shown))
    apply(host, shown)
    assert programs_work(host, healthy)
    # A choice and no fault; doctor says that it was made.
    off = [one for one in findings(doctor(host, healthy, 0)) if one["check"] != "kernel"]
    assert [one["check"] for one in off] == ["sections"] and "switched off" in off[0]["what"]


@pytest.fixture
def beside_fips(host: Host, healthy: Path) -> Path:
    """base and fips in the place of default. Debian has no fips.so: KACCEL_TEST_FIPS names a
    directory with one (docs/configuration.md)."""
    named = os.environ.get("KACCEL_TEST_FIPS")
    installed = host.openssl("version", "-m").stdout.decode().split('"')[1]
    fips = Path(named or installed) / "fips.so"
    if not named and not fips.exists():
        pytest.skip(f"{fips} is not there; KACCEL_TEST_FIPS names a directory that has it")
    for module in (BUILD / "provider" / "kaccel.so", fips):
        shutil.copy(module, host.directory)
    host.module_directory = host.directory
    tested = host.directory / "fipsmodule.cnf"
    host.openssl("fipsinstall", "-module", host.directory / "fips.so", "-out", tested)
    change("default = default_sect", "base = default_sect\nfips = fips_sect")(host)
    change("thresholds = ", "load_default = no\nthresholds = ")(host)
    change(".include", f".include {tested}\n.include")(host)
    change("random = random_sect\n", "")(host)
    return healthy


def who_answers(shown: dict) -> dict[str, str]:
    [trial] = [one["what"] for one in shown["checks"] if one["check"] == "trial"]
    return dict(each.split(": ") for each in trial.split("; ")[0].split(", "))


def active_providers(host: Host, config: Path) -> list[bytes]:
    return re.findall(rb"(?m)^  (\w+)$", host.openssl("list", "-providers", config=config).stdout)


@pytest.mark.parametrize("random", ["kaccels", "ones_own"])
def test_fips_beside_kaccel_does_without_default(host: Host, beside_fips: Path, random: str):
    if random == "ones_own":
        change("alg_section", "random = random_sect\nalg_section")(host)
        change("properties = provider=default", "properties = fips=yes")(host)
    assert active_providers(host, beside_fips) == [b"base", b"fips", b"kaccel"]
    assert programs_work(host, beside_fips)
    answers = who_answers(doctor(host, beside_fips, 0))
    assert answers.pop("AES-256-CBC") == answers.pop("HMAC") == "kaccel"
    assert set(answers.values()) == {"fips"} and "random numbers" in answers
    # With ciphers that kaccel keeps the random number generator away from.
    measured(OF_ANOTHER_MACHINE)(host)
    assert programs_work(host, beside_fips)
    assert who_answers(doctor(host, beside_fips))["random numbers"] == "fips"


def test_who_demands_fips_gets_it(host: Host, beside_fips: Path):
    change("?provider=kaccel", "fips=yes, ?provider=kaccel")(host)
    assert programs_work(host, beside_fips)
    shown = doctor(host, beside_fips, 0)
    assert set(who_answers(shown).values()) == {"fips"}
    assert "leaves kaccel out" in str(findings(shown))


class Unprivileged:
    """Commands as a user who is nobody, in a directory that everybody may enter."""

    def __init__(self, host: Host):
        need_tool("setpriv", "util-linux")
        self.host = host
        self.path = Path(tempfile.mkdtemp(prefix="kaccel-user-"))
        self.path.chmod(0o755)
        shutil.copy(BUILD / "provider" / "kaccel.so", self.path)
        shutil.copy(need_program("calibrate/kaccel-calibrate"), self.path)
        host.module_directory = self.path
        if self.run("true").returncode != 0:
            pytest.skip("changing the user needs root")

    def run(self, *command: object, config: Path | None = None):
        words = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command)
        if config is None:
            config = self.path / "none.cnf"
        return self.host.run(*words, config=config, check=False)


@pytest.fixture
def user(host: Host):
    unprivileged = Unprivileged(host)
    yield unprivileged
    shutil.rmtree(unprivileged.path)


def build_info(done: subprocess.CompletedProcess[bytes]) -> str:
    return re.search(r"build info: (kaccel .*)", done.stdout.decode()).group(1)


def test_what_root_alone_can_read_leaves_a_users_programs_in_software(user: Unprivileged):
    measured_file = user.path / "kaccel-thresholds.cnf"
    measured_file.write_text(MEASURED)
    config = user.path / "openssl.cnf"
    config.write_text(GOOD.format(directory=user.path))
    measured_file.chmod(0o600)
    look = ("openssl", "list", "-providers", "-verbose")
    assert "check its permissions" in build_info(user.run(*look, config=config))
    assert user.run("openssl", "dgst", "-sha256", config=config).returncode == 0
    # Both see it: root by the mode, the user by trying.
    for run in (user.host.run, user.run):
        options = {"check": False} if run == user.host.run else {}
        done = run(user.path / "kaccel-calibrate", "doctor", "--json", config=config, **options)
        assert done.returncode == 1
        shown = json.loads(done.stdout)
        assert f"chmod a+r {measured_file}" in str(findings(shown))
    apply(user.host, shown)
    assert "bad configuration" not in build_info(user.run(*look, config=config))
    done = user.run(user.path / "kaccel-calibrate", "doctor", config=config)
    assert done.returncode == 0, done.stdout.decode()


CLOSED = ["etc", "etc/openssl.cnf", "modules", "modules/kaccel.so", "own", "own/kaccel-thresholds.cnf"]


@pytest.mark.parametrize("closed", CLOSED)
def test_doctor_opens_what_is_closed_to_other_users(user: Unprivileged, closed: str):
    for directory in ("etc", "modules", "own"):
        (user.path / directory).mkdir(mode=0o755)
    shutil.move(user.path / "kaccel.so", user.path / "modules")
    user.host.module_directory = user.path / "modules"
    (user.path / "own" / "kaccel-thresholds.cnf").write_text(MEASURED)
    config = user.path / "etc" / "openssl.cnf"
    config.write_text(GOOD.format(directory=user.path / "own"))
    path = user.path / closed
    right = "x" if path.is_dir() else "r"
    path.chmod(0o700 if path.is_dir() else 0o600)
    for run in (user.host.run, user.run):
        options = {"check": False} if run == user.host.run else {}
        done = run(user.path / "kaccel-calibrate", "doctor", "--json", config=config, **options)
        shown = json.loads(done.stdout)
        named = [one for one in findings(shown) if one.get("commands")]
        assert [one["commands"] for one in named] == [[f"chmod a+{right} {path}"]], shown
        assert not [one for one in findings(shown) if "lines" in one]
    apply(user.host, shown)
    for run in (user.host.run, user.run):
        assert run(user.path / "kaccel-calibrate", "doctor", config=config).returncode == 0


def test_a_users_own_configuration_may_be_private(user: Unprivileged):
    own = user.path / "own"
    own.mkdir()
    (own / "kaccel-thresholds.cnf").write_text(MEASURED)
    (own / "openssl.cnf").write_text(GOOD.format(directory=own))
    shutil.chown(own, 65534)
    own.chmod(0o700)
    done = user.run(user.path / "kaccel-calibrate", "doctor", config=own / "openssl.cnf")
    assert done.returncode == 0, done.stdout.decode()


def test_a_private_home_stays_private(host: Host, healthy: Path):
    host.environment["HOME"] = str(host.directory)
    host.directory.chmod(0o700)
    doctor(host, healthy, 0)


def test_doctor_with_a_wrong_option_is_wrong_usage(host: Host):
    program = need_program("calibrate/kaccel-calibrate")
    done = host.run(program, "doctor", "--no-such-option", check=False)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "name", ["no_question_mark", "module_missing_and_no_default", "module_cut_off", "syntax"]
)
def test_the_other_commands_do_not_depend_on_the_configuration(host: Host, healthy: Path, name: str):
    CASES[name].spoil(host)
    program = need_program("calibrate/kaccel-calibrate")
    replayed = ROOT / "tests" / "data" / "published" / "qce-openssl-speed.csv"
    for arguments in (("list",), ("replay", replayed)):
        assert host.run(program, *arguments, config=healthy).stderr == b""
