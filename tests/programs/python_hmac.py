"""Run by test_python.py: digests and HMACs of standard input by hashlib and hmac, as JSON.

    python_hmac.py SIZE...    of so many bytes of it
"""

import hashlib
import hmac
import json
import sys

KEY = bytes(range(1, 65))


def all_of(data: bytes) -> dict[str, str]:
    seen = {}
    for digest in ("md5", "sha1", "sha256", "sha512"):
        seen[f"hashlib {digest}"] = hashlib.new(digest, data).hexdigest()
        seen[f"one call {digest}"] = hmac.digest(KEY, data, digest).hex()
        context = hmac.new(KEY, digestmod=digest)
        context.update(data[:1000])
        copy = context.copy()
        context.update(data[1000:])
        seen[f"object {digest}"] = context.hexdigest()
        # hexdigest() leaves the object as it was, so it can go on.
        context.update(b"more")
        seen[f"longer {digest}"] = context.hexdigest()
        seen[f"copied {digest}"] = copy.hexdigest()
    seen["pbkdf2"] = hashlib.pbkdf2_hmac("sha256", data[:10], KEY, 1000).hex()
    seen["scrypt"] = hashlib.scrypt(data[:10], salt=KEY, n=1024, r=8, p=1).hex()
    return seen


message = sys.stdin.buffer.read()
json.dump({size: all_of(message[: int(size)]) for size in sys.argv[1:]}, sys.stdout)
