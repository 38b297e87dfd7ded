#!/usr/bin/env bash
# The tests that need a real kernel, run in the lab.
#
#   tests.sh BUILD_DIR [PART]...     default: all
#
# Virtual time does not feel the load of the machine and keeps one core busy; the other guests leave most of the other
# core idle. So the two kinds run side by side, one guest of each at a time; what the second says is shown at the end.
# The lab's own tests go with the second kind, which would be done in half of the time.
#
#   lab         the lab itself (selftest.sh)
#   qce         known answers and differential tests on the simulated qce
#   eip93       the same on the simulated eip93, at threshold 0; and public reports: it takes 16 bytes, qce does not
#   virtio      the same, fewer, on QEMU's virtio-crypto
#   fork        a thread ciphers on a slow simulated qce while another forks
#   life        on the simulated qce: forks, threads, descriptors, ends of processes, and public reports
#   load        on the simulated qce: 10,000 live contexts; 16 threads with 1,000 each
#   soak        mixed operations on eight threads with forks, on the simulated qce
#   tls         connections through libssl on the simulated qce, hardware always and calibrated
#   programs    curl, nginx, Python and others, which know nothing of kaccel, on the simulated qce (tests/programs)
#   walls       seccomp filters, small buffers, drivers that answer EBUSY, a kernel without algif_skcipher and algif_hash
#   faults      simulated devices that lie, fail, dawdle and hang: calibration finds it, an application never sees it
# on kernels that are fetched first (270 MB), and only when named:
#   hidden      Linux 7.2 and 7.3, which hide hardware drivers from AF_ALG
# and in virtual time:
#   keys        what loading keys costs, on the simulated padlock and qce
#   figures     each simulated device: dispatch against both sides; on qce a bare socket loop too
#   thresholds  each simulated device: against the published thresholds, and how long calibrating takes
#   bench       a small part of scripts/bench.sh, every peer right and no cell missing
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set -/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
fi
[[ ${1:-} && -d $1 ]] || lab_die 2 "tests.sh needs a build directory: tests.sh build/release"
build=$(cd "$1" && pwd)
shift
parts=("$@")
((${#parts[@]})) || parts=(lab qce eip93 virtio fork life load soak tls programs walls faults keys figures thresholds bench)
second_lane=(lab keys figures thresholds bench)

vectors=$build/tests/vectors/vectors-test
differential=$build/tests/differential/differential-test
life=$build/tests/life/life-test
load=$build/tests/load/load-test

# drivers ALGORITHM=DRIVER...: joined with commas.
drivers() (
    IFS=,
    printf '%s' "$*"
)

# The one-line results of a GoogleTest program, everything where it fails.
guest_tests='set -e
for command; do
    sh -c "$command" >/tmp/guest-test.log 2>&1 || { cat /tmp/guest-test.log; exit 1; }
    grep -E "tests? ran|PASSED|SKIPPED.*below" /tmp/guest-test.log
done'

test_lab() { "$lab_dir/selftest.sh"; }

# on_device DEVICE DRIVERS COMMAND...: test programs on one device, DRIVERS as KACCEL_TEST_DRIVERS.
on_device() {
    local device=$1 drivers=$2
    shift 2
    KACCEL_TEST_TRANSPORT=afalg KACCEL_TEST_DRIVERS=$drivers \
        "$lab_dir/run.sh" --device "$device" --timeout 1800 -- sh -c "$guest_tests" sh "$@"
}

test_qce() {
    KACCEL_TEST_ROUNDS=60 on_device qce "$(drivers \
        'ecb(aes)=ecb-aes-qce' 'cbc(aes)=cbc-aes-qce' 'ctr(aes)=ctr-aes-qce' 'xts(aes)=xts-aes-qce' \
        'ecb(des)=ecb-des-qce' 'cbc(des)=cbc-des-qce' \
        'ecb(des3_ede)=ecb-3des-qce' 'cbc(des3_ede)=cbc-3des-qce' \
        'hmac(sha1)=hmac-sha1-qce' 'hmac(sha256)=hmac-sha256-qce')" "$vectors --gtest_filter=-*Faults*" \
        "$differential"
}

test_eip93() {
    KACCEL_TEST_ROUNDS=30 on_device eip93 "$(drivers \
        'ecb(aes)=ecb(aes-eip93)' 'cbc(aes)=cbc(aes-eip93)' 'ctr(aes)=ctr(aes-eip93)' \
        'ecb(des)=ecb(des-eip93)' 'cbc(des)=cbc(des-eip93)' \
        'ecb(des3_ede)=ecb(des3_ede-eip93)' 'cbc(des3_ede)=cbc(des3_ede-eip93)' \
        'hmac(md5)=hmac(md5-eip93)' 'hmac(sha1)=hmac(sha1-eip93)' \
        'hmac(sha224)=hmac(sha224-eip93)' 'hmac(sha256)=hmac(sha256-eip93)')" \
        "$vectors --gtest_filter=-*threshold_never:*threshold_16:*Faults*:*ThresholdBorder*" "$differential" \
        "$life --gtest_filter=PublicReports.*"
}

# The device's time is the window in which output could be lost; queued requests widen it.
test_fork() {
    on_device qce 'ctr(aes)=ctr-aes-qce' \
        "echo 3000000,3000000,3000000 >/sys/module/kaccel_sim/parameters/qce_base_ns
            for i in 1 2 3; do $differential --gtest_filter=ForkWhileCiphering.* >/dev/null & done
            $differential --gtest_filter=ForkWhileCiphering.*"
}

# Nothing may be skipped here. Last come the smallest send buffer that the kernel allows and an engine that hangs on
# the XTS units that the real one hangs on.
test_life() {
    on_device qce "$(drivers \
        'ecb(aes)=ecb-aes-qce' 'cbc(aes)=cbc-aes-qce' 'ctr(aes)=ctr-aes-qce' 'xts(aes)=xts-aes-qce' \
        'cbc(des3_ede)=cbc-3des-qce' 'hmac(sha1)=hmac-sha1-qce' 'hmac(sha256)=hmac-sha256-qce')" \
        "$life --gtest_brief=1 >/tmp/life.log 2>&1; status=\$?; cat /tmp/life.log
            [ \$status = 0 ] && ! grep Skipped /tmp/life.log" \
        "echo 1 >/sys/module/kaccel_sim/parameters/qce_fault_xts
            echo 4608 >/proc/sys/net/core/wmem_default; $life --gtest_filter=PublicReports.*"
}

test_load() {
    KACCEL_TEST_LOAD_ROUNDS=2 on_device qce "$(drivers \
        'ecb(aes)=ecb-aes-qce' 'cbc(aes)=cbc-aes-qce' 'ctr(aes)=ctr-aes-qce' 'xts(aes)=xts-aes-qce' \
        'cbc(des3_ede)=cbc-3des-qce' 'hmac(sha256)=hmac-sha256-qce')" "$load"
}

test_soak() {
    KACCEL_TEST_SOAK_OPERATIONS=40000 on_device qce "$(drivers \
        'ecb(aes)=ecb-aes-qce' 'cbc(aes)=cbc-aes-qce' 'ctr(aes)=ctr-aes-qce' 'xts(aes)=xts-aes-qce' \
        'cbc(des3_ede)=cbc-3des-qce' 'hmac(sha256)=hmac-sha256-qce')" "$build/tests/soak/soak-test"
}

# Twice each, since the clock runs ahead while the guest waits for the host's files.
test_keys() {
    local results device status=0
    results=$(mktemp -d)
    for device in padlock qce; do
        # shellcheck disable=SC2016  # the guest's shell expands them
        "$lab_dir/run.sh" --virtual-time --router-cpu --device "$device" --bind "$results" --timeout 1200 -- \
            sh -c '"$1" --driver "$2" --requests 50 --size 64 >/dev/null && "$1" --driver "$2" --json "$3"' sh \
            "$build/tests/bench/key-load-bench" "cbc-aes-$device" "$results/$device.json" || status=$?
    done
    ((status == 0)) &&
        python3 "$lab_dir/check_key_loads.py" "$results/padlock.json=30" "$results/qce.json=30" || status=1
    rm -rf "$results"
    return "$status"
}

test_tls() {
    "$lab_dir/run.sh" --device qce --timeout 1800 -- "$lab_dir/guest-tls.sh" "$build"
}

# KACCEL_TEST_DEVICE: a program that is missing, or that does not use the device, is a failure.
test_programs() {
    KACCEL_BUILD_DIR=$build KACCEL_TEST_DEVICE=qce \
        "$lab_dir/run.sh" --device qce --timeout 1800 -- \
        /usr/bin/python3 -m pytest -q -p no:cacheprovider --durations=5 "$lab_dir/../programs"
}

test_walls() {
    local failed=0
    "$lab_dir/run.sh" --device qce --timeout 1800 -- \
        /usr/bin/python3 "$lab_dir/guest_walls.py" "$build" qce || failed=1
    "$lab_dir/run.sh" --device qce --without algif_skcipher --without algif_hash -- \
        /usr/bin/python3 "$lab_dir/guest_walls.py" "$build" missing || failed=1
    return "$failed"
}

# One CPU: see run.sh.
test_hidden() {
    local suite kernel failed=0
    for suite in 7.2 7.3; do
        kernel=$("$lab_dir/setup.sh" --suite-kernel "$suite") &&
            "$lab_dir/run.sh" --kernel "$kernel" --one-cpu --device virtio -- \
                /usr/bin/python3 "$lab_dir/guest_walls.py" "$build" hidden "$suite" || failed=1
    done
    return "$failed"
}

# Time-outs of the guest's own are part of it, so no virtual time.
test_faults() {
    "$lab_dir/run.sh" --device qce --device eip93 --timeout 3600 -- \
        /usr/bin/python3 "$lab_dir/guest_faults.py" "$build"
}

test_virtio() {
    KACCEL_TEST_TRANSPORT=afalg KACCEL_TEST_ROUNDS=30 \
        KACCEL_TEST_DRIVERS='cbc(aes)=virtio_crypto_aes_cbc' \
        "$lab_dir/run.sh" --device virtio --timeout 1200 -- \
        sh -c "$guest_tests" sh "$vectors --gtest_filter=*CBCMMT*:*Wycheproof*:-*Faults*" \
        "$differential --gtest_filter=*DefaultProviderDoes/AES*CBC"
}

# figures DEVICE FILE=CELLS...
figures() {
    local device=$1 results status=0
    shift
    results=$(mktemp -d)
    OPENSSL_MODULES=$build/provider \
        "$lab_dir/run.sh" --virtual-time --router-cpu --device "$device" --bind "$results" --timeout 1800 -- \
        "$lab_dir/guest-figures.sh" "$build" "$results" "$device" &&
        python3 "$lab_dir/check_figures.py" "${@/#/$results/$device-}" || status=$?
    rm -rf "$results"
    return "$status"
}

test_figures() {
    local failed=0
    figures qce cbc.json=44 blocks.json=66 messages.json=55 records.json=12 || failed=1
    figures eip93 cbc.json=44 blocks.json=44 messages.json=33 || failed=1
    figures padlock cbc.json=44 blocks.json=22 || failed=1
    return "$failed"
}

test_thresholds() {
    local modules device failed=0
    modules=$(mktemp -d)
    ln -s "$build/provider/kaccel.so" "$(openssl version -m | sed 's/.*"\(.*\)"/\1/')/legacy.so" "$modules/"
    for device in qce eip93 padlock; do
        OPENSSL_MODULES=$modules "$lab_dir/run.sh" --virtual-time --router-cpu --device "$device" --timeout 1800 -- \
            "$lab_dir/guest-thresholds.sh" "$build" "$device" || failed=1
    done
    rm -rf "$modules"
    return "$failed"
}

test_bench() { "$lab_dir/../../scripts/bench.sh" --quick --every-side --build "$build"; }

for part in "${parts[@]}"; do
    declare -F "test_$part" >/dev/null || lab_die 2 "no part '$part': see the head of this file"
done

# run_parts PART...: leaves a file for each that passed.
run_parts() {
    local part started
    for part; do
        lab_note "testing: $part"
        started=$SECONDS
        if ("test_$part"); then
            touch "$scratch/passed-$part"
            lab_note "$part passed in $((SECONDS - started)) s"
        else
            lab_note "$part FAILED after $((SECONDS - started)) s"
        fi
    done
}

scratch=$(mktemp -d) lanes=()
# shellcheck disable=SC2317  # called by the traps
stop_lanes() {
    trap - EXIT INT TERM HUP
    local lane
    for lane in "${lanes[@]}"; do
        kill -TERM -- "-$lane" 2>/dev/null || true
    done
    wait
    rm -rf "$scratch"
}
trap stop_lanes EXIT
trap 'stop_lanes; exit 130' INT
trap 'stop_lanes; exit 143' TERM HUP

first=() second=()
for part in "${parts[@]}"; do
    if [[ " ${second_lane[*]} " == *" $part "* ]]; then second+=("$part"); else first+=("$part"); fi
done
start_lane() {
    run_parts "$@" </dev/null &
    lanes+=($!)
}
# With job control each lane is a process group, which a signal reaches with all that it started.
set -m
if ((${#first[@]} && ${#second[@]})); then
    start_lane "${first[@]}"
    start_lane "${second[@]}" >"$scratch/log" 2>&1
else
    start_lane "${parts[@]}"
fi
set +m
wait "${lanes[@]}"
lanes=()
[[ ! -e $scratch/log ]] || cat "$scratch/log" >&2

failed=()
for part in "${parts[@]}"; do
    [[ -e $scratch/passed-$part ]] || failed+=("$part")
done
lab_note "$((${#parts[@]} - ${#failed[@]})) of ${#parts[@]} parts passed${failed[*]:+; failed: ${failed[*]}}"
((${#failed[@]} == 0))
