# Name of the package up to version 0.2. New projects use find_package(zerotax COMPONENTS recorder) and its targets,
# such as zerotax::recorder.
include(CMakeFindDependencyMacro)
find_dependency(zerotax CONFIG COMPONENTS recorder functions PATHS "${CMAKE_CURRENT_LIST_DIR}/../zerotax" NO_DEFAULT_PATH)
foreach(target IN ITEMS recorder recorder_static functions)
  if(NOT TARGET zerotax::zerotax_${target})
    add_library(zerotax::zerotax_${target} ALIAS zerotax::${target})
  endif()
endforeach()
