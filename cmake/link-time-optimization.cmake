# kaccel_link_time(TARGET): the module is optimised across its files, which takes a sixth off what a
# call to hardware costs above a bare socket. Fat objects, so that the tests, which link the same
# libraries without it, do not pay for it at every link. Only GCC has those.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT KACCEL_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(KACCEL_LTO ON)
endif()

function(kaccel_link_time target)
  if(NOT KACCEL_LTO)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "MODULE_LIBRARY")
    target_compile_options(${target} PRIVATE -flto=auto -fno-plt)
    # -O2 again: the options of the compilations do not all reach the link.
    target_link_options(${target} PRIVATE -flto=auto -O2 -fno-plt)
  else()
    target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects -fno-plt)
  endif()
endfunction()
