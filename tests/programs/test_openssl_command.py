"""The `openssl` command, which fetches whatever its arguments name."""

from pathlib import Path

import pytest

from programs import Programs, need_tool

KEYS = bytes(range(1, 33))
IV = bytes(range(200, 216))
MEGABYTE = bytes((i * 7 + i // 256) % 256 for i in range(1 << 20)) + b"odd"


def enc(algorithm: str, *more: str) -> list[str]:
    """`openssl enc` with a fixed key and, where the mode has one, IV."""
    key = KEYS[: 24 if "des3" in algorithm else int(algorithm.split("-")[1]) // 8]
    words = [need_tool("openssl"), "enc", "-" + algorithm, "-K", key.hex(), *more]
    if algorithm.endswith("ecb"):
        return words
    return [*words, "-iv", (IV[:8] if "des3" in algorithm else IV).hex()]


@pytest.mark.parametrize("algorithm", ["aes-128-ecb", "aes-256-cbc", "aes-256-ctr", "des3"])
def test_enc_gives_and_takes_the_same_bytes_as_without_kaccel(programs: Programs, algorithm: str):
    ours = programs.run(*enc(algorithm), input=MEGABYTE).stdout
    assert ours == programs.run(*enc(algorithm), input=MEGABYTE, config=programs.software).stdout
    assert programs.run(*enc(algorithm, "-d"), input=ours).stdout == MEGABYTE
    name = {"des3": "DES-EDE3-CBC"}.get(algorithm, algorithm.upper())
    programs.expect_hardware("openssl", {name: 2 << 20})
