#include "observe/debug_packages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/lines.h"
#include "base/names.h"
#include "os/input_file.h"

namespace zerotax {
namespace {

/// Returns the name of a package's debug package, usually PACKAGE-dbgsym. The C library and CPython have one -dbg
/// package for all packages of the same source.
std::string debug_package(const std::string& package) {
  if (package == "libc6") return "libc6-dbg";
  const std::size_t python = package.starts_with("lib") ? 3 : 0;
  if (package.compare(python, 8, "python3.") != 0) return package + "-dbgsym";
  return package.substr(python, package.find('-') - python) + "-dbg";  // as for "libpython3.11-minimal"
}

}  // namespace

std::set<std::string> debug_packages(const std::set<std::string>& files, const std::string& lists) {
  // dpkg's list may contain a file with or without /usr, because /lib is a link to /usr/lib.
  std::set<std::string> names;
  for (const std::string& file : files) {
    std::error_code failure;
    for (const std::string& path : {file, std::filesystem::canonical(file, failure).string()}) {
      if (!path.starts_with('/')) continue;
      names.insert("\n" + path + "\n");
      names.insert(path.starts_with("/usr/") ? "\n" + path.substr(4) + "\n" : "\n/usr" + path + "\n");
    }
  }
  std::set<std::string> packages;
  if (names.empty()) return packages;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(lists, failure)) {
    if (entry.path().extension() != ".list") continue;
    const std::string text = text_of(entry.path());
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& name) { return text.find(name) != std::string::npos; })) {
      const std::string package = entry.path().stem();  // package name such as "libc6:amd64"
      packages.insert(debug_package(package.substr(0, package.find(':'))));
    }
  }
  return packages;
}

std::string debug_packages_line(const std::vector<const std::vector<NamedFrame>*>& stacks, std::size_t frames) {
  std::set<std::string> files;
  std::set<std::string> names;
  for (const std::vector<NamedFrame>* stack : stacks) {
    for (std::size_t i = 0; i < std::min(stack->size(), frames); ++i) {
      const NamedFrame& frame = (*stack)[i];
      if (!frame.module || frame.function) continue;
      files.insert(*frame.module);
      names.insert(file_name(*frame.module));
    }
  }
  const std::set<std::string> packages = debug_packages(files);
  if (packages.empty()) return "";
  const bool is_asked = std::getenv("DEBUGINFOD_URLS") != nullptr;
  return wrap(
      fmt::format("To name the functions of {}, install {}{}.", fmt::join(names, ", "), fmt::join(packages, ", "),
                  is_asked ? "" : " or set DEBUGINFOD_URLS=https://debuginfod.debian.net"),
      "", "  ");
}

}  // namespace zerotax
