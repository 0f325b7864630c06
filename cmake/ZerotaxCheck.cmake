# For the build of an allocator: a test that fails when the library zeroes, faults or returns memory otherwise than its baseline says.
#
#   find_package(zerotax REQUIRED COMPONENTS check)  # or include(ZerotaxCheck), where this file is on CMAKE_MODULE_PATH
#   zerotax_check(TARGET mylib BASELINE tests/zerotax.json)
#
#   zerotax_check(TARGET library BASELINE file [NAME name] [TEST test] [SIZES size …] [OPTIONS option …] [TIMEOUT seconds])
#
#   TARGET    a shared library or module that replaces malloc
#   BASELINE  what `zerotax bless` wrote, from the current source folder
#   NAME      the allocator's name in the baseline; the target's by default
#   TEST      name of the test; zerotax-check-NAME by default
#   SIZES     only these sizes, as in 64KiB 20MiB, in the baseline and in the check; all by default
#   OPTIONS   more options of `zerotax check`
#   TIMEOUT   of the test; 1800 by default
#
# The target zerotax-bless-NAME writes the baseline: `cmake --build build --target zerotax-bless-mylib`. Where a machine cannot measure
# (status 3), the test is skipped. Without zerotax the test is disabled, with a warning; -DZEROTAX_EXECUTABLE=… names one that is not
# on PATH.
#
# For the build of a program, the same of what it does when it runs:
#
#   zerotax_check_program(TARGET decoder ARGS ${CMAKE_CURRENT_SOURCE_DIR}/input.bin BASELINE tests/zerotax-programs.json)
#
#   zerotax_check_program(TARGET program BASELINE file [ARGS argument …] [NAME name] [TEST test] [OPTIONS option …] [TIMEOUT seconds])
#
#   TARGET    an executable
#   ARGS      what it is run with; it has no input and no terminal, and its exit status must be 0
#   NAME      its name in the baseline, which several programs may share; the target's by default
#
# The others are as above; the target zerotax-bless-NAME adds it to the baseline.
cmake_minimum_required(VERSION 3.18)

# Beside the one that this file was installed with, else on PATH.
find_program(ZEROTAX_EXECUTABLE zerotax HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin DOC "The command zerotax, for zerotax_check()")

# What both functions have in common, of the words that they parsed into ARG_: checks them, and sets their defaults and `baseline`.
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
    message(FATAL_ERROR "${function}: there is no target '${ARG_TARGET}': call it after the target is added")
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

# zerotax_check_add(BLESS word … CHECK word …): the test and the target, of what zerotax_check_arguments has set.
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
