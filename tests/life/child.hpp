// A forked child that says what went wrong in it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace kaccel::testing {

class Child {
 public:
  // What runs in the child; "" says that all was well. `report` is the descriptor that the answer
  // goes through, for children that close all others.
  using Work = std::function<std::string(int report)>;

  // Forks at once; the child leaves by _exit(2) and is killed by SIGALRM after `seconds`.
  explicit Child(const Work& work, unsigned seconds = 60);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { wait(); }

  // Waits for its end. What the child said, or how it died.
  std::string wait();

 private:
  pid_t pid_ = -1;
  int report_ = -1;
  std::string said_;
};

inline std::string in_child(const Child::Work& work, unsigned seconds = 60) {
  return Child(work, seconds).wait();
}

}  // namespace kaccel::testing
