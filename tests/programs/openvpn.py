"""A tunnel: OpenVPN at both ends, each in a network namespace of its own."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from namespaces import Namespace, need_tun, two_namespaces
from programs import Programs, missing, need_tool, wait_for

PORT = 1194
ENDS = ("server", "client")


def make_certificates(directory: Path) -> Path:
    """NAME.crt, signed by itself, and NAME.key for both ends; each end trusts the other's."""
    empty = directory / "empty.cnf"
    empty.write_text("[req]\ndistinguished_name = name\n[name]\n")
    for end in ENDS:
        words = [need_tool("openssl"), "req", "-x509", "-config", empty, "-nodes", "-days", "30"]
        words += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", f"/CN={end}"]
        words += ["-keyout", directory / f"{end}.key", "-out", directory / f"{end}.crt"]
        environment = os.environ | {"OPENSSL_CONF": str(empty)}
        subprocess.run(words, check=True, capture_output=True, env=environment)
    return directory


@dataclass
class Tunnel:
    """Up when it is made. inside: the addresses at both ends of the tunnel, in the order of
    `namespaces`, the server's first. Both daemons are nobody's and have an empty root directory."""

    programs: Programs
    certificates: Path
    cipher: str
    digest: str
    inside: tuple[str, str] = ("10.99.0.1", "10.99.0.2")
    namespaces: tuple[Namespace, Namespace] = field(init=False)

    def __post_init__(self) -> None:
        openvpn = need_tool("openvpn")
        if os.geteuid() != 0:
            missing("OpenVPN opens a tunnel as root only")
        need_tun()
        self.namespaces = two_namespaces(self.programs)
        self.log = self.programs.directory / "openvpn.log"
        jail = self.programs.directory / "jail"
        jail.mkdir()
        for end in (0, 1):
            self.daemon = self.programs.start(
                *(openvpn, *self.common(jail), *self.of(end)),
                preexec_fn=self.namespaces[end].enter,
            )
        self.wait_until_said("Initialization Sequence Completed", 2)

    def common(self, jail: Path) -> list[object]:
        words = ["--dev", "tun", "--proto", "udp4", "--disable-dco", "--verb", "4"]
        words += ["--data-ciphers", self.cipher, "--data-ciphers-fallback", self.cipher]
        words += ["--auth", self.digest, "--cd", self.certificates]
        # New keys within a test, made by a process that sees no file any more.
        words += ["--reneg-bytes", "1500000", "--persist-tun", "--persist-key"]
        words += ["--user", "nobody", "--group", "nogroup"]
        return [*words, "--chroot", jail, "--tmp-dir", "/"]

    def of(self, end: int) -> list[object]:
        me, other = ENDS[end], ENDS[1 - end]
        words = ["--cert", f"{me}.crt", "--key", f"{me}.key", "--ca", f"{other}.crt"]
        words += ["--ifconfig", self.inside[end], self.inside[1 - end]]
        if me == "client":
            words += ["--remote", self.namespaces[0].address, PORT, "--nobind"]
            return [*words, "--tls-client"]
        words += ["--local", self.namespaces[0].address, "--port", PORT]
        return [*words, "--tls-server", "--dh", "none"]

    def wait_until_said(self, text: str, times: int) -> None:
        """By the two ends together."""

        def enough() -> bool:
            return self.log.read_text(errors="replace").count(text) >= times

        wait_for(enough, f"'{text}', {times} times", self.daemon, self.log)
