// Package dns01 has the options of challenges in the DNS.
package dns01

import (
	"strings"
	"time"
)

// Option is an option of the challenge.
type Option struct{}

// Options are the options of a Client.
type Options struct{ RecursiveNameservers []string }

// Client asks nothing.
type Client struct{}

// NewClient returns a Client.
func NewClient(*Options) *Client { return nil }

// SetDefaultClient does nothing.
func SetDefaultClient(*Client) {}

// CondOptions returns an Option.
func CondOptions(bool, ...Option) Option { return Option{} }

// DisableAuthoritativeNssPropagationRequirement returns an Option.
func DisableAuthoritativeNssPropagationRequirement() Option { return Option{} }

// DisableRecursiveNSsPropagationRequirement returns an Option.
func DisableRecursiveNSsPropagationRequirement() Option { return Option{} }

// PropagationWait returns an Option.
func PropagationWait(time.Duration, bool) Option { return Option{} }

// UnFqdn returns a name without the dot at its end.
func UnFqdn(name string) string { return strings.TrimSuffix(name, ".") }
