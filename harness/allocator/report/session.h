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

/// The subject and the options of reports.
struct ReportRequest {
  Allocator subject;
  std::vector<Allocator> controls;   ///< other allocators, measured for comparison and used as controls for the
                                     ///< reproducer
  std::vector<std::uint64_t> sizes;  ///< sizes measured in addition to the usual ones
  std::string finding;               ///< id of a finding; empty for all
  double timeout_s = 60;             ///< time limit of one point
  std::vector<std::string> command;
};

/// Thrown if a signal ended the measurement before anything was written.
struct ReportInterrupted {};

/// Takes the measurements for reports about one allocator.
class ReportSession {
 public:
  ReportSession(ReportRequest request, CCompiler compiler);

  /// Measures points and thresholds, and returns the allocator's findings.
  const AllocatorFindings& survey();

  /// Takes the measurements for a report on a finding, except for the reproducer. Returns nothing if the finding does
  /// not show again. Throws MachineError if a point fails, for example for lack of memory.
  std::optional<ReportData> measure(const Finding& finding);

  /// Compiles the reproducer, and runs it under the allocator and under the controls until one control does not show
  /// the finding. Returns "" and stores the runs in `data`, or returns the reason of a failure.
  std::string reproduce(ReportData& data) const;

 private:
  [[nodiscard]] std::vector<Point> run(Plan plan) const;
  [[nodiscard]] Plan plan_of(const std::vector<Allocator>& allocators) const;
  std::vector<MeasuredThreshold> thresholds_of(const std::string& case_name, double touch, const std::string& thread);
  /// Prints which points of the survey have no result. Throws UsageError if no point has a result.
  void check_measured() const;
  void add_cliff_points();
  void try_knobs(ReportData& data) const;
  void profile(ReportData& data) const;

  ReportRequest request_;
  CCompiler compiler_;
  std::string started_;
  Environment environment_;
  std::vector<Point> points_;  ///< points of the survey
  AllocatorFindings found_;
  std::vector<std::pair<std::tuple<std::string, double, std::string>, std::vector<MeasuredThreshold>>> lanes_;
};

}  // namespace zerotax::report
