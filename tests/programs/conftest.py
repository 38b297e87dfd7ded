"""Fixtures of the tests with real programs; programs.py has what they are made of."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from programs import CALIBRATE, MODULE, Programs

# What this process computes is what the programs are compared with.
if os.environ.get("OPENSSL_CONF"):
    pytest.exit("OPENSSL_CONF is set: the expected values must come from plain OpenSSL", 2)


@pytest.fixture
def programs():
    """Not pytest's tmp_path: that is closed to the users that daemons change to."""
    for file in (MODULE, CALIBRATE):
        if not file.exists():
            pytest.fail(f"no {file}: build it, or set KACCEL_BUILD_DIR")
    directory = Path(tempfile.mkdtemp(prefix="kaccel-programs-"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        yield Programs(directory, stack)
