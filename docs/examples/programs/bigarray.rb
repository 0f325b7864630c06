#!/usr/bin/env ruby
# frozen_string_literal: true

# An array that grows in a forked child: which pages does the child copy, and when does copying end?
#
# usage: bigarray.rb [SHARED [ADDED [SECONDS]]]     (default: 200000 300000 6)
#
# The parent makes SHARED hashes and drops every second one, so its heap has a free slot beside each remaining hash. It forks, and the
# child appends ADDED hashes to an array, spread over SECONDS. The new hashes first take the free slots. The kernel copies each of
# these pages, because the parent still has it. When no slot is free, the interpreter collects garbage. The collector also marks the
# parent's objects, so their pages are copied. Then the interpreter asks for new memory.
#
# At its end, the child prints how many pages with the parent's hashes it wrote, and how many other pages.
require "fiddle"
require "set"

PAGE = 4096
STEPS = 100

# Returns the pages in which the objects begin.
def pages_of(things)
  things.map { |thing| Fiddle.dlwrap(thing) / PAGE }.to_set
end

# Appends `count` hashes.
def grow(filled, count)
  count.times { filled << {} }
end

# Does the child's work. Returns the hashes that the child made.
def fill(added, seconds)
  filled = []
  STEPS.times do |step|
    grow(filled, added * (step + 1) / STEPS - added * step / STEPS)
    sleep(seconds / STEPS)
  end
  filled
end

given = ARGV.map { |word| Float(word, exception: false) || -1.0 }
unless given.size <= 3 && given.all? { |value| value.between?(0, 1e9) }
  warn "usage: bigarray.rb [SHARED [ADDED [SECONDS]]], numbers from 0 to 1e9"
  exit 2
end
shared, added, seconds = given + [200_000.0, 300_000.0, 6.0].drop(given.size)

things = Array.new(shared.to_i) { {} }
things = things.each_slice(2).map(&:last)
GC.start
before = pages_of(things)
child = fork do
  written = pages_of(fill(added.to_i, seconds))
  puts "the child wrote #{(written & before).size} pages of its parent and #{(written - before).size} others"
  $stdout.flush
  exit!(0)
end
# Meanwhile the parent writes to none of these pages, so each copy is the child's.
Process.wait(child)
exit($?.exitstatus || 1)
