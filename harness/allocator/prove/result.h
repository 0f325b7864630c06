#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/json.h"
#include "exchange/outcome.h"

namespace zerotax::prove {

/// The promise that an allocator broke.
enum class FindingKind : std::uint8_t {
  kNotZero,
  kOverflowAccepted,
  kContentsChanged,
  kOverlap,
  kMisaligned,
  kUsableTooSmall,
  kNotKept,
  kChildDied,
  kUsableTooLarge,
  kCrashed,
  kHung,
  kExited,
};
ENUM_WORDS(FindingKind, "not_zero", "overflow_accepted", "contents_changed", "overlap", "misaligned",
           "usable_too_small", "not_kept", "child_died", "usable_too_large", "crashed", "hung", "exited")

enum class ProofVerdict : std::uint8_t {
  kClean,        ///< no broken promise in the tried sequences, which reused freed memory
  kFound,        ///< a promise was broken
  kUntested,     ///< no call that promises zeros reused freed memory, so nothing is known
  kInterrupted,  ///< a signal ended the search before its time
};
ENUM_WORDS(ProofVerdict, "clean", "found", "untested", "interrupted")

/// A C program that makes the reduced calls of a finding.
struct FindingProgram {
  RESULT("program", "A C program that shows the finding, and needs only a compiler and the C library.");
  FIELD(std::string, file, "Name of the program's file in the folder of --out.");
  FIELD(std::string, how, "Command that compiles and runs the program.");
  FIELD(std::uint64_t, calls, "Number of calls to the allocator's functions and to fork in the program.");
  FIELD(std::uint64_t, threads, "Number of threads of the program.", least(1));
  FIELD(Measured<bool>, shows,
        "Whether the program, compiled and run on this machine, showed the finding under the allocator; or the reason "
        "why this is unknown.");
  FIELD(
      Measured<bool>, control_shows,
      "Whether the program showed the finding under the C library's own allocator, or the reason why this is unknown.");
  FIELD(std::string, output, "Output of the program under the allocator.", kMayBeEmpty);
  FIELD(std::vector<std::string>, source, "Lines of the program's source code.", kMayBeEmpty);
};

/// Returns the program's source code as one text.
std::string source_text(const FindingProgram& program);

struct ProofFinding {
  RESULT("finding", "A broken promise.");
  FIELD(FindingKind, kind, "Kind of the broken promise.");
  FIELD(std::string, sentence, "The finding in a sentence.");
  FIELD(std::string, function, "Function whose call broke the promise; empty if no call did.", kMayBeEmpty);
  FIELD(std::uint64_t, n, "First size argument of the call.");
  FIELD(std::uint64_t, m, "Second size argument of the call.");
  FIELD(std::uint64_t, alignment, "Alignment that the call requests, in bytes; 0 if the call requests no alignment.");
  FIELD(std::uint64_t, thread, "Number of the thread that made the call; 0 is the first thread.");
  FIELD(std::uint64_t, bytes, "Size of the block in bytes.");
  FIELD(std::uint64_t, at, "Offset of the first wrong byte in the block.");
  FIELD(
      std::uint64_t, detail,
      "Detail of the finding. not_zero: the number of wrong bytes. crashed: the signal. Other kinds: the wrong byte.");
  FIELD(std::uint64_t, operations, "Number of operations in the sequence that broke the promise.");
  FIELD(Measured<std::uint64_t>, reduced,
        "Number of operations in the reduced sequence, or the reason why the sequence was not reduced.");
  FIELD(Measured<FindingProgram>, program, "Program that shows the finding, or the reason why no program was written.");
};

/// Blocks that reused freed memory, for sizes from a power of ten up to the next.
struct ReusedDecade {
  RESULT("decade");
  FIELD(std::uint64_t, from_bytes, "Smallest size of the range, in bytes.");
  FIELD(std::uint64_t, main_thread, "Number of reused blocks that the first thread allocated.");
  FIELD(std::uint64_t, other_threads, "Number of reused blocks that other threads allocated.");
  FIELD(Measured<std::uint64_t>, zeroed_by_nobody,
        "Number of watched blocks with populated pages that no code wrote to between the free and the zeroing call.");
};

struct NamedCount {
  RESULT("count");
  FIELD(std::string, name, "Name of the counted kind.");
  FIELD(std::uint64_t, count, "Number of occurrences of the kind.");
};

/// The extent of a search. A verdict means nothing without these numbers.
struct Coverage {
  RESULT("coverage", "The extent of the search.");
  FIELD(double, seconds, "Duration of the search, without the reduction of a finding.");
  FIELD(std::uint64_t, processes, "Number of processes that searched in parallel.");
  FIELD(std::uint64_t, episodes, "Number of sequences of operations that were tried.");
  FIELD(std::vector<NamedCount>, operations, "Number of operations of each kind.");
  FIELD(std::uint64_t, checked_bytes, "Number of bytes whose contents were verified.");
  FIELD(std::uint64_t, null_results, "Number of calls that returned no block.");
  FIELD(std::uint64_t, crashes_at_limit,
        "Number of crashes while the address space was limited. These crashes are not findings.");
  FIELD(std::uint64_t, zeroing_calls, "Number of calls that promise zeros and returned a block.");
  FIELD(std::vector<ReusedDecade>, reused, "Zeroing calls that reused a freed block, by size.");
  FIELD(std::vector<NamedCount>, reused_by_fill,
        "Zeroing calls that reused a freed block, by the bytes that the program had written to it.");
  FIELD(std::vector<NamedCount>, reused_after,
        "Zeroing calls that reused a freed block, by the events since the free.");
  FIELD(std::uint64_t, reused_from_other_thread, "Zeroing calls that reused a block that another thread had freed.");
  FIELD(std::uint64_t, reused_pages,
        "Number of whole pages of reused blocks for which the search asked the kernel whether they are populated.");
  FIELD(std::uint64_t, unpopulated_pages, "Number of pages of reused_pages that calloc left without physical memory.");
  FIELD(Measured<std::uint64_t>, watched_pages,
        "Number of pages of reused blocks that were watched for writes, from the free to the zeroing call.");
  FIELD(Measured<std::uint64_t>, zeroed_by_nobody,
        "Number of watched pages that stayed populated and that no code wrote to. These pages must have been zero "
        "before.");
  FIELD(std::uint64_t, features, "Number of different histories, sizes and events that the sequences reached.");

  [[nodiscard]] std::uint64_t all_operations() const;
  [[nodiscard]] std::uint64_t all_reused() const;
};

struct Proof {
  RESULT("proof", "The search for broken promises of one allocator.");
  FIELD(Json, allocator, "The allocator, as in run.schema.json.", with(R"({"type": "object"})"));
  FIELD(ProofVerdict, verdict, "Result of the search for broken promises.");
  FIELD(std::string, sentence, "Result and extent of the search, in one sentence.");
  FIELD(std::vector<std::uint64_t>, thresholds,
        "Sizes around which the search allocated blocks, in addition to size classes.");
  FIELD(std::vector<std::string>, missing, "Functions that were not tried, because the library does not define them.",
        kMayBeEmpty);
  FIELD(Coverage, coverage, "The extent of the search.");
  FIELD(std::optional<ProofFinding>, finding, "The broken promise, if the verdict is `found`.");
  [[nodiscard]] std::string name() const;  ///< of the allocator
};

struct Proofs : DocumentHead {
  RESULT("zerotax prove", "Searches for broken promises of allocators, as zerotax prove --json writes them.");
  HEAD_FIELDS("zerotax.prove/1", "Words of the command line.");
  FIELD(std::uint64_t, seed, "Seed of the sequences.");
  FIELD(double, seconds, "Time limit of each search, in seconds.", above(0));
  FIELD(std::uint64_t, threads, "Maximum number of threads of a sequence.", least(1));
  FIELD(std::vector<Proof>, proofs, "One search for each allocator.");
  MEMBER(complete, "Whether all searches ran to their end.");
  bool complete = true;
};

/// Sets the verdict and the sentence, from the other fields.
void judge(Proof& proof);
/// Sets the verdict and the sentence of a search that a signal ended.
void judge_interrupted(Proof& proof);
/// Returns a sentence about a finding, such as "calloc(1, 3000) returned 5 bytes that are not zero, the first at 2995".
std::string finding_sentence(const ProofFinding& finding);
bool any_found(const Proofs& proofs);
/// Whether a search ended by itself without a verdict.
bool any_untested(const Proofs& proofs);

/// Reads a document. Throws UsageError for any other file.
Proofs read_proofs(const std::string& path);

/// Returns the answer, which fits one screen. `folder` has the programs; empty if none were written.
Answer prove_answer(const Proofs& proofs, const std::string& folder);
/// Returns all numbers.
std::string prove_text(const Proofs& proofs);
exchange::OutcomeList prove_outcomes(const Proofs& proofs);
/// Adds a search to the outcomes of another command.
exchange::Outcome prove_outcome(const Proof& proof);

}  // namespace zerotax::prove
