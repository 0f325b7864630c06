# Rules for `cmake --install build --prefix P`, and for a Debian package by `cpack` in the build folder.
#
#   P/bin/zerotax                 a link to P/lib/zerotax/bin/zerotax, which finds everything else by its own path, so the tree can be
#                                 moved
#   P/lib/zerotax/bin             the command, the probes and zerotax-contract
#   P/lib/zerotax/libexec         programs that only the command and the probes start
#   P/lib/zerotax/lib             libraries for preloading; these three folders have the same layout as the build tree
#   P/lib/…, P/include/zerotax    the recorder and the reader of traces, for other projects: find_package(zerotax), pkg-config
#   P/lib/systemd/system          the unit zerotax-top.service
#   P/share/…                     scripts, plots, schemas, documents, manual page, completion
if(ZEROTAX_SANITIZE)
  return()
endif()
include(GNUInstallDirs)
set(private lib/zerotax)

get_property(allocators GLOBAL PROPERTY ZEROTAX_ALLOCATORS)
list(TRANSFORM allocators PREPEND bench- OUTPUT_VARIABLE programs)
foreach(target IN ITEMS zerotax zerotax-contract ${programs})
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${private}/bin)
  endif()
endforeach()
foreach(target IN ITEMS fork-target run-metered zerotax-guest-init replay-calls zerotax-prove-calls fork-snapshot read-files recv-server recv-tls)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${private}/libexec LIBRARY DESTINATION ${private}/libexec)
  endif()
endforeach()
foreach(target IN ITEMS zerotax-record zerotax-marks zerotax-dontfork largecache)
  install(TARGETS ${target} LIBRARY DESTINATION ${private}/lib)
endforeach()
# The library that lets the archive run with an older glibc; cmake/package.py copies it from the build.
add_library(older-glibc SHARED cmake/older_glibc/older_glibc.c)
target_compile_definitions(older-glibc PRIVATE _GNU_SOURCE)
target_compile_options(older-glibc PRIVATE -O2 -fno-math-errno)
set_target_properties(older-glibc PROPERTIES OUTPUT_NAME zerotax-older-glibc LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/older_glibc/older_glibc.map)
# The libraries linked here are empty in this glibc. In an older glibc, they contain functions.
target_link_options(older-glibc PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/older_glibc/older_glibc.map -Wl,-z,now -Wl,-z,defs
  -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2)
# The reader of traces, for other programs. Python finds the library beside its module.
install(TARGETS zerotax_trace_reader EXPORT zerotax-trace_reader LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES harness/program/trace/reader/include/zerotax/trace_reader.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zerotax)
install(FILES harness/program/trace/reader/zerotax_trace.py DESTINATION share/zerotax/python)
install(CODE "
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \${root}/bin)
  file(CREATE_LINK ../${private}/bin/zerotax \${root}/bin/zerotax SYMBOLIC)
  file(CREATE_LINK ../../../${CMAKE_INSTALL_LIBDIR}/libzerotax-functions.so
    \${root}/${private}/lib/libzerotax-functions.so SYMBOLIC)")

# Files for find_package(zerotax) in other projects. The older names ZerotaxCheck and zerotax-recorder are also
# installed.
include(CMakePackageConfigHelpers)
set(configs ${CMAKE_BINARY_DIR}/generated/package)
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake)
configure_package_config_file(cmake/package/zerotax-config.cmake.in ${configs}/zerotax-config.cmake
  INSTALL_DESTINATION ${cmake_dir}/zerotax)
foreach(component IN ITEMS recorder functions trace_reader)
  install(EXPORT zerotax-${component} NAMESPACE zerotax:: DESTINATION ${cmake_dir}/zerotax FILE zerotax-${component}.cmake)
endforeach()
file(WRITE ${configs}/ZerotaxCheckConfig.cmake "include(\"\${CMAKE_CURRENT_LIST_DIR}/ZerotaxCheck.cmake\")\n")
foreach(version_file IN ITEMS zerotax-config-version zerotax-recorder-config-version)
  write_basic_package_version_file(${configs}/${version_file}.cmake COMPATIBILITY SameMajorVersion)
endforeach()
write_basic_package_version_file(${configs}/ZerotaxCheckConfigVersion.cmake COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${configs}/zerotax-config.cmake ${configs}/zerotax-config-version.cmake DESTINATION ${cmake_dir}/zerotax)
install(FILES cmake/package/zerotax-recorder-config.cmake ${configs}/zerotax-recorder-config-version.cmake
  DESTINATION ${cmake_dir}/zerotax-recorder)
install(FILES cmake/ZerotaxCheck.cmake ${configs}/ZerotaxCheckConfig.cmake ${configs}/ZerotaxCheckConfigVersion.cmake
  DESTINATION share/cmake/ZerotaxCheck)

# A pkg-config file for each library.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(zerotax_pkg_config name description requires)
  configure_file(cmake/package/library.pc.in ${configs}/${name}.pc @ONLY)
  install(FILES ${configs}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
zerotax_pkg_config(zerotax-recorder "Records events of a program with their times" "")
zerotax_pkg_config(zerotax-functions "Records the function calls of a program" zerotax-recorder)
zerotax_pkg_config(zerotax-trace "Reads the traces of zerotax" "")

install(DIRECTORY plots DESTINATION share/zerotax PATTERN __pycache__ EXCLUDE)
# plots/zerotax_plots/looks.py searches this folder.
file(GLOB looks CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/allocators/*/plot.json)
foreach(look IN LISTS looks)
  cmake_path(GET look PARENT_PATH folder)
  install(FILES ${look} DESTINATION share/zerotax/${folder})
endforeach()
install(DIRECTORY cases/recv_buffer/clients DESTINATION share/zerotax FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
install(DIRECTORY harness/program/replay/workloads DESTINATION share/zerotax FILES_MATCHING PATTERN *.calls PATTERN README.md)
install(DIRECTORY docs/examples/programs/ DESTINATION share/zerotax/examples USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
# plots/validate.py searches this folder.
install(DIRECTORY results/schema DESTINATION share/zerotax/results FILES_MATCHING PATTERN *.json)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN generate EXCLUDE)
# docs/README.md, the index, becomes the folder's README.md.
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME overview.md)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)  # the name that Debian requires
install(FILES ${CMAKE_BINARY_DIR}/share/man/man1/zerotax.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES harness/measuring/cli/completion/zerotax.bash DESTINATION share/bash-completion/completions RENAME zerotax)
# The unit file is made at installation, because it contains the path of the command. The unit is not enabled.
install(CODE "
  set(zerotax \${CMAKE_INSTALL_PREFIX}/bin/zerotax)
  configure_file(${CMAKE_SOURCE_DIR}/harness/program/top/zerotax-top.service.in
    \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/zerotax-top.service @ONLY NO_SOURCE_PERMISSIONS)")
# Debian's zsh reads the folder vendor-completions; other builds of zsh read site-functions.
install(FILES harness/measuring/cli/completion/_zerotax DESTINATION share/zsh/vendor-completions)
install(FILES harness/measuring/cli/completion/_zerotax DESTINATION share/zsh/site-functions)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME zerotax)
set(CPACK_PACKAGE_CONTACT "The zerotax developers <zerotax@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Measures which memory allocators write zeros over memory that is zero already,
from which size on, what that costs, and which of a program's calls pay.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
# Dependencies that dpkg-shlibdeps cannot know, from the allocators' CMakeLists.txt.
get_property(packages GLOBAL PROPERTY ZEROTAX_PACKAGE_DEPENDS)
list(JOIN packages ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
# Packages for figures, the page, and Python's clients, and a compiler for the reproducers of reports. All measurements
# work without these packages.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "gcc, libc6-dev, python3-matplotlib, python3-jinja2, node-d3-scale, node-d3-zoom, python3-jsonschema, python3-openssl, python3-cffi, python3-requests")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "babeltrace2, linux-perf")
include(CPack)
