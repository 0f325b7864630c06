#pragma once

#include <vector>

#include "advise/search.h"

namespace zerotax::advise {

/// The logarithms of each candidate's runs, divided by the mean of the present state's runs before and
/// after it: so much a machine that slows down takes out. One list for each candidate.
std::vector<std::vector<double>> ratios_to_neighbours(const std::vector<SearchRun>& runs, std::size_t candidates,
                                                      Goal goal);

/// The standard deviation of the logarithm of one run of the present state, from the differences of successive ones, by
/// their median: a run that was disturbed does not count. At least 0.3 %.
double noise_of_present(const std::vector<SearchRun>& runs, Goal goal);

/// The standard deviation of a score, the mean of the ratios to neighbours of `runs` runs.
double noise_of_score(double noise, std::size_t runs);

/// What a few runs say: FASTER or SLOWER beyond band and three times the noise, SAME where twice the noise leaves no
/// room for a tenth.
TimeVerdict::Kind kind_of_score(double score, double score_noise, double band);

/// Pairs of runs to prove a gain of this size (a logarithm) at `alpha`, nine times out of ten; `fewest` at least.
unsigned pairs_needed(double gain, double noise, double alpha, unsigned most);

/// The median of a figure over the runs of a candidate, or kPresent, that ended well; 0 if there are none.
double median_figure(const std::vector<SearchRun>& runs, std::size_t candidate, Goal goal);

}  // namespace zerotax::advise
