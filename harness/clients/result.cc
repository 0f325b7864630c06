#include "clients/result.h"

#include <fmt/format.h>

namespace zerotax::clients {

Json to_json(const ClientResult& result) {
  Json json;
  json["allocator"] = result.allocator;
  json["version"] = result.version;
  json["preload"] = result.preload ? Json(*result.preload) : Json(nullptr);
  json["env"] = result.env;
  json["client"] = result.client;
  json["size_bytes"] = result.size_bytes;
  json["status"] = word_of(result.status);
  json["reason"] = result.reason.empty() ? Json(nullptr) : Json(result.reason);
  if (!result.rates) {
    const Json why = not_available(fmt::format("{}: {}", word_of(result.status), result.reason));
    for (const char* key :
         {"versions", "ops", "received_bytes", "mb_per_s", "cpu_s_per_gb", "faults_per_mb", "max_resident_bytes"}) {
      json[key] = why;
    }
    return json;
  }
  json["versions"] = result.rates->versions;
  json["ops"] = result.rates->ops;
  json["received_bytes"] = result.rates->received_bytes;
  json["mb_per_s"] = result.rates->mb_per_s;
  json["cpu_s_per_gb"] = result.rates->cpu_s_per_gb;
  json["faults_per_mb"] = result.rates->faults_per_mb;
  json["max_resident_bytes"] = result.rates->max_resident_bytes;
  return json;
}

std::optional<ClientRates> rates_from_line(const std::string& line) {
  const Json said = Json::parse(line, nullptr, false);
  try {
    ClientRates rates;
    rates.versions = said.at("versions").get<std::map<std::string, std::string>>();
    rates.ops = said.at("ops");
    rates.received_bytes = said.at("received_bytes");
    const auto received = static_cast<double>(rates.received_bytes);
    rates.mb_per_s = received / 1e6 / said.at("wall_s").get<double>();
    rates.cpu_s_per_gb = said.at("cpu_s").get<double>() / (received / 1e9);
    rates.faults_per_mb = said.at("faults").get<double>() / (received / 1e6);
    rates.max_resident_bytes = said.at("max_resident_bytes");
    return rates;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace zerotax::clients
