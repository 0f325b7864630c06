#include "base/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "fork/result.h"

namespace zerotax::fork {
namespace {

const SectionTime* worst_section(const Process& process) {
  const Samples* samples = process.plain_samples();
  if (samples == nullptr || samples->samples == 0 || samples->sections.empty()) return nullptr;
  return &*std::max_element(
      samples->sections.begin(), samples->sections.end(),
      [](const SectionTime& one, const SectionTime& other) { return one.samples < other.samples; });
}

/// The costs of the model, ordered by their share in a fork of the largest process.
Table costs(const Model& model, const Process& largest) {
  const std::array<double, kForkTerms> counts = term_counts(largest.facts);
  const auto part_ns = [&](const Term* term) { return *term->ns * counts.at(static_cast<std::size_t>(term->key)); };
  std::vector<const Term*> terms;
  for (const Term& term : model.terms) {
    if (term.ns) terms.push_back(&term);
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [&](const Term* one, const Term* other) { return part_ns(one) > part_ns(other); });
  Table table({{"cost of fork", Unit::kText, 30},
               {"time", Unit::kNs, 9},
               right_text("95 % interval", 20),
               {"with " + largest.name, Unit::kNs, 14, "n/a", "-"}});
  for (const Term* term : terms) {
    table.add({term->name, *term->ns,
               term->low_ns ? Cell(fmt::format("{} to {}", format_ns(*term->low_ns), format_ns(*term->high_ns)))
                            : Cell::not_available(),
               part_ns(term)});
  }
  return table;
}

std::string label_of(const Process& process) {
  return process.name == "smallest" ? "the smallest process" : "a process with " + process.name;
}

/// Names the section of the kernel that takes the most time of a fork. Without samples of the kernel, states how much
/// of a fork's time the address space takes.
std::string where(const Process& largest) {
  if (const SectionTime* worst = worst_section(largest)) {
    return fmt::format("the kernel's work on \"{}\" takes {} of a fork of {} ({}).", worst->name, format_ns(worst->ns),
                       label_of(largest), format_percent(worst->share));
  }
  for (const CloneFlags& part : largest.ablation.value_or({})) {
    if (part.flags != "CLONE_VM") continue;
    return fmt::format("copying the address space, which CLONE_VM saves, takes {} of a fork of {}.",
                       format_percent(part.share_saved), label_of(largest));
  }
  return "";
}

/// Names the ways to start a program that take less than half of fork's time.
std::string cheaper_ways(const Ways& ways) {
  const auto fork =
      std::find_if(ways.ways.begin(), ways.ways.end(), [](const ForkWay& way) { return way.name == "fork"; });
  if (fork == ways.ways.end()) return "";
  std::vector<std::string> cheaper;
  for (const ForkWay& way : ways.ways) {
    const bool starts_programs = way.name == "vfork" || way.name == "posix_spawn";
    if (starts_programs && 2 * way.call_ns < fork->call_ns) {
      cheaper.push_back(fmt::format("{} ({})", way.name, format_ns(way.call_ns)));
    }
  }
  if (cheaper.empty()) return "";
  return fmt::format("start programs by {} instead of fork ({} with {} populated).", fmt::join(cheaper, " or "),
                     format_ns(fork->call_ns), format_size(ways.populated_bytes));
}

std::vector<std::string> warnings(const Fork& fork) {
  std::vector<std::string> all;
  if (!fork.complete) all.emplace_back("The run was stopped early, so some processes are missing.");
  if (!fork.processes.empty() && !fork.processes.back().samples) {
    all.push_back(fmt::format("Time by section of the kernel is unknown: {}.", fork.processes.back().samples.why()));
  }
  for (const std::string& note : fork.notes.value_or(std::vector<std::string>())) all.push_back(note);
  if (fork.left_out) all.push_back(*fork.left_out);
  return all;
}

}  // namespace

std::string fork_headline(const Fork& fork) {
  if (fork.sentence) return *fork.sentence;
  return fmt::format("The cost of fork for each resource of a process is unknown: {}.", fork.sentence.why());
}

Answer fork_answer(const Fork& fork) {
  Answer answer;
  answer.headline = fork_headline(fork);
  if (fork.model && !fork.processes.empty()) {
    answer.table = costs(*fork.model, fork.processes.back());
    answer.legend = fmt::format("The prediction is within {1} of the measured time for {0} outside the fit.",
                                format_counted(fork.model->held_back.size(), "process", "processes"),
                                format_percent(fork.model->worst_held_back_error));
  }
  if (!fork.processes.empty()) answer.where = where(fork.processes.back());
  if (std::string ways = cheaper_ways(fork.ways); !ways.empty()) answer.steps.push_back({"", std::move(ways)});
  add_alternative(answer.steps, {"zerotax snapshot", "compare other ways to take a snapshot of memory:"});
  answer.warnings = warnings(fork);
  answer.more = "All sections, phases, clone flags, alternatives and predictions";
  return answer;
}

}  // namespace zerotax::fork
