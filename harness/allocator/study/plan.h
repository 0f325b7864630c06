#pragma once

#include <cstdint>

#include "findings/summary.h"
#include "point/plan.h"

namespace zerotax::study {

/// Returns whether a planned or measured point belongs to the summary's table. A study measures these points first.
bool is_headline(const auto& point) {
  return point.case_name == "calloc_loop" && point.touch == 0 && point.thread == "main" &&
         (point.size_bytes == findings::kHeadlineSizes[0] || point.size_bytes == findings::kHeadlineSizes[1]);
}

/// Adds the points of a quick study, for the headline, for curves, and for refill_loop at four sizes. The curves run
/// from 64 KiB to 1 GiB with nothing touched, and to 128 MiB with everything touched. There are 2 sizes per factor of
/// two up to 128 MiB, and 1 size above. Big blocks have fewer repeats.
void add_quick_study(Plan& plan);

/// Adds the points of a full study, with 4 sizes per factor of two from 64 KiB to 2 GiB. A full study has touched
/// fractions 0, 0.01, 0.1 and 1, both threads, and more repeats than a quick study.
void add_full_study(Plan& plan);

}  // namespace zerotax::study
