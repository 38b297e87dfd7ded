#include <fmt/format.h>
#include <openssl/crypto.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/permissions.hpp"
#include "calibrate/doctor/subject.hpp"
#include "provider/special_files.hpp"
#include "provider/version.hpp"

namespace kaccel::calibrate::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* check = "module";

std::string modules_directory() {
  if (const char* directory = std::getenv("OPENSSL_MODULES")) return directory;
  const char* directory = OPENSSL_info(OPENSSL_INFO_MODULES_DIR);
  return directory != nullptr ? directory : "";
}

// As OpenSSL finds it (crypto/provider_core.c): what is no path is a name in the directory of
// modules, with the ending that modules have.
std::string resolve(const std::string& module) {
  fs::path name = module;
  if (module.find('/') == std::string::npos && name.extension() != ".so") name += ".so";
  return (fs::path(modules_directory()) / name).string();
}

struct Fault {
  std::string what;             // "" where it can be used
  const char* means = nullptr;  // where it is worse than a module that is not there
  std::optional<Closed> closed{};
};

Fault fault_of(const std::string& path) {
  if (const auto closed = closed_to_this_user(path)) {
    return {
        fmt::format("cannot be read: {}: {}", printable(closed->path, 200), std::strerror(EACCES)),
        "this user's programs run without kaccel", closed};
  }
  std::error_code error;
  if (!fs::exists(path, error)) return {"is not there"};
  if (const char* kind = special_kind(path)) {
    return {fmt::format("is {} and no file", kind),
            "every program that loads this configuration waits there"};
  }
  const auto reason = why_not_loadable(path);
  if (reason.text.empty()) return {};
  return {"does not load: " + printable(reason.text, 200),
          reason.kills ? "it ends every program that loads this configuration" : nullptr};
}

void check_other_users(const Subject& subject, const std::string& path, Findings& findings) {
  if (!is_shared(subject) && !closed_to_others(subject.path).empty()) return;
  std::vector<Command> commands;
  std::string paths;
  for (const auto& closed : closed_to_others(path)) {
    commands.push_back(opening(closed));
    paths += (paths.empty() ? "" : ", ") + printable(closed.path, 200);
  }
  if (commands.empty()) return;
  findings.push_back({State::problem,
                      "permissions",
                      "not every user's programs can load the module: " + paths,
                      paths,
                      "they run without kaccel",
                      {std::move(commands),
                       {},
                       {},
                       "or put it where they may: " + printable(modules_directory(), 200)}});
}

}  // namespace

void check_module(const Subject& subject, const Sections& sections, Findings& findings) {
  const auto named = subject.conf.value(sections.kaccel, "module");
  const std::string path = resolve(named.value_or("kaccel"));
  const auto fault = fault_of(path);
  if (fault.what.empty()) {
    check_other_users(subject, path, findings);
    const auto& loaded = subject.trial.module_version;
    if (!loaded.empty() && loaded != version) {
      findings.push_back({State::problem,
                          check,
                          fmt::format("{} is version {}, this program is {}", printable(path, 200),
                                      printable(loaded), version),
                          path,
                          "what this program measures and explains may not be what happens",
                          {{"cmake --install build/release"}, {}, {}, "the build of one version"}});
      return;
    }
    findings.push_back(ok(check, fmt::format("{}, version {}", printable(path, 200),
                                             loaded.empty() ? version : printable(loaded))));
    return;
  }
  Finding finding{State::problem, check, fmt::format("{} {}", printable(path, 200), fault.what),
                  place(subject, sections.kaccel, "module"),
                  "programs run without kaccel; where the file does not activate the default "
                  "provider itself, they have no digests, no random numbers and no TLS"};
  if (fault.means != nullptr) finding.means = fault.means;
  const std::string usual = resolve("kaccel");
  if (fault.closed) {
    finding.mend.commands = {opening(*fault.closed)};
  } else if (usual != path && fault_of(usual).what.empty()) {
    finding.mend.lines = {fmt::format("[{}]", sections.kaccel), "module = " + usual};
    finding.mend.file = subject.path;
  } else if (const auto* line = subject.lines.find(sections.providers, "kaccel")) {
    finding.mend.commands = comment_out({line});
    finding.mend.remark = fmt::format(
        "that does without kaccel; to have it, install it for this machine ({}), or put its right "
        "path in module =",
        usual);
  }
  findings.push_back(std::move(finding));
}

}  // namespace kaccel::calibrate::doctor
