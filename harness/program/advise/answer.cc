#include "base/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "advise/loads.h"
#include "advise/result.h"
#include "base/lines.h"
#include "base/names.h"
#include "base/shell.h"
#include "base/statistics.h"
#include "base/units.h"
#include "record/tax.h"

namespace zerotax::advise {
namespace {

constexpr double kShown = 0.99;  ///< Largest ratio that the table shows as a gain: a gain of 1 %.
constexpr std::size_t kLongestName = 46;
constexpr std::size_t kLongestRemedy = 42;

std::string subject_of(const AdviceResult& advice) {
  const std::vector<std::string>& words = advice.program.words;
  return words.empty() ? "the program" : first_characters(file_name(words.front()), kLongestName);
}

/// Returns the pairs of runs that confirm a remedy, or nullptr if there are none.
const ConfirmedRemedy* pairs_for(const AdviceResult& advice, const std::string& name) {
  const auto found =
      std::find_if(advice.confirmations.begin(), advice.confirmations.end(),
                   [&](const ConfirmedRemedy& each) { return each.remedy == name && !each.pairs.empty(); });
  return found != advice.confirmations.end() ? &*found : nullptr;
}

/// Formats a ratio, such as "0.388 times the CPU time".
std::string times_text(const TriedRemedy& remedy, Goal goal) {
  return fmt::format("{} times the {}", ratio_text(ratio_for(remedy.ratios, goal)), goal_words(goal));
}

/// Formats a metric, such as "217 ms of CPU time" or "5,933 page faults".
std::string amount_text(Goal goal, double value, const Figures& figures = {}) {
  return value_text(goal, value) + (goal == Goal::kFaults ? " " : " of ") + goal_words(goal, figures);
}

/// The medians of a metric in the pairs of runs, without and with the remedy.
struct Change {
  double before;
  double after;
};

Change change_of(const ConfirmedRemedy& confirmed, Goal goal) {
  std::vector<double> before;
  std::vector<double> after;
  for (const Pair& pair : confirmed.pairs) {
    // A pair without the metric in both runs does not count.
    if (!log_ratio_of(pair.remedy, pair.present, goal)) continue;
    before.push_back(*figure_of(pair.present, goal));
    after.push_back(*figure_of(pair.remedy, goal));
  }
  if (before.empty()) return {0, 0};
  return {median(before), median(after)};
}

std::string headline_of_remedy(const AdviceResult& advice, const TriedRemedy& remedy,
                               const ConfirmedRemedy& confirmed) {
  const Goal goal = advice.method.goal;
  const Goal other = goal == Goal::kShared ? Goal::kCpu : price_of(goal);
  const Measured<Ratio>& ratio = ratio_for(remedy.ratios, goal);
  std::string times = ratio_text(ratio) + " times";
  if (ratio && ratio->low && ratio->high) {
    times += fmt::format(", 95 % interval {} to {}", format_number(*ratio->low), format_number(*ratio->high));
  }
  std::string idle;
  const bool names_idle = goal != Goal::kIdle && goal != Goal::kShared;
  if (names_idle && remedy.ratios.idle && std::abs(std::log(remedy.ratios.idle->median)) > std::log(1.1)) {
    const Change at_idle = change_of(confirmed, Goal::kIdle);
    if (at_idle.before != 0) {
      idle = fmt::format(" The {} is {} instead of {}.", goal_words(Goal::kIdle, confirmed.pairs.front().present),
                         value_text(Goal::kIdle, at_idle.after), value_text(Goal::kIdle, at_idle.before));
    }
  }
  const Change change = change_of(confirmed, goal);
  const Change price = change_of(confirmed, other);
  const std::size_t pairs = confirmed.pairs.size();
  const std::string amount = goal == Goal::kShared
                                 ? fmt::format("copies {}", value_text(goal, change.after))
                                 : "takes " + amount_text(goal, change.after, confirmed.pairs.front().present);
  return fmt::format("{} {} instead of {} with {} ({}). The {} is {} instead of {}.{} {} {} the gain.",
                     subject_of(advice), amount, value_text(goal, change.before), remedy.name, times, goal_words(other),
                     value_text(other, price.after), value_text(other, price.before), idle,
                     format_counted(pairs, "pair of runs", "pairs of runs"), pairs == 1 ? "confirms" : "confirm");
}

/// Returns a sentence about the cost of the unchanged program, after a blank; empty if the cost is unknown.
std::string unchanged_text(const AdviceResult& advice) {
  const Measured<Figures>& figures = advice.present.figures;
  if (!figures) return "";
  return fmt::format(" The unchanged program takes {} and {}.", amount_text(Goal::kCpu, figures->cpu_s),
                     amount_text(Goal::kMemory, figures->peak_bytes));
}

bool helps(const AdviceResult& advice, const TriedRemedy& remedy) {
  const Measured<Ratio>& ratio = ratio_for(remedy.ratios, advice.method.goal);
  return ended_well(remedy) && ratio && ratio->median < kShown;
}

/// Returns the remedies that gained 1 %; the recommended remedy comes first. If no remedy is recommended, returns all
/// remedies whose runs succeeded.
Table remedies(const AdviceResult& advice) {
  const bool recommends = advice.recommendation.kind == AdviceKind::kRemedy;
  const bool shared = is_about_sharing(advice);
  std::vector<Goal> goals{Goal::kCpu, Goal::kFaults, Goal::kMemory};
  if (shared) {
    goals = {Goal::kShared, Goal::kCpu, Goal::kWall};
  } else if (has_idle(advice)) {
    goals.push_back(Goal::kIdle);
  }
  if (advice.method.goal == Goal::kWall) goals[1] = Goal::kWall;
  constexpr const char* kNames[] = {"CPU", "wall", "faults", "peak", "idle", "copied"};  // in the order of kGoals
  std::vector<Column> columns{{"remedy", Unit::kText, 30}};
  if (shared) columns.push_back(right_text("saved", 8));
  for (const Goal goal : goals) {
    columns.push_back(right_text(kNames[static_cast<std::size_t>(goal)], 6));
  }
  columns.push_back({"runs", Unit::kCount, 4});
  Table table(std::move(columns));
  std::vector<TriedRemedy> rows = sorted_remedies(advice);
  std::stable_partition(rows.begin(), rows.end(), [&](const TriedRemedy& each) {
    return recommends && each.name == advice.recommendation.remedy.value_or("");
  });
  for (const TriedRemedy& remedy : rows) {
    if (!ended_well(remedy) || (recommends && !helps(advice, remedy))) continue;
    const bool narrow = shared || has_idle(advice);
    std::vector<Cell> cells{first_characters(remedy.name, narrow ? kLongestRemedy - (shared ? 6 : 0) : kLongestName)};
    if (shared) cells.emplace_back(saved_text(advice, remedy));
    for (const Goal goal : goals) {
      cells.emplace_back(ratio_text(ratio_for(remedy.ratios, goal)));
    }
    cells.emplace_back(remedy.runs);
    table.add(std::move(cells));
  }
  return table;
}

/// Returns sentences about the call site of the most expensive cause, the cause's share, and the kernel-zeroed bytes
/// before and after.
std::string where(const AdviceResult& advice) {
  if (is_about_sharing(advice)) return sharing_where(advice);
  if (!advice.recording || advice.frontier) return "";  // the table needs the lines
  const RecordedZeroing& recording = *advice.recording;
  const auto worst = std::max_element(recording.causes.begin(), recording.causes.end(),
                                      [](const RecordedCause& a, const RecordedCause& b) {
                                        return a.share_of_cpu.value_or(0) < b.share_of_cpu.value_or(0);
                                      });
  if (worst == recording.causes.end() || worst->share_of_cpu.value_or(0) < 1 - kShown) return "";
  std::string text = recording.site.empty() ? "" : recording.site + " ";
  text += fmt::format("The main cause is \"{}\", {} of the CPU time", record::cause_text(worst->cause),
                      format_percent(*worst->share_of_cpu));
  if (recording.site.empty() && worst->cause == record::Cause::kByHand && !recording.by_hand_at.empty()) {
    text += ", most at " + recording.by_hand_at;
  }
  text += ".";
  if (!recording.kernel_zeroed_bytes || !advice.recording_after || !*advice.recording_after) return text;
  const record::Count& after = (*advice.recording_after)->kernel_zeroed_bytes;
  if (!after) return text;
  return text + fmt::format(" The kernel zeroed {}, and {} with the remedy.",
                            format_size(*recording.kernel_zeroed_bytes), format_size(*after));
}

Answer::Step other_step(const AdviceResult& advice, const Alternative& other, const std::string& reason) {
  const TriedRemedy* remedy = find_remedy(advice.remedies, other.remedy);
  std::string words;
  if (remedy != nullptr) {
    words = fmt::format(" ({}, {} times the peak memory, {})", times_text(*remedy, advice.method.goal),
                        ratio_text(remedy->ratios.memory), format_counted(remedy->runs, "run"));
  }
  if (!other.source.empty()) return {other.source, reason + words + ", write before the forks:"};
  return {other.line + " " + command_text(advice.program), reason + words + ":"};
}

/// Returns the command that asks for advice on the same program with other options.
std::string again(const AdviceResult& advice, const std::string& options) {
  const Program& program = advice.program;
  std::string command = "zerotax advise " + options;
  if (program.input != "/dev/null") command += " --input " + shell_word(program.input);
  if (!program.ready.empty())
    command += " --ready " + shell_word(program.ready) + " --load " + shell_word(program.load);
  return command + " -- " + shell_text(program.words);
}

/// Whether the remedies that help, and the unchanged program, differ by more than a tenth in memory. If so, the values
/// between them are worth a search.
bool differ_in_memory(const AdviceResult& advice) {
  const Measured<Figures>& figures = advice.present.figures;
  if (advice.frontier || !figures || !has_idle(advice)) return false;
  constexpr double kNoticeable = 1 << 20;
  for (const Goal goal : {Goal::kMemory, Goal::kIdle}) {
    double least = 1;
    double most = 1;
    for (const TriedRemedy& remedy : advice.remedies) {
      const Measured<Ratio>& ratio = ratio_for(remedy.ratios, goal);
      if (!ratio || !helps(advice, remedy)) continue;
      least = std::min(least, ratio->median);
      most = std::max(most, ratio->median);
    }
    const double bytes = (most - least) * figure_of(*figures, goal).value_or(0);
    if (most > 1.1 * least && bytes > kNoticeable) return true;
  }
  return false;
}

Answer::Step member_step(const AdviceResult& advice, const FrontierMember& member, Goal goal) {
  const auto times = [&](Goal of) { return ratio_text(ratio_for(*member.ratios, of)); };
  return {member.line + " " + command_text(advice.program),
          fmt::format("for less {} ({} times, and {} times the {}):", goal_words(goal), times(goal),
                      times(price_of(goal)), goal_words(price_of(goal)))};
}

std::vector<Answer::Step> steps(const AdviceResult& advice) {
  const Recommendation& recommended = advice.recommendation;
  std::vector<Answer::Step> all;
  if (!recommended.source.empty()) all.push_back({recommended.source, "write before the forks:"});
  if (recommended.line) all.push_back({*recommended.line});
  if (recommended.without_preload) {
    add_alternative(all, other_step(advice, *recommended.without_preload, "without another allocator"));
  }
  if (recommended.faster_still) {
    add_alternative(all,
                    other_step(advice, *recommended.faster_still, "if the extra memory or CPU time is acceptable"));
  }
  if (advice.frontier) {
    for (const FrontierMember& member : advice.frontier->members) {
      for (const Goal best_for : member.best_for) add_alternative(all, member_step(advice, member, best_for));
    }
  }
  if (recommended.less_at_idle) {
    all.push_back({again(advice, "--goal idle"), recommended.less_at_idle->sentence});
  }
  if (!is_about_sharing(advice) && differ_in_memory(advice)) {
    all.push_back({"", "--frontier finds the smallest sufficient setting, and its memory."});
  }
  if (!recommended.for_program.empty()) all.push_back({"", recommended.for_program});
  for (const std::string& change : advice.untried_changes) all.push_back({"", change});
  if (is_about_sharing(advice)) {
    if (recommended.kind == AdviceKind::kNothingHelps) {
      all.push_back({"zerotax cow --full -- " + shell_text(advice.program.words), "see which functions copy:"});
    }
  } else if (recommended.kind == AdviceKind::kNothingHelps && advice.recording) {
    all.push_back({"zerotax record -- " + shell_text(advice.program.words),
                   all.empty() ? "see which calls cause the zeroing:" : "and see which calls cause the zeroing:"});
  } else if (recommended.kind == AdviceKind::kNothingToGain) {
    all.push_back({"zerotax profile -- " + shell_text(advice.program.words), "see which functions use the CPU time:"});
  }
  return all;
}

std::vector<std::string> warnings(const AdviceResult& advice) {
  const Recommendation& recommended = advice.recommendation;
  std::vector<std::string> all;
  if (!advice.complete) all.emplace_back("The search was interrupted before its end.");
  if (advice.program.replay) all.push_back(replay_sentence(advice.program));
  if (!recommended.costs.empty()) all.push_back("Costs: " + recommended.costs);
  if (advice.frontier) {
    for (const LeverTried& lever : advice.frontier->levers) {
      const auto harmful =
          std::find_if(lever.alone.begin(), lever.alone.end(), [](const PartAloneFound& part) { return part.harms; });
      if (harmful != lever.alone.end()) all.push_back(harmful->sentence);
    }
    if (const std::size_t left = advice.frontier->left_out.size(); left != 0) {
      all.push_back(fmt::format("The time was over before {} could be tried.", format_counted(left, "setting")));
    }
  }
  if (recommended.why) {
    all.emplace_back(
        "Remedies with lower ratios are within the noise, unconfirmed, or take too much memory or CPU time.");
  }
  if (const std::string limit = sharing_limit(advice); !limit.empty()) all.push_back(limit);
  if (!advice.recording && recommended.kind != AdviceKind::kNothingToGain) {
    all.push_back(
        fmt::format("All remedies were tried, because the program was not recorded: {}.", advice.recording.why()));
  }
  return all;
}

std::string legend(const AdviceResult& advice) {
  if (advice.remedies.empty() && is_about_sharing(advice)) return "";
  if (advice.remedies.empty()) {
    return advice.recording ? "The program was recorded once. No remedy is tried for a cause below 1 %." : "";
  }
  const Measured<Figures>& figures = advice.present.figures;
  if (advice.frontier) return advice.frontier->rule;
  return fmt::format("Ratios: to the unchanged program (noise {:.1f} %). A gain below {:.0f} % is not found.{}",
                     100 * advice.method.noise, 100 * advice.method.band,
                     is_about_sharing(advice)                                 ? " Counting copies adds to the times."
                     : figures && figures->idle_measure == IdleMeasure::kMean ? " Idle is a mean: no moment was idle."
                                                                              : "");
}

std::string more(const AdviceResult& advice) {
  if (advice.frontier) return "Intervals, commands and costs of all settings, all levers, and the method";
  std::size_t failed = 0;
  std::size_t useless = 0;
  for (const TriedRemedy& remedy : advice.remedies) {
    if (!ended_well(remedy)) {
      ++failed;
    } else if (!helps(advice, remedy)) {
      ++useless;
    }
  }
  std::vector<std::string> parts;
  if (useless != 0 && advice.recommendation.kind == AdviceKind::kRemedy) {
    parts.push_back(format_counted(useless, "remedy without gain", "remedies without gain"));
  }
  if (failed != 0) parts.push_back(format_counted(failed, "remedy that failed", "remedies that failed"));
  if (const std::size_t left = advice.not_tried.size(); left != 0) {
    parts.push_back(format_counted(left, "remedy not tried", "remedies not tried"));
  }
  parts.emplace_back("all costs, and the method");
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::string headline(const AdviceResult& advice) {
  const Recommendation& recommended = advice.recommendation;
  const std::string subject = subject_of(advice);
  const TriedRemedy* remedy = recommended.remedy ? find_remedy(advice.remedies, *recommended.remedy) : nullptr;
  const ConfirmedRemedy* confirmed = remedy != nullptr ? pairs_for(advice, remedy->name) : nullptr;
  if (confirmed != nullptr) return headline_of_remedy(advice, *remedy, *confirmed);
  if (is_about_sharing(advice) && recommended.kind != AdviceKind::kUnknown) return sharing_headline(advice);
  if (recommended.kind == AdviceKind::kNothingToGain && advice.recording) {
    return fmt::format("{} has nothing to gain: zeroing takes {} of its CPU time, and no cause 1 %.", subject,
                       advice.recording->share_of_cpu ? format_percent(*advice.recording->share_of_cpu) : "little") +
           unchanged_text(advice);
  }
  const std::string tried =
      fmt::format("{} tried in {}", format_counted(advice.remedies.size(), "remedy was", "remedies were"),
                  format_counted(advice.runs.size(), "run"));
  if (recommended.kind == AdviceKind::kUnknown)
    return fmt::format("No remedy for {} is known yet: {}.", subject, tried) + unchanged_text(advice);
  if (advice.remedies.empty())
    return fmt::format("Nothing helps {}: no remedy is known for its zeroing.", subject) + unchanged_text(advice);
  const char* const less =
      advice.frontier && !advice.frontier->wanted ? "CPU time or memory" : goal_words(advice.method.goal);
  if (advice.frontier && advice.frontier->members.size() > 1) {
    return fmt::format("{} of {}: none is proven to take less {} without too much of another metric.", tried, subject,
                       less) +
           unchanged_text(advice);
  }
  return fmt::format("Nothing helps {}: {}, and none is confirmed to take less {}.", subject, tried, less) +
         unchanged_text(advice);
}

Answer advise_answer(const AdviceResult& advice) {
  if (advice.loads) return loads_answer(advice);
  Answer answer{.headline = headline(advice), .where = where(advice), .steps = steps(advice)};
  if (advice.frontier) {
    answer.table = frontier_table(*advice.frontier);
  } else if (Table table = remedies(advice); !table.empty()) {
    answer.table = std::move(table);
  }
  answer.warnings = warnings(advice);
  answer.legend = legend(advice);
  answer.more = more(advice);
  return answer;
}

}  // namespace zerotax::advise
