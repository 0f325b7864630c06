# Language, warnings and sanitizers for all targets of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# zerotax_helper_program(TARGET): puts a program or module that only zerotax starts into libexec. A PATH with build/bin
# then does not contain it.
function(zerotax_helper_program target)
  set(folder ${CMAKE_BINARY_DIR}/libexec)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder} LIBRARY_OUTPUT_DIRECTORY ${folder})
  # Earlier builds left the program in build/bin.
  file(REMOVE ${CMAKE_BINARY_DIR}/bin/${target} ${CMAKE_BINARY_DIR}/bin/${target}.so)
endfunction()

option(ZEROTAX_WERROR "Treat warnings as errors" ON)
option(ZEROTAX_TESTS "Build the tests and the benchmarks, too, which doubles the build time" OFF)
set(ZEROTAX_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=; probes are then not built, because a sanitizer has its own allocator")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)
if(ZEROTAX_WERROR)
  add_compile_options(-Werror)
endif()
# By default, GCC collects garbage once it uses 128 MB. In this project, garbage collection takes an eighth of the
# compile time. The higher limit costs 0.3 GB per process.
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

# zerotax_glob(VARIABLE PATTERN …): sets the variable to the files that match, without those of the other processor.
function(zerotax_glob variable)
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  set(others x86_64 aarch64)
  list(REMOVE_ITEM others ${ZEROTAX_PROCESSOR})
  list(FILTER found EXCLUDE REGEX "_${others}[.][a-z]+$")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Headers that most files of the harness and of the tests include, precompiled once (zerotax_headers).
set(ZEROTAX_LARGE_HEADERS <fmt/format.h> <nlohmann/json.hpp> <algorithm> <filesystem> <fstream> <functional> <map> <optional>
  <regex> <set> <string> <thread> <variant> <vector>)
