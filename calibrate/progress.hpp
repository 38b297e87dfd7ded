// One line on a terminal that is rewritten as work goes on; silence elsewhere.
#pragma once

#include <cstdio>
#include <string_view>

namespace kaccel::calibrate {

class Progress {
 public:
  // Shows anything only if `wanted` and stderr is a terminal.
  explicit Progress(bool wanted) noexcept;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(std::string_view text) noexcept;
  // Takes the line away, before something else is printed.
  void clear() noexcept;

 private:
  bool on_;
  bool visible_ = false;
};

}  // namespace kaccel::calibrate
