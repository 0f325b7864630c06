#include "run/debian_packages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "files/output_file.h"
#include "os/print.h"
#include "run/helper_program.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kFetchTimeout{20};

}  // namespace

const std::vector<std::string>& debian_releases() {
  static const std::vector<std::string> kReleases{"bullseye", "bookworm", "trixie", "sid"};
  return kReleases;
}

void DebianPackages::cannot_fetch(const std::string& why) const {
  throw MachineError(fmt::format("cannot fetch {} of Debian {}: {}", what_, release_, why),
                     "make sure that apt-get reaches a mirror (ZEROTAX_DEBIAN_MIRROR names another mirror)");
}

DebianPackages::DebianPackages(std::string what, std::string release, fs::path cache, const std::string& architecture)
    : what_(std::move(what)),
      release_(std::move(release)),
      cache_(std::move(cache)),
      folder_("fetched", cache_.string()) {
  remove_dead_temporary_folders(cache_.string());
  print_text(stderr, "zerotax: fetching {} of Debian {}, once, into {}\n", what_, release_, cache_.string());
  for (const char* each : {"lists/partial", "cache/archives/partial", "packages", "files"}) {
    fs::create_directories(folder_.file(each));
  }
  const char* mirror = std::getenv("ZEROTAX_DEBIAN_MIRROR");
  const std::string list = folder_.file("sources.list");
  write_file(list, fmt::format("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {} {} main\n",
                               mirror != nullptr ? mirror : "http://deb.debian.org/debian", release_));
  options_ = {"-q", "-o", "Dir::Etc::sourcelist=" + list, "-o", "Dir::Etc::sourceparts=/dev/null", "-o",
              "Dir::State::Lists=" + folder_.file("lists"), "-o", "Dir::Cache=" + folder_.file("cache"), "-o",
              "Dir::State::status=/dev/null", "-o", "Acquire::Languages=none", "-o",
              "APT::Architecture=" + architecture, "-o", "APT::Architectures=" + architecture,
              // As root, apt-get would use a separate user, who may not write to this folder.
              "-o", fmt::format("APT::Sandbox::User={}", ::geteuid() == 0 ? "root" : "")};
  run("apt-get", {"update"});
}

std::optional<std::string> DebianPackages::version_of(const std::string& package) {
  // "madison" prints "libc6 | 2.41-12 | http://… trixie/main …". For an unknown package, "madison" succeeds and prints
  // nothing.
  const std::string line = run("apt-cache", {"madison", package});
  const auto bar = line.find('|');
  if (bar == std::string::npos) return std::nullopt;
  const auto begin = line.find_first_not_of(' ', bar + 1);
  return line.substr(begin, line.find(' ', begin) - begin);
}

std::vector<std::string> DebianPackages::needed_by(const std::string& package,
                                                   const std::vector<std::string>& prefixes) {
  std::istringstream lines(run("apt-cache", {"depends", package}));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("Depends: ");
    if (at == std::string::npos) continue;
    const std::string name = line.substr(line.find_first_not_of(' ', at + 9));
    const bool wanted = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](const std::string& prefix) { return name.starts_with(prefix); });
    if (wanted) found.push_back(name);
  }
  return found;
}

std::vector<std::string> DebianPackages::with_libraries(const std::string& package) {
  std::istringstream lines(
      run("apt-cache", {"depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks",
                        "--no-replaces", "--no-enhances", package}));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    // Lines of packages are not indented, and lines of their dependencies are. Packages of another architecture have a
    // suffix, as in "libc6:i386".
    const bool named = line == package || (line.starts_with("lib") && line.find(':') == std::string::npos);
    if (named && std::find(found.begin(), found.end(), line) == found.end()) found.push_back(line);
  }
  if (found.empty()) cannot_fetch("there is no such package");
  return found;
}

void DebianPackages::unpack(const std::string& package, const std::vector<std::string>& patterns) {
  const std::string packages = folder_.file("packages");
  run("sh", {"-c", R"(cd "$1" && shift && exec apt-get "$@")", "sh", packages}, {"download", package});
  std::vector<fs::path> archives;
  for (const fs::directory_entry& each : fs::directory_iterator(packages)) archives.push_back(each.path());
  for (const fs::path& file : archives) {
    // Unpacking no file is not an error, because some packages consist only of dependencies.
    const std::string script = R"(dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards "${@:3}" 2>/dev/null)";
    std::vector<std::string> words{"-c", script + "; exit ${PIPESTATUS[0]}", "bash", file.string(), files().string()};
    words.insert(words.end(), patterns.begin(), patterns.end());
    run_plain("bash", words);
    fs::remove(file);
  }
}

void DebianPackages::keep(const std::string& name) {
  std::error_code failure;
  fs::rename(files(), cache_ / name, failure);
  if (failure && !fs::exists(cache_ / name)) cannot_fetch(failure.message());
}

std::string DebianPackages::run(const std::string& program, std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), options_.begin(), options_.end());
  words.insert(words.end(), more.begin(), more.end());
  return run_plain(program, words);
}

std::string DebianPackages::run_plain(const std::string& program, const std::vector<std::string>& words) {
  const ChildResult done = run_helper({program, words, {{"LC_ALL", "C"}}, kFetchTimeout});
  if (done.code == kNoSuchProgram) cannot_fetch(fmt::format("{} is missing (package apt)", program));
  if (!succeeded(done)) {
    const std::string said = last_line(done.errors);
    cannot_fetch(said.empty() ? fmt::format("{} failed", program) : said);
  }
  return done.output;
}

}  // namespace zerotax
