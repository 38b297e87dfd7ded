#!/usr/bin/env bash
# Runs in the guest, in virtual time: calibrates a simulated device, then times every kind of algorithm several ways.
#
#   guest-figures.sh BUILD_DIR RESULTS_DIR qce|eip93|padlock      environment: OPENSSL_MODULES
#
# Results: DEVICE-cbc.json, on qce with a bare socket loop beside it, and where the device has them -blocks.json,
# -messages.json and -records.json.
set -euo pipefail
build=$1
results=$2
device=$3
# shellcheck source=../../scripts/guest/configuration.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/guest/configuration.sh"

cbc=(AES-128-CBC AES-256-CBC)
raw=()
blocks=()
messages=()
records=()
case $device in
qce)
    raw=(--raw cbc-aes-qce)
    blocks=(AES-128-XTS AES-256-XTS DES-EDE3-CBC)
    messages=(AES-128-GCM AES-256-GCM HMAC-SHA256)
    records=(AES-128-GCM/TLS1.2 AES-256-GCM/TLS1.2)
    ;;
eip93)
    blocks=(AES-256-CTR DES-EDE3-CBC)
    messages=(AES-128-GCM HMAC-SHA256)
    ;;
padlock)
    blocks=(AES-128-ECB)
    ;;
esac

calibrate=("$build/calibrate/kaccel-calibrate" run --quiet --output "$results/kaccel-thresholds.cnf")
for name in "${cbc[@]}" "${blocks[@]}" "${messages[@]}"; do calibrate+=(--algorithm "$name"); done
"${calibrate[@]}" >/dev/null
grep -E '^[A-Z].*(encrypt|decrypt|threshold)' "$results/kaccel-thresholds.cnf"
write_configurations "$results"

# bench NAME OPTION...: times into RESULTS_DIR/DEVICE-NAME.json.
bench() {
    local name=$1
    shift
    "$build/tests/bench/evp-bench" --side "default=$results/default.cnf" \
        --side "hardware=$results/hardware.cnf" --side "dispatch=$results/dispatch.cnf" \
        --json "$results/$device-$name.json" "$@"
}
bench cbc --algorithm "${cbc[@]}" --milliseconds 30 "${raw[@]}"
((!${#blocks[@]})) || bench blocks --algorithm "${blocks[@]}" --milliseconds 15 --operations 20
# The published sizes as they are: messages need not be whole blocks.
sizes=(16 64 128 256 512 1024 1420 2048 4096 8192 16384)
((!${#messages[@]})) ||
    bench messages --algorithm "${messages[@]}" --size "${sizes[@]}" --milliseconds 15 --operations 20
((!${#records[@]})) ||
    bench records --algorithm "${records[@]}" --size 64 1420 16384 --milliseconds 15 --operations 20
