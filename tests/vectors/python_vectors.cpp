#include "python_vectors.hpp"

#include <cctype>
#include <cstdlib>
#include <ostream>
#include <string_view>

#include "thresholds.hpp"

namespace kaccel::vectors {
namespace {

std::string identifier(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return result;
}

}  // namespace

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.file.path << ", " << c.file.algorithm << ", threshold " << c.threshold;
}

std::vector<Case> cases(std::span<const VectorFile> files) {
  std::vector<Case> all;
  for (const VectorFile& file : files) {
    for (const Threshold threshold : tested_thresholds) all.push_back({file, threshold});
  }
  return all;
}

std::string case_name(const ::testing::TestParamInfo<Case>& instance) {
  const auto& [file, threshold] = instance.param;
  std::string_view path(file.path);
  path = path.substr(0, path.rfind('.'));
  constexpr std::string_view ciphers = "ciphers/";
  if (path.starts_with(ciphers)) path.remove_prefix(ciphers.size());
  return identifier(path) + "_as_" + identifier(file.algorithm) + "_" + threshold_name(threshold);
}

std::filesystem::path python_file(const VectorFile& file) {
  const char* chosen = std::getenv("KACCEL_VECTORS_DIR");
  const std::filesystem::path directory =
      chosen != nullptr ? chosen : "/usr/lib/python3/dist-packages/cryptography_vectors";
  return directory / file.path;
}

Bytes key_of(const VectorFile& file, const KnownAnswer& answer) {
  const std::string_view name(file.algorithm);
  Bytes key = answer.key;
  if (name.starts_with("DES-EDE-")) key.resize(16);
  if (name == "DES-ECB" || name == "DES-CBC") key.resize(8);
  return key;
}

std::string how_to_get_python_vectors(const std::filesystem::path& path) {
  return path.string() +
         " is not there: install python3-cryptography-vectors, or name its cryptography_vectors "
         "directory in KACCEL_VECTORS_DIR";
}

}  // namespace kaccel::vectors
