package lang

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Names of what is a secret for certain. A name that only may be one is left out: a
// warning about what is none would teach people to ignore the others.
var (
	secretNames    = []string{"password", "passwd", "secret", "client_secret", "shared_secret", "auth_encryption_key", "admin_token", "secret_key", "api_key", "api_token", "pgpass"}
	secretSuffixes = []string{"_password", "_passwd", "_client_secret", "_shared_secret", "_secret_key", "_secret_access_key", "_api_key", "_api_token", "_auth_token"}
)

// credentialsInURL matches a password in a URL.
var credentialsInURL = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@`)

// notSecret are values that say whether or how, and are no password.
var notSecret = regexp.MustCompile(`(?i)^(|true|false|yes|no|on|off|none|null|<none>|[0-9]{1,2}|[$%].*)$`)

// isSecretName reports whether what is called so is a secret for certain.
func isSecretName(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(secretNames, lower) || slices.ContainsFunc(secretSuffixes, func(s string) bool { return strings.HasSuffix(lower, s) })
}

// checkPlain warns of a secret that is written out.
func (e *evaluator) checkPlain(name string, values []configs.Text, at hcl.Range) {
	if builtinRange(at) {
		return
	}
	named := isSecretName(name)
	for _, value := range values {
		if value.Secret() || value.Deferred() != nil {
			continue
		}
		text := value.Masked()
		if named && !notSecret.MatchString(text) || credentialsInURL.MatchString(text) {
			e.report.Hide(at)
			e.report.WarnUnquoted(at, "A secret in the configuration", `The value of "`+name+`" is not kept secret: it stands in the configuration, in plans, and openly in the cluster. Refer to a secret block, as in secret.NAME.value, or to a variable with sensitive = true.`)
			return
		}
	}
}

// checkWrittenOut warns of a value of a Secret that is written out in a manifest.
func (e *evaluator) checkWrittenOut(expr hcl.Expression) {
	v, diags := syntax.Constant(expr)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String || v.AsString() == "" {
		return // it comes from somewhere
	}
	e.report.Hide(expr.Range())
	e.report.WarnUnquoted(expr.Range(), "A secret in the configuration", "A value of this Secret stands in the configuration, for everybody to read who reads that. Take it from a variable with sensitive = true, or make the Secret with a secret block.")
}

// severalLines reports whether a text is made from a key or certificate, which has
// several lines.
func severalLines(t configs.Text) bool {
	return slices.ContainsFunc(t.Refs(), func(r configs.SecretRef) bool {
		return slices.Contains([]string{configs.KeyPrivate, configs.KeyCertificate, configs.KeyKey, configs.KeyCA}, r.Key)
	})
}
