# shellcheck shell=bash
# Shared by demo.sh and test.sh: where things are, what they say, what must be installed.

project_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lab=$project_dir/tests/lab

# Debian package names. The lab installs its own (tests/lab/setup.sh).
build_packages=(g++ cmake ninja-build pkg-config libssl-dev libmnl-dev libcli11-dev libfmt-dev
    nlohmann-json3-dev)
# shellcheck disable=SC2034  # used by test.sh
test_packages=(libgtest-dev libkcapi-dev clang clang-format clang-tidy openssl valgrind strace binutils
    python3-pytest python3-cryptography-vectors)
# Programs that tests/programs runs. Some bring services, which must not start.
# shellcheck disable=SC2034  # used by test.sh
program_packages=(curl nginx-light python3-cryptography openssh-server openssh-client openvpn iproute2)

# say TEXT: one line on what is being done.
say() { printf '==> %s\n' "$*"; }

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

is_installed() {
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# ensure_packages PACKAGE...: installs what is missing; upgrades nothing. Without root it names them.
ensure_packages() {
    command -v dpkg-query >/dev/null ||
        die "this is no Debian: install what these packages bring: $*"
    local package missing=()
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    [[ $(id -u) == 0 ]] ||
        die "missing packages: run as root, or: apt-get install --no-install-recommends ${missing[*]}"
    say "installing ${missing[*]}"
    local log
    log=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    local install=(apt-get install -y --no-install-recommends --no-upgrade "${missing[@]}")
    if ! "${install[@]}" >"$log" 2>&1; then
        # A new machine has no package list, or an old one.
        { apt-get update && "${install[@]}"; } >>"$log" 2>&1 || {
            tail -n 5 "$log" >&2
            die "could not install ${missing[*]}"
        }
    fi
    rm -f "$log"
}

# without_services COMMAND...: while it runs, packages that are installed start no service.
without_services() {
    local policy=/usr/sbin/policy-rc.d status=0
    [[ ! -e $policy && $(id -u) == 0 ]] || { "$@"; return; }
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    ("$@") || status=$? # a shell of its own: it may die, and the policy must go
    rm -f "$policy"
    ((status == 0)) || exit "$status"
}

# build PRESET [TARGET...]
build() {
    local preset=$1
    shift
    (cd "$project_dir" && cmake --preset "$preset" >/dev/null &&
        cmake --build --preset "$preset" -- --quiet ${1+"$@"})
}
