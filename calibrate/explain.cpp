#include "calibrate/explain.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <ostream>

#include "calibrate/algorithm_names.hpp"
#include "calibrate/command_error.hpp"
#include "calibrate/json_text.hpp"
#include "kernel-bridge/known_drivers.hpp"

namespace kaccel::calibrate {
namespace {

constexpr std::size_t largest_size = std::numeric_limits<std::int32_t>::max();

// Everything there is to say about one call.
struct Answer {
  const Algorithm& algorithm;
  std::size_t size;
  kernel::Direction direction;
  std::string driver;
  Threshold threshold = never_hardware;
  const kernel::KnownDriver* known = nullptr;
  Decision decision{Route::software, RouteReason::threshold_is_never};
  bool driver_binds = false;
  std::string why_not{};  // where it does not bind

  Route route() const { return driver_binds ? decision.route : Route::software; }
};

std::size_t parse_size(const std::string& text) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end != text.data() + text.size() || size == 0 ||
      size > largest_size) {
    throw CommandError(exit_bad_input, "not a size", printable(text),
                       fmt::format("give a number of bytes from 1 to {}; algorithms are {}",
                                   largest_size, known_algorithm_names()));
  }
  return size;
}

// The name binds now, as the first routed call of an application would.
void look_for_driver(Answer& answer, const Machine& machine) {
  if (!machine.af_alg) {
    answer.why_not = why_no_af_alg(machine.af_alg);
    return;
  }
  const auto* driver = find_driver(machine, answer.driver);
  if (driver == nullptr) {
    answer.why_not = "/proc/crypto does not list it";
    return;
  }
  const auto status = kernel::probe(machine.transport, *driver);
  answer.driver_binds = static_cast<bool>(status);
  if (!status) answer.why_not = why_unusable(*driver, status, machine.kernel);
}

Answer find_answer(const ExplainOptions& options, const Settings& settings,
                   const Machine& machine) {
  const auto& algorithm = algorithm_named(options.algorithm);
  const auto& row = settings.algorithms[find_algorithm(algorithm.name)];
  Answer answer{
      .algorithm = algorithm,
      .size = parse_size(options.size),
      .direction = options.decrypt ? kernel::Direction::decrypt : kernel::Direction::encrypt,
      .driver = row.driver,
      .threshold = options.decrypt ? row.decrypt : row.encrypt,
      .known = kernel::find_known_driver(row.driver)};
  if (answer.driver.empty()) return answer;
  if (settings.force_threshold) answer.threshold = *settings.force_threshold;
  const auto restrictions = answer.known != nullptr
                                ? kernel::combine(row.restrictions, answer.known->restrictions)
                                : row.restrictions;
  const std::size_t block = kernel::info(algorithm.kernel_algorithm).block_size;
  answer.decision =
      decide(answer.threshold, answer.size / block * block, algorithm.key_size, restrictions);
  look_for_driver(answer, machine);
  return answer;
}

std::string reason(const Answer& answer) {
  if (answer.driver.empty()) return "no driver is chosen for it";
  std::string text = describe(answer.decision.reason);
  if (answer.decision.reason == RouteReason::above_threshold ||
      answer.decision.reason == RouteReason::within_threshold) {
    text += fmt::format(" of {}", answer.threshold);
  }
  if (answer.decision.route == Route::hardware && !answer.driver_binds) {
    text += fmt::format(", but {} cannot be used: {}", answer.driver, answer.why_not);
  }
  return text;
}

std::string where(const Answer& answer, const Configuration& configuration) {
  const std::string side =
      answer.route() == Route::hardware ? fmt::format("hardware ({})", answer.driver) : "software";
  return configuration.configured ? side : "would be " + side;
}

const char* name(kernel::Direction direction) {
  return direction == kernel::Direction::encrypt ? "encrypt" : "decrypt";
}

std::size_t partial_block(const Answer& answer) {
  return answer.size % kernel::info(answer.algorithm.kernel_algorithm).block_size;
}

void print_text(const Answer& answer, const Configuration& configuration, std::ostream& out) {
  out << fmt::format("{}, {} bytes, {}: {}: {}\n", answer.algorithm.name, answer.size,
                     name(answer.direction), where(answer, configuration), reason(answer));
  if (!answer.driver.empty()) {
    out << fmt::format(
        "  threshold: {} ({})\n", answer.threshold,
        configuration.settings.force_threshold ? "force_threshold" : configuration.source);
    out << fmt::format("  driver: {}: {}\n", answer.driver,
                       answer.driver_binds ? "usable here" : answer.why_not);
    if (answer.known != nullptr && *answer.known->quirks != '\0') {
      out << fmt::format("  known quirks: {}\n", answer.known->quirks);
    }
    if (const auto rest = partial_block(answer); rest > 0) {
      out << fmt::format("  only whole blocks go to a driver: {} of these bytes do not count\n",
                         rest);
    }
  }
  for (const auto& remark : configuration.remarks) out << fmt::format("  note: {}\n", remark);
}

void print_json(const Answer& answer, const Configuration& configuration, std::ostream& out) {
  Json document{{"algorithm", answer.algorithm.name},
                {"size", answer.size},
                {"direction", name(answer.direction)},
                {"route", answer.route() == Route::hardware ? "hardware" : "software"},
                {"reason", reason(answer)},
                {"configured", configuration.configured},
                {"calibrated", configuration.settings.calibrated}};
  if (!answer.driver.empty()) {
    document["driver"] = answer.driver;
    document["driver_usable"] = answer.driver_binds;
    document["threshold"] = answer.threshold;
    document["threshold_from"] = configuration.source;
    if (answer.known != nullptr) document["quirks"] = answer.known->quirks;
  }
  document["remarks"] = configuration.remarks;
  out << json_text(document);
}

}  // namespace

int explain(const ExplainOptions& options, const Configuration& configuration,
            const Machine& machine, std::ostream& out) {
  const Answer answer = find_answer(options, configuration.settings, machine);
  if (options.json) {
    print_json(answer, configuration, out);
  } else {
    print_text(answer, configuration, out);
  }
  return exit_done;
}

}  // namespace kaccel::calibrate
