#include "findings/document.h"

#include "findings/table.h"
#include "judge/document.h"

namespace zerotax::findings {

Json findings_json(const std::vector<AllocatorFindings>& all, const std::string& run) {
  Json json;
  json["schema"] = "zerotax.findings/1";
  json["run"] = run;
  json["findings"] = Json::array();
  for (const AllocatorFindings& one : all) {
    for (const Finding& finding : one.findings) json["findings"].push_back(finding_json(one, finding));
  }
  json["sentence"] = findings_sentence(all);
  return json;
}

}  // namespace zerotax::findings
