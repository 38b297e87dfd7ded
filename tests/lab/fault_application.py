"""An application of OpenSSL's EVP: what OPENSSL_CONF configures ciphers and authenticates messages.

    fault_application.py ALGORITHM=LENGTH[,LENGTH]...

Prints a line for each call with a digest of what came out, or that it was refused, and at last kaccel's counters where
kaccel is loaded.
"""

import ctypes
import hashlib
import sys

INIT_LOAD_CONFIG = 0x40
GET_TAG, SET_TAG = 0x10, 0x11
COUNTERS = ("hardware-calls", "fallbacks", "requests")

lib = ctypes.CDLL("libcrypto.so.3")
for function in ("EVP_CIPHER_fetch", "EVP_CIPHER_CTX_new", "OSSL_PROVIDER_load", "EVP_Q_mac"):
    getattr(lib, function).restype = ctypes.c_void_p


class OsslParam(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char_p), ("data_type", ctypes.c_uint), ("data", ctypes.c_void_p),
                ("data_size", ctypes.c_size_t), ("return_size", ctypes.c_size_t)]


def material(size, seed):
    return hashlib.shake_128(seed.encode()).digest(size)


class Cipher:
    """One context, which keeps its key."""

    def __init__(self, name):
        self.cipher = ctypes.c_void_p(lib.EVP_CIPHER_fetch(None, name.encode(), None))
        assert self.cipher, f"no {name}"
        self.is_gcm = name.endswith("GCM")
        self.key = material(64, "key")
        self.context = ctypes.c_void_p(lib.EVP_CIPHER_CTX_new())

    def crypt(self, encrypt, data, pieces=1, tag=None):
        """(bytes, tag), or None where OpenSSL refuses."""
        context = self.context
        out, length = ctypes.create_string_buffer(len(data) + 64), ctypes.c_int()
        assert lib.EVP_CipherInit_ex2(context, self.cipher, self.key, material(16, "iv"), int(encrypt), None)
        if tag:
            assert lib.EVP_CIPHER_CTX_ctrl(context, SET_TAG, len(tag), tag)
        done, piece = 0, -(-len(data) // pieces) or 1
        for start in range(0, len(data), piece):
            part = data[start:start + piece]
            if not lib.EVP_CipherUpdate(context, ctypes.byref(out, done), ctypes.byref(length), part, len(part)):
                return None
            done += length.value
        if not lib.EVP_CipherFinal_ex(context, ctypes.byref(out, done), ctypes.byref(length)):
            return None
        done += length.value
        if self.is_gcm and encrypt:
            tag = ctypes.create_string_buffer(16)
            assert lib.EVP_CIPHER_CTX_ctrl(context, GET_TAG, 16, tag)
            tag = tag.raw
        return out.raw[:done], tag


def mac(name, data):
    key = material(32, "key")
    out, size = ctypes.create_string_buffer(64), ctypes.c_size_t()
    if not lib.EVP_Q_mac(None, b"HMAC", None, name.removeprefix("HMAC-").encode(), None, key, ctypes.c_size_t(len(key)),
                         data, ctypes.c_size_t(len(data)), out, ctypes.c_size_t(64), ctypes.byref(size)):
        return None
    return out.raw[:size.value], None


def say(what, answer):
    text = "refused" if answer is None else hashlib.sha256(answer[0] + (answer[1] or b"")).hexdigest()
    print(f"{what}: {text}", flush=True)


def use(name, lengths):
    if name.startswith("HMAC-"):
        for length in lengths:
            say(f"{name} {length}", mac(name, material(length, "text")))
        return
    cipher = Cipher(name)
    # One context for both directions, and back. An update of XTS is a data unit of its own.
    for length in lengths:
        text = material(length, "text")
        for pieces in (1,) if name.endswith("XTS") else (1, 3):
            answer = cipher.crypt(True, text, pieces)
            say(f"{name} {length} encrypted in {pieces}", answer)
            if answer is None:
                continue
            back = cipher.crypt(False, answer[0], pieces, answer[1])
            say(f"{name} {length} decrypted in {pieces}", back)
            assert back and back[0] == text, f"{name} {length}: not the text that was encrypted"


def print_counters():
    """OSSL_PROVIDER_load() of a provider that the configuration has loaded gives that one."""
    if not lib.OSSL_PROVIDER_available(None, b"kaccel"):
        return
    provider = ctypes.c_void_p(lib.OSSL_PROVIDER_load(None, b"kaccel"))
    values = [ctypes.c_uint64() for _ in COUNTERS]
    params = (OsslParam * (len(COUNTERS) + 1))()
    for index, (name, value) in enumerate(zip(COUNTERS, values)):
        # 2: OSSL_PARAM_UNSIGNED_INTEGER
        params[index] = OsslParam(name.encode(), 2, ctypes.addressof(value), ctypes.sizeof(value), 0)
    assert lib.OSSL_PROVIDER_get_params(provider, params)
    for name, value in zip(COUNTERS, values):
        print(f"counter {name} {value.value}")


def main():
    lib.OPENSSL_init_crypto(ctypes.c_uint64(INIT_LOAD_CONFIG), None)
    for argument in sys.argv[1:]:
        name, _, lengths = argument.partition("=")
        use(name, map(int, lengths.split(",")))
    print_counters()


main()
