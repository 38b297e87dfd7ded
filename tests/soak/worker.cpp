#include "tests/soak/worker.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "tests/soak/footprint.hpp"

namespace kaccel::testing {
namespace {

constexpr std::size_t live_contexts = 12;
constexpr std::size_t largest = std::size_t{1} << 17;  // two requests of 64 KiB
constexpr unsigned child_hangs_after = 300;            // seconds

}  // namespace

Worker::Worker(Soak& soak, std::uint32_t seed)
    : soak_(soak),
      at_work_(soak.at_work, std::defer_lock),
      random_(seed),
      data_(largest + 4096),
      keys_(std::uint64_t{seed} << 24) {
  std::generate(data_.begin(), data_.end(),
                [this] { return static_cast<std::uint8_t>(random_()); });
}

std::string Worker::run() {
  if (under_a_sanitizer()) at_work_.lock();
  while (entries_.size() < live_contexts) entries_.push_back(made());
  while (difference_.empty() && !soak_.stop) {
    const std::uint64_t number = soak_.done.fetch_add(1) + 1;
    if (number > soak_.operations) break;
    if (under_a_sanitizer()) let_others_fork();
    operate();
    if (number % soak_.fork_every == 0) fork_and_go_on();
  }
  return difference_;
}

// An eighth of all keys are every thread's, so that sessions are shared and contended for.
std::uint64_t Worker::some_key() {
  return below(8) == 0 ? 1 + below(4) : ++keys_;
}

std::size_t Worker::some_size() {
  const std::size_t dice = below(1000);
  if (dice < 500) return soak_.threshold - 48 + below(96);
  if (dice < 800) return 16 * (1 + below(128));
  if (dice < 998) return 16 + below(soak_.threshold);
  return largest / 2 - 32 + below(largest / 2 + 32);
}

Worker::Entry Worker::made() {
  Entry entry{soak_.makers[below(soak_.makers.size())].make(), 0, false};
  init(entry, some_key(), below(2) == 0);
  return entry;
}

void Worker::init(Entry& entry, std::uint64_t key, bool encrypt) {
  entry.key = key;
  entry.encrypt = encrypt;
  note(entry.pair->init(key, encrypt));
}

void Worker::use(Entry& entry) {
  const Place place = below(3) == 0 ? Place::in_place : Place::apart;
  note(entry.pair->use({data_.data() + below(4096), some_size()}, place));
}

void Worker::duplicate() {
  Entry& entry = some_entry();
  Entry copy{entry.pair->duplicate(), entry.key, entry.encrypt};
  if (copy.pair == nullptr) return note("a context cannot be duplicated");
  use(entry);
  use(copy);
  std::swap(some_entry(), copy);
}

void Worker::operate() {
  const std::size_t dice = below(100);
  Entry& entry = some_entry();
  if (dice < 5) {
    init(entry, entry.key, entry.encrypt);
  } else if (dice < 8) {
    init(entry, entry.key, !entry.encrypt);
  } else if (dice < 14) {
    init(entry, some_key(), below(2) == 0);
  } else if (dice < 20) {
    return duplicate();
  } else if (dice < 26) {
    entry = made();
  }
  use(entry);
}

void Worker::let_others_fork() {
  if (!soak_.fork_waits) return;
  at_work_.unlock();
  while (soak_.fork_waits) std::this_thread::yield();
  at_work_.lock();
}

// As fork(2).
pid_t Worker::forked() {
  if (!under_a_sanitizer()) return ::fork();
  at_work_.unlock();
  soak_.fork_waits = true;
  soak_.at_work.lock();
  const pid_t child = ::fork();
  if (child == 0) return child;
  soak_.fork_waits = false;
  soak_.at_work.unlock();
  at_work_.lock();
  return child;
}

// Both sides go on with the same contexts; the child leaves as a program does that knows nothing of
// kaccel's.
void Worker::fork_and_go_on() {
  const pid_t child = forked();
  if (child == 0) {
    ::alarm(child_hangs_after);
    ::_exit(child_agrees() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
    note("a child's status is " + std::to_string(status));
  }
  ++soak_.forks;
  for (Entry& entry : entries_) use(entry);
}

bool Worker::child_agrees() {
  for (Entry& entry : entries_) use(entry);
  for (int i = 0; i < 4; ++i) {
    duplicate();
    Entry fresh = made();
    use(fresh);
  }
  for (Entry& entry : entries_) use(entry);
  entries_.erase(entries_.begin(), entries_.begin() + live_contexts / 2);
  if (!difference_.empty()) std::fprintf(stderr, "in a child: %s\n", difference_.c_str());
  return difference_.empty();
}

void Worker::note(const std::string& difference) {
  if (difference.empty()) return;
  if (difference_.empty()) difference_ = difference;
  soak_.stop = true;
}

}  // namespace kaccel::testing
