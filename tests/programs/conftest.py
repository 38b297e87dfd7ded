"""Fixtures of the tests with real programs; programs.py has what they are made of."""

import contextlib
import os
import shutil
import subprocess
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


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Files of a certificate for 127.0.0.1 and its private RSA key, made without kaccel."""
    directory = tmp_path_factory.mktemp("certificate")
    config = directory / "request.cnf"
    config.write_text("[req]\ndistinguished_name = name\n[name]\n")
    public, private = str(directory / "certificate.pem"), str(directory / "key.pem")
    words = ["openssl", "req", "-x509", "-config", config, "-newkey", "rsa:2048", "-nodes"]
    words += ["-days", "30", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*words, "-keyout", private, "-out", public],
        check=True,
        capture_output=True,
        env=os.environ | {"OPENSSL_CONF": str(config)},
    )
    return public, private
