package tempest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kolla.openstack.org/kolla/internal/run/probe"
)

// Choice chooses tests, and says how to run them.
type Choice struct {
	Regex  string // of names; empty: the tests that the interop guideline requires
	AtOnce int    // tests at once
	// Without are tests to leave out.
	Without []Omission
	// Password is the key of the Secret with the administrator's password. CA is that with the CA of the exposure; an
	// empty name: clients know it.
	Password, CA corev1.SecretKeySelector
}

// folder is where Tempest writes, and caFile the certificates of the CA in the pod.
const (
	folder = "/tmp"
	caDir  = "/ca"
	caFile = caDir + "/ca.pem"
)

// script runs Tempest, and prints its output, or a part of it if the log of a pod would not hold all.
const script = `set -eu
mkdir work && cd work
printf '%s' "$TEMPEST_CONF" > tempest.conf
printf '%s' "$TEMPEST_SKIP" > skip
stestr init
set -- --config-file tempest.conf --concurrency "$TEMPEST_CONCURRENCY" --exclude-list skip
if [ -n "$TEMPEST_REGEX" ]; then
  set -- "$@" --regex "$TEMPEST_REGEX"
else
  tempest run --config-file tempest.conf --list-tests > all
  printf '%s' "$TEMPEST_REQUIRED" > names
  grep -Ff names all > required
  set -- "$@" --load-list required
fi
tempest run "$@" > output 2>&1 || true
if [ "$(wc -c < output)" -lt 900000 ]; then
  cat output
else
  awk "$TEMPEST_SHORTEN" output
fi
`

// shorten is a program for awk. It keeps the results, the totals, and the ends of the tracebacks of failures, of at most
// 100 of them.
const shorten = `
function end() { for (i = n > 15 ? n - 14 : 1; i <= n; i++) print substr(line[i], 1, 300); n = 0 }
/^[{][0-9]+[}] / { end(); print; failed = / [.][.][.] FAILED/; inside = 0; next }
/^ - (Passed|Skipped|Failed): / { end(); print; inside = 0; next }
/^Captured traceback:/ { end(); inside = failed && ++traces <= 100; failed = 0; if (inside) print; next }
inside && /^(    |~)/ { line[++n] = $0; next }
inside && /^$/ { next }
{ inside = 0 }
`

// Pod returns a pod that runs chosen tests, from an image with Tempest.
func Pod(base probe.Base, c Cloud, choice Choice) probe.Pod {
	var required, skip []string
	for id, name := range Required() {
		required = append(required, name+"[id-"+id) // as the full names of tests begin
	}
	slices.Sort(required)
	for _, o := range choice.Without {
		skip = append(skip, o.Regex)
	}
	conf := c.Config()
	if choice.CA.Name != "" {
		conf = strings.Replace(conf, "[identity]\n", "[identity]\nca_certificates_file = "+caFile+"\n", 1)
	}
	container := probe.Container("tempest", base, []string{"sh", "-c", script})
	container.WorkingDir = folder
	container.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
	}
	container.Env = []corev1.EnvVar{
		{Name: "HOME", Value: folder},
		{Name: "TEMPEST_CONF", Value: conf},
		{Name: "TEMPEST_SKIP", Value: strings.Join(skip, "\n")},
		{Name: "TEMPEST_REQUIRED", Value: strings.Join(required, "\n")},
		{Name: "TEMPEST_REGEX", Value: choice.Regex},
		{Name: "TEMPEST_SHORTEN", Value: shorten},
		{Name: "TEMPEST_CONCURRENCY", Value: strconv.Itoa(cmp.Or(choice.AtOnce, 2))},
	}
	for _, name := range passwordVariables {
		container.Env = append(container.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &choice.Password}})
	}
	container.VolumeMounts = []corev1.VolumeMount{{Name: "work", MountPath: folder}}
	spec := probe.Spec(base)
	spec.Volumes = []corev1.Volume{{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("5Gi"))}}}}
	if choice.CA.Name != "" {
		// Plug-ins ask Keystone themselves when Tempest looks for their tests.
		container.Env = append(container.Env, corev1.EnvVar{Name: "REQUESTS_CA_BUNDLE", Value: caFile})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "ca", MountPath: caDir, ReadOnly: true})
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "ca", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: choice.CA.Name, Items: []corev1.KeyToPath{{Key: choice.CA.Key, Path: "ca.pem"}},
		}}})
	}
	spec.Containers = []corev1.Container{container}
	return probe.Pod{Spec: spec}
}
