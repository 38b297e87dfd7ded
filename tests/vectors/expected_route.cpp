#include "expected_route.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "kernel-bridge/known_drivers.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::vectors {
namespace {

// Two-key 3DES is K1 K2 K1. NIST's keys all have their parity right, so that bytes can be compared.
bool repeats_des_key(const Bytes& key) {
  const auto part = [&key](std::ptrdiff_t n) {
    const auto begin = key.begin() + n * 8;
    return Bytes(begin, begin + 8);
  };
  return key.size() == 16 || part(0) == part(1) || part(1) == part(2) || part(0) == part(2);
}

// Bytes of a message that may go to a driver at all.
std::size_t usable(const Call& call, const Algorithm& row) {
  const std::size_t whole = call.size - call.size % kernel::info(row.kernel_algorithm).block_size;
  if (row.kind != Kind::data_units) return whole;
  return whole == call.size || call.ciphertext_stealing ? call.size : 0;
}

}  // namespace

bool goes_to_hardware(const Call& call) {
  const std::size_t index = find_algorithm(call.algorithm);
  if (index == algorithm_table.size() || !kaccel::testing::has_hardware(call.algorithm)) {
    return false;
  }
  const Algorithm& row = algorithm_table.at(index);
  const auto* known = kernel::find_known_driver(kaccel::testing::driver_for(row.kernel_algorithm));
  const kernel::Restrictions rules =
      known == nullptr ? kernel::Restrictions{} : known->restrictions;
  if (rules.refuses_repeated_des_keys && repeats_des_key(call.key)) return false;
  return decide(call.threshold, usable(call, row), driver_key_size(row), rules).route ==
         Route::hardware;
}

void expect_clean_run(const kaccel::testing::KaccelUnderTest& kaccel) {
  EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
  if (kaccel.fake() != nullptr) {
    EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
  }
}

std::string take_error() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return {};
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "an error without text" : reason;
}

}  // namespace kaccel::vectors
