#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/statistics.h"
#include "measure.h"

/// The measurements of one program, from complete rounds only.
struct MeasuredProgram {
  Program program;
  std::string missing;                           ///< reason why the program cannot run here; empty if it can run
  std::map<std::string, std::vector<Run>> runs;  ///< by contender: one run per round, up to the first failure. The
                                                 ///< contenders that `judge` uses may have more rounds than others.

  /// Returns the number of complete rounds.
  [[nodiscard]] std::size_t rounds() const;
  /// Returns "ok" or the outcome of the contender's last run. If the output of a run differs from that under default
  /// glibc, returns "other output".
  [[nodiscard]] std::string status(const std::string& contender) const;
  /// Returns the median of a metric over the rounds; std::nullopt if the contender failed.
  [[nodiscard]] std::optional<double> median(const std::string& contender, double (*figure)(const Figures&)) const;
};

/// The ratio of two contenders' costs: the median over the rounds, and its 95 % bootstrap interval.
struct Ratio {
  double median;
  zerotax::Interval interval;
};

double faults_of(const Figures& figures);
double cpu_of(const Figures& figures);
double peak_of(const Figures& figures);

/// Returns default or raised glibc, whichever is cheaper by the median of this metric; empty if both failed.
std::string baseline(const MeasuredProgram& measured, double (*figure)(const Figures&));

/// Returns std::nullopt if either contender failed, or if the metric of `other` is 0.
std::optional<Ratio> ratio(const MeasuredProgram& measured, const std::string& contender, const std::string& other,
                           double (*figure)(const Figures&));

/// Whether `adaptive` keeps its promises for a program. A promise about time is broken if the whole interval of the
/// ratio is above the limit.
struct Promises {
  bool faults_kept;  ///< faults: at most 1.05 times the cheaper glibc's
  bool cpu_kept;     ///< CPU time: at most 1.02 times the cheaper glibc's
  bool faster_kept;  ///< CPU time: no more than under default glibc
  bool memory_kept;  ///< peak memory: at most 1.15 times default glibc's

  [[nodiscard]] bool all() const { return faults_kept && cpu_kept && faster_kept && memory_kept; }
};

/// Returns std::nullopt if `adaptive` or default glibc was not measured, or if glibc failed. If `adaptive` failed, all
/// promises are broken.
std::optional<Promises> judge(const MeasuredProgram& measured);

/// Whether further rounds could change the verdict of `judge` on CPU time. Further rounds are useless if the interval
/// is below the limit, or above one and a half times the limit. On a noisy machine, seven rounds measured a ratio of
/// 1.12, and thirty rounds 1.01.
bool is_undecided(const MeasuredProgram& measured);

/// Whether `judge` uses this contender: `adaptive`, default glibc or raised glibc.
bool is_judged(const std::string& contender);

/// Formats a table with a row per contender.
std::string program_text(const MeasuredProgram& measured, const std::vector<Contender>& contenders);

/// Returns an element of "programs" in the document.
zerotax::Json program_json(const MeasuredProgram& measured, const std::vector<Contender>& contenders);
