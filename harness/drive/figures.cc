#include "drive/figures.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "drive/output_file.h"
#include "drive/python.h"

namespace zerotax {

namespace fs = std::filesystem;

std::string draw_figures(const std::string& results_folder) {
  const std::string folder = folder_of_scripts("plots", "plots", "all_figures.py");
  if (folder.empty()) return "the plot scripts were not found";
  const auto python = find_python({"matplotlib"});
  if (!python) return "no python3 with matplotlib was found (apt-get install python3-matplotlib)";
  const ChildResult drawn = run_python(*python, {folder + "/all_figures.py", results_folder});
  if (drawn.end == ChildResult::End::kExited && drawn.code == 0) return "";
  return fmt::format("{}/all_figures.py failed: {}", folder, drawn.errors.substr(0, drawn.errors.find('\n')));
}

std::string draw_svg(const std::string& name, const std::string& document) {
  const std::string script = folder_of_scripts("plots", "plots", name + ".py");
  if (script.empty()) throw MachineError("the plot scripts were not found", "build zerotax in its source folder");
  const auto python = find_python({"matplotlib"});
  if (!python) throw MachineError("no python3 with matplotlib was found", "apt-get install python3-matplotlib");
  if (document.empty()) return "";
  std::string folder = (fs::temp_directory_path() / "zerotax-figure-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    throw MachineError(fmt::format("{} cannot be made: {}", folder, std::strerror(errno)), "point TMPDIR at a folder");
  }
  std::ostringstream svg;
  ChildResult drawn;
  try {
    write_file(folder + "/in.json", document);
    drawn = run_python(*python, {script + "/" + name + ".py", folder + "/in.json", "--format", "svg"});
    svg << std::ifstream(folder + "/" + name + ".svg").rdbuf();
  } catch (...) {
    fs::remove_all(folder);
    throw;
  }
  fs::remove_all(folder);
  if (drawn.end == ChildResult::End::kExited && drawn.code == 0) return svg.str();
  throw MachineError(fmt::format("{}/{}.py failed: {}", script, name, drawn.errors.substr(0, drawn.errors.find('\n'))),
                     "draw it from the file of --json");
}

}  // namespace zerotax
