#include "calibrate/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <tuple>

#include "calibrate/algorithm_names.hpp"
#include "calibrate/command_error.hpp"
#include "calibrate/json_text.hpp"
#include "calibrate/text_table.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Driver;
using kernel::Hardness;

struct Row {
  const Driver* driver;
  bool usable;
  std::string why_not;
};

const char* kind(Hardness hardness) {
  switch (hardness) {
    case Hardness::hardware:
      return "hardware";
    case Hardness::software:
      return "software";
    case Hardness::not_a_driver:
      break;
  }
  return "wrapper";
}

Row look_at(const Driver& driver, const Machine& machine) {
  const auto status = machine.af_alg ? kernel::probe(machine.transport, driver) : machine.af_alg;
  if (status) return {&driver, true, {}};
  // Said once, above the table.
  if (!machine.af_alg) return {&driver, false, "no AF_ALG"};
  return {&driver, false, why_unusable(driver, status, machine.kernel)};
}

// Hardware first, then by algorithm, the driver the kernel prefers on top.
bool comes_before(const Row& a, const Row& b) {
  const auto key = [](const Row& row) {
    return std::tuple(row.driver->hardness, row.driver->algorithm, -row.driver->entry.priority,
                      std::string_view(row.driver->entry.driver));
  };
  return key(a) < key(b);
}

std::string published(const Driver& driver) {
  return driver.known != nullptr ? fmt::format("{}", driver.known->published_threshold) : "";
}

void print_quirks(const std::vector<Row>& rows, std::ostream& out) {
  bool titled = false;
  for (const auto& row : rows) {
    const auto* known = row.driver->known;
    if (known == nullptr || *known->quirks == '\0') continue;
    if (!titled) out << "\nKnown quirks (kaccel respects them):\n";
    titled = true;
    out << fmt::format("  {}: {}\n    source: {}\n", known->driver, known->quirks, known->source);
  }
}

void print_text(const std::vector<Row>& rows, const Machine& machine, std::ostream& out) {
  if (!machine.af_alg) {
    out << why_no_af_alg(machine.af_alg) << ": no driver can be used\n";
  }
  if (rows.empty()) {
    out << "/proc/crypto lists no driver for an algorithm that kaccel knows\n";
    return;
  }
  using Align = TextTable::Align;
  TextTable table({{"ALGORITHM"},
                   {"DRIVER"},
                   {"PRIORITY", Align::right},
                   {"KIND"},
                   {"USABLE"},
                   {"PUBLISHED", Align::right},
                   {"WHY"}});
  for (const auto& row : rows) {
    const auto& driver = *row.driver;
    table.add({driver.entry.name, driver.entry.driver, fmt::format("{}", driver.entry.priority),
               kind(driver.hardness), row.usable ? "yes" : "no", published(driver),
               row.usable ? driver.reason : fmt::format("{}; {}", driver.reason, row.why_not)});
  }
  table.print(out);
  print_quirks(rows, out);
  const auto hardware = std::count_if(rows.begin(), rows.end(), [](const Row& row) {
    return row.driver->hardness == Hardness::hardware;
  });
  const auto usable = std::count_if(rows.begin(), rows.end(), [](const Row& row) {
    return row.driver->hardness == Hardness::hardware && row.usable;
  });
  out << fmt::format(
      "\n{} drivers, {} of them hardware, {} of these usable. PUBLISHED: threshold "
      "until you calibrate; -1: never.\nkaccel serves OpenSSL's {}.\n",
      rows.size(), hardware, usable, known_algorithm_names());
}

Json to_json(const Row& row) {
  const auto& driver = *row.driver;
  Json json{{"algorithm", driver.entry.name},
            {"driver", driver.entry.driver},
            {"module", driver.entry.module},
            {"priority", driver.entry.priority},
            {"kind", kind(driver.hardness)},
            {"kind_reason", driver.reason},
            {"usable", row.usable}};
  if (!row.usable) json["why_not"] = row.why_not;
  if (driver.known != nullptr) {
    json["family"] = driver.known->family;
    json["quirks"] = driver.known->quirks;
    json["published_threshold"] = driver.known->published_threshold;
    json["source"] = driver.known->source;
  }
  return json;
}

void print_json(const std::vector<Row>& rows, const Machine& machine, std::ostream& out) {
  Json drivers = Json::array();
  for (const auto& row : rows) drivers.push_back(to_json(row));
  Json document{{"kernel", machine.kernel.release}, {"af_alg", static_cast<bool>(machine.af_alg)}};
  if (!machine.af_alg) document["af_alg_problem"] = why_no_af_alg(machine.af_alg);
  document["drivers"] = std::move(drivers);
  out << json_text(document);
}

}  // namespace

int list(const ListOptions& options, const Machine& machine, std::ostream& out) {
  std::vector<Row> rows;
  for (const auto& driver : machine.drivers) rows.push_back(look_at(driver, machine));
  std::sort(rows.begin(), rows.end(), comes_before);
  if (options.json) {
    print_json(rows, machine, out);
  } else {
    print_text(rows, machine, out);
  }
  return exit_done;
}

}  // namespace kaccel::calibrate
