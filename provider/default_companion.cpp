#include "provider/default_companion.hpp"

#include <openssl/provider.h>

#include <cstring>

namespace kaccel {
namespace {

constexpr const char* default_provider = "default";

struct CoreFunctions {
  OSSL_FUNC_core_get_libctx_fn* get_libctx = nullptr;
  OSSL_FUNC_provider_register_child_cb_fn* register_child_cb = nullptr;
  OSSL_FUNC_provider_deregister_child_cb_fn* deregister_child_cb = nullptr;
  OSSL_FUNC_provider_name_fn* name = nullptr;
  OSSL_FUNC_provider_free_fn* free = nullptr;

  explicit CoreFunctions(const OSSL_DISPATCH* f) noexcept {
    for (; f->function_id != 0; ++f) {
      switch (f->function_id) {
        case OSSL_FUNC_CORE_GET_LIBCTX:
          get_libctx = OSSL_FUNC_core_get_libctx(f);
          break;
        case OSSL_FUNC_PROVIDER_REGISTER_CHILD_CB:
          register_child_cb = OSSL_FUNC_provider_register_child_cb(f);
          break;
        case OSSL_FUNC_PROVIDER_DEREGISTER_CHILD_CB:
          deregister_child_cb = OSSL_FUNC_provider_deregister_child_cb(f);
          break;
        case OSSL_FUNC_PROVIDER_NAME:
          name = OSSL_FUNC_provider_name(f);
          break;
        case OSSL_FUNC_PROVIDER_FREE:
          free = OSSL_FUNC_provider_free(f);
          break;
        default:
          break;
      }
    }
  }
};

struct Search {
  const CoreFunctions& core;
  const OSSL_CORE_HANDLE* found = nullptr;
};

int note_default(const OSSL_CORE_HANDLE* provider, void* argument) noexcept {
  auto& search = *static_cast<Search*>(argument);
  const char* name = search.core.name(provider);
  if (name != nullptr && std::strcmp(name, default_provider) == 0) search.found = provider;
  return 1;
}

int ignore_removal(const OSSL_CORE_HANDLE*, void*) noexcept {
  return 1;
}
int ignore_properties(const char*, void*) noexcept {
  return 1;
}

// Gives our reference back while the provider stays active.
//
// It cannot be kept until teardown: OpenSSL frees a library context's providers in the order of
// their names, so "default" has been deactivated by then and OSSL_PROVIDER_unload refuses it, which
// leaks it. Only the functions for child library contexts can give back a reference alone, and
// registering as one is how to get the core's handle of another provider (provider-base(7)).
void give_reference_back(const OSSL_CORE_HANDLE* handle, const CoreFunctions& core) noexcept {
  if (core.register_child_cb == nullptr || core.deregister_child_cb == nullptr ||
      core.name == nullptr || core.free == nullptr) {
    return;
  }
  Search search{core};
  const int registered =
      core.register_child_cb(handle, note_default, ignore_removal, ignore_properties, &search);
  if (registered != 1) return;
  core.deregister_child_cb(handle);
  if (search.found != nullptr) core.free(search.found, 0);
}

}  // namespace

bool bring_default_provider(const OSSL_CORE_HANDLE* handle,
                            const OSSL_DISPATCH* core_functions) noexcept {
  const CoreFunctions core(core_functions);
  if (core.get_libctx == nullptr) return true;
  // The core hands out its own type for the same thing (provider-base(7)).
  auto* library_context = reinterpret_cast<OSSL_LIB_CTX*>(core.get_libctx(handle));
  if (OSSL_PROVIDER_available(library_context, default_provider) == 1) return true;
  if (OSSL_PROVIDER_load(library_context, default_provider) == nullptr) return false;
  give_reference_back(handle, core);
  return true;
}

}  // namespace kaccel
