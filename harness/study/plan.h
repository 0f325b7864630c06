#pragma once

#include "core/plan.h"

namespace zerotax::study {

/// Fills a plan with the study's points: the 100 MiB and 1000 MiB of the 2016 report, and curves from 64 KiB to 1
/// GiB, nothing touched and, up to 128 MiB, everything touched; and refill_loop at four sizes. Quick: 4 sizes per
/// octave up to 64 MiB, 2 up to 128 MiB, 1 above, big blocks repeated less.
void add_quick_study(Plan& plan);

/// Full: 4 sizes per octave from 64 KiB to 2 GiB, touched fractions 0, 0.01, 0.1 and 1, both threads, more repeats.
void add_full_study(Plan& plan);

}  // namespace zerotax::study
