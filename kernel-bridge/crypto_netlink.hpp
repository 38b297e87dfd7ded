// Flags of the kernel's crypto drivers, which /proc/crypto leaves out (kernel:
// crypto/crypto_user_base.c).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace kaccel::kernel {

// Bits of cra_flags, from the kernel's include/linux/crypto.h: no exported header has them, but
// NETLINK_CRYPTO passes them out unchanged and their values have stayed.
namespace crypto_flag {
inline constexpr std::uint32_t larval = 0x10;              // a placeholder under construction
inline constexpr std::uint32_t async = 0x80;               // may complete later
inline constexpr std::uint32_t instance = 0x800;           // made by a template
inline constexpr std::uint32_t kern_driver_only = 0x1000;  // reachable only through the kernel
inline constexpr std::uint32_t internal = 0x2000;          // only for other drivers' use
}  // namespace crypto_flag

// Driver name (cra_driver_name) to flags.
using DriverFlags = std::map<std::string, std::uint32_t, std::less<>>;

// Asks the kernel for every driver's flags. Needs no privilege; loads the module crypto_user where
// that is possible. A kernel without it, a network namespace other than the first, a policy that
// forbids the socket: all give an empty map. A dump that breaks off gives what came before. A
// kernel that stops answering is given up after a few seconds.
DriverFlags read_driver_flags() noexcept;

// How the dump goes on after a datagram.
enum class DumpState : std::uint8_t { more, done, failed };

// Takes one received datagram of a dump that was asked for with this sequence number and port, and
// adds its drivers to `flags`. Malformed messages are ignored. Part of read_driver_flags, apart so
// that tests can feed it.
DumpState parse_dump_datagram(std::span<const std::uint8_t> datagram, std::uint32_t sequence,
                              std::uint32_t port, DriverFlags& flags) noexcept;

}  // namespace kaccel::kernel
