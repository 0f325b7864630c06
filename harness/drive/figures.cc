#include "drive/figures.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "drive/output_file.h"
#include "drive/python.h"

namespace zerotax {
namespace {

/// Runs one of the plot scripts.
std::string draw(const std::string& script, const std::vector<std::string>& arguments) {
  const std::string folder = folder_of_scripts("plots", "plots", script);
  if (folder.empty()) return "the plot scripts were not found";
  const auto python = find_python({"matplotlib"});
  if (!python) return "no python3 with matplotlib was found (apt-get install python3-matplotlib)";
  std::vector<std::string> words{folder + "/" + script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const ChildResult drawn = run_python(*python, words);
  if (drawn.end == ChildResult::End::kExited && drawn.code == 0) return "";
  return fmt::format("{}/{} failed: {}", folder, script, drawn.errors.substr(0, drawn.errors.find('\n')));
}

/// A folder that is gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "zerotax-figure-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code failure;
    if (!path_.empty()) std::filesystem::remove_all(path_, failure);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// Empty if there is none.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string draw_figures(const std::string& results_folder) { return draw("all_figures.py", {results_folder}); }

std::string draw_snapshot(const std::string& snapshot, const std::string& file) {
  const TemporaryFolder folder;
  if (folder.path().empty()) return "no temporary folder can be made: set TMPDIR to one that can be written";
  const std::string data = folder.path() + "/snapshot.json";
  write_file(data, snapshot);
  std::string failed = draw("fork_snapshot.py", {data, "--out", folder.path(), "--format", "svg"});
  if (!failed.empty()) return failed;
  std::ostringstream text;
  text << std::ifstream(folder.path() + "/fork_snapshot.svg").rdbuf();
  write_file(file, text.str());
  return "";
}

}  // namespace zerotax
