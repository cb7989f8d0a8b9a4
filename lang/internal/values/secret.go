package values

import (
	"regexp"
	"slices"
	"strings"
)

// credentialsInURL matches a password in a URL.
var credentialsInURL = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@`)

// isSecretName reports whether a value with this name is a secret for certain.
func isSecretName(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(secretNames, lower) || slices.ContainsFunc(secretSuffixes, func(s string) bool { return strings.HasSuffix(lower, s) })
}

// Names of values that are secrets for certain. Doubtful names are left out: false warnings
// would teach people to ignore the true ones.
var (
	secretNames    = []string{"password", "passwd", "secret", "client_secret", "shared_secret", "auth_encryption_key", "admin_token", "secret_key", "api_key", "api_token", "pgpass"}
	secretSuffixes = []string{"_password", "_passwd", "_client_secret", "_shared_secret", "_secret_key", "_secret_access_key", "_api_key", "_api_token", "_auth_token"}
)

// notSecret matches values such as "true" and "none", which are no passwords.
var notSecret = regexp.MustCompile(`(?i)^(|true|false|yes|no|on|off|none|null|<none>|[0-9]{1,2}|[$%].*)$`)
