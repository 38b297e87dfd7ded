// The cases of the battery for ciphers. GCM's driver is asked for CTR, and for GCM only through
// kaccel's provider.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/openssl_context.hpp"
#include "calibrate/random_bytes.hpp"
#include "calibrate/self_test_patience.hpp"
#include "calibrate/self_test_provider.hpp"
#include "calibrate/self_test_reference.hpp"
#include "calibrate/self_test_runner.hpp"

namespace kaccel::calibrate {

class CipherCaseRunner final : public CaseRunner {
 public:
  CipherCaseRunner(const TestSubject& subject, kernel::Transport& transport,
                   const OpensslContext& software, std::chrono::milliseconds slow);

  Report run(const Case& test) override;

 private:
  using Bytes = std::vector<std::uint8_t>;

  // A keyed session for each direction, as the session pool has them.
  struct Pair {
    std::unique_ptr<kernel::Session> encrypt;
    std::unique_ptr<kernel::Session> decrypt;
    Bytes key;  // as OpenSSL takes it
  };
  // Where in memory a request's buffers lie, in bytes past a page border.
  struct Placement {
    std::size_t input = 0;
    std::size_t output = 0;
  };
  using View = std::span<const std::uint8_t>;
  // One request and what must come of it.
  struct Trial {
    kernel::Direction direction;
    View iv;
    View input;
    View expected;
  };
  // A message and its ciphertext under one pair's key.
  struct Message {
    Bytes iv;
    Bytes plaintext;
    Bytes ciphertext;
  };

  void run_case(const Case& test);
  std::unique_ptr<kernel::Session> open(const Bytes& key);
  Pair open_pair(Bytes key);
  Bytes driver_key(const Bytes& key) const;
  std::string refusal_of_key(const kernel::Status& status) const;
  static kernel::Session& side(Pair& pair, kernel::Direction direction);

  Message message(const Bytes& key, Bytes iv, std::size_t length);
  Message message(const Bytes& key, std::size_t length);
  // Of the lasting pair; made when it is first asked for.
  CipherReference& reference();

  // Throws Fault.
  void check(kernel::Session& session, const Trial& trial, Placement placement);
  // Encryption, and the way back.
  void check_both(Pair& pair, View iv, View plaintext, View ciphertext, Placement placement);
  void check_both(Pair& pair, const Message& message);
  // With the lasting pair, each time another message.
  void check_both(std::size_t length, Placement placement);

  void test_chained(std::size_t length);
  void test_many_tweaks(std::size_t length);
  void test_many_keys(std::size_t length);
  void test_both_directions(std::size_t length);
  void test_misaligned(std::size_t length);
  void test_counter_carry(std::size_t length);
  void test_repeated(std::size_t length);
  void test_turned_session(std::size_t length);

  const TestSubject& subject_;
  const Algorithm& bare_;  // what the driver itself computes
  const kernel::AlgorithmInfo& info_;
  kernel::Transport& transport_;
  const OpensslContext& software_;
  RandomBytes random_;
  Patience patience_;
  ProviderTest through_provider_;
  Pair lasting_;  // in use from case to case, as a long-lived application's
  Bytes lasting_key_;
  std::optional<CipherReference> reference_;
};

}  // namespace kaccel::calibrate
