#include "calibrate/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <ostream>

#include "calibrate/command_error.hpp"
#include "calibrate/input_file.hpp"
#include "calibrate/json_text.hpp"

namespace kaccel::calibrate {
namespace {

constexpr std::string_view needed_columns =
    "replay needs the columns algorithm,size,software,hardware (speeds, higher is faster)";
constexpr std::size_t largest_size = std::size_t{1} << 31;

// Where a message points to.
struct Place {
  const std::string& file;
  std::size_t line;
};

[[noreturn]] void fail(const Place& place, std::string_view what, std::string_view what_to_do) {
  throw CommandError(exit_bad_input, what, fmt::format("{}:{}", place.file, place.line),
                     what_to_do);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// The whole of `text` as a number, or nothing.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

struct Header {
  std::size_t columns = 0;
  std::size_t algorithm = 0;
  std::size_t size = 0;
  std::size_t software = 0;
  std::size_t hardware = 0;
};

Header parse_header(std::string_view line, const Place& place) {
  const auto names = split(line);
  Header header;
  header.columns = names.size();
  std::string missing;
  const std::array<std::pair<const char*, std::size_t*>, 4> needed{{
      {"algorithm", &header.algorithm},
      {"size", &header.size},
      {"software", &header.software},
      {"hardware", &header.hardware},
  }};
  for (const auto& [name, position] : needed) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      missing += fmt::format("{}\"{}\"", missing.empty() ? "" : ", ", name);
      continue;
    }
    if (std::find(found + 1, names.end(), name) != names.end()) {
      fail(place, fmt::format("two columns are called \"{}\"", name), "keep one of them");
    }
    *position = static_cast<std::size_t>(found - names.begin());
  }
  if (!missing.empty()) fail(place, fmt::format("no column {}", missing), needed_columns);
  return header;
}

double parse_speed(std::string_view text, const char* column, const Place& place) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0) {
    fail(place, fmt::format("{} is \"{}\"", column, printable(text)),
         "a speed is a number above 0, for example 17203200 or 9402.31");
  }
  return *value;
}

std::size_t parse_size(std::string_view text, const Place& place) {
  const auto value = parse_number<std::size_t>(text);
  if (!value || *value == 0 || *value > largest_size) {
    fail(place, fmt::format("size is \"{}\"", printable(text)),
         fmt::format("a size is a whole number of bytes, 1 to {}", largest_size));
  }
  return *value;
}

RecordedAlgorithm& find_or_add(std::vector<RecordedAlgorithm>& algorithms, std::string_view name) {
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [&](const auto& algorithm) { return algorithm.name == name; });
  if (found != algorithms.end()) return *found;
  return algorithms.emplace_back(RecordedAlgorithm{std::string(name), {}, never_hardware});
}

void add_row(std::vector<RecordedAlgorithm>& algorithms, const Header& header,
             std::string_view line, const Place& place) {
  const auto fields = split(line);
  if (fields.size() != header.columns) {
    fail(place, fmt::format("{} fields where the header has {}", fields.size(), header.columns),
         "complete or remove the line");
  }
  const auto name = fields[header.algorithm];
  if (name.empty() || printable(name) != name) {
    fail(place, fmt::format("algorithm is \"{}\"", printable(name)),
         "an algorithm is a name such as AES-128-CBC");
  }
  const Recording recording{parse_size(fields[header.size], place),
                            parse_speed(fields[header.software], "software", place),
                            parse_speed(fields[header.hardware], "hardware", place)};
  auto& recordings = find_or_add(algorithms, name).recordings;
  if (!recordings.empty() && recording.size <= recordings.back().size) {
    fail(place,
         fmt::format("size {} of {} after size {}", recording.size, name, recordings.back().size),
         "sizes of an algorithm must rise, each once");
  }
  recordings.push_back(recording);
}

std::vector<SizeVerdict> judge(const std::vector<Recording>& recordings) {
  std::vector<SizeVerdict> verdicts;
  for (const auto& recording : recordings) {
    const bool hardware_wins = recording.hardware > recording.software;
    verdicts.push_back({recording.size, hardware_wins ? Winner::hardware : Winner::software,
                        std::abs(std::log(recording.hardware / recording.software))});
  }
  return verdicts;
}

void print_json(const std::vector<RecordedAlgorithm>& algorithms, const std::string& file,
                std::ostream& out) {
  Json rows = Json::array();
  for (const auto& algorithm : algorithms) {
    Json sizes = Json::array();
    for (const auto& recording : algorithm.recordings) {
      sizes.push_back({{"size", recording.size},
                       {"software", recording.software},
                       {"hardware", recording.hardware}});
    }
    rows.push_back({{"algorithm", algorithm.name},
                    {"threshold", algorithm.threshold},
                    {"sizes", std::move(sizes)}});
  }
  out << json_text({{"file", file}, {"algorithms", std::move(rows)}});
}

}  // namespace

std::vector<RecordedAlgorithm> replay_text(std::string_view text, const std::string& file) {
  std::vector<RecordedAlgorithm> algorithms;
  std::optional<Header> header;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    auto line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    const Place place{file, ++line_number};

    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (line_number == 1 && line.starts_with(byte_order_mark)) {
      line.remove_prefix(byte_order_mark.size());
    }
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    if (!header) {
      header = parse_header(line, place);
    } else {
      add_row(algorithms, *header, line, place);
    }
  }
  if (algorithms.empty()) {
    fail({file, line_number}, header ? "no measurement after the header" : "the file is empty",
         needed_columns);
  }
  for (auto& algorithm : algorithms) {
    algorithm.threshold = choose_threshold(judge(algorithm.recordings));
  }
  return algorithms;
}

int replay(const ReplayOptions& options, std::ostream& out) {
  const auto algorithms = replay_text(read_input_file(options.file), printable(options.file, 200));
  if (options.json) {
    print_json(algorithms, options.file, out);
  } else {
    for (const auto& algorithm : algorithms) {
      out << fmt::format("{} {}\n", algorithm.name, algorithm.threshold);
    }
  }
  return exit_done;
}

}  // namespace kaccel::calibrate
