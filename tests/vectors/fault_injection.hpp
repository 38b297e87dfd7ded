// Known answers through kaccel while its driver fails.
//
// Each passage is made twice: on a kaccel whose driver is well, which tells how many requests it
// takes, and on one of which one call fails. That one is new each time, since a driver that failed
// is tried less often or no more, and faults would no longer reach it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "faulty_transport.hpp"
#include "provider/settings.hpp"
#include "tests/support/evp.hpp"

namespace kaccel::vectors {

// Of a file's records every so manieth is to be run, where it is `usual` without a choice:
// KACCEL_FAULTS=few or all.
std::size_t records_apart(std::size_t usual);

class FaultInjection {
 public:
  // One algorithm at one threshold. `name` as in algorithm_table.
  FaultInjection(const char* name, Threshold threshold);
  ~FaultInjection();

  // A passage on the given library, which checks what comes out itself.
  using Passage = std::function<void(const kaccel::testing::LibraryContext& library)>;
  // Runs it, without a fault and with the next one of all. A passage that asks no driver is made
  // once.
  void run(const Passage& passage);

  // Passages run so far, for choosing among kinds of them: not all kinds ask the driver, so that
  // they do not go with the faults.
  std::size_t passages() const { return passages_; }
  // Passages that met a fault.
  std::size_t injected() const;

  // After the last one: every passage that asks the driver has met its fault. Prints how many there
  // were at each step.
  void finish(const char* what) const;

 private:
  struct Subject;

  void run_with_fault(const Passage& passage, std::uint64_t requests, std::uint64_t calls);

  const Settings settings_;
  const bool is_mac_;
  std::unique_ptr<Subject> well_;
  std::size_t turn_;  // which fault is next
  std::size_t passages_ = 0;
  std::size_t due_ = 0;
  std::array<std::size_t, 3> injected_{};  // by step
};

}  // namespace kaccel::vectors
