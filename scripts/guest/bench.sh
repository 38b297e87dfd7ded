#!/usr/bin/env bash
# The part of bench.sh that runs in the lab's guest: calibrates, then times all sides.
#
#   guest/bench.sh BUILD_DIR RESULTS_DIR [PEER_BENCH_OPTION]...      environment: OPENSSL_MODULES
#
# Result: RESULTS_DIR/figures.json.
set -euo pipefail
build=$1
results=$2
shift 2
guest_scripts=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=configuration.sh
. "$guest_scripts/configuration.sh"

# The algorithms asked for are the ones to calibrate.
calibrate=("$build/calibrate/kaccel-calibrate" run --quiet --output "$results/kaccel-thresholds.cnf")
algorithms=()
for word; do
    case $word in
    AES-* | DES-* | HMAC-*) algorithms+=(--algorithm "$word") ;;
    esac
done
"${calibrate[@]}" "${algorithms[@]}" >"$results/calibration.log" 2>&1 || {
    status=$?
    cat "$results/calibration.log" >&2
    exit "$status"
}
write_configurations "$results"

driver=$(awk -F ' *= *' '/^AES-(128|256)-CBC\.driver/ { print $2; exit }' "$results/kaccel-thresholds.cnf")
[[ ! $driver ]] || python3 "$guest_scripts/prefer_driver.py" "$driver"

"$build/tests/bench/peer-bench" --side "default=$results/default.cnf" \
    --side "kaccel=$results/dispatch.cnf" --hardware-side "kaccel-hardware=$results/hardware.cnf" \
    --json "$results/figures.json" "$@"
