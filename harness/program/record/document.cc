#include "judge/projects.h"
#include "record/inside.h"
#include "record/remedies.h"
#include "record/result.h"

namespace zerotax::record {

void to_json(Json& json, const ReturnedBytes& bytes) {
  json = Json::object();
  for (std::size_t i = 0; i < kMechanisms; ++i) {
    if (bytes.by[i] != 0) json[word(static_cast<Mechanism>(i))] = bytes.by[i];
  }
}
void from_json(const Json& json, ReturnedBytes& bytes) {
  for (std::size_t i = 0; i < kMechanisms; ++i) {
    bytes.by[i] = json.value(word(static_cast<Mechanism>(i)), std::uint64_t{0});
  }
}

ZEROTAX_FIELDS_READ(KnownRemedy, name, env, causes, words, costs, always, threads, huge_pages, since, before, undoes,
                    unbounded, growing)
ZEROTAX_FIELDS_READ(InsideMarks, text, variable)

/// allocators/<name>/upstream.json, as far as it is read here.
struct Upstream {
  std::optional<std::vector<KnownRemedy>> remedies;
  std::optional<InsideMarks> inside;
  std::optional<std::vector<std::string>> setters;
};
ZEROTAX_FIELDS_READ(Upstream, remedies, inside, setters)

namespace {

Upstream upstream(const std::string& allocator) {
  const Json* json = upstream_of(allocator);
  return json == nullptr ? Upstream{} : json->get<Upstream>();
}

}  // namespace

std::vector<KnownRemedy> known_remedies(const std::string& allocator) {
  return upstream(allocator).remedies.value_or(std::vector<KnownRemedy>{});
}

std::vector<std::string> option_setters(const std::string& allocator) {
  return upstream(allocator).setters.value_or(std::vector<std::string>{});
}

std::map<std::string, InsideMarks> inside_marks() {
  std::map<std::string, InsideMarks> marks;
  for (const auto& [allocator, text] : embedded_upstreams()) {
    if (const auto inside = upstream(allocator).inside) marks.emplace(allocator, *inside);
  }
  return marks;
}

Json record_json(const Record& record) { return record; }
Record read_record(const Json& json) { return json.get<Record>(); }

}  // namespace zerotax::record
