// Package tlsalpn01 has the options of challenges over TLS.
package tlsalpn01

import (
	"errors"
	"time"
)

// ACMETLS1Protocol is the protocol of the challenge.
const ACMETLS1Protocol = "acme-tls/1"

// Option is an option of the challenge.
type Option struct{}

// SetDelay returns an Option.
func SetDelay(time.Duration) Option { return Option{} }

// ChallengeBlocks returns an error.
func ChallengeBlocks(domain, keyAuth string) (certificate, key []byte, err error) {
	return nil, nil, errors.ErrUnsupported
}
