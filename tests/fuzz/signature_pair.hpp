// HMAC as a signature with an EVP_PKEY: an EVP_MD_CTX on each side, whose library contexts find
// their HMAC by themselves.
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <memory>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/subjects.hpp"
#include "tests/fuzz/transcript.hpp"

namespace kaccel::fuzzing {

class SignaturePair {
 public:
  SignaturePair(const Subjects& subjects, Transcript& transcript);

  // digest: nullptr for none named. Without a key: begins anew with the one that is there.
  void init(const char* digest, const Bytes& key, bool with_key);
  void update(const Bytes& data);
  void final(std::size_t capacity);
  void sign(const Bytes& data, std::size_t capacity);
  void become_copy_of(const SignaturePair& from);

  bool is_ready() const noexcept { return is_ready_; }

 private:
  struct FreeContext {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  };
  using ContextPointer = std::unique_ptr<EVP_MD_CTX, FreeContext>;

  template <class Function>
  bool on_both(Function function);

  OSSL_LIB_CTX* reference_library_;
  OSSL_LIB_CTX* kaccel_library_;
  Transcript* transcript_;
  ContextPointer reference_;
  ContextPointer kaccel_;
  bool is_ready_ = false;
};

}  // namespace kaccel::fuzzing
