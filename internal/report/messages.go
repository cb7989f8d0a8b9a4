package report

import (
	"strings"

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
