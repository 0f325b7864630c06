#include "base/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/lines.h"
#include "base/units.h"
#include "prove/result.h"

namespace zerotax::prove {
namespace {

/// Functions of other allocators are missing in each library, so only the first names are shown.
constexpr std::size_t kMostMissing = 8;

/// Calls on reused memory by size.
std::string sizes_text(const Coverage& coverage) {
  Table table({right_text("from bytes", 15),
               {"first thread", Unit::kCount, 12},
               {"other threads", Unit::kCount, 13},
               {"zeroed by nobody", Unit::kCount, 16}});
  for (const ReusedDecade& each : coverage.reused) {
    if (each.main_thread + each.other_threads == 0) continue;
    table.add({format_count(each.from_bytes), each.main_thread, each.other_threads, each.zeroed_by_nobody});
  }
  if (table.empty()) return "";
  return "\nZeroing calls on reused memory, by size\n" + table.text();
}

std::string counts_text(const char* title, const std::vector<NamedCount>& counts) {
  Table table({{"", Unit::kText, 15}, {"number", Unit::kCount, 12}});
  for (const NamedCount& each : counts) {
    std::string name = each.name;
    for (char& letter : name) letter = letter == '_' ? ' ' : letter;
    if (each.count != 0) table.add({name, each.count});
  }
  return table.empty() ? "" : fmt::format("\n{}\n{}", title, table.text());
}

std::string extent_text(const Proof& proof) {
  const Coverage& coverage = proof.coverage;
  std::string text = sizes_text(coverage) +
                     counts_text("Zeroing calls on reused memory, by writes before the free", coverage.reused_by_fill) +
                     counts_text("Zeroing calls on reused memory, by events since the free", coverage.reused_after) +
                     counts_text("Operations", coverage.operations);
  text += "\n";
  text +=
      wrap(fmt::format("{} had been freed by another thread. Of {} looked up, calloc left {} without memory.",
                       format_counted(coverage.reused_from_other_thread, "reused block"),
                       format_counted(coverage.reused_pages, "reused page"), format_count(coverage.unpopulated_pages)));
  text += wrap(coverage.zeroed_by_nobody
                   ? fmt::format("Of {} that were watched for writes, {} stayed populated and were written by nobody.",
                                 format_counted(coverage.watched_pages.value_or(0), "page"),
                                 format_count(*coverage.zeroed_by_nobody))
                   : fmt::format("Pages that nobody zeroed are unknown: {}.", coverage.zeroed_by_nobody.why()));
  text += wrap(fmt::format(
      "{} in {} side by side; {} returned no block.", format_counted(coverage.episodes, "sequence"),
      format_counted(coverage.processes, "process", "processes"), format_counted(coverage.null_results, "call")));
  if (!proof.missing.empty()) {
    std::vector<std::string> shown = proof.missing;
    if (shown.size() > kMostMissing) {
      shown.resize(kMostMissing);
      shown.push_back(fmt::format("and {} more", proof.missing.size() - kMostMissing));
    }
    text += wrap(fmt::format("Not defined beside free, so not tried: {}.", fmt::join(shown, ", ")));
  }
  std::vector<std::string> sizes;
  for (const std::uint64_t each : proof.thresholds) sizes.push_back(format_count(each));
  if (!sizes.empty())
    text += wrap(fmt::format("Sizes around which blocks were allocated: {}.", fmt::join(sizes, "; ")));
  return text;
}

std::string program_text(const ProofFinding& finding) {
  if (!finding.program) return wrap(fmt::format("No program was written: {}.", finding.program.why()));
  return fmt::format("{}\n{}", finding.program->how, source_text(*finding.program));
}

}  // namespace

std::string prove_text(const Proofs& proofs) {
  std::string text;
  for (const Proof& proof : proofs.proofs) {
    text += (text.empty() ? "" : "\n") + wrap(proof.sentence) + extent_text(proof);
    if (proof.finding) text += "\n" + program_text(*proof.finding);
  }
  return text;
}

}  // namespace zerotax::prove
