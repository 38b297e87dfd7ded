#include "calibrate/served_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace kaccel::calibrate {
namespace {

// "AES-128-CBC" without its key size: "AES-" and "-CBC". Other names are all head.
struct NameParts {
  std::string_view head;
  std::string_view key_bits;
  std::string_view tail;
};

NameParts parts_of(const Algorithm& algorithm) {
  constexpr std::string_view aes = "AES-";
  constexpr std::size_t digits = 3;
  const std::string_view name(algorithm.name);
  if (!name.starts_with(aes)) return {name, {}, {}};
  return {aes, name.substr(aes.size(), digits), name.substr(aes.size() + digits)};
}

}  // namespace

const Algorithm& driver_side(const Algorithm& algorithm) noexcept {
  if (algorithm.kind != Kind::gcm) return algorithm;
  return *std::find_if(algorithm_table.begin(), algorithm_table.end(), [&](const Algorithm& row) {
    return row.kind == Kind::blocks && row.kernel_algorithm == algorithm.kernel_algorithm &&
           row.key_size == algorithm.key_size;
  });
}

std::string why_not_served(const kernel::Driver& driver, const Algorithm& algorithm) {
  if (driver.algorithm != algorithm.kernel_algorithm) {
    return fmt::format("it serves {}", driver.entry.name);
  }
  const std::size_t key_size = driver_key_size(algorithm);
  if (driver.known != nullptr) {
    const auto& restrictions = driver.known->restrictions;
    if (!kernel::permits_key(restrictions, key_size)) {
      return fmt::format("known not to take keys of {} bits: software", key_size * 8);
    }
    if (is_two_key_des(algorithm) && restrictions.refuses_repeated_des_keys) {
      return "known to refuse 3DES keys that repeat a part, as two-key 3DES does: software";
    }
  }
  const auto& entry = driver.entry;
  const bool has_key_limits = key_size != 0 && entry.max_key_size != 0;
  if (has_key_limits && (key_size < entry.min_key_size || key_size > entry.max_key_size)) {
    return fmt::format("/proc/crypto says that it takes no keys of {} bits: software",
                       key_size * 8);
  }
  return {};
}

std::vector<const Algorithm*> served_algorithms(const kernel::Driver& driver) {
  std::vector<const Algorithm*> served;
  for (const auto& algorithm : algorithm_table) {
    if (why_not_served(driver, algorithm).empty()) served.push_back(&algorithm);
  }
  return served;
}

std::string describe_served(const kernel::Driver& driver) {
  std::string text;
  std::string_view last_head;
  std::string_view last_tail;
  for (const auto* algorithm : served_algorithms(driver)) {
    const auto [head, key_bits, tail] = parts_of(*algorithm);
    if (!key_bits.empty() && head == last_head && tail == last_tail) {
      text.insert(text.size() - tail.size(), fmt::format("/{}", key_bits));
    } else {
      text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", head, key_bits, tail);
    }
    last_head = head;
    last_tail = tail;
  }
  return text;
}

}  // namespace kaccel::calibrate
