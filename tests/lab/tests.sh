#!/usr/bin/env bash
# The tests that need a real kernel, run in the lab.
#
#   tests.sh BUILD_DIR [lab|qce|virtio|figures]...     default: all
#
#   lab      the lab itself (selftest.sh)
#   qce      known answers and differential tests on the simulated qce
#   virtio   the same, fewer, on QEMU's virtio-crypto
#   figures  virtual time: calibration, dispatch against both sides, kaccel against a bare socket loop
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ ${1:-} && -d $1 ]] || lab_die 2 "tests.sh needs a build directory: tests.sh build/release"
build=$(cd "$1" && pwd)
shift
parts=("$@")
((${#parts[@]})) || parts=(lab qce virtio figures)

export OPENSSL_MODULES=$build/provider
vectors=$build/tests/vectors/vectors-test
differential=$build/tests/differential/differential-test

# The one-line results of a GoogleTest program, everything where it fails.
guest_tests='set -e
for command; do
    sh -c "$command" >/tmp/guest-test.log 2>&1 || { cat /tmp/guest-test.log; exit 1; }
    grep -E "tests? ran|PASSED|SKIPPED.*below" /tmp/guest-test.log
done'

test_lab() { "$lab_dir/selftest.sh"; }

test_qce() {
    KACCEL_TEST_TRANSPORT=afalg \
        KACCEL_TEST_DRIVERS='cbc(aes)=cbc-aes-qce,ctr(aes)=ctr-aes-qce,ecb(aes)=ecb-aes-qce' \
        "$lab_dir/run.sh" --device qce --timeout 1200 -- \
        sh -c "$guest_tests" sh "$vectors" "$differential"
}

test_virtio() {
    KACCEL_TEST_TRANSPORT=afalg KACCEL_TEST_ROUNDS=30 \
        KACCEL_TEST_DRIVERS='cbc(aes)=virtio_crypto_aes_cbc' \
        "$lab_dir/run.sh" --device virtio --timeout 1200 -- \
        sh -c "$guest_tests" sh "$vectors --gtest_filter=*CBCMMT*:*Wycheproof*" \
        "$differential --gtest_filter=*DefaultProviderDoes/AES*CBC"
}

test_figures() {
    local results status=0
    results=$(mktemp -d)
    "$lab_dir/run.sh" --virtual-time --router-cpu --device qce --bind "$results" --timeout 1200 -- \
        "$lab_dir/guest-figures.sh" "$build" "$results" &&
        python3 "$lab_dir/check_figures.py" "$results/figures.json" || status=$?
    rm -rf "$results"
    return "$status"
}

failed=()
for part in "${parts[@]}"; do
    declare -F "test_$part" >/dev/null || lab_die 2 "no part '$part': lab, qce, virtio or figures"
    lab_note "testing: $part"
    "test_$part" || failed+=("$part")
done
lab_note "$((${#parts[@]} - ${#failed[@]})) of ${#parts[@]} parts passed${failed[*]:+; failed: ${failed[*]}}"
((${#failed[@]} == 0))
