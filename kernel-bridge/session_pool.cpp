#include "kernel-bridge/session_pool.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "kernel-bridge/fork_safety.hpp"
#include "kernel-bridge/kept_errno.hpp"

namespace kaccel::kernel {

namespace {

// A session holds two descriptors. At most a quarter of what the process may open goes to kaccel,
// so that the application does not run out of descriptors that it had without it.
std::size_t sessions_that_fit(std::size_t wanted) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::clamp<std::size_t>(static_cast<std::size_t>(limit.rlim_cur / 8), 1, wanted);
}

}  // namespace

// Who may touch what: the claim word says whether a slot is borrowed, and its borrower alone may
// touch session and bounce buffer. Users and key are guarded by Generation::mutex. Driver and
// direction are written by the borrower under the mutex, and read by either. A new key goes only
// into a slot that was borrowed first.
struct SessionPool::Slot {
  static constexpr std::uint64_t borrowed_bit = 1;

  // key load << 1 | borrowed. Finding the session of one's handle again and taking it is one
  // compare-and-swap; key load 0 matches no handle.
  std::atomic<std::uint64_t> claim{0};
  std::atomic<std::uint64_t> last_used{0};

  std::uint32_t users = 0;              // contexts that hold a handle on this key load
  const BoundDriver* driver = nullptr;  // nullptr: no session here
  Direction direction = Direction::encrypt;
  SecretKey key;  // to recognise the same key set again

  std::unique_ptr<Session> session;
  UnforkedBuffer bounce;

  static constexpr std::uint64_t idle(std::uint64_t key_load) noexcept { return key_load << 1; }

  std::uint64_t key_load() const noexcept { return claim.load(std::memory_order_relaxed) >> 1; }
  bool is_borrowed() const noexcept {
    return (claim.load(std::memory_order_relaxed) & borrowed_bit) != 0;
  }

  bool take(std::uint64_t expected) noexcept {
    return claim.compare_exchange_strong(expected, expected | borrowed_bit,
                                         std::memory_order_acquire, std::memory_order_relaxed);
  }
  // Whatever key it holds; false when it is borrowed.
  bool take() noexcept {
    const std::uint64_t now = claim.load(std::memory_order_relaxed);
    return (now & borrowed_bit) == 0 && take(now);
  }
  // Both for the borrower only.
  void change_key_load(std::uint64_t key_load) noexcept {
    claim.store(idle(key_load) | borrowed_bit, std::memory_order_relaxed);
  }
  void give_back() noexcept { claim.store(idle(key_load()), std::memory_order_release); }

  bool is_empty() const noexcept { return driver == nullptr; }

  bool serves(const Wanted& wanted) const noexcept {
    return driver == &wanted.driver && direction == wanted.direction;
  }
};

// All that must not be shared with a child process. A fork gets a new one.
struct SessionPool::Generation {
  std::mutex mutex;
  std::unique_ptr<Slot[]> slots;
  std::size_t size = 0;
  std::uint32_t epoch = 0;
  std::atomic<std::uint64_t> clock{0};
  // Of the process that this one was forked from, emptied: a thread that came here at the same time
  // as the one that renewed may still be reading its epoch.
  std::unique_ptr<Generation> previous;

  std::span<Slot> all() const noexcept { return {slots.get(), slots == nullptr ? 0 : size}; }

  // Closes nothing, also not when it is destroyed.
  void abandon_sessions() noexcept {
    for (Slot& slot : all()) {
      if (slot.session != nullptr) slot.session->abandon();
    }
  }

  // In a child: what the parent did not hand on.
  void abandon_memory() noexcept {
    for (Slot& slot : all()) slot.bounce.abandon();
  }

  // Both searches are under the mutex and take no slot but the one they return: a context that
  // finds its slot taken would have to come here too. They go through all slots, so that each
  // instruction counts; `wanted` is a copy because atomics make the compiler read through
  // references again.

  // The slot that has this key loaded, taken; else nullptr.
  Slot* take_with_key(const Wanted wanted) noexcept {
    for (Slot& slot : all()) {
      if (slot.serves(wanted) && slot.key_load() != 0 && slot.key.equals(wanted.key) &&
          slot.take()) {
        return &slot;
      }
    }
    return nullptr;
  }

  // Where a new key goes, taken; nullptr when all are borrowed. The least recently used of the
  // cheapest kind: a session that nobody needs and only wants the key, an empty slot, a session
  // that nobody needs of another driver or direction, one that somebody will miss.
  Slot* take_for_new_key(const Wanted wanted) noexcept {
    constexpr std::uint64_t kind = std::uint64_t{1} << 62;  // beyond any time of use
    const auto cost = [wanted](const Slot& slot) {
      const std::uint64_t last_used = slot.last_used.load(std::memory_order_relaxed);
      if (slot.users != 0) return 3 * kind + last_used;
      if (slot.serves(wanted)) return last_used;
      return (slot.is_empty() ? kind : 2 * kind) + last_used;
    };
    for (;;) {
      Slot* best = nullptr;
      std::uint64_t lowest = UINT64_MAX;
      for (Slot& slot : all()) {
        const std::uint64_t cost_here = cost(slot);
        if (cost_here >= lowest || slot.is_borrowed()) continue;
        best = &slot;
        lowest = cost_here;
      }
      // The context that used it last may have taken it meanwhile, without the mutex.
      if (best == nullptr || best->take()) return best;
    }
  }

  Slot* of(const Handle& handle) noexcept {
    const bool current = handle.generation == this && handle.key_load != 0 &&
                         handle.slot->key_load() == handle.key_load;
    return current ? handle.slot : nullptr;
  }

  // Under the mutex.
  void drop_user(const Handle& handle) noexcept {
    Slot* slot = of(handle);
    if (slot == nullptr || slot->users == 0 || --slot->users != 0) return;
    slot->key.clear();
    // Not borrowed: a borrower is a user.
    if (slot->take()) {
      slot->change_key_load(0);
      slot->give_back();
    }
  }
};

SessionPool::SessionPool(Transport& transport, std::size_t limit, UnderSeccomp under_seccomp,
                         Totals* totals) noexcept
    : transport_(transport),
      limit_(std::clamp<std::size_t>(limit, 1, highest_limit)),
      seccomp_guard_(under_seccomp),
      totals_(totals != nullptr ? totals : &own_totals_) {}

SessionPool::~SessionPool() {
  const std::unique_ptr<Generation> generation(generation_.load());
  if (generation == nullptr) return;
  const std::uint32_t epoch = epoch_.current();
  const bool is_parents = generation->epoch != epoch;
  if (is_parents) generation->abandon_memory();
  // A child that never asked for hardware makes no system call for it at its end either: it may be
  // a sandbox. What it leaves open ends with it.
  if (is_parents || is_sandboxed(seccomp_guard_.look_again(epoch).failure)) {
    generation->abandon_sessions();
  }
}

// nullptr in a child that has not borrowed yet: its handles are the parent's.
SessionPool::Generation* SessionPool::own_generation() noexcept {
  Generation* generation = generation_.load(std::memory_order_acquire);
  return generation != nullptr && generation->epoch == epoch_.current() ? generation : nullptr;
}

SessionPool::Generation* SessionPool::current_generation(std::uint32_t epoch) noexcept {
  Generation* generation = generation_.load(std::memory_order_acquire);
  if (generation != nullptr && generation->epoch == epoch) [[likely]]
    return generation;
  return new_generation(generation, epoch);
}

SessionPool::Generation* SessionPool::new_generation(Generation* generation,
                                                     std::uint32_t epoch) noexcept {
  const KeptErrno kept;
  std::unique_ptr<Generation> fresh(new (std::nothrow) Generation);
  if (fresh == nullptr) return nullptr;
  // Another thread of this child may be free to open some.
  constexpr std::size_t sessions_unasked = 8;
  const bool sandboxed = is_sandboxed(seccomp_guard_.check(epoch).failure);
  const std::size_t size =
      sandboxed ? std::min(limit_, sessions_unasked) : sessions_that_fit(limit_);
  fresh->slots.reset(new (std::nothrow) Slot[size]);
  if (fresh->slots == nullptr) return nullptr;
  fresh->size = size;
  fresh->epoch = epoch;
  if (!generation_.compare_exchange_strong(generation, fresh.get())) return generation;

  // After a fork the parent's sessions are closed here (in this process only) and its keys wiped.
  // Its mutex is not taken: a thread that exists no more may have held it.
  if (generation != nullptr) {
    generation->abandon_memory();
    if (sandboxed) generation->abandon_sessions();
    generation->slots.reset();
    fresh->previous.reset(generation);
  }
  return fresh.release();
}

// The session of this handle, if it still has the key and nobody else is using it.
SessionPool::Slot* SessionPool::take_again(Generation& generation, const Wanted& wanted,
                                           const Handle& handle) noexcept {
  if (handle.generation != &generation || !handle.slot->take(Slot::idle(handle.key_load))) {
    return nullptr;
  }
  if (handle.slot->serves(wanted)) return handle.slot;
  handle.slot->give_back();
  return nullptr;
}

SessionPool::Slot* SessionPool::take_another(Generation& generation, const Wanted& wanted,
                                             Handle& handle, Lacking& lacking) noexcept {
  const std::lock_guard lock(generation.mutex);
  // The duplicate that was using it may have given it back meanwhile.
  Slot* slot = take_again(generation, wanted, handle);
  if (slot != nullptr) return slot;
  slot = generation.take_with_key(wanted);
  if (slot == nullptr) {
    slot = generation.take_for_new_key(wanted);
    if (slot == nullptr) return nullptr;  // the handle stays good for when there is room again
    lacking = slot->serves(wanted) ? Lacking::key : Lacking::session_and_key;
    slot->driver = &wanted.driver;
    slot->direction = wanted.direction;
    slot->key.assign(wanted.key);
    slot->users = 0;
    slot->change_key_load(key_loads_.fetch_add(1, std::memory_order_relaxed) + 1);
  }
  ++slot->users;
  generation.drop_user(handle);
  handle = {&generation, slot, slot->key_load()};
  return slot;
}

Status SessionPool::borrow(const Wanted& wanted, Handle& handle, Lease& lease) noexcept {
  const std::uint32_t epoch = epoch_.current();
  if (const Status permitted = seccomp_guard_.check(epoch); !permitted) [[unlikely]]
    return permitted;
  Generation* generation = current_generation(epoch);
  if (generation == nullptr) return {Failure::no_memory, ENOMEM};

  Lacking lacking = Lacking::nothing;
  Slot* slot = take_again(*generation, wanted, handle);
  if (slot == nullptr) [[unlikely]] {
    slot = take_another(*generation, wanted, handle, lacking);
    if (slot == nullptr) return {Failure::pool_exhausted, 0};
  }
  slot->last_used.store(generation->clock.fetch_add(1, std::memory_order_relaxed),
                        std::memory_order_relaxed);
  lease.end();
  lease.generation_ = generation;
  lease.slot_ = slot;
  lease.usable_ = true;

  if (lacking == Lacking::nothing) return success;
  const Status status = prepare(*slot, wanted, lacking);
  if (!status) {
    lease.discard();
    lease.end();
  }
  return status;
}

Status SessionPool::prepare(Slot& slot, const Wanted& wanted, Lacking lacking) noexcept {
  // Where an old transform will not take the key, a child of this process may still hold its
  // operation socket open, or someone closed the descriptor. A new transform has neither trouble.
  if (lacking != Lacking::key || !load_key(slot, wanted)) {
    const Status opened = open_session(slot, wanted);
    return opened ? load_key(slot, wanted) : opened;
  }
  return success;
}

Status SessionPool::load_key(Slot& slot, const Wanted& wanted) noexcept {
  const Status loaded = slot.session->set_key(wanted.key);
  if (loaded) totals_->keys_loaded.fetch_add(1, std::memory_order_relaxed);
  return loaded;
}

Status SessionPool::open_session(Slot& slot, const Wanted& wanted) noexcept {
  // The filter may have come since this thread was first asked.
  if (const Status permitted = seccomp_guard_.look_again(epoch_.current()); !permitted) {
    if (slot.session != nullptr && is_sandboxed(permitted.failure)) slot.session->abandon();
    return permitted;
  }
  slot.session.reset();
  const Status opened =
      transport_.open(wanted.driver.name.data(), wanted.driver.algorithm, slot.session);
  if (opened) totals_->sessions_opened.fetch_add(1, std::memory_order_relaxed);
  return opened;
}

SessionPool::Handle SessionPool::share(const Handle& handle) noexcept {
  if (handle.key_load == 0) return {};
  Generation* generation = own_generation();
  if (generation == nullptr) return {};
  const std::lock_guard lock(generation->mutex);
  Slot* slot = generation->of(handle);
  if (slot == nullptr) return {};
  ++slot->users;
  return handle;
}

void SessionPool::release(Handle& handle) noexcept {
  if (handle.key_load == 0) return;
  if (Generation* generation = own_generation(); generation != nullptr) {
    const std::lock_guard lock(generation->mutex);
    generation->drop_user(handle);
  }
  handle = {};
}

SessionPool::Counters SessionPool::counters() noexcept {
  std::size_t open = 0;
  if (Generation* generation = own_generation(); generation != nullptr) {
    const std::lock_guard lock(generation->mutex);
    for (const Slot& slot : generation->all()) {
      if (!slot.is_empty()) ++open;  // or about to be
    }
  }
  return {totals_->sessions_opened.load(), totals_->keys_loaded.load(), totals_->requests.load(),
          open};
}

Session& SessionPool::Lease::session() const noexcept {
  return *slot_->session;
}

std::uint8_t* SessionPool::Lease::bounce_buffer(std::size_t size) noexcept {
  return slot_->bounce.reserve(size);
}

void SessionPool::Lease::give_back() noexcept {
  // TLS records fit; what a larger request needed is not kept for a router to hold 64 times.
  constexpr std::size_t largest_kept_bounce = std::size_t{32} << 10;
  if (slot_->bounce.size() > largest_kept_bounce) [[unlikely]]
    slot_->bounce.release();
  if (!usable_) [[unlikely]]
    destroy_session();
  slot_->give_back();
  slot_ = nullptr;
}

void SessionPool::Lease::destroy_session() noexcept {
  slot_->session.reset();
  const std::lock_guard lock(generation_->mutex);
  slot_->key.clear();
  slot_->users = 0;
  slot_->driver = nullptr;
  slot_->change_key_load(0);
}

}  // namespace kaccel::kernel
