// Misspelt names.
#pragma once

#include <cstddef>
#include <string_view>

namespace kaccel::calibrate::doctor {

// Letters to insert, remove or replace to make one of the other, capitals counting as small ones
// (Levenshtein's distance).
std::size_t distance(std::string_view a, std::string_view b);

// Whether one may be the other misspelt: at most a quarter of its letters differ, and at most two.
bool is_similar(std::string_view a, std::string_view b);

}  // namespace kaccel::calibrate::doctor
