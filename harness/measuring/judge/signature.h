#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "judge/comparison.h"

namespace zerotax {
struct Point;
}

namespace zerotax {

/// The case whose thresholds are searched if nothing else is said, and the other one that has a signature.
inline constexpr const char* kPlainCase = "calloc_loop";
inline constexpr const char* kRefillCase = "refill_loop";

/// What free does with the contents of the block. "n/a" is not known, and equals everything: files of earlier versions
/// lack this, and a bound may leave it open. So equality is not transitive: see take_unknown.
struct FreeZeroing {
  std::string zeroed = "n/a";     ///< share of the block that free zeroed
  std::string redundant = "n/a";  ///< share of it that free zeroed though it was zero

  bool operator==(const FreeZeroing& other) const;
};

/// What an allocator does with one request, in deterministic figures only: never time.
struct Behaviour {
  std::string home;                       ///< "heap", "mapping", "arena", or "n/a"
  std::string zeroed;                     ///< share of the block that calloc zeroed: "none",
                                          ///< "part", "all", or "n/a"
  std::string redundant;                  ///< share of the block that was zeroed though it was zero
  std::string populated;                  ///< share of the block that calloc populated
  std::set<std::string> calloc_syscalls;  ///< names, without the munmap that cuts a mapping; {"n/a"} if not known
  std::set<std::string> free_syscalls;
  FreeZeroing in_free = {};

  bool operator==(const Behaviour&) const = default;
};

/// What an allocator does with memory that a program frees together and needs again at once (the case refill_loop), in
/// its steady state.
struct Refilling {
  std::string refilled;               ///< share of what a round uses: "none", "part", "all",
                                      ///< "n/a"; empty: another case
  std::set<std::string> returned_by;  ///< "munmap", "madvise", "brk": what
                                      ///< returned a quarter of it or more

  bool operator==(const Refilling&) const = default;
};

/// Behaviour at one request size, for the first large allocation of a process and for later ones.
struct Signature {
  std::string status;  ///< as of a point
  Behaviour fresh;
  Behaviour reuse;
  Refilling refilling;  ///< of refill_loop, which has nothing else

  bool operator==(const Signature&) const = default;
};

/// "none" below a quarter of `size`, "all" above three quarters, else "part". Coarse on purpose: allocators round sizes
/// up by as much as a fifth and put headers on pages, and a change by rounding alone is not a change of behaviour.
std::string share_of(std::uint64_t bytes, std::uint64_t size);

/// The share of `size` where `at_most` bytes are an upper bound, which counts the whole page, of `page` bytes, of a
/// store of a few bytes: "n/a" if it would be another without two pages, for an allocator may keep a NULL or a size of
/// its own at the beginning and at the end of a free block.
std::string share_of_bound(std::uint64_t at_most, std::uint64_t size, std::uint64_t page);

/// The signature of a point whose audit was made. Zeroing beyond the request counts for nothing here.
Signature signature_of(const Point& point);

/// Takes over from `known` what is not known of zeroing in free. Returns whether `known` knew it.
bool take_unknown(Signature& signature, const Signature& known);

/// One change of behavior at a threshold. Other documents hold only its words; a baseline holds the other fields, too.
struct BehaviourChange {
  std::string words;  ///< "later callocs zero the whole block, needlessly (before: write no zeros)"
  Direction direction = Direction::kNeither;  ///< worse: above, more is zeroed, populated or given back, or it fails
  bool fails = false;                         ///< the status changes, and one of the two sides fails

  /// Equal words mean equal changes.
  bool operator==(const BehaviourChange& other) const { return words == other.words; }
};
using BehaviourChanges = std::vector<BehaviourChange>;
void to_json(Json& json, const BehaviourChange& change);
/// Derives the other fields from the words. A baseline of version 0.2 has only the words.
void from_json(const Json& json, BehaviourChange& change);

/// All changes from one signature to the other.
BehaviourChanges describe_change(const Signature& below, const Signature& above);

/// The direction of all changes together. If some are worse and some better, it is neither.
Direction direction_of(const BehaviourChanges& changes);

/// Whether the point fails on one side of any change.
bool any_fails(const BehaviourChanges& changes);

/// Whether a word of a behaviour says that nothing is known.
bool is_unknown(const std::string& word);

/// Whether free makes a system call by which memory goes back to the kernel.
bool gives_back(const Behaviour& behaviour);

/// What free does with the contents of the block, in words: "; free zeroes the whole block, needlessly"; empty if it
/// writes no zeros, or nobody knows.
std::string free_words(const Behaviour& behaviour);

/// What the rounds of refill_loop do, in words: "rounds refill next to nothing: memory is kept".
std::string refilling_text(const Signature& signature);

}  // namespace zerotax
