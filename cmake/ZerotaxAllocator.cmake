# zerotax_allocator(NAME [LIBRARIES target-or-path ...] [REGRESSION_ENV KEY=VALUE ...])
#
# Builds build/bin/bench-NAME: the probe, linked with the allocator so that its malloc precedes the C library's. Without
# LIBRARIES the probe is plain, and uses the C library's malloc or a preloaded one.
#
# REGRESSION_ENV sets variables for `ctest -L regression`. These variables replace values that the allocator would take
# from the machine (its memory, its CPUs), so that the allocator's baseline is valid on every machine.
#
# If an allocator's library was not found, call zerotax_allocator_missing(NAME REASON) instead.

set_property(GLOBAL PROPERTY ZEROTAX_ALLOCATORS "")
set_property(GLOBAL PROPERTY ZEROTAX_MISSING "")

function(zerotax_allocator name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;REGRESSION_ENV" ${ARGN})
  if(ZEROTAX_SANITIZE)
    return()
  endif()
  add_executable(bench-${name} $<TARGET_OBJECTS:zerotax_probe>)
  # --no-as-needed is necessary because the probe uses only functions of malloc's family from the allocator's library,
  # and libc defines these functions too.
  target_link_libraries(bench-${name} PRIVATE -Wl,--no-as-needed ${ARG_LIBRARIES} -Wl,--as-needed zerotax_probe_link)
  # The installed probe finds a library of this project in the folder lib beside its own folder, wherever the tree is.
  # The probe finds other libraries at the paths from which they were linked. The build uses the same search path.
  # Otherwise CMake would add an empty part to the path, and an empty part means the current folder.
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

# Writes the command's list of built-in allocators, so that a new allocator needs no change elsewhere.
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
