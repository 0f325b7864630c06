#pragma once

#include <string>

#include "bisect/question.h"
#include "os/environment.h"

namespace zerotax::bisect {

/// What a command of this room was asked for, and where.
struct Request {
  std::string repository;  ///< its folder
  Recipe recipe;
  std::string started;
  Environment environment;
};

struct HistoryRequest : Request {
  std::string selection;  ///< "tags v2.*", "range A..B"
  Grid grid;
};

struct BisectRequest : Request {
  Question question;
};

}  // namespace zerotax::bisect
