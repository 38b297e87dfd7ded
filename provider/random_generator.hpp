// Keeps OpenSSL's own random number generator to software.
//
// Its AES is fetched like any other, so that with `default_properties = ?provider=kaccel`
// OpenSSL 3.0 takes kaccel's: random numbers and the keys made of them would then wait for a
// device, with the generator's lock held. openssl.cnf.example says otherwise in its [random]
// section; where people have left that out, this says it.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include <string>

namespace kaccel {

// The section that `random` names in the configuration that OpenSSL was loaded with:
// RAND_set_DRBG_type(3)'s arguments, "" where a key is missing.
struct RandomSection {
  std::string type;
  std::string properties;
  std::string cipher;
  std::string digest;
};

// For the library context that kaccel is being loaded into. Does nothing where the section has
// properties of its own, or a generator is there already. Leaves no error in OpenSSL's queue.
void keep_random_generator_in_software(const OSSL_CORE_HANDLE* handle,
                                       const OSSL_DISPATCH* core_functions,
                                       const RandomSection& section) noexcept;

}  // namespace kaccel
