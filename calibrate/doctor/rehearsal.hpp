// Tries the mends on a copy before anybody is told to make them.
#pragma once

#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {

// The configuration as one text, its includes in their places, with every line commented out and
// every line appended that `findings` propose.
std::string mended_text(const Subject& subject, const Findings& findings);

// What programs or kaccel would lose by it, as one phrase; "" where nothing. Starts a helper
// process.
std::string what_would_break(const Subject& subject, const Findings& findings);

// Takes the changes of the configuration out of `findings` where they would break what works, and
// adds a finding that says so.
void rehearse(const Subject& subject, Findings& findings);

}  // namespace kaccel::calibrate::doctor
