package realcloud_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// traces lists the things on a node that pods of a cloud create and that outlive the pods.
type traces struct {
	Interfaces []string // with their addresses; without interfaces of pods and of the pod network
	Namespaces []string // network namespaces
	Mounts     []string // below Nova's directory
	Groups     []string // control groups of servers
	Processes  []string // of servers and of the network
}

// outliving matches the names of programs that outlive pods.
var outliving = regexp.MustCompile(`^(qemu-.*|virtlogd|libvirtd|nova-compute|ovs.*|ovn.*|haproxy)$`)

// traces returns the traces on a node.
func (c *cloud) traces(t *testing.T, node string) traces {
	t.Helper()
	first, err := c.firstOf(node)
	if err != nil {
		t.Fatal(err)
	}
	var found traces
	out, err := exec.Command("nsenter", "--net=/proc/"+first+"/ns/net", "ip", "-o", "address", "show", "scope", "global").CombinedOutput()
	if err != nil {
		t.Fatalf("addresses of %s: %v\n%s", node, err, out)
	}
	links, err := exec.Command("nsenter", "--net=/proc/"+first+"/ns/net", "ip", "-o", "link", "show").CombinedOutput()
	if err != nil {
		t.Fatalf("interfaces of %s: %v\n%s", node, err, links)
	}
	for line := range strings.Lines(string(links)) {
		name, _, _ := strings.Cut(strings.TrimSuffix(strings.Fields(line)[1], ":"), "@")
		if strings.HasPrefix(name, "veth") || strings.HasPrefix(name, "cni") {
			continue
		}
		for address := range strings.Lines(string(out)) {
			if fields := strings.Fields(address); fields[1] == name {
				name += " " + fields[3]
			}
		}
		found.Interfaces = append(found.Interfaces, name)
	}
	root := "/proc/" + first + "/root"
	for _, pattern := range []string{"/sys/fs/cgroup/machine*", "/sys/fs/cgroup/*/machine*"} {
		paths, err := filepath.Glob(root + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			found.Groups = append(found.Groups, strings.TrimPrefix(path, root))
		}
	}
	entries, err := os.ReadDir(root + "/run/netns")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "ovnmeta-") {
			found.Namespaces = append(found.Namespaces, e.Name())
		}
	}
	mounts, err := os.ReadFile("/proc/" + first + "/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if path := strings.Fields(line)[1]; strings.HasPrefix(path, "/var/lib/nova/") {
			found.Mounts = append(found.Mounts, path)
		}
	}
	found.Processes = programsBelow(t, first)
	for _, list := range []*[]string{&found.Interfaces, &found.Groups, &found.Namespaces, &found.Mounts, &found.Processes} {
		slices.Sort(*list)
	}
	return found
}

// firstOf returns the first process of a node.
func (c *cloud) firstOf(node string) (pid string, err error) {
	machine := filepath.Join(c.cluster.Dir(), "machines", node)
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return "", err
	}
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"); len(args) < 2 || args[len(args)-2] != "machine" || args[len(args)-1] != machine {
			continue
		}
		for _, child := range folders {
			if _, parent, err := statusOf(child); err == nil && parent == filepath.Base(folder) {
				return filepath.Base(child), nil
			}
		}
	}
	return "", fmt.Errorf("no machine %s runs", machine)
}

// statusOf returns the program and the parent of a process.
func statusOf(folder string) (program, parent string, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return "", "", err
	}
	before, after, _ := strings.Cut(string(text), ") ")
	_, program, _ = strings.Cut(before, "(")
	return program, strings.Fields(after)[1], nil
}

// programsBelow returns the matching programs of all processes that descend from the first
// process of a node.
func programsBelow(t *testing.T, first string) []string {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	programs, parents := map[string]string{}, map[string]string{}
	for _, folder := range folders {
		pid := filepath.Base(folder)
		if programs[pid], parents[pid], err = statusOf(folder); err != nil {
			delete(programs, pid) // it has ended
		}
	}
	var found []string
	for pid, program := range programs {
		if !outliving.MatchString(program) {
			continue
		}
		// Processes whose own parent has ended become children of the first process's parent.
		for at := pid; at != ""; at = parents[at] {
			if at == parents[first] {
				found = append(found, program)
				break
			}
		}
	}
	return found
}

// leavesNodesAsTheyWere checks that a destroy leaves nothing on the nodes that was not there
// before.
func leavesNodesAsTheyWere(before map[string]traces) func(*testing.T, *cloud) {
	return func(t *testing.T, c *cloud) {
		servers := 0
		for node := range before {
			now := c.traces(t, node)
			t.Logf("%s has %+v", node, now)
			for _, program := range now.Processes {
				if strings.HasPrefix(program, "qemu-") {
					servers++
				}
			}
		}
		if servers == 0 {
			t.Error("no server runs: this step proves nothing")
		}
		r := c.kolla(t, 0, "destroy", "-auto-approve", "-delete-data=*")
		wantSaid(t, "destroy", r.out, "running servers that would be cut off")
		if strings.Contains(r.out, "may have left behind") {
			t.Errorf("the destroy left something behind:\n%s", r.out)
		}
		measured(t, "destroy of all services, with servers", r.took)
		for node, had := range before {
			if diff := cmp.Diff(had, c.traces(t, node)); diff != "" {
				t.Errorf("%s is not as it was (-before +after):\n%s", node, diff)
			}
		}
	}
}
