#include "files/document.h"

#include <fmt/ranges.h>

#include "prove/result.h"

namespace zerotax::prove {

std::string source_text(const FindingProgram& program) { return fmt::format("{}\n", fmt::join(program.source, "\n")); }

Proofs read_proofs(const std::string& path) {
  const Json json = read_document(path, "prove", "give a file of zerotax prove --json");
  auto proofs = json.get<Proofs>();
  return proofs;
}

}  // namespace zerotax::prove
