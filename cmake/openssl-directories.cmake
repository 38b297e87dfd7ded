# Where OpenSSL looks for modules: asked of libcrypto's pkg-config file, so that a cross build asks
# the target's and not the host's.
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_get_variable(KACCEL_LIBCRYPTO_MODULESDIR libcrypto modulesdir)
endif()
if(NOT KACCEL_LIBCRYPTO_MODULESDIR)
  set(KACCEL_LIBCRYPTO_MODULESDIR "${CMAKE_INSTALL_FULL_LIBDIR}/ossl-modules")
endif()
set(KACCEL_MODULESDIR "${KACCEL_LIBCRYPTO_MODULESDIR}" CACHE PATH
    "OpenSSL's MODULESDIR: where kaccel.so is installed")
