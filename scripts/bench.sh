#!/usr/bin/env bash
# kaccel beside its peers, from nothing, in one command: installs what is missing, builds, boots a guest with
# a SIMULATED device in virtual time, calibrates it there, and times the same messages by OpenSSL's default
# provider, OpenSSL's afalg engine, libkcapi, a raw AF_ALG socket and kaccel; then counts on the host what
# kaccel adds, in instructions, to messages that stay in software. Five minutes of CPU time.
#
#   bench.sh [--device qce|eip93|padlock] [--json FILE] [--decrypt] [--quick] [--build DIR] [--every-side]
#
#   --device      the simulated device (default qce)
#   --json FILE   the same figures for a program
#   --decrypt     both directions; takes nearly twice as long
#   --quick       two algorithms and three sizes, no instruction counts, to see that it works
#   --build DIR   a build that is there already, with tests; nothing is installed or built
#   --every-side  a peer that cannot be had is a failure
#
# Exit status 1 where a side gave a wrong result or a cell is missing.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

device=qce json="" quick=0 build_dir="" report_options=()
directions=(encrypt)
while (($#)); do
    case $1 in
    --device)
        device=${2:-}
        [[ $device =~ ^(qce|eip93|padlock)$ ]] || die "--device is qce, eip93 or padlock, not '$device'"
        shift
        ;;
    --json)
        json=${2:-}
        [[ $json ]] || die "--json needs a file"
        touch "$json" 2>/dev/null || die "--json $json: cannot be written"
        shift
        ;;
    --build)
        build_dir=${2:-}
        [[ -x $build_dir/tests/bench/peer-bench ]] || die "--build needs a build with tests; no peer-bench in '$build_dir'"
        build_dir=$(cd "$build_dir" && pwd)
        shift
        ;;
    --decrypt) directions=(encrypt decrypt) ;;
    --quick) quick=1 ;;
    --every-side) report_options+=(--every-side) ;;
    -h | --help)
        sed -n '2,16s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) die "unknown option $1 (-h lists them)" ;;
    esac
    shift
done

if [[ ! $build_dir ]]; then
    say "checking the packages that building and the bench need" >&2
    ensure_packages "${build_packages[@]}" openssl libgtest-dev libkcapi-dev valgrind python3 >&2
    say "checking what the lab needs (QEMU, a Debian kernel)" >&2
    "$lab/setup.sh" >&2
    say "building kaccel in build/release" >&2
    build release kaccel kaccel-calibrate peer-bench count-calls >&2
    build_dir=$project_dir/build/release
fi

algorithms=(AES-128-CBC AES-256-CBC AES-128-CTR AES-256-CTR AES-128-XTS AES-256-XTS AES-128-GCM AES-256-GCM
    DES-EDE3-CBC HMAC-SHA256)
sizes=(16 64 128 256 512 1024 1420 2048 4096 8192 16384)
milliseconds=10
if ((quick)); then
    algorithms=(AES-256-CBC HMAC-SHA256) sizes=(64 1024 16384) milliseconds=3
fi

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
say "booting the lab with a simulated $device, in virtual time" >&2
OPENSSL_MODULES=$build_dir/provider \
    "$lab/run.sh" --virtual-time --router-cpu --device "$device" --bind "$results" --timeout 3000 -- \
    "$project_dir/scripts/guest/bench.sh" "$build_dir" "$results" --milliseconds "$milliseconds" \
    --algorithm "${algorithms[@]}" --size "${sizes[@]}" --direction "${directions[@]}"

if ((!quick)); then
    say "counting instructions on the host" >&2
    python3 "$project_dir/tests/bench/instruction_counts.py" "$build_dir" "$results/counts.json" \
        --algorithm "${algorithms[@]}"
    report_options+=(--instructions "$results/counts.json")
fi
[[ ! $json ]] || report_options+=(--json "$json")
python3 "$project_dir/tests/bench/report.py" "$results/figures.json" --device "$device" "${report_options[@]}"
