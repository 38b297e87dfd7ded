#include "calibrate/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <ostream>
#include <vector>

#include "calibrate/algorithm_names.hpp"
#include "calibrate/call_size.hpp"
#include "calibrate/command_error.hpp"
#include "calibrate/json_text.hpp"
#include "calibrate/openssl_context.hpp"
#include "kernel-bridge/known_drivers.hpp"
#include "provider/hmac_context.hpp"

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
  CallLimits limits{};
  Decision decision{Route::software, RouteReason::threshold_is_never};
  std::string obstacle{};  // what else keeps the call off a driver, thresholds apart
  bool driver_binds = false;
  std::string why_not{};      // where it does not bind
  std::string no_hardware{};  // why its driver is none; "" where it is

  bool wants_hardware() const { return decision.route == Route::hardware && obstacle.empty(); }
  Route route() const {
    return wants_hardware() && driver_binds ? Route::hardware : Route::software;
  }
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
void look_for_driver(Answer& answer, const Machine& machine, bool under_seccomp) {
  if (!machine.af_alg) {
    answer.why_not = why_no_af_alg(machine.af_alg);
    return;
  }
  if (machine.kernel.seccomp_filter && !under_seccomp) {
    answer.why_not =
        "a seccomp filter is in force here, a container's or a service's, under which kaccel stays "
        "in software; under_seccomp = yes in its section permits it";
    return;
  }
  const auto* driver = find_driver(machine, answer.driver);
  if (driver == nullptr) {
    answer.why_not = "/proc/crypto does not list it";
    return;
  }
  const auto status = kernel::probe(machine.transport, *driver);
  answer.driver_binds = static_cast<bool>(status);
  if (driver->hardness != kernel::Hardness::hardware) answer.no_hardware = driver->reason;
  if (!status) {
    answer.why_not = why_unusable(*driver, status, machine.kernel);
  } else if (answer.algorithm.kind == Kind::data_units) {
    answer.limits.longest_request =
        longest_request(machine.transport, answer.driver, answer.algorithm);
  }
}

// What forbids hardware besides the threshold and the driver's restrictions, in one phrase.
std::string find_obstacle(const Answer& answer) {
  if (needs_legacy(answer.algorithm) && !legacy_is_installed()) {
    return "OpenSSL's legacy provider (legacy.so) is not installed, so kaccel has no single DES";
  }
  if (is_two_key_des(answer.algorithm) && answer.limits.restrictions.refuses_repeated_des_keys) {
    return "the driver refuses keys that repeat a part, as two-key 3DES does";
  }
  const bool nothing_counts = answer.decision.reason == RouteReason::driver_refuses_size &&
                              routed_bytes(answer.algorithm, answer.size) == 0;
  const bool size_counts = answer.decision.route == Route::hardware || nothing_counts;
  return size_counts ? why_unfit(answer.algorithm, answer.size, answer.limits) : "";
}

Answer find_answer(const ExplainOptions& options, const Settings& settings,
                   const Machine& machine) {
  const auto& algorithm = algorithm_named(options.algorithm);
  if (kaccel::is_mac(algorithm) && options.decrypt) {
    throw CommandError(exit_bad_input, "an HMAC has no direction", algorithm.name,
                       "leave out --decrypt");
  }
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
  answer.limits = {row.restrictions, row.ciphertext_stealing};
  if (answer.known != nullptr) {
    answer.limits.restrictions = kernel::combine(row.restrictions, answer.known->restrictions);
  }
  answer.decision = decide(answer.threshold, routed_bytes(algorithm, answer.size),
                           driver_key_size(algorithm), answer.limits.restrictions);
  look_for_driver(answer, machine, settings.under_seccomp);
  answer.obstacle = find_obstacle(answer);
  return answer;
}

std::string reason(const Answer& answer) {
  if (answer.driver.empty()) return "no driver is chosen for it";
  if (!answer.obstacle.empty()) return answer.obstacle;
  std::string text = describe(answer.decision.reason);
  if (answer.decision.reason == RouteReason::above_threshold ||
      answer.decision.reason == RouteReason::within_threshold) {
    text += fmt::format(" of {}", answer.threshold);
  } else if (answer.decision.reason == RouteReason::driver_refuses_key_size) {
    text += fmt::format(" of {} bits", driver_key_size(answer.algorithm) * 8);
  }
  if (answer.wants_hardware() && !answer.driver_binds) {
    text += fmt::format(", but {} cannot be used: {}", answer.driver, answer.why_not);
  }
  return text;
}

// Thresholds may name any driver, the kernel's own software too.
const char* side(const Answer& answer) {
  if (answer.route() == Route::software) return "software";
  return answer.no_hardware.empty() ? "hardware" : "kernel software";
}

std::string where(const Answer& answer, const Configuration& configuration) {
  std::string text = side(answer);
  if (answer.route() == Route::hardware) text += fmt::format(" ({})", answer.driver);
  return configuration.configured ? text : "would be " + text;
}

const char* name(kernel::Direction direction) {
  return direction == kernel::Direction::encrypt ? "encrypt" : "decrypt";
}

// What is asked about; an HMAC has no direction.
std::string subject(const Answer& answer) {
  const bool directed = !kaccel::is_mac(answer.algorithm);
  return fmt::format("{}, {} bytes{}{}", answer.algorithm.name, answer.size, directed ? ", " : "",
                     directed ? name(answer.direction) : "");
}

std::vector<std::string> details_of_kind(const Answer& answer) {
  const auto& info = kernel::info(answer.algorithm.kernel_algorithm);
  const std::size_t rest = answer.size - routed_bytes(answer.algorithm, answer.size);
  std::vector<std::string> details;
  switch (answer.algorithm.kind) {
    case Kind::blocks:
      if (rest > 0) {
        details.push_back(
            fmt::format("only whole blocks go to a driver: {} of these bytes do not count", rest));
      }
      break;
    case Kind::data_units:
      details.emplace_back("each update is one data unit and goes to one side whole");
      if (answer.size < info.block_size) {
        details.push_back(
            fmt::format("OpenSSL refuses XTS data units below {} bytes", info.block_size));
      }
      break;
    case Kind::gcm:
      details.emplace_back(
          "the first data update of a message decides for all of it, by its whole blocks");
      details.emplace_back(
          "the driver does CTR, OpenSSL the tag; messages whose IV is not 12 bytes long stay in "
          "software");
      break;
    case Kind::hmac:
      details.push_back(
          fmt::format("the whole message decides, of which up to {} bytes are kept until its end",
                      std::min(HmacContext::longest_message, answer.limits.restrictions.max_size)));
      details.push_back(
          fmt::format("keys of any size; above {} bytes they are hashed first (RFC 2104)",
                      info.hash_block_size));
      break;
  }
  return details;
}

// What else a person may need to know about such calls.
std::vector<std::string> details_of(const Answer& answer) {
  if (answer.driver.empty()) return {};
  auto details = details_of_kind(answer);
  const auto& restrictions = answer.limits.restrictions;
  if (restrictions.size_multiple > 0) {
    details.push_back(fmt::format("the driver sees requests above {} bytes only in multiples of {}",
                                  restrictions.multiple_above, restrictions.size_multiple));
  }
  const std::size_t key_size = driver_key_size(answer.algorithm);
  if (is_two_key_des(answer.algorithm)) {
    details.push_back(
        fmt::format("the driver gets the two keys as one of {} bits: K1 K2 K1", key_size * 8));
  } else if (answer.limits.restrictions.refuses_repeated_des_keys) {
    details.emplace_back("keys of which two parts are equal stay in software");
  }
  return details;
}

void print_text(const Answer& answer, const Configuration& configuration, std::ostream& out) {
  out << fmt::format("{}: {}: {}\n", subject(answer), where(answer, configuration), reason(answer));
  if (!answer.driver.empty()) {
    out << fmt::format(
        "  threshold: {} ({})\n", answer.threshold,
        configuration.settings.force_threshold ? "force_threshold" : configuration.source);
    out << fmt::format("  driver: {}: {}\n", answer.driver,
                       answer.driver_binds ? "usable here" : answer.why_not);
    if (!answer.no_hardware.empty()) {
      out << fmt::format(
          "  it is no hardware: {}: calls that go there gain nothing; run kaccel-calibrate again\n",
          answer.no_hardware);
    }
    if (answer.known != nullptr && *answer.known->quirks != '\0') {
      out << fmt::format("  known quirks: {}\n", answer.known->quirks);
    }
    for (const auto& detail : details_of(answer)) out << fmt::format("  {}\n", detail);
  }
  for (const auto& remark : configuration.remarks) out << fmt::format("  note: {}\n", remark);
}

void print_json(const Answer& answer, const Configuration& configuration, std::ostream& out) {
  Json document{{"algorithm", answer.algorithm.name},
                {"size", answer.size},
                {"route", side(answer)},
                {"reason", reason(answer)},
                {"configured", configuration.configured},
                {"calibrated", configuration.settings.calibrated}};
  if (!kaccel::is_mac(answer.algorithm)) document["direction"] = name(answer.direction);
  if (!answer.driver.empty()) {
    document["details"] = details_of(answer);
    document["driver"] = answer.driver;
    document["driver_usable"] = answer.driver_binds;
    if (!answer.no_hardware.empty()) document["no_hardware"] = answer.no_hardware;
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
