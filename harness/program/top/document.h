#pragma once

#include "base/json.h"
#include "top/result.h"

namespace zerotax::top {

Json sample_json(const Sample& sample);

}  // namespace zerotax::top
