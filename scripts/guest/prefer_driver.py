#!/usr/bin/env python3
"""Makes a driver the kernel's first choice for its algorithm (NETLINK_CRYPTO; needs CAP_NET_ADMIN).

    prefer_driver.py DRIVER

On a router the device's priority is above that of the kernel's software. The lab's CPU brings AES
instructions, whose drivers are above the device's, and what asks for "cbc(aes)" would get those.
"""

import os
import socket
import struct
import sys

NETLINK_CRYPTO = 21
CRYPTO_MSG_UPDATEALG = 0x12
CRYPTOCFGA_PRIORITY_VAL = 1
NLM_F_REQUEST, NLM_F_ACK = 1, 4
NLMSG_ERROR = 2
ABOVE_ALL = 10000


def prefer(driver: str) -> None:
    """Raises OSError where the kernel refuses."""
    algorithm = struct.pack("=64s64s64sIIII", b"", driver.encode(), b"", 0, 0, 0, 0)
    priority = struct.pack("=HHI", 8, CRYPTOCFGA_PRIORITY_VAL, ABOVE_ALL)
    size = 16 + len(algorithm) + len(priority)
    head = struct.pack("=IHHII", size, CRYPTO_MSG_UPDATEALG, NLM_F_REQUEST | NLM_F_ACK, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_CRYPTO) as kernel:
        kernel.sendto(head + algorithm + priority, (0, 0))
        answer = kernel.recv(4096)
    kind, error = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
    if kind != NLMSG_ERROR or error != 0:
        raise OSError(-error, f"{driver}: {os.strerror(-error)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("prefer_driver.py: needs one driver name, as in /proc/crypto")
    prefer(sys.argv[1])
