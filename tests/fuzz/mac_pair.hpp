// One EVP_MAC_CTX on each side. Every call is made on both; all that can be seen of it must be the
// same, or Difference is thrown.
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <span>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/parameters.hpp"
#include "tests/fuzz/subjects.hpp"
#include "tests/fuzz/transcript.hpp"

namespace kaccel::fuzzing {

struct FreeMacContext {
  void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
};
using MacContextPointer = std::unique_ptr<EVP_MAC_CTX, FreeMacContext>;

class MacPair {
 public:
  MacPair(const Subjects& subjects, Transcript& transcript);

  // key: nullptr for none.
  bool init(const std::uint8_t* key, std::size_t key_size, const OSSL_PARAM* params);
  bool update(const Bytes& data, std::size_t size);
  // capacity: bytes of room. Without output, as a question for the size.
  bool final(std::size_t capacity, bool with_output);
  bool final_xof(std::size_t capacity);
  bool set(const ParameterList& parameters);
  void query(const QueryList& queries);
  void compare_sizes();
  // A copy in place of what is there.
  void become_copy_of(const MacPair& from);

 private:
  // What one call did on one side.
  struct Outcome {
    int result = 0;
    int reason = 0;  // of the newest error; 0 for none
    Bytes memory;
  };

  template <class Function>
  bool on_both(Function function);

  Transcript* transcript_;
  MacContextPointer reference_;
  MacContextPointer kaccel_;
};

}  // namespace kaccel::fuzzing
