#include "run/python.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "run/helper_program.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

}  // namespace

ChildResult run_python(const std::string& python, const std::vector<std::string>& arguments) {
  return run_helper({python, arguments, {}});
}

std::optional<std::string> find_python(const std::vector<std::string>& modules) {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const ChildResult result = run_python(python, {"-c", fmt::format("import {}", fmt::join(modules, ", "))});
    if (succeeded(result)) return python;
  }
  return std::nullopt;
}

std::string folder_of_scripts(const std::string& name, const std::string& source_path, const std::string& file) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  // An installed program is PREFIX/lib/zerotax/bin/zerotax.
  const fs::path prefix = self.parent_path().parent_path().parent_path().parent_path();
  for (const fs::path& candidate : {prefix / "share/zerotax" / name, fs::path(ZEROTAX_SOURCE_DIR) / source_path}) {
    std::error_code failure;
    if (fs::exists(candidate / file, failure)) return candidate.string();
  }
  return "";
}

}  // namespace zerotax
