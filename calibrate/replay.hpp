// `replay FILE.csv`: the threshold rule on measurements that somebody recorded.
//
// The file: '#' comments and blank lines anywhere; a header line that names the columns, of which
// algorithm, size, software and hardware are needed, in any order; one line a measurement. Sizes in
// bytes, rising within an algorithm; speeds in any unit that is the same on both sides, higher is
// faster. Further columns are ignored.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/rule.hpp"

namespace kaccel::calibrate {

struct Recording {
  std::size_t size;
  double software;  // speeds
  double hardware;
};

struct RecordedAlgorithm {
  std::string name;
  std::vector<Recording> recordings;
  Threshold threshold;
};

// Algorithms in the order in which they first appear. `file` is the name for messages. Throws
// CommandError (exit_bad_input), whose line has file and line number, on the first thing wrong.
std::vector<RecordedAlgorithm> replay_text(std::string_view text, const std::string& file);

struct ReplayOptions {
  std::string file;
  bool json = false;
};

// Prints one line an algorithm, "AES-128-CBC 768"; nothing at all if the file has a mistake.
int replay(const ReplayOptions& options, std::ostream& out);

}  // namespace kaccel::calibrate
