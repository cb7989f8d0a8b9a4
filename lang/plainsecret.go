package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/syntax"
)

// checkPlain warns of a secret that is written out.
func (e *evaluator) checkPlain(name string, texts []configs.Text, at hcl.Range) {
	if configs.InCatalogue(at) {
		return
	}
	named := values.IsSecretName(name)
	for _, value := range texts {
		if value.Secret() || value.Deferred() != nil {
			continue
		}
		text := value.Masked()
		if named && !values.NotSecret.MatchString(text) || values.CredentialsInURL.MatchString(text) {
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
