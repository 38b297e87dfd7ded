"""Two network namespaces, joined by a pair of virtual Ethernet devices."""

import ctypes
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from programs import Programs, missing, need_tool

CLONE_NEWNET = 0x40000000
TUN = Path("/dev/net/tun")


@dataclass(frozen=True)
class Namespace:
    """name: ip-netns(8)'s. address: its IPv4 address on the common Ethernet."""

    name: str
    address: str

    def enter(self) -> None:
        """Moves the calling thread (or, after a fork, process) over."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/run/netns/{self.name}") as file:
            if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns({self.name})")

    def socket(self, kind: socket.SocketKind) -> socket.socket:
        """A socket stays where it was made, so that it may be used from anywhere."""
        made: list[socket.socket] = []

        def make() -> None:
            self.enter()
            made.append(socket.socket(socket.AF_INET, kind))

        run_in_thread(make)
        return made[0]


def run_in_thread(function: Callable[[], None]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def two_namespaces(programs: Programs) -> tuple[Namespace, Namespace]:
    """Ends the test where the kernel or the user's rights do not allow them. Gone with the test."""
    ip = need_tool("ip", "iproute2")

    def can(*words: str) -> str:
        done = subprocess.run([ip, *words], capture_output=True, text=True)
        return "" if done.returncode == 0 else f"ip {' '.join(words)}: {done.stderr.strip()}"

    pair = tuple(
        Namespace(f"kaccel-{os.getpid()}-{end}", f"10.98.0.{end}") for end in (1, 2)
    )
    devices = [f"kx{os.getpid()}.{end}" for end in (1, 2)]
    for namespace in pair:
        if why := can("netns", "add", namespace.name):
            missing(f"no network namespaces here: {why}")
        programs.stack.callback(can, "netns", "delete", namespace.name)
    if why := can("link", "add", devices[0], "type", "veth", "peer", "name", devices[1]):
        missing(f"no virtual Ethernet here: {why}")
    for namespace, device in zip(pair, devices):
        inside = ("-n", namespace.name)
        for words in (
            ("link", "set", device, "netns", namespace.name),
            (*inside, "address", "add", f"{namespace.address}/24", "dev", device),
            (*inside, "link", "set", "lo", "up"),
            (*inside, "link", "set", device, "up"),
        ):
            why = can(*words)
            assert not why, why
    return pair


def need_tun() -> None:
    try:
        TUN.open("r+b", buffering=0).close()
    except OSError as error:
        missing(f"no tunnel devices here: {TUN}: {error.strerror}")
