// libFuzzer's entry. KACCEL_FUZZ_FAMILY, of the build, names the family: blocks, xts, gcm, hmac.
//
//   KACCEL_FUZZ_TALK=1   tells every call as it is made (for one input that crashes)

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/family.hpp"

namespace kaccel::fuzzing {
namespace {

#define KACCEL_FUZZ_NAME_OF(family) run_##family
#define KACCEL_FUZZ_NAME(family) KACCEL_FUZZ_NAME_OF(family)
#define KACCEL_FUZZ_TEXT_OF(family) #family
#define KACCEL_FUZZ_TEXT(family) KACCEL_FUZZ_TEXT_OF(family)

constexpr auto run_family = KACCEL_FUZZ_NAME(KACCEL_FUZZ_FAMILY);
constexpr const char* family_name = KACCEL_FUZZ_TEXT(KACCEL_FUZZ_FAMILY);
constexpr Kind family_kind(std::string_view name) {
  if (name == "xts") return Kind::data_units;
  if (name == "gcm") return Kind::gcm;
  return name == "hmac" ? Kind::hmac : Kind::blocks;
}

Subjects& subjects() {
  static Subjects loaded;
  return loaded;
}

void run(const std::uint8_t* data, std::size_t size, bool talks) {
  Input input(data, size);
  Transcript transcript(talks);
  const Configuration configuration = choose_configuration(input, family_kind(family_name));
  transcript.note([&] { return to_text(configuration); });
  subjects().configure(configuration);
  run_family({input, configuration, subjects(), transcript});
  subjects().check_driver();
}

void print_summary() {
  std::fprintf(stderr, "kaccel-fuzz %s: %s\n", family_name, subjects().summary().c_str());
}

// Returns what differed, "" where nothing did.
std::string difference(const std::uint8_t* data, std::size_t size, bool talks) {
  try {
    run(data, size, talks);
  } catch (const Difference& difference) {
    return difference.what();
  }
  return "";
}

}  // namespace
}  // namespace kaccel::fuzzing

// Freed memory that comes back soon is in the cache.
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=8";
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  kaccel::fuzzing::subjects();
  std::atexit(kaccel::fuzzing::print_summary);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaccel::fuzzing;
  static const bool talks = std::getenv("KACCEL_FUZZ_TALK") != nullptr;
  const std::string found = difference(data, size, talks);
  if (found.empty()) return 0;
  std::fprintf(stderr, "kaccel and OpenSSL differ: %s\nthe calls, the last one differs:\n",
               found.c_str());
  difference(data, size, true);
  std::abort();
}
