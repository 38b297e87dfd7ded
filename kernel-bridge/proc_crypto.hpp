// /proc/crypto as data (kernel: crypto/proc.c).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaccel::kernel {

struct ProcCryptoEntry {
  std::string name;    // algorithm, e.g. "cbc(aes)"
  std::string driver;  // driver name, e.g. "cbc-aes-qce"
  std::string module;
  std::string type;  // "skcipher", "ahash", "shash", ...
  std::int32_t priority = 0;
  bool async = false;
  bool internal = false;
  bool selftest_passed = false;
  std::uint32_t min_key_size = 0;  // bytes; 0 where the type has none
  std::uint32_t max_key_size = 0;
};

// Parses the file's text. Unknown fields are skipped and a truncated last entry is dropped, so that
// a newer kernel's additions do no harm. May throw std::bad_alloc.
std::vector<ProcCryptoEntry> parse_proc_crypto(std::string_view text);

// Reads a whole file; an unreadable one gives "". May throw std::bad_alloc.
std::string read_text_file(const std::string& path);

}  // namespace kaccel::kernel
