#!/usr/bin/env bash
# kaccel's main job, from nothing, in one command: installs what is missing, builds, boots a guest with a
# SIMULATED Qualcomm qce, calibrates it there, and shows `openssl speed` for AES-256-CBC three ways:
# OpenSSL's default provider, kaccel forced to hardware, kaccel deciding by the thresholds it measured.
#
#   demo.sh [--seconds N]     N: seconds of the guest's time for each figure (default 1)
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

seconds=1
while (($#)); do
    case $1 in
    --seconds)
        seconds=${2:-}
        [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number, not '$seconds'"
        shift 2
        ;;
    -h | --help)
        sed -n '2,6s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) die "unknown option $1 (known: --seconds)" ;;
    esac
done

say "checking the packages that building needs"
ensure_packages "${build_packages[@]}" openssl
say "checking what the lab needs (QEMU, a Debian kernel)"
"$lab/setup.sh"
say "building kaccel in build/release"
build release kaccel kaccel-calibrate

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
say "booting the lab with a simulated qce, in virtual time; about five minutes"
KACCEL_BUILD=$project_dir/build/release OPENSSL_MODULES=$project_dir/build/release/provider \
    "$lab/run.sh" --virtual-time --router-cpu --device qce --bind "$results" --timeout 3000 -- \
    "$project_dir/scripts/guest/demo.sh" "$results" "$seconds"
