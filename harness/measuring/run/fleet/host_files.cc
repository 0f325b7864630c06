// What hosts enter of themselves: HOST.json, their environments, and HOST.controls.jsonl.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "files/document.h"
#include "files/output_file.h"
#include "files/stored_run.h"
#include "os/environment.h"
#include "os/input_file.h"
#include "run/fleet/document.h"

namespace zerotax::fleet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnvironment = ".json";
constexpr const char* kControls = ".controls.jsonl";

std::vector<std::string> names_ending(const std::string& folder, const std::string& end) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(end)) names.push_back(name.substr(0, name.size() - end.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Environment environment_in(const std::string& file) {
  return read_document(file, "host", "delete it, and give the same command again").get<HostEntry>().environment;
}

}  // namespace

std::string enter_host(const std::string& hosts) {
  const HostEntry entry{.environment = describe_environment()};
  const std::string name = host_name();
  for (int number = 1;; ++number) {
    std::string entered = number == 1 ? name : fmt::format("{}#{}", name, number);
    const std::string file = fmt::format("{}/{}{}", hosts, entered, kEnvironment);
    if (!is_there(file)) write_file(file, json_text(entry));
    if (unlike_hosts(environment_in(file), entry.environment).empty()) return entered;
  }
}

Hosts read_hosts(const std::string& hosts) {
  Hosts found;
  for (const std::string& name : names_ending(hosts, kEnvironment)) {
    found.emplace(name, environment_in(fmt::format("{}/{}{}", hosts, name, kEnvironment)));
  }
  return found;
}

void measure_controls(const std::string& hosts, const std::string& host, const Work& work) {
  const std::string file = fmt::format("{}/{}{}", hosts, host, kControls);
  if (is_there(file)) return;
  const std::vector<Point> first = work.controls();
  const std::vector<Point> second = work.controls();
  std::string lines;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    lines += json_line(control_json(first[i], second[i], host)) + "\n";
  }
  if (!lines.empty()) write_file(file, lines);
}

std::vector<Point> read_controls(const std::string& hosts) {
  std::vector<Point> controls;
  for (const std::string& name : names_ending(hosts, kControls)) {
    const std::string file = fmt::format("{}/{}{}", hosts, name, kControls);
    for (Point& point : read_stored_points(file)) controls.push_back(std::move(point));
  }
  return controls;
}

}  // namespace zerotax::fleet
