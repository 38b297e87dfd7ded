"""Asks AF_ALG drivers of the running kernel and compares with known answers and with OpenSSL's software.

    afalg_check.py DRIVER...                right answers, also for many requests at once
    afalg_check.py --time DRIVER N          mean microseconds of N requests of 1 KiB to a cipher, one after the other
    afalg_check.py --together CIPHER HASH   milliseconds of one short request to each, made at the same time
"""

import ctypes
import errno
import hashlib
import hmac
import itertools
import random
import socket
import sys
import threading
import time

ENCRYPT, DECRYPT = socket.ALG_OP_ENCRYPT, socket.ALG_OP_DECRYPT

# Kernel name: OpenSSL's name by key size, block, IV size.
AES_SIZES = {16: "128", 24: "192", 32: "256"}
CIPHERS = {
    "ecb(aes)": ({size: f"AES-{bits}-ECB" for size, bits in AES_SIZES.items()}, 16, 0),
    "cbc(aes)": ({size: f"AES-{bits}-CBC" for size, bits in AES_SIZES.items()}, 16, 16),
    "ctr(aes)": ({size: f"AES-{bits}-CTR" for size, bits in AES_SIZES.items()}, 1, 16),
    "xts(aes)": ({32: "AES-128-XTS", 64: "AES-256-XTS"}, 16, 16),
    "ecb(des)": ({8: "DES-ECB"}, 8, 0),
    "cbc(des)": ({8: "DES-CBC"}, 8, 8),
    "ecb(des3_ede)": ({24: "DES-EDE3"}, 8, 0),
    "cbc(des3_ede)": ({24: "DES-EDE3-CBC"}, 8, 8),
}
HASHES = ("md5", "sha1", "sha224", "sha256")

# Where the answer does not come from OpenSSL. Kernel name, key, IV, plaintext, ciphertext.
NIST = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
KNOWN_CIPHERS = [
    # NIST SP 800-38A, F.1.1, F.2.1, F.2.5 and F.5.1: the first two blocks.
    ("ecb(aes)", "2b7e151628aed2a6abf7158809cf4f3c", "", NIST,
     "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"),
    ("cbc(aes)", "2b7e151628aed2a6abf7158809cf4f3c", "000102030405060708090a0b0c0d0e0f", NIST,
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"),
    ("cbc(aes)", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "000102030405060708090a0b0c0d0e0f", NIST,
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"),
    ("ctr(aes)", "2b7e151628aed2a6abf7158809cf4f3c", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", NIST,
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"),
    # FIPS 81, tables B1 and C1: "Now is the time for all " (and CBC's IV).
    ("ecb(des)", "0123456789abcdef", "", "4e6f77206973207468652074696d6520666f7220616c6c20",
     "3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53"),
    ("cbc(des)", "0123456789abcdef", "1234567890abcdef",
     "4e6f77206973207468652074696d6520666f7220616c6c20",
     "e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6"),
    # NIST SP 800-67, B.1: "The qufck brown fox jump".
    ("ecb(des3_ede)", "0123456789abcdef23456789abcdef01456789abcdef0123", "",
     "54686520717566636b2062726f776e20666f78206a756d70",
     "a826fd8ce53b855fcce21c8112256fe668d5c05dd9b6b900"),
]
# RFC 1321, FIPS 180, RFC 3874 for "abc"; RFC 2202 and RFC 4231, test case 2, for HMAC. Name, key, message, digest.
JEFE = (b"Jefe", b"what do ya want for nothing?")
KNOWN_HASHES = [
    ("md5", None, b"abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("sha1", None, b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("sha224", None, b"abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    ("sha256", None, b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("hmac(md5)", *JEFE, "750c783e6ab0b503eaa86e310a5db738"),
    ("hmac(sha1)", *JEFE, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    ("hmac(sha224)", *JEFE, "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44"),
    ("hmac(sha256)", *JEFE, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
]


class OpenSSL:
    """Ciphers of libcrypto, in a library context of their own: no configuration file changes them."""

    def __init__(self):
        lib = self.lib = ctypes.CDLL("libcrypto.so.3")
        for name in ("OSSL_LIB_CTX_new", "OSSL_PROVIDER_load", "EVP_CIPHER_fetch", "EVP_CIPHER_CTX_new"):
            getattr(lib, name).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(lib.OSSL_LIB_CTX_new())
        for provider in (b"default", b"legacy"):
            assert lib.OSSL_PROVIDER_load(self.context, provider), f"no OpenSSL provider {provider}"

    def crypt(self, name, direction, key, iv, data):
        lib = self.lib
        cipher = ctypes.c_void_p(lib.EVP_CIPHER_fetch(self.context, name.encode(), None))
        assert cipher, f"OpenSSL has no {name}"
        context = ctypes.c_void_p(lib.EVP_CIPHER_CTX_new())
        out, length = ctypes.create_string_buffer(len(data) + 32), ctypes.c_int()
        assert lib.EVP_CipherInit_ex2(context, cipher, key, iv or None, int(direction == ENCRYPT), None)
        lib.EVP_CIPHER_CTX_set_padding(context, 0)
        assert lib.EVP_CipherUpdate(context, out, ctypes.byref(length), data, len(data))
        lib.EVP_CIPHER_CTX_free(context)
        lib.EVP_CIPHER_free(cipher)
        return out.raw[:length.value]


def open_op(kind, driver, key=None):
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as tfm:
        tfm.bind((kind, driver))
        if key is not None:
            tfm.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, key)
        return tfm.accept()[0]


def crypt(op, direction, data, iv=b""):
    if iv:
        op.sendmsg_afalg([data], op=direction, iv=iv)
    else:
        op.sendmsg_afalg([data], op=direction)
    return op.recv(len(data))


def kernel_name(driver):
    name = None
    with open("/proc/crypto", encoding="ascii") as file:
        for line in file:
            field, _, value = (part.strip() for part in line.partition(":"))
            if field == "name":
                name = value
            elif field == "driver" and value == driver:
                return name
    raise AssertionError("not in /proc/crypto")


def at_once(threads, work):
    """Runs work(number) in so many threads; what one raises, the caller sees."""
    raised = []

    def run(number):
        try:
            work(number)
        except Exception as error:  # pylint: disable=broad-except
            raised.append(error)

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if raised:
        raise raised[0]


def check_cipher(driver, name):
    names, block, iv_size = CIPHERS[name]
    for known, key, iv, plain, cipher in KNOWN_CIPHERS:
        if known == name:
            key, iv, plain, cipher = (bytes.fromhex(text) for text in (key, iv, plain, cipher))
            with open_op("skcipher", driver, key) as op:
                assert crypt(op, ENCRYPT, plain, iv) == cipher, "wrong ciphertext for a known answer"
                assert crypt(op, DECRYPT, cipher, iv) == plain, "wrong plaintext for a known answer"

    openssl = OpenSSL()
    smallest = 16 if name.startswith("xts") else block
    sizes = [size - size % smallest for size in (smallest, 2 * smallest, 64, 512, 1424, 4096, 4096 + 32, 16384)]
    if name == "ctr(aes)":
        sizes += [1, 15, 17, 1000]

    def work(number):
        rng = random.Random(number)
        for (key_size, openssl_name), size in itertools.product(names.items(), sizes):
            key, iv, plain = rng.randbytes(key_size), rng.randbytes(iv_size), rng.randbytes(size)
            cipher = openssl.crypt(openssl_name, ENCRYPT, key, iv, plain)
            with open_op("skcipher", driver, key) as op:
                assert crypt(op, ENCRYPT, plain, iv) == cipher, f"wrong ciphertext: {openssl_name}, {size} bytes"
                assert crypt(op, DECRYPT, cipher, iv) == plain, f"wrong plaintext: {openssl_name}, {size} bytes"

    at_once(4, work)
    if name.startswith("cbc("):
        check_chained(driver, max(names), block)
    if "des3_ede" in name:
        check_equal_parts(driver, names[24], iv_size, openssl)


def check_chained(driver, key_size, block):
    """Requests with a chained IV must equal one long request; many through one socket each."""
    data = bytes(range(256)) * 64

    def work(_):
        with open_op("skcipher", driver, bytes(range(key_size))) as op:
            whole = crypt(op, ENCRYPT, data, bytes(block))
            for size in (16, 496, 4096, 8208):
                iv, parts = bytes(block), []
                for start in range(0, len(data), size):
                    parts.append(crypt(op, ENCRYPT, data[start:start + size], iv))
                    iv = parts[-1][-block:]
                assert b"".join(parts) == whole, f"requests of {size} bytes do not chain"

    at_once(8, work)


def check_equal_parts(driver, openssl_name, iv_size, openssl):
    """Triple DES with two equal parts of the key: qce refuses it, the others know it."""
    one, two = bytes.fromhex("0123456789abcdef"), bytes.fromhex("23456789abcdef01")
    for key in (one + one + two, one + two + two, one + two + one):
        iv, plain = bytes(iv_size), bytes(64)
        try:
            with open_op("skcipher", driver, key) as op:
                answer = crypt(op, ENCRYPT, plain, iv)
        except OSError as error:
            assert driver.endswith("-qce") and error.errno == errno.ENOKEY, f"key refused: {error}"
        else:
            assert not driver.endswith("-qce"), "a key with equal parts was taken"
            assert answer == openssl.crypt(openssl_name, ENCRYPT, key, iv, plain), "wrong with equal parts"


def check_hash(driver, name):
    keyed = name.startswith("hmac(")
    plain_name = name[5:-1] if keyed else name

    def expect(key, message):
        if keyed:
            return hmac.new(key, message, plain_name).digest()
        return hashlib.new(plain_name, message).digest()

    for known, key, message, digest in KNOWN_HASHES:
        if known == name:
            with open_op("hash", driver, key) as op:
                op.sendall(message)
                assert op.recv(64).hex() == digest, "wrong digest for a known answer"

    def check(op, key, parts):
        for part in parts[:-1]:
            op.send(part, socket.MSG_MORE)
        op.send(parts[-1])
        assert op.recv(64) == expect(key, b"".join(parts)), f"wrong digest: parts of {[len(p) for p in parts]} bytes"

    def check_copy(op, key, first, second, third):
        """accept() copies a running hash; both go on by themselves."""
        op.send(first, socket.MSG_MORE)
        with op.accept()[0] as copy:
            op.send(second)
            copy.send(third)
            assert op.recv(64) == expect(key, first + second), f"wrong after a copy at {len(first)} bytes"
            assert copy.recv(64) == expect(key, first + third), f"wrong in a copy at {len(first)} bytes"

    def work(number):
        rng = random.Random(number)
        for key_size in (1, 20, 64, 65, 131) if keyed else (None,):
            key = rng.randbytes(key_size) if keyed else None
            with open_op("hash", driver, key) as op:
                assert op.recv(64) == expect(key, b""), "wrong digest of nothing, not even sent"
                for size in (0, 1, 55, 56, 63, 64, 65, 127, 128, 129, 1000, 4096, 16384, 100000):
                    check(op, key, [rng.randbytes(size)])
                for sizes in ((0, 0), (0, 5), (64, 0), (1, 63), (64, 64), (65, 1), (3, 60, 1, 64, 200), (4096, 4097, 10), (70000, 1)):
                    check(op, key, [rng.randbytes(size) for size in sizes])
                for size in (0, 1, 63, 64, 65, 128, 5000):
                    check_copy(op, key, *(rng.randbytes(length) for length in (size, 10, 100)))

    at_once(4, work)


def check(driver):
    name = kernel_name(driver)
    if name in CIPHERS:
        check_cipher(driver, name)
    else:
        assert name.removeprefix("hmac(").rstrip(")") in HASHES, f"no answers for {name}"
        check_hash(driver, name)


def time_driver(driver, rounds):
    with open_op("skcipher", driver, bytes(range(16))) as op:
        data, iv = bytes(1024), bytes(16)
        for _ in range(8):
            crypt(op, ENCRYPT, data, iv)
        start = time.monotonic_ns()
        for _ in range(rounds):
            crypt(op, ENCRYPT, data, iv)
        print(round((time.monotonic_ns() - start) / rounds / 1000, 3))


def time_together(cipher, hash_driver):
    key_size = max(CIPHERS[kernel_name(cipher)][0])
    with open_op("skcipher", cipher, bytes(range(key_size))) as cipher_op, open_op("hash", hash_driver) as hash_op:
        requests = (lambda: crypt(cipher_op, ENCRYPT, bytes(16)), lambda: (hash_op.send(b"abc"), hash_op.recv(64)))
        start = time.monotonic_ns()
        at_once(2, lambda number: requests[number]())
        print((time.monotonic_ns() - start) // 1_000_000)


def main():
    if sys.argv[1] == "--time":
        time_driver(sys.argv[2], int(sys.argv[3]))
        return 0
    if sys.argv[1] == "--together":
        time_together(sys.argv[2], sys.argv[3])
        return 0
    wrong = 0
    for driver in sys.argv[1:]:
        try:
            check(driver)
            print(f"{driver}: right", flush=True)
        except (AssertionError, OSError) as error:
            wrong += 1
            print(f"{driver}: {error}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
