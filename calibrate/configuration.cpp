#include "calibrate/configuration.hpp"

#include <algorithm>
#include <utility>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/broken_line.hpp"
#include "provider/config_file.hpp"
#include "provider/special_files.hpp"

namespace kaccel::calibrate {
namespace {

// OpenSSL skips an include that is not there without a word; what was not included shows as a name
// of a section that does not exist.
void remark_on_missing_thresholds(const ConfigSection& section, Configuration& result) {
  if (!section.unreadable_include.empty()) {
    result.remarks.push_back("an included file cannot be read: " +
                             printable(section.unreadable_include, 400));
  }
  const auto named = section.values.find("thresholds");
  if (named == section.values.end()) return;
  result.remarks.push_back("thresholds = " + printable(named->second) +
                           " names a section that is not there: is kaccel-thresholds.cnf written "
                           "and included?");
}

void parse_section(const ConfigSection& section, const std::string& path, Settings& settings) {
  if (const auto& knot = section.knot) {
    throw CommandError(exit_bad_input, "wrong configuration", path,
                       printable("[" + knot->section + "] " + knot->key + " = " + knot->value +
                                     " " + knot->problem,
                                 400));
  }
  const auto lookup = [&](const char* key) -> const char* {
    const auto found = section.values.find(key);
    return found != section.values.end() ? found->second.c_str() : nullptr;
  };
  auto error = find_unknown_key(section.values);
  if (!error) error = parse_settings(lookup, settings);
  if (error) {
    throw CommandError(exit_bad_input, "wrong configuration", path, printable(error->message, 400));
  }
}

// The file, or the files with commas between, in which the thresholds stand: seldom `path` itself.
std::string files_with_thresholds(const std::string& path) {
  const auto lines = doctor::read_configuration_lines(path);
  std::string section = "default";
  for (const char* key : {"openssl_conf", "providers", "kaccel", "thresholds"}) {
    const auto* line = lines.find(section, key);
    if (line == nullptr) return path;
    section = line->value;
  }
  std::vector<std::string> files;
  for (const auto& line : lines.keys) {
    if (line.section != section) continue;
    if (std::find(files.begin(), files.end(), line.file) == files.end()) files.push_back(line.file);
  }
  std::string text;
  for (const auto& file : files) text += (text.empty() ? "" : ", ") + file;
  return text.empty() ? path : text;
}

// With the file and the line in it, where OpenSSL's reader is what `problem` comes from.
std::string with_place(const std::string& path, std::string problem) {
  if (special_kind(path) != nullptr || find_special_include(path)) return problem;
  const doctor::OpensslConf conf(path);
  if (!conf.broken() || conf.broken()->line == 0) return problem;
  const auto [file, broken] =
      doctor::find_broken_line(path, *conf.broken(), doctor::read_configuration_lines(path));
  return file + ":" + std::to_string(broken.line) + ": " + broken.reason;
}

}  // namespace

Configuration read_configuration(const std::optional<std::string>& path,
                                 const std::string& proc_crypto) {
  Configuration result;
  const std::string file = path ? *path : default_config_path();
  std::string problem;
  const auto section = read_config_section(file, problem);
  if (section) {
    result.configured = true;
    parse_section(*section, file, result.settings);
    if (result.settings.calibrated) {
      result.source = files_with_thresholds(file);
      return result;
    }
    remark_on_missing_thresholds(*section, result);
    result.source = "published for the driver, since " + file + " brings no thresholds";
  } else if (problem = with_place(file, std::move(problem)); path) {
    throw CommandError(exit_bad_input, "no kaccel configuration", printable(problem, 400),
                       "see openssl.cnf.example");
  } else {
    result.remarks.push_back("kaccel is not configured (" + problem +
                             "): applications use OpenSSL's software until it is");
    result.source = "published for the driver";
  }
  published_settings(proc_crypto, result.settings);
  return result;
}

}  // namespace kaccel::calibrate
