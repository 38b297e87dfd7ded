// JSON as this program prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kaccel::calibrate {

using Json = nlohmann::ordered_json;

// Indented ASCII with a final newline; bytes that are not UTF-8 are replaced.
inline std::string json_text(const Json& document) {
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace kaccel::calibrate
