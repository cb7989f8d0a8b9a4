package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/tooltest"
)

const imageDir = "image/kolla-operator"

func readImage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(imageDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// renderImage renders the template of the image as Kolla's build does, with macros that only print their
// arguments.
const renderImage = `
import jinja2.sandbox, sys
macros = """{% macro configure_user(name) %}RUN user {{ name }} {{ users[name].uid }}{% endmacro %}
{% macro kolla_patch_sources() %}RUN patch{% endmacro %}"""
env = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined, loader=jinja2.ChoiceLoader([
    jinja2.DictLoader({"macros.j2": macros}), jinja2.FileSystemLoader(sys.argv[1])]))
print(env.get_template("Dockerfile.j2").render(
    namespace="kolla", image_prefix="", tag="2025.1", maintainer="somebody", image_name="kolla-operator",
    users={"kolla-operator": {"uid": sys.argv[2]}}))
`

// TestImageTemplate renders the template with which Kolla's build makes the image of the operator. Kolla's own
// macros and base image are not here.
func TestImageTemplate(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("python3", "-c", "import jinja2.sandbox").CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: python3 has no jinja2: %v %s", err, out)
	}
	_, uid, _ := strings.Cut(readImage(t, "kolla-build.conf"), "[kolla-operator-user]\nuid = ")
	uid, _, _ = strings.Cut(uid, "\n")
	out, err := exec.Command("python3", "-c", renderImage, imageDir, uid).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"FROM kolla/base:2025.1\n", `LABEL maintainer="somebody" name="kolla-operator"`, "RUN user kolla-operator 42999\n",
		"COPY kolla /usr/local/bin/kolla\n", "COPY extend_start.sh /usr/local/bin/kolla_extend_start\n", "\nUSER kolla-operator\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the Dockerfile has no %q:\n%s", want, out)
		}
	}
}

// TestImageStart starts the operator as Kolla's start script does: with the command and the files of
// config.json, and then the script of the image.
func TestImageStart(t *testing.T) {
	t.Parallel()
	var config struct {
		Command string
		Files   []struct{ Source, Dest, Owner string } `json:"config_files"`
	}
	if err := json.Unmarshal([]byte(readImage(t, "config.json")), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Files) != 1 || config.Files[0].Owner != "kolla-operator" {
		t.Fatalf("config_files: %+v", config.Files)
	}
	namespace := clustertest.Namespace(t)
	command := strings.NewReplacer("=kolla-operator", "="+namespace, "=:8080", "=127.0.0.1:0", "=:8081", "=127.0.0.1:0").Replace(config.Command)
	s := newShell(t, processVariable+"=1", "CMD="+command)
	kubeconfig := filepath.Join(s.dir, "kubeconfig")
	s.write(t, "kolla_extend_start", strings.ReplaceAll(readImage(t, "extend_start.sh"), config.Files[0].Dest, kubeconfig))
	text, err := os.ReadFile(clustertest.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "kubeconfig", string(text))
	operator := exec.Command("bash", "-c", "set -o errexit -o pipefail -o nounset; . ./kolla_extend_start; exec ${CMD}")
	operator.Dir, operator.Env = s.dir, s.env
	tooltest.Start(t, operator)
	clustertest.Eventually(t, "the operator leads", func() bool {
		return clustertest.Kubectl(t, "get", "lease", "kolla-operator", "-n", namespace, "-o", "jsonpath={.spec.holderIdentity}", "--ignore-not-found") != ""
	})
}

// TestImageScript checks the start script of the image with shellcheck.
func TestImageScript(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("NOT RUN: there is no shellcheck")
	}
	if out, err := exec.Command(tool, filepath.Join(imageDir, "extend_start.sh")).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
