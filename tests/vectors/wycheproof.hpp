// The files of Project Wycheproof.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "known_answers.hpp"

namespace kaccel::vectors {

// In KACCEL_WYCHEPROOF_DIR or where the project keeps them.
std::filesystem::path wycheproof_file(const std::string& name);
// What to do about a file that is not there.
std::string how_to_get_wycheproof(const std::filesystem::path& path);

// The file's array of groups. Throws an exception of nlohmann's for what is not JSON.
nlohmann::json read_test_groups(const std::filesystem::path& path);

// One test's fields: key, iv, aad, msg, ct and tag, those that it has.
KnownAnswer answer_of(const nlohmann::json& test);

// How many tests were run of each result. None of the files has a third one, "acceptable", and
// answer_of() throws std::runtime_error when one does: it would need a rule.
struct Tally {
  std::size_t valid = 0;
  std::size_t invalid = 0;

  void count(const KnownAnswer& answer) { ++(answer.refused ? invalid : valid); }
  friend bool operator==(const Tally&, const Tally&) = default;
};

}  // namespace kaccel::vectors
