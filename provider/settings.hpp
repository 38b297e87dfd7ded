// kaccel's configuration: what the provider's section of openssl.cnf and the thresholds file say,
// checked. Shared by the provider and kaccel-calibrate, so that both read it alike.
//
//   [kaccel_sect]                      keys of the provider's section
//   module = kaccel.so                 (OpenSSL's own keys: identity, module, soft_load, activate)
//   activate = 1
//   thresholds = kaccel_thresholds     the section that kaccel-thresholds.cnf brings
//   max_sessions = 64                  most keyed kernel sessions a process keeps (1..1024)
//   load_default = yes                 bring OpenSSL's default provider along if nobody did
//   statistics = /run/kaccel           directory of the statistics files (statistics_file.hpp)
//   force_threshold = N                this threshold for every algorithm that has a driver
//   under_seccomp = no                 hardware also under the filters in force at load
//
//   [kaccel_thresholds]                one group of keys an algorithm, written by kaccel-calibrate
//   calibrated = yes                   also with no group: published thresholds do not apply
//   AES-128-CBC.driver = cbc-aes-qce   the kernel's driver name
//   AES-128-CBC.encrypt = 768          thresholds in bytes, by direction: up to it software;
//   AES-128-CBC.decrypt = 768          0: always hardware; -1: never
//   AES-128-CBC.min_size = 32          optional restrictions a self-test found, in bytes
//   AES-128-CBC.max_size = 65536
//   AES-128-CBC.size_multiple = 512    longer requests than this are multiples of it
//   AES-128-XTS.ciphertext_stealing = yes   a self-test proved units that are not whole blocks
//   HMAC-SHA256.threshold = 4096       an HMAC has no direction
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernel-bridge/restrictions.hpp"
#include "provider/algorithms.hpp"
#include "provider/random_generator.hpp"
#include "provider/routing.hpp"

namespace kaccel {

struct AlgorithmSettings {
  std::string driver;                  // "" : no hardware route
  Threshold encrypt = never_hardware;  // an HMAC's threshold is in both
  Threshold decrypt = never_hardware;
  kernel::Restrictions restrictions;  // from the file only; the known-drivers row is added later
  bool ciphertext_stealing = false;   // XTS: the driver may see units that are not whole blocks
};

struct Settings {
  std::array<AlgorithmSettings, kaccel::algorithm_table.size()> algorithms;
  // True where the thresholds section says so or has any group. False: the caller may fill
  // `algorithms` from the drivers it finds (see published_settings).
  bool calibrated = false;
  // The section that `thresholds` names, where the configuration has no such section: not yet
  // calibrated, or misspelt. "" otherwise.
  std::string missing_section;
  std::size_t max_sessions = 64;
  bool load_default = true;
  std::optional<Threshold> force_threshold;
  std::string statistics;  // a directory; "": none
  bool under_seccomp = false;
  // Nothing where it is not known which file OpenSSL was configured from.
  std::optional<RandomSection> random;
};

// The first thing wrong with a configuration: one line that names key, value and what is allowed.
struct SettingsError {
  std::string message;
};

// Value of a key of the provider's section, nested sections flattened with dots
// ("thresholds.AES-128-CBC.encrypt"), or nullptr. OpenSSL's core answers exactly so.
using SettingsLookup = std::function<const char*(const char* key)>;

// Reads and checks every key kaccel knows; of a group without a driver only whether there is a
// threshold. On an error returns it and leaves `settings` alone.
// May throw std::bad_alloc.
std::optional<SettingsError> parse_settings(const SettingsLookup& lookup, Settings& settings);

// Every key kaccel knows, flattened. Laid out at compile time: short-lived processes load kaccel
// too.
std::span<const char* const> known_settings_keys() noexcept;

// The keys of one algorithm in known_settings_keys(): first its driver, then the threshold that the
// writer puts first.
struct KeyGroup {
  std::size_t first;
  std::size_t size;
};

// One for each row of the table. The keys before the first group are the sections' own.
std::span<const KeyGroup> settings_key_groups() noexcept;

// Position in known_settings_keys(), or their number.
std::size_t find_settings_key(std::string_view key) noexcept;

// Checks names only: the first key of a flattened section that neither kaccel nor OpenSSL's
// provider loading knows, or that belongs to a group without its driver. May throw std::bad_alloc.
std::optional<SettingsError> find_unknown_key(const std::map<std::string, std::string>& section);

// For a device that was never calibrated: the known drivers that /proc/crypto lists, each with its
// published threshold. `proc_crypto` is the file's text. May throw std::bad_alloc.
void published_settings(std::string_view proc_crypto, Settings& settings);

}  // namespace kaccel
