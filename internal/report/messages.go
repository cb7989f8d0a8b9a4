package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"kolla.openstack.org/kolla/internal/words"
)

// Headline makes the first letter of a summary a capital. It leaves an address, an option
// or a file name unchanged.
func Headline(summary string) string {
	first, _, _ := strings.Cut(summary, " ")
	if strings.ContainsAny(first, "./-_=:@[") {
		return summary
	}
	return words.Capital(summary)
}

// inFileOrder sorts diagnostics by their places; those without one come last.
func InFileOrder(diags hcl.Diagnostics) hcl.Diagnostics {
	sorted := slices.Clone(diags)
	slices.SortStableFunc(sorted, func(a, b *hcl.Diagnostic) int {
		if a.Subject == nil || b.Subject == nil {
			return cmp.Compare(boolToInt(a.Subject == nil), boolToInt(b.Subject == nil))
		}
		return cmp.Or(
			cmp.Compare(a.Subject.Filename, b.Subject.Filename),
			cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte),
		)
	})
	return sorted
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// blockAt names the block around a position: `service "keystone"`.
func BlockAt(file *hcl.File, offset int) string {
	nav, ok := file.Nav.(interface{ ContextString(offset int) string })
	if !ok {
		return ""
	}
	return nav.ContextString(offset)
}
