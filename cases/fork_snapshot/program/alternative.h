#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control.h"
#include "helper.h"

namespace snapshot {

/// A way of getting a snapshot of the array while threads write to it. The calls come in this order, all of them in the
/// main thread; what goes wrong is a std::runtime_error.
class Alternative {
 public:
  virtual ~Alternative() = default;
  /// Why it cannot be done here; empty if it can.
  [[nodiscard]] virtual std::string why_not() const { return ""; }
  /// Whether the array is to be mapped MAP_SHARED; otherwise it is private, of calloc.
  [[nodiscard]] virtual bool wants_shared_array() const { return false; }
  /// Whether the array begins wherever the allocator puts it, as in the published program; otherwise at a page, so that
  /// it can be unmapped in parts.
  [[nodiscard]] virtual bool wants_array_as_allocated() const { return false; }
  /// Where the snapshot goes.
  enum class Destination {
    kShared,     ///< memory shared with the parent, populated beforehand
    kZeroed,     ///< private memory that the parent has written zeros to
    kUntouched,  ///< private memory that nobody has touched
  };
  [[nodiscard]] virtual Destination destination() const { return Destination::kShared; }
  /// Whether begin() comes before the writers are started; otherwise in the middle of their first pass.
  [[nodiscard]] virtual bool begins_first() const { return false; }
  /// Whether there is a snapshot in the end.
  [[nodiscard]] virtual bool takes_snapshot() const { return true; }
  /// Whether a fault on the array is classified correctly by who shares the page, which is all that an ordinary user
  /// can see.
  [[nodiscard]] virtual bool told_by_sharing() const { return true; }
  /// The array is there; nothing was written to it yet.
  virtual void prepare(Job&) {}
  /// The instant of the snapshot: all writers stand still until it returns.
  virtual void begin(Job&) {}
  /// Writers run again. Returns when the snapshot is complete and nothing of its making is left.
  virtual void finish(Job&) {}
  /// With a hold below 1: its share is copied, and the writers are about to go on.
  virtual void held(Job&) {}
  /// The child was waited for. What is done to spare the writers their faults from now on, on a helper thread, which
  /// has ended when this returns.
  virtual void after_end(Job&) {}
  /// That thread; null if there is none.
  [[nodiscard]] virtual const Helper* helper() const { return nullptr; }
};

/// One static object of this kind in alternatives/<name>.cc, and nothing else, adds an alternative.
struct Registration {
  enum class Kind {
    kPublic,     ///< measured where none is named
    kRemedy,     ///< measured on request: a remedy for the faults after the child's end
    kPublished,  ///< measured on request: the benchmark as it was published, and what it is compared with
    kPlanted,    ///< wrong on purpose, for tests
  };
  /// `of`: the alternative that it is a remedy of; of kPublished, that it is compared with; null for all others.
  Registration(const char* name, const char* summary, std::function<std::unique_ptr<Alternative>()> make,
               Kind kind = Kind::kPublic, const char* of = nullptr);
};

struct Registered {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Alternative>()> make;
  Registration::Kind kind;
  std::string of;  ///< empty: of none
};

/// All, by name.
const std::vector<Registered>& all_alternatives();

/// Null if there is none of that name.
std::unique_ptr<Alternative> make_alternative(const std::string& name);

}  // namespace snapshot
