#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "base/units.h"
#include "os/child.h"
#include "prove/result.h"
#include "run/progress.h"

namespace zerotax::prove {
namespace {

/// Returns the name of a function without its parameters, such as "operator new" for "_ZnwmRKSt9nothrow_t".
std::string shown_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return symbol;
  const std::string text = readable.get();
  return text.substr(0, text.find('('));
}

/// Returns the call of a finding, such as "calloc(1, 3000)".
std::string call_text(const ProofFinding& finding) {
  if (finding.function.empty()) return fmt::format("a calloc of {} bytes in a child of fork", finding.bytes);
  const std::string sizes = finding.m == 0 ? std::to_string(finding.n) : fmt::format("{}, {}", finding.n, finding.m);
  const std::string aligned = finding.alignment == 0 ? "" : fmt::format(" with alignment {}", finding.alignment);
  const std::string where = finding.thread == 0 ? "" : fmt::format(" in thread {}", finding.thread);
  return fmt::format("{}({}){}{}", shown_name(finding.function), sizes, aligned, where);
}

/// Returns the extent of a search, such as "2,345,678 operations, of which ...".
std::string extent(const Coverage& coverage) {
  return fmt::format("{} in {} of {}; {} of {} that promise zeros reused freed memory",
                     format_counted(coverage.all_operations(), "operation"),
                     format_counted(coverage.episodes, "sequence"), format_duration(coverage.seconds),
                     format_count(coverage.all_reused()), format_counted(coverage.zeroing_calls, "call"));
}

}  // namespace

std::uint64_t Coverage::all_operations() const {
  return std::accumulate(operations.begin(), operations.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const NamedCount& each) { return sum + each.count; });
}

std::uint64_t Coverage::all_reused() const {
  return std::accumulate(reused.begin(), reused.end(), std::uint64_t{0}, [](std::uint64_t sum, const auto& each) {
    return sum + each.main_thread + each.other_threads;
  });
}

std::string Proof::name() const { return text_field(allocator, "name", ""); }

std::string finding_sentence(const ProofFinding& finding) {
  const std::string call = call_text(finding);
  switch (finding.kind) {
    case FindingKind::kNotZero:
      return fmt::format("{} returned {} that {} not zero, the first at offset {}", call,
                         format_counted(finding.detail, "byte"), finding.detail == 1 ? "is" : "are", finding.at);
    case FindingKind::kOverflowAccepted:
      return call + " returned a block, although the product overflows";
    case FindingKind::kContentsChanged:
      return fmt::format("a live block of {} bytes lost its contents: byte {} became {}", finding.bytes, finding.at,
                         finding.detail);
    case FindingKind::kOverlap:
      return call + " returned a block that overlaps a live block";
    case FindingKind::kMisaligned:
      return call + " returned an address that is not aligned";
    case FindingKind::kUsableTooSmall:
      return fmt::format("malloc_usable_size returned {} for a block of {} bytes", finding.at, finding.bytes);
    case FindingKind::kUsableTooLarge:
      return fmt::format("malloc_usable_size returned {} for a block of {} bytes, which reaches into {}", finding.at,
                         finding.bytes, finding.detail == 0 ? "memory that is not mapped" : "another live block");
    case FindingKind::kNotKept:
      return fmt::format("{} did not keep the contents: byte {} became {}", call, finding.at, finding.detail);
    case FindingKind::kChildDied:
      return finding.detail == 0
                 ? "the child of fork failed"
                 : fmt::format("the child of fork was killed by {}", signal_name(static_cast<int>(finding.detail)));
    case FindingKind::kCrashed:
      return fmt::format("the process was killed by {}", signal_name(static_cast<int>(finding.detail)));
    case FindingKind::kHung:
      return "a call did not return";
    case FindingKind::kExited:
      break;
  }
  return fmt::format("the library ended the process with status {}", finding.detail);
}

void judge(Proof& proof) {
  const std::string name = proof.name();
  if (proof.finding) {
    proof.verdict = ProofVerdict::kFound;
    const auto& program = proof.finding->program;
    proof.sentence = fmt::format("{} broke a promise: {}{}.", name, proof.finding->sentence,
                                 program ? fmt::format(", shown by {}", format_counted(program->calls, "call")) : "");
  } else if (proof.coverage.all_reused() == 0) {
    proof.verdict = ProofVerdict::kUntested;
    proof.sentence = fmt::format("{} was not tested: {}.", name, extent(proof.coverage));
  } else {
    proof.verdict = ProofVerdict::kClean;
    proof.sentence = fmt::format("{} kept its promises: {}.", name, extent(proof.coverage));
  }
}

void judge_interrupted(Proof& proof) {
  proof.verdict = ProofVerdict::kInterrupted;
  proof.sentence = fmt::format("{} was interrupted without a finding: {}.", proof.name(), extent(proof.coverage));
}

bool any_found(const Proofs& proofs) {
  return std::any_of(proofs.proofs.begin(), proofs.proofs.end(),
                     [](const Proof& each) { return each.verdict == ProofVerdict::kFound; });
}

bool any_untested(const Proofs& proofs) {
  return std::any_of(proofs.proofs.begin(), proofs.proofs.end(),
                     [](const Proof& each) { return each.verdict == ProofVerdict::kUntested; });
}

}  // namespace zerotax::prove
