"""An sshd of the test's own on 127.0.0.1, its keys, and clients that trust it."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from programs import Programs, free_port, missing, need_tool

# What sshd changes to before a user has proved who he is, compiled in.
PRIVILEGE_SEPARATION = Path("/run/sshd")

# A user certificate for so many names has 2 KB; 4096-bit RSA keys make packets of that order too.
PRINCIPALS = [f"a-name-that-is-not-needed-{number:02}" for number in range(60)]


@dataclass(frozen=True)
class Keys:
    """Files of Ed25519 keys: the server's, an authority's, and a user's with the authority's
    certificate for `nobody`, `root` and PRINCIPALS beside it."""

    host: Path
    authority: Path
    user: Path


def make_keys(directory: Path) -> Keys:
    keygen = [need_tool("ssh-keygen", "openssh-client"), "-q"]
    keys = Keys(directory / "host", directory / "authority", directory / "user")
    for file in (keys.host, keys.authority, keys.user):
        subprocess.run([*keygen, "-t", "ed25519", "-N", "", "-f", file], check=True)
    names = ",".join(["nobody", "root", *PRINCIPALS])
    sign = ["-s", keys.authority, "-I", "the test's user", "-n", names, f"{keys.user}.pub"]
    subprocess.run([*keygen, *sign], check=True)
    return keys


class SshServer:
    """A running sshd. port: where; log: what it said, at LogLevel DEBUG3."""

    def __init__(self, programs: Programs, keys: Keys, banner: str = "") -> None:
        sshd = need_tool("sshd", "openssh-server")
        if os.geteuid() != 0:
            missing("sshd separates its privileges as root only")
        PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
        self.programs, self.keys = programs, keys
        self.port = free_port()
        self.log = programs.directory / "sshd.log"
        host_key = keys.host.with_suffix(".pub").read_text()
        self.known_hosts = programs.file("known_hosts", f"[127.0.0.1]:{self.port} {host_key}")
        words = [
            f"ListenAddress 127.0.0.1:{self.port}",
            f"HostKey {keys.host}",
            f"TrustedUserCAKeys {keys.authority}.pub",
            "AuthenticationMethods publickey",
            "PermitRootLogin yes",
            "UsePAM no",
            "StrictModes no",
            "PidFile none",
            "Subsystem sftp internal-sftp",
            # No cipher of this list is OpenSSL's default or ChaCha20: the test's or none.
            "Ciphers aes256-ctr,aes256-cbc,aes256-gcm@openssh.com",
            "MACs hmac-sha2-256,hmac-sha2-256-etm@openssh.com",
            "LogLevel DEBUG3",
        ]
        if banner:
            words.append(f"Banner {programs.file('banner', banner)}")
        config = programs.file("sshd_config", "\n".join(words) + "\n")
        programs.start(sshd, "-D", "-e", "-f", config, port=self.port)

    def client(self, cipher: str, mac: str = "hmac-sha2-256", user: str = "root") -> list[str]:
        """Options for ssh and scp: nothing of the machine's or the user's own configuration."""
        options = {
            "BatchMode": "yes",
            "Ciphers": cipher,
            "GlobalKnownHostsFile": "none",
            "IdentitiesOnly": "yes",
            "IdentityFile": self.keys.user,
            "KexAlgorithms": "curve25519-sha256",
            "LogLevel": "DEBUG1",
            "MACs": mac,
            "Port": self.port,
            "StrictHostKeyChecking": "yes",
            "User": user,
            "UserKnownHostsFile": self.known_hosts,
        }
        return ["-F", "none", *(f"-o{name}={value}" for name, value in options.items())]

    def said(self, pattern: str) -> list[str]:
        return re.findall(pattern, self.log.read_text(errors="replace"))

    def explain(self) -> str:
        """For a login that failed: what sshd had to say in the end."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
