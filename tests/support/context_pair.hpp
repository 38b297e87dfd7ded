// A context of kaccel's and one of the default provider's that are given the same calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/evp.hpp"

namespace kaccel::testing {

using Bytes = std::vector<std::uint8_t>;

// Where a cipher's output goes: elsewhere, or over its input. A MAC does not mind.
enum class Place : bool { apart, in_place };

// All of a pair by one thread at a time. Each call returns "", or in one line what differs.
class ContextPair {
 public:
  ContextPair() = default;
  ContextPair(const ContextPair&) = delete;
  ContextPair& operator=(const ContextPair&) = delete;
  virtual ~ContextPair() = default;

  // Key and IV that differ from every other number's; encrypting or not (a MAC does not mind).
  virtual std::string init(std::uint64_t key_number, bool encrypt) = 0;

  // ECB, CBC, CTR: the stream goes on. XTS: a unit. GCM: a message, sealed. MAC: a message.
  virtual std::string use(std::span<const std::uint8_t> data, Place place = Place::apart) = 0;

  // Both duplicated; nullptr when one of them cannot be.
  virtual std::unique_ptr<ContextPair> duplicate() const = 0;
};

// Makes pairs of one algorithm: an OpenSSL cipher name, or HMAC-DIGEST. Throws std::runtime_error
// when one of the two has no such algorithm. Safe from any thread.
class PairMaker {
 public:
  PairMaker(const LibraryContext& kaccel, const LibraryContext& reference, std::string algorithm);
  PairMaker(PairMaker&&) noexcept;
  ~PairMaker();

  // Not initialised yet. nullptr when memory is out.
  std::unique_ptr<ContextPair> make() const;
  const std::string& algorithm() const noexcept { return algorithm_; }

 private:
  struct Algorithms;
  std::string algorithm_;
  std::unique_ptr<Algorithms> algorithms_;
};

}  // namespace kaccel::testing
