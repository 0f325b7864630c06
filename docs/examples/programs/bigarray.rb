#!/usr/bin/env ruby
# frozen_string_literal: true

# An array that grows in a forked child: which pages does the child copy, and when does copying end?
#
# usage: bigarray.rb [SHARED [ADDED [SECONDS]]]     (default: 200000 300000 6)
#
# The parent makes SHARED hashes and drops every second one: its heap then has a free slot beside each hash that is left. It forks, and
# the child appends ADDED hashes to an array, spread over SECONDS. They take the free slots first, and the kernel copies each of those
# pages, which the parent still has. When no slot is free the interpreter collects garbage, which marks the parent's objects, too, and
# copies their pages; then it asks for new memory.
#
# At its end the child prints how many of the pages with the parent's hashes it wrote, and how many others.
require "fiddle"
require "set"

PAGE = 4096
STEPS = 100

# The pages that the things begin in.
def pages_of(things)
  things.map { |thing| Fiddle.dlwrap(thing) / PAGE }.to_set
end

# Appends so many hashes.
def grow(filled, count)
  count.times { filled << {} }
end

# The child's work: the hashes that it made.
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
# The parent writes to none of these pages meanwhile: each copy is the child's.
Process.wait(child)
exit($?.exitstatus || 1)
