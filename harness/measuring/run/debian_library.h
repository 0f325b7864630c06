#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/child.h"

namespace zerotax {

/// Returns the path of the malloc replacement in a package of a Debian release; for libc6, the path of the C library
/// itself. The package and the libraries that it needs, including the C library, are fetched once into zerotax's cache.
/// Throws UsageError if the word does not name a release and a package. Throws MachineError if the package cannot be
/// fetched or used, and leaves no files.
std::string debian_library(const std::string& word);

/// A package of a Debian release with a malloc replacement, in zerotax's cache.
struct DebianPackage {
  std::string release;
  std::string name;     ///< such as "libmimalloc3"
  std::string version;  ///< such as "3.0.1+ds-2.1"
  std::string date;     ///< UTC time at which Debian released this version of the package

  /// The word for --allocator NAME=WORD, such as "deb:trixie/libmimalloc3".
  [[nodiscard]] std::string word() const { return "deb:" + release + "/" + name; }
};

/// Returns the first of these packages that a release has, or nothing if the release has none of the packages. The
/// package is fetched unless it is in the cache. Throws UsageError for an invalid name of a package, and MachineError
/// as debian_library() does.
std::optional<DebianPackage> find_debian_package(const std::string& release, const std::vector<std::string>& names);

/// Throws UsageError if a program on this system cannot preload the library of a Debian package, because the library
/// needs a newer C library. The system's loader decides.
void check_loads_here(const std::optional<std::string>& library);

/// Makes a command use the C library and dynamic linker of the Debian release of its preloaded library, if these are
/// newer than this system's. Has no effect for other libraries.
void use_own_libraries(ChildCommand& command, const std::optional<std::string>& library);

}  // namespace zerotax
