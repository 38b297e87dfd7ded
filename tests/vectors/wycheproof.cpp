#include "wycheproof.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace kaccel::vectors {

std::filesystem::path wycheproof_file(const std::string& name) {
  const char* chosen = std::getenv("KACCEL_WYCHEPROOF_DIR");
  const std::filesystem::path directory = chosen != nullptr ? chosen : KACCEL_WYCHEPROOF_DIR;
  return directory / name;
}

std::string how_to_get_wycheproof(const std::filesystem::path& path) {
  return path.string() +
         " is not there: get it from github.com/C2SP/wycheproof and name its directory in "
         "KACCEL_WYCHEPROOF_DIR";
}

nlohmann::json read_test_groups(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream).at("testGroups");
}

KnownAnswer answer_of(const nlohmann::json& test) {
  const auto bytes = [&test](const char* name) {
    return test.contains(name) ? from_hex(test.at(name)) : Bytes{};
  };
  const std::string result = test.at("result");
  if (result != "valid" && result != "invalid") {
    throw std::runtime_error("no rule for a result of " + result);
  }
  KnownAnswer answer;
  answer.key = bytes("key");
  answer.iv = bytes("iv");
  answer.aad = bytes("aad");
  answer.plaintext = bytes("msg");
  answer.ciphertext = bytes("ct");
  answer.tag = bytes("tag");
  answer.refused = result == "invalid";
  return answer;
}

}  // namespace kaccel::vectors
