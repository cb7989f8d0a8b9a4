package nodes

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/providers/openstack"
)

// Builds reports images that have several builds on the nodes under one name.
func Builds(f *cluster.Facts) ([]cluster.Finding, error) {
	live, err := f.List(cluster.NodeKind, "")
	if err != nil {
		return nil, err
	}
	var nodes []openstack.Node
	for _, u := range live {
		images := engine.ImagesOn(u)
		nodes = append(nodes, openstack.Node{Name: u.GetName(), Images: func() map[string][]string { return images }})
	}
	var out []cluster.Finding
	for _, image := range openstack.Images(f.Objects) {
		builds := image.Builds(nodes)
		if len(builds) > 1 {
			out = append(out, severalBuilds(image.Reference, builds))
		}
	}
	return out, nil
}

// severalBuilds reports an image that has several builds.
func severalBuilds(image string, builds []openstack.Build) cluster.Finding {
	var lines []string
	for _, build := range builds {
		lines = append(lines, fmt.Sprintf("%s on %s", build.Digest, words.Few(build.Nodes, 5)))
	}
	return cluster.Finding{
		Severity: cluster.Warning, Subject: image, Problem: fmt.Sprintf("nodes have %d builds of this image", len(builds)),
		Reason: "Pods run the build that their node has, and different versions of a program may fail together:\n" + strings.Join(lines, "\n"),
		Next:   "kolla images -lock writes the digests of the present builds into kolla.images.json. The next apply restarts the pods with them.",
	}
}
