"""kaccel as the only provider in openssl.cnf: the rest of OpenSSL keeps working."""

import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Host, thresholds

CONFIGURATIONS = {
    "as_the_only_provider": {"section": thresholds(512)},
    "preferred_for_everything": {"section": thresholds(0), "properties": "?provider=kaccel"},
    "without_thresholds": {"own": "activate = 1"},
}


@pytest.fixture(params=CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
def config(host: Host, request) -> Path:
    return host.config(**request.param)


def make_key(host: Host, config: Path, *options: str) -> Path:
    key = host.directory / "key.pem"
    host.openssl("genpkey", *options, "-out", key, config=config)
    return key


def make_certificate(host: Host, config: Path, key: Path) -> Path:
    certificate = host.directory / "certificate.pem"
    # req wants a section of its own, which the configuration does not have.
    request = host.file("request.cnf", "[req]\ndistinguished_name = dn\n[dn]\n")
    host.openssl(
        *("req", "-x509", "-new", "-key", key, "-subj", "/CN=localhost", "-days", "2"),
        *("-config", request, "-out", certificate),
        config=config,
    )
    return certificate


RSA = ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
EC = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")


@pytest.mark.parametrize("kind", [RSA, EC], ids=["RSA", "EC"])
def test_keys_and_a_self_signed_certificate_can_be_made(host: Host, config: Path, kind):
    certificate = make_certificate(host, config, make_key(host, config, *kind))
    done = host.openssl("verify", "-CAfile", certificate, certificate, config=config)
    assert done.stdout.strip().endswith(b"OK")


def test_an_encrypted_key_can_be_written_and_read(host: Host, config: Path):
    key = make_key(host, config, *EC, "-aes-256-cbc", "-pass", "pass:word")
    plain = host.openssl("pkey", "-in", key, "-passin", "pass:word", config=config).stdout
    assert plain == host.openssl("pkey", "-in", key, "-passin", "pass:word").stdout


def test_digests_macs_and_random_numbers_work(host: Host, config: Path):
    for arguments in (("-sha256",), ("-sha3-512",), ("-md5",), ("-hmac", "key", "-sha1")):
        digest = host.openssl("dgst", "-r", *arguments, config=config, input=b"text").stdout
        assert digest == host.openssl("dgst", "-r", *arguments, input=b"text").stdout
    first = host.openssl("rand", "-hex", "32", config=config).stdout
    second = host.openssl("rand", "-hex", "32", config=config).stdout
    assert re.fullmatch(rb"[0-9a-f]{64}\n", first) and first != second


def test_ciphers_that_kaccel_does_not_have_work(host: Host, config: Path):
    for name, key_size in (("aes-128-ofb", 16), ("camellia-128-cbc", 16), ("chacha20", 32)):
        arguments = ("enc", "-" + name, "-K", "11" * key_size, "-iv", "22" * 16)
        output = host.openssl(*arguments, config=config, input=b"text" * 99).stdout
        assert output == host.openssl(*arguments, input=b"text" * 99).stdout


class Server:
    """`openssl s_server -WWW`, serving the files of the test's directory."""

    def __init__(self, host: Host, config: Path, key: Path, certificate: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.process = subprocess.Popen(
            ["openssl", "s_server", "-accept", self.address, "-key", key, "-cert", certificate]
            + ["-WWW", "-quiet"],
            cwd=host.directory,
            env=host.env(config),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> "Server":
        name, port = self.address.split(":")
        for _ in range(100):
            if self.process.poll() is not None:
                pytest.fail(f"s_server ended: {self.process.stderr.read().decode()}")
            try:
                socket.create_connection((name, int(port)), 1).close()
                return self
            except ConnectionRefusedError:
                time.sleep(0.05)
        pytest.fail("s_server does not listen")

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize(
    "protocol",
    [
        ("-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"),
        ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-SHA384"),
        ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"),
    ],
    ids=["tls13_gcm", "tls12_gcm", "tls12_cbc_sha384", "tls12_cbc_sha1"],
)
def test_a_file_goes_through_tls_whole(host: Host, config: Path, plaintext: bytes, protocol):
    host.file("served.bin", plaintext * 10)
    key = make_key(host, config, *EC)
    certificate = make_certificate(host, config, key)
    with Server(host, config, key, certificate) as server:
        done = host.openssl(
            *("s_client", "-connect", server.address, "-quiet", "-verify_quiet", *protocol),
            *("-CAfile", certificate, "-verify_return_error"),
            config=config,
            input=b"GET /served.bin HTTP/1.0\r\n\r\n",
        )
    assert done.stdout.split(b"\r\n\r\n", 1)[1] == plaintext * 10


def test_load_default_no_leaves_the_default_provider_out(host: Host):
    config = host.config(own="activate = 1\nload_default = no")
    shown = host.openssl("list", "-providers", config=config).stdout
    assert b"  kaccel\n" in shown and b"  default\n" not in shown
    done = host.openssl("dgst", "-sha256", config=config, input=b"text", check=False)
    assert done.returncode != 0


def test_the_default_provider_in_the_file_is_not_loaded_twice(host: Host):
    for others in ((), ("default",)):
        config = host.config(others=others)
        shown = host.openssl("list", "-providers", config=config).stdout
        assert shown.count(b"  default\n") == 1
