#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "point/plan.h"
#include "report/report.h"
#include "run/helper_program.h"

namespace zerotax::report {

/// What to report on.
struct ReportRequest {
  Allocator subject;
  std::vector<Allocator> controls;   ///< measured beside it, and tried with the reproducer
  std::vector<std::uint64_t> sizes;  ///< measured beside the usual ones
  std::string finding;               ///< an id, or empty for all
  double timeout_s = 60;             ///< of one point
  std::vector<std::string> command;
};

/// Thrown where a signal ended the measuring. Nothing was written.
struct ReportInterrupted {};

/// Measures what reports about one allocator are made of.
class ReportSession {
 public:
  ReportSession(ReportRequest request, CCompiler compiler);

  /// Measures points and thresholds, and finds what is wrong with the allocator.
  const AllocatorFindings& survey();

  /// Everything that a report on one of them contains, except for the reproducer. Throws MachineError if a point fails
  /// for lack of memory or the like. Nothing if the finding does not show a second time.
  std::optional<ReportData> measure(const Finding& finding);

  /// Compiles the reproducer and runs it under the allocator and, until one passes, the others. Returns "" and fills in
  /// `data`, or what was seen instead.
  std::string reproduce(ReportData& data) const;

 private:
  [[nodiscard]] std::vector<Point> run(Plan plan) const;
  [[nodiscard]] Plan plan_of(const std::vector<Allocator>& allocators) const;
  std::vector<ReportThreshold> thresholds_of(const std::string& case_name, double touch, const std::string& thread);
  /// Prints which points of the survey have no result. Throws UsageError if none has one.
  void check_measured() const;
  void add_cliff_points();
  void try_knobs(ReportData& data) const;
  void profile(ReportData& data) const;

  ReportRequest request_;
  CCompiler compiler_;
  std::string started_;
  Environment environment_;
  std::vector<Point> points_;  ///< of the survey
  AllocatorFindings found_;
  std::vector<std::pair<std::tuple<std::string, double, std::string>, std::vector<ReportThreshold>>> lanes_;
};

}  // namespace zerotax::report
