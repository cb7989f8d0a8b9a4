package status

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// Image is an image that pods of a workload run.
type Image struct {
	Name string `json:"image"` // as in the pod: "quay.io/openstack.kolla/nova-api:2025.1-rocky-9"
	Pods int    `json:"pods"`
}

// images counts the pods by the images of their containers. It leaves out init containers, unless
// they run as long as the pod.
func images(pods []*corev1.Pod) []Image {
	counts := map[string]int{}
	for _, pod := range pods {
		containers := slices.Clone(pod.Spec.Containers)
		for _, c := range pod.Spec.InitContainers {
			if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				containers = append(containers, c)
			}
		}
		var names []string
		for _, c := range containers {
			names = append(names, c.Image)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			counts[name]++
		}
	}
	out := make([]Image, 0, len(counts))
	for name, n := range counts {
		out = append(out, Image{name, n})
	}
	slices.SortFunc(out, func(a, b Image) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// split splits the name of an image into the last part of its repository, and its tag or digest:
// "nova-api" and "2025.1-rocky-9", or "sha256:0123456789ab". Without both, the version is "latest".
func (i Image) split() (repository, version string) {
	r := providers.SplitImage(i.Name)
	if r.Digest != "" {
		return r.Name(), ShortDigest(r.Digest)
	}
	return r.Name(), cmp.Or(r.Tag, "latest")
}

// Behind returns the workloads whose pods run images of another OpenStack release than the cloud has: an
// upgrade has not reached them. They are in the order of the stages. Tags without a release do not count.
func (l *Look) Behind() []Workload {
	current, _ := configs.ParseTag(l.Release)
	var out []Workload
	for _, s := range l.Services {
		for _, w := range s.Workloads {
			if current != "" && slices.ContainsFunc(w.Images, func(i Image) bool {
				release, _ := configs.ParseTag(providers.SplitImage(i.Name).Tag)
				return release != "" && release != current
			}) {
				out = append(out, w)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Workload) int {
		return cmp.Compare(slices.Index(configs.Stages, a.Stage), slices.Index(configs.Stages, b.Stage))
	})
	return out
}

// ShortDigest abbreviates a digest: "sha256:0123456789ab".
func ShortDigest(digest string) string {
	const short = 12 // hexadecimal digits, as tools of containers abbreviate a digest
	algorithm, sum, _ := strings.Cut(digest, ":")
	return algorithm + ":" + sum[:min(len(sum), short)]
}

// Versions returns the tags or digests that run: "2025.1-rocky-9". Each has the name of its image
// if the images of the workload have several names and several versions:
// "nova-api:2025.1-rocky-9, haproxy:3.0".
func (w Workload) Versions() string {
	var repositories, versions, both []string
	for _, image := range w.Images {
		repository, version := image.split()
		repositories, versions, both = append(repositories, repository), append(versions, version), append(both, repository+":"+version)
	}
	list := versions
	if len(unique(repositories)) > 1 && len(unique(versions)) > 1 {
		list = both
	}
	return strings.Join(unique(list), ", ")
}

func unique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
