# Language, warnings and sanitizers, for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# zerotax_helper_program(TARGET): puts a program or module that only zerotax starts into libexec, so that a PATH with
# build/bin does not offer it.
function(zerotax_helper_program target)
  set(folder ${CMAKE_BINARY_DIR}/libexec)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder} LIBRARY_OUTPUT_DIRECTORY ${folder})
  # Earlier builds left the program in build/bin.
  file(REMOVE ${CMAKE_BINARY_DIR}/bin/${target} ${CMAKE_BINARY_DIR}/bin/${target}.so)
endfunction()

option(ZEROTAX_WERROR "Treat warnings as errors" ON)
option(ZEROTAX_TESTS "Build the tests and the benchmarks, too: they take as long as all the rest" OFF)
set(ZEROTAX_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=; leaves the probes out, for a sanitizer brings an allocator of its own")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)
if(ZEROTAX_WERROR)
  add_compile_options(-Werror)
endif()
# The compiler collects its garbage from 128 MB on, which is an eighth of its time here; this costs 0.3 GB a process.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>)
endif()
if(ZEROTAX_SANITIZE)
  add_compile_options(-fsanitize=${ZEROTAX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ZEROTAX_SANITIZE})
endif()

# Code that differs between processors is in NAME_x86_64.cc and NAME_aarch64.cc, side by side.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ZEROTAX_PROCESSOR aarch64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(ZEROTAX_PROCESSOR x86_64)
else()
  message(FATAL_ERROR "zerotax is for x86-64 and arm64, not for ${CMAKE_SYSTEM_PROCESSOR}")
endif()

# zerotax_glob(VARIABLE PATTERN …): the files of these patterns, but for those of the other processor.
function(zerotax_glob variable)
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  set(others x86_64 aarch64)
  list(REMOVE_ITEM others ${ZEROTAX_PROCESSOR})
  list(FILTER found EXCLUDE REGEX "_${others}[.][a-z]+$")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Those that most files of the harness and of the tests include: read once (zerotax_headers).
set(ZEROTAX_LARGE_HEADERS <fmt/format.h> <nlohmann/json.hpp> <algorithm> <filesystem> <fstream> <functional> <map> <optional>
  <regex> <set> <string> <thread> <variant> <vector>)
