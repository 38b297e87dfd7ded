// What an input chooses before its first call: how kaccel is configured and how the driver behaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernel-bridge/restrictions.hpp"
#include "provider/algorithms.hpp"
#include "provider/routing.hpp"
#include "tests/fuzz/input.hpp"

namespace kaccel::fuzzing {

struct Configuration {
  Threshold encrypt = always_hardware;
  Threshold decrypt = always_hardware;
  kernel::Restrictions restrictions;         // as kaccel knows them
  kernel::Restrictions driver_restrictions;  // whose breaking the driver complains of
  bool ciphertext_stealing = false;
  std::size_t max_request = 0;     // bytes
  std::size_t max_sessions = 0;    // in the pool
  std::uint32_t fails_one_in = 0;  // 0: never
  std::uint32_t fault_seed = 0;

  Threshold threshold(bool encrypting) const noexcept { return encrypting ? encrypt : decrypt; }
};

Configuration choose_configuration(Input& input, Kind kind);

std::string to_text(const Configuration& configuration);

}  // namespace kaccel::fuzzing
