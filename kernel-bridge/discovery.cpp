#include "kernel-bridge/discovery.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "kernel-bridge/af_alg_transport.hpp"

namespace kaccel::kernel {
namespace {

// A device whose drivers lack KERN_DRIVER_ONLY, or are synchronous, or bear a name that reads like
// a CPU's.
struct DeviceName {
  enum class Where : std::uint8_t { prefix, suffix } where;
  std::string_view text;
  const char* reason;
};

// clang-format off
constexpr std::array device_names{
    DeviceName{DeviceName::Where::suffix, "-padlock",       "VIA PadLock, a crypto unit inside the CPU"},
    DeviceName{DeviceName::Where::suffix, "-padlock-nano",  "VIA PadLock, a crypto unit inside the CPU"},
    DeviceName{DeviceName::Where::suffix, "-geode",         "AMD Geode LX crypto engine"},
    DeviceName{DeviceName::Where::suffix, "-sun4i-ss",      "Allwinner security system"},
    DeviceName{DeviceName::Where::suffix, "-sun8i-ss",      "Allwinner security system"},
    DeviceName{DeviceName::Where::suffix, "-sun8i-ce",      "Allwinner crypto engine"},
    DeviceName{DeviceName::Where::suffix, "-rk",            "Rockchip crypto engine"},
    DeviceName{DeviceName::Where::suffix, "-caam",          "NXP CAAM"},
    DeviceName{DeviceName::Where::suffix, "-caam-qi",       "NXP CAAM"},
    DeviceName{DeviceName::Where::suffix, "-caam-qi2",      "NXP CAAM"},
    DeviceName{DeviceName::Where::suffix, "-dcp",           "NXP/Freescale data co-processor"},
    DeviceName{DeviceName::Where::prefix, "sahara-",        "NXP/Freescale SAHARA"},
    DeviceName{DeviceName::Where::prefix, "virtio_crypto_", "virtio-crypto device of the host"},
};

// Parts of the names of drivers that compute with instructions of the CPU. Some of those are
// asynchronous, because they put a request off while the vector registers are in use.
constexpr std::array<std::string_view, 14> cpu_words{
    "aesni", "avx", "avx2", "avx10", "avx512", "vaes", "sse2", "ssse3", "ni",
    "ce", "neon", "neonbs", "riscv64", "p8",
};
// clang-format on

constexpr std::array<std::string_view, 3> wrapper_prefixes{"cryptd(", "mcryptd(", "pcrypt("};

const DeviceName* find_device_name(std::string_view driver) noexcept {
  for (const auto& name : device_names) {
    if (name.where == DeviceName::Where::prefix ? driver.starts_with(name.text)
                                                : driver.ends_with(name.text)) {
      return &name;
    }
  }
  return nullptr;
}

bool has_cpu_word(std::string_view driver) noexcept {
  constexpr std::string_view separators = "-_()";
  while (!driver.empty()) {
    const auto end = std::min(driver.find_first_of(separators), driver.size());
    if (std::find(cpu_words.begin(), cpu_words.end(), driver.substr(0, end)) != cpu_words.end()) {
      return true;
    }
    driver.remove_prefix(std::min(end + 1, driver.size()));
  }
  return false;
}

// The kernel names an instance "template(driver,...)". Own names like "cbc(aes)-ixp4xx" do not end
// so.
bool is_named_like_an_instance(std::string_view driver) noexcept {
  return driver.ends_with(')') && driver.find('(') != std::string_view::npos;
}

bool is_instance(std::string_view driver, std::optional<std::uint32_t> flags) noexcept {
  return flags ? (*flags & crypto_flag::instance) != 0 : is_named_like_an_instance(driver);
}

// Whether entries of this type can be reached through a socket of this kind. The kernel called
// ciphers "ablkcipher" and "blkcipher" (asynchronous and synchronous) before 5.5, and its skcipher
// sockets reach those. Left out: "givcipher" (before 4.10: makes IVs of its own), "lskcipher"
// (computes on the CPU by its interface), "larval" (not there yet), "aead".
bool serves(const ProcCryptoEntry& entry, const AlgorithmInfo& algorithm) noexcept {
  const std::string_view type = entry.type;
  if (algorithm.chaining == Chaining::hash) return type == "ahash" || type == "shash";
  return type == "skcipher" || type == "ablkcipher" || type == "blkcipher";
}

std::optional<std::uint32_t> find_flags(const DriverFlags& flags, const std::string& driver) {
  const auto found = flags.find(driver);
  return found == flags.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

HardnessVerdict judge(const ProcCryptoEntry& entry, std::optional<std::uint32_t> flags) noexcept {
  using enum Hardness;
  const std::string_view driver = entry.driver;

  const bool internal = flags ? (*flags & crypto_flag::internal) != 0 : entry.internal;
  if (internal || driver.starts_with("__")) {
    return {not_a_driver, "internal helper of another driver"};
  }
  for (const auto prefix : wrapper_prefixes) {
    if (driver.starts_with(prefix)) {
      return {not_a_driver, "software wrapper that runs another driver in a kernel thread"};
    }
  }

  if (flags && (*flags & crypto_flag::kern_driver_only) != 0) {
    return {hardware, "flag KERN_DRIVER_ONLY"};
  }
  // Before the look at the name's form: eip93 calls its own drivers "cbc(aes-eip93)".
  if (find_known_driver(driver) != nullptr) return {hardware, "in the table of known drivers"};
  // Before the look for CPU words: "ce" is ARM's instructions and Allwinner's engine.
  if (const auto* device = find_device_name(driver)) return {hardware, device->reason};

  if (is_instance(driver, flags)) return {not_a_driver, "template instance over another driver"};
  if (has_cpu_word(driver)) return {software, "computes with instructions of the CPU"};

  const bool async = flags ? (*flags & crypto_flag::async) != 0 : entry.async;
  if (async) return {hardware, "asynchronous, and no known software wrapper"};
  return {software, "synchronous, so computed on the CPU"};
}

std::vector<Driver> select_drivers(std::vector<ProcCryptoEntry> entries, const DriverFlags& flags) {
  std::vector<Driver> drivers;
  for (auto& entry : entries) {
    const AlgorithmInfo* const algorithm = find_algorithm(entry.name.c_str());
    if (algorithm == nullptr || !serves(entry, *algorithm)) continue;
    // An algorithm registered while the file is being read shifts the list: an entry comes twice.
    const bool seen = std::any_of(drivers.begin(), drivers.end(), [&](const Driver& driver) {
      return driver.algorithm == algorithm->id && driver.entry.driver == entry.driver;
    });
    if (seen) continue;

    const auto driver_flags = find_flags(flags, entry.driver);
    const auto [hardness, reason] = judge(entry, driver_flags);
    const KnownDriver* known = find_known_driver(entry.driver);
    drivers.push_back({.entry = std::move(entry),
                       .flags = driver_flags,
                       .algorithm = algorithm->id,
                       .known = known,
                       .hardness = hardness,
                       .reason = reason});
  }
  return drivers;
}

std::vector<Driver> discover(const std::string& proc_crypto_path) {
  auto entries = parse_proc_crypto(read_text_file(proc_crypto_path));
  if (entries.empty()) return {};
  return select_drivers(std::move(entries), read_driver_flags());
}

Status af_alg_available() noexcept {
  const int socket = ::socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket < 0) return status_of_errno(errno);
  ::close(socket);
  return success;
}

Status probe(Transport& transport, const Driver& driver) noexcept {
  // What does not fit into sockaddr_alg would bind, cut short, to something else.
  constexpr std::size_t longest_name = 63;
  if (driver.entry.driver.empty() || driver.entry.driver.size() > longest_name) {
    return {Failure::no_driver, 0};
  }
  std::unique_ptr<Session> session;
  return transport.open(driver.entry.driver.c_str(), driver.algorithm, session);
}

}  // namespace kaccel::kernel
