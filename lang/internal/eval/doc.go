// Package eval evaluates expressions.
//
// An Env evaluates the expressions of one scope. It reports errors and returns an unknown value
// in place of a wrong one. Functions such as String and List evaluate an attribute of a block
// and convert it to a Go value. A Scope holds the names that expressions can read. Values that
// are not there yet come through the interface Names: package lang implements it with its graph.
//
// The package also evaluates the shape of a block: the instances of a repeated block, the blocks that a
// dynamic block stands for, and the blocks that are enabled. Package layers merges blocks before that.
package eval
