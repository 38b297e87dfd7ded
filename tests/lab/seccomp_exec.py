"""Runs a command under a seccomp filter that answers socket(AF_ALG) with an errno.

    seccomp_exec.py ERRNO COMMAND...     ERRNO as a name, e.g. EPERM; NONE: a filter that denies nothing

x86-64 only, as the lab's guest is.
"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SYS_SOCKET, AF_ALG = 41, 38
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER_OFFSET, FIRST_ARGUMENT_OFFSET = 0, 16  # in struct seccomp_data


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def put_on(answer):
    instructions = [
        (LOAD, 0, 0, NUMBER_OFFSET),
        (JUMP_IF_EQUAL, 0, 3, SYS_SOCKET),
        (LOAD, 0, 0, FIRST_ARGUMENT_OFFSET),
        (JUMP_IF_EQUAL, 0, 1, AF_ALG),
        (RETURN, 0, 0, answer),
        (RETURN, 0, 0, RET_ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in instructions))
    program = Program(len(instructions), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        sys.exit(f"seccomp_exec.py: no filter: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    put_on(RET_ALLOW if sys.argv[1] == "NONE" else RET_ERRNO | getattr(errno, sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
