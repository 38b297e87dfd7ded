// Which line of which file OpenSSL cannot read.
#pragma once

#include <string>

#include "calibrate/doctor/configuration_lines.hpp"
#include "calibrate/doctor/openssl_conf.hpp"

namespace kaccel::calibrate::doctor {

struct BrokenLine {
  std::string file;
  OpensslConf::Broken broken;  // its line counted in that file
};

// OpenSSL names no file, and counts the lines of included files along. So each file is read alone.
// `whole`: what it says of the configuration in the file `path`, which is also the answer where
// no file by itself is broken.
BrokenLine find_broken_line(const std::string& path, const OpensslConf::Broken& whole,
                            const ConfigurationLines& lines);

}  // namespace kaccel::calibrate::doctor
