#pragma once

/* The memory that a program has besides its blocks: its own data, its libraries' data, and its stack. */

#include <stdint.h>

/* Populates anonymous memory and copies of a file's pages. Sizes are in bytes. The memory that this process already has
   is subtracted. */
void populate_image(uint64_t zeroed, uint64_t copied);
