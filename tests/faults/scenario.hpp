// What an application does with one algorithm, from its first init to its last, and all that it
// gets to see: equal on kaccel and on OpenSSL's own provider, whatever the kernel does.
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace kaccel::testing {

struct Scenario {
  const char* name;
  const char* algorithm;  // kaccel's name; HMAC-DIGEST for a MAC
  std::size_t sessions;   // most that the pool keeps
  // Calls that no request can carry. Without a session they count as fallbacks all the same.
  std::size_t beyond_a_request;
  void (*run)(class Transcript& transcript, const Scenario& scenario);
  bool without_input = false;  // the program was started with standard input closed
};

inline void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

std::span<const Scenario> scenarios();

// Collects outputs and results. What an application would notice besides is a complaint: a changed
// errno, an error in OpenSSL's queue after a call that went well, bytes beyond the output.
class Transcript {
 public:
  using Bytes = std::vector<std::uint8_t>;

  explicit Transcript(OSSL_LIB_CTX* library) : library_(library) {}

  OSSL_LIB_CTX* library() const { return library_; }
  void add(int result) { bytes_.push_back(static_cast<std::uint8_t>(result)); }
  void add(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void complain(const std::string& text) { complaints_.push_back(text); }

  const Bytes& bytes() const { return bytes_; }
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  OSSL_LIB_CTX* library_;
  Bytes bytes_;
  std::vector<std::string> complaints_;
};

Transcript run(const Scenario& scenario, OSSL_LIB_CTX* library);

}  // namespace kaccel::testing
