// Package registration has the options of registrations.
package registration

// RegisterOptions are the options of a registration.
type RegisterOptions struct{ TermsOfServiceAgreed bool }

// RegisterEABOptions are those of a registration that belongs to another account.
type RegisterEABOptions struct {
	TermsOfServiceAgreed bool
	Kid, HmacEncoded     string
}
