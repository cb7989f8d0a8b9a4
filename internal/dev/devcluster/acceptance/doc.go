// Package acceptance holds the tests of the built program. They are apart from
// package main, because a test of that would link all of Kubernetes once more.
package acceptance
