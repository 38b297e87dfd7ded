"""A program in C of the years before providers (application/): EVP_aes_256_cbc(), HMAC_CTX."""

import hashlib
import hmac

import pytest
from data import HALF_MEGABYTE, MEGABYTE
from programs import Programs, need_program

# What it does, under which of OpenSSL's names that is counted.
CIPHERS = {
    "aes-256-cbc": "AES-256-CBC",
    "aes-128-ecb": "AES-128-ECB",
    "des-ede3-cbc": "DES-EDE3-CBC",
    "aes-128-cbc-halves": "AES-128-CBC",
    "aes-256-ctr-evp-cipher": "AES-256-CTR",
    "aes-256-ctr-copied": "AES-256-CTR",
    "aes-256-gcm": "AES-256-GCM",
    "aes-256-xts-sectors": "AES-256-XTS",
    "aes-128-cbc-bio": "AES-128-CBC",
}
WHOLE_UNITS = ("aes-128-cbc-halves", "aes-256-xts-sectors")
# application_key's first half.
KEY = b"Sixty-four bytes that an enginee"


@pytest.mark.parametrize("operation", CIPHERS)
def test_ciphers_with_and_without_kaccel_understand_each_other(programs: Programs, operation: str):
    application = need_program("tests/programs/old-application")
    message = MEGABYTE[: 1 << 20] if operation in WHOLE_UNITS else MEGABYTE
    ours = programs.run(application, operation, input=message).stdout
    theirs = programs.run(application, operation, input=message, config=programs.software).stdout
    assert ours == theirs != message
    assert programs.run(application, operation, "-d", input=theirs).stdout == message
    back = programs.run(application, operation, "-d", input=ours, config=programs.software)
    assert back.stdout == message
    programs.expect_hardware("old-application", {CIPHERS[operation]: 2 * (len(message) - 16384)})


@pytest.mark.parametrize("operation", ["aes-256-cbc", "aes-256-gcm", "aes-128-cbc-bio"])
@pytest.mark.parametrize("size", [0, 16, 17, 512, 529, 16385])
def test_short_messages_come_out_the_same(programs: Programs, operation: str, size: int):
    application = need_program("tests/programs/old-application")
    ours = programs.run(application, operation, input=MEGABYTE[:size]).stdout
    theirs = programs.run(
        application, operation, input=MEGABYTE[:size], config=programs.software
    ).stdout
    assert ours == theirs
    assert programs.run(application, operation, "-d", input=ours).stdout == MEGABYTE[:size]


def test_a_changed_gcm_tag_is_refused(programs: Programs):
    application = need_program("tests/programs/old-application")
    sealed = programs.run(application, "aes-256-gcm", input=MEGABYTE).stdout
    broken = sealed[:-1] + bytes([sealed[-1] ^ 1])
    done = programs.run(application, "aes-256-gcm", "-d", input=broken, check=False)
    assert done.returncode == 1 and done.stdout == b""


def expected_macs(message: bytes) -> dict[str, bytes]:
    def sha1(part: bytes) -> bytes:
        return hmac.digest(KEY, part, "sha1")

    sha256 = hmac.digest(KEY, message, "sha256")
    return {
        "hmac-sha256": sha256,
        "hmac-sha256-signature": sha256,
        "evp-mac": sha256,
        "hmac-sha1-copied": sha1(message) + sha1(message[: len(message) // 2]) + sha1(message),
    }


@pytest.mark.parametrize("operation", expected_macs(b""))
def test_macs_are_pythons(programs: Programs, operation: str):
    application = need_program("tests/programs/old-application")
    for size in (0, 1, 1024, 1025, 2048, len(HALF_MEGABYTE), len(MEGABYTE)):
        mac = programs.run(application, operation, input=MEGABYTE[:size]).stdout
        assert mac == expected_macs(MEGABYTE[:size])[operation], size
    # OpenSSL's HMAC_CTX computes from digests and asks no provider for an HMAC.
    least = {} if "copied" in operation else {"HMAC-SHA256": len(HALF_MEGABYTE)}
    programs.expect_hardware("old-application", least)


def test_pbkdf2_is_pythons(programs: Programs):
    application = need_program("tests/programs/old-application")
    key = programs.run(application, "pbkdf2", input=MEGABYTE[:12]).stdout
    salt = b"And sixteen more"
    assert key == hashlib.pbkdf2_hmac("sha256", MEGABYTE[:12], salt, 2000, 48)
    programs.expect_hardware("old-application", {})
