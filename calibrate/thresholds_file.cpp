#include "calibrate/thresholds_file.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "calibrate/units.hpp"
#include "provider/version.hpp"

namespace kaccel::calibrate {
namespace {

using Out = std::back_insert_iterator<std::string>;

// Elapsed and CPU time of an operation.
std::string times(const Cost& cost) {
  return fmt::format("{} (CPU {})", duration(ns_per_operation(cost)),
                     duration(cpu_ns_per_operation(cost)));
}

// Where hardware becomes faster, in words.
std::string crossover(const CalibratedDirection& direction) {
  for (const auto& m : direction.measurements) {
    if (m.winner == Winner::failed) {
      return fmt::format("{} bytes could not be measured: {}", m.size, m.problem);
    }
  }
  for (const auto& m : direction.measurements) {
    if (m.winner != Winner::hardware) continue;
    const bool faster = ns_per_operation(m.hardware) < ns_per_operation(m.software);
    return fmt::format("hardware first {} at {} bytes: {} against {}",
                       faster ? "faster" : "preferred", m.size, times(m.hardware),
                       times(m.software));
  }
  return "hardware never wins";
}

void write_crossover(Out out, const char* direction, const CalibratedDirection& calibrated) {
  fmt::format_to(out, "# {}{}\n", direction, crossover(calibrated));
  if (!calibrated.doubt.empty()) {
    fmt::format_to(out, "# {}{}\n", direction, calibrated.doubt);
  }
}

void write_algorithm(Out out, const CalibratedAlgorithm& algorithm) {
  const bool mac = is_mac(algorithm.name);
  fmt::format_to(out, "\n# {} on {}\n", algorithm.name, algorithm.driver);
  if (!algorithm.self_test.fault.empty()) {
    fmt::format_to(out, "# self-test: {}\n", algorithm.self_test.fault);
  }
  for (const auto& fault : algorithm.self_test.harmless_faults) {
    fmt::format_to(out, "# does no harm: {}\n", fault);
  }
  if (!algorithm.self_test.stealing_fault.empty()) {
    fmt::format_to(out, "# data units that are not whole blocks stay in software: {}\n",
                   algorithm.self_test.stealing_fault);
  }
  if (algorithm.self_test.verdict == SelfTestVerdict::taken_out) {
    fmt::format_to(out, "# the driver failed its self-test: do not enable it here\n");
  } else if (mac) {
    write_crossover(out, "", algorithm.encrypt);
  } else {
    write_crossover(out, "encrypt: ", algorithm.encrypt);
    write_crossover(out, "decrypt: ", algorithm.decrypt);
  }
  if (mac) {
    fmt::format_to(out, "{}.threshold = {}\n", algorithm.name, algorithm.encrypt.threshold);
  } else {
    fmt::format_to(out, "{0}.encrypt = {1}\n{0}.decrypt = {2}\n", algorithm.name,
                   algorithm.encrypt.threshold, algorithm.decrypt.threshold);
  }
  const auto& found = algorithm.self_test.found;
  if (found.min_size > 0) fmt::format_to(out, "{}.min_size = {}\n", algorithm.name, found.min_size);
  if (found.max_size < std::numeric_limits<std::size_t>::max()) {
    fmt::format_to(out, "{}.max_size = {}\n", algorithm.name, found.max_size);
  }
  if (found.size_multiple > 0) {
    fmt::format_to(out, "{}.size_multiple = {}\n", algorithm.name, found.size_multiple);
  }
  if (algorithm.self_test.ciphertext_stealing) {
    fmt::format_to(out, "{}.ciphertext_stealing = yes\n", algorithm.name);
  }
  // Last, because the reader takes a group without it for a file that was cut off.
  fmt::format_to(out, "{}.driver = {}\n", algorithm.name, algorithm.driver);
}

}  // namespace

std::string thresholds_file_text(const Calibration& calibration, const std::string& path) {
  std::string text;
  const Out out(text);
  fmt::format_to(
      out,
      "# kaccel thresholds, measured by kaccel-calibrate {} on {}, Linux {}.\n"
      "# Measured with --prefer {} and --threads {}.\n"
      "#\n"
      "# To use this file, say in openssl.cnf:\n"
      "{}"
      "#\n"
      "# A threshold is the number of bytes of a call (HMAC: of a message) up to which\n"
      "# OpenSSL's software is used; longer ones go to the driver. 0: always the driver;\n"
      "# -1: never. ciphertext_stealing = yes: the driver may get XTS data units that are\n"
      "# not whole blocks; min_size, max_size, size_multiple: which requests it may get.\n"
      "# You may edit this file; `kaccel-calibrate run` writes it anew as a whole.\n"
      "# `kaccel-calibrate explain AES-128-CBC 1024` tells what it comes to.\n"
      "\n"
      "[{}]\n"
      "calibrated = yes\n",
      version, calibration.date, calibration.kernel_release, describe(calibration.preference),
      calibration.threads, include_instructions(path, "#   "), thresholds_section);
  for (const auto& algorithm : calibration.algorithms) write_algorithm(out, algorithm);
  if (!calibration.skipped.empty()) fmt::format_to(out, "\n");
  for (const auto& skipped : calibration.skipped) {
    fmt::format_to(out, "# {}{}{}: {}\n", skipped.name, skipped.driver.empty() ? "" : " on ",
                   skipped.driver, skipped.reason);
  }
  // OpenSSL reads on in the section that an included file ends in.
  fmt::format_to(
      out, "\n# So that lines after the .include line are not taken for thresholds.\n[default]\n");
  return text;
}

std::string include_instructions(const std::string& path, const std::string& indent) {
  return fmt::format(
      "{0}[kaccel_sect]\n"
      "{0}thresholds = {1}\n"
      "{0}# and as the last line of the file:\n"
      "{0}.include {2}\n",
      indent, thresholds_section, path.empty() ? "/path/to/kaccel-thresholds.cnf" : path);
}

}  // namespace kaccel::calibrate
