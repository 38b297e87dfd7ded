#include "calibrate/call_size.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/random_bytes.hpp"
#include "calibrate/sweep.hpp"
#include "provider/hmac_context.hpp"

namespace kaccel::calibrate {
namespace {

std::size_t block_of(const Algorithm& algorithm) noexcept {
  return kernel::info(algorithm.kernel_algorithm).block_size;
}

std::string why_unfit_unit(std::size_t size, std::size_t block, const CallLimits& limits) {
  if (size < block) return fmt::format("a data unit has at least {} bytes", block);
  if (size % block != 0 && !limits.ciphertext_stealing) {
    return "the data unit is not whole blocks, and no self-test has proved the driver's "
           "ciphertext stealing";
  }
  const std::size_t most = std::min(limits.restrictions.max_size, limits.longest_request);
  if (size > most) {
    return fmt::format("a data unit cannot be split, and one request takes at most {} bytes", most);
  }
  return {};
}

std::string why_unfit_message(std::size_t size, const CallLimits& limits) {
  if (size > HmacContext::longest_message) {
    return fmt::format("a message is kept for hardware up to {} bytes",
                       HmacContext::longest_message);
  }
  if (size > limits.restrictions.max_size) {
    return fmt::format("a message goes to the driver whole, and it takes at most {} bytes",
                       limits.restrictions.max_size);
  }
  return {};
}

}  // namespace

std::size_t routed_bytes(const Algorithm& algorithm, std::size_t size) noexcept {
  const bool can_be_cut = algorithm.kind == Kind::blocks || algorithm.kind == Kind::gcm;
  const std::size_t block = block_of(algorithm);
  return can_be_cut ? size / block * block : size;
}

std::string why_unfit(const Algorithm& algorithm, std::size_t size, const CallLimits& limits) {
  switch (algorithm.kind) {
    case Kind::data_units:
      return why_unfit_unit(size, block_of(algorithm), limits);
    case Kind::hmac:
      return why_unfit_message(size, limits);
    case Kind::blocks:
    case Kind::gcm:
      break;
  }
  return size < block_of(algorithm) ? "only whole blocks go to a driver" : "";
}

bool permits_call(const Algorithm& algorithm, std::size_t size, const CallLimits& limits) {
  return why_unfit(algorithm, size, limits).empty() &&
         kernel::permits_size(limits.restrictions, routed_bytes(algorithm, size));
}

std::vector<std::size_t> sizes_to_measure(const Algorithm& algorithm,
                                          const std::vector<std::size_t>& sizes) {
  const std::size_t block = block_of(algorithm);
  if (algorithm.kind == Kind::blocks) return round_to_blocks(sizes, block);
  std::vector<std::size_t> fitting = sizes;
  if (algorithm.kind == Kind::data_units) {
    for (auto& size : fitting) size = std::max(size, block);
  }
  return round_to_blocks(fitting, 1);
}

std::size_t longest_request(kernel::Transport& transport, const std::string& driver,
                            const Algorithm& algorithm) {
  std::unique_ptr<kernel::Session> session;
  const auto key = RandomBytes(algorithm.key_size).bytes(driver_key_size(algorithm));
  const bool keyed =
      transport.open(driver.c_str(), algorithm.kernel_algorithm, session) && session->set_key(key);
  return keyed ? session->max_request() : std::numeric_limits<std::size_t>::max();
}

}  // namespace kaccel::calibrate
