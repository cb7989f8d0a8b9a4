package diag_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
)

func at(file string, line int) hcl.Range {
	return hcl.Range{Filename: file, Start: hcl.Pos{Line: line, Column: 1, Byte: 80 * line}, End: hcl.Pos{Line: line, Column: 2, Byte: 80*line + 1}}
}

// TestReporter checks that an error is reported once, however often it is found, that errors are
// in the order of the source, and which warnings a command need not show.
func TestReporter(t *testing.T) {
	t.Parallel()
	r := diag.New()
	r.Error(at("b.hcl", 1), "third", "")
	r.Warn(at("a.hcl", 9), "second", "")
	r.Error(at("a.hcl", 2), "first", "%d", 1)
	r.Error(at("a.hcl", 2), "first", "%d", 1)
	r.Alert(diag.Nowhere, "nowhere", "")
	var got []string
	for _, d := range r.Sorted() {
		got = append(got, d.Summary)
		if advice := d.Summary == "second"; diag.Advice(d) != advice {
			t.Errorf("%s is advice: %v", d.Summary, !advice)
		}
	}
	if want := []string{"nowhere", "first", "second", "third"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Undeclared(at("c.hcl", 1), "role", "contrl", []string{"control", "compute"})
	if last := r.Sorted()[4]; !strings.Contains(last.Detail, `"control"`) {
		t.Errorf("no suggestion in %q", last.Detail)
	}
}

// TestUserPlaces checks that a mistake that shows in a built-in file is reported at the place of the
// user, once for all places in such files, and others where they are.
func TestUserPlaces(t *testing.T) {
	t.Parallel()
	r := diag.New()
	user := r.For(at("cloud.hcl", 5), "<builtin>")
	user.Error(at("<builtin>/a.hcl", 1), "There is no port", "None is.")
	user.Error(at("<builtin>/a.hcl", 2), "There is no port", "None is.")
	user.Error(at("own.hcl", 1), "There is no port", "None is.")
	r.Error(at("<builtin>/a.hcl", 3), "There is no port", "None is.")
	var got []string
	for _, d := range r.Sorted() {
		got = append(got, diag.Position(*d.Subject)+" "+d.Detail)
	}
	if want := []string{"<builtin>/a.hcl:3 None is.", "cloud.hcl:5 None is. The place in the definition is <builtin>/a.hcl:1.", "own.hcl:1 None is."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNeeded checks that one missing block is one error, at the first service that needs it.
func TestNeeded(t *testing.T) {
	t.Parallel()
	r := diag.New()
	need := func(service, name, file string, line int, missing string) {
		r.For(at(file, line), "").Needed(diag.Need{Kind: "service", Name: name, Service: service, At: at(file, line), RefersAt: "d.hcl:1", Missing: missing})
	}
	need("nova", "mariadb", "cloud.hcl", 7, "it is missing.")
	need("glance", "mariadb", "cloud.hcl", 5, "it is missing.")
	need("glance", "mariadb", "cloud.hcl", 5, "it is missing.")
	need("glance", "memcached", "cloud.hcl", 5, "it is missing.")
	need("nova", "mariadb", "module/cloud.hcl", 1, "it is missing.")
	need("nova", "mariadb", "cloud.hcl", 7, "it is not enabled.")
	var got []string
	for _, d := range r.Sorted() {
		got = append(got, diag.Position(*d.Subject)+" "+d.Summary+": "+d.Detail)
	}
	if want := []string{
		`cloud.hcl:5 Services "glance" and "nova" need service "mariadb": Their definitions refer to it (d.hcl:1), and it is missing.`,
		`cloud.hcl:5 Service "glance" needs service "memcached": Its definition refers to it (d.hcl:1), and it is missing.`,
		`cloud.hcl:7 Service "nova" needs service "mariadb": Its definition refers to it (d.hcl:1), and it is not enabled.`,
		`module/cloud.hcl:1 Service "nova" needs service "mariadb": Its definition refers to it (d.hcl:1), and it is missing.`,
	}; !slices.Equal(got, want) {
		t.Errorf("got %q,\nwant %q", got, want)
	}
}

// TestSpend checks that a bound that is exceeded is reported once.
func TestSpend(t *testing.T) {
	t.Parallel()
	r := diag.New()
	for i, want := range []bool{true, true, false, false} {
		if got := r.Spend(diag.Modules, 400, at("a.hcl", i), "Too many modules", "At most %d."); got != want {
			t.Errorf("after %d: %v, want %v", 400*(i+1), got, want)
		}
	}
	if all := r.All(); len(all) != 1 || all[0].Detail != "At most 1000." {
		t.Errorf("reported: %v", all)
	}
}

// TestMask checks that a source has no secret any more when it is quoted, and that all else in it
// stays in its place.
func TestMask(t *testing.T) {
	t.Parallel()
	const source = "name = \"a\"\npassword = \"hunter2\"\nlast = 1\n"
	files := map[string]*hcl.File{"a.hcl": {Bytes: []byte(source)}}
	start := strings.Index(source, `"hunter2"`)
	r := diag.New()
	r.Hide(hcl.Range{
		Filename: "a.hcl",
		Start:    hcl.Pos{Line: 2, Column: 12, Byte: start}, End: hcl.Pos{Line: 2, Column: 21, Byte: start + len(`"hunter2"`)},
	})
	r.Mask(files)
	got := string(files["a.hcl"].Bytes)
	if strings.Contains(got, "hunter2") || !strings.HasPrefix(got, "name = \"a\"\npassword = ") || !strings.HasSuffix(got, "\nlast = 1\n") || len(got) != len(source) {
		t.Errorf("masked: %q", got)
	}
}

// TestTooMany checks that a report ends, and that warnings take no room from errors.
func TestTooMany(t *testing.T) {
	r := diag.New()
	for i := range 5000 {
		r.Warn(diag.Nowhere, "Odd", "%d", i)
	}
	for i := range 5000 {
		if full := r.Full(); full != (i > 1000) {
			t.Fatalf("after %d errors it is full: %t", i, full)
		}
		r.Error(diag.Nowhere, "Wrong", "%d", i)
	}
	all := r.All()
	if len(all) != 2*1001 || all[1000].Summary != "More than 1000 warnings" || all[2001].Summary != "More than 1000 errors" || !all.HasErrors() {
		t.Errorf("it has %d diagnostics", len(all))
	}
}
