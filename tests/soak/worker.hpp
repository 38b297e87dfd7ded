// One thread of the soak.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <shared_mutex>
#include <string>
#include <vector>

#include "tests/support/context_pair.hpp"

namespace kaccel::testing {

// What the threads of a soak share.
struct Soak {
  const std::vector<PairMaker>& makers;
  std::size_t threshold;         // bytes, of every algorithm
  std::uint64_t fork_every;      // operations of all threads together
  std::uint64_t operations = 0;  // to do, of all threads together
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> forks{0};
  std::atomic<bool> stop{false};  // a difference was found
  // A sanitizer's malloc cannot bear a fork while other threads allocate: there they wait for it.
  std::shared_mutex at_work{};
  std::atomic<bool> fork_waits{false};
};

class Worker {
 public:
  Worker(Soak& soak, std::uint32_t seed);

  // Until the soak's operations are done. Returns "", or the first difference.
  std::string run();

 private:
  struct Entry {
    std::unique_ptr<ContextPair> pair;
    std::uint64_t key;
    bool encrypt;
  };

  std::size_t below(std::size_t limit) { return random_() % limit; }
  std::uint64_t some_key();
  std::size_t some_size();
  Entry& some_entry() { return entries_[below(entries_.size())]; }

  Entry made();
  void init(Entry& entry, std::uint64_t key, bool encrypt);
  void use(Entry& entry);
  void duplicate();
  void operate();
  void let_others_fork();
  pid_t forked();
  void fork_and_go_on();
  bool child_agrees();
  void note(const std::string& difference);

  Soak& soak_;
  std::shared_lock<std::shared_mutex> at_work_;  // under a sanitizer; goes last
  std::mt19937 random_;
  Bytes data_;
  std::vector<Entry> entries_;
  std::uint64_t keys_;
  std::string difference_;
};

}  // namespace kaccel::testing
