// A bounded set of keyed sessions shared by all contexts of a process; the key is loaded on demand.
//
// A context owns no descriptor. It borrows a session for (driver, direction, key) for the length of
// one request, and keeps a Handle by which it finds the same session next time without searching.
// When the pool is full, the session used longest ago is re-keyed for the newcomer. Sessions are
// per direction, because eip93 must not do both on one transform.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "kernel-bridge/driver_health.hpp"
#include "kernel-bridge/process_epoch.hpp"
#include "kernel-bridge/seccomp_guard.hpp"
#include "kernel-bridge/secret.hpp"
#include "kernel-bridge/status.hpp"
#include "kernel-bridge/transport.hpp"

namespace kaccel::kernel {

class SessionPool {
  struct Slot;
  struct Generation;
  enum class Lacking : std::uint8_t { nothing, key, session_and_key };

 public:
  // Which session a context used last. Copy it only through share(); give it back by release().
  struct Handle {
    Generation* generation = nullptr;  // slot is good only while this is the pool's current one
    Slot* slot = nullptr;
    std::uint64_t key_load = 0;  // identifies one loading of a key; 0: no session yet
  };

  struct Wanted {
    const BoundDriver& driver;
    Direction direction;
    std::span<const std::uint8_t> key;  // at most max_key_size bytes
  };

  // A session in exclusive use until the lease ends.
  class Lease {
   public:
    Lease() = default;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { end(); }

    Session& session() const noexcept;
    // Room for `size` bytes that stays with the session; nullptr when memory is out.
    std::uint8_t* bounce_buffer(std::size_t size) noexcept;
    // The session failed: it is destroyed instead of being kept.
    void discard() noexcept { usable_ = false; }
    void end() noexcept {
      if (slot_ != nullptr) give_back();
    }

   private:
    void give_back() noexcept;
    void destroy_session() noexcept;

    friend class SessionPool;
    Generation* generation_ = nullptr;
    Slot* slot_ = nullptr;
    bool usable_ = true;
  };

  struct Counters {
    std::uint64_t sessions_opened;
    std::uint64_t keys_loaded;  // that a driver took
    std::uint64_t requests;     // that reached a driver, whatever it answered
    std::size_t sessions_open;  // now, with those that are about to be
  };

  // What a pool counts, kept by the caller where it is to outlive the pool or be shared.
  struct Totals {
    std::atomic<std::uint64_t> sessions_opened{0};
    std::atomic<std::uint64_t> keys_loaded{0};
    std::atomic<std::uint64_t> requests{0};
  };

  static constexpr std::size_t default_limit = 64;
  static constexpr std::size_t highest_limit = 1024;

  // limit: most sessions at a time, 1 to highest_limit. Opens nothing yet. `transport` must outlive
  // the pool, and so must `totals`; nullptr: the pool's own. Under a seccomp filter that is not to
  // be ignored the pool makes no system call.
  SessionPool(Transport& transport, std::size_t limit,
              UnderSeccomp under_seccomp = UnderSeccomp::ignore, Totals* totals = nullptr) noexcept;
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;
  // No lease may be out.
  ~SessionPool();

  // Finds or makes a keyed session. Never waits for another thread's request: with every session in
  // use it fails with pool_exhausted. No lock is held across a system call.
  Status borrow(const Wanted& wanted, Handle& handle, Lease& lease) noexcept;

  // A second handle on the same session, for a duplicated context.
  Handle share(const Handle& handle) noexcept;

  // The context is done with its key: the pool's copy is wiped with the last handle.
  void release(Handle& handle) noexcept;

  void count_request() noexcept { totals_->requests.fetch_add(1, std::memory_order_relaxed); }
  // Counts it if it reached the driver.
  void count_failed_request(const Status& status) noexcept {
    if (reached_driver(status.failure)) count_request();
  }
  Counters counters() noexcept;

 private:
  Generation* current_generation(std::uint32_t epoch) noexcept;
  Generation* own_generation() noexcept;
  [[gnu::noinline]] Generation* new_generation(Generation* old, std::uint32_t epoch) noexcept;
  static Slot* take_again(Generation& generation, const Wanted& wanted,
                          const Handle& handle) noexcept;
  [[gnu::noinline]] Slot* take_another(Generation& generation, const Wanted& wanted, Handle& handle,
                                       Lacking& lacking) noexcept;
  [[gnu::noinline]] Status prepare(Slot& slot, const Wanted& wanted, Lacking lacking) noexcept;
  Status load_key(Slot& slot, const Wanted& wanted) noexcept;
  Status open_session(Slot& slot, const Wanted& wanted) noexcept;

  Transport& transport_;
  const std::size_t limit_;
  const SeccompGuard seccomp_guard_;
  ProcessEpoch epoch_;
  std::atomic<Generation*> generation_{nullptr};
  std::atomic<std::uint64_t> key_loads_{0};
  Totals own_totals_;
  Totals* totals_;
};

}  // namespace kaccel::kernel
