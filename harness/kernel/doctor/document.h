#pragma once

#include <vector>

#include "base/json.h"
#include "base/measured.h"
#include "doctor/check.h"
#include "os/environment.h"

namespace zerotax::doctor {

/// The object of "zerotax.doctor/1" (results/schema/doctor.schema.json).
Json doctor_json(const std::vector<Row>& rows, const Measured<Environment>& environment);

}  // namespace zerotax::doctor
