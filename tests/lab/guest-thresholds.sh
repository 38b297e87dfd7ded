#!/usr/bin/env bash
# Runs in the guest, in virtual time: calibrates a simulated device and compares with what was published of the real
# one; then calibrates everything the device has and compares the time with a limit.
#
#   guest-thresholds.sh BUILD_DIR qce|eip93|padlock      environment: OPENSSL_MODULES, with kaccel and legacy
set -euo pipefail
calibrate=$1/calibrate/kaccel-calibrate
device=$2
most_milliseconds=3000
failed=0

# judge TEXT CONDITION...: says how it went.
judge() {
    local text=$1
    shift
    if "$@"; then
        echo "ok     $text"
    else
        echo "FAILED $text"
        failed=1
    fi
}

# calibrated FILE OPTION...
calibrated() {
    local file=$1
    shift
    "$calibrate" run --quiet --output "$file" "$@" >/dev/null
}

# expect FILE KEY VALUE
expect() {
    local found
    found=$(sed -n "s/^${2//./\\.} = //p" "$1")
    judge "$device: $2 is $3, found ${found:-nothing}" test "$found" = "$3"
}

# Of the published groups, the algorithm that stands for each.
eip93_thresholds() {
    local file=/tmp/eip93.cnf name direction
    calibrated "$file" --algorithm AES-128-CBC --algorithm DES-CBC --algorithm DES-EDE3-CBC \
        --algorithm HMAC-MD5 --algorithm HMAC-SHA1 --algorithm HMAC-SHA224 --algorithm HMAC-SHA256
    for direction in encrypt decrypt; do
        expect "$file" "AES-128-CBC.$direction" 512
        expect "$file" "DES-CBC.$direction" 256
        expect "$file" "DES-EDE3-CBC.$direction" 64
    done
    for name in MD5 SHA1 SHA224 SHA256; do expect "$file" "HMAC-$name.threshold" -1; done
}

# As published, and with the latency at which they come out where software needs no system call (docs/devices.md).
qce_thresholds() {
    local file=/tmp/qce.cnf base=/sys/module/kaccel_sim/parameters/qce_base_ns fitted
    fitted=$(cat "$base")
    awk -F, -v OFS=, '{ print $1 - 6000, $2 - 6000, $3 - 6000 }' <<<"$fitted" >"$base"
    calibrated "$file" --sizes 256,512,768,1024 --algorithm AES-128-CBC --algorithm AES-256-CBC
    echo "$fitted" >"$base"
    expect "$file" AES-128-CBC.encrypt 768
    expect "$file" AES-256-CBC.encrypt 512
}

padlock_thresholds() { :; } # nothing is published

"${device}_thresholds"

# The first run brings the files into the guest's memory.
calibrated /tmp/all.cnf
before=${EPOCHREALTIME/./}
calibrated /tmp/all.cnf
milliseconds=$(((${EPOCHREALTIME/./} - before) / 1000))
groups=$(grep -c '\.driver = ' /tmp/all.cnf)
judge "$device: $groups algorithms calibrated in $milliseconds ms, at most $most_milliseconds" \
    test "$groups" -gt 0 -a "$milliseconds" -le "$most_milliseconds"
exit "$failed"
