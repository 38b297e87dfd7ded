"""nginx with two prefork workers, and curl for its clients."""

import os
import signal
from pathlib import Path

from data import write_big
from programs import Programs, free_port, need_tool, wait_for

# Workers run as a user of their own where the test is root. Every file nginx writes lies in the
# test's directory. The worker that answers says who it is.
CONFIGURATION = """{user}
worker_processes 2;
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/nginx-error.log warn;
events {{ }}
http {{
    access_log off;
    {temporary}
    sendfile on;
    keepalive_requests 10000;
    client_max_body_size 1g;
    client_body_buffer_size 64k;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {public};
        ssl_certificate_key {private};
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_ciphers ALL;
        ssl_session_cache shared:sessions:1m;
        root {directory}/www;
        add_header X-Worker $pid;
        location /in/ {{
            dav_methods PUT;
        }}
    }}
}}
"""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class WebServer:
    """nginx, up and ready. `directory`/www is what it serves; PUT writes to /in/."""

    def __init__(self, programs: Programs, certificate: tuple[str, str], megabytes: int) -> None:
        self.programs = programs
        self.public, private = certificate
        self.port = free_port()
        directory = programs.directory
        self.root = directory / "www"
        (self.root / "in").mkdir(parents=True)
        self.big = write_big(self.root / "big", megabytes)
        self.page_size = (self.root / "page").write_bytes(b"a page\n" * 500)
        folders = [self.root / "in"] + [directory / ("temp-" + name) for name in TEMPORARY]
        for folder in folders:
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
        temporary = [f"{name}_temp_path {directory}/temp-{name};" for name in TEMPORARY]
        config = programs.file(
            "nginx.conf",
            CONFIGURATION.format(
                user="user nobody nogroup;" if os.geteuid() == 0 else "",
                directory=directory,
                temporary="\n    ".join(temporary),
                port=self.port,
                public=self.public,
                private=private,
            ),
        )
        nginx = need_tool("nginx", "nginx-light")
        # -e: what it says before it has read the file.
        words = [nginx, "-e", directory / "nginx-error.log", "-p", directory, "-c", config]
        self.master = programs.start(*words, port=self.port)

    def errors(self) -> str:
        return (self.programs.directory / "nginx-error.log").read_text()

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self.port}/{path}"

    def curl(self, *words: object, config: Path | None = None) -> bytes:
        """One curl; what it prints."""
        curl = need_tool("curl")
        command = [curl, "-q", "-sS", "--fail", "--noproxy", "*", "--cacert", self.public, *words]
        return self.programs.run(*command, config=config).stdout

    def worker(self, *words: object) -> str:
        """The process that answered a request for the small page."""
        shown = self.curl("-o", "/dev/null", "-D", "-", *words, self.url("page")).decode()
        headers = dict(line.split(": ", 1) for line in shown.splitlines() if ": " in line)
        return headers["X-Worker"]

    def reload(self) -> None:
        """New workers take over, as after a change of the configuration."""
        before = self.worker()
        self.master.send_signal(signal.SIGHUP)
        wait_for(lambda: self.worker() != before, "a new worker", self.master)
