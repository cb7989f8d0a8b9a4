package podlogs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/run/podlogs"
)

// TestErrorEntries finds the errors of two containers, by time, each with its lines.
func TestErrorEntries(t *testing.T) {
	a, b := podlogs.Container{Pod: "a", Name: "api", Alone: true}, podlogs.Container{Pod: "b", Name: "server"}
	const day = "2026-11-27 12:00:0"
	r := &reader{texts: map[string][]string{
		"a/api": {
			at(0, day+"0.5 7 INFO nova.api [-] ERROR is no level here") +
				at(1, day+"1.5 7 ERROR nova.api [req-1] it failed") +
				at(1, day+"1.5 7 ERROR nova.api Traceback (most recent call last):") +
				at(1, day+"1.5 7 ERROR nova.api   File \"x.py\"") +
				at(2, day+"2.5 7 ERROR nova.api [req-2] again") +
				at(3, day+"3.5 7 WARNING nova.api [-] careful") +
				at(3, "  of the warning") +
				at(6, "Traceback (most recent call last):") +
				at(6, "  File \"y.py\"") +
				at(6, "KeyError: 'x'") +
				at(7, "[pid: 7|app: 0] GET / => generated 1 bytes"),
		},
		"b/server": {
			at(1, "2026-11-27T12:00:01.5Z|00012|ovsdb|ERR|no connection") +
				at(4, day+"4 0 [ERROR] mysqld: no space") +
				at(5, day+"5.123456+00:00 [error] <0.1.0> no quorum") +
				at(5, "  of it") +
				at(6, "[Fri Nov 27 12:00:06 2026] [wsgi:error] no script") +
				at(7, day+"7.5+0000: 12: error : no domain") +
				at(8, day+"8 0 [Note] ready") +
				at(8, "not of an error") +
				at(9, `{"message": "in JSON", "levelname": "ERROR", "traceback": ["x"]}`) +
				at(9, `{"message": "not ERROR", "levelname": "INFO", "traceback": null}`),
		},
	}}
	found, err := podlogs.ReadErrors(t.Context(), r, []podlogs.Container{a, b}, podlogs.Options{Tail: -1})
	if err != nil {
		t.Error(err)
	}
	var got []string
	for _, e := range found {
		got = append(got, e.Container.Pod+" "+e.Time.Format("05")+" "+strings.Join(e.Lines, "/"))
	}
	want := []string{
		"a 01 " + day + "1.5 7 ERROR nova.api [req-1] it failed/Traceback (most recent call last):/  File \"x.py\"",
		"b 01 2026-11-27T12:00:01.5Z|00012|ovsdb|ERR|no connection",
		"a 02 " + day + "2.5 7 ERROR nova.api [req-2] again",
		"b 04 " + day + "4 0 [ERROR] mysqld: no space",
		"b 05 " + day + "5.123456+00:00 [error] <0.1.0> no quorum/  of it",
		"a 06 Traceback (most recent call last):/  File \"y.py\"/KeyError: 'x'",
		"b 06 [Fri Nov 27 12:00:06 2026] [wsgi:error] no script",
		"b 07 " + day + "7.5+0000: 12: error : no domain",
		`b 09 {"message": "in JSON", "levelname": "ERROR", "traceback": ["x"]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
