#include "calibrate/preference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "calibrate/command_error.hpp"

namespace kaccel::calibrate {
namespace {

constexpr std::string_view speed = "speed";
constexpr std::string_view offload = "offload=";

std::optional<unsigned> parse_percent(std::string_view text) {
  unsigned percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || percent == 0 || percent > Preference::highest_percent) return {};
  return percent;
}

// The longest elapsed time that may win.
std::uint64_t acceptable_ns(const Cost& software, Preference preference) noexcept {
  return software.wall_ns + software.wall_ns * preference.offload_percent / 100;
}

bool within_ten_percent(std::uint64_t a, std::uint64_t b) noexcept {
  return std::max(a, b) - std::min(a, b) <= std::min(a, b) / 10;
}

}  // namespace

Preference parse_preference(const std::string& text) {
  if (text == speed) return {};
  if (text.starts_with(offload)) {
    if (const auto percent = parse_percent(std::string_view(text).substr(offload.size()))) {
      return {*percent};
    }
  }
  throw CommandError(
      exit_bad_input, "wrong --prefer", printable(text),
      fmt::format("say speed, or offload=PERCENT with a whole number from 1 to {}, for example "
                  "offload=25",
                  Preference::highest_percent));
}

std::string describe(Preference preference) {
  if (preference.offload_percent == 0) return std::string(speed);
  return fmt::format("{}{}", offload, preference.offload_percent);
}

bool hardware_wins(const Cost& software, const Cost& hardware, Preference preference) noexcept {
  if (hardware.wall_ns < software.wall_ns) return true;
  return preference.offload_percent > 0 &&
         hardware.wall_ns <= acceptable_ns(software, preference) &&
         hardware.cpu_ns < software.cpu_ns;
}

bool is_close(const Cost& software, const Cost& hardware, Preference preference) noexcept {
  return within_ten_percent(software.wall_ns, hardware.wall_ns) ||
         within_ten_percent(acceptable_ns(software, preference), hardware.wall_ns);
}

bool has_lost(const Cost& software, const Cost& hardware_so_far, Preference preference) noexcept {
  return hardware_so_far.wall_ns > acceptable_ns(software, preference) &&
         !is_close(software, hardware_so_far, preference);
}

}  // namespace kaccel::calibrate
