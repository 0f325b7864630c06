// golang/go#81393 and #76788: how often, and in which function, does the runtime clear the memory of small objects?
// go build -o reproducer reproducer.go && ./reproducer [KiB live] [rounds]
// GOEXPERIMENT=runtimesecret go build -tags secret -o reproducer . allocates inside secret.Do (secret.go).
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// A node has pointers, so that its memory must be cleared; it is of the size class of 208 bytes.
type node struct {
	next *node
	data [25]uint64
}

var kept []*node

// inside runs what allocates: as it is, or inside secret.Do.
var inside = func(f func()) { f() }

func argument(i, otherwise int) int {
	if len(os.Args) > i {
		if n, err := strconv.Atoi(os.Args[i]); err == nil {
			return n
		}
	}
	return otherwise
}

func main() {
	count, rounds := argument(1, 4096)*1024/208, argument(2, 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	inside(func() {
		for r := 0; r < rounds; r++ {
			kept = make([]*node, count)
			for i := range kept {
				kept[i] = new(node)
				kept[i].data[0] = 1
			}
		}
	})
	kept = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	fmt.Printf("%s: %d objects, %d bytes, %d collections\n", runtime.Version(), after.Mallocs-before.Mallocs,
		after.TotalAlloc-before.TotalAlloc, after.NumGC-before.NumGC)
}
