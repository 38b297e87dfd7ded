#!/usr/bin/env bash
# Tests the lab itself. Needs setup.sh to have run.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run=$lab_dir/run.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# check SENTENCE EXPECTED ACTUAL
check() {
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
        printf 'ok      %s\n' "$1"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s\n        expected: %q\n        got:      %q\n' "$1" "$2" "$3"
    fi
}

# guest OPTIONS -- COMMAND: leaves $out, $err, $status
guest() {
    status=0
    "$run" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    out=$(tr -d '\0' <"$scratch/out")
    err=$(tr -d '\0' <"$scratch/err")
}

exit_status_and_streams() {
    guest -- true
    check "success is status 0" "0" "$status"
    guest -- sh -c 'echo to-out; echo to-err >&2; exit 7'
    check "an exit status comes back" 7 "$status"
    check "standard output holds only the command's" to-out "$out"
    check "standard error holds only the command's" to-err "$err"
    guest -- false
    check "failure is status 1" 1 "$status"
    guest -- no-such-command
    check "a missing command is status 127" 127 "$status"
}

arguments_and_bytes() {
    local words=('' 'two words' "it's" 'a "quote"' "\$HOME \`id\`" $'new\nline' '*' 'back\slash' 'ünï')
    guest -- printf '[%s]' "${words[@]}"
    check "arguments arrive as they were given" "$(printf '[%s]' "${words[@]}")" "$out"

    head -c 300000 /dev/urandom >"$scratch/bytes"
    guest --bind "$scratch" -- sh -c "cat '$scratch/bytes'; cp '$scratch/bytes' '$scratch/written'"
    check "300,000 random bytes come out unchanged" same "$(cmp -s "$scratch/bytes" "$scratch/out" && echo same)"
    check "a bound directory can be written from the guest" same "$(cmp -s "$scratch/bytes" "$scratch/written" && echo same)"

    # shellcheck disable=SC2016  # for the guest's shell
    (cd "$lab_dir/module" && KACCEL_TEST_WORD='a b' "$run" -- sh -c '
        pwd; echo "$KACCEL_TEST_WORD"; touch /tmp/x /usr/x && echo writable
        python3 -c "import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname()); print(\"up\")"
    ') >"$scratch/out" || true
    check "the working directory is kept" "$lab_dir/module" "$(sed -n 1p "$scratch/out")"
    check "KACCEL_ variables are passed" "a b" "$(sed -n 2p "$scratch/out")"
    check "the guest can write anywhere" writable "$(sed -n 3p "$scratch/out")"
    check "the loopback network is up" up "$(sed -n 4p "$scratch/out")"
    check "what it writes there is lost" gone "$([[ -e /usr/x ]] || echo gone)"
}

when_it_goes_wrong() {
    guest --timeout 25 -- sh -c 'echo started; sleep 1000'
    check "a time-out is status 124" 124 "$status"
    check "what was written before it is there" started "$out"
    check "it is said in one line" "lab: timed out after 25 s: guest stopped" "$err"
    guest -- sh -c 'echo c >/proc/sysrq-trigger'
    check "a kernel panic is status 125" 125 "$status"
    check "the last console lines are shown" yes "$(grep -q 'console:.*sysrq triggered crash' "$scratch/err" && echo yes)"
    guest -- sh -c 'sleep 1000 & echo done'
    check "a process left behind does not keep the guest" 0done "$status$out"
}

qce_drivers=({ecb,cbc,ctr,xts}-aes-qce {ecb,cbc}-{des,3des}-qce {,hmac-}{sha1,sha256}-qce)
eip93_drivers=({ecb,cbc,ctr}'(aes-eip93)' {ecb,cbc}'('{des,des3_ede}'-eip93)'
    {md5,sha1,sha224,sha256}-eip93 'hmac('{md5,sha1,sha224,sha256}'-eip93)')
padlock_drivers=({ecb,cbc}-aes-padlock)

# registered FIELD DRIVER: from /proc/crypto in $scratch/out
registered() {
    awk -v field="$1" -v driver="$2" '$1 == "driver" { mine = ($3 == driver) } mine && $1 == field { print $3 }' "$scratch/out"
}

simulated_devices() {
    guest --device qce --device eip93 --device padlock -- cat /proc/crypto
    local driver drivers=("${qce_drivers[@]}" "${eip93_drivers[@]}" "${padlock_drivers[@]}")
    for driver in "${drivers[@]}"; do
        check "$driver passes the kernel's self-test" passed "$(registered selftest "$driver")"
    done
    for driver in "${qce_drivers[@]}" "${eip93_drivers[@]}"; do
        check "$driver is asynchronous" yes "$(registered async "$driver")"
    done
    check "algif_aead is not there" "" "$(grep -o algif_aead "$scratch/out" || true)"
    guest --device qce --device eip93 --device padlock -- /usr/bin/python3 "$lab_dir/afalg_check.py" "${drivers[@]}"
    for driver in "${drivers[@]}"; do
        check "$driver gives right answers over AF_ALG, several at once" "$driver: right" \
            "$(awk -v start="$driver: " 'index($0, start) == 1' "$scratch/out")${err:+ $err}"
    done
    guest --device virtio -- /usr/bin/python3 "$lab_dir/afalg_check.py" virtio_crypto_aes_cbc
    check "virtio-crypto gives right answers over AF_ALG" "virtio_crypto_aes_cbc: right" "$out$err"
}

devices_that_err() {
    guest --device qce --device eip93 --device padlock -- /usr/bin/python3 "$lab_dir/fault_check.py"
    local checks=0 line
    while read -r line; do
        check "a simulated device, ${line%%:*}" "${line%%:*}: as told" "$line"
        checks=$((checks + 1))
    done <"$scratch/out"
    check "every fault of the simulated devices was tried" "12 0" "$checks $status${err:+ $err}"
}

one_engine_for_all() {
    guest --device qce -- sh -c "cd /sys/module/kaccel_sim/parameters
        echo 150000000 >qce_des_base_ns; echo 150000000 >qce_hash_base_ns
        /usr/bin/python3 '$lab_dir/afalg_check.py' --together ecb-des-qce sha256-qce"
    printf '        two requests of 150 ms at the same time: %s ms\n' "$out$err"
    check "a cipher and a hash of one device wait for each other" yes "$([[ $out -ge 300 ]] && echo yes)"
}

virtual_time_repeats() {
    local first
    guest --virtual-time --device qce -- /usr/bin/python3 "$lab_dir/afalg_check.py" --time cbc-aes-qce 200
    first=$out
    guest --virtual-time --device qce -- /usr/bin/python3 "$lab_dir/afalg_check.py" --time cbc-aes-qce 200
    printf '        1 KiB over AF_ALG from Python: %s us, then %s us\n' "$first" "$out"
    check "two runs in virtual time agree to three digits" yes \
        "$(awk -v a="$first" -v b="$out" 'BEGIN { d = a - b; if (d < 0) d = -d; if (a > 0 && d / a < 0.005) print "yes" }')"
}

# 16 KiB take base + 16384 * per_byte and the kernel's own 8 to 12 us, however long the software in the module needs:
# 3DES 4.8 ms, SHA-256 1 ms. A CPU of one instruction each 2 ns would show it.
virtual_time_is_the_devices() {
    # shellcheck disable=SC2016  # for the guest's shell
    guest --virtual-time --device qce -- sh -c '
        for driver in cbc-aes-qce=128 cbc-3des-qce=192 hmac-sha256-qce=256; do
            modprobe kaccel_tcrypt driver=${driver%=*} key_bits=${driver#*=} 2>/dev/null
        done
        dmesg | sed -n "s/.*kaccel_tcrypt: \(.*\) [0-9]* 16384 bytes: \(.*\) ns/\1 \2/p"'
    local driver nanoseconds
    for driver in cbc-aes-qce cbc-3des-qce hmac-sha256-qce; do
        nanoseconds=$(awk -v driver="$driver" '$1 == driver { print $2 }' "$scratch/out")
        check "16 KiB take $driver 203 to 208 us in virtual time" yes \
            "$([[ $nanoseconds -ge 203000 && $nanoseconds -le 208000 ]] && echo yes || echo "$nanoseconds ns $err")"
    done
}

exit_status_and_streams
arguments_and_bytes
when_it_goes_wrong
simulated_devices
devices_that_err
one_engine_for_all
virtual_time_repeats
virtual_time_is_the_devices
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
