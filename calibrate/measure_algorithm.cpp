#include "calibrate/measure_algorithm.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <sstream>

#include "calibrate/hardware_settings.hpp"
#include "calibrate/timed_operation.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Direction;

// Both sides of an algorithm. A library context takes milliseconds of a small CPU to fill, so both
// directions share them.
struct Sides {
  OpensslContext software;
  OpensslContext accelerated;
};

Cost timed(TimedOperation& operation, std::size_t size, unsigned count) {
  try {
    return operation.run(size, count);
  } catch (const OpensslError& error) {
    throw MeasurementError(error.what());
  }
}

// With proof that it was the hardware: every operation must have become at least one request, and
// none may have fallen back.
Cost timed_on_hardware(TimedOperation& operation, const OpensslContext& accelerated,
                       std::size_t size, unsigned count) {
  const auto before = accelerated.counters();
  const auto cost = timed(operation, size, count);
  const auto after = accelerated.counters();
  if (after.fallbacks != before.fallbacks) throw MeasurementError("the driver failed a request");
  if (after.requests - before.requests < cost.operations) {
    throw MeasurementError("requests did not reach the driver");
  }
  return cost;
}

void measure_direction(const MeasurementPlan& plan, const CallLimits& limits, const Sides& sides,
                       Direction direction, const std::function<void(SizeMeasurement)>& report) {
  const auto& [software, accelerated] = sides;
  const std::size_t largest = plan.sizes.back();
  const auto on_software = make_operation(plan.algorithm, direction, software, software, largest);
  const auto on_hardware =
      make_operation(plan.algorithm, direction, accelerated, software, largest);
  Sweep sweep(
      [&](std::size_t size, unsigned operations) { return timed(*on_software, size, operations); },
      [&](std::size_t size, unsigned operations) {
        return timed_on_hardware(*on_hardware, accelerated, size, operations);
      });
  for (const std::size_t size : plan.sizes) {
    report(permits_call(plan.algorithm, size, limits) ? sweep.measure(size) : forbidden_size(size));
  }
}

// An HMAC has no direction and says `encrypt`.
std::vector<Direction> directions_of(const Algorithm& algorithm) {
  if (is_mac(algorithm)) return {Direction::encrypt};
  return {Direction::encrypt, Direction::decrypt};
}

// With what only the kernel can tell.
CallLimits limits_of(const MeasurementPlan& plan, kernel::Transport& transport) {
  CallLimits limits = plan.limits;
  if (plan.algorithm.kind == Kind::data_units) {
    limits.longest_request = longest_request(transport, plan.driver, plan.algorithm);
  }
  return limits;
}

// Lets the parent read what it was told and show its progress now, and not during the next
// measurement: small routers have one CPU.
void let_the_parent_run() {
  sched_yield();
}

// A measurement as a line from the helper: direction, size, winner, both costs, problem.
std::string to_line(Direction direction, const SizeMeasurement& m) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", static_cast<int>(direction), m.size,
                     static_cast<int>(m.winner), m.software.operations, m.software.wall_ns,
                     m.software.cpu_ns, m.hardware.operations, m.hardware.wall_ns,
                     m.hardware.cpu_ns, m.problem);
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
  in >> direction >> m.size >> winner >> m.software.operations >> m.software.wall_ns >>
      m.software.cpu_ns >> m.hardware.operations >> m.hardware.wall_ns >> m.hardware.cpu_ns >>
      std::ws;
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
        const CallLimits call_limits = limits_of(plan, transport);
        const Sides sides{
            OpensslContext::with_software_of(plan.algorithm),
            OpensslContext::with_kaccel(
                always_on_hardware(plan.algorithm, plan.driver, call_limits), transport)};
        for (const auto direction : directions_of(plan.algorithm)) {
          measure_direction(plan, call_limits, sides, direction, [&](const SizeMeasurement& m) {
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
  if (!is_mac(plan.algorithm)) fail_the_rest(result.decrypt, plan.sizes, problem);
  return result;
}

}  // namespace kaccel::calibrate
