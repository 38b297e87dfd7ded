// kaccel-calibrate: what is there (list), what it is worth (run, replay), what follows (explain),
// what came of it (statistics), what is wrong (doctor).
#include <openssl/crypto.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/doctor.hpp"
#include "calibrate/explain.hpp"
#include "calibrate/list.hpp"
#include "calibrate/replay.hpp"
#include "calibrate/run.hpp"
#include "calibrate/statistics.hpp"
#include "kernel-bridge/af_alg_transport.hpp"
#include "kernel-bridge/proc_crypto.hpp"
#include "provider/version.hpp"

namespace {

using namespace kaccel::calibrate;

constexpr const char* program = "kaccel-calibrate";

struct Options {
  ListOptions list;
  RunOptions run;
  ExplainOptions explain;
  ReplayOptions replay;
  StatisticsOptions statistics;
  DoctorOptions doctor;
};

void define_list(CLI::App& app, ListOptions& options) {
  auto* command = app.add_subcommand("list", "Show this kernel's drivers and which can be used");
  command->add_flag("--json", options.json, "Print JSON");
  command->footer("Example: kaccel-calibrate list\n");
}

void define_run(CLI::App& app, RunOptions& options) {
  auto* command = app.add_subcommand(
      "run",
      "Test the hardware drivers, measure them against OpenSSL's software and write the "
      "thresholds file");
  command->add_option("-o,--output", options.output,
                      "Thresholds file, '-' for standard output; replaced as a whole "
                      "(default: kaccel-thresholds.cnf beside OpenSSL's configuration)");
  command
      ->add_option("--driver", options.drivers,
                   "Only this kernel driver, even if it does not look like hardware; repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--algorithm", options.algorithms,
                   "Only this OpenSSL algorithm, e.g. AES-128-CBC or HMAC-SHA256, in any letter "
                   "case; the file then holds only what was asked for; repeatable")
      ->allow_extra_args(false);
  command->add_option("--sizes", options.sizes,
                      "Sizes to measure in bytes, e.g. 16,256,1024 (default: eleven from 16 to "
                      "16384)");
  command->add_option("--prefer", options.prefer,
                      "speed: hardware where it is faster (default); offload=PERCENT: also where "
                      "it is at most PERCENT % slower, 1 to 400, and spends less CPU time");
  command->add_option("--threads", options.threads,
                      "Callers at a time, 1 to 64, on both sides alike: as many as will share the "
                      "device (default: 1)");
  command->add_flag("--test-known-faults", options.test_known_faults,
                    "Try also what the driver is known to do wrong, to see whether it still does; "
                    "after a hang the machine may have to be started again");
  command->add_flag("--json", options.json, "Print the measurements as JSON");
  command->add_flag("-q,--quiet", options.quiet, "No progress and no report");
  command->footer("Example: kaccel-calibrate run --output /etc/ssl/kaccel-thresholds.cnf\n");
}

void define_explain(CLI::App& app, ExplainOptions& options) {
  auto* command = app.add_subcommand("explain", "Tell where a call goes, and why");
  command
      ->add_option("ALG", options.algorithm, "OpenSSL's algorithm, e.g. AES-128-CBC or HMAC-SHA256")
      ->required();
  command->add_option("SIZE", options.size, "Bytes in one update (HMAC: in a message)")->required();
  command->add_flag("--decrypt", options.decrypt, "A decryption (default: an encryption)");
  command->add_option("--config", options.config, "Instead of OpenSSL's configuration file");
  command->add_flag("--json", options.json, "Print JSON");
  command->footer("Example: kaccel-calibrate explain AES-128-CBC 1024 --decrypt\n");
}

void define_replay(CLI::App& app, ReplayOptions& options) {
  auto* command = app.add_subcommand("replay", "Apply the threshold rule to recorded measurements");
  command
      ->add_option("FILE", options.file,
                   "CSV with the columns algorithm,size,software,hardware (speeds, higher is "
                   "faster)")
      ->required();
  command->add_flag("--json", options.json, "Print JSON");
  command->footer("Example: kaccel-calibrate replay measurements.csv\n");
}

void define_statistics(CLI::App& app, StatisticsOptions& options) {
  auto* command =
      app.add_subcommand("statistics", "Tell what hardware did for each program so far");
  command->add_option("DIRECTORY", options.directory,
                      "Of the statistics files (default: `statistics` in OpenSSL's configuration)");
  command->add_flag("--json", options.json, "Print JSON");
  command->footer("Example: kaccel-calibrate statistics /run/kaccel\n");
}

void define_doctor(CLI::App& app, DoctorOptions& options) {
  auto* command = app.add_subcommand(
      "doctor", "Tell what is wrong with the configuration, and the lines that mend it");
  command->add_option("--config", options.config, "Instead of OpenSSL's configuration file");
  command->add_flag("--json", options.json, "Print JSON");
  command->footer(
      "Exit status: 0 nothing to mend, 1 something to mend, 2 wrong usage.\n"
      "Example: kaccel-calibrate doctor\n");
}

int dispatch(const CLI::App& app, const Options& options) {
  if (app.got_subcommand("replay")) return replay(options.replay, std::cout);
  if (app.got_subcommand("statistics")) return statistics(options.statistics, std::cout);

  if (options.run.json && options.run.output == "-") {
    throw CommandError(exit_bad_input, "--json and --output - both want standard output",
                       "command line", "give the thresholds file a name");
  }
  const auto transport = kaccel::kernel::make_af_alg_transport();
  if (!transport) throw std::bad_alloc();
  const auto machine = this_machine(*transport);
  if (app.got_subcommand("list")) return list(options.list, machine, std::cout);
  if (app.got_subcommand("doctor")) return run_doctor(options.doctor, machine, std::cout);
  if (app.got_subcommand("run")) return run(options.run, machine, std::cout, std::cerr);
  const auto configuration =
      read_configuration(options.explain.config, kaccel::kernel::read_text_file("/proc/crypto"));
  return explain(options.explain, configuration, machine, std::cout);
}

// CLI11 would only say that a command is missing.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string name = argv[1];
  const auto same_name = [&](const CLI::App* command) { return command->get_name() == name; };
  if (!app.get_subcommands(same_name).empty()) return;
  throw CommandError(exit_bad_input, "unknown command", printable(name),
                     "commands are list, run, explain, replay, statistics and doctor");
}

int fail(const CommandError& error) {
  std::cerr << program << ": " << error.what() << '\n';
  return error.status();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Decides, by measuring, which calls kaccel sends to the kernel's crypto hardware.",
               program);
  app.set_version_flag("--version", std::string(program) + " " + kaccel::version);
  app.require_subcommand(1);
  app.footer("`kaccel-calibrate COMMAND --help` tells more.\n");
  define_list(app, options.list);
  define_run(app, options.run);
  define_explain(app, options.explain);
  define_replay(app, options.replay);
  define_statistics(app, options.statistics);
  define_doctor(app, options.doctor);

  // A configuration that takes OpenSSL's algorithms away must not take them from this program.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  try {
    refuse_unknown_command(app, argc, argv);
    app.parse(argc, argv);
    const int status = dispatch(app, options);
    std::cout.flush();
    if (!std::cout) throw CommandError(exit_cannot, "cannot write", "standard output", "");
    return status;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail({exit_bad_input, error.what(), "command line", "see kaccel-calibrate --help"});
  } catch (const CommandError& error) {
    return fail(error);
  } catch (const std::exception& error) {
    return fail({exit_cannot, error.what(), "unexpected", "please report this"});
  }
}
