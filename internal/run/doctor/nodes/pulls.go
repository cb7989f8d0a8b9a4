package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/providers/openstack"
)

// pullReasons are the reasons of containers whose image is not on the node.
var pullReasons = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}

// AskImages adds a pod for each node with a container of each image that the node needs.
func AskImages(f *cluster.Facts, nodes []corev1.Node, add func(probe.Pod, func(probe.Outcome))) {
	for i := range nodes {
		node := &nodes[i]
		images := f.Images(node)
		if len(images) == 0 {
			continue
		}
		spec := probe.Spec(images[0])
		probe.PinTo(&spec, node.Name)
		for at, base := range images {
			spec.Containers = append(spec.Containers, probe.Container(fmt.Sprintf("image-%d", at), base, []string{"true"}))
			for _, secret := range base.PullSecrets {
				if !slices.Contains(spec.ImagePullSecrets, secret) {
					spec.ImagePullSecrets = append(spec.ImagePullSecrets, secret)
				}
			}
		}
		add(probe.Pod{Node: node.Name, Spec: spec}, func(o probe.Outcome) {
			for at, base := range images {
				f.Probed.Images = append(f.Probed.Images, imageProbe(node.Name, base.Image, fmt.Sprintf("image-%d", at), o))
			}
		})
	}
}

// imageProbe reads the result of one image from the status of its container. A container that cannot run the
// command has its image, too.
func imageProbe(node, image, container string, o probe.Outcome) cluster.ImageProbe {
	out := cluster.ImageProbe{Node: node, Image: image}
	if o.Pod == nil {
		out.Problem = o.Problem
		return out
	}
	status := probe.Status(o.Pod, container)
	switch {
	case status == nil:
		out.Problem = o.Problem
	case status.State.Waiting != nil && slices.Contains(pullReasons, status.State.Waiting.Reason):
		out.Refused = status.State.Waiting.Reason + ": " + status.State.Waiting.Message
	case status.State.Waiting != nil && status.State.Waiting.Reason == "ContainerCreating":
		out.Problem = "the image was not there in time"
	default:
		_, digest, _ := strings.Cut(status.ImageID, "@")
		out.Digest = digest
	}
	return out
}

// Pulls checks that each node gets its images, and that all get the same ones.
func Pulls(f *cluster.Facts) ([]cluster.Finding, error) {
	if f.Probed == nil {
		return nil, f.NotProbed()
	}
	if secrets := f.Config.Cloud.PullSecrets; len(secrets) > 0 && f.Probed.Namespace != f.Config.Cloud.Namespace {
		return nil, fmt.Errorf("namespace %s does not exist yet, and has the pull secrets of the images: %s", f.Config.Cloud.Namespace, words.All(secrets))
	}
	refused, unknown := map[[2]string][]string{}, map[string][]string{}
	digests := map[string]*cluster.Grouped[string]{} // nodes by the digest
	for _, p := range f.Probed.Images {
		switch {
		case p.Refused != "":
			key := [2]string{p.Image, p.Refused}
			refused[key] = append(refused[key], p.Node)
		case p.Problem != "":
			unknown[p.Problem] = append(unknown[p.Problem], p.Node)
		case p.Digest != "":
			if digests[p.Image] == nil {
				digests[p.Image] = &cluster.Grouped[string]{}
			}
			digests[p.Image].Add(p.Digest, p.Node)
		}
	}
	var out []cluster.Finding
	for _, key := range slices.SortedFunc(maps.Keys(refused), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, cluster.Finding{
			Severity: cluster.Error, Subject: key[0], Problem: fmt.Sprintf("%s cannot pull it", words.Plural(len(refused[key]), "node ", "nodes ")+words.Few(refused[key], 5)),
			Reason: "Pods with this image do not start there. The node says: " + key[1],
			Next:   "Check the name and the tag, the `pull_secrets` of the cloud, and that the nodes reach the registry.",
		})
	}
	for _, image := range slices.Sorted(maps.Keys(digests)) {
		var builds []openstack.Build
		for _, digest := range slices.Sorted(slices.Values(digests[image].Keys)) {
			builds = append(builds, openstack.Build{Digest: digest, Nodes: digests[image].Of[digest]})
		}
		if len(builds) > 1 {
			out = append(out, severalBuilds(image, builds))
		}
	}
	return out, f.Unreported(unknown)
}
