#include "doctor/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <tuple>

#include "os/cgroup.h"

namespace zerotax::doctor {
namespace {

std::vector<Check>& checks() {
  static std::vector<Check> all;
  return all;
}

Finding look_at(const Check& check, const Machine& machine) {
  try {
    return check.look(machine);
  } catch (const std::exception& failure) {
    return unknown(failure.what());
  }
}

std::string chosen_word(const std::string& line) {
  const auto open = line.find('[');
  const auto close = line.find(']', open);
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

void climb(const Machine& machine, const std::string& folder, std::string path, const std::string& name,
           std::vector<CgroupFile>& found) {
  if (path == "/") path.clear();
  for (;;) {
    const std::string file = fmt::format("{}{}/{}", folder, path, name);
    if (const Reading line = machine.line(file)) found.push_back({file, *line.text});
    if (path.empty()) return;
    path.resize(std::min(path.rfind('/'), path.size()));
  }
}

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part == word) return true;
  }
  return false;
}

}  // namespace

Check::Check(Topic of, const char* called, Look with) : topic(of), name(called), look(with) {
  checks().push_back(*this);
}

std::vector<Row> examine(const Machine& machine) {
  std::vector<Row> rows;
  for (const Check& check : checks()) rows.push_back({check.topic, check.name, look_at(check, machine)});
  for (const Setting& setting : settings()) rows.push_back({setting.topic, setting.name, look_at(setting, machine)});
  std::sort(rows.begin(), rows.end(), [](const Row& one, const Row& other) {
    return std::tie(one.topic, one.name) < std::tie(other.topic, other.name);
  });
  return rows;
}

Finding not_asked() {
  return unknown("only the running kernel has this information, and these files are from another machine");
}

Finding unknown(const std::string& why) { return {NotAvailable{why}, Weight::kUnknown, "", ""}; }

Finding look_at(const Setting& setting, const Machine& machine) {
  const Reading line = machine.line(setting.path);
  if (!line) return unknown(fmt::format("{}: {}", setting.missing, line.why));
  const std::string word = chosen_word(*line.text);
  for (const Setting::Meaning& meaning : setting.meanings) {
    if (word != meaning.value && std::string_view(meaning.value) != "*") continue;
    return {std::string_view(meaning.state).empty() ? word : meaning.state, meaning.weight, meaning.effect,
            meaning.remedy};
  }
  return {word, Weight::kNote, "the meaning of this value is unknown to zerotax", ""};
}

std::vector<CgroupFile> cgroup_files(const Machine& machine, const std::string& controller, const std::string& name_v2,
                                     const std::string& name_v1) {
  std::vector<CgroupFile> found;
  const Reading own = machine.text("/proc/self/cgroup");
  if (!own) return found;
  for (const auto& [controllers, path] : parse_cgroup_lines(*own.text)) {
    if (controllers.empty() && !name_v2.empty()) {
      // If version 1 of cgroups is mounted, version 2 is mounted one folder deeper.
      for (const char* folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        climb(machine, folder, path, name_v2, found);
      }
    } else if (has_word(controllers, controller) && !name_v1.empty()) {
      climb(machine, "/sys/fs/cgroup/" + controllers, path, name_v1, found);
      if (controllers != controller) climb(machine, "/sys/fs/cgroup/" + controller, path, name_v1, found);
    }
  }
  return found;
}

}  // namespace zerotax::doctor
