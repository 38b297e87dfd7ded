// The case of the battery that goes the whole way: kaccel's own provider on the driver, against
// OpenSSL's.
#pragma once

#include <cstddef>
#include <optional>

#include "calibrate/openssl_context.hpp"
#include "calibrate/random_bytes.hpp"
#include "calibrate/self_test.hpp"

namespace kaccel::calibrate {

class ProviderTest {
 public:
  // The arguments must outlive it.
  ProviderTest(const TestSubject& subject, kernel::Transport& transport,
               const OpensslContext& software) noexcept
      : subject_(subject), transport_(transport), software_(software) {}

  // A call of `length` bytes among short ones of random sizes, at odd addresses and in place, in
  // both directions where there are two. `length` is one that the driver may see; where it is not
  // whole blocks (XTS), neither are the random ones. Throws Fault.
  void run(RandomBytes& random, std::size_t length);

 private:
  const TestSubject& subject_;
  kernel::Transport& transport_;
  const OpensslContext& software_;
  std::optional<OpensslContext> accelerated_;  // made when it is first needed
  bool partial_units_ = false;                 // whether the driver may get these from it
};

}  // namespace kaccel::calibrate
