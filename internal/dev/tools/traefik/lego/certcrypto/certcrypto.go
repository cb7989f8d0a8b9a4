// Package certcrypto names the types of keys.
package certcrypto

// KeyType is a type of keys.
type KeyType string

// The types of keys that Traefik knows.
const (
	EC256   KeyType = "EC256"
	EC384   KeyType = "EC384"
	RSA2048 KeyType = "RSA2048"
	RSA4096 KeyType = "RSA4096"
	RSA8192 KeyType = "RSA8192"
)
