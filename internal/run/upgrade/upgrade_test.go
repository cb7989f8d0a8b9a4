package upgrade_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/run/upgrade"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

func TestParse(t *testing.T) {
	for tag, want := range map[string]plans.Images{
		"2025.1-rocky-9":                 {Release: "2025.1", Distro: "rocky-9"},
		"2025.2-debian-bookworm-aarch64": {Release: "2025.2", Distro: "debian-bookworm"},
		"2026.1-rocky-10.patched":        {Release: "2026.1", Distro: "rocky-10"},
		"2025.1":                         {}, // tags of other programs also look like this
		"2025.2.1":                       {},
		"2025.3-rocky-10":                {},
		"master-rocky-10":                {},
		"2025.2-rc-1":                    {},
		"latest":                         {},
		"":                               {},
		"2025.1-rocky":                   {},
		"12025.1-rocky-9":                {},
	} {
		if got := upgrade.Parse(tag); got != want {
			t.Errorf("%q: got %v, want %v", tag, got, want)
		}
	}
}

// TestSupported checks the supported upgrades: to the next release, and from a SLURP release to the
// next SLURP release.
func TestSupported(t *testing.T) {
	for _, test := range []struct {
		from, to string
		ok       bool
		via      string
	}{
		{"2025.1", "2025.1", true, ""},
		{"2025.1", "2025.2", true, ""},
		{"2025.1", "2026.1", true, ""},
		{"2025.2", "2026.1", true, ""},
		{"2026.1", "2026.2", true, ""},
		{"2026.1", "2027.1", true, ""},
		{"2025.2", "2026.2", false, "2026.1"},
		{"2025.1", "2026.2", false, "2026.1"},
		{"2024.1", "2026.1", false, "2025.1"},
		{"2025.2", "2025.1", false, ""},
		{"2026.1", "2025.1", false, ""},
	} {
		ok, via := upgrade.Supported(test.from, test.to)
		if ok != test.ok || via != test.via {
			t.Errorf("%s → %s: got %t via %q", test.from, test.to, ok, via)
		}
	}
}

// workload is a Deployment of a service with one container.
func workload(service, image string) plans.Action {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": service, "namespace": "openstack"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": image}}}}},
	}}
	o := &providers.Object{Address: addrs.Object{Block: "service." + service, Kind: "Deployment", Name: service}, Manifest: u}
	return plans.Action{Address: o.Address, Verb: plans.Update, Object: o, Ref: o.Ref()}
}

// cluster describes a cloud: the images that its services run now and will run.
type cluster struct {
	installed plans.Images
	runs      map[string]string // by service
	wants     map[string]string
	tag       string
	forced    []string
}

const registry = "quay.io/openstack.kolla/"

func find(release string, c cluster) (*plans.Upgrade, []plans.Problem) {
	at := func(line int) hcl.Range { return hcl.Range{Filename: "cloud.hcl", Start: hcl.Pos{Line: line}} }
	config := &configs.Config{Cloud: configs.Cloud{Name: "prod", Namespace: "openstack", Release: release, Distro: "rocky-10", Tag: c.tag, ReleaseRange: at(2), TagRange: at(3)}}
	plan := &plans.Plan{}
	live := map[providers.Ref]*unstructured.Unstructured{}
	for service, image := range c.wants {
		config.Services = append(config.Services, configs.Service{Block: "service." + service, Name: service, ImagesRange: at(7), Databases: make([]configs.Database, len(service)%2)})
		plan.Actions = append(plan.Actions, workload(service, registry+image))
		if c.runs[service] != "" {
			old := workload(service, registry+c.runs[service])
			live[old.Ref] = old.Object.Manifest
		}
	}
	return upgrade.Find(upgrade.Input{
		Config: config, Plan: plan, Installed: c.installed, Forced: c.forced,
		Live: func(r providers.Ref) *unstructured.Unstructured { return live[r] },
	})
}

// TestFind checks that changes of the release are found, whichever source the installed release is
// known from.
func TestFind(t *testing.T) {
	images := func(release, distro string) plans.Images { return plans.Images{Release: release, Distro: distro} }
	const old, current, coming = "keystone:2025.1-rocky-9", "keystone:2025.2-rocky-10", "keystone:2026.1-rocky-10"
	for name, test := range map[string]struct {
		release  string
		cluster  cluster
		title    string // "FROM → TO: SERVICES"; empty: no upgrade
		problems string // "cloud.hcl:2: SUMMARY", several with ";"
	}{
		"nothing is installed": {"2025.1", cluster{wants: map[string]string{"keystone": old}}, "", ""},
		"nothing changes": {
			"2025.2", cluster{installed: images("2025.2", "rocky-10"), runs: map[string]string{"keystone": current}, wants: map[string]string{"keystone": current}}, "", "",
		},
		"an upgrade": {
			"2025.2",
			cluster{installed: images("2025.1", "rocky-9"), runs: map[string]string{"keystone": old}, wants: map[string]string{"keystone": current}},
			"2025.1-rocky-9 → 2025.2-rocky-10: keystone", "",
		},
		"without the annotation": {
			"2025.2",
			cluster{runs: map[string]string{"keystone": old}, wants: map[string]string{"keystone": current}},
			" → 2025.2-rocky-10: keystone", "",
		},
		"without the annotation, one service ahead": {
			"2025.1",
			cluster{
				runs:  map[string]string{"keystone": "keystone:2025.2-rocky-10", "nova": "nova-api:2025.1-rocky-10", "glance": "glance-api:2025.1-rocky-10"},
				wants: map[string]string{"keystone": "keystone:2025.1-rocky-10", "nova": "nova-api:2025.1-rocky-10", "glance": "glance-api:2025.1-rocky-10"},
			},
			" → 2025.1-rocky-10: keystone", "cloud.hcl:2: OpenStack would go back from 2025.2 to 2025.1",
		},
		"insisted on no release": {
			"2025.2", cluster{installed: images("2025.2", "rocky-10"), forced: []string{"yes"}}, "", ": -force-release needs a release",
		},
		"insisted on nothing": {
			"2025.2", cluster{installed: images("2025.2", "rocky-10"), forced: []string{"2025.2"}}, "", "warning: : -force-release=2025.2 forces nothing",
		},
		"the distribution of the own tag": {
			"2025.2",
			cluster{installed: images("2025.2", "rocky-10"), tag: "2025.2-debian-bookworm-corp1", runs: map[string]string{"keystone": current}, wants: map[string]string{"keystone": "keystone:2025.2-debian-bookworm-corp1"}},
			"2025.2-rocky-10 → 2025.2-debian-bookworm: keystone", "",
		},
		"from SLURP to SLURP": {
			"2026.1",
			cluster{installed: images("2025.1", "rocky-9"), runs: map[string]string{"keystone": old}, wants: map[string]string{"keystone": coming}},
			"2025.1-rocky-9 → 2026.1-rocky-10: keystone", "",
		},
		"too far": {
			"2026.1",
			cluster{installed: images("2024.2", "rocky-9"), wants: map[string]string{"keystone": coming}},
			"2024.2-rocky-9 → 2026.1-rocky-10: ", "cloud.hcl:2: OpenStack cannot go from 2024.2 to 2026.1 in one step",
		},
		"a downgrade": {
			"2025.2",
			cluster{installed: images("2026.1", "rocky-10"), runs: map[string]string{"keystone": coming}, wants: map[string]string{"keystone": current}},
			"2026.1-rocky-10 → 2025.2-rocky-10: keystone", "cloud.hcl:2: OpenStack would go back from 2026.1 to 2025.2",
		},
		"a downgrade without the annotation": {
			"2025.2",
			cluster{runs: map[string]string{"keystone": coming}, wants: map[string]string{"keystone": current}},
			" → 2025.2-rocky-10: keystone", "cloud.hcl:2: OpenStack would go back from 2026.1 to 2025.2",
		},
		"the services are gone, and their data are not": {
			"2025.2",
			cluster{installed: images("2026.1", "rocky-10"), wants: map[string]string{"keystone": current}},
			"2026.1-rocky-10 → 2025.2-rocky-10: ", "cloud.hcl:2: OpenStack would go back from 2026.1 to 2025.2",
		},
		"insisted": {
			"2025.2",
			cluster{installed: images("2026.1", "rocky-10"), wants: map[string]string{"keystone": current}, forced: []string{"2025.2"}},
			"2026.1-rocky-10 → 2025.2-rocky-10: ", "warning: cloud.hcl:2: OpenStack would go back from 2026.1 to 2025.2",
		},
		"insisted on another release": {
			"2025.2",
			cluster{installed: images("2026.1", "rocky-10"), wants: map[string]string{"keystone": current}, forced: []string{"2025.1"}},
			"2026.1-rocky-10 → 2025.2-rocky-10: ", "cloud.hcl:2: OpenStack would go back from 2026.1 to 2025.2;warning: : -force-release=2025.1 forces nothing",
		},
		"one service by its images": {
			"2025.2",
			cluster{installed: images("2025.2", "rocky-10"), runs: map[string]string{"keystone": current}, wants: map[string]string{"keystone": old}},
			"2025.2-rocky-10 → 2025.2-rocky-10: keystone", "cloud.hcl:7: OpenStack would go back from 2025.2 to 2025.1",
		},
		"by the tag of the cloud": {
			"2025.2",
			cluster{installed: images("2025.2", "rocky-10"), tag: "2025.1-rocky-9", runs: map[string]string{"keystone": current}, wants: map[string]string{"keystone": old}},
			"2025.2-rocky-10 → 2025.1-rocky-9: keystone", "cloud.hcl:3: OpenStack would go back from 2025.2 to 2025.1",
		},
		"by the tag of the cloud, without services": {
			"2025.2",
			cluster{installed: images("2025.2", "rocky-10"), tag: "2025.1-rocky-9", wants: map[string]string{"keystone": old}},
			"2025.2-rocky-10 → 2025.1-rocky-9: ", "cloud.hcl:3: OpenStack would go back from 2025.2 to 2025.1",
		},
		"a tag of another release, for long": {
			"2025.1", cluster{tag: "2025.2-rocky-10-corp", runs: map[string]string{"keystone": "keystone:2025.2-rocky-10-corp"}, wants: map[string]string{"keystone": "keystone:2025.2-rocky-10-corp"}}, "", "",
		},
		"tags without a release": {
			"2025.1",
			cluster{installed: images("2025.2", "rocky-10"), tag: "ours-2", runs: map[string]string{"keystone": "keystone:ours-1"}, wants: map[string]string{"keystone": "keystone:ours-2"}},
			"2025.2-rocky-10 → 2025.1-rocky-10: ", "cloud.hcl:2: OpenStack would go back from 2025.2 to 2025.1",
		},
		"digests": {
			"2025.2", cluster{installed: images("2025.2", "rocky-10"), runs: map[string]string{"keystone": current + "@sha256:aa"}, wants: map[string]string{"keystone": current + "@sha256:bb"}}, "", "",
		},
		"the rest of an upgrade": {
			"2025.2",
			cluster{installed: images("2025.2", "rocky-10"), runs: map[string]string{"keystone": old, "glance": "glance-api:2025.2-rocky-10"}, wants: map[string]string{"keystone": current, "glance": "glance-api:2025.2-rocky-10"}},
			"2025.2-rocky-10 → 2025.2-rocky-10: keystone", "",
		},
		"the rest of an upgrade back": {
			"2025.1",
			cluster{installed: images("2025.1", "rocky-10"), runs: map[string]string{"keystone": current}, wants: map[string]string{"keystone": "keystone:2025.1-rocky-10"}},
			"2025.1-rocky-10 → 2025.1-rocky-10: keystone", "cloud.hcl:2: OpenStack would go back from 2025.2 to 2025.1",
		},
		"the distribution alone": {
			"2025.1",
			cluster{installed: images("2025.1", "rocky-9"), runs: map[string]string{"keystone": old}, wants: map[string]string{"keystone": "keystone:2025.1-rocky-10"}},
			"2025.1-rocky-9 → 2025.1-rocky-10: keystone", "",
		},
		"a service that stays behind is not the cloud": {
			"2025.2", cluster{installed: images("2025.2", "rocky-10"), runs: map[string]string{"keystone": coming}, wants: map[string]string{"keystone": coming}}, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, problems := find(test.release, test.cluster)
			title := ""
			if u != nil {
				var names []string
				for _, s := range u.Services {
					names = append(names, s.Name)
				}
				title = u.From.String() + " → " + u.To.String() + ": " + strings.Join(names, " ")
			}
			if title != test.title {
				t.Errorf("got %q, want %q", title, test.title)
			}
			var got []string
			for _, p := range problems {
				text := p.Source + ": " + p.Summary
				if p.Warning {
					text = "warning: " + text
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ";"); text != test.problems {
				t.Errorf("got %q, want %q", text, test.problems)
			}
			if u != nil && u.Backward != strings.Contains(test.problems, "go back") {
				t.Errorf("backward: %t", u.Backward)
			}
		})
	}
}

// TestWhatChanges checks which services change their tables, and which processors the new images need.
func TestWhatChanges(t *testing.T) {
	u, problems := find("2025.2", cluster{
		installed: plans.Images{Release: "2025.1", Distro: "rocky-9"},
		runs:      map[string]string{"mariadb": "mariadb-server:2025.1-rocky-9", "rabbitmq": "rabbitmq:2025.1-rocky-9", "keystone": "keystone:2025.1-rocky-9", "nova": "nova-api:2025.1-rocky-9"},
		wants:     map[string]string{"mariadb": "mariadb-server:2025.2-rocky-10", "rabbitmq": "rabbitmq:2025.2-rocky-10", "keystone": "keystone:2025.2-rocky-10", "nova": "nova-api:2025.1-rocky-9"},
	})
	if u == nil || len(problems) > 0 {
		t.Fatalf("got %+v, %+v", u, problems)
	}
	if u.Processors != "x86-64-v3" || !slices.Equal(u.Databases, []string{"mariadb"}) {
		t.Errorf("got %+v", u)
	}
}

// TestDataVersions checks that a plan names programs that convert their data, and refuses a version that does not take
// over the data.
func TestDataVersions(t *testing.T) {
	const program = `"program": "RabbitMQ", "version": `
	for name, test := range map[string]struct {
		before, after string // contents of the annotation
		forced, data  []string
		change        string
		problem       string
	}{
		"the same":             {program + `"4.0"`, program + `"4.0", "from": []`, nil, nil, "", ""},
		"any other one":        {program + `"4.0"`, program + `"4.3"`, nil, nil, "RabbitMQ 4.0 → 4.3", ""},
		"a named one":          {program + `"4.0"`, program + `"4.1", "from": ["4.0"]`, nil, nil, "RabbitMQ 4.0 → 4.1", ""},
		"too far":              {program + `"4.0"`, program + `"4.3", "from": ["4.1", "4.2"], "detail": "Go to 4.1 first."`, nil, nil, "RabbitMQ 4.0 → 4.3", "cloud.hcl:2: RabbitMQ 4.3 does not start with the data of 4.0"},
		"too far, but meant":   {program + `"4.0"`, program + `"4.3", "from": ["4.2"]`, nil, []string{"service.rabbitmq"}, "RabbitMQ 4.0 → 4.3", "warning: cloud.hcl:2: RabbitMQ 4.3 does not start with the data of 4.0"},
		"the release is meant": {program + `"4.0"`, program + `"4.3", "from": ["4.2"]`, []string{"2025.2"}, nil, "RabbitMQ 4.0 → 4.3", "cloud.hcl:2: RabbitMQ 4.3 does not start with the data of 4.0;warning: : -force-release=2025.2 forces nothing"},
		"meant for nothing":    {program + `"4.0"`, program + `"4.1", "from": ["4.0"]`, nil, []string{"service.rabbitmq"}, "RabbitMQ 4.0 → 4.1", "warning: : -force-data=service.rabbitmq forces nothing"},
		"not known":            {"", program + `"4.3", "from": ["4.2"]`, nil, nil, "", ""},
		"somebody's text":      {`]`, program + `"4.3", "from": ["4.2"]`, nil, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			at := hcl.Range{Filename: "cloud.hcl", Start: hcl.Pos{Line: 2}}
			wanted, live := workload("rabbitmq", registry+"rabbitmq:2025.2-rocky-10"), workload("rabbitmq", registry+"rabbitmq:2025.1-rocky-10")
			for text, u := range map[string]*unstructured.Unstructured{test.before: live.Object.Manifest, test.after: wanted.Object.Manifest} {
				if text != "" {
					u.SetAnnotations(map[string]string{providers.AnnotationDataVersion: "{" + text + "}"})
				}
			}
			u, problems := upgrade.Find(upgrade.Input{
				Config: &configs.Config{
					Cloud:    configs.Cloud{Name: "prod", Namespace: "openstack", Release: "2025.2", Distro: "rocky-10", ReleaseRange: at},
					Services: []configs.Service{{Block: "service.rabbitmq", Name: "rabbitmq"}},
				},
				Plan: &plans.Plan{Actions: []plans.Action{wanted}}, Installed: plans.Images{Release: "2025.1", Distro: "rocky-10"}, Forced: test.forced, ForcedData: test.data,
				Live: func(providers.Ref) *unstructured.Unstructured { return live.Object.Manifest },
			})
			var change, problem string
			for _, v := range u.Versions {
				change += v.Program + " " + v.From + " → " + v.To
			}
			for i, p := range problems {
				if i > 0 {
					problem += ";"
				}
				if p.Warning {
					problem += "warning: "
				}
				problem += p.Source + ": " + p.Summary
				if p.Warning && strings.Contains(p.Detail, "insist with") {
					t.Errorf("the operator has insisted, and the detail is %q", p.Detail)
				}
				if strings.Contains(test.after, "detail") && !strings.Contains(p.Detail, " Go to 4.1 first. ") {
					t.Errorf("the detail is %q", p.Detail)
				}
			}
			if change != test.change || problem != test.problem {
				t.Errorf("got %q, %q, want %q, %q", change, problem, test.change, test.problem)
			}
		})
	}
}

// TestProcessorsOfService checks that the required processors are reported even if only one service
// gets images of another distribution.
func TestProcessorsOfService(t *testing.T) {
	u, _ := find("2025.2", cluster{
		installed: plans.Images{Release: "2025.2", Distro: "rocky-10"}, tag: "ours",
		runs: map[string]string{"nova": "nova-api:2025.2-rocky-9"}, wants: map[string]string{"nova": "nova-api:2025.2-rocky-10"},
	})
	if u == nil || u.Processors != "x86-64-v3" {
		t.Errorf("got %+v", u)
	}
}

// TestOneProblem checks that one problem is reported if the tag of the cloud moves two services to
// an older release.
func TestOneProblem(t *testing.T) {
	_, problems := find("2025.2", cluster{
		installed: plans.Images{Release: "2025.2", Distro: "rocky-10"}, tag: "2025.1-rocky-9",
		runs:  map[string]string{"nova": "nova-api:2025.2-rocky-10", "keystone": "keystone:2025.2-rocky-10"},
		wants: map[string]string{"nova": "nova-api:2025.1-rocky-9", "keystone": "keystone:2025.1-rocky-9"},
	})
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Detail, "The cloud runs 2025.2-rocky-10. ") || !strings.Contains(problems[0].Detail, "-force-release=2025.1") {
		t.Errorf("got %+v", problems)
	}
}

func TestOfNamespace(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	u.SetAnnotations(map[string]string{providers.AnnotationRelease: "2025.1-almalinux"})
	if got := upgrade.OfNamespace(u); got != (plans.Images{Release: "2025.1", Distro: "almalinux"}) {
		t.Errorf("got %+v", got)
	}
	for _, text := range []string{"", "none", "2025.3-rocky-9", "2025.1.1-rocky-9", "latest"} {
		u.SetAnnotations(map[string]string{providers.AnnotationRelease: text})
		if got := upgrade.OfNamespace(u); got != (plans.Images{}) {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	if got := upgrade.OfNamespace(nil); got != (plans.Images{}) {
		t.Errorf("got %+v", got)
	}
}

// TestNewestBackup checks which CronJob made the newest backup, and what is said if users may not list all CronJobs.
func TestNewestBackup(t *testing.T) {
	job := func(namespace, name, labels, success string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		text := fmt.Sprintf(`{"metadata": {"namespace": %q, "name": %q}, "spec": {"jobTemplate": {"spec": {"template": {"metadata": {"labels": {%s}}}}}}, "status": {%s}}`, namespace, name, labels, success)
		if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		return u
	}
	const backup = `"app.kubernetes.io/name": "kolla-backup"`
	named := func(cloud string) string { return fmt.Sprintf(`%s, %q: %q`, backup, providers.LabelCloud, cloud) }
	success := func(day int) string { return fmt.Sprintf(`"lastSuccessfulTime": "2026-11-%02dT02:40:00Z"`, day) }
	at := func(day int) time.Time { return time.Date(2026, 11, day, 2, 40, 0, 0, time.UTC) }
	denied := errors.New("jane may not list CronJobs")
	for name, c := range map[string]struct {
		jobs   []*unstructured.Unstructured
		denied int // of all namespaces, or also of that of the cloud
		want   plans.Backup
	}{
		"none":           {nil, 0, plans.Backup{}},
		"another job":    {[]*unstructured.Unstructured{job("openstack", "report", "", success(27))}, 0, plans.Backup{}},
		"one":            {[]*unstructured.Unstructured{job("openstack", "backup", backup, success(27))}, 0, plans.Backup{CronJob: "openstack/backup", At: at(27)}},
		"never":          {[]*unstructured.Unstructured{job("openstack", "backup", backup, "")}, 0, plans.Backup{CronJob: "openstack/backup"}},
		"the newer one":  {[]*unstructured.Unstructured{job("openstack", "new", backup, ""), job("kolla", "backup", named("prod"), success(28)), job("openstack", "backup", backup, success(27))}, 0, plans.Backup{CronJob: "kolla/backup", At: at(28)}},
		"other clouds":   {[]*unstructured.Unstructured{job("kolla", "backup", named("test"), success(28)), job("other", "backup", backup, success(28))}, 0, plans.Backup{}},
		"own namespace":  {[]*unstructured.Unstructured{job("openstack", "backup", backup, success(27)), job("kolla", "backup", named("prod"), success(28))}, 1, plans.Backup{CronJob: "openstack/backup", At: at(27)}},
		"none in it":     {[]*unstructured.Unstructured{job("kolla", "backup", named("prod"), success(28))}, 1, plans.Backup{Unknown: denied.Error()}},
		"without rights": {[]*unstructured.Unstructured{job("openstack", "backup", backup, success(27))}, 2, plans.Backup{Unknown: denied.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			got := upgrade.NewestBackup(&configs.Cloud{Name: "prod", Namespace: "openstack"}, func(namespace string) ([]*unstructured.Unstructured, error) {
				if asked++; asked <= c.denied {
					return nil, denied
				}
				return slices.DeleteFunc(slices.Clone(c.jobs), func(u *unstructured.Unstructured) bool { return namespace != "" && u.GetNamespace() != namespace }), nil
			})
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
