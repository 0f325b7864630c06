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
  /// The array is mapped MAP_SHARED; otherwise it is private, of calloc.
  bool shared_array = false;
  /// The array begins wherever the allocator puts it, as in the published program; otherwise at a page, so that it can
  /// be unmapped in parts.
  bool array_as_allocated = false;
  /// Where the snapshot goes.
  enum class Destination {
    kShared,     ///< memory shared with the parent, populated beforehand
    kZeroed,     ///< private memory that the parent has written zeros to
    kUntouched,  ///< private memory that nobody has touched
  } destination = Destination::kShared;
  /// begin() comes before the writers are started; otherwise in the middle of their first pass.
  bool begins_first = false;
  /// There is a snapshot in the end.
  bool takes_snapshot = true;
  /// A fault on the array is classified correctly by who shares the page, which is all that an ordinary user can see.
  bool told_by_sharing = true;
};

/// A way of getting a snapshot of the array while threads write to it. The calls come in this order, all of them in the
/// main thread; what goes wrong is a std::runtime_error.
class Alternative {
 public:
  virtual ~Alternative() = default;
  Facts facts;
  /// Why it cannot be done here; empty if it can.
  [[nodiscard]] virtual std::string why_not() const { return ""; }
  /// The array is there; nothing was written to it yet.
  virtual void prepare(Job&) {}
  /// The instant of the snapshot: all writers stand still until it returns.
  virtual void begin(Job&) {}
  /// Writers run again. Returns when the snapshot is complete and nothing of its making is left.
  virtual void finish(Job&) {}
  /// With a hold below 1: its share is copied, and the writers are about to resume.
  virtual void held(Job&) {}
  /// The child was waited for. Spares the writers their faults from now on, if it can, on a helper thread, which has
  /// ended when this returns.
  virtual void after_end(Job&) {}
  /// That thread; null without one.
  [[nodiscard]] virtual const Helper* helper() const { return nullptr; }
};

/// To add an alternative, define a static Registration in a file of alternatives/. Nothing else lists it.
enum class Kind {
  kPublic,     ///< measured where none is named
  kRemedy,     ///< measured on request: a remedy for the faults after the child's end
  kPublished,  ///< measured on request: the benchmark as it was published, and what it is compared with
  kPlanted,    ///< wrong on purpose, for tests
};

struct Registered {
  std::string name;
  std::string summary;
  Facts facts;
  std::function<std::unique_ptr<Alternative>()> make;
  Kind kind;
  std::string of;  ///< empty: of none
};

/// All alternatives, in no particular order.
inline std::vector<Registered>& all_alternatives() {
  static std::vector<Registered> all;
  return all;
}

template <typename Made>
struct Registration {
  /// `of`: the alternative that it is a remedy of; of kPublished, that it is compared with; empty for all others.
  Registration(const char* name, const char* summary, const Facts& facts, Kind kind = Kind::kPublic,
               const char* of = "") {
    all_alternatives().push_back({name, summary, facts, [] { return std::make_unique<Made>(); }, kind, of});
  }
};

}  // namespace zerotax::snapshot
