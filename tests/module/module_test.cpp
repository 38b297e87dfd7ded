// The module in a process that links none of it: loaded from a configuration, used, unloaded, and
// loaded again. In a build with sanitizers this is where they see kaccel.so, and LeakSanitizer what
// is left of it when the program ends.

#include <gtest/gtest.h>
#include <openssl/conf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/evp.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::array names{"AES-128-ECB", "AES-256-CBC", "AES-192-CTR",
                           "AES-256-XTS", "AES-128-GCM", "DES-EDE3-CBC"};

// Every algorithm has a driver and goes to it: on a kernel that lacks it each call falls back.
std::string configuration(bool with_default) {
  std::string text =
      "openssl_conf = openssl_init\n[openssl_init]\nproviders = providers\n[providers]\n"
      "kaccel = kaccel_section\n";
  if (with_default) text += "default = default_section\n[default_section]\nactivate = 1\n";
  text += "[kaccel_section]\nactivate = 1\nthresholds = kaccel_thresholds\n[kaccel_thresholds]\n";
  for (const std::string name : names) {
    text += name + ".encrypt = 0\n" + name + ".decrypt = 0\n" + name + ".driver = no-driver\n";
  }
  return text + "HMAC-SHA256.threshold = 0\nHMAC-SHA256.driver = no-driver\n";
}

class ConfigurationFile {
 public:
  explicit ConfigurationFile(bool with_default) {
    std::string name =
        (std::filesystem::temp_directory_path() / "kaccel-module-test-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    EXPECT_GE(descriptor, 0);
    ::close(descriptor);
    path_ = name;
    std::ofstream(path_) << configuration(with_default);
  }
  ConfigurationFile(const ConfigurationFile&) = delete;
  ConfigurationFile& operator=(const ConfigurationFile&) = delete;
  ~ConfigurationFile() { std::filesystem::remove(path_); }

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// A message in two parts and in a duplicate, or nothing where a call failed.
Bytes encrypted(OSSL_LIB_CTX* library, const char* name, const char* properties) {
  const CipherPointer cipher(EVP_CIPHER_fetch(library, name, properties));
  const CipherContextPointer context(EVP_CIPHER_CTX_new());
  const CipherContextPointer copy(EVP_CIPHER_CTX_new());
  Bytes key(64);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(7 * i + 1);
  const Bytes iv(16, 0x22);
  const Bytes data(4096, 0x5a);
  Bytes out(2 * data.size() + 64);
  int written = 0;
  std::size_t size = 0;
  const auto update = [&](EVP_CIPHER_CTX* of) {
    const bool ok = EVP_EncryptUpdate(of, out.data() + size, &written, data.data(),
                                      static_cast<int>(data.size())) == 1;
    size += static_cast<std::size_t>(written);
    return ok;
  };
  const bool ok =
      cipher != nullptr &&
      EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), iv.data(), nullptr) == 1 &&
      update(context.get()) && EVP_CIPHER_CTX_copy(copy.get(), context.get()) == 1 &&
      update(copy.get());
  out.resize(ok ? size : 0);
  return out;
}

Bytes authenticated(OSSL_LIB_CTX* library, const char* properties) {
  const Bytes key(32, 0x11);
  const Bytes data(4096, 0x5a);
  Bytes out(32);
  std::size_t size = 0;
  const bool ok = EVP_Q_mac(library, "HMAC", properties, "SHA256", nullptr, key.data(), key.size(),
                            data.data(), data.size(), out.data(), out.size(), &size) != nullptr;
  out.resize(ok ? size : 0);
  return out;
}

// 0, or which of the algorithms is not right (counted from 1).
int first_wrong(OSSL_LIB_CTX* library) {
  const LibraryContext software = LibraryContext::with_default_provider();
  int number = 0;
  for (const char* name : names) {
    ++number;
    const Bytes right = encrypted(software.get(), name, nullptr);
    if (right.empty() || encrypted(library, name, "provider=kaccel") != right) return number;
  }
  ++number;
  const Bytes right = authenticated(software.get(), nullptr);
  return !right.empty() && authenticated(library, "provider=kaccel") == right ? 0 : number;
}

class Module : public ::testing::TestWithParam<bool> {
 protected:
  const ConfigurationFile configuration_{GetParam()};
};

TEST_P(Module, IsLoadedAndUnloadedAgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    const LibraryContextPointer library(OSSL_LIB_CTX_new());
    ASSERT_EQ(OSSL_PROVIDER_set_default_search_path(library.get(), KACCEL_MODULE_DIR), 1);
    ASSERT_EQ(OSSL_LIB_CTX_load_config(library.get(), configuration_.path().c_str()), 1);
    ASSERT_EQ(OSSL_PROVIDER_available(library.get(), "kaccel"), 1);
    ASSERT_EQ(OSSL_PROVIDER_available(library.get(), "default"), 1);
    ASSERT_EQ(first_wrong(library.get()), 0);
  }
}

// As an application has it: nothing but OPENSSL_CONF, and exit() without a word to OpenSSL.
TEST_P(Module, LeavesNothingBehindInAProgramThatEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto application = [this] {
    ::setenv("OPENSSL_CONF", configuration_.path().c_str(), 1);
    ::setenv("OPENSSL_MODULES", KACCEL_MODULE_DIR, 1);
    const int wrong = first_wrong(nullptr);
    std::filesystem::remove(configuration_.path());  // this process made one of its own
    std::exit(wrong);
  };
  EXPECT_EXIT(application(), ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Of, Module, ::testing::Bool(), [](const auto& with_default) {
  return with_default.param ? "AFileWithDefault" : "AFileWithoutDefault";
});

}  // namespace
}  // namespace kaccel::testing
