#pragma once

// The only file that includes the argument parser: for the files of cli/ that stand between it and the features.
#include <CLI/CLI.hpp>
