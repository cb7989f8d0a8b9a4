package content_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/content"
)

// confined is a pod with all restrictions of Kubernetes. Tests replace parts of it.
const confined = `
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: a
    image: i
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
  - name: b
    image: j
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

func TestWeaknesses(t *testing.T) {
	tests := map[string]struct{ old, new, want string }{
		"confined":          {"", "", ""},
		"node":              {"spec:", "spec:\n  hostNetwork: true\n  hostPID: true\n  hostIPC: true", "may reach its node: hostNetwork, hostPID, hostIPC"},
		"privileged":        {"allowPrivilegeEscalation: false", "privileged: true", "may reach its node: privileged (a)"},
		"host path":         {"spec:", "spec:\n  volumes: [{name: v, hostPath: {path: /run}}, {name: w, hostPath: {path: /dev}}]", "mounts from its node: /run, /dev"},
		"read only":         {"  containers:\n  - name: a", "  volumes: [{name: v, hostPath: {path: /run}}]\n  containers:\n  - name: a\n    volumeMounts: [{name: v, readOnly: true, mountPath: /x}]", "mounts from its node: /run (read only)"},
		"host port":         {"image: i", "image: i\n    ports: [{containerPort: 1, hostPort: 80}, {containerPort: 2, hostPort: 53, protocol: UDP}]", "takes ports of its node: 80, 53/UDP"},
		"capabilities":      {"drop: [ALL]", "add: [SYS_ADMIN, NET_RAW]", "has added capabilities: NET_RAW (a), SYS_ADMIN (a)"},
		"root":              {"runAsUser: 1000", "runAsUser: 0", "runs as root"},
		"root in one":       {"{allowPrivilegeEscalation: false", "{runAsUser: 0, allowPrivilegeEscalation: false", "runs as root (a)"},
		"perhaps root":      {"runAsNonRoot: true, runAsUser: 1000, ", "", "may run as root: its image decides"},
		"more privileges":   {"allowPrivilegeEscalation: false, ", "", "may gain privileges: allowPrivilegeEscalation is not false (a)"},
		"token":             {"  automountServiceAccountToken: false\n", "", "has a token of service account default"},
		"token of another":  {"automountServiceAccountToken: false", "serviceAccountName: robot", "has a token of service account robot"},
		"projected token":   {"spec:", "spec:\n  volumes: [{name: v, projected: {sources: [{serviceAccountToken: {audience: vault, path: t}}]}}]", "has a token of its service account: {audience: vault, path: t}"},
		"by the standards":  {"image: i", "image: i\n    terminationMessagePath: /x", ""},
		"unmasked proc":     {"{allowPrivilegeEscalation: false", "{procMount: Unmasked, allowPrivilegeEscalation: false", `breaks the Pod Security level baseline: procMount (container "a" must not set securityContext.procMount to "Unmasked")`},
		"no seccomp":        {"{type: RuntimeDefault}", "{type: Unconfined}", `breaks the Pod Security level baseline: seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")`},
		"an init container": {"  containers:", "  initContainers: [{name: init, image: k, securityContext: {privileged: true}}]\n  containers:", "may reach its node: privileged (init)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			manifest := strings.Replace(confined, test.old, test.new, 1)
			if test.old != "" && manifest == confined {
				t.Fatalf("%q does not occur", test.old)
			}
			var got []string
			for _, l := range content.Of(object(t, manifest), 200) {
				if l.Weak {
					got = append(got, l.Text)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestStandards checks that every pod that the level baseline refuses is shown as a weakness. The
// pods are Kubernetes' own test data, each of which breaks one rule.
func TestStandards(t *testing.T) {
	pods := refused(t)
	if len(pods) < 20 {
		t.Fatalf("there are only %d pods", len(pods))
	}
	for _, file := range pods {
		manifest, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		weak := false
		for _, l := range content.Of(object(t, string(manifest)), 200) {
			// These lines are shown for any pod without restrictions.
			common := strings.HasPrefix(l.Text, "has a token") || strings.HasPrefix(l.Text, "may run") || strings.HasPrefix(l.Text, "may gain")
			weak = weak || l.Weak && !common
		}
		if !weak {
			t.Errorf("nothing is said against %s:\n%s", filepath.Base(file), manifest)
		}
	}
}

// refused returns the files with the pods of Kubernetes' tests for the newest version of the level.
func refused(t *testing.T) []string {
	t.Helper()
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/pod-security-admission").Output()
	if err != nil {
		t.Fatal(err)
	}
	levels := filepath.Join(strings.TrimSpace(string(output)), "test", "testdata", "baseline")
	versions, err := os.ReadDir(levels)
	if err != nil {
		t.Fatal(err)
	}
	newest := 0
	for _, version := range versions {
		if minor, err := strconv.Atoi(strings.TrimPrefix(version.Name(), "v1.")); err == nil {
			newest = max(newest, minor)
		}
	}
	files, err := filepath.Glob(filepath.Join(levels, fmt.Sprintf("v1.%d", newest), "fail", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
