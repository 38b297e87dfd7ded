"""Encrypts through one AF_ALG driver of the running kernel and compares with known answers.

    afalg_check.py DRIVER           right answers, also for many requests at once
    afalg_check.py --time DRIVER N  mean microseconds of N requests of 1 KiB, one after the other
"""

import socket
import sys
import threading
import time

# NIST SP 800-38A, F.2.1 and F.2.5: CBC, AES-128 and AES-256, first two blocks.
IV = bytes(range(16))
PLAIN = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
KNOWN = {
    "2b7e151628aed2a6abf7158809cf4f3c":
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4":
        "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d",
}


def open_op(driver, key):
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as tfm:
        tfm.bind(("skcipher", driver))
        tfm.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, key)
        return tfm.accept()[0]


def run(op, direction, data, iv=IV):
    op.sendmsg_afalg([data], op=direction, iv=iv)
    return op.recv(len(data))


def check(driver):
    for key, cipher in KNOWN.items():
        with open_op(driver, bytes.fromhex(key)) as op:
            assert run(op, socket.ALG_OP_ENCRYPT, PLAIN).hex() == cipher, "wrong ciphertext"
            assert run(op, socket.ALG_OP_DECRYPT, bytes.fromhex(cipher)) == PLAIN, "wrong plaintext"


def check_many(driver, wrong):
    """Long requests with a chained IV must equal one long request."""
    with open_op(driver, IV) as op:
        data = bytes(range(256)) * 64
        whole = run(op, socket.ALG_OP_ENCRYPT, data)
        for size in (16, 496, 4096, 8208):
            iv, parts = IV, []
            for start in range(0, len(data), size):
                part = run(op, socket.ALG_OP_ENCRYPT, data[start:start + size], iv)
                iv = part[-16:]
                parts.append(part)
            if b"".join(parts) != whole:
                wrong.append(size)
        if run(op, socket.ALG_OP_DECRYPT, whole) != data:
            wrong.append("back")


def main():
    if sys.argv[1] == "--time":
        driver, rounds = sys.argv[2], int(sys.argv[3])
        with open_op(driver, IV) as op:
            data = bytes(1024)
            for _ in range(8):
                run(op, socket.ALG_OP_ENCRYPT, data)
            start = time.monotonic_ns()
            for _ in range(rounds):
                run(op, socket.ALG_OP_ENCRYPT, data)
            print(round((time.monotonic_ns() - start) / rounds / 1000, 3))
        return
    driver = sys.argv[1]
    check(driver)
    wrong = []
    threads = [threading.Thread(target=check_many, args=(driver, wrong)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, f"wrong bytes: {wrong}"
    print("right")


main()
