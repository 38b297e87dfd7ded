"""kaccel-calibrate on a host: one line and an exit status for whatever cannot be done.

0: done; 1: not possible on this machine; 2: wrong usage or a file that is not what it should be.
"""

import json
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, Host, kernel_has_af_alg, need_program, thresholds

PUBLISHED = ROOT / "tests" / "data" / "published"
without_af_alg = pytest.mark.skipif(kernel_has_af_alg(), reason="this kernel has AF_ALG")


@pytest.fixture
def calibrate(host: Host):
    program = need_program("calibrate/kaccel-calibrate")

    def run(*arguments: object, **options):
        return host.run(program, *arguments, check=False, **options)

    return run


def one_line(done, status: int) -> str:
    text = done.stderr.decode()
    assert done.returncode == status, text
    assert text.startswith("kaccel-calibrate: ") and text.count("\n") == 1 and text.endswith("\n")
    return text


@without_af_alg
def test_list_says_in_one_line_that_this_kernel_has_no_af_alg(calibrate):
    done = calibrate("list")
    assert done.returncode == 0 and done.stderr == b""
    said = [line for line in done.stdout.decode().splitlines() if "no driver can be used" in line]
    assert len(said) == 1 and "AF_ALG" in said[0]


@without_af_alg
def test_list_as_json_says_so_too(calibrate):
    shown = json.loads(calibrate("list", "--json").stdout)
    assert shown["af_alg"] is False
    assert "AF_ALG" in shown["af_alg_problem"]
    assert not [driver for driver in shown["drivers"] if driver["usable"]]


@without_af_alg
def test_run_without_af_alg_is_one_line_and_leaves_the_old_file_alone(host: Host, calibrate):
    output = host.file("thresholds.cnf", "old")
    one_line(calibrate("run", "--output", output), 1)
    assert output.read_text() == "old"
    assert sorted(path.name for path in host.directory.iterdir()) == ["empty.cnf", "thresholds.cnf"]


@without_af_alg
def test_run_of_an_unknown_driver_names_it(calibrate, host: Host):
    output = host.directory / "thresholds.cnf"
    line = one_line(calibrate("run", "--driver", "no-such-driver", "--output", output), 1)
    assert "no-such-driver" in line or "AF_ALG" in line
    assert not output.exists()


def test_explain_says_where_a_call_goes_and_why(host: Host, calibrate):
    config = host.config(section=thresholds(512))
    for size, reason in (("512", "within the threshold"), ("1024", "above the threshold")):
        arguments = ("explain", "AES-128-CBC", size, "--config", config)
        done = calibrate(*arguments)
        assert done.returncode == 0 and done.stderr == b""
        assert reason in done.stdout.decode()
        assert json.loads(calibrate(*arguments, "--json").stdout)


OTHER_KINDS = """
AES-128-XTS.encrypt = 512
AES-128-XTS.decrypt = 512
AES-128-XTS.ciphertext_stealing = no
AES-128-XTS.driver = xts-other
AES-256-GCM.encrypt = 512
AES-256-GCM.decrypt = 1024
AES-256-GCM.driver = ctr(aes-eip93)
DES-EDE-CBC.encrypt = 512
DES-EDE-CBC.decrypt = 512
DES-EDE-CBC.driver = cbc-3des-qce
HMAC-SHA256.threshold = 512
HMAC-SHA256.driver = hmac(sha256-eip93)
"""


@pytest.mark.parametrize(
    "algorithm, size, reason",
    [
        ("AES-128-XTS", 512, "within the threshold of 512"),
        ("AES-128-XTS", 1024, "above the threshold of 512"),
        ("AES-128-XTS", 1000, "not whole blocks"),
        ("AES-256-GCM", 1420, "first data update"),
        ("des-ede-cbc", 1024, "refuses keys that repeat"),
        ("hmac-sha256", 1024, "above the threshold of 512"),
        ("HMAC-SHA256", 2**20 + 1, "software: a message"),
    ],
)
def test_explain_knows_every_kind_of_algorithm(host: Host, calibrate, algorithm, size, reason):
    arguments = ("explain", algorithm, size, "--config", host.config(section=OTHER_KINDS))
    done = calibrate(*arguments)
    assert done.returncode == 0 and done.stderr == b""
    assert reason in done.stdout.decode()
    shown = json.loads(calibrate(*arguments, "--json").stdout)
    assert shown["algorithm"] == algorithm.upper() and shown["details"]
    assert ("direction" in shown) == (not algorithm.upper().startswith("HMAC"))


def test_an_unknown_algorithm_is_told_the_known_ones(calibrate):
    line = one_line(calibrate("explain", "HMAC-SHA3", "64"), 2)
    for name in ("AES-128-ECB", "AES-256-XTS", "AES-192-GCM", "DES-EDE3-CBC", "HMAC-SHA512"):
        assert name in line


@pytest.mark.parametrize(
    "section, named",
    [
        ("HMAC-SHA256.encrypt = 1\nHMAC-SHA256.driver = x", "HMAC-SHA256.encrypt"),
        ("AES-128-CBC.threshold = 1\nAES-128-CBC.driver = x", "AES-128-CBC.threshold"),
        ("HMAC-SHA256.driver = x", "HMAC-SHA256.threshold"),
        ("AES-128-GCM.ciphertext_stealing = yes", "AES-128-GCM.ciphertext_stealing"),
    ],
)
def test_a_key_of_another_kind_of_algorithm_is_named(host: Host, calibrate, section, named: str):
    config = host.config(section=section)
    assert named in one_line(calibrate("explain", "AES-128-CBC", "64", "--config", config), 2)


@pytest.mark.parametrize(
    "arguments, named",
    [
        (("explain", "AES-128-XYZ", "16"), "AES-128-XYZ"),
        (("explain", "HMAC-SHA256", "16", "--decrypt"), "HMAC-SHA256"),
        (("run", "--algorithm", "AES-128-XYZ", "--output", "-"), "AES-128-XYZ"),
        (("explain", "AES-128-CBC", "many"), "many"),
        (("explain", "AES-128-CBC", "-1"), "-1"),
        (("explain", "AES-128-CBC"), "SIZE"),
        (("no-such-command",), "no-such-command"),
        ((), "subcommand"),
        (("list", "--no-such-option"), "--no-such-option"),
        (("replay", "/no/such/file.csv"), "/no/such/file.csv"),
        (("run", "--sizes", "16,many"), "many"),
        (("run", "--prefer", "offload=lots"), "offload=lots"),
        (("run", "--threads", "65"), "65"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_word(calibrate, arguments, named: str):
    assert named in one_line(calibrate(*arguments), 2)


def test_explain_of_a_wrong_configuration_names_key_and_value(host: Host, calibrate):
    config = host.config(section=thresholds(512).replace("512", "many", 1))
    line = one_line(calibrate("explain", "AES-128-CBC", "64", "--config", config), 2)
    assert "AES-128-ECB.encrypt = many" in line


EXPECTED_REPLAYS = {
    "qce-tcrypt-cbc-aes.csv": {"AES-128-CBC": 768, "AES-256-CBC": 512},
    "qce-openssl-speed.csv": {
        "AES-128-CBC": 768,
        "AES-128-CTR": 768,
        "AES-128-ECB": -1,
        "AES-256-CBC": 512,
        "AES-256-CTR": -1,
        "AES-256-ECB": 768,
    },
}


@pytest.mark.parametrize("name", EXPECTED_REPLAYS)
def test_replay_of_the_published_tables_gives_the_known_thresholds(calibrate, name: str):
    table = PUBLISHED / name
    if not table.exists():
        pytest.skip(f"{table} is not there")
    shown = json.loads(calibrate("replay", table, "--json").stdout)
    found = {row["algorithm"]: row["threshold"] for row in shown["algorithms"]}
    assert found == EXPECTED_REPLAYS[name]


GOOD_CSV = "algorithm,size,software,hardware\nAES-128-CBC,16,100,10\nAES-128-CBC,64,200,300\n"


@pytest.mark.parametrize(
    "content, place",
    [
        ("", ""),
        ("algorithm,size,software\nAES-128-CBC,16,1\n", ":1"),
        ("algorithm,size,software,hardware\n", ":1"),
        (GOOD_CSV + "AES-128-CBC,256,1\n", ":4"),
        (GOOD_CSV + "AES-128-CBC,many,1,2\n", ":4"),
        (GOOD_CSV + "AES-128-CBC,256,fast,2\n", ":4"),
        (GOOD_CSV + "AES-128-CBC,256,-1,2\n", ":4"),
        (GOOD_CSV + "AES-128-CBC,256,nan,2\n", ":4"),
        (GOOD_CSV + "AES-128-CBC,64,1,2\n", ":4"),
        ("\0\xff\x1b[31m", ""),
    ],
)
def test_replay_of_a_broken_table_is_one_line_with_the_place(host: Host, calibrate, content, place):
    table = host.file("table.csv", content.encode("latin-1"))
    line = one_line(calibrate("replay", table), 2)
    assert f"{table}{place}" in line
    assert all(character.isprintable() for character in line.rstrip("\n"))


@pytest.mark.parametrize("size", range(1, len(GOOD_CSV)))
def test_a_table_cut_at_any_byte_never_crashes(host: Host, calibrate, size: int):
    done = calibrate("replay", host.file("table.csv", GOOD_CSV[:size]))
    if done.returncode != 0:
        one_line(done, 2)


def test_output_that_cannot_be_written_is_told_before_anything_is_measured(host: Host, calibrate):
    line = one_line(calibrate("run", "--output", host.directory / "none" / "thresholds.cnf"), 1)
    assert str(host.directory / "none") in line or "AF_ALG" in line


def test_a_full_standard_output_is_an_error(calibrate, host: Host):
    program = need_program("calibrate/kaccel-calibrate")
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [program, "list", "--json"], stdout=full, stderr=subprocess.PIPE, env=host.env(None)
        )
    one_line(done, 1)
