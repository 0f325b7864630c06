#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "files/folders.h"
#include "os/processor.h"

namespace zerotax {

/// The releases of Debian whose packages are known, oldest first.
const std::vector<std::string>& debian_releases();

/// Packages of one release of Debian, by apt-get and dpkg-deb, with lists and a cache of their own: nothing of the
/// system is changed, no right is needed, and apt-get checks signatures. All functions throw MachineError if something
/// cannot be had, with what apt-get says, and Stop for a signal; nothing is left behind then.
class DebianPackages {
 public:
  /// `what`: to be fetched, for messages: "the kernel". `cache`: the folder in which keep() makes one of the files.
  /// `architecture`: Debian's name of the processor that they are for.
  DebianPackages(std::string what, std::string release, std::filesystem::path cache,
                 const std::string& architecture = kDebianArchitecture);

  /// The version of a package; nothing if the release has no such package.
  std::optional<std::string> version_of(const std::string& package);

  /// The packages that one depends on whose names begin so.
  std::vector<std::string> needed_by(const std::string& package, const std::vector<std::string>& prefixes);
  /// Itself and all libraries that it needs, and those need.
  std::vector<std::string> with_libraries(const std::string& package);
  /// Unpacks the files of a package that match one of the patterns of tar(1) into files().
  void unpack(const std::string& package, const std::vector<std::string>& patterns);
  [[nodiscard]] std::filesystem::path files() const { return folder_.file("files"); }
  /// Moves them to a folder of this name in the cache, unless another process has done so meanwhile.
  void keep(const std::string& name);
  [[noreturn]] void cannot_fetch(const std::string& why) const;

 private:
  std::string run(const std::string& program, std::vector<std::string> words,
                  const std::vector<std::string>& more = {});
  std::string run_plain(const std::string& program, const std::vector<std::string>& words);

  std::string what_;
  std::string release_;
  std::filesystem::path cache_;
  TemporaryFolder folder_;  ///< in the cache
  std::vector<std::string> options_;
};

}  // namespace zerotax
