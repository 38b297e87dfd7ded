// OpenSSL's software for all measurements of a process.
#pragma once

#include <optional>

#include "calibrate/openssl_context.hpp"

namespace kaccel::calibrate {

// Filling a library context with a provider's methods takes 10 ms and more of a small CPU. Made
// before the helpers fork, it is done once for all of them.
class SoftwareContexts {
 public:
  // Lives as long as this object. Throws OpensslError.
  const OpensslContext& of(const Algorithm& algorithm);

 private:
  std::optional<OpensslContext> default_;
  std::optional<OpensslContext> with_legacy_;
};

}  // namespace kaccel::calibrate
