// One random sequence of EVP calls, made on kaccel and on the default provider alike. Return
// values, output, parameters and error reasons must be the same at each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "provider/routing.hpp"
#include "tests/support/evp.hpp"

namespace kaccel::testing {

class RandomSequence {
 public:
  struct Subject {
    const EVP_CIPHER* reference;
    const EVP_CIPHER* kaccel;
    Threshold encrypt;  // sizes near them are tried more often
    Threshold decrypt;
  };

  RandomSequence(const Subject& subject, std::uint32_t seed);

  // Runs it. "" when both agreed all the way, else the difference and the calls up to it.
  std::string run();

 private:
  using Bytes = std::vector<std::uint8_t>;

  // What one call did on one side.
  struct Outcome {
    int result = 0;
    int reason = 0;   // of the newest error; 0 for none
    int written = 0;  // where the call says so
    Bytes memory;     // all that it was given to write to
    Bytes input;      // afterwards
  };
  struct Both {
    Outcome reference;
    Outcome kaccel;
  };
  // A context on each side, and what a legal caller knows of them.
  struct Stream {
    CipherContextPointer reference;
    CipherContextPointer kaccel;
    bool encrypting = true;
    std::size_t consumed = 0;  // since the last init or final
    std::size_t produced = 0;
    bool failed = false;  // since the last init: what is held back is no longer known
  };
  enum class Place : std::uint8_t { apart, in_place };

  bool is_ctr() const noexcept;
  std::size_t below(std::size_t limit);
  bool chance(std::size_t percent);
  Bytes random_bytes(std::size_t size);
  std::size_t choose_size(bool encrypting);

  void step();
  void init(Stream& stream);
  void update(Stream& stream);
  void cipher(Stream& stream);
  void final(Stream& stream);
  void set_padding(Stream& stream);
  void set_num(Stream& stream);
  void duplicate(std::size_t from);
  void compare_parameters(const Stream& stream);

  template <class Call>
  Both on_both(const Stream& stream, Call call);
  template <class Call>
  Both move_data(const Stream& stream, const Bytes& data, Place place, Call call);
  bool agree(const Both& both);
  void compare_output(const Both& both, std::size_t written, std::size_t guard_from);
  void note(const std::string& call);
  void differ(const std::string& what);

  const Subject subject_;
  const std::size_t block_;  // bytes; a stream mode's is that of its cipher
  std::mt19937 random_;
  std::vector<Bytes> keys_;
  std::vector<Stream> streams_;
  std::string log_;
  std::string difference_;
};

}  // namespace kaccel::testing
