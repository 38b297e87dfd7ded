#!/usr/bin/env bash
# Runs in the guest, in virtual time: calibrates the simulated qce, then times every kind of algorithm
# several ways.
#
#   guest-figures.sh BUILD_DIR RESULTS_DIR      environment: OPENSSL_MODULES
#
# Results: cbc.json, with a bare socket loop beside it, blocks.json, messages.json and records.json.
set -euo pipefail
build=$1
results=$2
# shellcheck source=../../scripts/guest/configuration.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/guest/configuration.sh"

blocks=(AES-128-XTS AES-256-XTS DES-EDE3-CBC)
messages=(AES-128-GCM AES-256-GCM HMAC-SHA256)
records=(AES-128-GCM/TLS1.2 AES-256-GCM/TLS1.2)

calibrate=("$build/calibrate/kaccel-calibrate" run --quiet --output "$results/kaccel-thresholds.cnf")
for name in AES-128-CBC AES-256-CBC "${blocks[@]}" "${messages[@]}"; do calibrate+=(--algorithm "$name"); done
"${calibrate[@]}" >/dev/null
grep -E '^[A-Z].*(encrypt|decrypt|threshold)' "$results/kaccel-thresholds.cnf"
write_configurations "$results"

# bench NAME OPTION...: times into RESULTS_DIR/NAME.json.
bench() {
    local name=$1
    shift
    "$build/tests/bench/evp-bench" --side "default=$results/default.cnf" \
        --side "hardware=$results/hardware.cnf" --side "dispatch=$results/dispatch.cnf" \
        --json "$results/$name.json" "$@"
}
bench cbc --algorithm AES-128-CBC AES-256-CBC --milliseconds 30 --raw cbc-aes-qce
bench blocks --algorithm "${blocks[@]}" --milliseconds 15 --operations 20
# The published sizes as they are: messages need not be whole blocks.
sizes=(16 64 128 256 512 1024 1420 2048 4096 8192 16384)
bench messages --algorithm "${messages[@]}" --size "${sizes[@]}" --milliseconds 15 --operations 20
bench records --algorithm "${records[@]}" --size 64 1420 16384 --milliseconds 15 --operations 20
