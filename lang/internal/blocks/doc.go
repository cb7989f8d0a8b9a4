// Package blocks evaluates blocks of the configuration.
//
// Each function gets an evaluator and a block, and returns plain data of package configs. Some
// return the value that other expressions read of the block, too. The functions neither know the
// graph of the blocks nor change it: package lang calls them in the right order.
package blocks
