"""Debian's Python, whose ssl, hashlib, hmac and cryptography are linked to libcrypto."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from data import HALF_MEGABYTE, KEYS, MEGABYTE
from programs import Programs, missing

PYTHON = "/usr/bin/python3"  # another one may bring an OpenSSL of its own
HERE = Path(__file__).parent

# Kinds of python_cryptography.py, and the names they are counted under.
KINDS = {
    "cbc": "AES-256-CBC",
    "ecb": "AES-128-ECB",
    "ctr": "AES-256-CTR",
    "des3": "DES-EDE3-CBC",
    "gcm": "AES-256-GCM",
    "aesgcm": "AES-128-GCM",
    "xts": "AES-256-XTS",
    "fernet": "AES-128-CBC",
}


def test_cryptography_with_and_without_kaccel_understand_each_other(programs: Programs):
    software = programs.software
    words = [PYTHON, "-c", "import cryptography"]
    if programs.run(*words, config=software, check=False).returncode != 0:
        missing("no cryptography for /usr/bin/python3: install the package python3-cryptography")
    here = programs.directory
    message = programs.file("message", HALF_MEGABYTE)
    words = [PYTHON, HERE / "python_cryptography.py"]
    programs.run(*words, "seal", message, here / "ours")
    programs.run(*words, "seal", message, here / "theirs", config=software)
    programs.run(*words, "open", here / "theirs", here / "opened by kaccel")
    programs.run(*words, "open", here / "ours", here / "opened without", config=software)
    for kind in KINDS:
        assert (here / "ours" / kind).read_bytes() == (here / "theirs" / kind).read_bytes(), kind
        data = HALF_MEGABYTE[:65536] if kind == "xts" else HALF_MEGABYTE
        assert (here / "opened by kaccel" / kind).read_bytes() == data, kind
        assert (here / "opened without" / kind).read_bytes() == data, kind
    mac = (here / "ours" / "hmac").read_bytes()
    assert mac == hmac.digest(KEYS[:20], HALF_MEGABYTE, "sha256")
    most = 2 * (len(HALF_MEGABYTE) - 20000)
    least = {name: most for name in KINDS.values()} | {"AES-256-XTS": 2 * 65536}
    programs.expect_hardware("python3", least)


def test_hashlib_and_hmac_see_the_same_as_without_kaccel(programs: Programs):
    sizes = [len(HALF_MEGABYTE), 1025, 5]
    words = [PYTHON, HERE / "python_hmac.py", *sizes]
    ours = json.loads(programs.run(*words, input=MEGABYTE).stdout)
    theirs = programs.run(*words, input=MEGABYTE, config=programs.software).stdout
    assert ours == json.loads(theirs)
    for size in sizes:
        own = own_hmac_sha256(KEYS, MEGABYTE[:size]).hex()
        assert ours[str(size)]["one call sha256"] == own
    # hmac.digest(). An hmac object is an HMAC_CTX, which asks no provider for an HMAC.
    least = {name: len(HALF_MEGABYTE) for name in ("HMAC-SHA1", "HMAC-SHA256")}
    programs.expect_hardware("python3", least)


def own_hmac_sha256(key: bytes, message: bytes) -> bytes:
    """RFC 2104 for a key of one block."""
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()


# What both ends together count: each sends and receives all the data, in one process.
@pytest.mark.parametrize(
    "version, ciphers, sent, received",
    [
        ("TLSv1_2", "AES256-GCM-SHA384", ["AES-256-GCM"], ["AES-256-GCM"]),
        ("TLSv1_2", "AES128-SHA256", ["AES-128-CBC", "HMAC-SHA256"], ["HMAC-SHA256"]),
        ("TLSv1_3", "TLS_AES_256_GCM_SHA384", ["AES-256-GCM"], ["AES-256-GCM"]),
    ],
)
def test_ssl_carries_the_same_bytes_both_ways(
    programs: Programs, certificate: tuple[str, str], version, ciphers, sent, received
):
    size = 1 << 20
    words = [PYTHON, HERE / "python_tls.py", *certificate, version, ciphers, size]
    seen = json.loads(programs.run(*words).stdout)
    assert seen["cipher"] == ciphers
    assert seen["server"] == seen["client"] == seen["expected"]
    assert seen["bytes"] == "!"
    ways = sent + received
    least = {name: ways.count(name) * 2 * size * 98 // 100 for name in ways}
    programs.expect_hardware("python3", least)
