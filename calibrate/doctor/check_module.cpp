#include <fmt/format.h>
#include <openssl/crypto.h>

#include <cstdlib>
#include <filesystem>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/subject.hpp"
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

// Why it cannot be used, "" where it can.
std::string why_not(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return "is not there";
  const auto reason = why_not_loadable(path);
  return reason.empty() ? "" : "does not load: " + printable(reason, 200);
}

}  // namespace

void check_module(const Subject& subject, const Sections& sections, Findings& findings) {
  const auto named = subject.conf.value(sections.kaccel, "module");
  const std::string path = resolve(named.value_or("kaccel"));
  const auto fault = why_not(path);
  if (fault.empty()) {
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
  Finding finding{State::problem, check, fmt::format("{} {}", printable(path, 200), fault),
                  place(subject, sections.kaccel, "module"),
                  "programs run without kaccel; where the file does not activate the default "
                  "provider itself, they have no digests, no random numbers and no TLS"};
  const std::string usual = resolve("kaccel");
  if (usual != path && why_not(usual).empty()) {
    finding.mend.lines = {fmt::format("[{}]", sections.kaccel), "module = " + usual};
    finding.mend.file = subject.path;
  } else if (const auto* line = subject.lines.find(sections.providers, "kaccel")) {
    finding.mend.commands = comment_out({line});
    finding.mend.remark = fmt::format(
        "that does without kaccel; to have it, install it for this machine ({})", usual);
  }
  findings.push_back(std::move(finding));
}

}  // namespace kaccel::calibrate::doctor
