#!/usr/bin/env bash
# All tests, on the host and in the lab. Installs what is missing. Prints a line for each stage and, at the
# end, how many passed.
#
#   test.sh [STAGE]...      default: all, in this order
#
#   format      clang-format on every C++ file
#   build       g++, warnings are errors (build/ci)
#   unit        ctest: unit, differential and known-answer tests over a transport that really ciphers
#   host        pytest: whole openssl processes with kaccel.so, instruction counts, bad input
#   programs    pytest: curl, nginx, Python and others, which know nothing of kaccel, in software
#   lab         a real kernel: simulated qce, virtio-crypto, figures in virtual time (tests/lab/tests.sh)
#   clang       clang++, warnings are errors (build/clang)
#   tidy        clang-tidy (only when named)
#   asan        AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer (build/asan)
#   fuzz        libFuzzer against OpenSSL, from the stored inputs, KACCEL_FUZZ_SECONDS (40) for each of four
#               families (tests/fuzz, build/fuzz)
#   tsan        ThreadSanitizer (build/tsan)
set -uo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$project_dir" || exit 1

sources() { git ls-files '*.cpp' '*.hpp'; }

stage_format() { sources | xargs clang-format --dry-run -Werror; }
stage_build() { build ci; }
stage_unit() {
    ctest --test-dir build/ci -j2 --quiet && ctest_summary && return
    ctest --test-dir build/ci --rerun-failed --output-on-failure # says which and why
    return 1
}
stage_host() { KACCEL_BUILD_DIR=$project_dir/build/ci /usr/bin/python3 -m pytest -q tests/host; }
stage_programs() { KACCEL_BUILD_DIR=$project_dir/build/ci /usr/bin/python3 -m pytest -q tests/programs; }
stage_lab() { "$lab/setup.sh" && "$lab/tests.sh" build/ci; }
stage_clang() { build clang kaccel kaccel-calibrate kernel-bridge-test provider-test calibrate-test doctor-test; }

# What ships. Tests are checked by the compilers alone.
stage_tidy() {
    cmake --preset clang >/dev/null || return 1
    git ls-files 'kernel-bridge/*.cpp' 'provider/*.cpp' 'calibrate/*.cpp' |
        xargs -n 4 -P 2 clang-tidy --quiet -p build/clang 2>/dev/null
}

# Of the command line's own tests those of doctor, which reads what anybody may have written; the others take
# longest to build.
asan_tests=(differential-test vectors-test system-call-faults-test load-test provider-test doctor-test tls-test
    soak-test life-test kernel-bridge-test kernel-bridge-discovery-test kernel-bridge-seccomp-test module-test)
stage_asan() { build asan "${asan_tests[@]}" && run_sanitized asan "${asan_tests[@]}"; }
# What has threads, but for differential-test, whose other tests take too long.
tsan_tests=(load-test soak-test kernel-bridge-test kernel-bridge-seccomp-test provider-test)
stage_tsan() { build tsan "${tsan_tests[@]}" && run_sanitized tsan "${tsan_tests[@]}"; }

# Two families side by side. What is found anew stays in build/fuzz/found.
stage_fuzz() {
    local family pids=() failed=0
    ensure_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    build fuzz fuzz-blocks fuzz-xts fuzz-gcm fuzz-hmac || return 1
    for family in gcm hmac blocks xts; do
        run_fuzzer "$family" &
        pids+=($!)
        ((${#pids[@]} == 2)) || continue
        wait "${pids[0]}" || failed=1
        wait "${pids[1]}" || failed=1
        pids=()
    done
    return "$failed"
}

# run_fuzzer FAMILY: says how many inputs were executed. None is a failure, as is a difference.
run_fuzzer() {
    local family=$1 found=build/fuzz/found/$1 log=build/fuzz/$1.log executed status=0
    mkdir -p "$found"
    build/fuzz/tests/fuzz/fuzz-"$family" -max_total_time="${KACCEL_FUZZ_SECONDS:-40}" -max_len=1024 \
        -print_final_stats=1 -artifact_prefix="build/fuzz/$family-" "$found" \
        "tests/fuzz/corpus/$family" >"$log" 2>&1 || status=$?
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    say "fuzz $family: ${executed:-0} inputs, $(sed -n "s/^kaccel-fuzz $family: //p" "$log")"
    if ((status != 0)); then
        grep -aE -A 100 'differ:|ERROR: AddressSanitizer|runtime error:' "$log" | grep -avE '^ *#[0-9]' >&2
        return 1
    fi
    ((${executed:-0} > 0))
}

# run_sanitized PRESET TEST...: two side by side, shorter than without sanitizers, each one's output kept together.
run_sanitized() {
    local preset=$1
    shift
    printf '%s\n' "$@" | KACCEL_TEST_ROUNDS=40 KACCEL_TEST_LOAD_ROUNDS=2 KACCEL_TEST_CONTEXTS=500 \
        KACCEL_TEST_SOAK_OPERATIONS=40000 KACCEL_FAULTS=few xargs -I NAME -P 2 sh -c '
            program=$(find "build/$1/tests" -type f -name "$2" -perm -u+x)
            output=$("$program" --gtest_brief=1 2>&1)
            status=$?
            echo "$2: $output"
            exit "$status"' sh "$preset" NAME
}

# One line that says how many tests ctest ran, also when all went well.
ctest_summary() { ctest --test-dir build/ci -N | sed -n 's/^Total Tests: /ctest ran /p'; }

# Not tidy: it takes as long as all the rest of the compilers; run it before a release.
all_stages=(format build unit host programs lab clang asan fuzz tsan)
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,18s/^# \{0,1\}//p' "$0"
    exit 0
fi
stages=("$@")
((${#stages[@]})) || stages=("${all_stages[@]}")
for stage in "${stages[@]}"; do
    declare -F "stage_$stage" >/dev/null || die "no stage '$stage'; known: ${all_stages[*]} tidy"
done

say "checking the packages that building and testing need"
ensure_packages "${build_packages[@]}" "${test_packages[@]}"
without_services ensure_packages "${program_packages[@]}"

passed=0 failed=()
for stage in "${stages[@]}"; do
    say "$stage"
    started=$SECONDS
    if "stage_$stage"; then
        passed=$((passed + 1))
        say "$stage passed in $((SECONDS - started)) s"
    else
        failed+=("$stage")
        say "$stage FAILED after $((SECONDS - started)) s"
    fi
done
((${#failed[@]} == 0)) || say "failed: ${failed[*]}"
say "all together: $SECONDS s"
echo "stages: $passed passed, ${#failed[@]} failed"
((${#failed[@]} == 0))
