# For the build of an allocator: adds a test that fails if the library zeroes, faults or returns more memory than its baseline says.
#
#   find_package(zerotax REQUIRED COMPONENTS check)  # or include(ZerotaxCheck), where this file is on CMAKE_MODULE_PATH
#   zerotax_check(TARGET mylib BASELINE tests/zerotax.json)
#
#   zerotax_check(TARGET library BASELINE file [NAME name] [TEST test] [SIZES size …] [OPTIONS option …] [TIMEOUT seconds])
#
#   TARGET    a shared library or module that replaces malloc
#   BASELINE  the file that `zerotax bless` wrote, relative to the current source folder
#   NAME      the allocator's name in the baseline; the target's by default
#   TEST      name of the test; zerotax-check-NAME by default
#   SIZES     sizes in the baseline and in the check, as in 64KiB 20MiB; all by default
#   OPTIONS   further options of `zerotax check`
#   TIMEOUT   time limit of the test in seconds; 1800 by default
#
# The target zerotax-bless-NAME writes the baseline: `cmake --build build --target zerotax-bless-mylib`. If the machine cannot measure
# (status 3), the test is skipped. Without zerotax, the test is disabled with a warning; -DZEROTAX_EXECUTABLE=… names a zerotax that
# is not on PATH.
#
# For the build of a program: adds a test of the program's run.
#
#   zerotax_check_program(TARGET decoder ARGS ${CMAKE_CURRENT_SOURCE_DIR}/input.bin BASELINE tests/zerotax-programs.json)
#
#   zerotax_check_program(TARGET program BASELINE file [ARGS argument …] [NAME name] [TEST test] [OPTIONS option …] [TIMEOUT seconds])
#
#   TARGET    an executable
#   ARGS      arguments of the program, which runs without input and terminal and must exit with 0
#   NAME      the program's name in the baseline, which several programs may share; the target's by default
#
# The other arguments are as for zerotax_check. The target zerotax-bless-NAME adds the program to the baseline.
cmake_minimum_required(VERSION 3.18)

# The command that was installed with this file takes precedence over the command on PATH.
find_program(ZEROTAX_EXECUTABLE zerotax HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin DOC "The command zerotax, for zerotax_check()")

# The common part of both functions: checks the arguments that each function parsed into ARG_, and sets their defaults
# and `baseline`.
macro(zerotax_check_arguments function types remedy example)
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  foreach(needed IN ITEMS TARGET BASELINE)
    if(NOT ARG_${needed})
      message(FATAL_ERROR "${function}: ${needed} is missing: ${function}(${example})")
    endif()
  endforeach()
  if(NOT TARGET ${ARG_TARGET})
    message(FATAL_ERROR "${function}: there is no target '${ARG_TARGET}': call ${function} after the target is added")
  endif()
  get_target_property(type ${ARG_TARGET} TYPE)
  if(NOT type MATCHES "^(${types})$")
    message(FATAL_ERROR "${function}: '${ARG_TARGET}' is a ${type}: ${remedy}")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME ${ARG_TARGET})
  endif()
  if(NOT ARG_TEST)
    set(ARG_TEST zerotax-check-${ARG_NAME})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 1800)
  endif()
  get_filename_component(baseline ${ARG_BASELINE} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
endmacro()

# zerotax_check_add(BLESS word … CHECK word …): adds the test and the target, with the variables that
# zerotax_check_arguments has set.
function(zerotax_check_add)
  cmake_parse_arguments(PARSE_ARGV 0 WORDS "" "" "BLESS;CHECK")
  if(NOT ZEROTAX_EXECUTABLE)
    message(WARNING "zerotax was not found, so the test ${ARG_TEST} is disabled: install zerotax, or set ZEROTAX_EXECUTABLE")
    add_test(NAME ${ARG_TEST} COMMAND zerotax)
    set_tests_properties(${ARG_TEST} PROPERTIES DISABLED TRUE LABELS zerotax)
    return()
  endif()
  add_test(NAME ${ARG_TEST} COMMAND ${ZEROTAX_EXECUTABLE} check ${WORDS_CHECK})
  set_tests_properties(${ARG_TEST} PROPERTIES SKIP_RETURN_CODE 3 LABELS zerotax TIMEOUT ${ARG_TIMEOUT})
  if(NOT TARGET zerotax-bless-${ARG_NAME})
    add_custom_target(zerotax-bless-${ARG_NAME} COMMAND ${ZEROTAX_EXECUTABLE} bless ${WORDS_BLESS}
      DEPENDS ${ARG_TARGET} USES_TERMINAL VERBATIM COMMENT "Writing ${baseline}")
  endif()
endfunction()

function(zerotax_check)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "TARGET;BASELINE;NAME;TEST;TIMEOUT" "SIZES;OPTIONS")
  zerotax_check_arguments(zerotax_check "SHARED_LIBRARY|MODULE_LIBRARY"
    "give a SHARED or MODULE library, which can be preloaded" "TARGET mylib BASELINE zerotax.json")
  set(sizes "")
  foreach(size IN LISTS ARG_SIZES)
    list(APPEND sizes --size ${size})
  endforeach()
  set(subject --allocator ${ARG_NAME}=$<TARGET_FILE:${ARG_TARGET}> --baseline ${baseline})
  zerotax_check_add(BLESS ${subject} ${sizes} CHECK ${subject} ${sizes} ${ARG_OPTIONS})
endfunction()

function(zerotax_check_program)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "TARGET;BASELINE;NAME;TEST;TIMEOUT" "ARGS;OPTIONS")
  zerotax_check_arguments(zerotax_check_program "EXECUTABLE" "give an executable"
    "TARGET decoder BASELINE zerotax-programs.json")
  set(subject --name ${ARG_NAME} --baseline ${baseline})
  set(command -- $<TARGET_FILE:${ARG_TARGET}> ${ARG_ARGS})
  zerotax_check_add(BLESS ${subject} ${command} CHECK ${subject} ${ARG_OPTIONS} ${command})
endfunction()
