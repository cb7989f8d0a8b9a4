// Package dns has no DNS providers. The module proxy lacks the clients of some.
package dns

import (
	"errors"

	"github.com/go-acme/lego/v5/challenge"
)

// NewDNSChallengeProviderByName returns an error.
func NewDNSChallengeProviderByName(string) (challenge.Provider, error) {
	return nil, errors.ErrUnsupported
}
