// AF_ALG, the kernel's socket interface to its crypto API (kernel: crypto/af_alg.c,
// crypto/algif_skcipher.c; Documentation/crypto/userspace-if.rst).
#pragma once

#include <memory>

#include "kernel-bridge/status.hpp"
#include "kernel-bridge/transport.hpp"

namespace kaccel::kernel {

// Makes no system call. nullptr when memory is out.
std::unique_ptr<Transport> make_af_alg_transport() noexcept;

// The Failure that an errno of socket(2), bind(2), accept(2), sendmsg(2) or read(2) on an AF_ALG
// socket stands for.
Status status_of_errno(int error_number) noexcept;

}  // namespace kaccel::kernel
