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
			pod := tempest.Pod(probe.Base{Image: "tempest"}, full, tempest.Choice{Regex: test.regex, AtOnce: 3, Without: map[string]string{"setUpClass (a.B)": "slow", "a.b.c": "broken"}, Password: password, CA: ca})
			dir := t.TempDir()
			for program, text := range map[string]string{"tempest": tempestProgram, "stestr": "#!/bin/sh\n"} {
				if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			container := pod.Spec.Containers[0]
			cmd := exec.Command(container.Command[0], container.Command[1:]...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "REQUIRED=" + required}
			secret := 0
			for _, variable := range container.Env {
				if variable.ValueFrom != nil && *variable.ValueFrom.SecretKeyRef == password {
					secret++
				}
				cmd.Env = append(cmd.Env, variable.Name+"="+variable.Value)
			}
			if !slices.Contains(cmd.Env, "REQUESTS_CA_BUNDLE=/ca/ca.pem") {
				t.Errorf("plug-ins do not know the CA: %q", cmd.Env)
			}
			out, err := cmd.CombinedOutput()
			results, readErr := tempest.Read(string(out))
			if err != nil || readErr != nil || len(results) != 2 || results[1].Reason != "no cinder" {
				t.Fatalf("%v, %v, %v\n%s", err, readErr, results, out)
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
