# Libraries that the project itself needs. The folder of an allocator finds the allocator's library.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(valijson REQUIRED)  # JSON Schema
find_package(fmt REQUIRED)
find_package(pugixml REQUIRED)  # XML, for JUnit
find_package(ZLIB REQUIRED)  # recorded calls, and gzip for pprof
find_package(benchmark REQUIRED)
if(ZEROTAX_TESTS)
  find_package(GTest REQUIRED)
endif()
find_package(Eigen3 REQUIRED)  # least squares
# Names of functions and lines in program files (elfutils).
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
# Headers, segments and needed libraries of ELF files (elfutils).
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
# Boost.Math for quantiles of distributions and medians. Boost.Math is header-only, and only base/ includes it.
find_package(Boost 1.74 REQUIRED)
