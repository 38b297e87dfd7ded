#include "provider/provider_params.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>
#include <cstdint>

#include "provider/provider_context.hpp"
#include "provider/version.hpp"

namespace kaccel {
namespace {

constexpr std::array counter_names{"hardware-calls",  "hardware-bytes", "fallbacks",  "requests",
                                   "sessions-opened", "sessions-open",  "keys-loaded"};

std::array<std::uint64_t, counter_names.size()> read_counters(ProviderContext& context) noexcept {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t fallbacks = 0;
  for (const UsageCounters& usage : context.counters().algorithms) {
    calls += usage.hardware_calls.load();
    bytes += usage.hardware_bytes.load();
    fallbacks += usage.fallbacks.load();
  }
  const kernel::SessionPool::Counters sessions = context.sessions();
  return {calls,
          bytes,
          fallbacks,
          sessions.requests,
          sessions.sessions_opened,
          sessions.sessions_open,
          sessions.keys_loaded};
}

constexpr OSSL_PARAM definition(const char* key, unsigned int type) noexcept {
  return {key, type, nullptr, 0, OSSL_PARAM_UNMODIFIED};
}

int set_text(OSSL_PARAM params[], const char* key, const char* value) noexcept {
  OSSL_PARAM* p = OSSL_PARAM_locate(params, key);
  return p == nullptr ? 1 : OSSL_PARAM_set_utf8_ptr(p, value);
}

}  // namespace

const OSSL_PARAM* gettable_params(void*) noexcept {
  static const std::array table{
      definition(OSSL_PROV_PARAM_NAME, OSSL_PARAM_UTF8_PTR),
      definition(OSSL_PROV_PARAM_VERSION, OSSL_PARAM_UTF8_PTR),
      definition(OSSL_PROV_PARAM_BUILDINFO, OSSL_PARAM_UTF8_PTR),
      definition(OSSL_PROV_PARAM_STATUS, OSSL_PARAM_INTEGER),
      definition(counter_names[0], OSSL_PARAM_UNSIGNED_INTEGER),
      definition(counter_names[1], OSSL_PARAM_UNSIGNED_INTEGER),
      definition(counter_names[2], OSSL_PARAM_UNSIGNED_INTEGER),
      definition(counter_names[3], OSSL_PARAM_UNSIGNED_INTEGER),
      definition(counter_names[4], OSSL_PARAM_UNSIGNED_INTEGER),
      definition(counter_names[5], OSSL_PARAM_UNSIGNED_INTEGER),
      definition(counter_names[6], OSSL_PARAM_UNSIGNED_INTEGER),
      OSSL_PARAM{nullptr, 0, nullptr, 0, 0},
  };
  static_assert(counter_names.size() == 7, "the table above names each counter");
  return table.data();
}

int get_params(void* provider_context, OSSL_PARAM params[]) noexcept {
  auto& context = *static_cast<ProviderContext*>(provider_context);
  if (set_text(params, OSSL_PROV_PARAM_NAME, "kaccel, the kernel's crypto accelerators") != 1 ||
      set_text(params, OSSL_PROV_PARAM_VERSION, version) != 1 ||
      set_text(params, OSSL_PROV_PARAM_BUILDINFO, context.build_info()) != 1) {
    return 0;
  }
  OSSL_PARAM* status = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
  if (status != nullptr && OSSL_PARAM_set_int(status, 1) != 1) return 0;

  const auto counters = read_counters(context);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    OSSL_PARAM* p = OSSL_PARAM_locate(params, counter_names[i]);
    if (p != nullptr && OSSL_PARAM_set_uint64(p, counters[i]) != 1) return 0;
  }
  return 1;
}

}  // namespace kaccel
