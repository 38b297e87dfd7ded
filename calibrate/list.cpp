#include "calibrate/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <tuple>

#include "calibrate/algorithm_names.hpp"
#include "calibrate/command_error.hpp"
#include "calibrate/json_text.hpp"
#include "calibrate/served_algorithms.hpp"
#include "calibrate/text_table.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Driver;
using kernel::Hardness;

// AF_ALG's AEAD sockets are not wanted (DESIGN 5): GCM is a driver's CTR and OpenSSL's GHASH.
constexpr const char* aead_note =
    "not used by kaccel, which serves GCM by a driver of ctr(aes): AF_ALG's AEAD sockets are not "
    "wanted";

struct Row {
  const kernel::ProcCryptoEntry* entry;
  Hardness hardness;
  const char* reason;    // of the hardness
  const Driver* driver;  // nullptr: an AEAD
  bool usable;
  std::string why_not;
};

const kernel::KnownDriver* known(const Row& row) {
  return row.driver != nullptr ? row.driver->known : nullptr;
}

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
  Row row{&driver.entry, driver.hardness, driver.reason, &driver, false, {}};
  const auto status = machine.af_alg ? kernel::probe(machine.transport, driver) : machine.af_alg;
  row.usable = static_cast<bool>(status);
  if (!machine.af_alg) {
    row.why_not = "no AF_ALG";  // said once in full, above the table
  } else if (!status) {
    row.why_not = why_unusable(driver, status, machine.kernel);
  }
  return row;
}

// Hardware first, then by algorithm, AEADs last, the driver the kernel prefers on top.
bool comes_before(const Row& a, const Row& b) {
  const auto key = [](const Row& row) {
    const auto algorithm = row.driver != nullptr ? static_cast<std::size_t>(row.driver->algorithm)
                                                 : kernel::algorithm_count;
    return std::tuple(row.hardness, algorithm, -row.entry->priority,
                      std::string_view(row.entry->driver));
  };
  return key(a) < key(b);
}

std::string served(const Row& row) {
  const auto text = row.driver != nullptr ? describe_served(*row.driver) : std::string();
  return text.empty() ? "-" : text;
}

std::string published(const Row& row) {
  return known(row) != nullptr ? fmt::format("{}", known(row)->published_threshold) : "";
}

void print_quirks(const std::vector<Row>& rows, std::ostream& out) {
  bool titled = false;
  for (const auto& row : rows) {
    const auto* quirky = known(row);
    if (quirky == nullptr || *quirky->quirks == '\0') continue;
    if (!titled) out << "\nKnown quirks (kaccel respects them):\n";
    titled = true;
    out << fmt::format("  {}: {}\n    source: {}\n", quirky->driver, quirky->quirks,
                       quirky->source);
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
                   {"SERVES"},
                   {"WHY"}});
  for (const auto& row : rows) {
    table.add({row.entry->name, row.entry->driver, fmt::format("{}", row.entry->priority),
               kind(row.hardness), row.usable ? "yes" : "no", published(row), served(row),
               row.usable ? row.reason : fmt::format("{}; {}", row.reason, row.why_not)});
  }
  table.print(out);
  print_quirks(rows, out);
  const auto hardware = std::count_if(
      rows.begin(), rows.end(), [](const Row& row) { return row.hardness == Hardness::hardware; });
  const auto usable = std::count_if(rows.begin(), rows.end(), [](const Row& row) {
    return row.hardness == Hardness::hardware && row.usable;
  });
  out << fmt::format(
      "\n{} drivers, {} of them hardware, {} of these usable. PUBLISHED: threshold "
      "until you calibrate, not for GCM; -1: never.\nkaccel serves OpenSSL's {}.\n",
      rows.size(), hardware, usable, known_algorithm_names());
}

Json to_json(const Row& row) {
  Json serves = Json::array();
  if (row.driver != nullptr) {
    for (const auto* algorithm : served_algorithms(*row.driver)) serves.push_back(algorithm->name);
  }
  Json json{{"algorithm", row.entry->name}, {"driver", row.entry->driver},
            {"module", row.entry->module},  {"priority", row.entry->priority},
            {"kind", kind(row.hardness)},   {"kind_reason", row.reason},
            {"serves", std::move(serves)},  {"usable", row.usable}};
  if (!row.usable) json["why_not"] = row.why_not;
  if (const auto* row_known = known(row)) {
    json["family"] = row_known->family;
    json["quirks"] = row_known->quirks;
    json["published_threshold"] = row_known->published_threshold;
    json["source"] = row_known->source;
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
  for (const auto& aead : machine.aead_drivers) {
    rows.push_back(
        {&aead.entry, aead.verdict.hardness, aead.verdict.reason, nullptr, false, aead_note});
  }
  std::sort(rows.begin(), rows.end(), comes_before);
  if (options.json) {
    print_json(rows, machine, out);
  } else {
    print_text(rows, machine, out);
  }
  return exit_done;
}

}  // namespace kaccel::calibrate
