#include "history/bisect.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "core/output_file.h"
#include "core/progress.h"
#include "history/job.h"

namespace zerotax::history {
namespace {

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// How many lines are whole.
std::size_t count_of_steps(const std::string& path) {
  const std::string text = text_in(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The steps of those lines; throws what a step reported as an error.
std::vector<BisectStep> steps_in(const std::string& path) {
  std::vector<BisectStep> steps;
  const std::string text = text_in(path);
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return steps;
  for (const std::string& line : lines_of(text.substr(0, end))) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) continue;
    if (json.contains("problem")) throw MachineError(json.at("problem"), json.at("remedy"));
    steps.push_back(step_from_json(json));
  }
  return steps;
}

/// The commits that lines of a bisection's log name: "# first bad commit: [0123…] subject".
std::vector<std::string> commits_in_log(const std::string& log, const std::string& mark) {
  std::vector<std::string> ids;
  for (const std::string& line : lines_of(log)) {
    if (!line.starts_with(mark)) continue;
    const std::size_t begin = mark.size();
    ids.push_back(line.substr(begin, line.find(']', begin) - begin));
  }
  return ids;
}

[[noreturn]] void refuse_ends(const Question& question, const Bisection& found) {
  const auto says = [](const Commit& commit, const Answer& answer) {
    return fmt::format("{}: {}", commit.name(), answer.value);
  };
  const std::string both =
      fmt::format("{}; {}", says(found.good, found.good_answer), says(found.bad, found.bad_answer));
  for (const auto& [option, commit, answer] :
       {std::tuple{"--good", &found.good, &found.good_answer}, {"--bad", &found.bad, &found.bad_answer}}) {
    if (answer->kind == Answer::Kind::kUnknown) {
      throw UsageError(fmt::format("{} {} cannot be measured: {}", option, commit->name(), answer->value),
                       "give one that builds and works");
    }
  }
  if (found.good_answer.kind == Answer::Kind::kBad) {
    throw UsageError(fmt::format("--good {} is not as expected ('{}'): {}", found.good.name(), text_of(question), both),
                     "give an older version, or another --expect");
  }
  throw UsageError(fmt::format("--bad {} is as expected ('{}'): {}", found.bad.name(), text_of(question), both),
                   "give a later version, or another --expect");
}

BisectJob job_of(const BisectSetup& setup) {
  BisectJob job;
  job.repository = setup.workspace.repository();
  job.cache = setup.builder.cache.folder();
  job.recipe = setup.builder.recipe;
  job.jobs = setup.builder.jobs;
  job.build_timeout_s = setup.builder.timeout_s;
  job.question = setup.question;
  job.owner = ::getpid();
  job.steps = setup.workspace.file("steps.jsonl");
  return job;
}

/// Runs git, and takes over what the steps say while it runs.
void run_git_bisect(const BisectSetup& setup, Bisection& found, Progress& progress) {
  const Git& git = setup.git;
  const std::string& repository = setup.workspace.repository();
  const BisectJob job = job_of(setup);
  const std::string file = setup.workspace.file("job.json");
  write_file(file, json_text(to_json(job)));
  git.must(repository, {"update-ref", "--no-deref", "HEAD", found.bad.id});
  std::vector<std::string> start{"bisect", "start", "--no-checkout"};
  if (setup.first_parent) start.emplace_back("--first-parent");
  start.insert(start.end(), {found.bad.id, found.good.id, "--"});
  git.must(repository, start);
  std::size_t seen = 0;
  // What a step that is killed leaves there is gone with the workspace.
  const std::string temporary = setup.workspace.file("temporary");
  std::filesystem::create_directory(temporary);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const GitAnswer ran = git.run(
      repository, {"bisect", "run", "/usr/bin/env", "TMPDIR=" + temporary, self, "bisect-step", "--job", file}, [&] {
        for (const std::size_t steps = count_of_steps(job.steps); seen < steps; ++seen) progress.advance(1);
        progress.show(fmt::format("between {} and {}", found.good.name(), found.bad.name()));
      });
  found.steps = steps_in(job.steps);
  const std::string log = text_in(repository + "/BISECT_LOG");
  const std::vector<std::string> first = commits_in_log(log, "# first bad commit: [");
  if (!first.empty()) {
    found.first_bad = setup.repository.commit(first.front(), "git bisect");
    return;
  }
  for (const std::string& id : commits_in_log(log, "# possible first bad commit: [")) {
    found.candidates.push_back(setup.repository.commit(id, "git bisect"));
  }
  if (found.candidates.empty()) {
    throw MachineError("git bisect ended without an answer: " + ran.complaint(),
                       "see whether `git fsck` finds the repository whole");
  }
}

}  // namespace

Bisection bisect(const BisectSetup& setup, const Commit& good, const Commit& bad) {
  Bisection found;
  found.good = good;
  found.bad = bad;
  if (good.id == bad.id || !setup.repository.is_ancestor(good, bad)) {
    throw UsageError(fmt::format("--good {} is not an ancestor of --bad {}", good.name(), bad.name()),
                     "give two versions of one line, the older one as --good");
  }
  found.between = setup.repository.commits_between(good, bad, setup.first_parent);
  const std::size_t expected = 2 + static_cast<std::size_t>(std::ceil(std::log2(found.between)));
  Progress progress("bisecting", expected, static_cast<double>(expected));
  const Versions versions(setup.builder, setup.workspace);
  try {
    const auto answer_of = [&](const Commit& commit) {
      Answer answer = ask(versions, commit, setup.question,
                          [&](const char* what) { progress.show(fmt::format("{} {}", what, commit.name())); });
      progress.advance(1);
      return answer;
    };
    found.good_answer = answer_of(good);
    found.bad_answer = answer_of(bad);
    if (found.good_answer.kind != Answer::Kind::kGood || found.bad_answer.kind != Answer::Kind::kBad) {
      refuse_ends(setup.question, found);
    }
    if (found.between == 1) {
      found.first_bad = bad;
    } else {
      run_git_bisect(setup, found, progress);
    }
  } catch (const Interrupted&) {
    found.complete = false;
  }
  for (BisectStep& step : found.steps) step.commit = setup.repository.commit(step.commit.id, "git bisect");
  return found;
}

}  // namespace zerotax::history
