package openstack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/releases"
)

// TestQueueNames checks that each process with a queue takes the names of its queues from
// oslo.messaging's queue manager, and that it has a directory for the lock that this needs, in which
// it may write.
func TestQueueNames(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range []string{"testdata/images", "testdata/stacks", "testdata/servers"} {
		for _, release := range releases.Names() {
			config := inRelease(t, dir, release)
			options := stackOptions(config)
			for _, s := range config.Services {
				for _, w := range s.Workloads {
					for _, file := range w.Pod.Configs {
						name := s.Name + " " + file
						if options[name+" oslo_messaging_rabbit rabbit_quorum_queue"] == "" {
							continue
						}
						seen[s.Name] = true
						if got := options[name+" oslo_messaging_rabbit use_queue_manager"]; got != "true" {
							t.Errorf("%s: use_queue_manager of %s is %q", release, name, got)
						}
						if lock := lockPath(w.Pod, options[name+" oslo_concurrency lock_path"]); lock == "" {
							t.Errorf("%s: %s of %s has no directory for locks", release, w.Name, name)
						}
					}
				}
			}
		}
	}
	for _, name := range []string{"barbican", "cinder", "heat", "neutron", "nova", "nova-cell2", "nova-compute-fast"} {
		if !seen[name] {
			t.Errorf("%s has no queue", name)
		}
	}
}

// TestHeartbeats checks that the processes under uWSGI that have a queue send heartbeats from threads of
// their own, and no others do. From 2026.2 on all do, and there is no option.
func TestHeartbeats(t *testing.T) {
	for _, release := range releases.Names() {
		count := 0
		for _, dir := range []string{"testdata/images", "testdata/stacks", "testdata/servers"} {
			config := inRelease(t, dir, release)
			options := stackOptions(config)
			for _, s := range config.Services {
				for _, w := range s.Workloads {
					under := slices.ContainsFunc(w.Pod.Configs, func(file string) bool {
						return strings.HasSuffix(file, "-uwsgi.ini") && options[s.Name+" "+file+" uwsgi processes"] != ""
					})
					for _, file := range w.Pod.Configs {
						section := s.Name + " " + file + " oslo_messaging_rabbit "
						if options[section+"rabbit_quorum_queue"] == "" {
							continue
						}
						want := ""
						if under && release < "2026.2" {
							want = "true"
							count++
						}
						if got := options[section+"heartbeat_in_pthread"]; got != want {
							t.Errorf("%s: %s of %s %s: heartbeat_in_pthread is %q, want %q", release, file, s.Name, w.Name, got, want)
						}
					}
				}
			}
		}
		if count < 5 && release < "2026.2" {
			t.Errorf("%s: only %d processes under uWSGI have a queue", release, count)
		}
	}
}

// TestQueueClients checks that clients know all members of a cluster, and one node by its Service.
func TestQueueClients(t *testing.T) {
	one := stackOptions(inRelease(t, "testdata/stacks", newest))
	three := stackOptions(inRelease(t, "testdata/state", newest))
	const name = "cinder cinder-api.conf DEFAULT transport_url"
	secret := func(url string) string { // the password is not known
		before, _, _ := strings.Cut(url, "@")
		return before[strings.LastIndexByte(before, ':')+1:]
	}
	password := secret(one[name])
	if want := "rabbit://cinder:" + password + "@rabbitmq.openstack:5672/cinder"; one[name] != want || password == "" {
		t.Errorf("one node: %q, want %q", one[name], want)
	}
	var hosts []string
	for n := range 3 {
		hosts = append(hosts, fmt.Sprintf("cinder:%s@rabbitmq-server-%d.rabbitmq-server.openstack:5672", secret(three[name]), n))
	}
	if want := "rabbit://" + strings.Join(hosts, ",") + "/cinder"; three[name] != want {
		t.Errorf("three members: %q, want %q", three[name], want)
	}
}

// lockPath returns the directory for locks of a pod whose configuration names configured, or
// nothing if the pod may not write there.
func lockPath(pod configs.Pod, configured string) string {
	path := configured
	for _, e := range pod.Env {
		if e.Name == "OSLO_LOCK_PATH" {
			path = e.Value.Masked()
		}
	}
	within := func(dir string) bool { return path == dir || len(path) > len(dir) && path[:len(dir)+1] == dir+"/" }
	if within("/tmp") || slices.ContainsFunc(pod.Writable, within) {
		return path
	}
	for _, v := range pod.Volumes {
		if within(v.Path) {
			return path
		}
	}
	return ""
}
