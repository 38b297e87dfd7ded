#include "kernel-bridge/session_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace kaccel::kernel {

struct SessionPool::Slot {
  // Guarded by Generation::mutex.
  bool borrowed = false;
  std::uint32_t users = 0;     // contexts that hold a handle on this key load
  std::uint64_t key_load = 0;  // what handles compare with; 0: no key anyone may find
  std::uint64_t last_used = 0;
  SecretKey key;  // to recognise the same key set again

  // Belong to the borrower while borrowed.
  const BoundDriver* driver = nullptr;  // also read under the mutex while not borrowed
  Direction direction = Direction::encrypt;
  std::unique_ptr<Session> session;
  std::unique_ptr<std::uint8_t[]> bounce;
  std::size_t bounce_size = 0;

  bool serves(const Wanted& wanted) const noexcept {
    return session != nullptr && driver == &wanted.driver && direction == wanted.direction;
  }
};

// All that must not be shared with a child process. A fork gets a new one.
struct SessionPool::Generation {
  std::mutex mutex;
  std::unique_ptr<Slot[]> slots;
  std::size_t size = 0;
  std::uint64_t clock = 0;
  std::uint32_t epoch = 0;

  // Which idle slot a new key goes to: one nobody needs any more, else an empty one, else the least
  // recently used. nullptr when all are borrowed.
  Slot* choose(const Wanted& wanted) noexcept {
    Slot* empty = nullptr;
    Slot* oldest = nullptr;
    for (Slot& slot : std::span(slots.get(), size)) {
      if (slot.borrowed) continue;
      if (slot.users == 0 && slot.serves(wanted)) return &slot;
      if (slot.session == nullptr) {
        if (empty == nullptr) empty = &slot;
      } else if (oldest == nullptr || slot.last_used < oldest->last_used) {
        oldest = &slot;
      }
    }
    return empty != nullptr ? empty : oldest;
  }

  Slot* find(const Wanted& wanted) noexcept {
    for (Slot& slot : std::span(slots.get(), size)) {
      if (!slot.borrowed && slot.key_load != 0 && slot.serves(wanted) &&
          slot.key.equals(wanted.key)) {
        return &slot;
      }
    }
    return nullptr;
  }

  Slot* of(const Handle& handle) noexcept {
    if (handle.key_load == 0 || handle.slot >= size) return nullptr;
    Slot& slot = slots[handle.slot];
    return slot.key_load == handle.key_load ? &slot : nullptr;
  }

  std::uint32_t index(const Slot& slot) const noexcept {
    return static_cast<std::uint32_t>(&slot - slots.get());
  }

  void drop_user(const Handle& handle) noexcept {
    Slot* slot = of(handle);
    if (slot == nullptr || --slot->users != 0) return;
    slot->key.clear();
    slot->key_load = 0;
  }
};

SessionPool::SessionPool(Transport& transport, std::size_t limit) noexcept
    : transport_(transport), limit_(std::clamp<std::size_t>(limit, 1, highest_limit)) {}

SessionPool::~SessionPool() {
  delete generation_.load();
}

SessionPool::Generation* SessionPool::current_generation() noexcept {
  const std::uint32_t epoch = epoch_.current();
  Generation* generation = generation_.load(std::memory_order_acquire);
  if (generation != nullptr && generation->epoch == epoch) return generation;

  std::unique_ptr<Generation> fresh(new (std::nothrow) Generation);
  if (fresh == nullptr) return nullptr;
  fresh->slots.reset(new (std::nothrow) Slot[limit_]);
  if (fresh->slots == nullptr) return nullptr;
  fresh->size = limit_;
  fresh->epoch = epoch;
  if (!generation_.compare_exchange_strong(generation, fresh.get())) return generation;

  // After a fork the parent's sessions are closed here (in this process only) and its keys wiped.
  // Its mutex is not taken: a thread that exists no more may have held it.
  delete generation;
  return fresh.release();
}

Status SessionPool::borrow(const Wanted& wanted, Handle& handle, Lease& lease) noexcept {
  Generation* generation = current_generation();
  if (generation == nullptr) return {Failure::no_memory, ENOMEM};

  Slot* slot;
  bool load_key = false;
  {
    const std::lock_guard lock(generation->mutex);
    slot = generation->of(handle);
    if (slot == nullptr || slot->borrowed || slot->direction != wanted.direction ||
        slot->driver != &wanted.driver) {
      generation->drop_user(handle);
      handle = {};
      slot = generation->find(wanted);
      if (slot == nullptr) {
        slot = generation->choose(wanted);
        if (slot == nullptr) return {Failure::pool_exhausted, 0};
        load_key = true;
        slot->key.assign(wanted.key);
        slot->key_load = key_loads_.fetch_add(1, std::memory_order_relaxed) + 1;
        slot->users = 0;
      }
      ++slot->users;
      handle = {generation->index(*slot), slot->key_load};
    }
    slot->borrowed = true;
    slot->last_used = ++generation->clock;
  }
  lease.end();
  lease.pool_ = this;
  lease.generation_ = generation;
  lease.slot_ = slot;
  lease.usable_ = true;

  if (!load_key) return success;
  const Status status = prepare(*slot, wanted);
  if (!status) {
    lease.discard();
    lease.end();
  }
  return status;
}

Status SessionPool::prepare(Slot& slot, const Wanted& wanted) noexcept {
  const bool reuse = slot.serves(wanted);
  if (!reuse) {
    const Status opened = open_session(slot, wanted);
    if (!opened) return opened;
  }
  keys_loaded_.fetch_add(1, std::memory_order_relaxed);
  Status keyed = slot.session->set_key(wanted.key);
  if (keyed || !reuse) return keyed;
  // The old transform would not take the key: a child of this process may still hold its operation
  // socket open, or someone closed the descriptor. A new transform has neither trouble.
  const Status opened = open_session(slot, wanted);
  if (!opened) return opened;
  return slot.session->set_key(wanted.key);
}

Status SessionPool::open_session(Slot& slot, const Wanted& wanted) noexcept {
  slot.session.reset();
  slot.driver = &wanted.driver;
  slot.direction = wanted.direction;
  sessions_opened_.fetch_add(1, std::memory_order_relaxed);
  return transport_.open(wanted.driver.name.data(), wanted.driver.algorithm, slot.session);
}

SessionPool::Handle SessionPool::share(const Handle& handle) noexcept {
  Generation* generation = current_generation();
  if (generation == nullptr || handle.key_load == 0) return {};
  const std::lock_guard lock(generation->mutex);
  Slot* slot = generation->of(handle);
  if (slot == nullptr) return {};
  ++slot->users;
  return handle;
}

void SessionPool::release(Handle& handle) noexcept {
  if (handle.key_load == 0) return;
  if (Generation* generation = current_generation(); generation != nullptr) {
    const std::lock_guard lock(generation->mutex);
    generation->drop_user(handle);
  }
  handle = {};
}

SessionPool::Counters SessionPool::counters() noexcept {
  std::size_t open = 0;
  Generation* generation = generation_.load(std::memory_order_acquire);
  if (generation != nullptr && generation->epoch == epoch_.current()) {
    const std::lock_guard lock(generation->mutex);
    const std::span slots(generation->slots.get(), generation->size);
    // A borrowed slot's session belongs to its borrower; it is or will be open.
    open = static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), [](const Slot& slot) {
      return slot.borrowed || slot.session != nullptr;
    }));
  }
  return {sessions_opened_.load(), keys_loaded_.load(), requests_.load(), open};
}

Session& SessionPool::Lease::session() const noexcept {
  return *slot_->session;
}

std::uint8_t* SessionPool::Lease::bounce_buffer(std::size_t size) noexcept {
  if (slot_->bounce_size < size) {
    slot_->bounce.reset(new (std::nothrow) std::uint8_t[size]);
    slot_->bounce_size = slot_->bounce == nullptr ? 0 : size;
  }
  return slot_->bounce.get();
}

void SessionPool::Lease::end() noexcept {
  if (slot_ == nullptr) return;
  // TLS records fit; what a larger request needed is not kept for a router to hold 64 times.
  constexpr std::size_t largest_kept_bounce = 32 * 1024;
  if (slot_->bounce_size > largest_kept_bounce) {
    slot_->bounce.reset();
    slot_->bounce_size = 0;
  }
  if (!usable_) slot_->session.reset();
  const std::lock_guard lock(generation_->mutex);
  slot_->borrowed = false;
  if (!usable_) {
    slot_->key.clear();
    slot_->key_load = 0;
    slot_->users = 0;
  }
  slot_ = nullptr;
}

}  // namespace kaccel::kernel
