#include "drive/figures.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "drive/interrupt.h"
#include "os/child.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

/// Beside the source tree that this was built from; an installed tree has share/zerotax beside bin.
std::string plots_folder() {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  for (const fs::path& candidate :
       {self.parent_path().parent_path() / "share/zerotax/plots", fs::path(ZEROTAX_SOURCE_DIR) / "plots"}) {
    if (fs::exists(candidate / "all_figures.py")) return candidate.string();
  }
  return "";
}

ChildResult run_python(const std::string& python, const std::vector<std::string>& arguments) {
  ChildCommand command;
  command.program = "/usr/bin/env";
  command.arguments = {python};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.capture = true;
  command.fixed_layout = false;
  command.timeout = std::chrono::minutes(5);
  return run_child(command, [] { return interrupted() != 0; });
}

bool succeeded(const ChildResult& result) { return result.end == ChildResult::End::kExited && result.code == 0; }

}  // namespace

std::string draw_figures(const std::string& results_folder) {
  const std::string folder = plots_folder();
  if (folder.empty()) return "the plot scripts were not found";
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (!succeeded(run_python(python, {"-c", "import matplotlib"}))) continue;
    const ChildResult drawn = run_python(python, {folder + "/all_figures.py", results_folder});
    if (succeeded(drawn)) return "";
    return fmt::format("{}/all_figures.py failed: {}", folder, drawn.errors.substr(0, drawn.errors.find('\n')));
  }
  return "no python3 with matplotlib was found (apt-get install python3-matplotlib)";
}

}  // namespace zerotax
