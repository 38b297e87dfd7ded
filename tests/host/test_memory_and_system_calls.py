"""What kaccel leaves behind and what it asks of the kernel."""

import re

import pytest

from conftest import Host, cipher_arguments, kernel_has_af_alg, need_tool, thresholds


def memcheck(host: Host, *arguments, config, input: bytes = b"") -> str:
    need_tool("valgrind")
    done = host.run(
        *("valgrind", "--leak-check=full", "--show-leak-kinds=all", "--error-exitcode=99"),
        *("openssl", *arguments),
        config=config,
        input=input,
        check=False,
        timeout=300,
    )
    report = done.stderr.decode()
    assert done.returncode == 0, report
    assert "ERROR SUMMARY: 0 errors" in report, report
    return report


@pytest.mark.parametrize("threshold", [-1, 0, 512])
@pytest.mark.parametrize("others", [(), ("default",)], ids=["kaccel_alone", "default_in_the_file"])
def test_openssl_enc_loses_no_byte(host: Host, plaintext: bytes, others, threshold: int):
    config = host.config(
        section=thresholds(threshold), others=others, properties="?provider=kaccel"
    )
    report = memcheck(host, *cipher_arguments("AES-128-CBC"), config=config, input=plaintext)
    assert "All heap blocks were freed" in report, report


@pytest.mark.parametrize("others", [(), ("default",)], ids=["kaccel_alone", "default_in_the_file"])
def test_a_bad_configuration_loses_no_byte(host: Host, others):
    config = host.config(section=thresholds(512).replace("512", "many"), others=others)
    report = memcheck(host, "list", "-providers", "-verbose", config=config)
    assert "All heap blocks were freed" in report, report


def test_loading_kaccel_by_name_loses_no_byte(host: Host):
    report = memcheck(
        host,
        *("enc", "-provider", "kaccel", "-aes-128-ctr", "-K", "11" * 16, "-iv", "22" * 16),
        config=None,
        input=b"text",
    )
    assert "All heap blocks were freed" in report, report


def sockets(host: Host, config, size: int) -> list[str]:
    """The domains of the sockets that `openssl enc` opens for one call of `size` bytes."""
    need_tool("strace")
    log = host.directory / "trace"
    done = host.run(
        *("strace", "-f", "-o", log, "-e", "trace=socket"),
        *("openssl", *cipher_arguments("AES-128-CBC"), "-nopad"),
        config=config,
        input=bytes(size),
        check=False,
    )
    if b"ptrace" in done.stderr:
        pytest.skip("strace may not trace here: " + done.stderr.decode())
    assert done.returncode == 0
    return re.findall(r"socket\((\w+)", log.read_text())


def test_a_process_with_small_calls_alone_opens_no_af_alg_socket(host: Host):
    config = host.config(section=thresholds(512), properties="?provider=kaccel")
    assert sockets(host, config, 512) == []


def test_a_call_above_the_threshold_asks_for_af_alg(host: Host):
    config = host.config(section=thresholds(512), properties="?provider=kaccel")
    asked = sockets(host, config, 528)
    assert "AF_ALG" in asked
    if not kernel_has_af_alg():
        assert len(asked) == 1, "a kernel without AF_ALG is asked once"


def test_a_kernel_without_af_alg_is_asked_once_a_process(host: Host):
    if kernel_has_af_alg():
        pytest.skip("this kernel has AF_ALG")
    config = host.config(section=thresholds(0), properties="?provider=kaccel")
    assert len(sockets(host, config, 1 << 20)) == 1
