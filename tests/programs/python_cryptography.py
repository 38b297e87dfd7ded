"""Run by test_python.py: all that `cryptography`, which is linked to libcrypto, makes of a message.

    python_cryptography.py seal MESSAGE DIRECTORY    one file for each KIND
    python_cryptography.py open DIRECTORY OTHER      and back
"""

import sys
from pathlib import Path

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes, hmac, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY = bytes(range(1, 65))
IV = bytes(range(200, 216))
PIECE = 20000


def cipher(kind: str) -> Cipher:
    return {
        "cbc": lambda: Cipher(algorithms.AES(KEY[:32]), modes.CBC(IV)),
        "ecb": lambda: Cipher(algorithms.AES(KEY[:16]), modes.ECB()),
        "ctr": lambda: Cipher(algorithms.AES(KEY[:32]), modes.CTR(IV)),
        "xts": lambda: Cipher(algorithms.AES(KEY), modes.XTS(IV)),
        "des3": lambda: Cipher(algorithms.TripleDES(KEY[:24]), modes.CBC(IV[:8])),
    }[kind]()


def in_pieces(context, data: bytes, piece: int) -> bytes:
    parts = [context.update(data[at : at + piece]) for at in range(0, len(data), piece)]
    return b"".join(parts) + context.finalize()


def block_cipher(kind: str, data: bytes, seal: bool) -> bytes:
    # One update of XTS is one data unit.
    piece = len(data) if kind == "xts" else PIECE
    context = cipher(kind).encryptor() if seal else cipher(kind).decryptor()
    if kind in ("ctr", "xts"):
        return in_pieces(context, data, piece)
    pad = padding.PKCS7(64 if kind == "des3" else 128)
    if seal:
        return in_pieces(context, in_pieces(pad.padder(), data, piece), piece)
    return in_pieces(pad.unpadder(), in_pieces(context, data, piece), piece)


def gcm_in_pieces(data: bytes, seal: bool) -> bytes:
    if seal:
        context = Cipher(algorithms.AES(KEY[:32]), modes.GCM(IV[:12])).encryptor()
        context.authenticate_additional_data(b"header")
        return in_pieces(context, data, PIECE) + context.tag
    mode = modes.GCM(IV[:12], data[-16:])
    context = Cipher(algorithms.AES(KEY[:32]), mode).decryptor()
    context.authenticate_additional_data(b"header")
    return in_pieces(context, data[:-16], PIECE)


def aesgcm(data: bytes, seal: bool) -> bytes:
    aead = AESGCM(KEY[:16])
    return (aead.encrypt if seal else aead.decrypt)(IV[:12], data, b"header")


def fernet(data: bytes, seal: bool) -> bytes:
    token = Fernet(b"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
    # The time and IV are the caller's here, so that two runs compare.
    return token._encrypt_from_parts(data, 1700000000, IV) if seal else token.decrypt(data)


def mac(data: bytes) -> bytes:
    context = hmac.HMAC(KEY[:20], hashes.SHA256())
    context.update(data[: len(data) // 3])
    copy = context.copy()
    for part in (context, copy):
        part.update(data[len(data) // 3 :])
    tag = context.finalize()
    copy.verify(tag)
    return tag


KINDS = ("cbc", "ecb", "ctr", "xts", "des3", "gcm", "aesgcm", "fernet")


def run(kind: str, data: bytes, seal: bool) -> bytes:
    others = {"gcm": gcm_in_pieces, "aesgcm": aesgcm, "fernet": fernet}
    return others[kind](data, seal) if kind in others else block_cipher(kind, data, seal)


def main() -> None:
    command, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    target.mkdir()
    if command == "open":
        for kind in KINDS:
            (target / kind).write_bytes(run(kind, (source / kind).read_bytes(), False))
        return
    message = source.read_bytes()
    for kind in KINDS:
        # A data unit is whole sectors, and no longer than what one request carries.
        data = message[:65536] if kind == "xts" else message
        (target / kind).write_bytes(run(kind, data, True))
    (target / "hmac").write_bytes(mac(message))


main()
