#include "base/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/lines.h"
#include "base/names.h"
#include "base/shell.h"
#include "base/units.h"
#include "profile/table.h"
#include "profile/unseen.h"

namespace zerotax::profile {
namespace {

constexpr double kShown = 0.01;          ///< Smallest share of all samples for which a row is shown.
constexpr double kWorthRecording = 0.1;  ///< Smallest share that zeroing, page faults and mapping calls take together
                                         ///< for which the answer suggests zerotax record.
constexpr std::size_t kMostCategories = 3;
constexpr std::size_t kMostRows = 10;
constexpr std::size_t kLongestSubject = 46;
constexpr std::size_t kLongestFunction = 40;
constexpr std::size_t kLongestFile = 18;
constexpr std::size_t kMostCallers = 2;
constexpr std::size_t kLongestCaller = 30;
constexpr std::uint64_t kFewSamples = 100;

std::string subject_of(const Profile& profile) {
  if (profile.kind == ProfiledKind::kProcess && profile.process) {
    return fmt::format("{} (PID {})", profile.process->name.value_or("a process"), profile.process->pid);
  }
  if (profile.command.empty()) return "the program";
  std::string words = file_name(profile.command.front());
  for (std::size_t i = 1; i < profile.command.size(); ++i) words += " " + profile.command[i];
  return words.size() <= kLongestSubject ? words
                                         : first_characters(file_name(profile.command.front()), kLongestSubject);
}

double share_of(const Profile& profile, std::uint64_t samples) {
  return static_cast<double>(samples) / static_cast<double>(std::max<std::uint64_t>(profile.samples, 1));
}

/// Lists the categories, such as "61.0 % page faults, 20.1 % program".
std::string categories_text(const Profile& profile) {
  std::vector<std::string> parts;
  for (const Category& category : profile.categories) {
    const std::uint64_t samples = category.samples.value_or(0);
    if (parts.size() == kMostCategories || share_of(profile, samples) < kShown) continue;
    parts.push_back(share_text(category.samples, profile.samples) + " " + category.category);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns a row per function. A row counts the samples in the function itself.
Table functions(const Profile& profile) {
  Table table({{"function", Unit::kText, 30},
               {"file", Unit::kText, 10},
               {"samples", Unit::kCount, 8},
               {"share", Unit::kPercent, 7}});
  std::size_t others = 0;
  std::uint64_t rest = 0;
  for (const Function& function : profile.top_of_stack) {
    if (table.rows() < kMostRows && share_of(profile, function.samples) >= kShown) {
      table.add({first_characters(function.function, kLongestFunction), first_characters(function.module, kLongestFile),
                 function.samples, share_of(profile, function.samples)});
    } else {
      ++others;
      rest += function.samples;
    }
  }
  if (others != 0) table.add({format_counted(others, "other function"), "", rest, share_of(profile, rest)});
  return table;
}

/// Returns the chain of calls outside the kernel, outermost first, down to the last call that has at least half of all
/// samples.
std::vector<const Call*> hottest_calls(const std::vector<Call>& tree, std::uint64_t samples) {
  std::vector<const Call*> calls;
  for (const std::vector<Call>* level = &tree; !level->empty();) {
    const Call& first = level->front();  // the call with the most samples
    if (2 * first.samples < samples || first.module == "kernel") break;
    calls.push_back(&first);
    level = &first.children;
  }
  return calls;
}

/// Formats the innermost call and its callers: "fill (program), called by work and main".
std::string calls_text(const std::vector<const Call*>& calls) {
  std::string text = first_characters(calls.back()->function, kLongestFunction);
  if (!calls.back()->module.empty()) text += fmt::format(" ({})", first_characters(calls.back()->module, kLongestFile));
  std::vector<std::string> callers;
  for (std::size_t i = calls.size() - 1; i-- > 0 && callers.size() < kMostCallers;) {
    callers.push_back(first_characters(calls[i]->function, kLongestCaller));
  }
  return callers.empty() ? text : fmt::format("{}, called by {}", text, fmt::join(callers, ", "));
}

std::string where(const Profile& profile) {
  const auto in_tree = [](const std::vector<Call>& tree, std::uint64_t samples, const char* of) {
    const std::vector<const Call*> calls = hottest_calls(tree, samples);
    if (calls.size() < 2) return std::string();  // the outermost call is the program itself
    return fmt::format("{} of the {} are in {}.", share_text(calls.back()->samples, samples), of, calls_text(calls));
  };
  std::string text = in_tree(profile.tree, profile.samples, "samples");
  const PageFaults& faults = profile.page_faults;
  if (!faults.samples) return text;
  const std::string taken = in_tree(faults.tree, *faults.samples, "page faults in user mode");
  return text.empty() || taken.empty() ? text + taken : text + " " + taken;
}

/// Returns the share of the time that zerotax record can explain.
double zeroing_share(const Profile& profile) {
  constexpr std::array kCategories{"zeroing", "page faults", "mapping calls"};
  std::uint64_t samples = 0;
  for (const Category& category : profile.categories) {
    const bool is_one = std::find(kCategories.begin(), kCategories.end(), category.category) != kCategories.end();
    if (is_one) samples += category.samples.value_or(0);
  }
  return share_of(profile, samples);
}

std::vector<Answer::Step> steps(const Profile& profile) {
  if (is_mostly_unseen(profile)) {
    const Measured<std::string>& remedy = profile.unseen->remedy;
    return remedy && !is_denied(profile) ? std::vector<Answer::Step>{{"", *remedy + "."}} : std::vector<Answer::Step>{};
  }
  if (profile.kind == ProfiledKind::kCase) return {};
  const std::string words = shell_text(profile.command);  // `profile.command` includes --pid and the PID
  const std::string target = profile.kind == ProfiledKind::kProcess ? words : "-- " + words;
  if (profile.samples == 0) return {{"zerotax profile --wall " + target, "sample threads that wait, too:"}};
  if (zeroing_share(profile) < kWorthRecording) return {};
  return {{"zerotax record " + target, "find the calls that cause page faults and zeroing:"}};
}

std::string legend(const Profile& profile) {
  if (profile.samples == 0 || is_mostly_unseen(profile)) return "";
  return fmt::format("{} at {} per second of {}. Each counts for the innermost function only.",
                     format_counted(profile.samples, "sample"), profile.method.hz,
                     profile.method.looks ? "each thread's time" : "CPU time");
}

}  // namespace

std::string headline(const Profile& profile) {
  const std::string subject = subject_of(profile);
  const std::string cpu = format_ns(1e9 * (profile.user_s + profile.system_s));
  if (is_denied(profile)) return fmt::format("{} used {} of CPU time, of which nothing was sampled.", subject, cpu);
  if (is_mostly_unseen(profile)) {
    return fmt::format("{} used {} of CPU time, of which less than half was sampled: too little to name functions.",
                       subject, cpu);
  }
  if (profile.samples == 0) return fmt::format("{} used too little CPU time for a sample.", subject);
  if (profile.method.looks) {
    return fmt::format("In {}, the threads of {} spent their time on: {}.", format_ns(1e9 * profile.wall_s), subject,
                       categories_text(profile));
  }
  return fmt::format("{} used {}{} of CPU time: {}.", subject, is_account_short(profile) ? "at least " : "", cpu,
                     categories_text(profile));
}

Answer profile_answer(const Profile& profile) {
  Answer answer{.headline = headline(profile), .steps = steps(profile), .warnings = warnings(profile)};
  if (profile.samples != 0 && !is_mostly_unseen(profile)) {
    if (profile.samples < kFewSamples) {
      answer.warnings.push_back(fmt::format("Shares of {} are rough: give a higher --hz, or profile more work.",
                                            format_counted(profile.samples, "sample")));
    }
    answer.table = functions(profile);
    answer.where = where(profile);
  }
  answer.legend = legend(profile);
  answer.more = is_mostly_unseen(profile) ? "The time by activity, as far as it is known"
                                          : "All categories and functions, and the call tree";
  return answer;
}

}  // namespace zerotax::profile
