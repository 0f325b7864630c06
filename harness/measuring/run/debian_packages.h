#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "files/folders.h"
#include "os/processor.h"

namespace zerotax {

/// The Debian releases whose packages can be used, oldest first.
const std::vector<std::string>& debian_releases();

/// Packages of one Debian release, fetched by apt-get and dpkg-deb with separate lists and a separate cache. The system
/// is not changed, no privileges are needed, and apt-get checks signatures. All functions throw MachineError with
/// apt-get's message if a package is unavailable, and Stop for a signal. After an exception no files are left.
class DebianPackages {
 public:
  /// `what` names the object to fetch in messages, as in "the kernel". `cache` is the folder in which keep() creates a
  /// folder. `architecture` is Debian's name of the processor.
  DebianPackages(std::string what, std::string release, std::filesystem::path cache,
                 const std::string& architecture = kDebianArchitecture);

  /// Returns the version of a package, or nothing if the release has no such package.
  std::optional<std::string> version_of(const std::string& package);

  /// Returns those dependencies of a package whose names begin with one of the prefixes.
  std::vector<std::string> needed_by(const std::string& package, const std::vector<std::string>& prefixes);
  /// Returns the package and its dependencies on libraries, transitively.
  std::vector<std::string> with_libraries(const std::string& package);
  /// Unpacks files of a package into files(). Only files that match one of the patterns (of tar(1)) are unpacked.
  void unpack(const std::string& package, const std::vector<std::string>& patterns);
  [[nodiscard]] std::filesystem::path files() const { return folder_.file("files"); }
  /// Moves the unpacked files to a folder of this name in the cache, unless another process has created this folder.
  void keep(const std::string& name);
  [[noreturn]] void cannot_fetch(const std::string& why) const;

 private:
  std::string run(const std::string& program, std::vector<std::string> words,
                  const std::vector<std::string>& more = {});
  std::string run_plain(const std::string& program, const std::vector<std::string>& words);

  std::string what_;
  std::string release_;
  std::filesystem::path cache_;
  TemporaryFolder folder_;  ///< temporary folder in the cache
  std::vector<std::string> options_;
};

}  // namespace zerotax
