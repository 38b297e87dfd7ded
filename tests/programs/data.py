"""What the programs are given: bytes that are the same in every run."""

import random
from pathlib import Path

KEYS = bytes(range(1, 65))
IV = bytes(range(200, 216))


def some_bytes(size: int, seed: int = 5) -> bytes:
    return random.Random(seed).randbytes(size)


# Above every threshold, no whole blocks, and more than what programs read at a time.
MEGABYTE = some_bytes((1 << 20) + 3)
# Below kaccel's limit for messages to an HMAC driver.
HALF_MEGABYTE = MEGABYTE[: 1 << 19]



def write_big(path: Path, megabytes: int, seed: int = 5) -> Path:
    """A file of so many MiB; no two of them are alike."""
    source = random.Random(seed)
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(source.randbytes(1 << 20))
    path.chmod(0o644)
    return path
