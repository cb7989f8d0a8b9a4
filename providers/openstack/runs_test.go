package openstack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

const runsCloud = `definition "d" {
  config "a.conf" {
    path   = "/etc/a.conf"
    values = { DEFAULT = { a = VALUE } }
  }

  job "prepare" {
    image  = "r/d:RELEASE"
    config = ["a.conf"]
  }

  job "check" {
    runs   = "upgrade"
    image  = "r/d:RELEASE"
    config = ["a.conf"]
  }

  workload "w" {
    kind  = "Deployment"
    image = "r/d:RELEASE"
  }

  job "expire" {
    when   = "after"
    runs   = "release"
    image  = "r/d:RELEASE"
    config = ["a.conf"]
  }

  job "seed" {
    when   = "after"
    runs   = "once"
    image  = "r/d:RELEASE"
    config = ["a.conf"]
  }

  job "contract" {
    when   = "after"
    runs   = "upgrade"
    image  = "r/d:RELEASE"
    config = ["a.conf"]
  }
}

service "d" {}
`

// runsOf renders the cloud. It returns the jobs by family, and the names of jobs and Deployments in
// order.
func runsOf(t *testing.T, release, a string, made ...string) (jobs map[string]providers.Object, order []string) {
	t.Helper()
	f := facts()
	f.Made = func(block string) []addrs.Object {
		var out []addrs.Object
		for _, text := range made {
			if address, err := addrs.ParseObject(text); err != nil {
				t.Fatal(err)
			} else if address.Block == block {
				out = append(out, address)
			}
		}
		return out
	}
	source := strings.NewReplacer("RELEASE", release, "VALUE", a).Replace(runsCloud)
	jobs = map[string]providers.Object{}
	for _, o := range render(t, written(t, source), f) {
		if o.IsJob() {
			jobs[o.Family.Name] = o
			order = append(order, o.Family.Name)
		}
		if o.Address.Kind == "Deployment" {
			order = append(order, o.Address.Name)
		}
	}
	return jobs, order
}

func TestRuns(t *testing.T) {
	const there = "service.d/Deployment/d-w"
	first, order := runsOf(t, "2025.1", "1")
	if want := []string{"d-check", "d-contract", "d-prepare", "d-w", "d-expire", "d-seed"}; !slices.Equal(order, want) {
		t.Errorf("a new service: %v, want %v", order, want)
	}
	for name, o := range first {
		if want := name == "d-check" || name == "d-contract"; o.Skipped() != want {
			t.Errorf("a new service: %s is skipped: %t, want %t", name, o.Skipped(), want)
		}
	}
	same := func(what string, got map[string]providers.Object, want ...string) {
		t.Helper()
		for name, o := range got {
			if is := o.Address == first[name].Address; is != slices.Contains(want, name) {
				t.Errorf("%s: %s is the same run: %t", what, name, is)
			}
		}
	}
	otherValue, order := runsOf(t, "2025.1", "2", there)
	same("another value", otherValue, "d-check", "d-contract", "d-expire", "d-seed")
	if want := []string{"d-prepare", "d-check", "d-w", "d-expire", "d-seed", "d-contract"}; !slices.Equal(order, want) {
		t.Errorf("later: %v, want %v", order, want)
	}
	if now, was := otherValue["d-expire"].Manifest.GetAnnotations(), first["d-expire"].Manifest.GetAnnotations(); now[providers.AnnotationInputs] == was[providers.AnnotationInputs] {
		t.Error("the inputs of an unfinished run are not told apart")
	}
	upgraded, _ := runsOf(t, "2025.2", "1", there)
	same("another image", upgraded, "d-seed")
	for name, o := range upgraded {
		if o.Skipped() {
			t.Errorf("an upgrade: %s does not run", name)
		}
	}
}

// TestRunsOfTheSame checks that a finished job does not run again if only its number of attempts,
// its timeout or its labels change. If the job is unfinished, kolla replaces it after such a change.
func TestRunsOfTheSame(t *testing.T) {
	job := func(more string) providers.Object {
		source := strings.NewReplacer("RELEASE", "2025.1", "VALUE", "1", `job "prepare" {`, `job "prepare" {`+"\n"+more).Replace(runsCloud)
		for _, o := range render(t, written(t, source), facts()) {
			if o.IsJob() && o.Family.Name == "d-prepare" {
				return o
			}
		}
		t.Fatal("there is no such job")
		return providers.Object{}
	}
	first := job("")
	for more, same := range map[string]bool{
		"attempts = 9":                           true,
		"timeout = 99":                           true,
		"labels = { \"example.org/a\" = \"b\" }": true,
		"env = { A = \"b\" }":                    false,
		"command = [\"other\"]":                  false,
	} {
		o := job(more)
		if is := o.Address == first.Address; is != same {
			t.Errorf("%s: it is the same run: %t", more, is)
		}
		if o.Manifest.GetAnnotations()[providers.AnnotationInputs] == first.Manifest.GetAnnotations()[providers.AnnotationInputs] {
			t.Errorf("%s: an unfinished run is not outdated", more)
		}
	}
}

// TestRunsAfterKill checks that the next plan after a killed apply still knows whether a service is
// new.
func TestRunsAfterKill(t *testing.T) {
	first, _ := runsOf(t, "2025.1", "1")
	check := first["d-check"].Address.String()
	for name, test := range map[string]struct {
		made []string
		want bool
	}{
		"one of the jobs that do not run":       {[]string{check}, true},
		"that job of another image":             {[]string{"service.d/Job/d-check-00000000"}, false},
		"a job that runs":                       {[]string{check, first["d-prepare"].Address.String()}, false},
		"the workload":                          {[]string{"service.d/Deployment/d-w"}, false},
		"a workload with the name of before":    {[]string{"service.d/Deployment/old-w"}, false},
		"a workload of another service's block": {[]string{"service.e/Deployment/e-w"}, true},
	} {
		if jobs, _ := runsOf(t, "2025.1", "1", test.made...); skips(jobs["d-contract"]) != test.want {
			t.Errorf("%s: the job is skipped: %t", name, !test.want)
		}
	}
	offline, _ := rendered(written(t, strings.NewReplacer("RELEASE", "2025.1", "VALUE", "1").Replace(runsCloud)), openstack.Offline())
	for _, o := range offline {
		if o.IsJob() && o.Skipped() {
			t.Errorf("without a cluster %s is skipped", o.Address)
		}
	}
}

func skips(o providers.Object) bool { return o.Skipped() }

// TestRunsBack checks that no job of an older release runs for tables that a newer release has changed, whether or not
// the pods are new already. Checks change nothing, so that they are no reason.
func TestRunsBack(t *testing.T) {
	const check, sync, web = "service.s/Job/s-check-1", "service.s/Job/s-sync-1", "service.s/Deployment/s-w"
	for name, test := range map[string]struct {
		release string            // of the configuration
		ran     map[string]string // objects with their images
		want    bool
	}{
		"the tables are new": {"2025.1", map[string]string{sync: "s:2025.2-rocky-10", web: "s:2025.1-rocky-9"}, true},
		"the pods are new":   {"2025.1", map[string]string{web: "s:2025.2-rocky-10"}, true},
		"only a check ran":   {"2025.1", map[string]string{check: "s:2025.2-rocky-10", web: "s:2025.1-rocky-9"}, false},
		"the same release":   {"2025.1", map[string]string{sync: "s:2025.1-rocky-10", web: "s:2025.1-rocky-9"}, false},
		"an upgrade":         {"2025.2", map[string]string{web: "s:2025.1-rocky-9"}, false},
		"another image":      {"2025.1", map[string]string{web: "other:2025.2-rocky-10"}, false},
		"no release":         {"2025.1", map[string]string{web: "s:42"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			f.Made = func(string) []addrs.Object {
				var out []addrs.Object
				for text := range test.ran {
					address, err := addrs.ParseObject(text)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, address)
				}
				return out
			}
			f.Live = func(r providers.Ref) *unstructured.Unstructured {
				for text, image := range test.ran {
					if address, _ := addrs.ParseObject(text); address.Name == r.Name && address.Kind == r.GVK.Kind {
						return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
							"containers": []any{map[string]any{"image": "quay.io/openstack.kolla/" + image}},
						}}}}}
					}
				}
				return nil
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.Replace(backCloud, "RELEASE", test.release, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			config := load(t, dir)
			var names []string
			run := func(facts openstack.Facts) (skipped []string) {
				objects, diags := rendered(config, facts)
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				for _, o := range objects {
					if o.IsJob() {
						names = append(names, o.Address.Name)
						if o.Skipped() {
							skipped = append(skipped, o.Family.Name)
						}
					}
				}
				slices.Sort(skipped)
				return skipped
			}
			var want []string
			if test.want {
				want = []string{"s-check", "s-contract", "s-sync"}
			}
			if got := run(f); !slices.Equal(got, want) {
				t.Errorf("skipped are %v, want %v", got, want)
			}
			back := names
			names, f.Live = nil, nil
			run(f)
			slices.Sort(names)
			slices.Sort(back)
			if !slices.Equal(names, back) {
				t.Errorf("a later plan would run the jobs: %v, and they were %v", names, back)
			}
		})
	}
}

const backCloud = `cloud "test" {
  release   = "RELEASE"
  namespace = "openstack"
}

definition "s" {
  job "check" {
    when  = "check"
    image = "s"
  }

  job "sync" { image = "s" }

  workload "w" {
    kind  = "Deployment"
    image = "s"
  }

  job "contract" {
    when  = "after"
    runs  = "release"
    image = "s"
  }
}

service "s" {}
`

// TestNodesOfJobs checks that a job gets the names of the nodes of a role, and runs again when a
// node joins the role.
func TestNodesOfJobs(t *testing.T) {
	config := written(t, `role "compute" {
  match = { "node.kubernetes.io/instance-type" = "hypervisor" }
}

definition "d" {
  job "discover" {
    image = "d"
    nodes = self.role
  }
}

service "d" {}

service "matched" {
  definition = "d"
  role       = role.compute
}

service "named" {
  definition = "d"

  job "discover" {
    nodes = role.compute
    env   = { ANY = "1", TIME = "2" }
  }
}
`)
	told := func(f openstack.Facts, name string) (nodes, job string) {
		o := find(t, render(t, config, f), "Job/"+name+"-discover")
		spec, _, _ := podOf(t, o)
		env := spec.Containers[0].Env
		i := slices.IndexFunc(env, func(v v1.EnvVar) bool { return v.Name == "KOLLA_NODES" })
		if i < 0 || !slices.IsSortedFunc(env, func(a, b v1.EnvVar) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatalf("environment %v", env)
		}
		return env[i].Value, o.Address.Name
	}
	more := facts()
	more.Nodes = append(more.Nodes, openstack.Node{Name: "a", Labels: map[string]string{"node.kubernetes.io/instance-type": "hypervisor"}})
	for _, name := range []string{"matched", "named"} {
		before, first := told(facts(), name)
		after, second := told(more, name)
		if before != "cmp-1 cmp-2 n2" || after != "a cmp-1 cmp-2 n2" || first == second {
			t.Errorf("%s: %q in %s, then %q in %s", name, before, first, after, second)
		}
	}
	if all, _ := told(facts(), "d"); all != "cmp-1 cmp-2 ctl-1 ctl-2 ctl-3 n1 n2 node-1" {
		t.Errorf("without a role: %q", all)
	}
	if none, _ := told(openstack.Offline(), "matched"); none != "" {
		t.Errorf("without a cluster: %q", none)
	}
}
