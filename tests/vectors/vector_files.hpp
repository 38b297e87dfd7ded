// Which files of known answers there are, and how many records each has.
#pragma once

#include <cstddef>

#include "python_vectors.hpp"

namespace kaccel::vectors {

// clang-format off
inline constexpr VectorFile aes_files[] = {
    {"ciphers/AES/ECB/ECBGFSbox128.rsp",  "AES-128-ECB", 14},
    {"ciphers/AES/ECB/ECBGFSbox192.rsp",  "AES-192-ECB", 12},
    {"ciphers/AES/ECB/ECBGFSbox256.rsp",  "AES-256-ECB", 10},
    {"ciphers/AES/ECB/ECBKeySbox128.rsp", "AES-128-ECB", 42},
    {"ciphers/AES/ECB/ECBKeySbox192.rsp", "AES-192-ECB", 48},
    {"ciphers/AES/ECB/ECBKeySbox256.rsp", "AES-256-ECB", 32},
    {"ciphers/AES/ECB/ECBMMT128.rsp",     "AES-128-ECB", 20},
    {"ciphers/AES/ECB/ECBMMT192.rsp",     "AES-192-ECB", 20},
    {"ciphers/AES/ECB/ECBMMT256.rsp",     "AES-256-ECB", 20},
    {"ciphers/AES/ECB/ECBVarKey128.rsp",  "AES-128-ECB", 256},
    {"ciphers/AES/ECB/ECBVarKey192.rsp",  "AES-192-ECB", 384},
    {"ciphers/AES/ECB/ECBVarKey256.rsp",  "AES-256-ECB", 512},
    {"ciphers/AES/ECB/ECBVarTxt128.rsp",  "AES-128-ECB", 256},
    {"ciphers/AES/ECB/ECBVarTxt192.rsp",  "AES-192-ECB", 256},
    {"ciphers/AES/ECB/ECBVarTxt256.rsp",  "AES-256-ECB", 256},
    {"ciphers/AES/CBC/CBCGFSbox128.rsp",  "AES-128-CBC", 14},
    {"ciphers/AES/CBC/CBCGFSbox192.rsp",  "AES-192-CBC", 12},
    {"ciphers/AES/CBC/CBCGFSbox256.rsp",  "AES-256-CBC", 10},
    {"ciphers/AES/CBC/CBCKeySbox128.rsp", "AES-128-CBC", 42},
    {"ciphers/AES/CBC/CBCKeySbox192.rsp", "AES-192-CBC", 48},
    {"ciphers/AES/CBC/CBCKeySbox256.rsp", "AES-256-CBC", 32},
    {"ciphers/AES/CBC/CBCMMT128.rsp",     "AES-128-CBC", 20},
    {"ciphers/AES/CBC/CBCMMT192.rsp",     "AES-192-CBC", 20},
    {"ciphers/AES/CBC/CBCMMT256.rsp",     "AES-256-CBC", 20},
    {"ciphers/AES/CBC/CBCVarKey128.rsp",  "AES-128-CBC", 256},
    {"ciphers/AES/CBC/CBCVarKey192.rsp",  "AES-192-CBC", 384},
    {"ciphers/AES/CBC/CBCVarKey256.rsp",  "AES-256-CBC", 512},
    {"ciphers/AES/CBC/CBCVarTxt128.rsp",  "AES-128-CBC", 256},
    {"ciphers/AES/CBC/CBCVarTxt192.rsp",  "AES-192-CBC", 256},
    {"ciphers/AES/CBC/CBCVarTxt256.rsp",  "AES-256-CBC", 256},
    {"ciphers/AES/CTR/aes-128-ctr.txt",   "AES-128-CTR", 3},
    {"ciphers/AES/CTR/aes-192-ctr.txt",   "AES-192-CTR", 3},
    {"ciphers/AES/CTR/aes-256-ctr.txt",   "AES-256-CTR", 3},
};

inline constexpr VectorFile triple_des_files[] = {
    {"ciphers/3DES/ECB/TECBMMT1.rsp",    "DES-EDE3-ECB", 20},
    {"ciphers/3DES/ECB/TECBMMT2.rsp",    "DES-EDE3-ECB", 20},
    {"ciphers/3DES/ECB/TECBMMT3.rsp",    "DES-EDE3-ECB", 20},
    {"ciphers/3DES/ECB/TECBinvperm.rsp", "DES-EDE3-ECB", 128},
    {"ciphers/3DES/ECB/TECBpermop.rsp",  "DES-EDE3-ECB", 64},
    {"ciphers/3DES/ECB/TECBsubtab.rsp",  "DES-EDE3-ECB", 38},
    {"ciphers/3DES/ECB/TECBvarkey.rsp",  "DES-EDE3-ECB", 112},
    {"ciphers/3DES/ECB/TECBvartext.rsp", "DES-EDE3-ECB", 128},
    {"ciphers/3DES/ECB/TECBMMT2.rsp",    "DES-EDE-ECB",  20},
    {"ciphers/3DES/ECB/TECBvarkey.rsp",  "DES-EDE-ECB",  112},
    {"ciphers/3DES/CBC/TCBCMMT1.rsp",    "DES-EDE3-CBC", 20},
    {"ciphers/3DES/CBC/TCBCMMT2.rsp",    "DES-EDE3-CBC", 20},
    {"ciphers/3DES/CBC/TCBCMMT3.rsp",    "DES-EDE3-CBC", 20},
    {"ciphers/3DES/CBC/TCBCinvperm.rsp", "DES-EDE3-CBC", 128},
    {"ciphers/3DES/CBC/TCBCpermop.rsp",  "DES-EDE3-CBC", 64},
    {"ciphers/3DES/CBC/TCBCsubtab.rsp",  "DES-EDE3-CBC", 38},
    {"ciphers/3DES/CBC/TCBCvarkey.rsp",  "DES-EDE3-CBC", 112},
    {"ciphers/3DES/CBC/TCBCvartext.rsp", "DES-EDE3-CBC", 128},
    {"ciphers/3DES/CBC/TCBCMMT2.rsp",    "DES-EDE-CBC",  20},
    {"ciphers/3DES/CBC/TCBCvarkey.rsp",  "DES-EDE-CBC",  112},
};

inline constexpr VectorFile single_des_files[] = {
    {"ciphers/3DES/ECB/TECBMMT1.rsp",    "DES-ECB", 20},
    {"ciphers/3DES/ECB/TECBinvperm.rsp", "DES-ECB", 128},
    {"ciphers/3DES/ECB/TECBpermop.rsp",  "DES-ECB", 64},
    {"ciphers/3DES/ECB/TECBsubtab.rsp",  "DES-ECB", 38},
    {"ciphers/3DES/ECB/TECBvarkey.rsp",  "DES-ECB", 112},
    {"ciphers/3DES/ECB/TECBvartext.rsp", "DES-ECB", 128},
    {"ciphers/3DES/CBC/TCBCMMT1.rsp",    "DES-CBC", 20},
    {"ciphers/3DES/CBC/TCBCinvperm.rsp", "DES-CBC", 128},
    {"ciphers/3DES/CBC/TCBCpermop.rsp",  "DES-CBC", 64},
    {"ciphers/3DES/CBC/TCBCsubtab.rsp",  "DES-CBC", 38},
    {"ciphers/3DES/CBC/TCBCvarkey.rsp",  "DES-CBC", 112},
    {"ciphers/3DES/CBC/TCBCvartext.rsp", "DES-CBC", 128},
};

inline constexpr VectorFile xts_files[] = {
    {"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES128.rsp",     "AES-128-XTS", 800, 200},
    {"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES256.rsp",     "AES-256-XTS", 600, 400},
    {"ciphers/AES/XTS/tweak-dataunitseqno/XTSGenAES128.rsp", "AES-128-XTS", 800, 200},
    {"ciphers/AES/XTS/tweak-dataunitseqno/XTSGenAES256.rsp", "AES-256-XTS", 600, 400},
};

inline constexpr VectorFile hmac_files[] = {
    {"HMAC/rfc-2202-md5.txt",    "HMAC-MD5",    7},
    {"HMAC/rfc-2202-sha1.txt",   "HMAC-SHA1",   7},
    {"HMAC/rfc-4231-sha224.txt", "HMAC-SHA224", 6},
    {"HMAC/rfc-4231-sha256.txt", "HMAC-SHA256", 6},
    {"HMAC/rfc-4231-sha384.txt", "HMAC-SHA384", 6},
    {"HMAC/rfc-4231-sha512.txt", "HMAC-SHA512", 6},
};

struct GcmFile {
  VectorFile file;
  std::size_t refused;  // of its records
};

inline constexpr GcmFile gcm_files[] = {
    {{"ciphers/AES/GCM/gcmDecrypt128.rsp",      "AES-128-GCM", 7875}, 4011},
    {{"ciphers/AES/GCM/gcmDecrypt192.rsp",      "AES-192-GCM", 7875}, 3978},
    {{"ciphers/AES/GCM/gcmDecrypt256.rsp",      "AES-256-GCM", 7875}, 3919},
    {{"ciphers/AES/GCM/gcmEncryptExtIV128.rsp", "AES-128-GCM", 7875}, 0},
    {{"ciphers/AES/GCM/gcmEncryptExtIV192.rsp", "AES-192-GCM", 7875}, 0},
    {{"ciphers/AES/GCM/gcmEncryptExtIV256.rsp", "AES-256-GCM", 7875}, 0},
};
// clang-format on

}  // namespace kaccel::vectors
