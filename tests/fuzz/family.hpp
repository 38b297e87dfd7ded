// The families of algorithms. Each is a fuzz target of its own.
#pragma once

#include "tests/fuzz/configuration.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/subjects.hpp"
#include "tests/fuzz/transcript.hpp"

namespace kaccel::fuzzing {

struct Session {
  Input& input;
  const Configuration& configuration;
  Subjects& subjects;
  Transcript& transcript;
};

// Contexts of one input live at most this many at a time.
inline constexpr std::size_t most_streams = 3;
// Calls that one input may make, however small each is.
inline constexpr int most_calls = 60;

// Makes the calls that the input tells. Throws Difference.
void run_blocks(const Session& session);
void run_xts(const Session& session);
void run_gcm(const Session& session);
void run_hmac(const Session& session);

}  // namespace kaccel::fuzzing
