#include "drive/figures.h"

#include <fmt/format.h>

#include "drive/python.h"

namespace zerotax {

std::string draw_figures(const std::string& results_folder) {
  const std::string folder = folder_of_scripts("plots", "plots", "all_figures.py");
  if (folder.empty()) return "the plot scripts were not found";
  const auto python = find_python({"matplotlib"});
  if (!python) return "no python3 with matplotlib was found (apt-get install python3-matplotlib)";
  const ChildResult drawn = run_python(*python, {folder + "/all_figures.py", results_folder});
  if (drawn.end == ChildResult::End::kExited && drawn.code == 0) return "";
  return fmt::format("{}/all_figures.py failed: {}", folder, drawn.errors.substr(0, drawn.errors.find('\n')));
}

}  // namespace zerotax
