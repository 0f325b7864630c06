#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

/// The largest cost of a program, on which advice depends.
enum class Costly {
  kFresh,      ///< memory that the kernel zeroed and the program never had before
  kRefilled,   ///< memory that was returned to the kernel and later refilled
  kCleared,    ///< stores of zeros by the allocator in calloc, malloc and realloc
  kInFree,     ///< stores of zeros by the allocator in free
  kByHand,     ///< stores of zeros by the program over a block that it just got
  kByProgram,  ///< other stores of zeros by the program
  kStores,     ///< stores of zeros, as a recording from outside counts them
  kCopies,     ///< pages copied after a fork
};

/// Counts of a program, in bytes unless noted. An absent count is unknown, so no advice rests on it.
struct Evidence {
  using Count = std::optional<std::uint64_t>;

  Costly costly{};
  Count fresh;
  Count refilled;
  Count huge;           ///< zeroed by the kernel in huge pages
  Count huge_examined;  ///< bytes of huge pages whose contents were examined
  Count huge_written;   ///< part of huge_examined that the program wrote
  Count requested;      ///< requested in all calls of the allocator
  Count aligned;        ///< part of requested with more than malloc's alignment
  Count held_peak;
  Count held_elsewhere;  ///< upper bound of the part of held_peak that no allocator held: the program's own mappings,
                         ///< its data and its stack
  Count live_at_least;   ///< lower bound of the peak of bytes in blocks
  Count live_at_most;
  Count live_in_one;      ///< part of live_at_least in the process with the most bytes in blocks
  Count by_hand;          ///< large stores of zeros by the program over blocks that it just got
  Count by_hand_fresh;    ///< part of by_hand in memory that the store populated
  Count by_hand_aligned;  ///< part of by_hand in blocks with an alignment that calloc cannot provide
  Count cleared_in_calloc;
  Count cleared_elsewhere;  ///< cleared in malloc and realloc
  Count examined;           ///< part of cleared_in_calloc and cleared_elsewhere that was examined before it was cleared
  Count redundant;          ///< part of examined that was already zero
  Count returned_by_allocator;
  Count returned_by_trim;          ///< returned by malloc_trim and similar functions that the program called
  Count returned_of_threads;       ///< stacks of ended threads
  Count returned_by_program;       ///< returned by the program's own system calls
  Count copied_by_parent;          ///< pages
  Count copied_by_children;        ///< pages
  std::string allocator;           ///< the allocator's name; empty if unknown
  std::string setting;             ///< "KEY=VALUE" that makes the allocator keep more memory; empty if none is known to
                                   ///< help
  std::string setting_instead;     ///< the program's current settings that `setting` replaces; empty if none
  bool setting_unbounded = false;  ///< the setting may keep all freed memory
  Count memory_limit;              ///< limit for a trial of an unbounded setting
  bool setting_too_small = false;  ///< most returned bytes were in blocks that the setting does not keep
  bool names_trim = false;         ///< the program may call malloc_trim
  std::string sets_options;        ///< the function with which the program sets the allocator's options; empty if none
};

/// One row of the table: a piece of advice, and the condition that the counts must meet.
struct AdviceRow {
  const char* name;
  Costly costly;
  bool of_program;  ///< the advice is to change the program, not its allocator or environment
  bool (*holds)(const Evidence& evidence);
  std::string (*words)(const Evidence& evidence);
};

/// The table of advice, in the order in which its rows are tried.
const std::vector<AdviceRow>& advice_rows();

/// Returns the first row whose condition holds; nullptr if there is none.
const AdviceRow* advice_row(const Evidence& evidence);

/// The advice in one sentence that begins with "Try next". Without a row, the sentence says that there is no advice.
std::string advice_words(const AdviceRow* row, const Evidence& evidence);

/// Memory limit of a program in a trial of a remedy, in bytes: twice its own peak and 256 MiB.
std::uint64_t trial_memory(std::uint64_t peak);

}  // namespace zerotax
