#include "snapshot/process/verify.h"

#include "snapshot/process/values.h"

namespace snapshot {

void fill(const Job& job) {
  auto* array = reinterpret_cast<Element*>(job.at(0));
  for (std::uint64_t i = 0; i < job.parameters.array_bytes / sizeof(Element); ++i) array[i] = value(i, 0);
}

Verdict verify(const Job& job, const std::vector<Position>& positions) {
  const auto* copy = reinterpret_cast<const Element*>(job.copy);
  Verdict verdict;
  verdict.checked = job.parameters.array_bytes / sizeof(Element);
  std::size_t writer = 0;
  for (std::uint64_t i = 0; i < verdict.checked; ++i) {
    const Position& stood = positions[writer];
    const bool written = i * sizeof(Element) / zerotax::page_bytes() < stood.page;
    if (copy[i] != value(i, stood.pass + (written ? 1 : 0)) && verdict.wrong++ == 0) verdict.first_wrong = i;
    if (++writer == positions.size()) writer = 0;
  }
  return verdict;
}

}  // namespace snapshot
