package tempest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/internal/run/tempest"
)

// tempestProgram lists a required test and another test, and writes its arguments into a file.
const tempestProgram = `#!/bin/sh
case "$*" in
*--list-tests*)
  echo "$REQUIRED,smoke]"
  echo "tempest.api.x.T.inherited_${REQUIRED##*.},smoke]"
  ;;
*)
  echo "$*" > ../called
  cp tempest.conf skip ..
  ! test -e required || cp required ..
  echo "{0} tempest.api.x.T.test_a [0.1s] ... ok"
  echo "{0} tempest.api.x.T.test_b ... SKIPPED: no cinder"
  echo " - Passed: 1"
  echo " - Skipped: 1"
  echo " - Failed: 0"
  exit 1
  ;;
esac
`

// TestShorten runs the script with an output that the log of a pod would not hold. All results and totals are read, and
// the end of the traceback of each failure.
func TestShorten(t *testing.T) {
	const program = `#!/bin/sh
echo "{0} tempest.api.x.T.test_a [0.1s] ... ok"
for test in test_b test_c; do
  printf '{1} tempest.api.x.T.%s [0.1s] ... FAILED\n\nCaptured traceback:\n~~~~~~~~~~~~~~~~~~~\n' $test
  seq -f '    %g' 90
  echo
  seq -f '    %g' 91 100
  printf '    %s\n\nCaptured pythonlogging:\n~~~~~~~~~~~~~~~~~~~~~~~\n    noise\n' $test
  head -c 500000 /dev/zero | tr '\0' x
  echo
done
printf ' - Passed: 1\n - Skipped: 0\n - Failed: 2\n'
`
	dir := t.TempDir()
	out := runScript(t, dir, program, tempest.Pod(probe.Base{Image: "tempest"}, full, tempest.Choice{Regex: "."}))
	results, err := tempest.Read(out)
	if err != nil || len(results) != 3 || results[0].Status != tempest.Passed || len(out) > 2000 {
		t.Fatalf("%v, %d bytes, %v", err, len(out), results)
	}
	for i, name := range []string{"test_b", "test_c"} {
		if trace := results[i+1].Trace; len(trace) != 15 || trace[0] != "87" || trace[14] != name {
			t.Errorf("%s has the traceback %q", name, trace)
		}
	}
}

// runScript runs the script of a pod in a directory, with programs in the place of Tempest's. It returns the output.
func runScript(t *testing.T, dir, program string, pod probe.Pod, variables ...string) string {
	t.Helper()
	for name, text := range map[string]string{"tempest": program, "stestr": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	container := pod.Spec.Containers[0]
	cmd := exec.Command(container.Command[0], container.Command[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + dir + ":" + os.Getenv("PATH")}, variables...)
	for _, variable := range container.Env {
		cmd.Env = append(cmd.Env, variable.Name+"="+variable.Value)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestPod runs the script of the pod with programs in the place of Tempest's, and checks which tests it chooses.
func TestPod(t *testing.T) {
	required := ""
	for id, name := range tempest.Required() {
		required = name + "[id-" + id
	}
	ca := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "public-tls"}, Key: "ca.crt"}
	password := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "keystone-admin"}, Key: "value"}
	for name, test := range map[string]struct{ regex, called, required string }{
		"required": {"", "run --config-file tempest.conf --concurrency 3 --exclude-list skip --load-list required", required + ",smoke]\n"},
		"chosen":   {"tempest.api.(image|identity)", "run --config-file tempest.conf --concurrency 3 --exclude-list skip --regex tempest.api.(image|identity)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := tempest.Pod(probe.Base{Image: "tempest"}, full, tempest.Choice{Regex: test.regex, AtOnce: 3, Without: tempest.Omissions(map[string]string{"setUpClass (a.B)": "slow", "a.b.c": "broken"}), Password: password, CA: ca})
			dir := t.TempDir()
			out := runScript(t, dir, tempestProgram, pod, "REQUIRED="+required)
			secret := 0
			for _, variable := range pod.Spec.Containers[0].Env {
				if variable.ValueFrom != nil && *variable.ValueFrom.SecretKeyRef == password {
					secret++
				}
			}
			if !slices.Contains(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: "REQUESTS_CA_BUNDLE", Value: "/ca/ca.pem"}) {
				t.Errorf("plug-ins do not know the CA: %v", pod.Spec.Containers[0].Env)
			}
			results, err := tempest.Read(out)
			if err != nil || len(results) != 2 || results[1].Reason != "no cinder" {
				t.Fatalf("%v, %v\n%s", err, results, out)
			}
			if limit := pod.Spec.Volumes[0].EmptyDir.SizeLimit; limit == nil || limit.IsZero() {
				t.Error("the files of Tempest have no limit")
			}
			read := func(name string) string {
				text, _ := os.ReadFile(filepath.Join(dir, name))
				return string(text)
			}
			if got := strings.TrimSpace(read("called")); got != test.called || read("required") != test.required {
				t.Errorf("tempest %s, with the list %q", got, read("required"))
			}
			if got := read("skip"); got != "^a\\.b\\.c\n^setUpClass \\(a\\.B\\)" {
				t.Errorf("the tests to leave out are %q", got)
			}
			if conf := read("tempest.conf"); !strings.Contains(conf, "\nca_certificates_file = /ca/ca.pem\n") || secret != len(tempest.Passwords("")) || len(pod.Spec.Volumes) != 2 {
				t.Errorf("%d variables with the password, volumes %v, and the configuration\n%s", secret, pod.Spec.Volumes, conf)
			}
		})
	}
}
