// One EVP_CIPHER_CTX on each side. Every call is made on both; all that can be seen of it must be
// the same, or Difference is thrown.
#pragma once

#include <openssl/core.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/parameters.hpp"
#include "tests/fuzz/subjects.hpp"
#include "tests/fuzz/transcript.hpp"

namespace kaccel::fuzzing {

class CipherPair {
 public:
  struct Init {
    bool name_cipher;
    const std::uint8_t* key;  // nullptr: none
    const std::uint8_t* iv;
    int direction;  // as EVP has it: 1 encrypt, 0 decrypt, -1 as before
    const OSSL_PARAM* params;
  };
  enum class Call : std::uint8_t { update, cipher };  // EVP_CipherUpdate(), EVP_Cipher()
  enum class Place : std::uint8_t {
    apart,
    in_place,   // output `held` bytes before input
    no_output,  // NULL
    no_input,
  };
  struct Movement {
    Call call = Call::update;
    Place place = Place::apart;
    std::size_t held = 0;
    // The whole buffer is defined, whatever the call returns.
    bool compares_everything = false;
  };
  struct Moved {
    bool ok;
    std::size_t written;
  };

  CipherPair(const CipherSubject& subject, Transcript& transcript);

  bool init(const Init& init);
  Moved move(const Movement& movement, const Bytes& data);
  Moved final();
  // `buffer` is what the call gets to read or write. Returns OpenSSL's answer.
  int control(int type, int argument, const Bytes& buffer);
  bool set(const ParameterList& parameters);
  void query(const QueryList& queries);
  bool set_padding(int padding);
  bool set_key_length(int bytes);
  // Copies `from`, as EVP_CIPHER_CTX_copy does.
  bool copy(const CipherPair& from);

  // kaccel may refuse from here on where OpenSSL goes on (README.md), until `init` with an IV.
  void permit_refusal() noexcept { may_refuse_ = true; }
  void permit_no_refusal() noexcept { may_refuse_ = false; }
  // Where it did so, the two are no more the same.
  bool is_lost() const noexcept { return is_lost_; }
  // Nothing is said of the two from here on, until `init` names the cipher.
  void give_up() noexcept { is_lost_ = true; }

  bool has_cipher() const noexcept { return has_cipher_; }
  bool is_encrypting() const noexcept;
  EVP_CIPHER_CTX* reference() const noexcept { return reference_.get(); }

 private:
  // What one call did on one side.
  struct Outcome {
    int result = 0;
    bool ok = false;
    int reason = 0;   // of the newest error; 0 for none
    int written = 0;  // where the call says so
    Bytes memory;     // all that it was given to write to
    Bytes input;      // afterwards
  };
  struct Both {
    Outcome reference;
    Outcome kaccel;
  };

  template <class Function>
  Both on_both(Function function);
  bool agree(const Both& both);
  void compare_output(const Both& both, std::size_t written, std::size_t guard_from);

  const CipherSubject subject_;
  Transcript& transcript_;
  testing::CipherContextPointer reference_;
  testing::CipherContextPointer kaccel_;
  bool has_cipher_ = false;
  bool may_refuse_ = false;
  bool is_lost_ = false;
};

}  // namespace kaccel::fuzzing
