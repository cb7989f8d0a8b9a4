// Package upgrade compares the OpenStack release of a configuration with the one that runs in the
// cluster. It says what an upgrade changes, and refuses changes that OpenStack does not support.
//
// The installed release of the cloud is an annotation of its namespace: the namespace lasts as
// long as the data, also if the state is lost or all services were destroyed. The release of a
// service is in the tags of its running images. Tags that an operator chose may have no release.
// Nothing is then said about these images.
package upgrade

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// release matches a release.
var release = regexp.MustCompile(`^20\d\d\.[12]$`)

// Parse reads a tag. The result is zero if the tag has no release and distribution.
func Parse(text string) plans.Images {
	release, distro := configs.ParseTag(text)
	return plans.Images{Release: release, Distro: distro}
}

// imagesOf returns the image of each container in the pods of a workload.
func imagesOf(workload *unstructured.Unstructured) map[string]providers.ImageReference {
	out := map[string]providers.ImageReference{}
	for _, list := range []string{"initContainers", "containers"} {
		containers, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", list)
		for _, each := range containers {
			container, _ := each.(map[string]any)
			name, _ := container["name"].(string)
			reference, _ := container["image"].(string)
			out[name] = providers.SplitImage(reference)
		}
	}
	return out
}

// Supported reports whether OpenStack supports a change between two releases: to the next one,
// or from a SLURP release, the first of a year, to the next SLURP release. via is the release to
// which an upgrade goes first if it is not supported in one step.
func Supported(from, to string) (ok bool, via string) {
	if from >= to { // releases sort as texts
		return from == to, ""
	}
	year, first := split(from)
	next, slurp := fmt.Sprintf("%d.2", year), fmt.Sprintf("%d.1", year+1)
	if to == slurp || first && to == next {
		return true, ""
	}
	return false, slurp
}

func split(release string) (year int, first bool) {
	y, n, _ := strings.Cut(release, ".")
	year, _ = strconv.Atoi(y) // the pattern has digits
	return year, n == "1"
}
