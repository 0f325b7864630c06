#include "files/results.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/fields.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/file_lock.h"
#include "os/print.h"
#include "os/regular_file.h"
#include "point/point_document.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

std::time_t now() { return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()); }

/// The complete lines of points.jsonl, and their length in bytes.
std::pair<std::vector<Json>, std::size_t> read_points(const std::string& path) {
  std::vector<Json> points;
  std::size_t bytes = 0;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    Json point = Json::parse(line, nullptr, false);
    if (text_field(point, "allocator", "").empty()) break;
    points.push_back(std::move(point));
    bytes += line.size() + 1;
  }
  return {std::move(points), bytes};
}

}  // namespace

std::string default_results_path() { return fmt::format("results/{:%Y-%m-%dT%H-%M-%SZ}", fmt::gmtime(now())); }

UniqueFd lock_results(const std::string& folder) {
  const std::string file = folder + "/" + kPointsFile;
  UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd) throw UsageError(fmt::format("cannot write {}: {}", file, std::strerror(errno)), "check its permissions");
  switch (try_lock(fd.get())) {
    case LockResult::kTaken:
      break;
    case LockResult::kHeld:
      throw UsageError(fmt::format("{} measures into the folder {}", lock_holder(fd.get()), folder),
                       "wait until that process ends, or end the process; then resume");
    case LockResult::kNoLocks:
      print_text(stderr, "zerotax: {} cannot be locked ({}): let no other command resume this folder meanwhile\n",
                 folder, std::strerror(errno));
  }
  return fd;
}

ResultsFolder::ResultsFolder(std::string path, const Plan& plan, const RunHeader& header) : path_(std::move(path)) {
  std::error_code failure;
  made_ = fs::create_directories(path_, failure);
  if (failure) {
    throw UsageError(fmt::format("cannot create the folder {}: {}", path_, failure.message()),
                     "give --out a folder that you may write to");
  }
  if (!fs::is_empty(path_, failure) || failure) refuse_used();
  open_points(O_EXCL);
  write("plan.json", json_text(plan_json(plan)));
  write("run.json", json_text(run_json(header, plan, 0)));
}

ResultsFolder::ResultsFolder(std::string path) : path_(std::move(path)) {
  const Json run = read_json_file(path_ + "/run.json");
  const std::string schema = text_field(run, "schema", "none");
  if (schema != kRunSchema) {
    throw UsageError(fmt::format("{}/run.json has schema '{}', not '{}'", path_, schema, kRunSchema),
                     "measure again into a new folder: this version resumes only folders of its own schema");
  }
  open_points(0);
  const std::string points_path = path_ + "/" + kPointsFile;
  const auto [points, bytes] = read_points(points_path);
  const auto environment = run.find("environment");
  points_ = typed_points(points, environment == run.end() ? page_bytes() : page_bytes_of(*environment));
  if (::ftruncate(points_fd_.get(), static_cast<off_t>(bytes)) != 0) {
    throw UsageError(fmt::format("cannot write {}: {}", points_path, std::strerror(errno)), "check its permissions");
  }
}

void ResultsFolder::refuse_used() const {
  throw UsageError(fmt::format("the folder {} is not empty", path_),
                   "give --out a new folder, or resume the run in this folder with --resume");
}

void ResultsFolder::open_points(int flags) {
  const std::string file = path_ + "/" + kPointsFile;
  points_fd_ = UniqueFd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666));
  if (!points_fd_ && errno == EEXIST) refuse_used();
  if (!points_fd_) {
    throw UsageError(fmt::format("cannot write {}: {}", file, std::strerror(errno)),
                     "give --out a folder that you may write to");
  }
}

std::set<std::string> ResultsFolder::finished_keys() const {
  std::set<std::string> keys;
  for (const Point& point : points_) keys.insert(key_of(point));
  return keys;
}

void ResultsFolder::check_still_there() const {
  struct stat open_file {};
  struct stat named_file {};
  const std::string file = path_ + "/" + kPointsFile;
  if (::fstat(points_fd_.get(), &open_file) != 0) return;
  const bool there = ::stat(file.c_str(), &named_file) == 0 && named_file.st_ino == open_file.st_ino &&
                     named_file.st_dev == open_file.st_dev;
  if (there) return;
  if (open_file.st_nlink == 0) {
    throw UsageError(fmt::format("the results folder {} and its {} point{} were deleted during the run", path_,
                                 points_.size(), points_.size() == 1 ? "" : "s"),
                     "measure again, and leave the folder alone until the run ends");
  }
  throw UsageError(
      fmt::format("the results folder {} was moved during the run", path_),
      "move the folder back, or resume with --resume NEW_FOLDER (the folder contains the finished points)");
}

void ResultsFolder::add(const Point& point) {
  check_still_there();
  const std::string line = json_line(to_json(point)) + "\n";
  if (!write_all(points_fd_.get(), line)) {
    throw UsageError(
        fmt::format("cannot write {}/{}: {}", path_, kPointsFile, std::strerror(errno)),
        fmt::format("free some space, then resume with: --resume {} (the finished points are kept)", path_));
  }
  points_.push_back(point);
}

void ResultsFolder::finish(const Plan& plan, const RunHeader& header) {
  check_still_there();
  write("points.csv", points_csv(points_));
  write("run.json", json_text(run_json(header, plan, points_.size())));
}

void ResultsFolder::discard() {
  points_fd_.reset();
  std::error_code failure;
  for (const char* name : {"plan.json", "run.json", kPointsFile}) fs::remove(fs::path(path_) / name, failure);
  if (made_) fs::remove(path_, failure);
}

void ResultsFolder::write(const std::string& name, const std::string& text) const {
  write_file(path_ + "/" + name, text);
}

void from_json(const Json& json, RunParts& run) {
  read_field(json, "environment", run.environment);
  read_field(json, "environments", run.environments);
  read_field(json, "comparable_times", run.comparable_times);
  read_field(json, "points", run.points);
  read_field(json, "points_file", run.points_file);
}

namespace {

RunDocument document_of(const RunHeader& header, const Plan& plan, std::size_t finished) {
  RunDocument document{.schema = kRunSchema,
                       .zerotax_version = ZEROTAX_VERSION,
                       .state = header.state,
                       .started = header.started,
                       .command = header.command,
                       .environment = {header.environment},
                       .load = header.load,
                       .environments = header.environments,
                       .comparable_times = header.comparable_times,
                       .loads = header.loads,
                       .plan = {plan.points.size(), finished, {}}};
  if (!header.finished.empty()) document.finished.emplace(header.finished);
  for (const Allocator& allocator : plan.allocators) document.allocators.push_back(entry_of(allocator));
  if (!plan.study.empty()) document.plan.study.emplace(plan.study);
  return document;
}

}  // namespace

Json run_json(const RunHeader& header, const Plan& plan, std::size_t finished) {
  RunDocument document = document_of(header, plan, finished);
  document.points_file = kPointsFile;
  return document;
}

Json run_json(const RunHeader& header, const Plan& plan, const std::vector<Point>& points) {
  RunDocument document = document_of(header, plan, points.size());
  std::vector<Json>& all = document.points.emplace();
  for (const Point& point : points) all.push_back(to_json(point));
  return document;
}

}  // namespace zerotax
