"""ssh, scp and sshd.

OpenSSH ciphers by EVP_Cipher(), a packet's length apart from the rest of it where the MAC is not of
the ciphertext. Its HMAC is its own, made of EVP digests, so that no HMAC reaches kaccel.
"""

import hashlib
import os
from pathlib import Path

import pytest

from data import some_bytes
from openssh import PRIVILEGE_SEPARATION, Keys, SshServer, make_keys
from programs import MEGABYTES, Programs, need_tool

# 50 MB at most: in the emulated machine most of a copy's time goes into OpenSSH itself.
SIZE = min(MEGABYTES, 50) * 1_000_000
# With every call to hardware: new ground is in the small calls.
SMALL_SIZE = 1_000_000

CIPHERS = {
    "aes256-ctr": "AES-256-CTR",
    "aes256-cbc": "AES-256-CBC",
    "aes256-gcm@openssh.com": "AES-256-GCM",
}


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("openssh"))


def all_to_hardware(programs: Programs) -> None:
    """Every call to hardware that has one, however small."""
    key = "thresholds = kaccel_thresholds\n"
    text = programs.kaccel.read_text()
    assert key in text
    programs.kaccel.write_text(text.replace(key, key + "force_threshold = 0\n"))


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("cipher", "mac", "always"),
    [
        ("aes256-ctr", "hmac-sha2-256", False),
        ("aes256-ctr", "hmac-sha2-256-etm@openssh.com", True),
        ("aes256-cbc", "hmac-sha2-256", True),
        ("aes256-cbc", "hmac-sha2-256-etm@openssh.com", False),
        ("aes256-gcm@openssh.com", "hmac-sha2-256", False),
        ("aes256-gcm@openssh.com", "hmac-sha2-256", True),
    ],
)
def test_scp_copies_a_file_there_and_back_with_new_keys_on_the_way(
    programs: Programs, keys: Keys, cipher: str, mac: str, always: bool
):
    size = SMALL_SIZE if always else SIZE
    if always:
        all_to_hardware(programs)
    server = SshServer(programs, keys)
    local = programs.file("local", some_bytes(size))
    back = programs.directory / "back"
    # The session is an unprivileged user's: sshd's process for it has changed to him.
    theirs = programs.directory / "theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    scp = [need_tool("scp", "openssh-client"), *server.client(cipher, mac, user="nobody")]
    scp += [f"-oRekeyLimit={size // 4}"]
    remote = f"127.0.0.1:{theirs / 'remote'}"
    there = programs.run(*scp, local, remote).stderr.decode()
    assert (theirs / "remote").stat().st_uid == 65534
    assert digest(theirs / "remote") == digest(local)
    again = programs.run(*scp, remote, back).stderr.decode()
    assert digest(back) == digest(local)

    for said in (there, again):
        assert f"cipher: {cipher} MAC: {'<implicit>' if 'gcm' in cipher else mac}" in said
        # The first, and others on the way: how many depends on what is in flight.
        assert said.count("SSH2_MSG_NEWKEYS received") >= 2
    for program in ("ssh", "sshd"):
        counts = programs.expect_hardware(program, {CIPHERS[cipher]: 2 * size})
        assert not any("HMAC" in name for name, sent in counts.hardware_bytes.items() if sent)


@pytest.mark.parametrize(
    ("cipher", "always"),
    [
        ("aes256-ctr", False),
        ("aes256-ctr", True),
        ("aes256-cbc", False),
        ("aes256-gcm@openssh.com", True),
    ],
)
def test_a_user_gets_in_although_packets_before_that_are_beyond_the_threshold(
    programs: Programs, keys: Keys, cipher: str, always: bool
):
    """sshd's process that talks to strangers runs under a seccomp filter which kills it at its
    first call of AF_ALG. All that its client sees is a closed connection."""
    if always:
        all_to_hardware(programs)
    banner = "".join(f"Line {line} of what the owner has to say.\n" for line in range(100))
    server = SshServer(programs, keys, banner)
    file = programs.file("file", some_bytes(100_000))
    done = programs.run(
        *(need_tool("ssh", "openssh-client"), *server.client(cipher)),
        *("127.0.0.1", f"cat {file}"),
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr.decode()[-500:]}\n{server.explain()}"
    assert server.said("attaching seccomp filter program"), "this sshd has no such filter"
    assert server.said("Accepted publickey for root .*-CERT")
    assert banner in done.stderr.decode().replace("\r", "")
    assert done.stdout == file.read_bytes()
    # Before he is in, software; after that hardware as usual.
    programs.expect_hardware("sshd", {CIPHERS[cipher]: 100_000})


def test_a_session_has_no_descriptor_that_it_would_not_have_without_kaccel(
    programs: Programs, keys: Keys
):
    """sshd closes and reuses descriptors by their numbers, and hands 0 to 2 on to the session."""
    all_to_hardware(programs)
    server = SshServer(programs, keys)
    done = programs.run(
        *(need_tool("ssh", "openssh-client"), *server.client("aes256-ctr")),
        # Not by listing the directory, which opens one.
        *("127.0.0.1", "for fd in {3..40}; do test -e /proc/$$/fd/$fd && echo $fd; done; true"),
    )
    assert done.stdout.split() == []
    programs.expect_hardware("sshd", {"AES-256-CTR": 1000})
    assert PRIVILEGE_SEPARATION.is_dir() and not list(PRIVILEGE_SEPARATION.iterdir())
