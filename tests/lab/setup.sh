#!/usr/bin/env bash
# Fetches what the lab needs, once: QEMU and friends as packages (only those that are missing, nothing
# installed is upgraded), and a Debian kernel with its headers, unpacked into a cache directory and
# never installed. Quick when everything is there.
#
#   setup.sh [--suite-kernel 6.12|7.2|7.3]
#
# The cache is $KACCEL_LAB_CACHE, or ~/.cache/kaccel-lab.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

suite_kernel=
while (($#)); do
    case $1 in
    --suite-kernel)
        suite_kernel=${2:?--suite-kernel needs a version}
        shift 2
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) lab_die 2 "unknown option $1" ;;
    esac
done

installed() {
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

retry() {
    local attempt
    for attempt in 1 2 3; do
        "$@" && return 0
        sleep $((attempt * 2))
    done
    return 1
}

install_packages() {
    local package missing=()
    for package in qemu-system-x86 busybox-static cpio kmod make gcc-12; do
        installed "$package" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    [[ $(id -u) == 0 ]] ||
        lab_die 1 "missing packages: ${missing[*]}; run this as root, or: apt-get install --no-install-recommends ${missing[*]}"
    lab_note "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    retry apt-get install -qq -y --no-install-recommends --no-upgrade "${missing[@]}" >"$lab_cache/apt.log" 2>&1 && return 0
    # A stale package list gives 404s: renew it once.
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends --no-upgrade "${missing[@]}"; } >>"$lab_cache/apt.log" 2>&1 ||
        lab_die 1 "could not install ${missing[*]} (no network?): see $lab_cache/apt.log"
}

# apt through our own sources list and state directory where another suite is wanted; /etc/apt is only read.
apt_options=()
private_apt() {
    local suite=$1
    local state=$lab_cache/apt-$suite
    mkdir -p "$state"/{lists/partial,cache/archives/partial}
    local mirror
    # shellcheck disable=SC2016  # apt's own variable
    mirror=$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' 2>/dev/null | grep -m1 -v security || true)
    [[ $mirror ]] || lab_die 1 "apt names no Debian mirror to take suite $suite from: check its sources list"
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
        "$mirror" "$suite" >"$state/sources.list"
    apt_options=(
        -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
        -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache"
    )
    retry apt-get "${apt_options[@]}" update -qq >"$lab_cache/apt.log" 2>&1 ||
        lab_die 1 "could not read the package list of $suite (no network?): see $lab_cache/apt.log"
}

# newest_dependency PACKAGE REGEX: the package that a meta package stands for.
newest_dependency() {
    apt-cache "${apt_options[@]}" depends "$1" 2>/dev/null |
        sed -n 's/^ *Depends: *//p' | grep -E -m1 "$2" || true
}

# What a headers package drags in, itself included: the linux-* packages only.
headers_closure() {
    apt-cache "${apt_options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts \
        --no-breaks --no-replaces --no-enhances "$1" 2>/dev/null |
        grep -E '^linux-(headers|kbuild|compiler-gcc|base-)' | grep -v -- '-dbg' | sort -u
}

download() {
    local dir=$1
    shift
    mkdir -p "$dir"
    # apt drops its privileges for a download when it can; a cache below a private home has it fall back.
    (cd "$dir" && retry apt-get "${apt_options[@]}" -o APT::Sandbox::User=root download -qq "$@") >"$lab_cache/apt.log" 2>&1 ||
        lab_die 1 "could not download $* (no network, or the package list is old: apt-get update): see $lab_cache/apt.log"
}

# Debian's header packages name each other by absolute path; point them into the unpacked tree.
relocate_headers() {
    local root=$1 version=$2
    local headers=$root/usr/src/linux-headers-$version
    [[ -d $headers ]] || return 0
    local file
    for file in "$headers/Makefile" "$headers/.kernelvariables"; do
        [[ -f $file ]] && sed -i "s#\([ =]\)/usr/src/#\1$root/usr/src/#g; s#\([ =]\)/usr/lib/linux-kbuild#\1$root/usr/lib/linux-kbuild#g" "$file"
    done
    ln -sfn "$headers" "$root/lib/modules/$version/build"
}

# fetch_kernel NAME IMAGE_PACKAGES HEADERS_PACKAGE
fetch_kernel() {
    local name=$1 images=$2 headers=$3
    local root=$lab_cache/kernels/$name
    if [[ -e $root/.complete ]]; then
        return 0
    fi
    local packages
    read -r -d '' -a packages <<<"$images $(headers_closure "$headers" | tr '\n' ' ')" || true
    lab_note "fetching kernel: ${packages[*]}"
    local staging deb
    staging=$(mktemp -d "$lab_cache/kernels/.new-XXXXXX")
    download "$staging/deb" "${packages[@]}"
    for deb in "$staging"/deb/*.deb; do
        dpkg -x "$deb" "$staging"
    done
    rm -rf "${staging:?}/deb" "${staging:?}/usr/share"
    # Newer packages carry the modules below /usr/lib.
    [[ -d $staging/lib/modules ]] || { mkdir -p "$staging/lib" && mv "$staging/usr/lib/modules" "$staging/lib/"; }
    local image version
    image=$(find "$staging/boot" "$staging/lib/modules" "$staging/usr" -name 'vmlinuz*' -type f 2>/dev/null | head -n1 || true)
    [[ $image ]] || lab_die 1 "no kernel image in ${packages[*]}"
    version=$(basename "$(find "$staging/lib/modules" -mindepth 1 -maxdepth 1 -type d | head -n1)")
    if [[ $image != "$staging/boot/vmlinuz-$version" ]]; then
        mkdir -p "$staging/boot"
        cp "$image" "$staging/boot/vmlinuz-$version"
    fi
    rm -rf "$root"
    mv "$staging" "$root"
    relocate_headers "$root" "$version"
    touch "$root/.complete"
}

# fetch_suite_kernel SUITE: prints the path of the image, for run.sh --kernel. Another suite's headers may need
# a compiler or C library that is not here; then the kernel serves without simulated devices.
fetch_suite_kernel() {
    local image headers parts found
    found=$(find "$lab_cache/kernels" -path "*/boot/vmlinuz-$suite_kernel*" | sort -V | tail -n1)
    if [[ ! $found ]]; then
        private_apt "$1"
        image=$(newest_dependency linux-image-amd64 '^linux-image-')
        headers=$(newest_dependency linux-headers-amd64 '^linux-headers-')
        [[ $image && $headers ]] || lab_die 1 "$1 has no linux-image-amd64"
        [[ $image == *-"$suite_kernel"* ]] ||
            lab_note "$1 no longer has $suite_kernel; taking ${image#linux-image-}"
        # Newer packages are in parts: the image depends on binary and modules.
        parts=$(apt-cache "${apt_options[@]}" depends "$image" | sed -n 's/^ *Depends: *\(linux-\(binary\|modules\)-.*\)/\1/p' | tr '\n' ' ')
        fetch_kernel "${image#linux-image-}" "$image $parts" "$headers"
        found=$(find "$lab_cache/kernels/${image#linux-image-}/boot" -name 'vmlinuz-*' | head -n1)
    fi
    printf '%s\n' "$found"
}

main() {
    mkdir -p "$lab_cache/kernels"
    exec 9>"$lab_cache/setup.lock"
    flock 9
    rm -rf "$lab_cache"/kernels/.new-* # of a run that was stopped
    install_packages
    local image headers name
    case $suite_kernel in
    '')
        if lab_default_kernel >/dev/null && [[ -e $lab_cache/kernels/default/.complete ]]; then
            return 0
        fi
        image=$(newest_dependency linux-image-amd64 '^linux-image-')
        headers=$(newest_dependency linux-headers-amd64 '^linux-headers-')
        [[ $image && $headers ]] || lab_die 1 "linux-image-amd64 is unknown to apt: run apt-get update"
        name=${image#linux-image-}
        fetch_kernel "$name" "$image" "$headers"
        ln -sfn "$name" "$lab_cache/kernels/default"
        ;;
    6.12) fetch_suite_kernel bookworm-backports ;;
    7.2) fetch_suite_kernel sid ;;
    7.3) fetch_suite_kernel experimental ;;
    *) lab_die 2 "--suite-kernel knows 6.12, 7.2 and 7.3, not '$suite_kernel'" ;;
    esac
}

main
