#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "judge/search.h"
#include "point/plan.h"

namespace zerotax::thresholds {

/// One allocator under one touch and thread, searched from the smallest size to the largest.
struct ThresholdLane {
  Allocator allocator;
  double touch = 0;
  std::string thread;  ///< "main" or "worker"
  bool searched = false;
  ThresholdSearch found;
  std::uint64_t from_bytes = 0;  ///< the smallest size
  std::uint64_t to_bytes = 0;    ///< the largest
  /// Of the first probe that failed, as in "at 64 KiB: crashed: …"; empty if none did. With a value, so that one may be
  /// made without naming it.
  std::string failure = "";  // NOLINT(readability-redundant-string-init)
  std::string host = {};     ///< of a fleet, which searched it; else empty
                             ///< NOLINT(readability-redundant-string-init)
};

/// Why a lane is evidence of a failing allocator rather than of sizes at which a good one changes behaviour; empty if
/// it does not.
std::string failure_of(const ThresholdLane& lane);

inline constexpr const char* kSchema = "zerotax.thresholds/1";

/// A search for thresholds, as far as it was made.
struct Thresholds : DocumentHead {
  std::string case_name = kPlainCase;
  Json environments = {};  ///< of a fleet, by host; else null
  std::vector<ThresholdLane> lanes;

  [[nodiscard]] bool is_plain() const { return case_name == kPlainCase; }
};

/// What later callocs do at a size, as the table and the map call it.
enum class Doing : std::uint8_t { kNoZerosBack, kNoZerosKept, kDirty, kNeedless, kUnknown };

struct DoingWords {
  const char* key;    ///< in JSON
  const char* words;  ///< for people
};
/// By Doing.
const std::array<DoingWords, 5>& doings();
const DoingWords& words_of(Doing doing);

Doing doing_of(const Signature& signature);

/// What calloc does from one size to another, both included.
struct Piece {
  std::uint64_t from_bytes = 0;
  std::uint64_t to_bytes = 0;
  Doing word = Doing::kUnknown;
  bool operator==(const Piece&) const = default;
};

/// The pieces of a search up to a size. Neighbours that do the same are one piece.
std::vector<Piece> pieces_of(const ThresholdSearch& found, std::uint64_t from_bytes, std::uint64_t to_bytes);

struct MapLane {
  const ThresholdLane* lane;
  std::string name;  ///< of the allocator, with its settings
  std::vector<Piece> pieces;
  bool like_main = false;  ///< of a worker thread: all of it is as on the main thread
};

/// What can be seen of a search of kPlainCase: the lanes that were searched, and what is said of them.
struct Map {
  std::string title;
  std::string sentence;
  std::vector<std::string> notes;
  std::vector<MapLane> lanes;
};
/// It lives no longer than the search.
Map map_of(const Thresholds& thresholds);

}  // namespace zerotax::thresholds
