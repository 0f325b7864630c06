#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

/// A program's largest cost, as far as advice differs.
enum class Costly {
  kFresh,      ///< memory that the kernel zeroed and the program never had before
  kRefilled,   ///< memory that was returned to the kernel and refilled, and its return
  kCleared,    ///< stores of zeros by the allocator in calloc, malloc and realloc
  kInFree,     ///< stores of zeros by the allocator in free
  kByHand,     ///< stores of zeros by the program over a block that it just got
  kByProgram,  ///< other stores of zeros by the program
  kStores,     ///< stores of zeros, seen from outside
  kCopies,     ///< pages copied after a fork
};

/// Counts of a program, in bytes unless noted. A count without a value is unknown, and no advice rests on it.
struct Evidence {
  using Count = std::optional<std::uint64_t>;

  Costly costly{};
  Count fresh;
  Count refilled;
  Count huge;           ///< zeroed by the kernel in huge pages
  Count huge_examined;  ///< examined populated parts of blocks with huge pages
  Count huge_written;   ///< of huge_examined: written by the program
  Count requested;      ///< in all calls of the allocator
  Count held_peak;
  Count held_elsewhere;  ///< the most of held_peak that no allocator held: the program's own mappings, its data and its
                         ///< stack
  Count live_at_least;   ///< the least that was in blocks at one time
  Count live_at_most;
  Count live_in_one;      ///< of live_at_least: in the one process that had most
  Count by_hand;          ///< large stores of zeros over a block that the program just got
  Count by_hand_fresh;    ///< of by_hand: memory that was populated by the store
  Count by_hand_aligned;  ///< of by_hand: in blocks of an alignment that calloc does not give
  Count cleared_in_calloc;
  Count cleared_elsewhere;  ///< in malloc and realloc
  Count examined;           ///< of cleared_in_calloc and cleared_elsewhere: looked at before clearing
  Count redundant;          ///< of examined: already zero
  Count returned_by_allocator;
  Count returned_by_trim;          ///< malloc_trim and its kin, called by the program
  Count returned_of_threads;       ///< stacks of threads that ended
  Count returned_by_program;       ///< by system calls of its own
  Count copied_by_parent;          ///< pages
  Count copied_by_children;        ///< pages
  std::string allocator;           ///< by name; empty: unknown
  std::string setting;             ///< makes the allocator keep more memory: "KEY=VALUE"; empty: none is known to help
  std::string setting_instead;     ///< the program's present settings that it replaces; empty: none
  bool setting_unbounded = false;  ///< the setting may keep all freed memory
  Count memory_limit;              ///< of a trial of an unbounded setting
  bool setting_too_small = false;  ///< most returned bytes were in blocks that the setting does not keep
  bool names_trim = false;         ///< the program may call malloc_trim
  std::string sets_options;  ///< the function by which the program sets the allocator's options itself; empty: none
};

/// One row of the table: advice, and the condition that the counts must meet.
struct AdviceRow {
  const char* name;
  Costly costly;
  bool of_program;  ///< advises to change the program, not its allocator or environment
  bool (*holds)(const Evidence& evidence);
  std::string (*words)(const Evidence& evidence);
};

/// The table, in the order in which rows are tried.
const std::vector<AdviceRow>& advice_rows();

/// The first row that holds; nullptr if none does.
const AdviceRow* advice_row(const Evidence& evidence);

/// The advice in one sentence that begins with "Try next"; without a row, a sentence that there is no advice.
std::string advice_words(const AdviceRow* row, const Evidence& evidence);

/// Bytes that a program may have in a trial of a remedy: twice its own peak and 256 MiB.
std::uint64_t trial_memory(std::uint64_t peak);

}  // namespace zerotax
