#include "calibrate/progress.hpp"

#include <unistd.h>

namespace kaccel::calibrate {
namespace {

constexpr int widest = 79;  // a longer line would wrap, and then not be overwritten

}  // namespace

Progress::Progress(bool wanted) noexcept : on_(wanted && isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view text) noexcept {
  if (!on_) return;
  const int size = text.size() < widest ? static_cast<int>(text.size()) : widest;
  std::fprintf(stderr, "\r\033[K%.*s", size, text.data());
  std::fflush(stderr);
  visible_ = true;
}

void Progress::clear() noexcept {
  if (!visible_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace kaccel::calibrate
