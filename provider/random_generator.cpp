#include "provider/random_generator.hpp"

#include <openssl/err.h>
#include <openssl/rand.h>

namespace kaccel {
namespace {

// Any other provider will do, for those who have fips.
constexpr const char* not_kaccel = "provider!=kaccel";

const char* or_default(const std::string& value) noexcept {
  return value.empty() ? nullptr : value.c_str();
}

}  // namespace

void keep_random_generator_in_software(const OSSL_CORE_HANDLE* handle,
                                       const OSSL_DISPATCH* core_functions,
                                       const RandomSection& section) noexcept {
  if (!section.properties.empty()) return;
  for (const OSSL_DISPATCH* f = core_functions; f->function_id != 0; ++f) {
    if (f->function_id != OSSL_FUNC_CORE_GET_LIBCTX) continue;
    // The core hands out its own type for the same thing (provider-base(7)).
    auto* library_context = reinterpret_cast<OSSL_LIB_CTX*>(OSSL_FUNC_core_get_libctx(f)(handle));
    ERR_set_mark();
    // All is set at once. OpenSSL reads the configuration's lines in their order, so the section
    // may have been read already or still be to come: either way it says the same.
    RAND_set_DRBG_type(library_context, or_default(section.type), not_kaccel,
                       or_default(section.cipher), or_default(section.digest));
    ERR_pop_to_mark();
    return;
  }
}

}  // namespace kaccel
