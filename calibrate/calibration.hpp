// What a calibration found out: the data between `run`, the thresholds file and the reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/preference.hpp"
#include "calibrate/self_test.hpp"
#include "calibrate/sweep.hpp"
#include "provider/routing.hpp"

namespace kaccel::calibrate {

struct CalibratedDirection {
  Threshold threshold = never_hardware;
  std::vector<SizeMeasurement> measurements;  // empty where the driver was taken out
  // What makes the threshold doubtful, in one phrase; "" where nothing does.
  std::string doubt;
};

struct CalibratedAlgorithm {
  std::string name;  // OpenSSL's, e.g. "AES-128-CBC"
  std::string driver;
  SelfTestResult self_test;
  CalibratedDirection encrypt;  // all there is of an HMAC
  CalibratedDirection decrypt;
};

// Whether a row of the table of that name is an HMAC, or one whose units cannot be cut (XTS).
inline bool is_mac(std::string_view name) noexcept {
  const std::size_t row = find_algorithm(name);
  return row < algorithm_table.size() && kaccel::is_mac(algorithm_table[row]);
}
inline bool has_data_units(std::string_view name) noexcept {
  const std::size_t row = find_algorithm(name);
  return row < algorithm_table.size() && algorithm_table[row].kind == Kind::data_units;
}

// An algorithm that stays in software without a test, or a driver that was passed over.
struct Skipped {
  std::string name;
  std::string driver;  // "" where there is none
  std::string reason;
};

struct Calibration {
  std::string date;  // UTC, ISO 8601
  std::string kernel_release;
  std::vector<CalibratedAlgorithm> algorithms;
  std::vector<Skipped> skipped;
  Preference preference = {};
  unsigned threads = 1;  // callers at a time
};

}  // namespace kaccel::calibrate
