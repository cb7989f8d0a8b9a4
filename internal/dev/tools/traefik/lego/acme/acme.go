// Package acme has the types of accounts.
package acme

// Account is an account at an ACME server.
type Account struct{}

// ExtendedAccount is an account with its address.
type ExtendedAccount struct {
	Account
	Location string
}
