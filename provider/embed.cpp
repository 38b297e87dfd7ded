#include "provider/embed.hpp"

#include <openssl/core_dispatch.h>

#include <mutex>

#include "provider/provider.hpp"
#include "provider/provider_context.hpp"

namespace kaccel {
namespace {

// OpenSSL gives a built-in provider's entry no argument of ours, so load_embedded leaves it here
// for the length of the call.
std::mutex embedding_mutex;
const Embedding* current_embedding = nullptr;

int embedded_init(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in,
                  const OSSL_DISPATCH** out, void** provider_context) {
  return init_provider(handle, in, out, provider_context, current_embedding);
}

}  // namespace

OSSL_PROVIDER* load_embedded(OSSL_LIB_CTX* libctx, const Settings& settings,
                             kernel::Transport* transport, Offered offered) {
  const std::lock_guard lock(embedding_mutex);
  const Embedding embedding{settings, transport, offered == Offered::only_routed};
  current_embedding = &embedding;
  OSSL_PROVIDER* provider = nullptr;
  if (OSSL_PROVIDER_add_builtin(libctx, "kaccel", embedded_init) == 1) {
    provider = OSSL_PROVIDER_load(libctx, "kaccel");
  }
  current_embedding = nullptr;
  return provider;
}

}  // namespace kaccel
