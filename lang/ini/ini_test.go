package ini_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/ini"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, source string
		sections     bool
		want         []string
	}{
		{"sections", "[a]\nk = 1\n; c\nk: 2\n[b]\nk=3 ; d\n", true, []string{`2:5-4:5 a k ["1" "2"]`, `6:3-6:8 b k ["3 ; d"]`}},
		{"several lines", "[a]\nk = 1\n\t2\n", true, []string{`2:5-3:3 a k ["1\n    2"]`}},
		{"properties", "  k = a: b\n# c\nl =\n", false, []string{`1:7-1:11  k ["a: b"]`, `3:4-3:4  l [""]`}},
		{"mistakes", "k = 1\n[a\n x\n[b]\n= 2\nk = {{ v }}\n", true, []string{
			"1: Value outside of a section", "2: Unfinished section", "3: Indented line without a value", "5: Value without a key", "6: Template in an override",
		}},
		{"not a text", "\xff", true, []string{"1: Unreadable config file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			found, diags := ini.Read("x.conf", []byte(test.source), test.sections)
			for _, a := range found {
				got = append(got, fmt.Sprintf("%d:%d-%d:%d %s %s %q", a.Range.Start.Line, a.Range.Start.Column, a.Range.End.Line, a.Range.End.Column, a.Section, a.Key, a.Values))
			}
			for _, d := range diags {
				got = append(got, fmt.Sprintf("%d: %s", d.Subject.Start.Line, d.Summary))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadNames checks that the places of the names are known.
func TestReadNames(t *testing.T) {
	for source, want := range map[string]string{
		"[a]\n[long name]\nkey = 1\n[b]\n": "x:2,2-11 x:3,1-4",
		"[é]\n\n[a]\n[é]\nk=1\nk=2\n":      "x:4,2-3 x:5,1-2",
	} {
		found, diags := ini.Read("x", []byte(source), true)
		if len(found) != 1 || diags.HasErrors() {
			t.Fatalf("%q: %v %v", source, found, diags)
		}
		if got := found[0].Header.String() + " " + found[0].Name.String(); got != want {
			t.Errorf("%q: got %s, want %s", source, got, want)
		}
	}
	found, _ := ini.Read("x", []byte("  key = key\n"), false)
	if got := found[0].Name.String(); got != "x:1,3-6" {
		t.Errorf("properties: got %s", got)
	}
}

func TestTemplate(t *testing.T) {
	for source, want := range map[string]string{
		"a\nb {{ kolla_internal_fqdn }}\n": "x:2,3-28",
		"{% if a %}":                       "x:1,1-11",
		"{{ 1 }} {{a}} {%v%}":              "",
	} {
		got := ""
		if at, found := ini.Template("x", []byte(source)); found {
			got = at.String()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}
