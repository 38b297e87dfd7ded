#!/usr/bin/env bash
# The part of demo.sh that runs in the lab's guest.
#
#   guest/demo.sh RESULTS_DIR SECONDS      environment: KACCEL_BUILD, OPENSSL_MODULES
set -euo pipefail
results=$1
seconds=$2
sizes=(16 64 128 256 512 1024 1424 2048 4096 8192 16384)
algorithm=aes-256-cbc
# shellcheck source=configuration.sh
. "$(dirname "${BASH_SOURCE[0]}")/configuration.sh"

echo "==> calibrating the simulated qce"
"$KACCEL_BUILD/calibrate/kaccel-calibrate" run --output "$results/kaccel-thresholds.cnf"

write_configurations "$results"

# Thousands of bytes per second, as openssl speed prints it ("12345.67k"), under one configuration.
speed() {
    OPENSSL_CONF=$results/$1.cnf openssl speed -elapsed -seconds "$seconds" -bytes "$2" \
        -evp "$algorithm" 2>/dev/null | awk 'END { sub(/k$/, "", $NF); print $NF }'
}

echo
echo "==> openssl speed -elapsed -evp $algorithm, thousands of bytes per second"
echo "    (virtual time: a router's CPU of 500 MHz, a SIMULATED qce)"
printf '%8s %14s %18s %20s\n' bytes default 'kaccel, hardware' 'kaccel, dispatching'
for size in "${sizes[@]}"; do
    printf '%8d %14s %18s %20s\n' "$size" "$(speed default "$size")" "$(speed hardware "$size")" \
        "$(speed dispatch "$size")"
done
