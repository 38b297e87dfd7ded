"""kaccel as `openssl` shows it."""

import re

from conftest import ALGORITHMS, BUILD, Host, need_tool, thresholds


def test_openssl_cnf_loads_kaccel_and_shows_it_active(host: Host):
    config = host.config(section=thresholds(512), others=("default",))
    shown = host.openssl("list", "-providers", config=config).stdout.decode()
    kaccel = r"^  kaccel\n    name: .*kaccel.*\n    version: .+\n    status: active"
    assert re.search(kaccel, shown, re.M)
    assert re.search(r"^  default\n", shown, re.M)


def test_the_verbose_list_says_what_kaccel_is_doing(host: Host):
    def build_info(**options) -> str:
        shown = host.openssl("list", "-providers", "-verbose", config=host.config(**options))
        return re.search(r"build info: (kaccel .*)", shown.stdout.decode()).group(1)

    assert "9 algorithms with a driver configured, thresholds calibrated" in build_info(
        section=thresholds(512)
    )
    assert "software only" in build_info(own="activate = 1")
    assert "software only" in build_info(section=thresholds(-1))
    assert "bad configuration: thresholds.AES-128-ECB.encrypt = many" in build_info(
        section=thresholds(512).replace("= 512", "= many", 1)
    )


def test_all_ciphers_but_single_des_are_listed_with_their_aliases(host: Host):
    shown = host.openssl(
        "list", "-cipher-algorithms", "-provider", "kaccel", config=host.config()
    ).stdout.decode()
    of_kaccel = [line for line in shown.splitlines() if line.endswith("@ kaccel")]
    assert len(of_kaccel) == 18
    others = ["AES-128-XTS", "AES-256-XTS", "aes-128-gcm", "aes-192-gcm", "aes-256-gcm"]
    others += ["DES-EDE-ECB", "DES-EDE-CBC", "DES-EDE3-ECB", "DES-EDE3-CBC"]
    for algorithm in ALGORITHMS + others:
        assert any(algorithm in line for line in of_kaccel), algorithm
    assert any("AES128" in line and "2.16.840.1.101.3.4.1.2," in line for line in of_kaccel)


def test_the_mac_is_listed(host: Host):
    shown = host.openssl("list", "-mac-algorithms", "-provider", "kaccel", config=host.config())
    assert b"HMAC @ kaccel" in shown.stdout


def test_openssl_speed_runs_with_kaccel_preferred(host: Host):
    done = host.openssl(
        *("speed", "-seconds", "1", "-bytes", "64"),
        *("-provider", "kaccel", "-provider", "default", "-propquery", "?provider=kaccel"),
        *("-evp", "aes-256-cbc"),
    )
    assert re.search(rb"^AES-256-CBC +\d+\.\d+k", done.stdout, re.M)
    assert b"rror" not in done.stderr


def test_openssl_speed_runs_with_kaccel_as_the_only_provider_named(host: Host):
    done = host.openssl(
        *("speed", "-seconds", "1", "-bytes", "64", "-provider", "kaccel", "-evp", "aes-128-cbc")
    )
    assert re.search(rb"^AES-128-CBC +\d+\.\d+k", done.stdout, re.M)
    assert b"rror" not in done.stderr


def test_the_module_exports_one_symbol(host: Host):
    need_tool("nm", "binutils")
    shown = host.run("nm", "-D", "--defined-only", BUILD / "provider" / "kaccel.so").stdout.decode()
    symbols = [line.split()[-1] for line in shown.splitlines()]
    assert symbols == ["OSSL_provider_init"]


def test_the_module_needs_no_cxx_library(host: Host):
    need_tool("readelf", "binutils")
    shown = host.run("readelf", "-d", BUILD / "provider" / "kaccel.so").stdout.decode()
    needed = re.findall(r"NEEDED.*\[(.*)\]", shown)
    assert any(name.startswith("libcrypto.so") for name in needed)
    assert not [name for name in needed if "stdc++" in name or "gcc_s" in name]
