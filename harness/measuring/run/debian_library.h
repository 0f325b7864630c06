#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/child.h"

namespace zerotax {

/// The path of the malloc replacement in a package of a release of Debian, which is fetched once into zerotax's cache,
/// with the libraries that it needs, the C library among them; of libc6 the C library itself. Throws UsageError for a
/// word that names no release or package; MachineError if it cannot be fetched, or is of no use here: nothing is left
/// behind then.
std::string debian_library(const std::string& word);

/// A package of a release of Debian that has a malloc replacement, as it lies in zerotax's cache.
struct DebianPackage {
  std::string release;
  std::string name;     ///< "libmimalloc3"
  std::string version;  ///< "3.0.1+ds-2.1"
  std::string date;     ///< when Debian made this version of it, UTC

  /// As --allocator NAME=WORD takes it: "deb:trixie/libmimalloc3".
  [[nodiscard]] std::string word() const { return "deb:" + release + "/" + name; }
};

/// The first of these packages that a release has, fetched unless it is in the cache; nothing if it has none of them.
/// Throws UsageError for what is no name of a package, and MachineError as debian_library does.
std::optional<DebianPackage> find_debian_package(const std::string& release, const std::vector<std::string>& names);

/// Throws UsageError for a library of such a package that a program cannot have preloaded. By what this system's loader
/// says of its symbols, the library needs a newer C library than this system's, with which programs run.
void check_loads_here(const std::optional<std::string>& library);

/// A library of such a package that may need a newer C library than this system's: the command's program is then run
/// with that of its release, by its dynamic linker. Other libraries change nothing.
void use_own_libraries(ChildCommand& command, const std::optional<std::string>& library);

}  // namespace zerotax
