package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// On a terminal, lines break between words, and addresses that no row has room for
// between their parts.
func TestBroken(t *testing.T) {
	const address = `module.site["east"].service.note-proxy/Deployment/note-proxy-east-openstack`
	tests := map[string]struct {
		width int
		line  line
		want  string
	}{
		"fits": {38, text("  # ").then(styled(bold, "service.a/Deployment/a"), text(" will be created")), `
  # service.a/Deployment/a will be
    created
`},
		"address": {42, text("  # ").then(styled(bold, address), text(" will be created")), `
  # module.site["east"].service.note-proxy/
    Deployment/note-proxy-east-openstack
    will be created
`},
		"progress": {42, styled(bold, address).then(text(": "), styled(added, "created, ready after 0.1 s"), styled(faint, "  [1 of 5]")), `
module.site["east"].service.note-proxy/
    Deployment/note-proxy-east-openstack:
    created, ready after 0.1 s  [1 of 5]
`},
		"a colon begins no row": {40, styled(bold, address).then(text(": "), styled(added, "created")), `
module.site["east"].service.note-proxy/
    Deployment/
    note-proxy-east-openstack: created
`},
		"in a list": {38, text("    - ").then(styled(bold, "service.note-proxy/Deployment/east-open"), text("   moved")), `
    - service.note-proxy/Deployment/
    east-open   moved
`},
		"on a row of its own": {38, text("  # one two ").then(styled(bold, "service.a/Deployment/aaaaaaaaaaaa"), text(" and more")), `
  # one two
    service.a/Deployment/aaaaaaaaaaaa
    and more
`},
		"a long remark": {38, styled(faint, "a remark that no row has room for, whatever is done about it"), `
a remark that no row has room for,
    whatever is done about it
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), plainText(broken([]line{test.line}, test.width))); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}
