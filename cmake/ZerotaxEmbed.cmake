# zerotax_embed(OUTPUT FOLDER_NAMES|FILE_NAMES FILE ...)
#
# Writes an include file of rows {"name", R"zt(contents)zt"}, for a std::map of strings. Each row has the name of its
# file, or of the file's folder. If one of the files changes, CMake runs again.
function(zerotax_embed output named)
  set(rows "")
  foreach(file IN LISTS ARGN)
    if(named STREQUAL "FOLDER_NAMES")
      cmake_path(GET file PARENT_PATH folder)
      cmake_path(GET folder FILENAME name)
    else()
      cmake_path(GET file STEM name)
    endif()
    file(READ ${file} contents)
    string(APPEND rows "{\"${name}\", R\"zt(${contents})zt\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "@rows@" @ONLY)
endfunction()
