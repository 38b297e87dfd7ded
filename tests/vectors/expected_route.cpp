#include "expected_route.hpp"

#include <openssl/err.h>

#include "kernel-bridge/known_drivers.hpp"
#include "provider/algorithms.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {

bool goes_to_hardware(const char* algorithm, Threshold threshold, std::size_t size) {
  if (!kaccel::testing::has_hardware(algorithm)) return false;
  const CipherAlgorithm& row = cipher_algorithms.at(find_cipher_algorithm(algorithm));
  const auto* known = kernel::find_known_driver(kaccel::testing::driver_for(row.kernel_algorithm));
  const std::size_t whole_blocks = size - size % kernel::info(row.kernel_algorithm).block_size;
  return decide(threshold, whole_blocks, row.key_size,
                known == nullptr ? kernel::Restrictions{} : known->restrictions)
             .route == Route::hardware;
}

std::string take_error() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return {};
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "an error without text" : reason;
}

}  // namespace kaccel::vectors
