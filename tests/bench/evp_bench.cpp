// Nanoseconds per operation at several sizes, for several OpenSSL configurations in one run:
// the way to compare the default provider, kaccel and a raw AF_ALG socket on a device.
//
//   evp-bench --side default=default.cnf --side kaccel=openssl.cnf --raw cbc-aes-qce
//
// Each side is a library context of its own with its own configuration file. What an operation is:
// timed_operation.hpp.

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "raw_socket_loop.hpp"
#include "timed_operation.hpp"
#include "timing.hpp"

namespace {

namespace bench = kaccel::bench;

[[noreturn]] void give_up(const std::string& what) {
  fmt::print(stderr, "evp-bench: {}\n", what);
  ERR_print_errors_fp(stderr);
  std::exit(1);
}

struct Side {
  std::string label;
  OSSL_LIB_CTX* library_context;
};

Side open_side(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) give_up("--side needs LABEL=FILE, not '" + argument + "'");
  Side side{argument.substr(0, equals), OSSL_LIB_CTX_new()};
  const std::string file = argument.substr(equals + 1);
  if (OSSL_LIB_CTX_load_config(side.library_context, file.c_str()) != 1) {
    give_up(file + ": cannot be loaded");
  }
  return side;
}

double time_evp(const Side& side, const std::string& algorithm, bool encrypt, std::size_t size,
                const bench::Effort& effort) {
  try {
    return bench::time_calls(
        effort, bench::timed_operation(side.library_context, algorithm, encrypt, size));
  } catch (const std::runtime_error& error) {
    give_up(side.label + ": " + algorithm + ": " + error.what());
  }
}

double time_raw(const std::string& driver, std::size_t key_size, std::size_t iv_size, bool encrypt,
                std::size_t size, const bench::Effort& effort) {
  const std::vector<std::uint8_t> key(key_size, 0x2b);
  const std::vector<std::uint8_t> iv(16, 0x01);
  try {
    bench::RawSocketLoop loop(driver, key, iv_size, encrypt);
    return bench::time_calls(effort, [&] {
      loop.crypt(iv.data(), bench::input_buffer(), bench::output_buffer(), size);
    });
  } catch (const std::runtime_error& error) {
    give_up(error.what());
  }
}

std::size_t key_size_of(const std::string& algorithm) {
  for (const auto& [part, bytes] : {std::pair{"-128-", 16}, {"-192-", 24}, {"-256-", 32}}) {
    if (algorithm.find(part) != std::string::npos) return static_cast<std::size_t>(bytes);
  }
  give_up("no key size in the name " + algorithm);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times EVP ciphers and HMAC under several OpenSSL configurations");
  std::vector<std::string> side_arguments;
  std::vector<std::string> algorithms{"AES-256-CBC"};
  std::vector<std::size_t> sizes{16, 64, 128, 256, 512, 1024, 1424, 2048, 4096, 8192, 16384};
  std::vector<std::string> directions{"encrypt", "decrypt"};
  std::string raw_driver, json_path;
  bench::Effort effort;
  app.add_option("--side", side_arguments, "LABEL=FILE: an openssl.cnf to time")->required();
  app.add_option("--algorithm", algorithms,
                 "OpenSSL cipher name, HMAC-DIGEST, or a GCM cipher with /TLS1.2 for records");
  app.add_option("--size", sizes, "bytes a call")
      ->check(CLI::Range(std::size_t{16}, bench::largest_size));
  app.add_option("--direction", directions)->check(CLI::IsMember({"encrypt", "decrypt"}));
  app.add_option("--raw", raw_driver, "also a raw AF_ALG loop on this driver");
  app.add_option("--operations", effort.operations, "timed calls a cell, at least")
      ->check(CLI::PositiveNumber);
  app.add_option("--milliseconds", effort.milliseconds, "of timed calls a cell, at least");
  app.add_option("--warm-up", effort.warm_up, "calls before them");
  app.add_option("--json", json_path, "write the figures here");
  CLI11_PARSE(app, argc, argv);

  std::fill_n(bench::input_buffer(), bench::largest_size, 0x5a);
  std::fill_n(bench::output_buffer(), bench::largest_size, 0);
  std::vector<Side> sides;
  for (const std::string& argument : side_arguments) sides.push_back(open_side(argument));

  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& algorithm : algorithms) {
    for (const std::string& direction : directions) {
      const bool has_directions = !algorithm.starts_with("HMAC-");
      if (!has_directions && direction != directions.front()) continue;
      const bool encrypt = direction == "encrypt";
      fmt::print("{} {}, ns per call\n{:>8}", algorithm, direction, "size");
      for (const Side& side : sides) fmt::print("{:>14}", side.label);
      fmt::print("{}\n", raw_driver.empty() ? "" : fmt::format("{:>14}", "raw socket"));
      for (const std::size_t size : sizes) {
        nlohmann::json row{{"algorithm", algorithm}, {"direction", direction}, {"size", size}};
        fmt::print("{:>8}", size);
        for (const Side& side : sides) {
          const double ns = time_evp(side, algorithm, encrypt, size, effort);
          row["ns"][side.label] = ns;
          fmt::print("{:>14.0f}", ns);
        }
        if (!raw_driver.empty()) {
          const bool ecb = algorithm.ends_with("-ECB");
          const double ns =
              time_raw(raw_driver, key_size_of(algorithm), ecb ? 0 : 16, encrypt, size, effort);
          row["ns"]["raw"] = ns;
          fmt::print("{:>14.0f}", ns);
        }
        fmt::print("\n");
        rows.push_back(std::move(row));
      }
    }
  }
  if (!json_path.empty()) {
    std::FILE* file = std::fopen(json_path.c_str(), "w");
    if (file == nullptr) give_up(json_path + ": cannot be written");
    fmt::print(file, "{}\n", rows.dump(1));
    std::fclose(file);
  }
  for (const Side& side : sides) OSSL_LIB_CTX_free(side.library_context);
  return 0;
}
