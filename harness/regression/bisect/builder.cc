#include "bisect/builder.h"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/lines.h"
#include "base/printable.h"
#include "bisect/document.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/input_file.h"
#include "run/interrupt.h"
#include "run/metered_run.h"
#include "run/progress.h"
#include "run/wait_lock.h"

namespace zerotax::bisect {
namespace {

namespace fs = std::filesystem;

namespace fs = std::filesystem;

/// Folder where Debian links the names of compilers to ccache.
constexpr const char* kCcacheLinks = "/usr/lib/ccache";

/// Returns whether a path is within a folder after links are followed.
bool is_within(const fs::path& path, const std::string& folder) {
  std::error_code failure;
  const fs::path root = fs::canonical(folder, failure);
  const fs::path real = fs::canonical(path, failure);
  return !failure && std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

enum class Wanted { kFiles, kAll };

/// Returns the files (or all entries) within a folder that match a pattern, sorted by name. Links in a commit, or made
/// by a build, may lead out of the folder. A file behind such a link is skipped, but a link itself may be kept.
std::vector<std::string> matches_of(const std::string& pattern, const std::string& within, Wanted wanted) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      const fs::path path = found.gl_pathv[i];
      std::error_code failure;
      const bool fits = wanted == Wanted::kAll ? is_within(path.parent_path(), within)
                                               : is_within(path, within) && fs::is_regular_file(path, failure);
      if (fits) paths.push_back(path.string());
    }
  }
  ::globfree(&found);
  return paths;
}

/// Returns the most informative lines of a log, joined into one: the first errors, or else the last lines. Skips
/// commands that the shell echoed.
std::string last_words_of(const std::string& log) {
  constexpr std::size_t kLines = 3;
  constexpr std::size_t kLongest = 160;
  std::ifstream stream(log);
  std::vector<std::string> errors;
  std::vector<std::string> last;
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with("+ ")) continue;
    const bool tells = line.find("error") != std::string::npos || line.find("Error") != std::string::npos ||
                       line.find("undefined reference") != std::string::npos;
    if (tells && errors.size() < kLines) errors.push_back(line);
    last.push_back(line);
    if (last.size() > kLines) last.erase(last.begin());
  }
  // The first errors are more useful than make's own messages at the end of the log.
  std::string text;
  for (const std::string& line : errors.empty() ? last : errors) {
    text += (text.empty() ? "" : " | ") + first_characters(printable(line), kLongest);
  }
  return text.empty() ? "the build printed nothing" : text;
}

std::string script_of(const Recipe& recipe, const RecipePlaces& places) {
  // The log contains each command before its output.
  std::string script = "exec 2>&1\nset -ex\n";
  for (const std::string& command : recipe.commands) script += command_at(command, places) + "\n";
  return script;
}

MeteredCommand build_command(const Builder& builder, const Workspace& workspace, const std::string& log) {
  MeteredCommand command;
  command.words = clean_words();
  command.program = command.words.front();
  command.words.push_back("TMPDIR=" + workspace.temporary());
  if (::access((std::string(kCcacheLinks) + "/cc").c_str(), X_OK) == 0) {
    const char* path = std::getenv("PATH");
    command.words.push_back(fmt::format("PATH={}:{}", kCcacheLinks, path == nullptr ? "/usr/bin:/bin" : path));
    // ccache compares paths relative to the folder of this run, because the folder's own path is unique to the run.
    command.words.push_back("CCACHE_BASEDIR=" + fs::path(workspace.source()).parent_path().string());
    command.words.emplace_back("CCACHE_NOHASHDIR=1");
  }
  const RecipePlaces places{workspace.source(), workspace.build(), builder.jobs};
  command.words.insert(command.words.end(), {"/bin/sh", "-c", script_of(builder.recipe, places)});
  command.folder = workspace.source();
  command.output = log;
  command.errors = log;
  command.timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(builder.timeout_s));
  return command;
}

/// Copies a file in one step, because another task of a fleet may already use the same version.
void copy_whole(const std::string& from, const std::string& to) {
  const std::string part = fmt::format("{}.{}", to, ::getpid());
  fs::copy_file(from, part, fs::copy_options::overwrite_existing);
  fs::rename(part, to);
}

/// Copies the library and the files that it loads to the cache, because the workspace is temporary.
void keep_library(const Builder& builder, const Workspace& workspace, const std::string& folder, Build& build) {
  const RecipePlaces places{workspace.source(), workspace.build(), builder.jobs};
  const std::string root = fs::path(workspace.source()).parent_path().string();
  for (const std::string& pattern : builder.recipe.libraries) {
    const std::vector<std::string> found = matches_of(path_at(pattern, places), root, Wanted::kFiles);
    if (found.empty()) continue;
    build.library = folder + "/" + fs::path(found.front()).filename().string();
    copy_whole(found.front(), build.library);
    break;
  }
  if (build.library.empty()) {
    build.state = Build::State::kNoLibrary;
    build.reason = fmt::format("the build succeeded, but there is no {} in the version's folders",
                               builder.recipe.libraries.front());
    return;
  }
  for (const std::string& pattern : builder.recipe.beside) {
    for (const std::string& path : matches_of(path_at(pattern, places), root, Wanted::kFiles)) {
      const std::string copy = folder + "/" + fs::path(path).filename().string();
      if (copy != build.library) copy_whole(path, copy);
    }
  }
}

/// Returns the folder in the cache with the files that a program's command needs.
std::string kept_folder(const std::string& folder) { return folder + "/kept"; }

/// Copies files with their permissions. A link stays a link.
void copy_all(const std::string& from, const std::string& to) {
  fs::create_directories(fs::path(to).parent_path());
  fs::copy(from, to,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing | fs::copy_options::copy_symlinks);
}

/// Copies the files that a program's command needs to the cache, at their places below {source} or {build}.
void keep_files(const Builder& builder, const Workspace& workspace, const std::string& folder, Build& build) {
  const RecipePlaces places{workspace.source(), workspace.build(), builder.jobs};
  const std::string root = fs::path(workspace.source()).parent_path().string();
  fs::create_directories(kept_folder(folder));
  for (const std::string& pattern : builder.recipe.keep) {
    const std::vector<std::string> found = matches_of(path_at(pattern, places), root, Wanted::kAll);
    if (found.empty()) {
      build.state = Build::State::kNoProgram;
      build.reason = fmt::format("the build succeeded, but there is no {} in the version's folders", pattern);
      return;
    }
    for (const std::string& path : found) {
      copy_all(path, kept_folder(folder) + "/" + fs::path(path).lexically_relative(root).string());
    }
  }
}

void make_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw MachineError(fmt::format("{} cannot be written: {}", folder, failure.message()),
                       "free some space, or set XDG_CACHE_HOME to another folder");
  }
}

}  // namespace

Cache::Cache() : folder_(cache_folder("history")) {}

std::string Cache::build_folder(const Commit& commit, const Recipe& recipe) const {
  return fmt::format("{}/{}-{}", folder_, commit.id.substr(0, 16), digits_of(commit.id + key_of(recipe)));
}

std::optional<Json> Cache::read(const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  if (!is_there(path)) return std::nullopt;
  try {
    return read_json_file(path);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

void Cache::write(const std::string& name, const Json& document) const {
  const fs::path path = folder_ + "/" + name;
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  try {
    write_file(path, json_text(document));
  } catch (const UsageError&) {
    return;  // if the document was not stored, the next run measures the version again
  }
}

std::string digits_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

void Builder::put_in_place(Workspace& workspace, const Commit& commit) const {
  const std::string kept = kept_folder(cache.build_folder(commit, recipe));
  const std::string root = fs::path(workspace.source()).parent_path().string();
  workspace.take(commit);
  try {
    for (const auto& entry : fs::directory_iterator(kept)) {
      copy_all(entry.path().string(), root + "/" + entry.path().filename().string());
    }
  } catch (const fs::filesystem_error& failure) {
    throw MachineError(fmt::format("{} cannot be used: {}", kept, failure.code().message()),
                       "free some space, or add --again");
  }
}

std::optional<Build> Builder::earlier(const Commit& commit) const {
  // A package in the cache is complete.
  if (recipe.is_of_debian()) {
    Build build;
    build.state = Build::State::kBuilt;
    build.library = commit.package;
    build.cached = true;
    return build;
  }
  if (again) return std::nullopt;
  const std::string folder = cache.build_folder(commit, recipe);
  const auto json = cache.read(fs::path(folder).filename().string() + "/build.json");
  try {
    if (!json) return std::nullopt;
    auto build = json->get<Build>();
    build.cached = true;
    build.log = folder + "/build.log";
    std::error_code failure;
    if (build.state != Build::State::kBuilt) return build;
    if (recipe.is_of_program())
      return fs::is_directory(kept_folder(folder), failure) ? std::optional(build) : std::nullopt;
    // Corrects the path, because the cache may have been moved.
    build.library = folder + "/" + fs::path(build.library).filename().string();
    return fs::is_regular_file(build.library, failure) ? std::optional(build) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Build Builder::build(Workspace& workspace, const Commit& commit, const std::function<void()>& watch) const {
  if (const auto found = earlier(commit)) return *found;
  const std::string folder = cache.build_folder(commit, recipe);
  // The first task of a fleet makes the cache, which is a folder in --out.
  make_folder(cache.folder());
  // If another command or fleet task is building the same version, waits for that build and uses it.
  const UniqueFd lock = wait_for_lock(folder + ".lock");
  if (const auto found = earlier(commit)) return *found;
  std::error_code failure;
  fs::remove_all(folder, failure);
  make_folder(folder);
  workspace.take(commit);
  Build build;
  build.log = folder + "/build.log";
  const auto begin = std::chrono::steady_clock::now();
  const MeteredRun run = run_metered(build_command(*this, workspace, build.log), watch);
  build.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  switch (run.end) {
    case MeteredRun::End::kStopped:
      throw Stop{};
    case MeteredRun::End::kTimeout:
      // A timeout is not kept for the next run, which may have more time.
      build.state = Build::State::kTimeout;
      build.reason = fmt::format("the build took longer than {}; its last output: {}", format_duration(timeout_s),
                                 last_line_of_file(build.log));
      return build;
    case MeteredRun::End::kMemory:
    case MeteredRun::End::kNotStarted:
      throw MachineError("a build could not be started: " + run.why_not_started, "check whether /bin/sh runs");
    case MeteredRun::End::kEnded:
      break;
  }
  if (run.exited && run.code == 0) {
    build.state = Build::State::kBuilt;
    const auto keep = recipe.is_of_program() ? keep_files : keep_library;
    keep(*this, workspace, folder, build);
  } else {
    build.reason = fmt::format("{}: {}", end_text(run.exited, run.code), last_words_of(build.log));
  }
  cache.write(fs::path(folder).filename().string() + "/build.json", build);
  return build;
}

}  // namespace zerotax::bisect
