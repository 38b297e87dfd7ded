#include "known_answers.hpp"

#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace kaccel::vectors {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

[[noreturn]] void fail(const std::string& path, std::size_t line, const std::string& what) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + what);
}

}  // namespace

Bytes from_hex(const std::string& text) {
  if (text.size() % 2 != 0) throw std::invalid_argument("odd number of digits: " + text);
  Bytes bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [stop, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (error != std::errc{} || stop != digits + 2) {
      throw std::invalid_argument("not hexadecimal: " + text);
    }
  }
  return bytes;
}

std::vector<KnownAnswer> read_known_answers(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<KnownAnswer> answers;
  const auto check_last = [&] {
    if (answers.empty()) return;
    const KnownAnswer& last = answers.back();
    if (last.key.empty() || last.plaintext.empty() ||
        last.plaintext.size() != last.ciphertext.size()) {
      fail(path, last.line, "the record is not whole");
    }
  };

  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    const std::string_view content = trim(text);
    if (content.empty() || content.front() == '#' || content.front() == '[') continue;
    const std::size_t equals = content.find('=');
    if (equals == std::string_view::npos) fail(path, line, "neither KEY = VALUE nor a section");
    const std::string_view name = trim(content.substr(0, equals));
    const std::string value(trim(content.substr(equals + 1)));
    if (name == "COUNT") {
      check_last();
      answers.push_back({.line = line, .key = {}, .iv = {}, .plaintext = {}, .ciphertext = {}});
      continue;
    }
    if (answers.empty()) fail(path, line, "a value before the first COUNT");
    KnownAnswer& answer = answers.back();
    Bytes* field = name == "KEY"          ? &answer.key
                   : name == "IV"         ? &answer.iv
                   : name == "PLAINTEXT"  ? &answer.plaintext
                   : name == "CIPHERTEXT" ? &answer.ciphertext
                                          : nullptr;
    if (field == nullptr) fail(path, line, "unknown name " + std::string(name));
    *field = from_hex(value);
  }
  check_last();
  return answers;
}

}  // namespace kaccel::vectors
