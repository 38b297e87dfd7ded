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

# kind of python_cryptography.py, the name it is counted under
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


def need_cryptography(programs: Programs) -> None:
    words = [PYTHON, "-c", "import cryptography"]
    if programs.run(*words, config=programs.software, check=False).returncode != 0:
        missing("no cryptography for /usr/bin/python3: install the package python3-cryptography")


@pytest.mark.parametrize("kind", KINDS)
def test_cryptography_with_and_without_kaccel_understand_each_other(programs: Programs, kind: str):
    need_cryptography(programs)
    # qce takes data units of whole sectors, up to what one request carries.
    message = MEGABYTE[: 1 << 16] if kind == "xts" else MEGABYTE
    words = [PYTHON, HERE / "python_cryptography.py"]
    ours = programs.run(*words, "seal", kind, input=message).stdout
    assert ours == programs.run(*words, "seal", kind, input=message, config=programs.software).stdout
    assert programs.run(*words, "open", kind, input=ours).stdout == message
    back = programs.run(*words, "open", kind, input=ours, config=programs.software)
    assert back.stdout == message
    programs.expect_hardware("python3", {KINDS[kind]: 2 * (len(message) - 20000)})


def test_cryptography_makes_pythons_hmac(programs: Programs):
    need_cryptography(programs)
    words = [PYTHON, HERE / "python_cryptography.py", "seal", "hmac"]
    mac = programs.run(*words, input=HALF_MEGABYTE).stdout
    assert mac == hmac.digest(KEYS[:20], HALF_MEGABYTE, "sha256")
    programs.expect_hardware("python3", {"HMAC-SHA256": 2 * len(HALF_MEGABYTE)})


def test_hashlib_and_hmac_see_the_same_as_without_kaccel(programs: Programs):
    words = [PYTHON, HERE / "python_hmac.py"]
    for message in (HALF_MEGABYTE, MEGABYTE[:1025], b"short"):
        ours = json.loads(programs.run(*words, input=message).stdout)
        theirs = programs.run(*words, input=message, config=programs.software).stdout
        assert ours == json.loads(theirs)
        assert ours["one call sha256"] == own_hmac_sha256(KEYS, message).hex()
    least = {name: 2 * len(HALF_MEGABYTE) for name in ("HMAC-SHA1", "HMAC-SHA256")}
    programs.expect_hardware("python3", least)


def own_hmac_sha256(key: bytes, message: bytes) -> bytes:
    """RFC 2104 for a key of one block."""
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()


@pytest.mark.parametrize(
    "version, ciphers, least",
    [
        ("TLSv1_2", "AES256-GCM-SHA384", {"AES-256-GCM": 2.0}),
        ("TLSv1_2", "AES128-SHA256", {"AES-128-CBC": 1.0, "HMAC-SHA256": 1.0}),
        ("TLSv1_3", "TLS_AES_256_GCM_SHA384", {"AES-256-GCM": 2.0}),
    ],
)
def test_ssl_carries_the_same_bytes_both_ways(
    programs: Programs, certificate: tuple[str, str], version: str, ciphers: str, least: dict
):
    """`least`: the part of the data that each direction carries, sent and received in one process."""
    size = 1 << 20
    words = [PYTHON, HERE / "python_tls.py", *certificate, version, ciphers, size]
    seen = json.loads(programs.run(*words).stdout)
    assert seen["cipher"] == ciphers
    assert seen["server"] == seen["client"] == seen["expected"]
    assert seen["bytes"] == "!"
    share = {name: int(2 * part * 0.98 * size) for name, part in least.items()}
    programs.expect_hardware("python3", share)
