#include "provider/provider.hpp"

#include <openssl/core_dispatch.h>

#include <array>
#include <exception>
#include <new>

#include "provider/errors.hpp"
#include "provider/provider_context.hpp"
#include "provider/provider_params.hpp"

namespace kaccel {
namespace {

const OSSL_ALGORITHM* query_operation(void* provider_context, int operation,
                                      int* no_cache) noexcept {
  *no_cache = 0;
  const auto& context = *static_cast<ProviderContext*>(provider_context);
  switch (operation) {
    case OSSL_OP_CIPHER:
      return context.ciphers();
    case OSSL_OP_MAC:
      return context.macs();
    default:
      return nullptr;
  }
}

const OSSL_ITEM* get_reason_strings(void*) noexcept {
  return reason_strings();
}

void teardown(void* provider_context) noexcept {
  delete static_cast<ProviderContext*>(provider_context);
}

const OSSL_DISPATCH* functions_of_provider() noexcept {
  using Function = void (*)();
  static const std::array table{
      OSSL_DISPATCH{OSSL_FUNC_PROVIDER_QUERY_OPERATION,
                    reinterpret_cast<Function>(query_operation)},
      OSSL_DISPATCH{OSSL_FUNC_PROVIDER_GETTABLE_PARAMS,
                    reinterpret_cast<Function>(gettable_params)},
      OSSL_DISPATCH{OSSL_FUNC_PROVIDER_GET_PARAMS, reinterpret_cast<Function>(get_params)},
      OSSL_DISPATCH{OSSL_FUNC_PROVIDER_GET_REASON_STRINGS,
                    reinterpret_cast<Function>(get_reason_strings)},
      OSSL_DISPATCH{OSSL_FUNC_PROVIDER_TEARDOWN, reinterpret_cast<Function>(teardown)},
      OSSL_DISPATCH{0, nullptr},
  };
  return table.data();
}

}  // namespace

int init_provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core_functions,
                  const OSSL_DISPATCH** functions, void** provider_context,
                  const Embedding* embedding) noexcept {
  try {
    auto context = ProviderContext::create(handle, core_functions, embedding);
    if (context == nullptr) return 0;
    *provider_context = context.release();
    *functions = functions_of_provider();
    return 1;
  } catch (const std::exception&) {
    // Set-up throws nothing but std::bad_alloc.
    KACCEL_RAISE(ErrorQueue(handle, core_functions), Reason::out_of_memory,
                 "kaccel could not be set up");
    return 0;
  }
}

}  // namespace kaccel
