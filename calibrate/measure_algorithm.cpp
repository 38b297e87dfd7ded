#include "calibrate/measure_algorithm.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <sstream>

#include "calibrate/concurrent_callers.hpp"
#include "calibrate/hardware_settings.hpp"
#include "calibrate/timed_operation.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Direction;

struct Sides {
  const OpensslContext& software;
  OpensslContext accelerated;  // both directions share it
};

// With proof that it was the hardware: every operation must have become at least one request, and
// none may have fallen back.
Cost run_on_hardware(ConcurrentCallers& callers, const OpensslContext& accelerated,
                     std::size_t size, unsigned count) {
  const auto before = accelerated.counters();
  const auto cost = callers.run(size, count);
  const auto after = accelerated.counters();
  if (after.fallbacks != before.fallbacks) throw MeasurementError("the driver failed a request");
  if (after.requests - before.requests < cost.operations) {
    throw MeasurementError("requests did not reach the driver");
  }
  return cost;
}

ConcurrentCallers make_callers(const MeasurementPlan& plan, Direction direction,
                               const OpensslContext& side, const OpensslContext& software) {
  std::vector<std::unique_ptr<TimedOperation>> operations;
  for (unsigned i = 0; i < plan.threads; ++i) {
    operations.push_back(
        make_operation(plan.algorithm, direction, side, software, plan.sizes.back()));
  }
  return ConcurrentCallers(std::move(operations));
}

void measure_direction(const MeasurementPlan& plan, const CallLimits& limits, const Sides& sides,
                       Direction direction, const std::function<void(SizeMeasurement)>& report) {
  auto on_software = make_callers(plan, direction, sides.software, sides.software);
  auto on_hardware = make_callers(plan, direction, sides.accelerated, sides.software);
  Sweep sweep(
      [&](std::size_t size, unsigned operations) { return on_software.run(size, operations); },
      [&](std::size_t size, unsigned operations) {
        return run_on_hardware(on_hardware, sides.accelerated, size, operations);
      },
      plan.preference);
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

BothDirections measure_algorithm(const MeasurementPlan& plan, SoftwareContexts& software_contexts,
                                 kernel::Transport& transport, const OnSize& on_size,
                                 const HelperLimits& limits) {
  const OpensslContext& software = software_contexts.of(plan.algorithm);
  BothDirections result;
  const auto helper = run_in_helper(
      [&](const SayLine& say) {
        const CallLimits call_limits = limits_of(plan, transport);
        const Sides sides{
            software, OpensslContext::with_kaccel(
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
