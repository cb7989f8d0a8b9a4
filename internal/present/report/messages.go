package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Messages converts problems of a plan. A problem that several objects have becomes one
// message.
func Messages(problems []plans.Problem) []Message {
	var messages []Message
	first := map[plans.Problem]int{}
	for _, problem := range problems {
		key := problem
		key.Address, key.Source = addrs.Object{}, ""
		at, ok := first[key]
		if !ok {
			at = len(messages)
			first[key] = at
			messages = append(messages, Message{Warning: problem.Warning, Summary: problem.Summary, Detail: problem.Detail})
		}
		if problem.Address != (addrs.Object{}) || problem.Source != "" {
			messages[at].Places = append(messages[at].Places, Place{problem.Address, problem.Source})
		}
	}
	return messages
}

// Headline makes the first letter of a summary a capital. It leaves an address, an option
// or a file name unchanged.
func Headline(summary string) string {
	first, _, _ := strings.Cut(summary, " ")
	if strings.ContainsAny(first, "./-_=:@[") {
		return summary
	}
	return words.Capital(summary)
}

// InFileOrder sorts diagnostics by their places. Diagnostics without a place come last.
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

// BlockAt names the block around a position: `service "keystone"`.
func BlockAt(file *hcl.File, offset int) string {
	nav, ok := file.Nav.(interface{ ContextString(offset int) string })
	if !ok {
		return ""
	}
	return nav.ContextString(offset)
}
