#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax {

/// What the documents of rooms have in common. Each result says HEAD_FIELDS, or the fields where its schema has them.
struct DocumentHead {
  std::string schema;  ///< "zerotax.NAME/1"
  std::string zerotax_version;
  std::string started;  ///< as utc_now() gives it
  std::vector<std::string> command;
  Json environment;
};

}  // namespace zerotax

#define SCHEMA_FIELD(name) MEMBER(schema, "Name and version of this format.", one_of(name))
#define VERSION_FIELD() MEMBER(zerotax_version, "Version of zerotax that wrote this file.")
#define STARTED_FIELD() MEMBER(started, "Start time, in UTC.", zerotax::kUtc)
#define ENVIRONMENT_FIELD()                                             \
  MEMBER(environment, "The machine and kernel, as in run.schema.json.", \
         as_in("run.schema.json#/properties/environment"))
#define HEAD_FIELDS(name, of_command, ...) \
  SCHEMA_FIELD(name);                      \
  VERSION_FIELD();                         \
  STARTED_FIELD();                         \
  ENVIRONMENT_FIELD();                     \
  MEMBER(command, of_command, kMayBeEmpty __VA_OPT__(, ) __VA_ARGS__)
