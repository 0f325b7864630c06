#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "snapshot/process/job.h"

namespace zerotax::snapshot {

class Helper;

/// The needs and properties of an alternative.
struct Facts {
  /// Whether the array is mapped MAP_SHARED; otherwise it is private memory of calloc.
  bool shared_array = false;
  /// Whether the array begins where the allocator puts it, as in the published program. Otherwise the array begins at a
  /// page boundary, so that it can be unmapped in parts.
  bool array_as_allocated = false;
  /// The destination of the snapshot.
  enum class Destination {
    kShared,     ///< memory shared with the parent, populated beforehand
    kZeroed,     ///< private memory that the parent has written zeros to
    kUntouched,  ///< private memory that is untouched
  } destination = Destination::kShared;
  /// Whether begin() is called before the writers start. Otherwise begin() is called in the middle of the writers'
  /// first pass.
  bool begins_first = false;
  /// Whether the alternative takes a snapshot at all.
  bool takes_snapshot = true;
  /// Whether the number of processes that share a page classifies a fault on the array correctly. An ordinary user has
  /// no other method.
  bool told_by_sharing = true;
};

/// A way to take a snapshot of the array while threads write to it. The functions are called in this order, all by the
/// main thread. Errors are std::runtime_error.
class Alternative {
 public:
  virtual ~Alternative() = default;
  Facts facts;
  /// The reason why the alternative is unavailable here; empty if it is available.
  [[nodiscard]] virtual std::string why_not() const { return ""; }
  /// Called after the array was allocated, before anything is written to it.
  virtual void prepare(Job&) {}
  /// Called at the instant of the snapshot. All writers are paused until this function returns.
  virtual void begin(Job&) {}
  /// Called when writers run again. Returns when the snapshot is complete and its child or copying threads have ended.
  virtual void finish(Job&) {}
  /// Called only if the hold is below 1. At this moment, the hold's share of the batches is copied, and the writers are
  /// about to resume.
  virtual void held(Job&) {}
  /// Called after the child was waited for. A remedy runs a helper thread here, which spares the writers later faults.
  /// Returns after the helper thread has ended.
  virtual void after_end(Job&) {}
  /// The helper thread; null if there is none.
  [[nodiscard]] virtual const Helper* helper() const { return nullptr; }
};

/// To add an alternative, define a static Registration in a file of alternatives/. No other file lists the
/// alternatives.
enum class Kind {
  kPublic,     ///< measured by default
  kRemedy,     ///< measured on request: a remedy for the faults after the child's end
  kPublished,  ///< measured on request: the benchmark as published, and the alternatives that it is compared with
  kPlanted,    ///< wrong on purpose, for tests
};

struct Registered {
  std::string name;
  std::string summary;
  Facts facts;
  std::function<std::unique_ptr<Alternative>()> make;
  Kind kind;
  std::string of;  ///< the alternative to which this alternative refers; may be empty
};

/// All alternatives, in no particular order.
inline std::vector<Registered>& all_alternatives() {
  static std::vector<Registered> all;
  return all;
}

template <typename Made>
struct Registration {
  /// `of` is the alternative that a remedy is for, or that a kPublished alternative is compared with; `of` is empty for
  /// all other alternatives.
  Registration(const char* name, const char* summary, const Facts& facts, Kind kind = Kind::kPublic,
               const char* of = "") {
    all_alternatives().push_back({name, summary, facts, [] { return std::make_unique<Made>(); }, kind, of});
  }
};

}  // namespace zerotax::snapshot
