package screen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBroken checks that lines break between words, and that an address breaks between its parts if
// it is longer than a line.
func TestBroken(t *testing.T) {
	const address = `module.site["east"].service.note-proxy/Deployment/note-proxy-east-openstack`
	tests := map[string]struct {
		width int
		line  Line
		want  string
	}{
		"fits": {38, Text("  # ").Then(Styled(Bold, "service.a/Deployment/a"), Text(" will be created")), `
  # service.a/Deployment/a will be
    created
`},
		"address": {42, Text("  # ").Then(Styled(Bold, address), Text(" will be created")), `
  # module.site["east"].service.note-proxy/
    Deployment/note-proxy-east-openstack
    will be created
`},
		"progress": {42, Styled(Bold, address).Then(Text(": "), Styled(Added, "created, ready after 0.1 s"), Styled(Faint, "  [1 of 5]")), `
module.site["east"].service.note-proxy/
    Deployment/note-proxy-east-openstack:
    created, ready after 0.1 s  [1 of 5]
`},
		"a colon begins no row": {40, Styled(Bold, address).Then(Text(": "), Styled(Added, "created")), `
module.site["east"].service.note-proxy/
    Deployment/
    note-proxy-east-openstack: created
`},
		"in a list": {38, Text("    - ").Then(Styled(Bold, "service.note-proxy/Deployment/east-open"), Text("   moved")), `
    - service.note-proxy/Deployment/
    east-open   moved
`},
		"on a row of its own": {38, Text("  # one two ").Then(Styled(Bold, "service.a/Deployment/aaaaaaaaaaaa"), Text(" and more")), `
  # one two
    service.a/Deployment/aaaaaaaaaaaa
    and more
`},
		"a long remark": {38, Styled(Faint, "a remark that no row has room for, whatever is done about it"), `
a remark that no row has room for,
    whatever is done about it
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), PlainText(broken([]Line{test.line}, test.width))); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}
