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

/// Receives the name of the current step for the progress, such as "building".
using Watch = std::function<void(const char* what)>;

struct MeasuredCommand {
  RESULT("measured command", "The command that is recorded in each version of a program.");
  FIELD(std::string, name, "Name of the command.");
  FIELD(std::vector<std::string>, words,
        "Words of the command. {source} stands for the folder of a version's files, {build} for an empty folder "
        "beside it. A relative path is below {source}.",
        least_items(1), kMayBeEmpty);
  MEMBER(rounds, "The maximum number of runs in each version; the minimum is three.", least(1));
  std::uint64_t rounds = 3;
  FIELD(std::optional<bool>, resident, "True if the metrics of resident memory are measured, too. Otherwise absent.",
        with(R"({"const": true})"));
  std::string library{};  ///< for a recording: path of the version's allocator, below {source} or {build}; otherwise
                          ///< empty
};

struct GridEntry {
  RESULT("grid", "The measurements of each version: of an allocator, or of a command.");
  static constexpr const char* kMore =
      R"({"oneOf": [{"required": ["sizes", "thresholds"]}, {"required": ["command"]}]})";
  FIELD(std::optional<MeasuredCommand>, command, "The recorded command.");
  FIELD(std::optional<std::vector<std::uint64_t>>, sizes,
        "Sizes of calloc_loop, in bytes; if empty, the points of a baseline.", least(1));
  FIELD(std::optional<bool>, thresholds, "Whether there was a search for the sizes at which behavior changes.");
  FIELD(std::optional<std::uint64_t>, to_bytes,
        "The largest size of the search for thresholds, in bytes. Absent without a search.");
};

/// The measurements of each version. All fields except `command` and `timeout_s` are for an allocator.
struct Grid {
  using Written = GridEntry;
  std::vector<std::uint64_t> sizes;  ///< sizes of calloc_loop, in bytes; empty: the points of a baseline
  bool thresholds = true;            ///< search for thresholds, from the smallest size of a baseline's range
  std::uint64_t to_bytes = 0;        ///< largest size of the search; 0: the largest of a baseline's range
  double timeout_s = 60;             ///< time limit of one point, or of one run of the command
  std::size_t side_by_side = 0;      ///< maximum number of simultaneous processes; 0: the number of CPUs

  std::optional<MeasuredCommand> command{};  ///< for a program: the recorded command

  /// Returns the largest size of the search for thresholds.
  [[nodiscard]] std::uint64_t last_bytes() const;
};

/// The deterministic metrics of one version.
struct Measurement {
  baseline::Baseline baseline;
  /// Behavior with nothing touched, on the main thread, in the steady state: every size of the range if thresholds were
  /// searched, otherwise only the measured sizes.
  std::vector<thresholds::Piece> pieces;
  std::optional<baseline::Program> program{};  ///< for a program; if set, all other fields are empty
};

/// Returns why a version cannot be measured at all, because its first point has no result. Empty if it can be measured.
std::string why_unusable(const Allocator& allocator, const Grid& grid);

/// Measures a grid; several audits run at the same time. As for baselines, the clock that the allocator sees is
/// stopped. `watch` is called from one thread at a time. Throws Stop.
Measurement measure(const Allocator& allocator, const Grid& grid, const std::function<void()>& watch);

/// Records a grid's command in a version's folder, as `bless` does. Throws UsageError, MachineError and Stop in the
/// same cases as record::runs::run_once, and UsageError for a command that fails.
baseline::Program measured_program(const Grid& grid, const RecipePlaces& places, const std::function<void()>& watch);

/// Measures a part of a baseline again, as check does. The grid need not be that of a baseline.
baseline::Baseline measure_part(const Allocator& allocator, double timeout_s, const baseline::BaselinePart& part,
                                const PointTime& time, const std::function<void()>& watch);

/// Returns one point with all metrics of an audit. Throws Stop.
Point audited(const Allocator& allocator, const PointSpec& spec, double timeout_s);
/// Returns one point with the metrics of all passes. Only the audit pass sees the stopped clock.
Point measured_in_all_passes(const Allocator& allocator, PointSpec spec, double timeout_s);
/// Audits the points that rules compare: with nothing and everything touched, on both threads. Throws Stop.
std::vector<Point> audited_for_rules(const Allocator& allocator, const std::string& case_name, std::uint64_t size_bytes,
                                     double timeout_s);

/// One version of a project, with the results of its build and its measurement.
struct Version {
  enum class State {
    kNotMeasured,  ///< a signal ended the run before the version was measured; an unknown word is read as this state
    kMeasured,
    kNotBuilt,   ///< the build failed
    kNoLibrary,  ///< the build made no library
    kTimeout,    ///< the build took too long
    kUnusable,   ///< the library is no malloc replacement, crashes or hangs; or the command fails
    kNoProgram,  ///< the build did not make the files that the command needs
  };
  Commit commit;
  State state = State::kNotMeasured;
  std::string reason;  ///< the reason why the version was not measured
  std::optional<Build> build;
  std::optional<Measurement> measurement;  ///< set if the version was measured
  bool measured_earlier = false;           ///< whether an earlier run measured the version
  std::string host;                        ///< host of a fleet that measured the version; otherwise empty
};

ENUM_WORDS(Version::State, "not_measured", "measured", "not_built", "no_library", "timeout", "unusable", "no_program")

/// The reason why the library of a version does not work, kept for later runs. A hang within a shorter time limit is no
/// evidence.
struct Unusable {
  RESULT("unusable");
  FIELD(std::string, unusable, "Reason why the version cannot be used.");
  FIELD(double, timeout_s, "The time limit, in seconds.");
};

/// Returns the state in words, such as "does not build".
const char* text_of(Version::State state);

/// Returns in one line why a version was not measured, such as "it does not build (exit status 2: …; log: …)".
std::string why_not(const Version& version);

/// Builds and measures versions, one after the other, and keeps builds and measurements for later runs.
class Versions {
 public:
  Versions(const Builder& builder, Workspace& workspace) : builder_(builder), workspace_(workspace) {}

  /// Builds a version. Returns false, with the reason in `version`, if that fails. Throws Stop.
  bool build(Version& version, const Watch& watch) const;
  /// Builds a version and returns the allocator to measure, or nothing, with the reason in `version`. Throws Stop.
  std::optional<Allocator> allocator_of(Version& version, const Watch& watch) const;
  /// Returns the allocator of a version that was built, or nothing, with the reason in `version`.
  std::optional<Allocator> allocator_built(Version& version) const;
  /// Builds and measures a version. Throws Stop.
  [[nodiscard]] Version measured(const Commit& commit, const Grid& grid, const Watch& watch) const;
  /// Returns whether an earlier run has built and measured a version.
  [[nodiscard]] bool is_known(const Commit& commit, const Grid& grid) const;

 private:
  /// Measures a version that was built. If that fails, the reason is in `version`. Throws Stop.
  void measure_allocator(Version& version, const Grid& grid, const Watch& watch) const;
  void measure_program(Version& version, const Grid& grid, const Watch& watch) const;
  [[nodiscard]] std::string document_name(const Commit& commit, const Grid& grid) const;

  const Builder& builder_;
  Workspace& workspace_;
};

}  // namespace zerotax::bisect
