#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/builder.h"
#include "bisect/measure.h"

namespace zerotax::bisect {

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
  bool build(Version& version, const std::function<void(const char* what)>& watch) const;
  /// Builds a version; the allocator to measure, or nothing, and why not in `version`. Throws Stop.
  std::optional<Allocator> allocator_of(Version& version, const std::function<void(const char* what)>& watch) const;
  /// The same of a version that was built.
  std::optional<Allocator> allocator_built(Version& version) const;
  /// Builds and measures one. Throws Stop.
  Version measured(const Commit& commit, const Grid& grid, const std::function<void(const char* what)>& watch) const;
  /// Whether an earlier run has built and measured it.
  [[nodiscard]] bool is_known(const Commit& commit, const Grid& grid) const;

 private:
  /// Measures what was built; the reason if that is not possible is in `version`. Throws Stop.
  void measure_allocator(Version& version, const Grid& grid, const std::function<void(const char* what)>& watch) const;
  void measure_program(Version& version, const Grid& grid, const std::function<void(const char* what)>& watch) const;
  [[nodiscard]] std::string document_name(const Commit& commit, const Grid& grid) const;

  const Builder& builder_;
  Workspace& workspace_;
};

}  // namespace zerotax::bisect
