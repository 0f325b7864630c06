#include "run/debian_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/lines.h"
#include "base/nearest.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/input_file.h"
#include "os/processor.h"
#include "run/debian_packages.h"
#include "run/interrupt.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "deb:";
/// File in a package's folder with four lines: path of the library, version of its C library, path of the loader, and
/// version of the package.
constexpr const char* kAbout = "about.txt";

struct About {
  std::string library;
  std::string libc_version;
  std::string loader;
  std::string version;
};

/// Returns a version such as 2.41 as the pair 2, 41.
std::pair<int, int> version_pair(const std::string& text) {
  int major = 0;
  int minor = 0;
  std::sscanf(text.c_str(), "%d.%d", &major, &minor);
  return {major, minor};
}

std::vector<fs::path> libraries_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(folder)) {
    if (each.is_regular_file() && !each.is_symlink() && each.path().string().find(".so") != std::string::npos) {
      found.push_back(each.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool defines_malloc(const fs::path& library) {
  const auto functions = ElfFile(library).functions();
  const auto has = [&](const char* name) {
    return std::any_of(functions.begin(), functions.end(), [&](const auto& each) { return each.name == name; });
  };
  return has("malloc") && has("free");
}

std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(folder)) {
    if (each.path().filename() == name && !each.is_directory()) return each.path();
  }
  return std::nullopt;
}

/// Returns the version in the loader's output, such as 2.41 in "ld.so (Debian GLIBC 2.41-12) stable release version
/// 2.41."
std::string libc_version(const fs::path& loader) {
  ChildCommand command;
  command.program = loader;
  command.arguments = {"--version"};
  command.capture = true;
  const std::string said = run_child(command, stop_requested).output;
  end_if_stopped();
  constexpr std::string_view kBefore = "release version ";
  const auto at = said.find(kBefore);
  if (at != std::string::npos) {
    const auto begin = at + kBefore.size();
    return said.substr(begin, said.find_first_not_of("0123456789.", begin) - begin);
  }
  // The loader of glibc 2.31 and older does not print its version, but its file name contains it.
  const std::string file = fs::read_symlink(loader).filename();
  return file.starts_with("ld-") ? file.substr(3, file.rfind(".so") - 3) : "";  // such as "ld-2.31.so"
}

About read_about(const fs::path& folder) {
  std::string text = read_input_file((folder / kAbout).string());
  const auto line = [&] {
    const auto end = std::min(text.find('\n'), text.size());
    std::string found = text.substr(0, end);
    text.erase(0, end + 1);
    return found;
  };
  About about;
  about.library = folder / line();
  about.libc_version = line();
  about.loader = folder / line();
  about.version = line();
  return about;
}

fs::path folder_of(const std::string& release, const std::string& package) {
  return fs::path(cache_folder("debs")) / (release + "-" + package);
}

/// Returns the contents of the cache for a package. A package fetched by an earlier version of zerotax is removed,
/// because its description is incomplete.
std::optional<About> cached(const std::string& release, const std::string& package) {
  const fs::path folder = folder_of(release, package);
  if (!is_there((folder / kAbout).string())) return std::nullopt;
  About about = read_about(folder);
  if (!about.version.empty()) return about;
  fs::remove_all(folder);
  return std::nullopt;
}

/// Fetches the first of these packages that a release has. Returns the package's name, or nothing if the release has
/// none of the packages.
std::optional<std::string> fetch(const std::string& release, const std::vector<std::string>& names) {
  DebianPackages packages(fmt::format("{}", fmt::join(names, " or ")), release, cache_folder("debs"));
  const fs::path files = packages.files();
  std::string package;
  std::optional<std::string> package_version;
  for (const std::string& name : names) {
    package = name;
    package_version = packages.version_of(name);
    if (package_version) break;
  }
  if (!package_version) return std::nullopt;
  packages.unpack(package, {"*.so*"});
  std::vector<fs::path> found;
  for (const fs::path& library : libraries_in(files)) {
    if (package == "libc6" ? library.filename().string().starts_with("libc") && defines_malloc(library)
                           : defines_malloc(library)) {
      found.push_back(library);
    }
  }
  if (found.empty()) packages.cannot_fetch("it has no library that defines malloc and free");
  for (const std::string& each : packages.with_libraries(package)) {
    if (each != package) packages.unpack(each, {"*.so*"});
  }
  const auto loader = find_file(files, kLoaderName);
  if (!loader) packages.cannot_fetch("its dependencies contain no C library");
  write_file((files / kAbout).string(),
             fmt::format("{}\n{}\n{}\n{}\n", found.front().lexically_relative(files).string(), libc_version(*loader),
                         loader->lexically_relative(files).string(), *package_version));
  packages.keep(folder_of(release, package).filename().string());
  return package;
}

/// Returns the folder of the Debian package that contains a library, or nothing if no package contains it.
std::optional<fs::path> folder_of(const std::optional<std::string>& library) {
  if (!library || library->find("/zerotax/debs/") == std::string::npos) return std::nullopt;
  fs::path folder = fs::path(*library).parent_path();
  while (folder.has_relative_path() && !is_there((folder / kAbout).string())) folder = folder.parent_path();
  return folder.has_relative_path() ? std::optional(folder) : std::nullopt;
}

/// Returns whether the package's C library is newer than this system's. Code built for an older C library runs with a
/// newer one, and the probe was built with the system's.
bool is_newer(const About& about) { return version_pair(about.libc_version) > version_pair(::gnu_get_libc_version()); }

/// Returns the loader's reason why this system cannot preload a library; empty if it can. With LD_TRACE_LOADED_OBJECTS,
/// the loader binds all symbols but runs no code of the library (ld.so(8)).
std::string why_not_loaded_here(const std::string& library) {
  // A C library works only with its own loader.
  if (fs::path(library).filename() == "libc.so.6") return "the library is a C library";
  ChildCommand command;
  command.program = "/bin/true";
  command.environment = {
      {"LD_TRACE_LOADED_OBJECTS", "1"}, {"LD_WARN", "yes"}, {"LD_BIND_NOW", "yes"}, {"LD_PRELOAD", library}};
  command.capture = true;
  const ChildResult result = run_child(command, stop_requested);
  end_if_stopped();
  if (result.end != ChildResult::End::kExited) return "the loader could not be run";
  if (!result.errors.empty()) return one_line(result.errors.substr(0, result.errors.find('\n')));
  const std::size_t missing = result.output.find(" => not found");
  if (missing == std::string::npos) return "";
  const std::size_t line = result.output.rfind('\n', missing) + 1;
  return one_line(result.output.substr(line, missing - line)) + " is not there";
}

bool is_package_name(const std::string& name) {
  return name.size() > 1 && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") == std::string::npos &&
         name.front() != '.' && name.front() != '-';
}

}  // namespace

std::optional<DebianPackage> find_debian_package(const std::string& release, const std::vector<std::string>& names) {
  const auto here = [&](const std::string& name) -> std::optional<DebianPackage> {
    const auto about = cached(release, name);
    if (!about) return std::nullopt;
    // apt and tar keep the modification times of the archive's files. In Debian, a file's modification time is the time
    // of the package's last changelog entry.
    struct stat status = {};
    ::stat(about->library.c_str(), &status);
    return DebianPackage{release, name, about->version, utc_text(status.st_mtime)};
  };
  for (const std::string& name : names) {
    if (!is_package_name(name)) throw UsageError(fmt::format("invalid package '{}'", name), "give a package's name");
    if (auto found = here(name)) return found;
  }
  const auto name = fetch(release, names);
  return name ? here(*name) : std::nullopt;
}

std::string debian_library(const std::string& word) {
  const std::string place = word.substr(std::string_view(kPrefix).size());
  const auto slash = place.find('/');
  const std::string release = place.substr(0, slash);
  const std::string package = slash == std::string::npos ? "" : place.substr(slash + 1);
  check_word("release of --allocator deb:", release, debian_releases());
  if (!is_package_name(package)) {
    throw UsageError(fmt::format("invalid package '{}' in '{}'", package, word),
                     "give a package, as in mimalloc=deb:trixie/libmimalloc3");
  }
  if (!find_debian_package(release, {package})) {
    throw MachineError(fmt::format("cannot fetch {} of Debian {}: there is no such package", package, release),
                       "search for the package on packages.debian.org");
  }
  About about = cached(release, package).value();
  if (package == "libc6" && version_pair(about.libc_version) < version_pair(::gnu_get_libc_version())) {
    throw MachineError(fmt::format("glibc {} of Debian {} is older than this system's, which zerotax was built with",
                                   about.libc_version, release),
                       fmt::format("run zerotax on Debian {}", release));
  }
  return about.library;
}

void check_loads_here(const std::optional<std::string>& library) {
  const auto folder = folder_of(library);
  if (!folder || !is_newer(read_about(*folder))) return;
  const std::string why = why_not_loaded_here(*library);
  if (why.empty()) return;
  throw UsageError(
      fmt::format("{} needs the C library of its release, but programs run with this system's C library ({})",
                  folder->filename().string(), why),
      "choose a package from this system's release or an older release, or measure the package with run, "
      "study, thresholds or check");
}

void use_own_libraries(ChildCommand& command, const std::optional<std::string>& library) {
  const auto folder = folder_of(library);
  if (!folder) return;
  const About about = read_about(*folder);
  if (!is_newer(about)) return;
  std::string paths;
  for (const fs::path& root : {*folder, fs::path("/")}) {
    for (const char* each : {"usr/lib", "lib"}) {
      paths += (paths.empty() ? "" : ":") + (root / each / kLibraryFolder).string();
    }
  }
  command.arguments.insert(command.arguments.begin(), {"--library-path", paths, command.program});
  command.program = about.loader;
}

}  // namespace zerotax
