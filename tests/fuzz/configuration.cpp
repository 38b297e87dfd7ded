#include "tests/fuzz/configuration.hpp"

namespace kaccel::fuzzing {
namespace {

Threshold choose_threshold(Input& input) {
  constexpr std::array<Threshold, 7> usual{0, -1, 1, 16, 17, 64, 512};
  const std::size_t choice = input.below(10);
  return choice < usual.size() ? usual[choice] : static_cast<Threshold>(input.below(2100));
}

kernel::Restrictions choose_restrictions(Input& input) {
  constexpr std::array<std::size_t, 6> smallest{17, 2, 16, 64, 100, 512};
  constexpr std::array<std::size_t, 6> largest{1504, 512, 1024, 17, 2048, 96};
  constexpr std::array<std::size_t, 4> multiples{512, 32, 16, 48};
  kernel::Restrictions restrictions;
  const unsigned which = input.byte();
  if ((which & 1U) != 0) restrictions.min_size = input.one_of(smallest);
  if ((which & 2U) != 0) restrictions.max_size = input.one_of(largest);
  if ((which & 4U) != 0) {
    restrictions.size_multiple = input.one_of(multiples);
    restrictions.multiple_above = input.one_of(multiples);
  }
  return restrictions;
}

// A driver that cannot steal ciphertext takes whole blocks only.
kernel::Restrictions driver_restrictions(const Configuration& configuration, Kind kind) {
  kernel::Restrictions restrictions = configuration.restrictions;
  const bool whole_blocks = kind == Kind::data_units && !configuration.ciphertext_stealing;
  if (whole_blocks && restrictions.size_multiple == 0) {
    restrictions.size_multiple = 16;
    restrictions.multiple_above = 0;
  }
  return restrictions;
}

}  // namespace

Configuration choose_configuration(Input& input, Kind kind) {
  constexpr std::array<std::size_t, 6> requests{65536, 32, 64, 256, 4096, 16};
  constexpr std::array<std::size_t, 4> sessions{64, 1, 2, 3};
  constexpr std::array<std::uint32_t, 4> odds{0, 20, 6, 2};
  input.seed_data(input.byte());
  Configuration chosen;
  chosen.encrypt = choose_threshold(input);
  chosen.decrypt = choose_threshold(input);
  const unsigned extras = input.byte();
  if ((extras & 1U) != 0) chosen.restrictions = choose_restrictions(input);
  chosen.ciphertext_stealing = (extras & 2U) != 0;
  chosen.driver_restrictions = driver_restrictions(chosen, kind);
  chosen.max_request = requests[(extras >> 2U) % requests.size()];
  chosen.max_sessions = sessions[input.below(sessions.size())];
  if ((extras & 0x20U) != 0) {
    chosen.fails_one_in = input.one_of(odds);
    chosen.fault_seed = input.byte();
  }
  return chosen;
}

std::string to_text(const Configuration& configuration) {
  const kernel::Restrictions& rules = configuration.restrictions;
  std::string text = "thresholds " + std::to_string(configuration.encrypt) + " (encrypt), " +
                     std::to_string(configuration.decrypt) + " (decrypt), max_request " +
                     std::to_string(configuration.max_request) + ", sessions " +
                     std::to_string(configuration.max_sessions);
  if (rules.min_size != 0) text += ", min_size " + std::to_string(rules.min_size);
  if (rules.max_size != SIZE_MAX) text += ", max_size " + std::to_string(rules.max_size);
  if (rules.size_multiple != 0) {
    text += ", above " + std::to_string(rules.multiple_above) + " multiples of " +
            std::to_string(rules.size_multiple);
  }
  if (configuration.ciphertext_stealing) text += ", ciphertext stealing";
  if (configuration.fails_one_in != 0) {
    text += ", the driver fails one call in " + std::to_string(configuration.fails_one_in) +
            " (seed " + std::to_string(configuration.fault_seed) + ")";
  }
  return text;
}

}  // namespace kaccel::fuzzing
