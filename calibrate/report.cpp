#include "calibrate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "calibrate/json_text.hpp"
#include "calibrate/text_table.hpp"
#include "calibrate/units.hpp"
#include "provider/version.hpp"

namespace kaccel::calibrate {
namespace {

constexpr int longest_bar = 6;  // marks on each side

bool is_taken_out(const CalibratedAlgorithm& algorithm) {
  return algorithm.self_test.verdict == SelfTestVerdict::taken_out;
}

std::string remark(const CalibratedAlgorithm& algorithm) {
  if (is_taken_out(algorithm)) return "taken out: " + algorithm.self_test.fault;
  std::string text;
  const auto& found = algorithm.self_test.found;
  if (found.min_size > 0) text += fmt::format("min_size {}; ", found.min_size);
  if (found.max_size < std::numeric_limits<std::size_t>::max()) {
    text += fmt::format("max_size {}; ", found.max_size);
  }
  if (found.size_multiple > 0) text += fmt::format("size_multiple {}; ", found.size_multiple);
  if (algorithm.self_test.ciphertext_stealing) text += "ciphertext stealing; ";
  if (!algorithm.self_test.stealing_fault.empty()) {
    text += fmt::format("no ciphertext stealing: {}; ", algorithm.self_test.stealing_fault);
  }
  text += algorithm.self_test.fault;
  if (text.ends_with("; ")) text.resize(text.size() - 2);
  return text;
}

std::string in_words(Threshold threshold) {
  if (threshold == never_hardware) return "always software";
  if (threshold == always_hardware) return "always hardware";
  return fmt::format("hardware above {} bytes", threshold);
}

// One of the two tables: of the ciphers, which have a threshold a direction, or of the HMACs.
class ThresholdTable {
 public:
  explicit ThresholdTable(bool macs) : macs_(macs), table_(columns(macs)) {}

  void add_rows(const Calibration& calibration) {
    for (const auto& algorithm : calibration.algorithms) {
      add({algorithm.name, algorithm.driver, fmt::format("{}", algorithm.encrypt.threshold),
           fmt::format("{}", algorithm.decrypt.threshold), remark(algorithm)});
    }
    for (const auto& skipped : calibration.skipped) {
      add({skipped.name, skipped.driver.empty() ? "-" : skipped.driver, "-", "-", skipped.reason});
    }
  }

  void print(std::ostream& out) const {
    if (!table_.empty()) table_.print(out);
  }

 private:
  static std::vector<TextTable::Column> columns(bool macs) {
    constexpr auto right = TextTable::Align::right;
    if (macs) return {{"ALGORITHM"}, {"DRIVER"}, {"THRESHOLD", right}, {"REMARK"}};
    return {{"ALGORITHM"}, {"DRIVER"}, {"ENCRYPT", right}, {"DECRYPT", right}, {"REMARK"}};
  }

  void add(std::vector<std::string> cells) {
    if (is_mac(cells.front()) != macs_) return;
    constexpr std::ptrdiff_t decrypt = 3;
    if (macs_) cells.erase(cells.begin() + decrypt);
    table_.add(std::move(cells));
  }

  bool macs_;
  TextTable table_;
};

std::string in_words(Preference preference) {
  if (preference.offload_percent == 0) return "hardware wins where it is faster";
  return fmt::format("hardware wins up to {}% slower if it saves CPU time",
                     preference.offload_percent);
}

void print_tables(const Calibration& calibration, std::ostream& out) {
  for (const bool macs : {false, true}) {
    ThresholdTable table(macs);
    table.add_rows(calibration);
    table.print(out);
  }
  out << "Thresholds in bytes: calls (HMAC: messages) up to it use software; 0: always hardware; "
         "-1: never.\n"
         "Times are of one operation: elapsed, and what it spent of the CPU.\n";
  out << fmt::format("Measured with --prefer {} ({}) and --threads {}.\n",
                     describe(calibration.preference), in_words(calibration.preference),
                     calibration.threads);
}

std::string centred(std::string_view text) {
  return fmt::format("{:^{}}", text, 2 * longest_bar + 1);
}

// The columns of one direction: elapsed time of both sides, the bar, CPU time of both.
void add_columns(const std::string& direction, std::vector<TextTable::Column>& columns) {
  constexpr auto right = TextTable::Align::right;
  columns.insert(columns.end(), {{direction + "SW", right},
                                 {direction + "HW", right},
                                 {centred("sw < | > hw")},
                                 {"CPU SW", right},
                                 {"CPU HW", right}});
}

void add_cells(const SizeMeasurement& m, std::vector<std::string>& cells) {
  if (m.software.operations == 0) {
    const bool forbidden = m.winner == Winner::forbidden;
    cells.insert(cells.end(),
                 {"-", "-", centred(forbidden ? "not permitted" : "failed"), "-", "-"});
    return;
  }
  const double software = ns_per_operation(m.software);
  const double hardware = ns_per_operation(m.hardware);
  cells.insert(cells.end(), {duration(software), duration(hardware), speed_bar(software, hardware),
                             duration(cpu_ns_per_operation(m.software)),
                             duration(cpu_ns_per_operation(m.hardware))});
}

void print_doubt(const char* direction, const CalibratedDirection& calibrated, std::ostream& out) {
  if (!calibrated.doubt.empty()) out << fmt::format("{}{}\n", direction, calibrated.doubt);
}

void draw_mac(const CalibratedAlgorithm& algorithm, std::ostream& out) {
  out << fmt::format("\n{} on {}: {}\n", algorithm.name, algorithm.driver,
                     in_words(algorithm.encrypt.threshold));
  print_doubt("", algorithm.encrypt, out);
  std::vector<TextTable::Column> columns{{"SIZE", TextTable::Align::right}};
  add_columns("", columns);
  TextTable table(std::move(columns));
  for (const auto& m : algorithm.encrypt.measurements) {
    std::vector<std::string> cells{fmt::format("{}", m.size)};
    add_cells(m, cells);
    table.add(std::move(cells));
  }
  table.print(out);
}

void draw_cipher(const CalibratedAlgorithm& algorithm, std::ostream& out) {
  out << fmt::format("\n{} on {}: encrypt: {}; decrypt: {}\n", algorithm.name, algorithm.driver,
                     in_words(algorithm.encrypt.threshold), in_words(algorithm.decrypt.threshold));
  print_doubt("encrypt: ", algorithm.encrypt, out);
  print_doubt("decrypt: ", algorithm.decrypt, out);
  std::vector<TextTable::Column> columns{{"SIZE", TextTable::Align::right}};
  add_columns("ENC ", columns);
  add_columns("DEC ", columns);
  TextTable table(std::move(columns));
  const auto& encrypt = algorithm.encrypt.measurements;
  const auto& decrypt = algorithm.decrypt.measurements;
  for (std::size_t i = 0; i < std::min(encrypt.size(), decrypt.size()); ++i) {
    std::vector<std::string> cells{fmt::format("{}", encrypt[i].size)};
    add_cells(encrypt[i], cells);
    add_cells(decrypt[i], cells);
    table.add(std::move(cells));
  }
  table.print(out);
}

Json to_json(const CalibratedDirection& direction) {
  Json sizes = Json::array();
  for (const auto& m : direction.measurements) {
    Json size{{"size", m.size}, {"winner", describe(m.winner)}};
    if (m.software.operations > 0) {
      size["software_operations"] = m.software.operations;
      size["software_ns"] = ns_per_operation(m.software);
      size["software_cpu_ns"] = cpu_ns_per_operation(m.software);
      size["hardware_operations"] = m.hardware.operations;
      size["hardware_ns"] = ns_per_operation(m.hardware);
      size["hardware_cpu_ns"] = cpu_ns_per_operation(m.hardware);
    }
    if (!m.problem.empty()) size["problem"] = m.problem;
    sizes.push_back(std::move(size));
  }
  Json json{{"threshold", direction.threshold}, {"sizes", std::move(sizes)}};
  if (!direction.doubt.empty()) json["doubt"] = direction.doubt;
  return json;
}

const char* describe(SelfTestVerdict verdict) {
  switch (verdict) {
    case SelfTestVerdict::passed:
      return "passed";
    case SelfTestVerdict::restricted:
      return "restricted";
    case SelfTestVerdict::taken_out:
      break;
  }
  return "taken out";
}

Json to_json(const CalibratedAlgorithm& algorithm) {
  Json json{{"algorithm", algorithm.name},
            {"driver", algorithm.driver},
            {"self_test", describe(algorithm.self_test.verdict)}};
  if (!algorithm.self_test.fault.empty()) json["fault"] = algorithm.self_test.fault;
  const auto& found = algorithm.self_test.found;
  if (found.min_size > 0) json["min_size"] = found.min_size;
  if (found.max_size < std::numeric_limits<std::size_t>::max()) json["max_size"] = found.max_size;
  if (found.size_multiple > 0) json["size_multiple"] = found.size_multiple;
  if (has_data_units(algorithm.name)) {
    json["ciphertext_stealing"] = algorithm.self_test.ciphertext_stealing;
    const auto& stealing_fault = algorithm.self_test.stealing_fault;
    if (!stealing_fault.empty()) json["ciphertext_stealing_fault"] = stealing_fault;
  }
  if (is_mac(algorithm.name)) {
    json.update(to_json(algorithm.encrypt));
  } else {
    json["encrypt"] = to_json(algorithm.encrypt);
    json["decrypt"] = to_json(algorithm.decrypt);
  }
  return json;
}

}  // namespace

void print_report(const Calibration& calibration, std::ostream& out) {
  print_tables(calibration, out);
  for (const auto& algorithm : calibration.algorithms) {
    if (is_taken_out(algorithm)) continue;
    if (is_mac(algorithm.name)) {
      draw_mac(algorithm, out);
    } else {
      draw_cipher(algorithm, out);
    }
  }
}

void print_report_json(const Calibration& calibration, const std::string& file, std::ostream& out) {
  Json algorithms = Json::array();
  for (const auto& algorithm : calibration.algorithms) algorithms.push_back(to_json(algorithm));
  Json skipped = Json::array();
  for (const auto& one : calibration.skipped) {
    skipped.push_back({{"algorithm", one.name}, {"driver", one.driver}, {"reason", one.reason}});
  }
  out << json_text({{"kaccel", version},
                    {"kernel", calibration.kernel_release},
                    {"date", calibration.date},
                    {"file", file},
                    {"prefer", describe(calibration.preference)},
                    {"threads", calibration.threads},
                    {"algorithms", std::move(algorithms)},
                    {"skipped", std::move(skipped)}});
}

std::string speed_bar(double software_ns, double hardware_ns) {
  const double factor = std::max(software_ns, hardware_ns) / std::min(software_ns, hardware_ns);
  int marks = 0;
  if (factor > 1) marks = 1 + static_cast<int>(std::min(2 * std::log2(factor), 100.0));
  marks = std::min(marks, longest_bar);
  const bool software_wins = software_ns < hardware_ns;
  return fmt::format(
      "{:>{}}|{:<{}}", std::string(software_wins ? static_cast<std::size_t>(marks) : 0, '<'),
      longest_bar, std::string(software_wins ? 0 : static_cast<std::size_t>(marks), '>'),
      longest_bar);
}

}  // namespace kaccel::calibrate
