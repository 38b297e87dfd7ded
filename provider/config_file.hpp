// Finds kaccel's section in an openssl.cnf, with OpenSSL's own config reader.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "provider/random_generator.hpp"

namespace kaccel {

struct ConfigSection {
  // Flattened as OpenSSL's core hands it to the provider; see SettingsLookup.
  std::map<std::string, std::string> values;
  // One line about a file that is included, exists and cannot be read; "" if there is none. OpenSSL
  // passes over such a file in silence.
  std::string unreadable_include;
  // A key after which `values` is not complete: of a section that leads back to itself, which
  // OpenSSL refuses, or of so many that nobody can mean them.
  struct Knot {
    std::string section;
    std::string key;
    std::string value;
    std::string problem;  // in a phrase
  };
  std::optional<Knot> knot;
  RandomSection random;
};

// Path of the file OpenSSL reads by default (OPENSSL_CONF or the one in OPENSSLDIR); "" if unknown.
std::string default_config_path();

// Reads `path` and follows openssl_conf -> providers -> kaccel. Nothing where the file cannot be
// read, includes a FIFO or a device, or does not name kaccel; then `problem` says why in one line.
// May throw std::bad_alloc.
std::optional<ConfigSection> read_config_section(const std::string& path, std::string& problem);

}  // namespace kaccel
