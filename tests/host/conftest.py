"""Whole-process tests: real `openssl` commands with a configuration of their own.

KACCEL_BUILD_DIR names the build to test (default: build/release).
"""

import os
import shutil
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KACCEL_BUILD_DIR", ROOT / "build" / "release")).absolute()

ALGORITHMS = [f"AES-{bits}-{mode}" for mode in ("ECB", "CBC", "CTR") for bits in (128, 192, 256)]
KEY = bytes(range(1, 33))
IV = bytes(range(200, 216))


def thresholds(threshold: int, names: list[str] = ALGORITHMS) -> str:
    """Groups of the thresholds section. eip93's driver takes all key sizes."""
    groups = []
    for name in names:
        mode = name[-3:].lower()
        groups.append(
            f"{name}.encrypt = {threshold}\n"
            f"{name}.decrypt = {threshold}\n"
            f"{name}.driver = {mode}(aes-eip93)\n"
        )
    return "\n".join(groups)


@dataclass
class Host:
    """One test's directory, the build under test, and commands run with both."""

    directory: Path
    module_directory: Path = BUILD / "provider"
    environment: dict[str, str] = field(default_factory=dict)

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.directory / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def config(
        self,
        own: str = "activate = 1\nthresholds = kaccel_thresholds",
        section: str | None = None,
        others: tuple[str, ...] = (),
        properties: str = "",
        tail: str = "",
        name: str = "openssl.cnf",
    ) -> Path:
        """An openssl.cnf with kaccel and `others` as providers. `own` are the keys of kaccel's
        section, `section` those of the thresholds section (None: there is no such section)."""
        text = "openssl_conf = openssl_init\n\n[openssl_init]\nproviders = providers\n"
        if properties:
            text += "alg_section = algorithms\n"
        text += "\n[providers]\n"
        text += "".join(f"{other} = active\n" for other in others)
        if own:
            text += "kaccel = kaccel_sect\n"
        text += "\n[active]\nactivate = 1\n"
        if properties:
            text += f"\n[algorithms]\ndefault_properties = {properties}\n"
        text += f"\n[kaccel_sect]\n{own}\n"
        if section is not None:
            text += f"\n[kaccel_thresholds]\n{section}\n"
        return self.file(name, text + tail)

    def env(self, config: Path | None) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("OPENSSL_")}
        env["OPENSSL_MODULES"] = str(self.module_directory)
        env["OPENSSL_CONF"] = str(config or self.file("empty.cnf", ""))
        return env | self.environment

    def run(
        self,
        *command: object,
        config: Path | None = None,
        input: bytes = b"",
        check: bool = True,
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [str(word) for word in command],
            input=input,
            capture_output=True,
            env=self.env(config),
            timeout=timeout,
        )
        if check and done.returncode != 0:
            words = " ".join(str(word) for word in command)
            pytest.fail(f"{words}: exit status {done.returncode}\n{done.stderr.decode()}")
        return done

    def openssl(self, *arguments: object, **options) -> subprocess.CompletedProcess[bytes]:
        return self.run("openssl", *arguments, **options)

    def cipher(
        self,
        algorithm: str,
        data: bytes,
        config: Path | None,
        *more: str,
        decrypt: bool = False,
    ) -> bytes:
        """`openssl enc`: what comes out. Nothing on standard error is let pass."""
        words = cipher_arguments(algorithm) + (["-d"] if decrypt else []) + list(more)
        done = self.openssl(*words, config=config, input=data)
        assert done.stderr == b""
        return done.stdout


def cipher_arguments(algorithm: str) -> list[str]:
    key = KEY[: int(algorithm.split("-")[1]) // 8]
    words = ["enc", "-" + algorithm.lower(), "-K", key.hex()]
    return words if algorithm.endswith("ECB") else [*words, "-iv", IV.hex()]


def need_tool(tool: str, package: str = "") -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not there: install the package {package or tool}")


def need_program(path: str) -> Path:
    program = BUILD / path
    if not program.exists():
        pytest.skip(f"{program} has not been built")
    return program


@pytest.fixture
def host(tmp_path: Path) -> Host:
    if not (BUILD / "provider" / "kaccel.so").exists():
        pytest.fail(f"no provider/kaccel.so in {BUILD}: build it, or set KACCEL_BUILD_DIR")
    need_tool("openssl")
    return Host(tmp_path)


@pytest.fixture
def plaintext() -> bytes:
    """Long enough for every threshold in these tests, and not whole blocks."""
    return bytes((i * 7 + i // 256) % 256 for i in range(20011))


def kernel_has_af_alg() -> bool:
    try:
        socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).close()
        return True
    except (AttributeError, OSError):
        return False
