#include "provider/default_companion.hpp"

namespace kaccel {

bool DefaultCompanion::join(OSSL_LIB_CTX* library_context) noexcept {
  if (OSSL_PROVIDER_available(library_context, "default") == 1) return true;
  provider_ = OSSL_PROVIDER_load(library_context, "default");
  return provider_ != nullptr;
}

DefaultCompanion::~DefaultCompanion() {
  if (provider_ != nullptr) OSSL_PROVIDER_unload(provider_);
}

}  // namespace kaccel
