#include "bisect/git.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "bisect/foreign_repository.h"
#include "files/output_file.h"
#include "run/interrupt.h"
#include "run/metered_run.h"

namespace zerotax::bisect {
namespace {

/// env(1) could not find the program.
constexpr int kNotFound = 127;

/// A line of objects/info/alternates. The path is in quotes, where any character is allowed (gitrepository-layout(5)).
std::string alternate_of(const std::string& path) {
  std::string line = "\"";
  for (const char each : path) {
    if (each == '"' || each == '\\') line += '\\';
    line += each == '\n' ? "\\n" : std::string(1, each);
  }
  return line + "\"\n";
}

/// The words of a git command line that precede the subcommand.
std::vector<std::string> git_words(const std::string& home, const std::string& repository) {
  std::vector<std::string> words{"/usr/bin/env"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (text.starts_with("GIT_")) words.insert(words.end(), {"-u", std::string(text.substr(0, text.find('=')))});
  }
  // Git before 2.32 reads settings in HOME, even if GIT_CONFIG_GLOBAL is set.
  for (const char* set :
       {"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
        "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL="}) {
    words.emplace_back(set);
  }
  words.insert(words.end(), {"HOME=" + home, "XDG_CONFIG_HOME=" + home, "git", "-C", home, "--git-dir=" + repository,
                             "--no-replace-objects", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
                             "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false", "-c",
                             "core.quotePath=false"});
  return words;
}

}  // namespace

Git::Git(const std::string& folder) : scratch_("git"), folder_(folder) {
  namespace fs = std::filesystem;
  const ForeignRepository theirs = read_repository(folder);
  partial_ = theirs.partial;
  const std::string own = repository();
  fs::create_directory(own);
  must({"init", "--quiet", "--bare", "--template=", theirs.sha256 ? "--object-format=sha256" : "--object-format=sha1"});
  // Git looks in these folders for objects that the private repository lacks (gitrepository-layout(5)).
  std::string alternates;
  for (const std::string& objects : theirs.objects) alternates += alternate_of(objects);
  fs::create_directories(own + "/objects/info");
  write_file(own + "/objects/info/alternates", alternates);
  for (const auto& [name, text] : theirs.files) {
    const std::string path = own + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    if (!(std::ofstream(path, std::ios::binary) << text).flush()) {
      throw MachineError(path + " cannot be written", "free some space, or point TMPDIR at another folder");
    }
  }
}

std::vector<std::string> clean_words() {
  std::vector<std::string> words{"/usr/bin/env"};
  // `git rev-parse --local-env-vars`, and what make tells the makes below it.
  for (const char* variable :
       {"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR", "GIT_NAMESPACE", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"}) {
    words.insert(words.end(), {"-u", variable});
  }
  words.insert(words.end(), {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"});
  return words;
}

std::string GitAnswer::complaint() const {
  const std::vector<std::string> said = lines_of(errors);
  for (const std::string& line : said) {
    for (const char* mark : {"fatal: ", "error: "}) {
      if (line.starts_with(mark)) return line.substr(std::string_view(mark).size());
    }
  }
  return said.empty() ? fmt::format("exit status {}", status) : said.back();
}

GitAnswer Git::run(const std::vector<std::string>& arguments, const std::function<void()>& watch) const {
  MeteredCommand command;
  command.words = git_words(scratch_.path(), repository());
  command.program = command.words.front();
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.output = scratch_.file("output");
  command.errors = scratch_.file("errors");
  command.timeout = std::chrono::hours(24 * 30);
  std::error_code ignored;
  std::filesystem::remove(command.errors, ignored);
  const MeteredRun run = run_metered(command, watch);
  if (run.end == MeteredRun::End::kStopped) throw Stop{};
  if (run.end != MeteredRun::End::kEnded) {
    throw MachineError("git could not be run: " + run.why_not_started, "see whether `git --version` runs");
  }
  GitAnswer answer{run.exited ? run.code : 128 + run.code, text_in(command.output), text_in(command.errors)};
  if (answer.status == kNotFound) throw MachineError("git is not installed", "apt-get install git");
  while (answer.output.ends_with('\n')) answer.output.pop_back();
  return answer;
}

void Git::must(const std::vector<std::string>& arguments) const { static_cast<void>(output_of(arguments)); }

std::string Git::output_of(const std::vector<std::string>& arguments) const {
  GitAnswer answer = run(arguments);
  if (answer.succeeded()) return answer.output;
  if (partial_) {
    throw UsageError(
        fmt::format("--repo '{}' is a partial clone, and an object is missing: {}", folder_, answer.complaint()),
        "give a whole clone: git clone without --filter");
  }
  throw MachineError(fmt::format("git {} failed: {}", arguments.front(), answer.complaint()),
                     "see whether the repository is whole, with `git fsck`");
}

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text, char between) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line, between);) lines.push_back(line);
  return lines;
}

}  // namespace zerotax::bisect
