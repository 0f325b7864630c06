#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/json.h"
#include "judge/search.h"
#include "point/plan.h"

namespace zerotax::thresholds {

/// One allocator with one touch and thread, searched from the smallest size to the largest.
struct ThresholdLane {
  Allocator allocator;
  double touch = 0;
  std::string thread;  ///< "main" or "worker"
  bool searched = false;
  ThresholdSearch found;
  std::uint64_t from_bytes = 0;  ///< smallest size
  std::uint64_t to_bytes = 0;    ///< largest size
  /// Description of the first probe that failed, such as "at 64 KiB: crashed: …"; empty if no probe failed. The default
  /// value lets designated initializers omit this field.
  std::string failure = "";  // NOLINT(readability-redundant-string-init)
  std::string host = {};     ///< host that searched the lane; empty if not in a fleet
};

/// Returns the failure of a lane's allocator, in words. Empty if the allocator works, so that the lane shows sizes at
/// which behavior changes.
std::string failure_of(const ThresholdLane& lane);

inline constexpr const char* kSchema = "zerotax.thresholds/1";

/// A search for thresholds, possibly incomplete.
struct Thresholds : DocumentHead {
  std::string case_name = kPlainCase;
  Json environments = {};  ///< environments of a fleet by host; null on one host
  std::vector<ThresholdLane> lanes;

  [[nodiscard]] bool is_plain() const { return case_name == kPlainCase; }
};

/// Behavior of later callocs at a size, as named in the table and the map.
enum class Doing : std::uint8_t { kNoZerosBack, kNoZerosKept, kDirty, kNeedless, kUnknown };
ENUM_WORDS(Doing, "no_zeros_back", "no_zeros_kept", "dirty", "needless", "unknown")

struct DoingWords {
  const char* key;    ///< in JSON
  const char* words;  ///< text for users
};
/// Returns the words in the order of Doing.
const std::array<DoingWords, 5>& doings();
const char* words_for(Doing doing);

Doing doing_of(const Signature& signature);

struct Piece {
  RESULT("piece", "A range of sizes at which later calls to calloc behave the same.");
  FIELD(std::uint64_t, from_bytes, "Smallest size of the range, in bytes.", least(1));
  FIELD(std::uint64_t, to_bytes, "Largest size of the range, in bytes, inclusive.", least(1));
  FIELD(
      Doing, word,
      "Behavior of later calls to calloc and free. no_zeros_back: no zeros are written, and memory goes back to the "
      "kernel. no_zeros_kept: no zeros are written, and memory is kept. dirty: dirty memory is zeroed. needless: some "
      "or all of the zeroed memory was already zero.");
  bool operator==(const Piece&) const = default;
};

/// Divides the range of a search into pieces. Neighboring sizes with the same behavior form one piece.
std::vector<Piece> pieces_of(const ThresholdSearch& found, std::uint64_t from_bytes, std::uint64_t to_bytes);

struct MapLane {
  const ThresholdLane* lane;
  std::string name;  ///< name of the allocator with its settings
  std::vector<Piece> pieces;
  bool like_main = false;  ///< whether a worker's lane equals the main thread's
};

/// A map of a search of kPlainCase: the lanes that were searched, and sentences about them.
struct Map {
  std::string title;
  std::string sentence;
  std::vector<std::string> notes;
  std::vector<MapLane> lanes;
};
/// Returns the map of a search. The search must outlive the map.
Map map_of(const Thresholds& thresholds);

/// Returns the answer: the number of thresholds, those that change what later calls zero, and the most costly one.
/// `words` are as in next_step().
Answer answer(const Thresholds& thresholds, const std::vector<std::string>& words = {});

}  // namespace zerotax::thresholds
