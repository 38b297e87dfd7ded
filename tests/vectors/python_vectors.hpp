// The files of Python's cryptography (NIST's CAVS files and those of RFCs), each a test at several
// thresholds.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "known_answers.hpp"
#include "provider/routing.hpp"

namespace kaccel::vectors {

struct VectorFile {
  const char* path;          // in the cryptography_vectors package
  const char* algorithm;     // kaccel's name
  std::size_t records;       // exactly so many are run, so that an empty run cannot pass
  std::size_t left_out = 0;  // those besides whose length is not whole bytes
};

struct Case {
  VectorFile file;
  Threshold threshold;
};

void PrintTo(const Case& c, std::ostream* out);

// Every file at every tested threshold.
std::vector<Case> cases(std::span<const VectorFile> files);

// A GoogleTest name, e.g. AES_CBC_CBCMMT128_as_AES_128_CBC_threshold_0.
std::string case_name(const ::testing::TestParamInfo<Case>& instance);

// Where the package is: KACCEL_VECTORS_DIR or where Debian puts it.
std::filesystem::path python_file(const VectorFile& file);
// A record's key as OpenSSL takes it: two-key 3DES comes with K1 again for K3, single DES with K1
// three times.
Bytes key_of(const VectorFile& file, const KnownAnswer& answer);
// What to do about a file that is not there.
std::string how_to_get_python_vectors(const std::filesystem::path& path);

}  // namespace kaccel::vectors
