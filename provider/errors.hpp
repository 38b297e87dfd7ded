// Errors in OpenSSL's queue, raised under kaccel's name.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

namespace kaccel {

// Reason codes of the kaccel provider; their texts are in errors.cpp.
enum class Reason : int {
  bad_configuration = 1,
  software_unavailable,
  out_of_memory,
};

// The table OpenSSL asks for (provider_get_reason_strings).
const OSSL_ITEM* reason_strings() noexcept;

// Raises errors through the core that loaded the provider. Copyable; does nothing before the core's
// functions are known.
class ErrorQueue {
 public:
  ErrorQueue() = default;
  ErrorQueue(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core_functions) noexcept;

  // Adds one error. `text` is one line: what is wrong, where, what to do. Never a secret.
  void raise(Reason reason, const char* text, const char* file, int line,
             const char* function) const noexcept;

 private:
  const OSSL_CORE_HANDLE* handle_ = nullptr;
  OSSL_FUNC_core_new_error_fn* new_error_ = nullptr;
  OSSL_FUNC_core_set_error_debug_fn* set_error_debug_ = nullptr;
  OSSL_FUNC_core_vset_error_fn* vset_error_ = nullptr;
};

}  // namespace kaccel

#define KACCEL_RAISE(queue, reason, text) \
  (queue).raise((reason), (text), __FILE__, __LINE__, __func__)
