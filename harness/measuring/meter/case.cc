#include "meter/case.h"

#include <cstring>

namespace zerotax {
namespace {

// A list through the registrations themselves: registering must not allocate, for it runs in the measured process.
const CaseRegistration* first = nullptr;

}  // namespace

CaseRegistration::CaseRegistration(const Case& registered) : case_(registered), next_(first) { first = this; }

const Case* find_case(const char* name) {
  for (const CaseRegistration* entry = first; entry != nullptr; entry = entry->next_) {
    if (std::strcmp(entry->case_.name, name) == 0) return &entry->case_;
  }
  return nullptr;
}

void for_each_case(void (*visit)(const Case&)) {
  for (const CaseRegistration* entry = first; entry != nullptr; entry = entry->next_) {
    visit(entry->case_);
  }
}

}  // namespace zerotax
