#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/statistics.h"
#include "measure.h"

/// The measurements of one program, of complete rounds only.
struct MeasuredProgram {
  Program program;
  std::string missing;                           ///< why it cannot run here; empty if it can
  std::map<std::string, std::vector<Run>> runs;  ///< by contender: one run per round, up to the first failure. Judged
                                                 ///< contenders may have more rounds than others

  /// The number of complete rounds.
  [[nodiscard]] std::size_t rounds() const;
  /// "ok", how the contender's last run ended, or "other output" if the output of a run differs from that under default
  /// glibc.
  [[nodiscard]] std::string status(const std::string& contender) const;
  /// Median of a figure over the rounds; none if the contender failed.
  [[nodiscard]] std::optional<double> median(const std::string& contender, double (*figure)(const Figures&)) const;
};

/// One contender's cost as a multiple of another's: the median of the ratios of the rounds, and its 95 % bootstrap
/// interval.
struct Ratio {
  double median;
  zerotax::Interval interval;
};

double faults_of(const Figures& figures);
double cpu_of(const Figures& figures);
double peak_of(const Figures& figures);

/// The cheaper of default and raised glibc by the median of this figure; empty if both failed.
std::string baseline(const MeasuredProgram& measured, double (*figure)(const Figures&));

/// None if either contender failed, or if `other` has a figure of 0.
std::optional<Ratio> ratio(const MeasuredProgram& measured, const std::string& contender, const std::string& other,
                           double (*figure)(const Figures&));

/// The promises of `adaptive` for a program. A ratio of times breaks its promise if its whole interval is above the
/// limit.
struct Promises {
  bool faults_kept;  ///< at most 1.05 times the cheaper glibc's
  bool cpu_kept;     ///< at most 1.02 times the cheaper glibc's
  bool faster_kept;  ///< no slower than default glibc
  bool memory_kept;  ///< peak at most 1.15 times default glibc's

  [[nodiscard]] bool all() const { return faults_kept && cpu_kept && faster_kept && memory_kept; }
};

/// None if adaptive or default glibc were not measured, or glibc failed; all broken if adaptive failed.
std::optional<Promises> judge(const MeasuredProgram& measured);

/// Whether further rounds could change the verdict of `judge` on CPU time. They cannot if an interval is below its
/// limit, or above one and a half times the limit. (On a noisy machine seven rounds find 1.12 where thirty find 1.01.)
bool is_undecided(const MeasuredProgram& measured);

/// Whether `judge` uses this contender: it uses adaptive and the two glibcs.
bool is_judged(const std::string& contender);

/// One table: a row a contender.
std::string program_text(const MeasuredProgram& measured, const std::vector<Contender>& contenders);

/// An element of "programs" of the document.
zerotax::Json program_json(const MeasuredProgram& measured, const std::vector<Contender>& contenders);
