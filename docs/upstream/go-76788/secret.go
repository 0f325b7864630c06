//go:build secret

package main

import "runtime/secret"

func init() { inside = secret.Do }
