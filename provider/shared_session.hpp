// Keeps a key loaded for a context and its duplicates, whichever of them used it.
//
// The pool wipes a key when its last user lets go. libssl keys one HMAC context and does every
// record in a duplicate that it frees again: without this each record would load the key anew.
#pragma once

#include "kernel-bridge/session_pool.hpp"

namespace kaccel {

class SharedSession {
 public:
  SharedSession() = default;
  // Joins the group of `other`.
  SharedSession(const SharedSession& other) noexcept;
  SharedSession& operator=(const SharedSession&) = delete;
  ~SharedSession() { leave(); }

  // A group of one, for a new key. Where memory is out there is none, which costs time alone.
  void start(kernel::SessionPool& pool) noexcept;
  void leave() noexcept;

  // Before a request: a handle that has no session gets the group's.
  void take(kernel::SessionPool::Handle& handle) noexcept;
  // After a request: the group keeps the session that was used.
  void keep(const kernel::SessionPool::Handle& handle) noexcept;

 private:
  struct Group;
  Group* group_ = nullptr;
};

}  // namespace kaccel
