#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/measured.h"
#include "base/table.h"
#include "doctor/check.h"
#include "os/environment.h"

namespace zerotax::doctor {

/// 3 (the machine cannot measure) if a row stops it, 1 (a finding) if one spoils it, else 0.
ExitStatus doctor_status(const std::vector<Row>& rows);

/// At most 80 columns: a line for each row, its effect and remedy below it; a summary at the end.
std::string doctor_text(const std::vector<Row>& rows, const Palette& palette = {});

/// What to do next, as a command to paste: the first remedy of what stops a run, else of what spoils it; a study if
/// nothing does. Empty if what does has no remedy.
std::string next_step(const std::vector<Row>& rows);

/// The object of "zerotax.doctor/1" (results/schema/doctor.schema.json).
Json doctor_json(const std::vector<Row>& rows, const Measured<Environment>& environment);

}  // namespace zerotax::doctor
