"""nginx and curl: downloads, uploads, kept connections, workers. s_client and s_server."""

import filecmp
import os

import pytest
from programs import MEGABYTES, Programs, free_port
from web_server import WebServer

MIB = 1 << 20

TLS_1_2 = ["--tls-max", "1.2", "--ciphers"]
TLS_1_3 = ["--tlsv1.3", "--tls13-ciphers"]

# What curl is told, what a side counts that sends the data, and what one that receives it.
SUITES = {
    "ECDHE-RSA-AES256-GCM-SHA384": (TLS_1_2, ["AES-256-GCM"], ["AES-256-GCM"]),
    "AES128-GCM-SHA256": (TLS_1_2, ["AES-128-GCM"], ["AES-128-GCM"]),
    "AES256-SHA": (TLS_1_2, ["AES-256-CBC", "HMAC-SHA1"], ["HMAC-SHA1"]),
    "AES128-SHA256": (TLS_1_2, ["AES-128-CBC", "HMAC-SHA256"], ["HMAC-SHA256"]),
    "TLS_AES_256_GCM_SHA384": (TLS_1_3, ["AES-256-GCM"], ["AES-256-GCM"]),
}


def nearly(megabytes: int, algorithms: list[str]) -> dict[str, int]:
    """All but what is short: the end of a file, a handshake, headers."""
    return {algorithm: int(megabytes * MIB * 0.99) for algorithm in algorithms}


@pytest.mark.parametrize("suite", SUITES)
def test_a_download_and_an_upload_arrive_as_they_were(
    programs: Programs, certificate: tuple[str, str], suite: str
):
    server = WebServer(programs, certificate, MEGABYTES)
    options, sent, received = SUITES[suite]
    down = programs.directory / "down"
    server.curl(*options, suite, "-o", down, server.url("big"))
    assert filecmp.cmp(down, server.big, shallow=False)
    server.curl(*options, suite, "-T", server.big, server.url("in/up"))
    assert filecmp.cmp(server.root / "in" / "up", server.big, shallow=False)
    assert server.errors() == ""
    for program in ("curl", "nginx"):
        counts = programs.expect_hardware(program, nearly(MEGABYTES, sent))
        programs.expect_hardware(program, nearly(2 * MEGABYTES, set(sent) & set(received)))
    # The master, which is root, brought kaccel along; its workers count for it.
    assert counts.users <= {0, os.geteuid()} | {os.stat(server.root / "in" / "up").st_uid}


def test_either_side_may_be_without_kaccel(programs: Programs, certificate: tuple[str, str]):
    server = WebServer(programs, certificate, 1)
    for config in (programs.kaccel, programs.software):
        for suite in ("ECDHE-RSA-AES256-GCM-SHA384", "AES256-SHA", "TLS_AES_256_GCM_SHA384"):
            words = [*SUITES[suite][0], suite, "-o", "down", server.url("big")]
            server.curl(*words, config=config)
            assert filecmp.cmp(programs.directory / "down", server.big, shallow=False)
    programs.expect_hardware("nginx", nearly(4, ["AES-256-GCM"]) | nearly(2, ["AES-256-CBC"]))


@pytest.mark.parametrize("suite", ["AES128-GCM-SHA256", "TLS_AES_256_GCM_SHA384"])
def test_hundreds_of_requests_over_one_connection(
    programs: Programs, certificate: tuple[str, str], suite: str
):
    """Pages of a record each, above the threshold: a request for hardware each time."""
    server = WebServer(programs, certificate, 1)
    requests = 300
    options, algorithms, _ = SUITES[suite]
    words = ["-w", "%{num_connects} %{http_code}\n", "-o", "#1.page"]
    shown = server.curl(*options, suite, *words, server.url(f"page?[1-{requests}]"))
    lines = shown.decode().split("\n")[:-1]
    assert lines == ["1 200"] + ["0 200"] * (requests - 1)
    page = (server.root / "page").read_bytes()
    for number in range(1, requests + 1):
        assert (programs.directory / f"{number}.page").read_bytes() == page, number
    for program in ("curl", "nginx"):
        programs.expect_hardware(program, {name: requests * len(page) for name in algorithms})


def test_all_workers_use_the_device_also_after_a_reload(
    programs: Programs, certificate: tuple[str, str]
):
    server = WebServer(programs, certificate, 1)
    for _ in range(2):
        workers = set()
        for _ in range(200):
            before = programs.counts("nginx").hardware_bytes.get("AES-128-GCM", 0)
            worker = server.worker(*TLS_1_2, "AES128-GCM-SHA256")
            programs.expect_hardware("nginx", {"AES-128-GCM": before + server.page_size})
            workers.add(worker)
            if len(workers) == 2:
                break
        assert len(workers) == 2
        server.reload()


def test_many_clients_at_the_same_time(programs: Programs, certificate: tuple[str, str]):
    server = WebServer(programs, certificate, 1)
    words = [*TLS_1_2, "ECDHE-RSA-AES256-GCM-SHA384", "--no-keepalive", "-o", "#1.big"]
    parallel = ["--parallel", "--parallel-immediate", "--parallel-max", "8"]
    server.curl(*parallel, *words, server.url("big?[1-8]"))
    for number in range(1, 9):
        assert filecmp.cmp(programs.directory / f"{number}.big", server.big, shallow=False), number
    for program in ("curl", "nginx"):
        programs.expect_hardware(program, nearly(8, ["AES-256-GCM"]))


# Named after the command, `openssl` is that command: each end counts for itself.
@pytest.mark.parametrize(
    "suite", ["ECDHE-RSA-AES256-GCM-SHA384", "AES256-SHA", "TLS_AES_256_GCM_SHA384"]
)
def test_s_client_reads_what_s_server_serves(
    programs: Programs, certificate: tuple[str, str], suite: str
):
    public, private = certificate
    data = os.urandom(MIB)
    programs.file("served", data)
    port = free_port()
    words = ["-accept", f"127.0.0.1:{port}", "-cert", public, "-key", private, "-WWW"]
    programs.start(programs.called("s_server", "openssl"), *words, port=port)
    words = ["-connect", f"127.0.0.1:{port}", "-CAfile", public, "-quiet", "-verify_return_error"]
    request = b"GET /served HTTP/1.0\r\n\r\n"
    client = programs.called("s_client", "openssl")
    options, sent, received = SUITES[suite]
    words += ["-tls1_3", "-ciphersuites"] if options is TLS_1_3 else ["-tls1_2", "-cipher"]
    answer = programs.run(client, *words, suite, input=request).stdout
    assert answer.partition(b"\r\n\r\n")[2] == data
    programs.expect_hardware("s_server", nearly(1, sent))
    programs.expect_hardware("s_client", nearly(1, received))
