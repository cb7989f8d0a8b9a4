package values

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/syntax"
)

// CheckPlain warns of a secret that is written out.
func CheckPlain(report *diag.Reporter, name string, texts []configs.Text, at hcl.Range) {
	if configs.InCatalogue(at) {
		return
	}
	named := isSecretName(name)
	for _, value := range texts {
		if value.Secret() || value.Deferred() != nil {
			continue
		}
		text := value.Masked()
		if named && !notSecret.MatchString(text) || credentialsInURL.MatchString(text) {
			report.Hide(at)
			report.WarnUnquoted(at, "A secret in the configuration", `The value of "`+name+`" is not kept secret: it stands in the configuration, in plans, and openly in the cluster. Refer to a secret block, as in secret.NAME.value, or to a variable with sensitive = true.`)
			return
		}
	}
}

// CheckWrittenOut warns of a value of a Secret that is written out in a manifest.
func CheckWrittenOut(report *diag.Reporter, expr hcl.Expression) {
	v, diags := syntax.Constant(expr)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String || v.AsString() == "" {
		return // it comes from somewhere
	}
	report.Hide(expr.Range())
	report.WarnUnquoted(expr.Range(), "A secret in the configuration", "A value of this Secret stands in the configuration, for everybody to read who reads that. Take it from a variable with sensitive = true, or make the Secret with a secret block.")
}

// SeveralLines reports whether a text is made from a key or certificate, which has
// several lines.
func SeveralLines(t configs.Text) bool {
	return slices.ContainsFunc(t.Refs(), func(r configs.SecretRef) bool {
		return slices.Contains([]string{configs.KeyPrivate, configs.KeyCertificate, configs.KeyKey, configs.KeyCA}, r.Key)
	})
}
