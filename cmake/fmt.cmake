# kaccel-fmt: fmt's headers alone, so that what is installed needs no library of it on a router; or its shared
# library, as distributions want it, which also halves the time in which the CLI compiles.
option(KACCEL_SHARED_FMT "Link libfmt.so instead of compiling fmt's headers in" OFF)
find_package(fmt REQUIRED)
add_library(kaccel-fmt INTERFACE)
if(KACCEL_SHARED_FMT)
  target_link_libraries(kaccel-fmt INTERFACE fmt::fmt)
else()
  target_link_libraries(kaccel-fmt INTERFACE fmt::fmt-header-only)
endif()
