// What loading keys costs: nanoseconds a request through kaccel, with the key already loaded and
// with the key loaded for each request.
//
//   key-load-bench --driver cbc-aes-padlock [--json FILE]
//
// All to hardware (threshold 0), AES-128-CBC, one EVP_CipherUpdate a request:
//
//   one      one context in a loop
//   two      two contexts that alternate
//   many     1,000 contexts in turn, over 64 sessions: each finds its session given away
//   reload   two contexts that alternate over one session: each request loads its key
//   rekey    one context, initialised with a new key for each message
//   again    one context, initialised with the same key for each message

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "provider/embed.hpp"
#include "tests/bench/timed_operation.hpp"
#include "tests/support/evp.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::bench {
namespace {

constexpr const char* algorithm = "AES-128-CBC";
constexpr std::size_t many_contexts = 1000;
constexpr std::size_t usual_sessions = 64;

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

std::uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

// The simulated PadLock counts the requests that came with another key than the one before.
std::optional<std::uint64_t> device_reloads(const std::string& driver) {
  if (!driver.ends_with("-padlock")) return std::nullopt;
  std::ifstream file("/sys/module/kaccel_sim/parameters/padlock_reloads");
  std::uint64_t count = 0;
  return file >> count ? std::optional(count) : std::nullopt;
}

struct Scenario {
  const char* name;
  std::size_t sessions;  // max_sessions
  std::size_t contexts;  // used in turn
  enum class Init { once, same_key, new_key } init;
};

constexpr std::array scenarios{
    Scenario{"one", usual_sessions, 1, Scenario::Init::once},
    Scenario{"two", usual_sessions, 2, Scenario::Init::once},
    Scenario{"many", usual_sessions, many_contexts, Scenario::Init::once},
    Scenario{"reload", 1, 2, Scenario::Init::once},
    Scenario{"rekey", usual_sessions, 1, Scenario::Init::new_key},
    Scenario{"again", usual_sessions, 1, Scenario::Init::same_key},
};

struct Figures {
  double ns = 0;  // a request
  std::uint64_t requests = 0;
  std::uint64_t keys_loaded = 0;  // in the time measured
  std::uint64_t keys_before = 0;  // loaded by the requests before it
  std::optional<std::uint64_t> reloads;
};

Settings settings_for(const std::string& driver, std::size_t sessions) {
  Settings settings;
  settings.calibrated = true;
  settings.max_sessions = sessions;
  AlgorithmSettings& row = settings.algorithms.at(find_algorithm(algorithm));
  row.driver = driver;
  row.encrypt = row.decrypt = 0;
  return settings;
}

class Contexts {
 public:
  Contexts(const std::string& driver, const Scenario& scenario)
      : scenario_(scenario), library_context_(OSSL_LIB_CTX_new()) {
    require(library_context_ != nullptr, "no library context");
    provider_.reset(load_embedded(library_context_.get(), settings_for(driver, scenario.sessions)));
    require(provider_ != nullptr, "kaccel does not load");
    const testing::CipherPointer cipher(
        EVP_CIPHER_fetch(library_context_.get(), algorithm, nullptr));
    require(cipher != nullptr, "no cipher");
    for (std::size_t i = 0; i < scenario.contexts; ++i) {
      contexts_.emplace_back(EVP_CIPHER_CTX_new());
      init(contexts_.back().get(), cipher.get());
    }
  }

  // Each context once in turn, of which `requests` in all.
  void use(std::size_t requests, std::size_t size) {
    for (; requests > 0; --requests) {
      EVP_CIPHER_CTX* context = contexts_[next_].get();
      if (++next_ == contexts_.size()) next_ = 0;
      if (scenario_.init != Scenario::Init::once) init(context, nullptr);
      int written = 0;
      require(EVP_CipherUpdate(context, output_buffer(), &written, input_buffer(),
                               static_cast<int>(size)) == 1,
              "update failed");
    }
  }

  std::uint64_t counter(const char* name) const {
    return testing::provider_counter(provider_.get(), name);
  }

 private:
  void init(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher) {
    if (scenario_.init != Scenario::Init::same_key) ++key_number_;
    std::array<unsigned char, 16> key{0x2b, 0x7e};
    const std::array<unsigned char, 16> iv{1};
    std::memcpy(key.data() + 2, &key_number_, sizeof key_number_);
    require(EVP_CipherInit_ex2(context, cipher, key.data(), iv.data(), 1, nullptr) == 1 &&
                EVP_CIPHER_CTX_set_padding(context, 0) == 1,
            "init failed");
  }

  const Scenario& scenario_;
  testing::LibraryContextPointer library_context_;
  testing::ProviderPointer provider_;
  std::vector<testing::CipherContextPointer> contexts_;
  std::size_t next_ = 0;
  std::uint64_t key_number_ = 0;
};

Figures measure(const std::string& driver, const Scenario& scenario, std::size_t size,
                std::size_t requests) {
  Contexts contexts(driver, scenario);
  // Opens every session and reads every page, before the clock runs.
  contexts.use(scenario.contexts + 4, size);
  const std::uint64_t requests_before = contexts.counter("requests");
  Figures figures;
  figures.keys_before = contexts.counter("keys-loaded");
  const auto reloads_before = device_reloads(driver);
  const std::uint64_t start = now_ns();
  contexts.use(requests, size);
  const std::uint64_t passed = now_ns() - start;
  const auto reloads = device_reloads(driver);
  figures.ns = static_cast<double>(passed) / static_cast<double>(requests);
  figures.requests = contexts.counter("requests") - requests_before;
  figures.keys_loaded = contexts.counter("keys-loaded") - figures.keys_before;
  if (reloads && reloads_before) figures.reloads = *reloads - *reloads_before;
  require(figures.requests == requests && contexts.counter("fallbacks") == 0,
          "not every request went to the driver");
  return figures;
}

double each(std::uint64_t count, const Figures& figures) {
  return static_cast<double>(count) / static_cast<double>(figures.requests);
}

int run(int argc, char** argv) {
  CLI::App app("Times requests with the key loaded and with the key to be loaded");
  std::string driver, json_path;
  std::vector<std::size_t> sizes{64, 256, 1024, 8192, 16384};
  std::size_t requests = 1000;
  app.add_option("--driver", driver, "the kernel's driver name, of a cbc(aes)")->required();
  app.add_option("--size", sizes, "bytes a request, whole blocks")
      ->check(CLI::Range(std::size_t{32}, std::size_t{65536}));
  app.add_option("--requests", requests, "timed requests a cell")->check(CLI::PositiveNumber);
  app.add_option("--json", json_path, "write the figures here");
  CLI11_PARSE(app, argc, argv);

  std::fill_n(input_buffer(), largest_size, 0x5a);
  std::fill_n(output_buffer(), largest_size, 0);
  nlohmann::json rows = nlohmann::json::array();
  fmt::print("{}, {} requests a cell\n", driver, requests);
  fmt::print("{:>6} {:<8}{:>12}{:>8}{:>16}{:>16}\n", "bytes", "way", "ns/request", "ratio",
             "keys/request", "reloads/request");
  for (const std::size_t size : sizes) {
    double one = 0;
    for (const Scenario& scenario : scenarios) {
      const Figures figures = measure(driver, scenario, size, requests);
      if (one == 0) one = figures.ns;
      const std::string reloads =
          figures.reloads ? fmt::format("{:.3f}", each(*figures.reloads, figures)) : "-";
      fmt::print("{:>6} {:<8}{:>12.0f}{:>8.3f}{:>16.3f}{:>16}\n", size, scenario.name, figures.ns,
                 figures.ns / one, each(figures.keys_loaded, figures), reloads);
      nlohmann::json row{{"driver", driver},
                         {"size", size},
                         {"way", scenario.name},
                         {"sessions", scenario.sessions},
                         {"contexts", scenario.contexts},
                         {"requests", figures.requests},
                         {"ns", figures.ns},
                         {"ratio", figures.ns / one},
                         {"keys_loaded", figures.keys_loaded},
                         {"keys_loaded_before", figures.keys_before}};
      if (figures.reloads) row["device_reloads"] = *figures.reloads;
      rows.push_back(std::move(row));
    }
  }
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << rows.dump(1) << '\n';
  require(file.good(), "the JSON file cannot be written");
  return 0;
}

}  // namespace
}  // namespace kaccel::bench

int main(int argc, char** argv) {
  try {
    return kaccel::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "key-load-bench: {}\n", error.what());
    ERR_print_errors_fp(stderr);
    return 1;
  }
}
