#pragma once

#include "base/json.h"
#include "findings/tax.h"

namespace zerotax::study {

/// {NAME: {"title": …}} for each figure of plots/ that is drawn from points: what it shows, in one line without a full
/// stop. {"na": why} where there is too little to compare; the figure then has the title of its axes.
Json figure_titles(const findings::Verdicts& verdicts);

}  // namespace zerotax::study
