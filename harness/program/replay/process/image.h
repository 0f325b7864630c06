#pragma once

/* What a program has beside its blocks: its data, that of its libraries, and its stack. */

#include <stdint.h>

/* Populates so much anonymous memory, and copies of pages of a file, less what this process has itself. In bytes. */
void populate_image(uint64_t zeroed, uint64_t copied);
