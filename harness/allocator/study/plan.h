#pragma once

#include <cstdint>

#include "findings/summary.h"
#include "point/plan.h"

namespace zerotax::study {

/// Whether a point, planned or measured, is one of those of the summary's table, which a study measures first.
bool is_headline(const auto& point) {
  return point.case_name == "calloc_loop" && point.touch == 0 && point.thread == "main" &&
         (point.size_bytes == findings::kHeadlineSizes[0] || point.size_bytes == findings::kHeadlineSizes[1]);
}

/// Fills a plan with the study's points: the headline's; curves from 64 KiB to 1 GiB, nothing touched and, up to 128
/// MiB, everything touched; and refill_loop at four sizes. Quick: 2 sizes per octave up to 128 MiB, 1 above, big blocks
/// repeated less.
void add_quick_study(Plan& plan);

/// Full: 4 sizes per octave from 64 KiB to 2 GiB, touched fractions 0, 0.01, 0.1 and 1, both threads, more repeats.
void add_full_study(Plan& plan);

}  // namespace zerotax::study
