#include "known_answers.hpp"

#include <cctype>
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

// The files do not agree on capitals.
std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::uint64_t from_decimal(const std::string& text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) {
    throw std::invalid_argument("not a number: " + text);
  }
  return number;
}

// IEEE 1619: a data unit's number is its tweak, lowest byte first.
Bytes tweak_of(std::uint64_t number) {
  Bytes tweak(16);
  for (std::size_t i = 0; number != 0; ++i, number >>= 8) {
    tweak[i] = static_cast<std::uint8_t>(number);
  }
  return tweak;
}

bool begins_record(const std::string& name) {
  return name == "COUNT" || name == "LEN";
}

Bytes* hexadecimal_field(KnownAnswer& answer, const std::string& name) {
  if (name == "KEY") return &answer.key;
  if (name == "IV" || name == "I") return &answer.iv;
  if (name == "AAD") return &answer.aad;
  if (name == "PLAINTEXT" || name == "PT" || name == "MSG") return &answer.plaintext;
  if (name == "CIPHERTEXT" || name == "CT") return &answer.ciphertext;
  if (name == "TAG" || name == "MD") return &answer.tag;
  return nullptr;
}

// Whether the name is known.
bool take_field(KnownAnswer& answer, const std::string& name, const std::string& value) {
  if (Bytes* field = hexadecimal_field(answer, name)) {
    *field = from_hex(value);
  } else if (name == "KEY1" || name == "KEY2" || name == "KEY3" || name == "KEYS") {
    const Bytes part = from_hex(value);
    const int times = name == "KEYS" ? 3 : 1;
    for (int i = 0; i < times; ++i) answer.key.insert(answer.key.end(), part.begin(), part.end());
  } else if (name == "DATAUNITSEQNUMBER") {
    answer.iv = tweak_of(from_decimal(value));
  } else if (name == "DATAUNITLEN" || name == "LEN") {
    answer.bits = from_decimal(value);
  } else {
    return name == "COUNT";
  }
  return true;
}

bool is_whole(const KnownAnswer& answer) {
  if (answer.key.empty()) return false;
  if (answer.refused) return answer.plaintext.empty() && !answer.tag.empty();
  const bool is_mac = !answer.tag.empty() && answer.iv.empty();
  if (is_mac) return answer.ciphertext.empty() && answer.bits == 8 * answer.plaintext.size();
  return answer.plaintext.size() == answer.ciphertext.size() &&
         !(answer.plaintext.empty() && answer.tag.empty());
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
    if (answers.empty() || is_whole(answers.back())) return;
    fail(path, answers.back().line, "the record is not whole");
  };

  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    const std::string_view content = trim(text);
    if (content.empty() || content.front() == '#' || content.front() == '[') continue;
    const std::size_t equals = content.find('=');
    const std::string name = upper_case(trim(content.substr(0, equals)));
    if (begins_record(name)) {
      check_last();
      answers.emplace_back().line = line;
    }
    if (answers.empty()) fail(path, line, "a value before the first record");
    if (name == "FAIL") {
      answers.back().refused = true;
      continue;
    }
    if (equals == std::string_view::npos) fail(path, line, "neither KEY = VALUE nor a section");
    if (!take_field(answers.back(), name, std::string(trim(content.substr(equals + 1))))) {
      fail(path, line, "unknown name " + name);
    }
  }
  check_last();
  return answers;
}

}  // namespace kaccel::vectors
