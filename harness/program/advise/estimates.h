#pragma once

#include <functional>
#include <vector>

#include "advise/search.h"

namespace zerotax::advise {

/// Number of candidates that run between two unchanged runs.
inline constexpr std::size_t kBetween = 3;

/// Returns the logarithm of the ratio of each run to its reference, for each candidate. The reference is the mean of
/// the unchanged runs before and after, which cancels most of the drift of a machine that becomes slower.
std::vector<std::vector<double>> ratios_to_neighbours(const std::vector<SearchRun>& runs, std::size_t candidates,
                                                      Goal goal);

/// Returns the standard deviation of the logarithm of one unchanged run, at least 0.3 %. The estimate uses the median
/// difference of successive unchanged runs, so that a single disturbed run has little effect.
double noise_of_present(const std::vector<SearchRun>& runs, Goal goal);

/// Returns the standard deviation of a score. A score combines the ratios of `runs` runs to their references. `noise`
/// is the standard deviation for one unchanged run.
double noise_of_score(double noise, std::size_t runs);

/// Returns the verdict of a few runs. FASTER or SLOWER: the score exceeds the band and three times its noise. SAME: the
/// score plus twice its noise is below twice the band. AMBIGUOUS: all other cases.
TimeVerdict::Kind kind_of_score(double score, double score_noise, double band);

/// Returns the number of pairs of runs that prove a gain of this size (a logarithm) at level `alpha` nine times out of
/// ten; at most `most`.
unsigned pairs_needed(double gain, double noise, double alpha, unsigned most);

/// Returns the median of a metric over the successful runs of a candidate (or kPresent); 0 if no run succeeded.
double median_figure(const std::vector<SearchRun>& runs, std::size_t candidate, Goal goal);

/// Returns whether a candidate's peak memory exceeds memory_ratio and memory_slack of the method.
bool is_peak_heavy(const std::vector<SearchRun>& runs, std::size_t candidate, const SearchMethod& method);

/// Updates the noise and all standings of a search from its runs so far. `is_heavy` returns whether a candidate takes
/// too much of another metric.
void rate_standings(SearchResult& result, Goal goal, double band, const std::function<bool(std::size_t)>& is_heavy);

}  // namespace zerotax::advise
