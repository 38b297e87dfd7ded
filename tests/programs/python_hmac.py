"""Run by test_python.py: the digests and HMACs of standard input by hashlib and hmac, as JSON."""

import hashlib
import hmac
import json
import sys

KEY = bytes(range(1, 65))

data = sys.stdin.buffer.read()
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
json.dump(seen, sys.stdout)
