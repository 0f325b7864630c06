#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/table.h"
#include "doctor/check.h"
#include "os/environment.h"

namespace zerotax::doctor {

/// Returns status 3 if a row stops all measurements, 1 (a finding) if a row spoils a run, else 0.
ExitStatus doctor_status(const std::vector<Row>& rows);

/// The default output, which fits one screen.
Answer doctor_answer(const std::vector<Row>& rows);

/// A summary in at most 80 columns, then a line for each row, with its effect and remedy below it.
std::string doctor_text(const std::vector<Row>& rows, const Palette& palette = {});

struct Doctor {
  RESULT("zerotax doctor",
         "The document of zerotax doctor --json: conditions that would spoil or limit a run on this machine. The "
         "checks change "
         "nothing.");
  FIELD(std::string, schema, "Name and version of this format.", one_of("zerotax.doctor/1"));
  FIELD(Measured<Environment>, environment,
        "The machine and kernel, as in a run; n/a if the files of another machine were examined.");
  FIELD(std::string, verdict,
        "The verdict of the worst row: 'ready' (exit status 0), 'spoiled' (1) or 'cannot measure' (3).",
        one_of("ready|spoiled|cannot measure"));
  FIELD(std::vector<Row>, rows, "One row for each check, by topic and name.", least_items(1));
};
Doctor doctor_document(const std::vector<Row>& rows, const Measured<Environment>& environment);

}  // namespace zerotax::doctor
