// Package lifecycle checks the rules of lifecycle blocks against the kinds of objects that they
// are for.
package lifecycle

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Check reports rules for fields that none of the block's objects can have. kinds lists the
// kinds of the objects of each block.
func Check(config *configs.Config, kinds map[string][]schema.GroupVersionKind) hcl.Diagnostics {
	c := checker{}
	for _, s := range config.Services {
		c.check(s.Lifecycle, kinds[s.Block])
		for _, w := range s.Workloads {
			own := []schema.GroupVersionKind{{Group: "apps", Version: "v1", Kind: w.Kind}}
			if slices.EqualFunc(w.Lifecycle.IgnoreFields, s.Lifecycle.IgnoreFields, sameRule) {
				w.Lifecycle.IgnoreFields = nil
			}
			if slices.EqualFunc(w.Lifecycle.ForceFrom, s.Lifecycle.ForceFrom, sameRule) {
				w.Lifecycle.ForceFrom = nil
			}
			c.check(w.Lifecycle, own)
		}
	}
	for _, s := range config.Secrets {
		c.check(s.Lifecycle, kinds[s.Block])
	}
	for _, m := range config.Manifests {
		c.check(m.Lifecycle, kinds[m.Block])
	}
	return c.diags
}

// sameRule reports whether two rules have the same source: a workload inherits the rules of its
// service.
func sameRule(a, b configs.FieldRule) bool { return a.Range == b.Range }

// checker collects errors, one for each rule: two services may use one definition.
type checker struct{ diags hcl.Diagnostics }

// check reports rules that no object of some kinds can follow.
func (c *checker) check(l configs.Lifecycle, kinds []schema.GroupVersionKind) {
	for _, rule := range slices.Concat(l.IgnoreFields, l.ForceFrom) {
		if rule.Path == nil || len(kinds) == 0 {
			continue
		}
		if what := identity(rule.Path); what != "" {
			c.error(rule.Range, "Field that cannot be left to others", fmt.Sprintf("%s %s.", rule.Path, what))
			continue
		}
		var deepest wrongPath
		for _, kind := range kinds {
			wrong := checkPath(kind, rule.Path)
			if wrong == nil {
				deepest = wrongPath{}
				break
			}
			if deepest.kind == "" || wrong.depth > deepest.depth {
				deepest = *wrong
			}
		}
		if deepest.kind != "" {
			c.error(rule.Range, "There is no such field", deepest.detail(rule.Path))
		}
	}
}

// error reports a rule, unless it has been reported.
func (c *checker) error(at hcl.Range, summary, detail string) {
	if !slices.ContainsFunc(c.diags, func(d *hcl.Diagnostic) bool { return *d.Subject == at }) {
		c.diags = append(c.diags, object.Error(at, summary, detail))
	}
}
