"""OpenVPN.

Each end ciphers every packet with a context that lives as long as the keys, and takes HMAC from
EVP_MAC. It loads kaccel as root, and is nobody with an empty root directory when the first packet
comes.
"""

import socket
import threading
from pathlib import Path

import pytest

from data import some_bytes
from openvpn import Tunnel, make_certificates
from programs import HANGS_AFTER, Programs

SIZE = 2_000_000  # each way


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("openvpn"))


def receive(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size and (part := connection.recv(1 << 16)):
        parts += part
    return bytes(parts)


def exchange(ends: tuple[socket.socket, socket.socket], sent: tuple[bytes, bytes]) -> list[bytes]:
    """Each end sends while the other receives, both ways at the same time. Returns what arrived, in
    the order of `sent`."""
    senders = [threading.Thread(target=end.sendall, args=(data,)) for end, data in zip(ends, sent)]
    arrived: dict[int, bytes] = {}

    def collect(number: int) -> None:
        arrived[number] = receive(ends[1 - number], len(sent[number]))

    collectors = [threading.Thread(target=collect, args=(number,)) for number in (0, 1)]
    for thread in senders + collectors:
        thread.start()
    for thread in senders + collectors:
        thread.join()
    return [arrived[0], arrived[1]]


def tcp_pair(tunnel: Tunnel) -> tuple[socket.socket, socket.socket]:
    listener, client = (space.socket(socket.SOCK_STREAM) for space in tunnel.namespaces)
    listener.settimeout(HANGS_AFTER)
    client.settimeout(HANGS_AFTER)
    listener.bind((tunnel.inside[0], 5001))
    listener.listen()
    client.connect((tunnel.inside[0], 5001))
    server, _ = listener.accept()
    server.settimeout(HANGS_AFTER)
    return server, client


def datagram_and_echo(tunnel: Tunnel, size: int, port: int) -> None:
    """One datagram there and back, once more where one was lost; beyond the MTU in fragments."""
    server, client = (space.socket(socket.SOCK_DGRAM) for space in tunnel.namespaces)
    with server, client:
        for end in (server, client):
            end.settimeout(10)
        server.bind((tunnel.inside[0], port))
        sent = some_bytes(size)
        for _ in range(HANGS_AFTER // 10):
            client.sendto(sent, (tunnel.inside[0], port))
            try:
                arrived, sender = server.recvfrom(1 << 16)
                server.sendto(arrived, sender)
                echo = client.recv(1 << 16)
            except TimeoutError:
                continue
            assert arrived == sent and echo == sent
            return
    pytest.fail(f"no datagram of {size} bytes came through")


@pytest.mark.parametrize("cipher", ["AES-256-CBC", "AES-256-GCM"])
def test_a_tunnel_between_two_namespaces(programs: Programs, certificates: Path, cipher: str):
    tunnel = Tunnel(programs, certificates, cipher, "SHA256")
    server, client = tcp_pair(tunnel)
    sent = some_bytes(SIZE, seed=1), some_bytes(SIZE, seed=2)
    with server, client:
        assert exchange((server, client), sent) == list(sent)
    for number, size in enumerate((1, 500, 1392, 1420, 9000, 60_000)):
        datagram_and_echo(tunnel, size, 5002 + number)

    tunnel.wait_until_said(f"Outgoing Data Channel: Cipher '{cipher}'", 4)  # two are new keys
    # Each end enciphers what it sends and deciphers what it receives. TCP fills
    # its packets, so that nearly all are beyond the threshold; one end alone has half of the bytes.
    least = 4 * SIZE * 4 // 5
    macs = {"HMAC-SHA256": least} if cipher.endswith("CBC") else {}
    programs.expect_hardware("openvpn", {cipher: least} | macs)
