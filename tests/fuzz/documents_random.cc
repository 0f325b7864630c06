// Damages every document that a command reads back. The damage is extreme numbers, missing keys, values of another
// type, shorter and longer arrays, and text that is not JSON. A reader must either refuse a document by a
// zerotax::Error, or turn the document into tables and back into the same document. Usage: documents_random [--seconds
// N] [--seed N]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "base/error.h"
#include "document_kinds.h"
#include "files/folders.h"
#include "os/input_file.h"
#include "random_input.h"

namespace {

using namespace zerotax;

/// Returns a replacement for a value. The replacement often has the same type, so that the schema accepts it.
Json some_value(const Json& old, fuzz::Random& random) {
  if (fuzz::one_in(random, 5)) {
    static const Json kOthers[] = {
        nullptr, true, 0, -1, 0.5, "", "x", Json::array(), Json::object(), Json{{"na", "why"}}, Json{{"na", 7}}};
    return kOthers[random() % std::size(kOthers)];
  }
  switch (old.type()) {
    case Json::value_t::number_unsigned:
    case Json::value_t::number_integer:
      return fuzz::some_number(random);
    case Json::value_t::number_float:
      switch (random() % 4) {
        case 0:
          return 0.0;
        case 1:
          return -old.get<double>();
        case 2:
          return fuzz::one_in(random, 2) ? 1e308 : 5e-324;
        default:
          return static_cast<double>(fuzz::some_number(random));
      }
    case Json::value_t::string:
      return fuzz::one_in(random, 2) ? std::string(random() % 300, 'x')
                                     : fuzz::damaged_text(old.get<std::string>() + " ", random);
    case Json::value_t::boolean:
      return !old.get<bool>();
    default:
      return old;
  }
}

/// Changes a value at or below this place in the document.
void damage(Json& json, fuzz::Random& random) {
  if (json.is_structured() && !json.empty() && !fuzz::one_in(random, 12)) {
    auto at = json.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random() % json.size()));
    if (!at->is_structured() && fuzz::one_in(random, 4)) {
      json.erase(at);
    } else if (json.is_array() && fuzz::one_in(random, 6)) {
      const Json copy = *at;
      json.push_back(copy);
    } else {
      damage(*at, random);
    }
    return;
  }
  json = json.is_structured() && fuzz::one_in(random, 2) ? (json.is_array() ? Json::array() : Json::object())
                                                         : some_value(json, random);
}

std::string damaged(const std::string& sample, fuzz::Random& random) {
  if (fuzz::one_in(random, 6) || !Json::accept(sample)) return fuzz::damaged_text(sample, random);
  Json json = Json::parse(sample);
  if (fuzz::one_in(random, 4)) json = shortened(std::move(json), random() % 3);
  for (std::uint64_t left = 1 + random() % 4; left > 0; --left) damage(json, random);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Whether the reader of this kind accepted the file.
bool is_accepted(const Kind& kind, const std::string& path, const std::string& sample) {
  try {
    kind.read(path, sample);
    return true;
  } catch (const Error&) {
    return false;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s: %s\n%s\n", kind.name, problem.what(), text_of(path).substr(0, 20'000).c_str());
    std::abort();
  }
}

}  // namespace

int main(int count, char** words) {
  const fuzz::Options options(count, words);
  const TemporaryFolder folder("documents");
  std::vector<Kind> all = kinds();
  for (const Kind& kind : all) {
    const std::string path = folder.file(std::string(kind.name) + ".json");
    write_text(path, kind.sample);
    // The plan names versions of allocators that another machine may lack.
    if (!is_accepted(kind, path, path) && std::string_view(kind.name) != "plan") {
      std::fprintf(stderr, "%s: the sample is refused\n", kind.name);
      return 1;
    }
  }
  const std::uint64_t tried = fuzz::try_seeds(options, [&](fuzz::Random& random) {
    Kind& kind = all[random() % all.size()];
    const std::string path = folder.file("damaged.json");
    write_text(path, damaged(kind.sample, random));
    ++kind.tried;
    if (is_accepted(kind, path, folder.file(std::string(kind.name) + ".json"))) ++kind.accepted;
  });
  for (const Kind& kind : all) {
    std::printf("%s: %llu of %llu accepted\n", kind.name, static_cast<unsigned long long>(kind.accepted),
                static_cast<unsigned long long>(kind.tried));
  }
  std::printf("%llu documents\n", static_cast<unsigned long long>(tried));
  return 0;
}
