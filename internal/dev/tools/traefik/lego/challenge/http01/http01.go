// Package http01 has the options of challenges over HTTP.
package http01

import "time"

// PathPrefix begins the paths of the challenge.
const PathPrefix = "/.well-known/acme-challenge/"

// Option is an option of the challenge.
type Option struct{}

// SetDelay returns an Option.
func SetDelay(time.Duration) Option { return Option{} }
