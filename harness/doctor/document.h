#pragma once

#include <vector>

#include "base/json.h"
#include "doctor/check.h"

namespace zerotax::doctor {

/// The object of "zerotax.doctor/1" (results/schema/doctor.schema.json).
Json doctor_json(const std::vector<Row>& rows, const Json& environment);

}  // namespace zerotax::doctor
