# Toolchain of the preset arm64: Debian's cross compiler, with libraries unpacked by cmake/sysroot.sh. Programs that the
# build or a test starts run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/sysroot.sh --where OUTPUT_VARIABLE CMAKE_SYSROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS ${CMAKE_SYSROOT}/.zerotax)
  message(FATAL_ERROR "${CMAKE_SYSROOT} is missing: run cmake/sysroot.sh, or ./run arm64")
endif()
# Find programs on this system, but headers, libraries and packages in the sysroot.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

find_program(ZEROTAX_QEMU NAMES qemu-aarch64-static qemu-aarch64 DOC "qemu-user for arm64")
if(ZEROTAX_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${ZEROTAX_QEMU} -L ${CMAKE_SYSROOT})
endif()
