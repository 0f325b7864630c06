#include "history/git.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "run/interrupt.h"
#include "run/metered_run.h"

namespace zerotax::history {
namespace {

/// env(1) could not find the program.
constexpr int kNotFound = 127;

}  // namespace

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

GitAnswer Git::run(const std::string& folder, const std::vector<std::string>& arguments,
                   const std::function<void()>& watch) const {
  MeteredCommand command;
  command.words = clean_words();
  command.program = command.words.front();
  // A user's hook or setting must not write to the repository, nor add to what is printed.
  command.words.insert(command.words.end(),
                       {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c",
                        "maintenance.auto=false", "-c", "log.showSignature=false", "-c", "advice.detachedHead=false",
                        "-c", "core.quotePath=false", "-c", "color.ui=false", "-C", folder});
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

void Git::must(const std::string& folder, const std::vector<std::string>& arguments) const {
  static_cast<void>(output_of(folder, arguments));
}

std::string Git::output_of(const std::string& folder, const std::vector<std::string>& arguments) const {
  GitAnswer answer = run(folder, arguments);
  if (answer.succeeded()) return answer.output;
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

}  // namespace zerotax::history
