"""`openssl enc` by kaccel and by OpenSSL's default provider gives the same bytes both ways."""

import json

import pytest

from conftest import ALGORITHMS, Host, kernel_has_af_alg, need_program, thresholds

PREFERRED = ("-propquery", "?provider=kaccel")


@pytest.mark.parametrize("threshold", [-1, 0, 512])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_one_provider_encrypts_the_other_decrypts(
    host: Host, plaintext: bytes, algorithm: str, threshold: int
):
    config = host.config(section=thresholds(threshold), others=("default",))
    by_default = host.cipher(algorithm, plaintext, None)
    by_kaccel = host.cipher(algorithm, plaintext, config, *PREFERRED)
    assert by_kaccel == by_default
    assert host.cipher(algorithm, by_default, config, *PREFERRED, decrypt=True) == plaintext
    assert host.cipher(algorithm, by_kaccel, None, decrypt=True) == plaintext


def test_without_af_alg_thresholds_of_zero_still_give_the_right_bytes(host: Host, plaintext: bytes):
    if kernel_has_af_alg():
        pytest.skip("this kernel has AF_ALG")
    config = host.config(section=thresholds(0), properties="?provider=kaccel")
    for size in (1, 15, 16, 17, 511, 512, 513, 20011):
        data = plaintext[:size]
        assert host.cipher("AES-128-CBC", data, config) == host.cipher("AES-128-CBC", data, None)


def test_a_driver_that_is_not_there_means_software(host: Host, plaintext: bytes):
    section = thresholds(0).replace("cbc(aes-eip93)", "no-such-driver")
    config = host.config(section=section, properties="?provider=kaccel")
    expected = host.cipher("AES-256-CBC", plaintext, None)
    assert host.cipher("AES-256-CBC", plaintext, config) == expected


def test_wrong_padding_is_refused_as_by_the_default_provider(host: Host, plaintext: bytes):
    config = host.config(section=thresholds(0), properties="?provider=kaccel")
    broken = host.cipher("AES-128-CBC", plaintext, None)[:-16]
    for used in (None, config):
        done = host.openssl(
            *("enc", "-aes-128-cbc", "-d", "-K", bytes(range(1, 17)).hex(), "-iv", "00" * 16),
            config=used,
            input=broken,
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr.count(b":error:") == 1
        assert b"bad decrypt" in done.stderr


def test_a_good_configuration_leaves_no_error_behind(host: Host):
    program = need_program("tests/host/load-errors")
    for threshold in (-1, 0, 512):
        config = host.config(section=thresholds(threshold), others=("default",))
        for mode in ("config", "load"):
            seen = json.loads(host.run(program, mode, config, config=config).stdout)
            assert seen["active"] and seen["ciphers_right"]
            assert not [seen[key] for key in seen if key.startswith("errors") and seen[key]]
