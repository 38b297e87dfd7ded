#include "provider/errors.hpp"

#include <array>
#include <cstdarg>
#include <cstdint>

namespace kaccel {
namespace {

// OSSL_ITEM wants a pointer to non-const char; the texts are never written to.
OSSL_ITEM item(Reason reason, const char* text) noexcept {
  return {static_cast<unsigned int>(reason), const_cast<char*>(text)};
}

}  // namespace

const OSSL_ITEM* reason_strings() noexcept {
  static const std::array items{
      item(Reason::bad_configuration, "bad configuration, kaccel stays in software"),
      item(Reason::software_unavailable, "OpenSSL's default provider cannot be loaded"),
      item(Reason::out_of_memory, "out of memory"),
      OSSL_ITEM{0, nullptr},
  };
  return items.data();
}

ErrorQueue::ErrorQueue(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core_functions) noexcept
    : handle_(handle) {
  for (const OSSL_DISPATCH* f = core_functions; f->function_id != 0; ++f) {
    switch (f->function_id) {
      case OSSL_FUNC_CORE_NEW_ERROR:
        new_error_ = OSSL_FUNC_core_new_error(f);
        break;
      case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
        set_error_debug_ = OSSL_FUNC_core_set_error_debug(f);
        break;
      case OSSL_FUNC_CORE_VSET_ERROR:
        vset_error_ = OSSL_FUNC_core_vset_error(f);
        break;
      default:
        break;
    }
  }
}

namespace {

void call_with_arguments(OSSL_FUNC_core_vset_error_fn* function, const OSSL_CORE_HANDLE* handle,
                         std::uint32_t reason, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  function(handle, reason, format, arguments);
  va_end(arguments);
}

}  // namespace

void ErrorQueue::raise(Reason reason, const char* text, const char* file, int line,
                       const char* function) const noexcept {
  if (new_error_ == nullptr || set_error_debug_ == nullptr || vset_error_ == nullptr) return;
  new_error_(handle_);
  set_error_debug_(handle_, file, line, function);
  call_with_arguments(vset_error_, handle_, static_cast<std::uint32_t>(reason), "%s", text);
}

}  // namespace kaccel
