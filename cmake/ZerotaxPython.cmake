# zerotax_python_tests(LABEL FILE …): registers each pytest file as one ctest test, LABEL.<file>.
#
# The first `python3` that has all required modules is used, because `python3` on PATH may be a private build without
# Debian's modules.
if(NOT DEFINED ZEROTAX_PYTHON)
  foreach(candidate python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import pytest, jsonschema, matplotlib" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(ZEROTAX_PYTHON ${candidate} CACHE STRING "A python3 with pytest, jsonschema and matplotlib")
      break()
    endif()
  endforeach()
  if(NOT ZEROTAX_PYTHON)
    message(STATUS "no python3 with pytest, jsonschema and matplotlib: the tests in Python are left out")
  endif()
endif()

# zerotax_label(LABEL TEST …): adds a label to the listed tests that exist in this folder.
function(zerotax_label label)
  foreach(test IN LISTS ARGN)
    if(TEST ${test})
      set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
    endif()
  endforeach()
endfunction()

function(zerotax_python_tests label)
  if(NOT ZEROTAX_PYTHON OR ZEROTAX_SANITIZE)
    return()
  endif()
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM name)
    add_test(NAME ${label}.${name} COMMAND ${ZEROTAX_PYTHON} -m pytest -q -p no:cacheprovider ${file})
    set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT 1800
      ENVIRONMENT "ZEROTAX_BUILD=${CMAKE_BINARY_DIR};ZEROTAX_SOURCE=${CMAKE_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endfunction()
