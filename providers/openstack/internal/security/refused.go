package security

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// CheckPatch warns about a patch that gives pods more than they may have: only blocks and
// manifests can give powers. target names the object in the message.
func (l Levels) CheckPatch(patch configs.Patch, kind, name string, before, after *unstructured.Unstructured) hcl.Diagnostics {
	level := l.For(kind, name)
	if podsecurity.Refusal(before, podsecurity.Latest(level)) != "" {
		return nil
	}
	return checkRefused(patch.Label, kind+"/"+name, after, level)
}

// CheckManifest warns about an object of a manifest in the cloud's namespace whose pods the
// policies will refuse. Without policies the API server itself warns.
func (l Levels) CheckManifest(m configs.ManifestObject, u *unstructured.Unstructured) hcl.Diagnostics {
	if len(l.powerful) == 0 || l.chosen != "" || l.isPowerful(u.GetKind(), u.GetName()) || u.GetNamespace() != l.cloud.Decl.Namespace || len(m.Deferred) > 0 {
		return nil
	}
	return checkRefused(m.Range, u.GetKind()+"/"+u.GetName(), u, podsecurity.Restricted)
}

// checkRefused warns about an object whose pods need a weaker level than they get.
func checkRefused(at hcl.Range, what string, u *unstructured.Unstructured, level string) hcl.Diagnostics {
	why := podsecurity.Refusal(u, podsecurity.Latest(level))
	if why == "" {
		return nil
	}
	needed, levels := podsecurity.Privileged, podsecurity.Levels()
	for _, l := range levels[slices.Index(levels, level):] {
		if podsecurity.Refusal(u, podsecurity.Latest(l)) == "" {
			needed = l
			break
		}
	}
	return hcl.Diagnostics{object.Warning(at, "Pods that will be refused", fmt.Sprintf("The pods of %s are held to the Pod Security level %q, and they break it: %s. They would never start. "+
		"If a block has an argument for that, such as host_network, use it: kolla lets these pods alone have the power. Or set pod_security = %q in the cloud block, for all pods of the namespace.",
		what, level, why, needed))}
}
