package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers/openstack/options"
)

// nova returns the output of introspect.py for one distribution.
func nova(t *testing.T, version, opts string) snapshot {
	t.Helper()
	var a asked
	text := `{"version": "` + version + `", "options": [{"api": {"opts": [` + opts + `]}}],
		"written_options": ["only-written", "kept"], "written_groups": ["api", "Made_Up", "not a name"]}`
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	return snapshot{asked: &a}
}

const (
	kept    = `{"name": "kept", "dest": "kept", "type": "integer value", "min": 1, "max": 9223372036854775807}`
	limited = `{"name": "kept", "dest": "kept", "type": "integer value", "min": 2}`
	gone    = `{"name": "gone", "dest": "gone", "type": "string value", "deprecated_for_removal": true, "deprecated_reason": "It is\n useless."}`
	before  = `{"name": "old-name", "dest": "old_name", "type": "boolean value"}`
	after   = `{"name": "new_name", "dest": "new_name", "type": "boolean value", "deprecated_opts": [{"group": "api", "name": "old_name"}, {"group": "Older", "name": "oldest"}]}`
	choice  = `{"name": "choice", "dest": "choice", "type": "string value", "choices": [["a", "help"], [null, null], [2, null]]}`
)

// known sets the releases that kolla deploys.
func known(t *testing.T, releases ...string) {
	t.Helper()
	before := names
	names = releases
	t.Cleanup(func() { names = before })
}

func TestCombined(t *testing.T) {
	known(t, "2025.1", "2025.2", "2026.1")
	first := nova(t, "31.0.0", kept+","+gone+","+before)
	first.WrittenOptions = append(first.WrittenOptions, "gone") // only in the first package
	one := 1.0
	for _, test := range []struct {
		name   string
		second string // the version of the second package
		opts   string
		want   options.Distribution
	}{
		{
			name: "exactly 2026.1", second: "33.1.0", opts: kept + "," + after + "," + choice,
			want: options.Distribution{
				Versions: map[string][]string{"2025.1": {"31.0.0"}, "2025.2": {"31.0.0", "33.1.0"}, "2026.1": {"33.1.0"}},
				Options: []options.Option{
					{Group: "api", Name: "choice", Choices: []string{"a", "2"}, Releases: []string{"2025.2", "2026.1"}},
					{Group: "api", Name: "gone", Removal: "It is useless.", Releases: []string{"2025.1", "2025.2"}},
					{Group: "api", Name: "kept", Type: "integer", Min: &one},
					{Group: "api", Name: "new_name", Type: "boolean", Releases: []string{"2025.2"}},
					{Group: "api", Name: "new_name", Type: "boolean", Releases: []string{"2026.1"}, Former: []options.Name{
						{Name: "old_name"}, {Group: "older", Name: "oldest"},
					}},
					{Group: "api", Name: "old_name", Type: "boolean", Dashed: true, Releases: []string{"2025.1", "2025.2"}},
					{Group: "older", Name: "oldest", Releases: []string{"2025.2"}},
				},
				Written: []string{"only_written"}, WrittenGroups: []string{"made_up"},
			},
		},
		{
			name: "later than all", second: "34.0.0", opts: limited,
			want: options.Distribution{
				Versions: map[string][]string{"2025.1": {"31.0.0"}, "2025.2": {"31.0.0", "34.0.0"}, "2026.1": {"31.0.0", "34.0.0"}},
				Options: []options.Option{
					{Group: "api", Name: "gone", Removal: "It is useless."},
					{Group: "api", Name: "kept", Type: "integer", Min: &one, Releases: []string{"2025.1"}},
					{Group: "api", Name: "kept", Releases: []string{"2025.2", "2026.1"}},
					{Group: "api", Name: "old_name", Type: "boolean", Dashed: true},
				},
				Written: []string{"only_written"}, WrittenGroups: []string{"made_up"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			second := nova(t, test.second, test.opts)
			got := combined([]snapshot{first, second}, "nova")
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestSpeaking checks which packages have the data for a release: the package of this release, or
// those between which the release lies.
func TestSpeaking(t *testing.T) {
	known(t, "2025.1", "2025.2", "2026.1", "2026.2")
	first, mixed, last := suite{release: "2025.1"}, suite{}, suite{release: "2026.2"}
	for name, test := range map[string]struct {
		distribution string
		versions     [3]string // in each suite; empty: none
		want         map[string]string
	}{
		"a release in each suite": {
			"nova",
			[3]string{"31.1", "33.0", "34.0"},
			map[string]string{"2025.1": "31.1", "2025.2": "31.1 33.0", "2026.1": "33.0", "2026.2": "34.0"},
		},
		"the mixed suite is ahead": {
			"nova",
			[3]string{"31.1", "34.0", "34.0"},
			map[string]string{"2025.1": "31.1", "2025.2": "31.1 34.0", "2026.1": "31.1 34.0", "2026.2": "34.0"},
		},
		"the last suite is behind": {
			"nova",
			[3]string{"31.1", "", "33.0"},
			map[string]string{"2025.1": "31.1", "2025.2": "31.1 33.0", "2026.1": "33.0"},
		},
		"the last suite has a release that kolla does not deploy": {
			"nova",
			[3]string{"31.1", "", "35.0"},
			map[string]string{"2025.1": "31.1", "2025.2": "31.1 35.0", "2026.1": "31.1 35.0", "2026.2": "31.1 35.0"},
		},
		"no version says the release": {
			"oslo-db",
			[3]string{"17.2", "18.0", "18.1"},
			map[string]string{"2025.1": "17.2", "2025.2": "17.2 18.0 18.1", "2026.1": "17.2 18.0 18.1", "2026.2": "18.1"},
		},
		"gone from the last suite": {
			"os-vif",
			[3]string{"4.0", "4.1", ""},
			map[string]string{"2025.1": "4.0", "2025.2": "4.0 4.1", "2026.1": "4.0 4.1"},
		},
		"only in the first suite": {"vitrage", [3]string{"14.0", "", ""}, map[string]string{"2025.1": "14.0"}},
		"new":                     {"neutron-fwaas", [3]string{"", "28.0", "29.0"}, map[string]string{"2025.2": "28.0 29.0", "2026.1": "28.0 29.0", "2026.2": "29.0"}},
	} {
		var snapshots []snapshot
		for i, in := range []suite{first, mixed, last} {
			if test.versions[i] != "" {
				snapshots = append(snapshots, snapshot{&asked{Version: test.versions[i]}, in})
			}
		}
		got := map[string]string{}
		for _, release := range names {
			if !slices.ContainsFunc(snapshots, func(s snapshot) bool { return s.shows(test.distribution, release) }) {
				continue
			}
			var versions []string
			for _, s := range speaking(snapshots, test.distribution, release) {
				versions = append(versions, s.Version)
			}
			got[release] = strings.Join(versions, " ")
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestCombineReleases checks for which releases a service has tables: those for which a package of
// that time exists.
func TestCombineReleases(t *testing.T) {
	known(t, "2025.1", "2025.2", "2026.1", "2026.2")
	has := func(names ...string) *introspection {
		out := &introspection{Distributions: map[string]*asked{}, Plugins: map[string]map[string][]string{"password": {"username": {"user-name"}}}}
		for _, name := range names {
			out.Distributions[name] = &asked{Version: "1", Requires: []string{"oslo-db", "neutron", "absent"}}
		}
		return out
	}
	forky := has("nova", "blazar", "oslo-db")
	forky.Distributions["nova"].Version = "2"
	forky.Plugins["none"] = map[string][]string{"endpoint": nil}
	forky.Plugins["password"]["trust_id"] = []string{}
	index, distributions := combine(map[string]*introspection{"trixie": has("nova", "vitrage", "oslo-db", "neutron"), "forky": forky, "sid": has()})
	got := map[string]map[string][]string{}
	for _, s := range index.Services {
		if len(s.Releases) > 0 {
			got[s.Name] = s.Releases
		}
	}
	want := map[string]map[string][]string{
		"Nova":    {"2025.1": {"nova", "oslo-db"}, "2025.2": {"nova", "oslo-db"}, "2026.1": {"nova", "oslo-db"}},
		"Vitrage": {"2025.1": {"oslo-db", "vitrage"}},
		"Neutron": {"2025.1": {"neutron", "oslo-db"}},
		"Blazar":  {"2025.2": {"blazar", "oslo-db"}, "2026.1": {"blazar", "oslo-db"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("releases (-want +got)\n%s", diff)
	}
	if distributions["nova"] == nil || distributions["absent"] != nil {
		t.Errorf("distributions: %v", distributions)
	}
	if diff := cmp.Diff(map[string]map[string][]string{
		"none": {"endpoint": nil}, "password": {"username": {"user_name"}, "trust_id": nil},
	}, index.Plugins); diff != "" {
		t.Errorf("plugins (-want +got)\n%s", diff)
	}
}
