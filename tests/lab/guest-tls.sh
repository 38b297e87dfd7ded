#!/usr/bin/env bash
# Runs in the guest: calibrates the simulated qce, then TLS connections with kaccel at one end or both.
#
#   guest-tls.sh BUILD_DIR
set -euo pipefail
build=$1
directory=$(mktemp -d)
# shellcheck source=../../scripts/guest/configuration.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/guest/configuration.sh"

"$build/calibrate/kaccel-calibrate" run --quiet --output "$directory/kaccel-thresholds.cnf" >/dev/null
write_configurations "$directory"
export KACCEL_TEST_TRANSPORT=afalg KACCEL_TEST_CONFIGURATION=$directory/dispatch.cnf
export KACCEL_TEST_DRIVERS='cbc(aes)=cbc-aes-qce,ctr(aes)=ctr-aes-qce,cbc(des3_ede)=cbc-3des-qce'
KACCEL_TEST_DRIVERS+=',hmac(sha1)=hmac-sha1-qce,hmac(sha256)=hmac-sha256-qce'
"$build/tests/tls/tls-test" --gtest_brief=1
