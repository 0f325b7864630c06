#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "baseline/lasting_changes.h"
#include "baseline/program.h"
#include "bisect/builder.h"
#include "bisect/recipe.h"
#include "thresholds/map.h"

namespace zerotax::bisect {

/// Receives the name of the current step, to show progress: "building".
using Watch = std::function<void(const char* what)>;

/// What is measured of each version of a program.
struct MeasuredCommand {
  std::string name;
  std::vector<std::string> words;  ///< {source} and {build} stand for folders, a relative path is below {source}
  std::uint64_t rounds = 3;        ///< runs at most, and at least three
  std::string library{};           ///< of a recording: the version's allocator, at the same places; else empty
};

/// What is measured of each version: of an allocator, but for `command` and `timeout_s`.
struct Grid {
  std::vector<std::uint64_t> sizes;  ///< of calloc_loop, in bytes; empty: the points of a baseline
  bool thresholds = true;            ///< from the smallest size of a baseline's range
  std::uint64_t to_bytes = 0;        ///< to this one; 0: to the largest of a baseline's range
  double timeout_s = 60;             ///< of one point, or of one run of the command
  std::size_t side_by_side = 0;      ///< processes at a time, at most; 0: as many as there are CPUs

  std::optional<MeasuredCommand> command{};  ///< of a program

  /// The largest size at which a threshold is looked for.
  [[nodiscard]] std::uint64_t last_bytes() const;
};

/// The deterministic metrics of one version.
struct Measurement {
  baseline::Baseline baseline;
  /// With nothing touched, on the main thread, in the steady state: every size of the range if thresholds were
  /// searched, else the measured sizes alone.
  std::vector<thresholds::Piece> pieces;
  std::optional<baseline::Program> program{};  ///< of a program, and then nothing else
};

/// Why a version cannot be measured at all: its first point has no result. Empty if it can.
std::string why_unusable(const Allocator& allocator, const Grid& grid);

/// Measures a grid, audits side by side, with the clock that the allocator sees stopped, as baselines are. `watch` is
/// called from one thread at a time. Throws Stop.
Measurement measure(const Allocator& allocator, const Grid& grid, const std::function<void()>& watch);

/// Records a grid's command, in a version's folder, as `bless` does. Throws UsageError, MachineError and Stop as
/// record::runs::run_once does, and UsageError for a command that fails.
baseline::Program measured_program(const Grid& grid, const RecipePlaces& places, const std::function<void()>& watch);

/// Measures a part of a baseline again, as check does, on any grid.
baseline::Baseline measure_part(const Allocator& allocator, double timeout_s, const baseline::BaselinePart& part,
                                const PointTime& time, const std::function<void()>& watch);

/// One point with all that an audit sees. Throws Stop.
Point audited(const Allocator& allocator, const PointSpec& spec, double timeout_s);
/// The same with what the other passes count, too; they see the real clock.
Point measured_in_all_passes(const Allocator& allocator, PointSpec spec, double timeout_s);
/// Audits of what rules hold against each other: nothing and everything touched, on both threads. Throws Stop.
std::vector<Point> audited_for_rules(const Allocator& allocator, const std::string& case_name, std::uint64_t size_bytes,
                                     double timeout_s);

/// One version of a project: what became of building it and of measuring it.
struct Version {
  enum class State {
    kMeasured,
    kNotBuilt,     ///< its build failed
    kNoLibrary,    ///< its build made no library
    kTimeout,      ///< its build took too long
    kUnusable,     ///< its library is no malloc replacement, crashes or hangs; its command fails
    kNotMeasured,  ///< a signal came first
    kNoProgram,    ///< its build did not make what the command needs
  };
  Commit commit;
  State state = State::kNotMeasured;
  std::string reason;  ///< why it was not measured
  std::optional<Build> build;
  std::optional<Measurement> measurement;  ///< there if it was measured
  bool measured_earlier = false;           ///< by an earlier run
  std::string host;                        ///< of a fleet, which measured it; else empty
};

/// What later runs know of a version whose library does not work. A hang within a shorter time limit says nothing.
struct Unusable {
  std::string unusable;  ///< why
  double timeout_s = 0;
};

/// For people: "does not build".
const char* text_of(Version::State state);

/// Why a version was not measured, for one line: "it does not build (exit status 2: …; log: …)".
std::string why_not(const Version& version);

/// Builds and measures versions, one after the other, and keeps both for later runs.
class Versions {
 public:
  Versions(const Builder& builder, Workspace& workspace) : builder_(builder), workspace_(workspace) {}

  /// Builds a version. False if that is not possible, and then why is in `version`. Throws Stop.
  bool build(Version& version, const Watch& watch) const;
  /// Builds a version; the allocator to measure, or nothing, and why not in `version`. Throws Stop.
  std::optional<Allocator> allocator_of(Version& version, const Watch& watch) const;
  /// The same of a version that was built.
  std::optional<Allocator> allocator_built(Version& version) const;
  /// Builds and measures one. Throws Stop.
  [[nodiscard]] Version measured(const Commit& commit, const Grid& grid, const Watch& watch) const;
  /// Whether an earlier run has built and measured it.
  [[nodiscard]] bool is_known(const Commit& commit, const Grid& grid) const;

 private:
  /// Measures what was built; the reason if that is not possible is in `version`. Throws Stop.
  void measure_allocator(Version& version, const Grid& grid, const Watch& watch) const;
  void measure_program(Version& version, const Grid& grid, const Watch& watch) const;
  [[nodiscard]] std::string document_name(const Commit& commit, const Grid& grid) const;

  const Builder& builder_;
  Workspace& workspace_;
};

}  // namespace zerotax::bisect
