"""The `openssl` command."""

import hashlib
import hmac
import re

import pytest
from data import HALF_MEGABYTE, IV, KEYS, MEGABYTE
from programs import Programs, need_tool

OPENSSL = "openssl"


def enc(algorithm: str, *more: str) -> list[str]:
    """`openssl enc` with a fixed key and, where the mode has one, IV."""
    key = KEYS[: 24 if algorithm == "des3" else int(algorithm.split("-")[1]) // 8]
    words = [need_tool(OPENSSL), "enc", "-" + algorithm, "-K", key.hex(), *more]
    if algorithm.endswith("ecb"):
        return words
    return [*words, "-iv", (IV[:8] if algorithm == "des3" else IV).hex()]


@pytest.mark.parametrize("algorithm", ["aes-128-ecb", "aes-256-cbc", "aes-256-ctr", "des3"])
def test_enc_with_and_without_kaccel_understand_each_other(programs: Programs, algorithm: str):
    ours = programs.run(*enc(algorithm), input=MEGABYTE).stdout
    assert ours == programs.run(*enc(algorithm), input=MEGABYTE, config=programs.software).stdout
    assert programs.run(*enc(algorithm, "-d"), input=ours).stdout == MEGABYTE
    name = {"des3": "DES-EDE3-CBC"}.get(algorithm, algorithm.upper())
    programs.expect_hardware(OPENSSL, {name: 2 * (len(MEGABYTE) - 8192)})


def test_enc_from_file_to_file_by_a_password(programs: Programs):
    plain = programs.file("plain", MEGABYTE)
    words = [need_tool(OPENSSL), "enc", "-aes-256-cbc", "-pbkdf2", "-pass", "pass:a word"]
    programs.run(*words, "-a", "-in", plain, "-out", "sealed")
    decrypt = [*words, "-d", "-a", "-in", "sealed"]
    assert programs.run(*decrypt, config=programs.software).stdout == MEGABYTE
    assert programs.run(*decrypt).stdout == MEGABYTE
    programs.expect_hardware(OPENSSL, {"AES-256-CBC": 2 * (len(MEGABYTE) - 8192)})


def test_enc_of_small_files_and_through_a_pipe(programs: Programs):
    script = f"{' '.join(enc('aes-256-cbc'))} | {' '.join(enc('aes-256-cbc', '-d'))}"
    for size in (0, 1, 16, 17, 512, 529, 8192):
        assert programs.run("sh", "-c", script, input=MEGABYTE[:size]).stdout == MEGABYTE[:size]
    programs.expect_hardware(OPENSSL, {"AES-256-CBC": 8192 + 8176 + 528})


def test_mac_and_dgst_are_pythons(programs: Programs):
    file = programs.file("message", HALF_MEGABYTE)
    key = KEYS[:20]
    for digest in ("sha1", "sha256"):
        expected = hmac.digest(key, HALF_MEGABYTE, digest).hex()
        options = ["-macopt", f"hexkey:{key.hex()}"]
        words = ["mac", "-digest", digest, *options, "-in", file, "HMAC"]
        assert programs.run(need_tool(OPENSSL), *words).stdout.decode().strip().lower() == expected
        words = ["dgst", "-" + digest, "-mac", "HMAC", *options, "-r", file]
        assert programs.run(OPENSSL, *words).stdout.decode().split()[0] == expected
    sent = 2 * len(HALF_MEGABYTE)
    programs.expect_hardware(OPENSSL, {"HMAC-SHA1": sent, "HMAC-SHA256": sent})


# MACs and key derivation of the default provider that fetch a cipher or an HMAC for themselves.
@pytest.mark.parametrize(
    "words",
    [
        ["mac", "-cipher", "AES-256-CBC", "-macopt", f"hexkey:{KEYS[:32].hex()}", "CMAC"],
        [
            *("mac", "-cipher", "AES-256-GCM", "-macopt", f"hexkey:{KEYS[:32].hex()}"),
            *("-macopt", f"hexiv:{IV[:12].hex()}", "GMAC"),
        ],
        ["mac", "-digest", "MD5", "-macopt", "key:a key", "HMAC"],
        ["mac", "-digest", "SHA512", "-macopt", "key:a key", "HMAC"],
        ["mac", "-macopt", f"hexkey:{KEYS[:32].hex()}", "KMAC-128"],
        ["dgst", "-sha3-256", "-hmac", "a key", "-r"],
        ["dgst", "-sha512", "-r"],
    ],
    ids=" ".join,
)
def test_other_macs_are_the_same_as_without_kaccel(programs: Programs, words: list[str]):
    file = programs.file("message", MEGABYTE)
    words = [*words[:1], *words[1:], str(file)] if words[0] == "dgst" else [
        *words[:-1], "-in", str(file), words[-1]
    ]
    mac = programs.run(need_tool(OPENSSL), *words).stdout
    assert mac == programs.run(OPENSSL, *words, config=programs.software).stdout != b""


def test_key_derivation_is_the_same_as_without_kaccel(programs: Programs):
    hkdf = ["kdf", "-keylen", "64", "-kdfopt", "digest:SHA256", "-kdfopt", "key:a key"]
    hkdf += ["-kdfopt", "salt:some salt", "-binary", "HKDF"]
    key = programs.run(need_tool(OPENSSL), *hkdf).stdout
    pseudo_random = hmac.digest(b"some salt", b"a key", "sha256")
    first = hmac.digest(pseudo_random, b"\1", "sha256")
    assert key == first + hmac.digest(pseudo_random, first + b"\2", "sha256")

    pbkdf2 = ["kdf", "-keylen", "32", "-kdfopt", "digest:SHA1", "-kdfopt", "pass:a word"]
    pbkdf2 += ["-kdfopt", "salt:some salt", "-kdfopt", "iter:1000", "-binary", "PBKDF2"]
    key = programs.run(OPENSSL, *pbkdf2).stdout
    assert key == hashlib.pbkdf2_hmac("sha1", b"a word", b"some salt", 1000, 32)


@pytest.mark.parametrize("algorithm", ["aes-256-cbc", "aes-128-gcm"])
def test_speed_measures_in_several_processes(programs: Programs, algorithm: str):
    words = ["speed", "-multi", "2", "-seconds", "1", "-bytes", "16384", "-evp", algorithm]
    done = programs.run(need_tool(OPENSSL), *words)
    assert re.search(rf"^{algorithm} +[1-9]\d*\.\d+k$", done.stdout.decode(), re.M | re.I)
    assert b"rror" not in done.stderr
    # The children's: the parent ciphers nothing.
    programs.expect_hardware(OPENSSL, {algorithm.upper(): 10 * 16384})


# Without the section it is kaccel that keeps the generator to software.
@pytest.mark.parametrize("section", ["section", "no section"])
def test_random_numbers_differ_and_never_come_from_hardware(programs: Programs, section: str):
    if section == "no section":
        line = "random = random_sect\n"
        text = programs.kaccel.read_text()
        assert line in text
        programs.kaccel.write_text(text.replace(line, ""))
    first = programs.run(need_tool(OPENSSL), "rand", "1000000").stdout
    second = programs.run(OPENSSL, "rand", "1000000").stdout
    assert len(first) == len(second) == 1000000
    assert not set(chunks(first)) & set(chunks(second))
    assert programs.counts(OPENSSL).hardware_calls == 0


def chunks(data: bytes) -> list[bytes]:
    return [data[at : at + 16] for at in range(0, len(data), 16)]


@pytest.mark.parametrize("cipher", ["aes-256-cbc", "aes-128-cbc", "des3"])
def test_cms_with_and_without_kaccel_understand_each_other(
    programs: Programs, certificate: tuple[str, str], cipher: str
):
    file = programs.file("plain", MEGABYTE)
    public, private = certificate
    encrypt = ["cms", "-encrypt", "-binary", "-" + cipher, "-outform", "DER", "-in", file, public]
    decrypt = ["cms", "-decrypt", "-binary", "-inform", "DER", "-inkey", private]
    for ours, theirs in ((None, programs.software), (programs.software, None)):
        sealed = programs.run(need_tool(OPENSSL), *encrypt, config=ours).stdout
        assert MEGABYTE[:100] not in sealed
        opened = programs.run(OPENSSL, *decrypt, input=sealed, config=theirs).stdout
        assert opened == MEGABYTE
    name = {"des3": "DES-EDE3-CBC"}.get(cipher, cipher.upper())
    programs.expect_hardware(OPENSSL, {name: len(MEGABYTE)})


def test_sealed_keys_open_with_and_without_kaccel(programs: Programs, certificate: tuple[str, str]):
    public, private = certificate
    plain = programs.run(need_tool(OPENSSL), "rsa", "-in", private, config=programs.software).stdout
    word = ["-passout", "pass:a word"]
    open_it = ["-passin", "pass:a word"]
    for ours, theirs in ((None, programs.software), (programs.software, None)):
        sealed = programs.run(
            *(OPENSSL, "rsa", "-aes256", "-in", private, *word), config=ours
        ).stdout
        assert b"ENCRYPTED" in sealed
        opened = programs.run(OPENSSL, "rsa", *open_it, input=sealed, config=theirs).stdout
        assert opened == plain
        bundle = programs.run(
            *(OPENSSL, "pkcs12", "-export", "-inkey", private, "-in", public, *word), config=ours
        ).stdout
        words = ["pkcs12", "-nodes", "-nocerts", *open_it]
        opened = programs.run(OPENSSL, *words, input=bundle, config=theirs).stdout
        assert programs.run(OPENSSL, "rsa", input=opened, config=programs.software).stdout == plain
    programs.expect_hardware(OPENSSL, {})
