// Carries out one case of the battery on a driver, in the helper process.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/openssl_context.hpp"
#include "calibrate/random_bytes.hpp"
#include "calibrate/self_test.hpp"
#include "calibrate/self_test_cases.hpp"

namespace kaccel::calibrate {

// The driver cannot be used for this algorithm at all: it does not bind or refuses the key size.
struct UnusableDriver : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class CaseRunner {
 public:
  CaseRunner(const TestSubject& subject, kernel::Transport& transport);

  enum class Outcome : std::uint8_t { right, wrong, skipped };
  struct Report {
    Outcome outcome;
    std::string fault;  // where wrong
  };
  // skipped: the kernel takes no request of this length. Throws UnusableDriver.
  Report run(const Case& test);

 private:
  using Bytes = std::vector<std::uint8_t>;

  // A keyed session for each direction, as the session pool has them.
  struct Pair {
    std::unique_ptr<kernel::Session> encrypt;
    std::unique_ptr<kernel::Session> decrypt;
    Bytes key;
  };
  // Where in memory a request's buffers lie, in bytes past a page border.
  struct Placement {
    std::size_t input = 0;
    std::size_t output = 0;
  };

  std::unique_ptr<kernel::Session> open(const Bytes& key);
  Pair open_pair();
  static kernel::Session& side(Pair& pair, kernel::Direction direction);

  Bytes reference(kernel::Direction direction, const Bytes& key, const Bytes& iv,
                  const Bytes& input);
  // One request, compared with the reference. Throws Fault.
  Bytes check(kernel::Session& session, kernel::Direction direction, const Bytes& key,
              const Bytes& iv, const Bytes& input, Placement placement);
  void check_both(Pair& pair, std::size_t length, Placement placement);

  void test_length(std::size_t length);
  void test_chained(std::size_t length);
  void test_many_keys(std::size_t length);
  void test_both_directions(std::size_t length);
  void test_misaligned(std::size_t length);
  void test_counter_carry(std::size_t length);
  void test_repeated(std::size_t length);
  void test_through_provider(std::size_t length);
  struct StreamShape {
    std::size_t largest_chunk;
    bool in_place;
  };
  void stream_through_provider(const OpensslContext& accelerated, kernel::Direction direction,
                               const StreamShape& shape);

  const TestSubject& subject_;
  const kernel::AlgorithmInfo& info_;
  kernel::Transport& transport_;
  OpensslContext software_;
  RandomBytes random_;
  Pair lasting_;  // in use from case to case, as a long-lived application's
};

}  // namespace kaccel::calibrate
