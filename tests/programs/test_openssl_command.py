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
    # What each child says of its calls; the parent ciphers nothing.
    calls = [int(calls) for calls in re.findall(rb"^\+R:(\d+):", done.stderr, re.M)]
    assert len(calls) == 2 and min(calls) > 0, done.stderr
    programs.expect_hardware(OPENSSL, {algorithm.upper(): sum(calls) * 16384})


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
    name = {"des3": "DES-EDE3-CBC"}.get(cipher, cipher.upper())
    # The BIO that deciphers takes 272 bytes of each 4 KiB apart, which are software's.
    encrypted, decrypted = len(MEGABYTE) - 8192, len(MEGABYTE) * 9 // 10
    for ours, theirs, least in (
        (None, programs.software, encrypted),
        (programs.software, None, encrypted + decrypted),
    ):
        sealed = programs.run(need_tool(OPENSSL), *encrypt, config=ours).stdout
        assert MEGABYTE[:100] not in sealed
        opened = programs.run(OPENSSL, *decrypt, input=sealed, config=theirs).stdout
        assert opened == MEGABYTE
        programs.expect_hardware(OPENSSL, {name: least})


def test_sealed_keys_open_with_and_without_kaccel(programs: Programs, certificate: tuple[str, str]):
    public, private = certificate
    # Named after the command, `openssl` is that command: each counts for itself.
    rsa, pkcs12 = programs.called("rsa", OPENSSL), programs.called("pkcs12", OPENSSL)
    plain = programs.run(rsa, "-in", private, config=programs.software).stdout
    word = ["-passout", "pass:a word"]
    open_it = ["-passin", "pass:a word"]
    # A private key of 2048 bits is beyond the threshold.
    size = 1200
    for ours, theirs, least in (
        (None, programs.software, size),
        (programs.software, None, 2 * size),
    ):
        sealed = programs.run(rsa, "-aes256", "-in", private, *word, config=ours).stdout
        assert b"ENCRYPTED" in sealed
        assert programs.run(rsa, *open_it, input=sealed, config=theirs).stdout == plain
        words = ["-export", "-inkey", private, "-in", public, *word]
        bundle = programs.run(pkcs12, *words, config=ours).stdout
        words = ["-nodes", "-nocerts", *open_it]
        opened = programs.run(pkcs12, *words, input=bundle, config=theirs).stdout
        assert programs.run(rsa, input=opened, config=programs.software).stdout == plain
        for program in ("rsa", "pkcs12"):
            programs.expect_hardware(program, {"AES-256-CBC": least})
