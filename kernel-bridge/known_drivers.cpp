#include "kernel-bridge/known_drivers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace kaccel::kernel {
namespace {

constexpr std::int64_t never = -1;  // no threshold was published, or hardware never won

// ---- qce: Qualcomm Crypto Engine (IPQ4018/4019, IPQ806x, ...) ----

// What the driver itself leaves to software by default (module parameter aes_sw_max_len).
constexpr std::int64_t qce_aes_threshold = 512;

constexpr Restrictions qce_aes{
    .refused_keys = refuse_key(24),
    .min_size = 17,
};
// The engine hangs on more than one sector that is not whole sectors.
constexpr Restrictions qce_xts{
    .refused_keys = refuse_key(48),
    .min_size = 17,
    .multiple_above = 512,
    .size_multiple = 512,
};
constexpr Restrictions qce_des{};
constexpr Restrictions qce_3des{.refuses_repeated_des_keys = true};
// final() on a message of no bytes returns without having written the result.
constexpr Restrictions qce_hmac{.min_size = 1};

constexpr auto qce_aes_quirks =
    "no AES-192 in the engine; a single block came out wrong and broke GCM; "
    "the driver itself keeps up to aes_sw_max_len (512) bytes in kernel software";
constexpr auto qce_ecb_quirks = "as cbc-aes-qce; newer kernels no longer register it";
constexpr auto qce_xts_quirks =
    "hangs on requests above 512 bytes that are not a multiple of 512; no 48-byte keys; "
    "refuses keys with equal halves";
constexpr auto qce_des_quirks = "newer kernels no longer register it";
constexpr auto qce_3des_quirks =
    "refuses keys of which any two thirds are equal; newer kernels no longer register it";
constexpr auto qce_hmac_quirks = "the HMAC of an empty message comes back all zeros";
constexpr auto qce_single_block = "computes a single block wrong";
constexpr auto qce_xts_hang = "hangs on requests above 512 bytes that are not a multiple of 512";
constexpr auto qce_aes_source =
    "linux drivers/crypto/qce/skcipher.c; quirk and threshold: commit \"crypto: qce - use AES "
    "fallback for small requests\" (2020, measured on IPQ4018)";
constexpr auto qce_xts_source =
    "linux drivers/crypto/qce/skcipher.c; quirk: commit \"crypto: qce - handle AES-XTS cases that "
    "qce fails\"; threshold: \"crypto: qce - use AES fallback for small requests\" (2020)";
constexpr auto qce_des_source = "linux drivers/crypto/qce/skcipher.c; no threshold published";
constexpr auto qce_hash_source = "linux drivers/crypto/qce/sha.c; no threshold published";

// ---- eip93: Inside Secure EIP-93 (MediaTek MT7621, Airoha AN7581, ...) ----

// The length field of its descriptors has 20 bits; each limit is the largest multiple of the block
// that fits.
constexpr std::size_t eip93_length_limit = std::size_t{1} << 20;
constexpr Restrictions eip93_aes{.max_size = eip93_length_limit - 16};
constexpr Restrictions eip93_des{.max_size = eip93_length_limit - 8};
constexpr Restrictions eip93_hmac{.max_size = eip93_length_limit - 64};

constexpr auto eip93_quirks =
    "a transform that has decrypted stays in that direction: one direction each; "
    "requests below 2^20 bytes";
constexpr auto eip93_aes_quirks =
    "a transform that has decrypted stays in that direction: one direction each; "
    "requests below 2^20 bytes; smaller variants of the chip lack longer keys (max keysize)";
constexpr auto eip93_typo_quirks =
    "kernels before the spelling was corrected (patch of March 2026) call ecb(des-eip93) so; "
    "quirks as there";
constexpr auto eip93_hmac_quirks =
    "slower than software at every published size; requests below 2^20 bytes";
constexpr auto eip93_source =
    "linux drivers/crypto/inside-secure/eip93/eip93-cipher.c, eip93-common.c; threshold: "
    "published Airoha AN7581 table, kernel 6.18";
constexpr auto eip93_hmac_source =
    "linux drivers/crypto/inside-secure/eip93/eip93-hash.c; threshold: published Airoha AN7581 "
    "table, kernel 6.18";

// ---- padlock: VIA PadLock ----

constexpr auto padlock_quirks =
    "synchronous unit of the CPU, without any hardware flag; reloading a key is its expensive step";
constexpr auto padlock_source = "linux drivers/crypto/padlock-aes.c; no threshold published";

// ---- virtio: virtio-crypto ----

// Longer requests never complete, and the caller waits in the kernel where no signal reaches it.
// Seen on 6.1 under QEMU, cause not known: 122,880 bytes work, 126,976 hang. 64 KiB keeps a
// distance.
constexpr Restrictions virtio_aes{.max_size = std::size_t{64} << 10};

constexpr auto virtio_quirks =
    "hangs on long requests (seen from 126,976 bytes); "
    "a new key costs round trips to the host; latency follows the host; "
    "carries ASYNC but not KERN_DRIVER_ONLY";
constexpr auto virtio_hang = "hangs on long requests (seen from 126,976 bytes)";
constexpr auto virtio_source =
    "linux drivers/crypto/virtio/virtio_crypto_skcipher_algs.c; limit: seen here with QEMU; "
    "no threshold published";

using enum Algorithm;

// clang-format off
constexpr std::array table{
    KnownDriver{"qce", "cbc-aes-qce", cbc_aes, qce_aes, qce_aes_threshold, qce_aes_quirks, qce_aes_source, {qce_single_block}},
    KnownDriver{"qce", "ctr-aes-qce", ctr_aes, qce_aes, qce_aes_threshold, qce_aes_quirks, qce_aes_source, {qce_single_block}},
    KnownDriver{"qce", "ecb-aes-qce", ecb_aes, qce_aes, qce_aes_threshold, qce_ecb_quirks, qce_aes_source, {qce_single_block}},
    KnownDriver{"qce", "xts-aes-qce", xts_aes, qce_xts, qce_aes_threshold, qce_xts_quirks, qce_xts_source, {qce_single_block, qce_xts_hang}},
    KnownDriver{"qce", "ecb-des-qce",  ecb_des,      qce_des,  never, qce_des_quirks,  qce_des_source},
    KnownDriver{"qce", "cbc-des-qce",  cbc_des,      qce_des,  never, qce_des_quirks,  qce_des_source},
    KnownDriver{"qce", "ecb-3des-qce", ecb_des3_ede, qce_3des, never, qce_3des_quirks, qce_des_source},
    KnownDriver{"qce", "cbc-3des-qce", cbc_des3_ede, qce_3des, never, qce_3des_quirks, qce_des_source},
    KnownDriver{"qce", "hmac-sha1-qce",   hmac_sha1,   qce_hmac, never, qce_hmac_quirks, qce_hash_source},
    KnownDriver{"qce", "hmac-sha256-qce", hmac_sha256, qce_hmac, never, qce_hmac_quirks, qce_hash_source},

    KnownDriver{"eip93", "ecb(aes-eip93)", ecb_aes, eip93_aes, 512, eip93_aes_quirks, eip93_source},
    KnownDriver{"eip93", "cbc(aes-eip93)", cbc_aes, eip93_aes, 512, eip93_aes_quirks, eip93_source},
    KnownDriver{"eip93", "ctr(aes-eip93)", ctr_aes, eip93_aes, 512, eip93_aes_quirks, eip93_source},
    KnownDriver{"eip93", "ecb(des-eip93)", ecb_des, eip93_des, 256, eip93_quirks, eip93_source},
    KnownDriver{"eip93", "ebc(des-eip93)", ecb_des, eip93_des, 256, eip93_typo_quirks, eip93_source},
    KnownDriver{"eip93", "cbc(des-eip93)", cbc_des, eip93_des, 256, eip93_quirks, eip93_source},
    KnownDriver{"eip93", "ecb(des3_ede-eip93)", ecb_des3_ede, eip93_des, 64, eip93_quirks, eip93_source},
    KnownDriver{"eip93", "cbc(des3_ede-eip93)", cbc_des3_ede, eip93_des, 64, eip93_quirks, eip93_source},
    KnownDriver{"eip93", "hmac(md5-eip93)",    hmac_md5,    eip93_hmac, never, eip93_hmac_quirks, eip93_hmac_source},
    KnownDriver{"eip93", "hmac(sha1-eip93)",   hmac_sha1,   eip93_hmac, never, eip93_hmac_quirks, eip93_hmac_source},
    KnownDriver{"eip93", "hmac(sha224-eip93)", hmac_sha224, eip93_hmac, never, eip93_hmac_quirks, eip93_hmac_source},
    KnownDriver{"eip93", "hmac(sha256-eip93)", hmac_sha256, eip93_hmac, never, eip93_hmac_quirks, eip93_hmac_source},

    // PadLock's hash drivers are plain digests; an HMAC over them is the kernel's template.
    KnownDriver{"padlock", "ecb-aes-padlock", ecb_aes, {}, never, padlock_quirks, padlock_source},
    KnownDriver{"padlock", "cbc-aes-padlock", cbc_aes, {}, never, padlock_quirks, padlock_source},

    KnownDriver{"virtio", "virtio_crypto_aes_cbc", cbc_aes, virtio_aes, never, virtio_quirks, virtio_source, {virtio_hang}},
};
// clang-format on

constexpr bool driver_names_are_unique() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t j = i + 1; j < table.size(); ++j) {
      if (std::string_view(table[i].driver) == table[j].driver) return false;
    }
  }
  return true;
}
static_assert(driver_names_are_unique(), "find_known_driver() gives the first row of a name");

}  // namespace

std::span<const KnownDriver> known_drivers() noexcept {
  return table;
}

const KnownDriver* find_known_driver(std::string_view driver) noexcept {
  const auto row = std::find_if(table.begin(), table.end(), [driver](const KnownDriver& known) {
    return driver == known.driver;
  });
  return row == table.end() ? nullptr : &*row;
}

}  // namespace kaccel::kernel
