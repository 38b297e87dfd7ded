// A calibration for a person (table and drawing) and for a program (JSON).
#pragma once

#include <iosfwd>
#include <string>

#include "calibrate/calibration.hpp"

namespace kaccel::calibrate {

// The thresholds as a table, then each algorithm's times with a drawing of its crossover, at most
// 110 columns wide.
void print_report(const Calibration& calibration, std::ostream& out);

// `file`: where the thresholds were written. A cipher has "encrypt" and "decrypt", each with
// "threshold" and "sizes"; an HMAC has those two itself.
void print_report_json(const Calibration& calibration, const std::string& file, std::ostream& out);

// Who is faster and by how much, as a bar of fixed width around a middle: one mark for each factor
// of the square root of 2, "   <<<|      " where software is faster and "      |>>>   " where
// hardware is.
std::string speed_bar(double software_ns, double hardware_ns);

}  // namespace kaccel::calibrate
