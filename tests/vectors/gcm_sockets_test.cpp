// A GCM message in hardware is CTR and nothing else: kaccel has no use for AF_ALG's AEAD sockets.

#include <gtest/gtest.h>
#include <openssl/params.h>

#include <array>
#include <set>
#include <stdexcept>
#include <string>

#include "expected_route.hpp"
#include "gcm_passage.hpp"
#include "kernel-bridge/algorithm.hpp"
#include "provider/embed.hpp"
#include "tests/support/evp.hpp"
#include "tests/support/fake_transport.hpp"

namespace kaccel::vectors {
namespace {

// FakeTransport that remembers what it was asked to open.
class WatchedTransport final : public kernel::Transport {
 public:
  kernel::Status open(const char* driver, kernel::Algorithm algorithm,
                      std::unique_ptr<kernel::Session>& session) noexcept override {
    asked_for_.insert(kernel::info(algorithm).kernel_name);
    return fake_.open(driver, algorithm, session);
  }
  const std::set<std::string>& asked_for() const { return asked_for_; }
  const kaccel::testing::FakeTransport& fake() const { return fake_; }

 private:
  kaccel::testing::FakeTransport fake_;
  std::set<std::string> asked_for_;
};

Settings every_algorithm_in_hardware() {
  Settings settings;
  settings.calibrated = true;
  for (AlgorithmSettings& algorithm : settings.algorithms) {
    algorithm.driver = "fake";
    algorithm.encrypt = algorithm.decrypt = always_hardware;
  }
  return settings;
}

kaccel::testing::LibraryContext load_kaccel(kernel::Transport& transport) {
  kaccel::testing::LibraryContextPointer context(OSSL_LIB_CTX_new());
  kaccel::testing::ProviderPointer provider(
      load_embedded(context.get(), every_algorithm_in_hardware(), &transport));
  if (provider == nullptr) throw std::runtime_error("kaccel does not load");
  return {std::move(context), std::move(provider)};
}

std::uint64_t hardware_calls(const kaccel::testing::LibraryContext& library) {
  std::uint64_t calls = 0;
  std::array params{OSSL_PARAM_construct_uint64("hardware-calls", &calls),
                    OSSL_PARAM_construct_end()};
  OSSL_PROVIDER_get_params(library.provider(), params.data());
  return calls;
}

TEST(GcmSockets, no_algorithm_of_the_kernel_that_kaccel_knows_is_an_aead) {
  for (std::size_t i = 0; i < kernel::algorithm_count; ++i) {
    const kernel::AlgorithmInfo& info = kernel::info(static_cast<kernel::Algorithm>(i));
    const std::string type = info.socket_type;
    EXPECT_TRUE(type == "skcipher" || type == "hash") << info.kernel_name << " is " << type;
  }
}

TEST(GcmSockets, a_message_in_hardware_asks_the_kernel_for_ctr_alone) {
  WatchedTransport transport;
  const auto library = load_kaccel(transport);
  const Bytes iv(12, 1), aad(20, 2), text(100, 3), tag(16);
  for (const std::size_t key_size : {16U, 24U, 32U}) {
    const std::string algorithm = "AES-" + std::to_string(8 * key_size) + "-GCM";
    const auto cipher = kaccel::testing::fetch_cipher(library, algorithm.c_str());
    ASSERT_NE(cipher, nullptr);
    const Bytes key(key_size, 4);
    for (const GcmPassage& passage : gcm_passages()) {
      SCOPED_TRACE(algorithm + " " + describe(passage));
      const GcmOutcome sealed = seal({cipher.get(), key, iv, aad, text, tag}, passage);
      ASSERT_TRUE(sealed.ok);
      const GcmOutcome opened =
          open({cipher.get(), key, iv, aad, sealed.text, sealed.tag}, passage);
      EXPECT_TRUE(opened.ok);
      EXPECT_EQ(opened.text, text);
    }
  }
  EXPECT_GT(hardware_calls(library), 0U);
  EXPECT_EQ(transport.asked_for(), std::set<std::string>{"ctr(aes)"});
  EXPECT_EQ(transport.fake().violations(), std::vector<std::string>{});
}

}  // namespace
}  // namespace kaccel::vectors
