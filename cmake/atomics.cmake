# 64-bit atomics are calls into libatomic on some 32-bit machines (MIPS).
include(CheckCXXSourceCompiles)
set(kaccel_atomic_program "
#include <atomic>
#include <cstdint>
std::atomic<std::uint64_t> value{0};
int main() { std::uint64_t e = 0; return value.compare_exchange_strong(e, 1) ? 0 : 1; }")
check_cxx_source_compiles("${kaccel_atomic_program}" KACCEL_ATOMICS_WITHOUT_LIBRARY)
if(NOT KACCEL_ATOMICS_WITHOUT_LIBRARY)
  set(KACCEL_ATOMIC_LIBRARY atomic)
endif()
