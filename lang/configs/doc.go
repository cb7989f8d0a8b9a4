// Package configs is the result of evaluating a configuration, as plain data: every expression
// is a value, and every service has its definition merged with its overrides. A part that is
// not known before an apply, such as a generated password, is a reference in a Text.
//
// Package lang makes a Config. This package knows neither files nor expressions.
package configs
