#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

/// What costs a program most, as far as advice differs.
enum class Costly {
  kFresh,      ///< memory that the kernel zeroed and the program never had before
  kRefilled,   ///< memory that went back to the kernel and came again, and its return
  kCleared,    ///< stores of zeros by the allocator in calloc, malloc and realloc
  kInFree,     ///< stores of zeros by the allocator in free
  kByHand,     ///< stores of zeros by the program over a block that it just got
  kByProgram,  ///< other stores of zeros by the program
  kStores,     ///< stores of zeros, seen from outside
  kCopies,     ///< pages copied after a fork
};

/// What was counted of a program: bytes, unless a name says otherwise. Nothing stands where a count is not known, and
/// no advice rests on it.
struct Evidence {
  using Count = std::optional<std::uint64_t>;

  Costly costly{};
  Count fresh;
  Count refilled;
  Count huge;           ///< zeroed by the kernel in huge pages
  Count huge_examined;  ///< populated parts of blocks with huge pages that were looked at, and
  Count huge_written;   ///< what of them the program had written
  Count requested;      ///< in all calls of the allocator
  Count held_peak;
  Count live_at_least;  ///< in blocks that the program had at one time
  Count live_at_most;
  Count by_hand;          ///< large stores of zeros over a block that the program just got
  Count by_hand_fresh;    ///< of by_hand: memory that was populated by the store
  Count by_hand_aligned;  ///< of by_hand: in blocks of an alignment that calloc does not give
  Count cleared_in_calloc;
  Count cleared_elsewhere;  ///< in malloc and realloc
  Count examined;           ///< of both: looked at before they were cleared
  Count redundant;          ///< of examined: already zero
  Count returned_by_allocator;
  Count returned_by_trim;     ///< malloc_trim and its kin, called by the program
  Count returned_of_threads;  ///< stacks of threads that ended
  Count returned_by_program;  ///< by system calls of its own
  Count copied_by_parent;     ///< pages
  Count copied_by_children;   ///< pages
  std::string allocator;      ///< by name; empty: unknown
  std::string setting;  ///< of the allocator, by which it keeps more: "KEY=VALUE"; empty: none that is known to help
  std::string setting_instead;     ///< the program's present settings that it replaces; empty: none
  bool setting_unbounded = false;  ///< it may keep whatever is freed
  Count memory_limit;              ///< of a trial of such a setting
  std::string sets_options;  ///< the function by which the program sets the allocator's options itself; empty: none
};

/// One row of the table: advice, and the counts that must hold.
struct AdviceRow {
  const char* name;
  Costly costly;
  bool of_program;  ///< the program is to change, not its allocator or environment
  bool (*holds)(const Evidence& evidence);
  std::string (*words)(const Evidence& evidence);
};

/// The table, in the order in which its rows are asked.
const std::vector<AdviceRow>& advice_rows();

/// The first row that holds; nullptr if none does.
const AdviceRow* advice_row(const Evidence& evidence);

/// The advice in one sentence that begins with "Try next"; without a row a sentence that there is none.
std::string advice_words(const AdviceRow* row, const Evidence& evidence);

/// Bytes that a program may have in a trial of a remedy: twice its own peak and 256 MiB.
std::uint64_t trial_memory(std::uint64_t peak);

}  // namespace zerotax
