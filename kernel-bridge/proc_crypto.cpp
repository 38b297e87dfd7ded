#include "kernel-bridge/proc_crypto.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <utility>

namespace kaccel::kernel {
namespace {

// No /proc/crypto comes near this; it bounds what a wrong path (a device, a log) can cost.
constexpr std::size_t largest_file = std::size_t{4} << 20;

std::string_view trim(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Leaves `number` alone where the text is not one.
template <typename Integer>
void parse_number(std::string_view text, Integer& number) noexcept {
  Integer value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end) number = value;
}

void set_field(ProcCryptoEntry& entry, std::string_view key, std::string_view value) {
  if (key == "name") {
    entry.name = value;
  } else if (key == "driver") {
    entry.driver = value;
  } else if (key == "module") {
    entry.module = value;
  } else if (key == "type") {
    entry.type = value;
  } else if (key == "priority") {
    parse_number(value, entry.priority);
  } else if (key == "async") {
    entry.async = value == "yes";
  } else if (key == "internal") {
    entry.internal = value == "yes";
  } else if (key == "selftest") {
    entry.selftest_passed = value == "passed";
  } else if (key == "min keysize") {
    parse_number(value, entry.min_key_size);
  } else if (key == "max keysize") {
    parse_number(value, entry.max_key_size);
  }
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) noexcept
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace

std::vector<ProcCryptoEntry> parse_proc_crypto(std::string_view text) {
  std::vector<ProcCryptoEntry> entries;
  ProcCryptoEntry entry;
  while (!text.empty()) {
    const auto line_end = text.find('\n');
    // The kernel ends every line, so an unended one was cut off, and its entry with it.
    if (line_end == std::string_view::npos) break;
    const auto line = text.substr(0, line_end);
    text.remove_prefix(line_end + 1);

    // The blank line after an entry is what says that the entry is whole.
    if (trim(line).empty()) {
      if (!entry.name.empty() && !entry.driver.empty()) entries.push_back(std::move(entry));
      entry = {};
      continue;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    set_field(entry, trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  return entries;
}

std::string read_text_file(const std::string& path) {
  const Descriptor file(path);
  if (file.number() < 0) return {};

  std::string text;
  std::size_t used = 0;
  // A procfs file has no size to ask for and gives about a page a read, so: until end of file.
  while (used < largest_file) {
    constexpr std::size_t step = std::size_t{16} << 10;
    if (text.size() - used < step) text.resize(used + 2 * step);
    const auto got = ::read(file.number(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return text;
}

}  // namespace kaccel::kernel
