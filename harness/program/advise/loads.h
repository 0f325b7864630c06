#pragma once

#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/result.h"

namespace zerotax::advise {

/// Searches under each load separately, because a remedy may help a server at full rate and harm the same server when
/// it waits between requests. The result has the details of the first load, and `loads` if there are several loads.
/// With several loads, each search tries all remedies, so that each remedy has a verdict under each load.
AdviceResult advise_under(Request request, const std::vector<std::string>& loads);

/// Returns the answer and the complete text for several loads.
Answer loads_answer(const AdviceResult& advice);
std::string loads_text(const AdviceResult& advice);

}  // namespace zerotax::advise
