// The same messages by OpenSSL's default provider, kaccel and its peers, checked and timed in one
// run:
//
//   peer-bench --side default=default.cnf --side kaccel=openssl.cnf --json figures.json
//
// The first --side is what the others' results must equal. What a message is: sides/side.hpp. The
// JSON holds what was measured; report.py judges and shows it.

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "provider/algorithms.hpp"
#include "sides/sides.hpp"
#include "timing.hpp"

namespace {

using namespace kaccel::bench;
using kaccel::Kind;
using kaccel::kernel::Direction;
using nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t largest_size = 16384;
constexpr std::size_t page = 4096;
// The same page-aligned buffers for every cell, with room for the block more that EVP may want:
// how many pages a request touches is part of what the kernel charges for it.
alignas(page) std::uint8_t input[largest_size + page];
alignas(page) std::uint8_t output[largest_size + page];
std::uint8_t tag[gcm_tag_size];
std::uint8_t key[64];
std::uint8_t iv[16];

[[noreturn]] void give_up(const std::string& what) {
  fmt::print(stderr, "peer-bench: {}\n", what);
  ERR_print_errors_fp(stderr);
  std::exit(2);
}

const kaccel::Algorithm& algorithm_of(const std::string& name) {
  const std::size_t index = kaccel::find_algorithm(name);
  if (index == kaccel::algorithm_table.size()) give_up("no algorithm " + name + " in kaccel");
  return kaccel::algorithm_table[index];
}

// Whole blocks where the mode wants them; XTS too, since what is left over would be stolen from the
// block before.
std::size_t whole(std::size_t size, const kaccel::Algorithm& algorithm) {
  const auto& kernel = kaccel::kernel::info(algorithm.kernel_algorithm);
  const bool any_length = algorithm.kind == Kind::gcm || algorithm.kind == Kind::hmac ||
                          kernel.chaining == kaccel::kernel::Chaining::ctr;
  const std::size_t block = any_length ? 1 : kernel.block_size;
  return (size + block - 1) / block * block;
}

Message message_of(const kaccel::Algorithm& algorithm, Direction direction, std::size_t size) {
  const auto& kernel = kaccel::kernel::info(algorithm.kernel_algorithm);
  const bool mac = is_mac(algorithm);
  const std::size_t iv_size = algorithm.kind == Kind::gcm ? 12 : kernel.iv_size;
  return {
      .algorithm = algorithm,
      .direction = direction,
      .key = {key, mac ? std::size_t{32} : algorithm.key_size},
      .iv = {iv, iv_size},
      .input = {input, size},
      .tag = {tag, algorithm.kind == Kind::gcm ? gcm_tag_size : 0},
      .output = {output, mac ? kernel.digest_size : size},
  };
}

// Output and, for GCM, tag.
Bytes result_of(const Message& message) {
  Bytes result(message.output.begin(), message.output.end());
  if (message.encrypts()) result.insert(result.end(), message.tag.begin(), message.tag.end());
  return result;
}

void fill_input() {
  for (std::size_t i = 0; i < sizeof input; ++i) {
    input[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  }
}

// Lays the message's input down (and the tag, to decrypt), and returns what every side must make
// of it.
Bytes prepare(Side& reference, const Message& message) {
  fill_input();
  Message encryption = message;
  encryption.direction = Direction::encrypt;
  reference.make_operation(encryption, Manner::long_lived)();
  if (message.encrypts()) return result_of(message);
  Bytes plaintext(message.input.begin(), message.input.end());
  std::copy_n(output, message.input.size(), input);
  return plaintext;
}

struct Cell {
  double ns = 0;
  std::string wrong;  // why there is no time
  bool present = false;
};

void check(const Operation& operation, const Message& message, const Bytes& expected) {
  std::fill(message.output.begin(), message.output.end(), 0xee);
  if (message.encrypts()) std::fill(message.tag.begin(), message.tag.end(), 0xee);
  operation();
  if (result_of(message) != expected) throw std::runtime_error("differs from the default provider");
}

// A message is checked before and after those that are timed; the second check shows what an
// earlier message may have left behind.
Cell time_cell(Side& side, const Message& message, Manner manner, const Bytes& expected,
               const Effort& effort) {
  try {
    const Operation operation = side.make_operation(message, manner);
    if (!operation) return {};
    check(operation, message, expected);
    const double ns = time_calls(effort, operation);
    check(operation, message, expected);
    return {.ns = ns, .wrong = "", .present = true};
  } catch (const std::runtime_error& error) {
    ERR_print_errors_fp(stderr);
    return {.ns = 0, .wrong = error.what(), .present = true};
  }
}

// kaccel with everything on hardware: for algorithms that have a driver. Others would show
// software's time under hardware's name.
class OnlyWithDriver final : public Side {
 public:
  OnlyWithDriver(std::unique_ptr<Side> side, const Drivers& drivers)
      : side_(std::move(side)), drivers_(drivers) {}

  std::string name() const override { return side_->name(); }

  Operation make_operation(const Message& message, Manner manner) override {
    return drivers_.contains(message.algorithm.kernel_algorithm)
               ? side_->make_operation(message, manner)
               : Operation{};
  }

 private:
  std::unique_ptr<Side> side_;
  Drivers drivers_;
};

std::unique_ptr<Side> evp_side(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) give_up("--side needs NAME=FILE, not '" + argument + "'");
  try {
    return make_evp_side(argument.substr(0, equals), argument.substr(equals + 1));
  } catch (const std::runtime_error& error) {
    give_up(error.what());
  }
}

struct Asked {
  std::vector<std::string> sides;
  std::vector<std::string> hardware_sides;
  std::vector<std::string> algorithms{"AES-128-CBC",  "AES-256-CBC", "AES-128-CTR", "AES-256-CTR",
                                      "AES-128-XTS",  "AES-256-XTS", "AES-128-GCM", "AES-256-GCM",
                                      "DES-EDE3-CBC", "HMAC-SHA256"};
  std::vector<std::size_t> sizes{16, 64, 128, 256, 512, 1024, 1420, 2048, 4096, 8192, 16384};
  std::vector<std::string> directions{"encrypt"};
  std::vector<std::string> manners{"long-lived", "new-context"};
  Effort effort{.warm_up = 2, .operations = 4, .milliseconds = 10};
};

// The peers that can be had; why not, for the others.
std::vector<std::unique_ptr<Side>> open_sides(const Asked& asked, const Drivers& drivers,
                                              json& left_out) {
  std::vector<std::unique_ptr<Side>> sides;
  const auto peer = [&](const char* name, const auto& make) {
    try {
      sides.push_back(make());
    } catch (const std::runtime_error& error) {
      ERR_clear_error();
      left_out[name] = error.what();
      fmt::print(stderr, "peer-bench: {} is left out: {}\n", name, error.what());
    }
  };
  sides.push_back(evp_side(asked.sides.front()));
  peer("afalg-engine", [] { return make_engine_side(); });
  peer("libkcapi", [&] { return make_kcapi_side(drivers); });
  peer("raw", [&] { return make_raw_side(drivers); });
  for (std::size_t i = 1; i < asked.sides.size(); ++i) sides.push_back(evp_side(asked.sides[i]));
  for (const std::string& argument : asked.hardware_sides) {
    sides.push_back(std::make_unique<OnlyWithDriver>(evp_side(argument), drivers));
  }
  return sides;
}

json head(const Asked& asked, const Drivers& drivers) {
  utsname system{};
  uname(&system);
  json head{{"kernel", system.release},
            {"openssl", OpenSSL_version(OPENSSL_VERSION)},
            {"libkcapi", kcapi_version()},
            {"kernel_prefers", json::object()},
            {"drivers", json::object()},
            {"asked",
             {{"algorithms", asked.algorithms},
              {"sizes", asked.sizes},
              {"directions", asked.directions},
              {"manners", asked.manners}}}};
  head["kernel_prefers"]["cbc(aes)"] = preferred_driver(kaccel::kernel::Algorithm::cbc_aes);
  for (const auto& [algorithm, driver] : drivers) {
    head["drivers"][kaccel::kernel::info(algorithm).kernel_name] = driver;
  }
  return head;
}

// The cells of one algorithm, direction and manner.
void time_rows(const Asked& asked, const std::vector<std::unique_ptr<Side>>& sides,
               const std::string& name, const std::string& direction, const std::string& manner,
               json& rows) {
  const kaccel::Algorithm& algorithm = algorithm_of(name);
  const Direction way = direction == "encrypt" ? Direction::encrypt : Direction::decrypt;
  std::set<std::size_t> sizes;
  for (const std::size_t size : asked.sizes) sizes.insert(whole(size, algorithm));
  for (const std::size_t size : sizes) {
    json row{
        {"algorithm", algorithm.name}, {"direction", direction}, {"manner", manner}, {"size", size},
        {"ns", json::object()},        {"wrong", json::object()}};
    const Message message = message_of(algorithm, way, size);
    const Bytes expected = prepare(*sides.front(), message);
    for (const auto& side : sides) {
      const Manner as = manner == "long-lived" ? Manner::long_lived : Manner::new_context;
      const Cell cell = time_cell(*side, message, as, expected, asked.effort);
      if (!cell.present) continue;
      if (cell.wrong.empty()) {
        row["ns"][side->name()] = cell.ns;
      } else {
        row["wrong"][side->name()] = cell.wrong;
        fmt::print(stderr, "peer-bench: {} {} {} {} bytes: {}: {}\n", algorithm.name, direction,
                   manner, size, side->name(), cell.wrong);
      }
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks and times the same messages by OpenSSL, kaccel and its peers");
  Asked asked;
  std::string json_path;
  app.add_option("--side", asked.sides, "NAME=FILE: an openssl.cnf; the first is the reference")
      ->required();
  app.add_option("--hardware-side", asked.hardware_sides,
                 "NAME=FILE: the same, only for algorithms that have a hardware driver");
  app.add_option("--algorithm", asked.algorithms, "as kaccel names them, e.g. HMAC-SHA256");
  app.add_option("--size", asked.sizes, "bytes a message; rounded up to whole blocks")
      ->check(CLI::Range(std::size_t{1}, largest_size));
  app.add_option("--direction", asked.directions)->check(CLI::IsMember({"encrypt", "decrypt"}));
  app.add_option("--manner", asked.manners)->check(CLI::IsMember({"long-lived", "new-context"}));
  app.add_option("--operations", asked.effort.operations, "timed messages a cell, at least")
      ->check(CLI::PositiveNumber);
  app.add_option("--milliseconds", asked.effort.milliseconds, "of timed messages a cell, at least");
  app.add_option("--json", json_path, "write the figures here")->required();
  CLI11_PARSE(app, argc, argv);

  // Different bytes, so that no two parts of an XTS or 3DES key are equal.
  for (std::size_t i = 0; i < sizeof key; ++i) key[i] = static_cast<std::uint8_t>(0x2b + 3 * i);
  for (std::size_t i = 0; i < sizeof iv; ++i) iv[i] = static_cast<std::uint8_t>(200 + i);

  const Drivers drivers = hardware_drivers();
  json figures = head(asked, drivers);
  figures["left_out"] = json::object();
  const auto sides = open_sides(asked, drivers, figures["left_out"]);
  for (const auto& side : sides) figures["sides"].push_back(side->name());
  figures["rows"] = json::array();
  try {
    for (const std::string& algorithm : asked.algorithms) {
      for (const std::string& direction : asked.directions) {
        // A MAC has no direction.
        if (is_mac(algorithm_of(algorithm)) && direction != asked.directions.front()) continue;
        for (const std::string& manner : asked.manners) {
          time_rows(asked, sides, algorithm, direction, manner, figures["rows"]);
          fmt::print(stderr, "peer-bench: {} {} {} timed\n", algorithm, direction, manner);
        }
      }
    }
  } catch (const std::runtime_error& error) {
    give_up(std::string("the reference: ") + error.what());
  }
  std::FILE* file = std::fopen(json_path.c_str(), "w");
  if (file == nullptr) give_up(json_path + ": cannot be written");
  fmt::print(file, "{}\n", figures.dump(1));
  if (std::fclose(file) != 0) give_up(json_path + ": cannot be written");
  return 0;
}
