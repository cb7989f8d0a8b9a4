package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/mark"
)

// TestSecretsIn checks that it is known which secrets an output is made of, and that
// what must not be shown is hidden.
func TestSecretsIn(t *testing.T) {
	_, console, diags := loadConsole(t, lang.Options{}, expressionConfig)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	admin := configs.SecretRef{Service: "keystone", Secret: "admin", Key: "value"}
	for expression, want := range map[string][]configs.SecretRef{
		`service.keystone.url`:                  nil,
		`var.password`:                          nil,
		`"x${service.keystone.admin_password}"`: {admin},
		`[service.keystone, { a = [var.password, service.keystone.admin_password] }]`: {admin},
	} {
		value, diags := console.Evaluate(expression, "typed")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if diff := cmp.Diff(want, configs.SecretsIn(value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
	for expression, want := range map[string]bool{
		`service.keystone.url`:                  false,
		`[var.password]`:                        false, // only something in it
		`var.password`:                          true,
		`"x${service.keystone.admin_password}"`: true,
	} {
		if value, _ := console.Evaluate(expression, "typed"); mark.Hidden(value) != want {
			t.Errorf("%s is hidden: %t", expression, !want)
		}
	}
}
