#include "doctor/document.h"

#include "base/fields.h"
#include "doctor/table.h"

namespace zerotax::doctor {

Json doctor_json(const std::vector<Row>& rows, const Measured<Environment>& environment) {
  Json json;
  json["schema"] = "zerotax.doctor/1";
  json["environment"] = environment;
  const ExitStatus status = doctor_status(rows);
  json["verdict"] = status == ExitStatus::kDone      ? "ready"
                    : status == ExitStatus::kFinding ? "spoiled"
                                                     : "cannot measure";
  json["rows"] = Json::array();
  for (const Row& row : rows) {
    const Finding& finding = row.finding;
    json["rows"].push_back({{"topic", topic_word(row.topic)},
                            {"name", row.name},
                            {"state", static_cast<const Measured<std::string>&>(finding.state)},
                            {"weight", weight_word(finding.weight)},
                            {"effect", finding.effect.empty() ? Json(nullptr) : Json(finding.effect)},
                            {"remedy", finding.remedy.empty() ? Json(nullptr) : Json(finding.remedy)}});
  }
  return json;
}

}  // namespace zerotax::doctor
