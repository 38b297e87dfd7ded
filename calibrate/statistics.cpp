#include "calibrate/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <tuple>
#include <vector>

#include "calibrate/command_error.hpp"
#include "calibrate/configuration.hpp"
#include "calibrate/json_text.hpp"
#include "calibrate/text_table.hpp"
#include "provider/algorithms.hpp"
#include "provider/statistics_file.hpp"

namespace kaccel::calibrate {
namespace {

namespace fs = std::filesystem;

struct Program {
  std::string name;
  unsigned int uid = 0;
  Statistics counts;
};

bool is_used(const Statistics::Usage& usage) noexcept {
  return usage.hardware_calls != 0 || usage.hardware_bytes != 0 || usage.fallbacks != 0;
}

std::string configured_directory() {
  std::string directory = read_configuration({}, {}).settings.statistics;
  if (directory.empty()) {
    throw CommandError(exit_cannot, "no statistics directory", "OpenSSL's configuration",
                       "set `statistics = /run/kaccel` in kaccel's section, or name the directory");
  }
  return directory;
}

// "nginx.33"; a draft begins with a dot.
bool parse_name(const std::string& file, Program& program) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string::npos || dot == 0 || file.front() == '.') return false;
  const char* end = file.data() + file.size();
  const auto [stop, error] = std::from_chars(file.data() + dot + 1, end, program.uid);
  program.name = file.substr(0, dot);
  return error == std::errc{} && stop == end;
}

struct Found {
  std::vector<Program> programs;
  std::vector<std::string> unreadable;  // "FILE: why"
};

Found read_all(const std::string& directory) {
  Found found;
  std::error_code error;
  fs::directory_iterator files(directory, error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    Program program;
    if (!parse_name(files->path().filename().string(), program)) continue;
    std::string problem;
    if (const auto counts = read_statistics(files->path().string(), problem)) {
      program.counts = *counts;
      found.programs.push_back(std::move(program));
    } else {
      found.unreadable.push_back(files->path().string() + ": " + problem);
    }
  }
  if (error) {
    throw CommandError(exit_cannot, "cannot read", printable(directory, 400),
                       error.message() +
                           "; programs count only into a directory that is there "
                           "when they start: mkdir -m 1777 " +
                           printable(directory, 400));
  }
  std::sort(found.programs.begin(), found.programs.end(), [](const Program& a, const Program& b) {
    return std::tie(a.name, a.uid) < std::tie(b.name, b.uid);
  });
  std::sort(found.unreadable.begin(), found.unreadable.end());
  return found;
}

void print_text(const Found& found, std::ostream& out) {
  using Align = TextTable::Align;
  TextTable table({{"PROGRAM"},
                   {"UID", Align::right},
                   {"ALGORITHM"},
                   {"HARDWARE CALLS", Align::right},
                   {"HARDWARE BYTES", Align::right},
                   {"FALLBACKS", Align::right}});
  for (const Program& program : found.programs) {
    bool used = false;
    for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
      const Statistics::Usage& usage = program.counts.algorithms[row];
      if (!is_used(usage)) continue;
      used = true;
      table.add({program.name, fmt::format("{}", program.uid), algorithm_table[row].name,
                 fmt::format("{}", usage.hardware_calls), fmt::format("{}", usage.hardware_bytes),
                 fmt::format("{}", usage.fallbacks)});
    }
    if (!used) table.add({program.name, fmt::format("{}", program.uid), "-", "0", "0", "0"});
  }
  if (table.empty()) {
    out << "no program has counted anything yet\n";
  } else {
    table.print(out);
  }
  for (const std::string& line : found.unreadable) out << line << '\n';
}

Json usage_json(const Statistics::Usage& usage) {
  return {{"hardware_calls", usage.hardware_calls},
          {"hardware_bytes", usage.hardware_bytes},
          {"fallbacks", usage.fallbacks}};
}

Json to_json(const Program& program) {
  Statistics::Usage total;
  Json algorithms = Json::object();
  for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
    const Statistics::Usage& usage = program.counts.algorithms[row];
    total.hardware_calls += usage.hardware_calls;
    total.hardware_bytes += usage.hardware_bytes;
    total.fallbacks += usage.fallbacks;
    if (is_used(usage)) algorithms[algorithm_table[row].name] = usage_json(usage);
  }
  Json json{{"program", program.name}, {"uid", program.uid}};
  json.update(usage_json(total));
  json["requests"] = program.counts.requests;
  json["keys_loaded"] = program.counts.keys_loaded;
  json["sessions_opened"] = program.counts.sessions_opened;
  json["algorithms"] = std::move(algorithms);
  return json;
}

}  // namespace

int statistics(const StatisticsOptions& options, std::ostream& out) {
  const Found found = read_all(options.directory ? *options.directory : configured_directory());
  if (!options.json) {
    print_text(found, out);
    return exit_done;
  }
  Json programs = Json::array();
  for (const Program& program : found.programs) programs.push_back(to_json(program));
  out << json_text({{"programs", std::move(programs)}, {"unreadable", found.unreadable}});
  return exit_done;
}

}  // namespace kaccel::calibrate
