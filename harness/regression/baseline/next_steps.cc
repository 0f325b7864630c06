#include "baseline/next_steps.h"

#include <algorithm>

#include "base/names.h"
#include "base/shell.h"
#include "base/units.h"
#include "judge/projects.h"
#include "run/allocators.h"
#include "run/program_launch.h"

namespace zerotax::baseline {
namespace {

/// Returns the command that bisects the commits since the one that stored the baseline. `more` are words of the
/// measured subject.
std::string bisect_command(const std::string& baseline_path, const std::vector<std::string>& before,
                           const std::vector<std::string>& after) {
  std::string text = "zerotax bisect --repo . --build make ";
  if (!before.empty()) text += shell_text(before) + " ";
  text += "--good $(git log -1 --format=%h -- " + shell_word(baseline_path) + ") --bad HEAD";
  return after.empty() ? text : text + " " + shell_text(after);
}

/// Returns the options that measure one changed point in each version, which is faster than a whole baseline.
std::vector<std::string> size_words(const Review& review) {
  const auto changed = std::find_if(review.changes.begin(), review.changes.end(),
                                    [](const BaselineChange& change) { return change.point.has_value(); });
  if (changed == review.changes.end()) return {};
  return {"--size", size_word(changed->point->size_bytes), "--no-thresholds"};
}

std::vector<Answer::Step> steps_of(Verdict verdict, const std::string& accept, const Answer::Step& find) {
  if (verdict == Verdict::kSame) return {};
  if (verdict == Verdict::kBetter) return {{accept, "keep the improvement as the new baseline:"}};
  std::vector<Answer::Step> steps{{accept, "if the change is intended, store it as the new baseline:"}};
  if (!find.command.empty()) steps.push_back(find);
  return steps;
}

constexpr const char* kFindCommit = "if not, find the commit since the baseline (adapt --build):";

}  // namespace

std::vector<Answer::Step> next_steps(const AllocatorCheck& check) {
  const Allocator& allocator = check.allocator;
  const std::vector<std::string> sizes = size_words(check.review);
  Answer::Step find;
  if (allocator.preload && !is_builtin(allocator.name)) {
    const std::vector<std::string> library{"--library", file_name(*allocator.preload)};
    find = {bisect_command(check.baseline_path, library, sizes), kFindCommit};
  } else if (const Project* project = project_of(allocator.name); project != nullptr && project->debian) {
    std::vector<std::string> words{"zerotax", "history", "--debian", allocator.name};
    words.insert(words.end(), sizes.begin(), sizes.end());
    find = {shell_text(words), "if not, find the Debian release that changed it:"};
  }
  return steps_of(check.verdict, check.accept, find);
}

std::vector<Answer::Step> next_steps(const ProgramCheck& check) {
  const std::vector<std::string>& command = check.subject.command;
  Answer::Step find;
  const bool can_bisect = std::any_of(check.changes.begin(), check.changes.end(),
                                      [](const ProgramChange& change) { return !is_of_resident(change.metric); });
  // A recording is replayed under an allocator, whose library bisect would need. bisect does not divide resident
  // memory.
  if (can_bisect && !command.empty() && !is_recording(command.front())) {
    std::vector<std::string> words{"--"};
    words.insert(words.end(), command.begin(), command.end());
    find = {bisect_command(check.baseline.path, {}, words), kFindCommit};
  }
  return steps_of(check.verdict, check.accept, find);
}

}  // namespace zerotax::baseline
