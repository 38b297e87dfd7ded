# shellcheck shell=bash
# Shared by setup.sh, run.sh and selftest.sh: where the cache is, and how errors look.

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this file
lab_cache=${KACCEL_LAB_CACHE:-${HOME:-/root}/.cache/kaccel-lab}

lab_note() { printf 'lab: %s\n' "$*" >&2; }

# lab_die STATUS TEXT: one line, then out.
lab_die() {
    local status=$1
    shift
    lab_note "$*"
    exit "$status"
}

# lab_need COMMAND PACKAGE: names the Debian package that brings a missing command.
lab_need() {
    command -v "$1" >/dev/null 2>&1 ||
        lab_die 125 "$1 is missing: install package $2 (or run $lab_dir/setup.sh)"
}

# lab_kernel_version VMLINUZ: 6.1.0-57-amd64 for .../boot/vmlinuz-6.1.0-57-amd64
lab_kernel_version() {
    local name=${1##*/}
    printf '%s\n' "${name#vmlinuz-}"
}

# lab_default_kernel: the kernel that setup.sh fetched last without --suite-kernel.
lab_default_kernel() {
    local link=$lab_cache/kernels/default
    [[ -e $link ]] || return 1
    local image
    for image in "$link"/boot/vmlinuz-*; do
        [[ -e $image ]] && printf '%s\n' "$(readlink -f "$image")" && return 0
    done
    return 1
}
