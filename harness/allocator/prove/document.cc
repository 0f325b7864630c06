#include "files/document.h"

#include "prove/result.h"

namespace zerotax::prove {

Proofs read_proofs(const std::string& path) {
  const Json json = read_document(path, "prove", "give a file of zerotax prove --json");
  auto proofs = json.get<Proofs>();
  return proofs;
}

}  // namespace zerotax::prove
