// Package challenge has the interface of challenges.
package challenge

import "context"

// Provider answers the challenges of an ACME server.
type Provider interface {
	Present(ctx context.Context, domain, token, keyAuth string) error
	CleanUp(ctx context.Context, domain, token, keyAuth string) error
}
