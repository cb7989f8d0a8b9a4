// Package values knows the values of expressions: the words for their types, the text that
// they become, their differences from a declared type, and the parts that must not be shown.
// It evaluates nothing.
package values
