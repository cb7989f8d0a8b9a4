package values

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/mark"
)

// StoodFor describes the values of references. References without a value are left out.
func StoodFor(refs []hcl.Traversal, ctx *hcl.EvalContext) diag.Facts {
	var out diag.Facts
	for _, t := range Distinct(refs) {
		v, diags := t.TraverseAbs(ctx)
		if diags.HasErrors() {
			continue
		}
		if statement := statementOf(t, v); statement != "" {
			out = append(out, diag.Fact{Reference: written(t), Statement: statement})
		}
	}
	slices.SortFunc(out, func(a, b diag.Fact) int { return strings.Compare(a.Reference, b.Reference) })
	return out
}

// Distinct returns the references without repetitions. An expression may refer to a large value
// very often.
func Distinct(refs []hcl.Traversal) []hcl.Traversal {
	if len(refs) < 2 {
		return refs
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(refs), func(t hcl.Traversal) bool {
		reference := written(t)
		again := seen[reference]
		seen[reference] = true
		return again
	})
}

// written returns a reference as it is written.
func written(t hcl.Traversal) string { return string(hclwrite.TokensForTraversal(t).Bytes()) }

// factLength is the number of characters of a text that a fact shows.
const factLength = 60

// statementOf describes the value of a reference. For objects and collections it only counts
// the parts. The value of a name or text that looks like a secret stays hidden.
func statementOf(t hcl.Traversal, v cty.Value) string {
	secretly := slices.ContainsFunc(t, func(step hcl.Traverser) bool {
		attr, ok := step.(hcl.TraverseAttr)
		return ok && isSecretName(attr.Name)
	})
	switch {
	case mark.IsDeferred(v):
		return "will be known only after the apply"
	case secretly, mark.IsSensitive(v), mark.IsGenerated(v):
		return "has a sensitive value"
	case !v.IsKnown(): // the cause was reported
		return ""
	}
	v, _ = v.Unmark()
	switch typ := v.Type(); {
	case v.IsNull():
		return "is null"
	case typ == cty.String && (credentialsInURL.MatchString(v.AsString()) || mark.HasToken(v.AsString())):
		return "has a sensitive value"
	case typ == cty.String:
		text := []rune(v.AsString())
		if len(text) > factLength {
			text = append(text[:factLength:factLength], '…')
		}
		return "is " + strconv.Quote(string(text))
	case typ.IsPrimitiveType():
		return "is " + FormatPrimitive(v)
	case typ.IsObjectType():
		return "is object with " + words.Count(v.LengthInt(), "attribute")
	case typ.IsCapsuleType(): // of the language itself
		return ""
	case typ.IsMapType():
		return "is map with " + words.Count(v.LengthInt(), "element")
	case typ.IsSetType():
		return "is set of " + words.Count(v.LengthInt(), "element")
	}
	return "is list of " + words.Count(v.LengthInt(), "element")
}
