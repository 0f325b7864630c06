#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "judge/comparison.h"

namespace zerotax {
struct Point;
}

namespace zerotax {

/// The two cases with a signature: the default case of a search for thresholds, and the case of refills.
inline constexpr const char* kPlainCase = "calloc_loop";
inline constexpr const char* kRefillCase = "refill_loop";

/// A share of the requested size.
inline constexpr Limit kShare = one_of("none|part|all|n/a");

/// Zeroing of the block's contents in free. "n/a" means unknown and equals every share. An empty word, found in files
/// of earlier versions, also equals every share. If the zeroed bytes are only an upper bound, the share may also be
/// unknown. Equality is therefore not transitive; see take_unknown.
struct FreeZeroing {
  std::string zeroed;     ///< share of the block that free zeroed
  std::string redundant;  ///< share of the block that free zeroed although it was already zero

  bool operator==(const FreeZeroing& other) const;
};

/// Share of the written part of the block that madvise returned. Empty if the program wrote nothing, and in files of
/// earlier versions. All shares compare as equal, because the names of the calls already distinguish behaviors.
struct PurgedShare {
  std::string share;

  bool operator==(const PurgedShare& /*other*/) const { return true; }
};

/// The effects of one request, in deterministic metrics only, never times.
struct Behaviour {
  RESULT("behavior",
         "The effects of one calloc and its free. A share below a quarter of the requested size counts as none, "
         "above three quarters as all, and otherwise as part.");
  FIELD(std::string, home,
        "Memory that contains the block. heap: the heap grown by brk. mapping: a mapping for this block alone. arena: "
        "memory that the allocator keeps for many blocks. n/a: unknown.",
        one_of("heap|mapping|arena|n/a"));
  FIELD(std::string, zeroed, "Share of the block that calloc zeroed.", kShare);
  FIELD(std::string, redundant, "Share of the block that calloc zeroed although it was already zero.", kShare);
  FIELD(std::string, populated, "Share of the block in pages that calloc populated.", kShare);
  /// without the munmap that cuts a mapping to its alignment
  FIELD(std::set<std::string>, calloc_syscalls,
        "Names of the system calls inside calloc, in alphabetical order. The only entry is n/a if the calls are "
        "unknown.");
  FIELD(
      std::set<std::string>, free_syscalls,
      "Names of the system calls inside free, in alphabetical order. The only entry is n/a if the calls are unknown.");
  MEMBER_AS("zeroed_in_free", in_free.zeroed,
            "Share of the block that free zeroed. n/a if the share was unknown at this size and at the neighboring "
            "sizes with otherwise equal behavior. Absent from files of earlier versions.",
            kShare, kAbsentIfEmpty);
  MEMBER_AS("redundant_in_free", in_free.redundant,
            "Share of the block that free zeroed although it was already zero. n/a if zeroed_in_free is n/a. "
            "Absent from files of earlier versions.",
            kShare, kAbsentIfEmpty);
  FreeZeroing in_free = {};
  MEMBER_AS("purged", purged.share,
            "Share of the written part of the block that madvise returned to the kernel at once. Pages under MADV_FREE "
            "do not count. Absent if the program wrote nothing to the block, and from files of earlier versions.",
            kShare, kAbsentIfEmpty);
  PurgedShare purged = {};

  bool operator==(const Behaviour&) const = default;
  [[nodiscard]] bool empty() const { return home.empty(); }
};

/// The steady-state effects of the case refill_loop, in which a program frees memory together and needs it again at
/// once.
struct Refilling {
  RESULT("refilling",
         "The effects on memory that is freed together and needed again at once. A share below a quarter of "
         "the memory that a round uses counts as none, above three quarters as all, and otherwise as part.");
  FIELD(std::string, refilled, "Share of a round's memory that the kernel zeroed again.", kShare);
  FIELD(std::set<std::string>, returned_by,
        "System calls by which the allocator returned a quarter of a round's memory or more.",
        one_of("brk|madvise|munmap"));

  bool operator==(const Refilling&) const = default;
  [[nodiscard]] bool empty() const { return refilled.empty(); }
};

/// Behavior at one request size, for the first large allocation of a process and for later ones. `fresh` and `reuse`
/// are empty for cases other than calloc_loop. All three fields are empty unless the status is ok.
struct Signature {
  RESULT("signature", "The behavior of an allocator at one size. Only a point with status ok has a behavior.");
  static constexpr const char* kMore = R"({
    "if": {"properties": {"status": {"const": "ok"}}},
    "then": {
      "if": {"required": ["refilling"]},
      "then": {"properties": {"fresh": false, "reuse": false}},
      "else": {"required": ["fresh", "reuse"]}
    },
    "else": {"properties": {"fresh": false, "reuse": false, "refilling": false}}
  })";
  FIELD(std::string, status, "Status of the probe at this size, as in a point.",
        as_in("point.schema.json#/properties/status"));
  FIELD(Behaviour, fresh, "Behavior in the first operation of the process.", kAbsentIfEmpty);
  FIELD(Behaviour, reuse, "Behavior in the steady state.", kAbsentIfEmpty);
  FIELD(Refilling, refilling, "Behavior of refill_loop in the steady state, in place of fresh and reuse.",
        kAbsentIfEmpty);

  bool operator==(const Signature&) const = default;
};

/// Returns "none" below a quarter of `size`, "all" above three quarters, else "part". The shares are coarse on purpose.
/// Allocators round sizes up by as much as a fifth and put headers on pages, and rounding alone is not a change of
/// behavior.
std::string share_of(std::uint64_t bytes, std::uint64_t size);

/// Returns the share of `size` for an upper bound of `at_most` bytes. The bound counts a store of a few bytes as a
/// whole page of `page` bytes. Returns "n/a" if two pages fewer would give another share, because an allocator may keep
/// data of its own at each end of a free block.
std::string share_of_bound(std::uint64_t at_most, std::uint64_t size, std::uint64_t page);

/// The signature of a point that was audited. Zeroing beyond the request is not part of a signature.
Signature signature_of(const Point& point);

/// Fills in unknown zeroing in free from `known`. Returns whether `known` has a known zeroing in free.
bool take_unknown(Signature& signature, const Signature& known);

/// One change of behavior at a threshold. Most documents contain only `words`; a baseline also contains the other
/// fields.
struct BehaviourChange {
  std::string words;  ///< such as "later callocs zero the whole block, needlessly (before: write no zeros)"
  Direction direction = Direction::kNeither;  ///< worse if the side above zeroes, populates or returns more, or fails
  bool fails = false;                         ///< whether the status changes and one of the two sides fails
  static constexpr const char* kSchema = R"({"type": "string", "minLength": 1})";

  /// Changes with equal words are equal.
  bool operator==(const BehaviourChange& other) const { return words == other.words; }
};
using BehaviourChanges = std::vector<BehaviourChange>;
void to_json(Json& json, const BehaviourChange& change);
/// Derives the other fields from the words. A baseline of version 0.2 has only the words.
void from_json(const Json& json, BehaviourChange& change);

/// The changes of behavior between two signatures, in words: first `below`, then `above`.
BehaviourChanges describe_change(const Signature& below, const Signature& above);

/// The direction of all changes together. If some changes are worse and others better, the direction is neither.
Direction direction_of(const BehaviourChanges& changes);

/// Whether the point fails on one side of any change.
bool any_fails(const BehaviourChanges& changes);

/// Whether a word of a behavior means "unknown".
bool is_unknown(const std::string& word);

/// Whether free returns memory to the kernel. A call of madvise counts unless the written pages are known to have
/// stayed, as with MADV_FREE or MADV_DONTDUMP.
bool gives_back(const Behaviour& behaviour);

/// The zeroing in free, in words, such as "; free zeroes the whole block, needlessly"; empty if free writes no zeros,
/// or if that is unknown.
std::string free_words(const Behaviour& behaviour);

/// The effects of the rounds of refill_loop in words, such as "rounds refill next to nothing: memory is kept".
std::string refilling_text(const Signature& signature);

}  // namespace zerotax
