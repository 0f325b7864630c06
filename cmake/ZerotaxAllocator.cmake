# zerotax_allocator(NAME [LIBRARIES target-or-path ...] [REGRESSION_ENV KEY=VALUE ...])
#
# Builds build/bin/bench-NAME: the probe, linked against the allocator so that its malloc comes before the C library's.
# Without LIBRARIES the probe is plain: it uses the C library's malloc, or whatever is preloaded into it.
# REGRESSION_ENV configures it for `ctest -L regression`: what it would otherwise take from the machine (its memory, its
# CPUs), so that its baseline holds on every machine.
# An allocator whose library was not found calls zerotax_allocator_missing(NAME REASON) instead.

set_property(GLOBAL PROPERTY ZEROTAX_ALLOCATORS "")
set_property(GLOBAL PROPERTY ZEROTAX_MISSING "")

function(zerotax_allocator name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;REGRESSION_ENV" ${ARGN})
  if(ZEROTAX_SANITIZE)
    return()
  endif()
  add_executable(bench-${name} $<TARGET_OBJECTS:zerotax_probe>)
  # --no-as-needed: the probe names no symbol of the allocator but malloc and its kin, which libc has too.
  target_link_libraries(bench-${name} PRIVATE -Wl,--no-as-needed ${ARG_LIBRARIES} -Wl,--as-needed zerotax_probe_link)
  # The installed library finds a library of ours in the folder lib beside its own, wherever the tree is. It finds a
  # foreign library where it was linked with that library. The same path is used in the build. Otherwise CMake ends the
  # path with an empty part, which means the current folder.
  foreach(library IN LISTS ARG_LIBRARIES)
    if(TARGET ${library})
      get_target_property(imported ${library} IMPORTED)
      if(NOT imported)
        set_target_properties(bench-${name} PROPERTIES INSTALL_RPATH $ORIGIN/../lib)
      endif()
    endif()
  endforeach()
  set_target_properties(bench-${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
  set_property(GLOBAL APPEND PROPERTY ZEROTAX_ALLOCATORS ${name})
  set_property(GLOBAL PROPERTY ZEROTAX_REGRESSION_ENV_${name} ${ARG_REGRESSION_ENV})
endfunction()

function(zerotax_allocator_missing name reason)
  message(STATUS "allocator ${name} left out: ${reason}")
  set_property(GLOBAL APPEND PROPERTY ZEROTAX_MISSING "${name}=${reason}")
endfunction()

# The command line's list of built-in allocators, generated so that a new folder is enough.
function(zerotax_write_builtin_allocators)
  get_property(names GLOBAL PROPERTY ZEROTAX_ALLOCATORS)
  get_property(missing GLOBAL PROPERTY ZEROTAX_MISSING)
  set(rows "")
  foreach(name IN LISTS names)
    string(APPEND rows "    {\"${name}\", \"\"},\n")
  endforeach()
  foreach(entry IN LISTS missing)
    string(REGEX REPLACE "^([^=]*)=(.*)$" "    {\"\\1\", \"\\2\"},\n" row "${entry}")
    string(APPEND rows "${row}")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/builtin_allocators.inc CONTENT "${rows}" @ONLY)
endfunction()
