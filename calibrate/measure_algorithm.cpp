#include "calibrate/measure_algorithm.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "calibrate/openssl_context.hpp"
#include "calibrate/random_bytes.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Direction;

std::uint64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// One cipher on one provider, timed.
class TimedStream {
 public:
  TimedStream(const OpensslContext& context, const Algorithm& algorithm, Direction direction,
              std::size_t largest_size)
      : stream_(context, algorithm.name, direction, RandomBytes(1).bytes(algorithm.key_size),
                RandomBytes(2).bytes(kernel::info(algorithm.kernel_algorithm).iv_size)),
        // EVP wants room for a block more.
        buffer_(RandomBytes(3).bytes(largest_size + 64)) {}

  Cost run(std::size_t size, unsigned operations) {
    const auto wall_start = now_ns(CLOCK_MONOTONIC);
    const auto cpu_start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    try {
      for (unsigned i = 0; i < operations; ++i)
        stream_.update(buffer_.data(), size, buffer_.data());
    } catch (const OpensslError& error) {
      throw MeasurementError(error.what());
    }
    const auto cpu_end = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    const auto wall_end = now_ns(CLOCK_MONOTONIC);
    return {wall_end - wall_start, cpu_end - cpu_start};
  }

 private:
  CipherStream stream_;
  std::vector<std::uint8_t> buffer_;
};

Settings always_on_hardware(const MeasurementPlan& plan) {
  Settings settings;
  settings.calibrated = true;
  settings.load_default = false;
  auto& row = settings.algorithms[find_algorithm(plan.algorithm.name)];
  row.driver = plan.driver;
  row.encrypt = always_hardware;
  row.decrypt = always_hardware;
  row.restrictions = plan.restrictions;
  return settings;
}

// The hardware's side, with proof that it was the hardware: every operation must have become at
// least one request, and none may have fallen back.
Cost run_on_hardware(TimedStream& stream, const OpensslContext& accelerated, std::size_t size,
                     unsigned operations) {
  const auto before = accelerated.counters();
  const auto cost = stream.run(size, operations);
  const auto after = accelerated.counters();
  if (after.fallbacks != before.fallbacks) throw MeasurementError("the driver failed a request");
  if (after.requests - before.requests < operations) {
    throw MeasurementError("requests did not reach the driver");
  }
  return cost;
}

void measure_direction(const MeasurementPlan& plan, kernel::Transport& transport,
                       Direction direction, const std::function<void(SizeMeasurement)>& report) {
  const auto software = OpensslContext::with_default();
  const auto accelerated = OpensslContext::with_kaccel(always_on_hardware(plan), transport);
  TimedStream software_stream(software, plan.algorithm, direction, plan.sizes.back());
  TimedStream hardware_stream(accelerated, plan.algorithm, direction, plan.sizes.back());
  for (const std::size_t size : plan.sizes) {
    report(measure_permitted_size(
        size, plan.restrictions,
        [&](std::size_t bytes, unsigned operations) {
          return software_stream.run(bytes, operations);
        },
        [&](std::size_t bytes, unsigned operations) {
          return run_on_hardware(hardware_stream, accelerated, bytes, operations);
        }));
  }
}

// Lets the parent read what it was told and show its progress now, and not during the next
// measurement: small routers have one CPU.
void let_the_parent_run() {
  poll(nullptr, 0, 2);
}

// A measurement as a line from the helper: direction, size, winner, operations, four costs,
// problem.
std::string to_line(Direction direction, const SizeMeasurement& m) {
  return fmt::format("{} {} {} {} {} {} {} {} {}", static_cast<int>(direction), m.size,
                     static_cast<int>(m.winner), m.operations, m.software.wall_ns,
                     m.software.cpu_ns, m.hardware.wall_ns, m.hardware.cpu_ns, m.problem);
}

struct DirectedMeasurement {
  Direction direction;
  SizeMeasurement measurement;
};

DirectedMeasurement from_line(std::string_view line) {
  std::istringstream in{std::string(line)};
  int direction = 0;
  int winner = 0;
  SizeMeasurement m;
  in >> direction >> m.size >> winner >> m.operations >> m.software.wall_ns >> m.software.cpu_ns >>
      m.hardware.wall_ns >> m.hardware.cpu_ns >> std::ws;
  std::getline(in, m.problem);
  m.winner = static_cast<Winner>(winner);
  return {static_cast<Direction>(direction), std::move(m)};
}

void fail_the_rest(std::vector<SizeMeasurement>& measured, const std::vector<std::size_t>& sizes,
                   const std::string& problem) {
  for (std::size_t i = measured.size(); i < sizes.size(); ++i) {
    SizeMeasurement failed;
    failed.size = sizes[i];
    failed.problem = problem;
    measured.push_back(std::move(failed));
  }
}

}  // namespace

BothDirections measure_algorithm(const MeasurementPlan& plan, kernel::Transport& transport,
                                 const OnSize& on_size, const HelperLimits& limits) {
  BothDirections result;
  const auto helper = run_in_helper(
      [&](const SayLine& say) {
        for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
          measure_direction(plan, transport, direction, [&](const SizeMeasurement& m) {
            say(to_line(direction, m));
            let_the_parent_run();
          });
        }
      },
      [&](std::string_view line) {
        auto [direction, measurement] = from_line(line);
        on_size(direction, measurement.size);
        auto& list = direction == Direction::encrypt ? result.encrypt : result.decrypt;
        list.push_back(std::move(measurement));
      },
      limits);
  const std::string problem = helper.end == HelperEnd::finished ? "not measured" : helper.detail;
  fail_the_rest(result.encrypt, plan.sizes, problem);
  fail_the_rest(result.decrypt, plan.sizes, problem);
  return result;
}

}  // namespace kaccel::calibrate
