#!/usr/bin/env bash
# Runs in the guest, in virtual time: calibrates the simulated qce, then times AES-CBC four ways.
#
#   guest-figures.sh BUILD_DIR RESULTS_DIR      environment: OPENSSL_MODULES
set -euo pipefail
build=$1
results=$2
# shellcheck source=../../scripts/guest/configuration.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/guest/configuration.sh"

"$build/calibrate/kaccel-calibrate" run --quiet --algorithm AES-128-CBC --algorithm AES-256-CBC \
    --output "$results/kaccel-thresholds.cnf" >/dev/null
grep -E '^AES' "$results/kaccel-thresholds.cnf"
write_configurations "$results"
"$build/tests/bench/evp-bench" --algorithm AES-128-CBC AES-256-CBC --milliseconds 30 \
    --side "default=$results/default.cnf" --side "hardware=$results/hardware.cnf" \
    --side "dispatch=$results/dispatch.cnf" --raw cbc-aes-qce --json "$results/figures.json"
