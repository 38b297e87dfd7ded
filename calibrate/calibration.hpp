// What a calibration found out: the data between `run`, the thresholds file and the reports.
#pragma once

#include <string>
#include <vector>

#include "calibrate/self_test.hpp"
#include "calibrate/sweep.hpp"
#include "provider/routing.hpp"

namespace kaccel::calibrate {

struct CalibratedDirection {
  Threshold threshold = never_hardware;
  std::vector<SizeMeasurement> measurements;  // empty where the driver was taken out
};

struct CalibratedAlgorithm {
  std::string name;  // OpenSSL's, e.g. "AES-128-CBC"
  std::string driver;
  SelfTestResult self_test;
  CalibratedDirection encrypt;
  CalibratedDirection decrypt;
};

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
};

}  // namespace kaccel::calibrate
