#pragma once

#include "advise/result.h"

namespace zerotax::advise {

Json advise_json(const AdviceResult& advice);
AdviceResult read_advise(const Json& json);
Json self_test_json(const SelfTest& test);

/// Whether programs may have transparent huge pages, by what describe_environment says.
bool has_huge_pages(const Json& environment);

}  // namespace zerotax::advise
