#include "run/fleet/job_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/schema.h"
#include "files/document.h"
#include "files/output_file.h"
#include "files/stored_run.h"
#include "os/input_file.h"
#include "os/regular_file.h"
#include "point/point_document.h"

namespace zerotax::fleet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAgain = "delete the file, and start again";

void make_folder(const std::string& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (!failure) return;
  throw UsageError(fmt::format("cannot create the folder {}: {}", path, failure.message()),
                   "give --out a folder that you may write to");
}

/// Returns the names of the result files, sorted by shard and attempt.
std::vector<std::string> result_files(const std::string& path) {
  std::vector<std::string> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("results-") && name.ends_with(".jsonl")) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

JobFolder::JobFolder(const std::string& results, const std::string& name)
    : path_(absolute_path(results + "/fleet/" + name).lexically_normal().string()) {}

JobFolder::JobFolder(std::string path) : path_(std::move(path)) {}

std::string JobFolder::hosts() const { return fs::path(path_).parent_path().string() + "/hosts"; }

std::string JobFolder::log(std::size_t shard) const { return file(fmt::format("log-{}.txt", shard)); }

std::optional<JobPlan> JobFolder::read_plan() const {
  if (!is_there(file("fleet.json"))) return std::nullopt;
  auto plan = read_document(file("fleet.json"), "fleet", kAgain).get<JobPlan>();
  // The token becomes part of the shell script task.sh.
  if (plan.token.find_first_not_of("0123456789abcdef") == std::string::npos) return plan;
  throw UsageError(fmt::format("{} is damaged: invalid token", file("fleet.json")), kAgain);
}

void JobFolder::create(const JobPlan& plan) {
  made_results_ = !is_there(fs::path(path_).parent_path().parent_path().string());
  make_folder(path_);
  make_folder(hosts());
  write_file(file("token"), plan.token + "\n");
  write_file(file("fleet.json"), json_text(plan));
}

void JobFolder::remove() const {
  std::error_code failure;
  fs::remove_all(path_, failure);
  fs::remove(hosts(), failure);
  const fs::path jobs = fs::path(path_).parent_path();
  fs::remove(jobs, failure);
  if (made_results_) fs::remove(jobs.parent_path(), failure);
}

std::map<std::string, ItemResult> JobFolder::new_results() {
  std::map<std::string, ItemResult> results;
  for (const std::string& name : result_files(path_)) {
    std::ifstream lines(file(name), std::ios::binary);
    std::size_t& read = read_[name];
    lines.seekg(static_cast<std::streamoff>(read));
    // A line without a line end is still being written, or the task that wrote it was killed. Items with damaged
    // results are measured again.
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
      read += line.size() + 1;
      const Json json = Json::parse(line, nullptr, false);
      if (!schema_problem(json, "shard_result").empty()) continue;
      auto result = json.get<ItemResult>();
      if (result.load) loads_[name] = {result.host, *result.load};
      if (seen_.insert(result.key).second) results.emplace(result.key, std::move(result));
    }
  }
  return results;
}

std::map<std::string, Load> JobFolder::loads() const {
  std::map<std::string, Load> worst;
  for (const auto& [name, of_task] : loads_) {
    const auto& [host, load] = of_task;
    const auto [place, is_new] = worst.emplace(host, load);
    if (!is_new && is_worse_load(load, place->second)) place->second = load;
  }
  return worst;
}

UniqueFd JobFolder::start_results(std::size_t shard) const {
  constexpr int kMostAttempts = 10'000;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::string name = file(fmt::format("results-{:03}-{:03}.jsonl", shard, attempt));
    UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    if (fd) return fd;
    if (errno != EEXIST) break;
  }
  throw UsageError(fmt::format("cannot write into {}: {}", path_, std::strerror(errno)), "check its permissions");
}

void JobFolder::add_result(int fd, const ItemResult& result) {
  const std::string line = json_line(Json(result)) + "\n";
  if (!write_all(fd, line)) {
    throw UsageError(fmt::format("cannot write a result: {}", std::strerror(errno)),
                     "free some space; finished results are kept");
  }
  // Makes results survive a power failure of this host, because another host may already have read the results.
  ::fsync(fd);
}

Json control_json(const Point& one, const Point& other, const std::string& host) {
  Json agreed = to_json(one);
  const Json again = to_json(other);
  for (auto& [key, value] : agreed.items()) {
    if (again.contains(key) && again.at(key) == value) continue;
    if (value.is_number() || value.is_string()) value = not_available("a second measurement gave another result");
  }
  agreed["host"] = host;
  return agreed;
}

}  // namespace zerotax::fleet

// Reads and writes the hosts' own files: HOST.json with the environment, and HOST.controls.jsonl.

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
