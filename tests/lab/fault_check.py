"""Asks simulated devices over AF_ALG, with each fault on in turn, whether it does what module/README.md says.

    fault_check.py      in a guest with the devices qce, eip93 and padlock

A line for each fault. Requests that never complete are left behind in child processes.
"""

import contextlib
import errno
import hashlib
import hmac
import os
import select
import socket
import sys
import time

from afalg_check import CIPHERS, DECRYPT, ENCRYPT, OpenSSL, crypt, kernel_name, open_op

PARAMETERS = "/sys/module/kaccel_sim/parameters/"
OPENSSL = OpenSSL()
HANG_SECONDS = 1  # an answer takes milliseconds
ANSWER_SECONDS = 20


def set_parameter(name, value):
    with open(PARAMETERS + name, "w", encoding="ascii") as file:
        file.write(f"{value}\n")


def get_parameter(name):
    with open(PARAMETERS + name, encoding="ascii") as file:
        return int(file.read())


@contextlib.contextmanager
def fault(driver="", **parameters):
    """These are on within, for the driver where they are of no device in particular."""
    set_parameter("fault_driver", driver)
    for name, value in parameters.items():
        set_parameter(name, value)
    try:
        yield
    finally:
        for name in parameters:
            set_parameter(name, 0)


def material(driver):
    names, _, iv_size = CIPHERS[kernel_name(driver)]
    key_size, name = next(iter(names.items()))
    return name, bytes(range(key_size)), bytes(iv_size)


def plain(size):
    return bytes(number * 7 % 251 for number in range(size))


def cipher(driver, size):
    """The driver's answer to an encryption, and the right one."""
    name, key, iv = material(driver)
    with open_op("skcipher", driver, key) as op:
        return crypt(op, ENCRYPT, plain(size), iv), OPENSSL.crypt(name, ENCRYPT, key, iv, plain(size))


def mac(driver, size):
    """The same for HMAC."""
    key = b"Jefe"
    with open_op("hash", driver, key) as op:
        op.sendall(plain(size))
        return op.recv(64), hmac.new(key, plain(size), kernel_name(driver)[5:-1]).digest()


def digest(driver, size):
    with open_op("hash", driver) as op:
        op.sendall(plain(size))
        return op.recv(64), hashlib.new(kernel_name(driver), plain(size)).digest()


def wrong_bytes(answer):
    """Where an answer differs from the right one."""
    got, right = answer
    assert len(got) == len(right), f"{len(got)} bytes in place of {len(right)}"
    return [index for index, pair in enumerate(zip(got, right)) if pair[0] != pair[1]]


def expect_wrong(ask, driver, size, where):
    found = wrong_bytes(ask(driver, size))
    assert found == list(where), f"{driver}, {size} bytes: wrong at {found}, not at {list(where)}"


def expect_right(ask, driver, *sizes):
    for size in sizes:
        expect_wrong(ask, driver, size, [])


def answers_within(seconds, ask, driver, size):
    """Whether a child process has the right answer in time. If not, it stays."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        with contextlib.suppress(OSError, AssertionError):
            os.write(writing, b"wrong" if wrong_bytes(ask(driver, size)) else b"right")
        os._exit(0)
    os.close(writing)
    ready = select.select([reading], [], [], seconds)[0]
    text = os.read(reading, 5) if ready else None
    os.close(reading)
    assert text in (None, b"right"), f"{driver}, {size} bytes: {text!r}"
    return text is not None


def expect_hang(ask, driver, size):
    assert not answers_within(HANG_SECONDS, ask, driver, size), f"{driver}, {size} bytes: an answer"


def expect_answer(ask, driver, *sizes):
    for size in sizes:
        assert answers_within(ANSWER_SECONDS, ask, driver, size), f"{driver}, {size} bytes: no answer"


def expect_error(ask, driver, size):
    try:
        ask(driver, size)
    except OSError as error:
        assert error.errno == errno.EIO, f"{driver}: {error}"
        return
    raise AssertionError(f"{driver}: an answer in place of EIO")


def no_fault():
    expect_right(cipher, "xts-aes-qce", 16, 512, 528, 1024)
    expect_right(cipher, "ctr-aes-qce", 16, 17, 1000)
    expect_right(mac, "hmac-sha256-qce", 0, 1)


def qce_fault_xts():
    with fault(qce_fault_xts=1):
        expect_answer(cipher, "xts-aes-qce", 16, 496, 512, 1024, 4096)
        expect_hang(cipher, "xts-aes-qce", 528)
        expect_answer(cipher, "xts-aes-qce", 512)
        expect_answer(cipher, "cbc-aes-qce", 528)
    expect_answer(cipher, "xts-aes-qce", 528)


def qce_fault_single_block():
    with fault(qce_fault_single_block=1):
        for driver in ("ecb-aes-qce", "cbc-aes-qce", "ctr-aes-qce", "xts-aes-qce"):
            expect_wrong(cipher, driver, 16, range(16))
            expect_right(cipher, driver, 32)
        expect_right(cipher, "cbc-3des-qce", 8, 16)
        expect_right(cipher, "cbc(aes-eip93)", 16)


def qce_fault_empty_hmac():
    with fault(qce_fault_empty_hmac=1):
        for driver in ("hmac-sha1-qce", "hmac-sha256-qce"):
            assert not any(mac(driver, 0)[0]), f"{driver}: not zeros"
            expect_right(mac, driver, 1, 64, 65)
        expect_right(mac, "hmac(sha256-eip93)", 0)
        expect_right(digest, "sha256-qce", 0)


def qce_fault_ctr_partial():
    with fault(qce_fault_ctr_partial=1):
        expect_wrong(cipher, "ctr-aes-qce", 5, range(5))
        expect_wrong(cipher, "ctr-aes-qce", 47, range(32, 47))
        expect_right(cipher, "ctr-aes-qce", 16, 48)
        expect_right(cipher, "ctr(aes-eip93)", 47)


def eip93_fault_direction():
    with fault(eip93_fault_direction=1):
        for driver in ("ecb(aes-eip93)", "cbc(aes-eip93)", "cbc(des3_ede-eip93)"):
            name, key, iv = material(driver)
            text = plain(64)
            right = OPENSSL.crypt(name, ENCRYPT, key, iv, text)
            turned = OPENSSL.crypt(name, DECRYPT, key, iv, text)
            with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as tfm:
                tfm.bind(("skcipher", driver))
                for _ in range(2):  # setting the key ends it
                    tfm.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, key)
                    with tfm.accept()[0] as op:
                        assert crypt(op, ENCRYPT, text, iv) == right, f"{driver}: wrong before a decryption"
                        assert crypt(op, DECRYPT, right, iv) == text, f"{driver}: wrong decryption"
                        assert crypt(op, ENCRYPT, text, iv) == turned, f"{driver}: no decryption after one"
            expect_right(cipher, driver, 64)


def fault_wrong():
    with fault("cbc-aes-qce", fault_wrong_at=1024):
        expect_wrong(cipher, "cbc-aes-qce", 1024, [512])
        expect_right(cipher, "cbc-aes-qce", 1008, 1040)
        expect_right(cipher, "ecb-aes-qce", 1024)
    with fault("hmac-sha1-qce", fault_wrong_from=200):
        expect_right(mac, "hmac-sha1-qce", 199)
        for size in (200, 5000):
            expect_wrong(mac, "hmac-sha1-qce", size, [10])
    with fault(fault_wrong_from=64):
        expect_wrong(cipher, "cbc-aes-padlock", 64, [32])
        expect_wrong(digest, "md5-eip93", 64, [8])
        expect_right(cipher, "cbc-aes-padlock", 48)


def fault_error_after():
    for ask, driver, size in ((cipher, "cbc-aes-qce", 64), (cipher, "ecb-aes-padlock", 64),
                              (mac, "hmac-sha256-qce", 20)):
        for _ in range(2):  # it counts anew each time
            with fault(driver, fault_error_after=3):
                expect_right(ask, driver, size, size)
                expect_error(ask, driver, size)
                expect_error(ask, driver, size)
    expect_right(cipher, "cbc-aes-qce", 64)


def fault_hang():
    with fault("cbc(aes-eip93)", fault_hang_at=256):
        expect_answer(cipher, "cbc(aes-eip93)", 240, 272)
        expect_hang(cipher, "cbc(aes-eip93)", 256)
    with fault("hmac(sha256-eip93)", fault_hang_from=300):
        expect_answer(mac, "hmac(sha256-eip93)", 299)
        expect_hang(mac, "hmac(sha256-eip93)", 301)
    with fault(fault_hang_from=1):
        expect_answer(cipher, "cbc-aes-padlock", 64)


def fault_delay():
    for driver in ("cbc-aes-qce", "cbc-aes-padlock"):
        with fault(driver, fault_delay_ms=300):
            start = time.monotonic()
            expect_right(cipher, driver, 64)
            assert time.monotonic() - start >= 0.3, f"{driver}: in time"


def padlock_reloads():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    _, key, iv = material("cbc-aes-padlock")

    def expect(reloads, *requests):
        set_parameter("padlock_reloads", 0)
        for op, direction, start in requests:
            crypt(op, direction, plain(64), start)
        found = get_parameter("padlock_reloads")
        assert found == reloads, f"{found} for {len(requests)} requests, not {reloads}"

    with open_op("skcipher", "cbc-aes-padlock", key) as one, open_op("skcipher", "ecb-aes-padlock", key) as other:
        expect(1, *[(one, ENCRYPT, iv)] * 10)
        expect(10, *[(other, ENCRYPT, b""), (one, ENCRYPT, iv)] * 5)
        expect(1, (one, ENCRYPT, iv), (one, DECRYPT, iv), (one, DECRYPT, iv))
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as tfm:
        tfm.bind(("skcipher", "cbc-aes-padlock"))
        for _ in range(3):  # the same bytes
            tfm.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, key)
            with tfm.accept()[0] as op:
                expect(1, *[(op, ENCRYPT, iv)] * 2)


def fault_hang_engine():
    with fault("cbc-aes-qce", fault_hang_engine=1, fault_hang_at=256):
        expect_answer(cipher, "cbc-aes-qce", 240)
        expect_hang(cipher, "cbc-aes-qce", 256)
    expect_hang(cipher, "ecb-aes-qce", 64)
    expect_hang(mac, "hmac-sha1-qce", 64)
    expect_answer(cipher, "ecb(aes-eip93)", 64)


def main():
    # The last takes qce away for good.
    checks = (no_fault, qce_fault_xts, qce_fault_single_block, qce_fault_empty_hmac, qce_fault_ctr_partial,
              eip93_fault_direction, fault_wrong, fault_error_after, fault_hang, fault_delay, padlock_reloads,
              fault_hang_engine)
    failed = 0
    for check in checks:
        try:
            check()
            print(f"{check.__name__}: as told", flush=True)
        except (AssertionError, OSError) as error:
            failed += 1
            print(f"{check.__name__}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
