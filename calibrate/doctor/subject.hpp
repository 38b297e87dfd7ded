// What doctor examines, gathered once, and the checks; each adds what it finds.
#pragma once

#include <optional>
#include <string>

#include "calibrate/doctor/configuration_lines.hpp"
#include "calibrate/doctor/finding.hpp"
#include "calibrate/doctor/openssl_conf.hpp"
#include "calibrate/doctor/trial.hpp"
#include "calibrate/machine.hpp"

namespace kaccel::calibrate::doctor {

struct Subject {
  std::string path;  // of the configuration file
  const OpensslConf& conf;
  const ConfigurationLines& lines;
  const Machine& machine;
  const Trial& trial;
};

// Whether reading it would not end, or would take what another reader waits for: nothing then may
// open it, OpenSSL's reader least of all.
bool is_endless(const std::string& path, const ConfigurationLines& lines);

// The sections on the way from openssl_conf to kaccel, as they are, or as they will be when what
// was found has been mended.
struct Sections {
  std::string main;
  std::string providers;
  std::string kaccel;
  bool off = false;  // kaccel's line in `providers` is commented out, and nothing else is wrong
};

// The file and what it includes: there, readable by all, and syntax. False where OpenSSL cannot
// read the configuration, so that there is nothing more to say of what is in it.
// A file of thresholds that swallows what stands behind its include counts as that: everything else
// would be said of a configuration that nobody meant.
bool check_files(const Subject& subject, Findings& findings);

// openssl_conf -> providers -> kaccel.
Sections check_links(const Subject& subject, Findings& findings);

// kaccel.so: where it is, whether it loads, and its version.
void check_module(const Subject& subject, const Sections& sections, Findings& findings);

// `activate`, and who provides what kaccel does not have.
void check_activation(const Subject& subject, const Sections& sections, Findings& findings);

// default_properties and the random number generator's.
void check_properties(const Subject& subject, const Sections& sections, Findings& findings);

// Keys of the sections around kaccel's that OpenSSL knows nothing of.
void check_neighbours(const Subject& subject, const Sections& sections, Findings& findings);

// Every key of kaccel's section and of the thresholds, and the drivers named there.
void check_settings(const Subject& subject, const Sections& sections, Findings& findings);

// The kernel's walls.
void check_kernel(const Machine& machine, Findings& findings);

// What a program had, in the trial.
void check_trial(const Subject& subject, bool kaccel_is_off, Findings& findings);

// What is common to the checks:

// The line that sets it, or the section that lacks it.
std::string place(const Subject& subject, const std::string& section, const std::string& key);

// What a configuration that OpenSSL refuses means for programs.
std::string refusal(const Subject& subject);

// Whether the configuration is meant for other users too: OpenSSL's own, or root's, outside homes.
bool is_shared(const Subject& subject);

// Whether this machine has a hardware driver that can be used, so that there is something to
// calibrate.
bool has_usable_hardware(const Machine& machine);

// A section that holds thresholds, by its keys; nullptr where there is none.
const std::string* section_of_thresholds(const ConfigurationLines& lines,
                                         const std::string& other_than = {});

// The file of thresholds: the one that is included, or the one to be written and included.
std::string thresholds_path(const Subject& subject);

// Where an include names no file and its name is nearly that of one: that one's path.
std::optional<std::string> file_that_was_meant(const Subject& subject, const Include& include);

// "kaccel-calibrate run --output FILE" for it.
std::string calibrate_command(const Subject& subject);

// Whether a program of this OpenSSL activates a provider whose section says `activate = value`.
// Before 3.2 the line's being there was enough.
enum class Activation : std::uint8_t { active, inactive, refused };
Activation activation(const std::optional<std::string>& value, unsigned long openssl_version);

}  // namespace kaccel::calibrate::doctor
