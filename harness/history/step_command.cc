#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "cli/subcommand.h"
#include "core/interrupt.h"
#include "core/output_file.h"
#include "history/job.h"

namespace zerotax::history {
namespace {

/// git-bisect(1), "Bisect run".
constexpr int kStepSkips = 125;
constexpr int kStepEndsAll = 255;

void tell(const std::string& file, const Json& line) {
  std::ofstream(file, std::ios::app) << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

/// The process that waits for the answer may have been killed: nothing then is to stay behind it.
void end_with_owner(int owner) {
  if (::kill(owner, 0) != 0 && errno == ESRCH) ::raise(SIGTERM);
}

int answer_job(const BisectJob& job) {
  const Git git;
  Workspace workspace(git, job.repository);
  const Cache cache(job.cache);
  const Builder builder{cache, job.recipe, job.jobs, job.build_timeout_s, false};
  BisectStep step;
  step.commit.id = git.output_of(job.repository, {"rev-parse", "--verify", "BISECT_HEAD"});
  step.answer = ask(Versions(builder, workspace), step.commit, job.question,
                    [&](const char* /*what*/) { end_with_owner(job.owner); });
  tell(job.steps, to_json(step));
  switch (step.answer.kind) {
    case Answer::Kind::kGood:
      return 0;
    case Answer::Kind::kBad:
      return 1;
    case Answer::Kind::kUnknown:
      return kStepSkips;
  }
  return kStepEndsAll;
}

}  // namespace

int bisect_step(const std::string& job_file) {
  // Any other status would be taken for an answer.
  std::string steps;
  try {
    const BisectJob job = job_from_json(read_json_file(job_file));
    steps = job.steps;
    return answer_job(job);
  } catch (const Interrupted&) {
    return kStepEndsAll;
  } catch (const Error& problem) {
    if (!steps.empty()) tell(steps, {{"problem", problem.what()}, {"remedy", problem.remedy()}});
  } catch (const std::exception& problem) {
    if (!steps.empty()) tell(steps, {{"problem", problem.what()}, {"remedy", "try it again"}});
  }
  return kStepEndsAll;
}

namespace {

const Subcommand step_command("bisect-step", "", "", [](Arguments& arguments) -> std::function<ExitStatus()> {
  const auto job = std::make_shared<std::string>();
  arguments.option("--job", *job, "what zerotax bisect wants to know").required().path();
  return [job] { return static_cast<ExitStatus>(bisect_step(*job)); };
});

}  // namespace
}  // namespace zerotax::history
