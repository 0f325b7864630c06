#include "run/figures.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "run/helper_program.h"
#include "run/interrupt.h"

namespace zerotax {

namespace fs = std::filesystem;

namespace {

/// Runs plots/SCRIPT on a results folder with a Python that has the module. Returns "", or the reason for a failure
/// with a remedy.
std::string run_script(const std::string& script, const std::string& module, const std::string& results_folder) {
  const std::string folder = folder_of_scripts("plots", "plots", script);
  if (folder.empty()) return "the plot scripts were not found";
  try {
    const auto python = find_python({module});
    if (!python) return fmt::format("no python3 with {0} was found (apt-get install python3-{0})", module);
    const ChildResult done = run_python(*python, {folder + "/" + script, results_folder});
    if (succeeded(done)) return "";
    return fmt::format("{}/{} failed: {}", folder, script, done.errors.substr(0, done.errors.find('\n')));
  } catch (const MachineError& failure) {
    return fmt::format("{}: {}", failure.what(), failure.remedy());
  } catch (const Stop&) {
    return "it was interrupted";
  }
}

/// Runs a script on the results. An interruption loses only the picture.
ChildResult run_on_results(const std::string& python, const std::vector<std::string>& words, const char* what) {
  try {
    return run_python(python, words);
  } catch (const Stop&) {
    throw MachineError(fmt::format("{} was not drawn", what), "draw the picture from the file of --json");
  }
}

std::string contents_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

std::string draw_figures(const std::string& results_folder) {
  return run_script("all_figures.py", "matplotlib", results_folder);
}

std::string write_report_page(const std::string& results_folder) {
  return run_script("write_page.py", "jinja2", results_folder);
}

std::string make_comparison_page(const std::string& document) {
  constexpr const char* kScript = "write_comparison.py";
  const std::string scripts = folder_of_scripts("plots", "plots", kScript);
  if (scripts.empty())
    throw MachineError("the scripts of the page were not found", "build zerotax in its source folder");
  const auto python = find_python({"jinja2"});
  if (!python) throw MachineError("no python3 with jinja2 was found", "apt-get install python3-jinja2");
  if (document.empty()) {
    const ChildResult able = run_python(*python, {scripts + "/" + kScript, "--check"});
    if (succeeded(able)) return "";
    throw MachineError("no page can be made here: " + able.errors.substr(0, able.errors.find('\n')),
                       "omit --html, or install what is missing");
  }
  const TemporaryFolder folder("page");
  write_file(folder.file("in.json"), document);
  const std::string page = folder.file("page.html");
  const std::vector<std::string> words{scripts + "/" + kScript, folder.file("in.json"), "--out", page};
  const ChildResult made = run_on_results(*python, words, "the page");
  if (succeeded(made)) return contents_of(page);
  throw MachineError(fmt::format("{}/{} failed: {}", scripts, kScript, made.errors.substr(0, made.errors.find('\n'))),
                     "run that script on the file of --json");
}

std::string draw_svg(const std::string& name, const std::string& document) {
  const std::string script = folder_of_scripts("plots", "plots", name + ".py");
  if (script.empty()) throw MachineError("the plot scripts were not found", "build zerotax in its source folder");
  const auto python = find_python({"matplotlib"});
  if (!python) throw MachineError("no python3 with matplotlib was found", "apt-get install python3-matplotlib");
  if (document.empty()) return "";
  const TemporaryFolder folder("figure");
  write_file(folder.file("in.json"), document);
  const std::vector<std::string> words{script + "/" + name + ".py", folder.file("in.json"), "--format", "svg"};
  const ChildResult drawn = run_on_results(*python, words, "the figure");
  if (succeeded(drawn)) return contents_of(folder.file(name + ".svg"));
  throw MachineError(fmt::format("{}/{}.py failed: {}", script, name, drawn.errors.substr(0, drawn.errors.find('\n'))),
                     "draw the picture from the file of --json");
}

}  // namespace zerotax
