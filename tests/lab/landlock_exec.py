"""Runs a command under a Landlock ruleset (landlock(7)) with everything handled that the kernel knows.

    landlock_exec.py [--without NAME]... COMMAND...

Every directory of the root may be read and its files executed, but not those named; nothing may be written. From
Linux 6.7 on no TCP port may be bound or connected to, from 6.12 on nothing outside may be signalled.
"""

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS = 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on all architectures
ASK_VERSION, PATH_BENEATH = 1, 1
EXECUTE, READ_FILE, READ_DIR = 1, 4, 8
FS_ACCESSES = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many there are, by the version
TCP_ACCESSES, SCOPES = 3, 3

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        sys.exit(f"landlock_exec.py: system call {number}: {os.strerror(ctypes.get_errno())}")
    return result


def put_on(without):
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION)
    handled = [(1 << FS_ACCESSES[min(version, 5)]) - 1]
    if version >= 4:
        handled.append(TCP_ACCESSES)
    if version >= 6:
        handled.append(SCOPES)
    attributes = struct.pack(f"{len(handled)}Q", *handled)
    ruleset = call(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    for name in os.listdir("/"):
        if name in without or not os.path.isdir(f"/{name}"):
            continue
        directory = os.open(f"/{name}", os.O_PATH | os.O_CLOEXEC)
        call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", EXECUTE | READ_FILE | READ_DIR, directory), 0)
        os.close(directory)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        sys.exit("landlock_exec.py: no prctl")
    call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    for path, flags in [("/tmp/landlock", os.O_WRONLY | os.O_CREAT)] + [(f"/{name}", os.O_RDONLY) for name in without]:
        try:
            os.open(path, flags)
        except PermissionError:
            continue
        sys.exit(f"landlock_exec.py: {path} is not closed")


if __name__ == "__main__":
    words, closed = sys.argv[1:], []
    while words[0] == "--without":
        closed.append(words[1])
        words = words[2:]
    put_on(closed)
    os.execvp(words[0], words)
